//! [`Multiset`]: one multiset laid out as a table, so that others can be compared with it in one step per
//! member.
//!
//! This is where colours are decided: a refinement calls two tuples equal only after such a comparison.

/// A member of a multiset: a colour, or a word of colours.
pub(crate) trait Word: Clone + Ord + Default + Send + Sync {
    /// A hash whose high bits depend on all of the word.
    fn spread(&self) -> u64;
}

impl Word for u32 {
    #[inline]
    fn spread(&self) -> u64 {
        u64::from(*self).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Two colours, the first in the high half.
impl Word for u64 {
    #[inline]
    fn spread(&self) -> u64 {
        (*self ^ (*self >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl<const K: usize> Word for [u32; K]
where
    [u32; K]: Default,
{
    #[inline]
    fn spread(&self) -> u64 {
        spread(self)
    }
}

impl Word for Vec<u32> {
    fn spread(&self) -> u64 {
        spread(self)
    }
}

#[inline]
fn spread(word: &[u32]) -> u64 {
    word.iter()
        .fold(0u64, |x, &c| (x ^ u64::from(c)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A multiset of words: open addressing, at most a quarter full. Arrays of their own keep what is read often together.
#[derive(Default)]
pub(crate) struct Multiset<W> {
    words: Vec<W>,
    /// How often each word is in the multiset; 0 where the slot is free. (Tuples of two nodes or more can't be
    /// numbered beyond 65,535 nodes.)
    counts: Vec<u16>,
    /// How many of those have not been met in the comparison that is under way.
    left: Vec<u16>,
    taken: Vec<u32>,
    shift: u32,
}

impl<W: Word> Multiset<W> {
    /// Replaces the multiset by these words, at most 65,535. O(members).
    pub(crate) fn load(&mut self, words: impl ExactSizeIterator<Item = W>) {
        for slot in self.taken.drain(..) {
            (self.counts[slot as usize], self.left[slot as usize]) = (0, 0);
        }
        let size = (4 * words.len()).next_power_of_two().max(2);
        if self.words.len() < size {
            (self.words, self.counts, self.left) = (vec![W::default(); size], vec![0; size], vec![0; size]);
        }
        self.shift = 64 - self.words.len().trailing_zeros();
        for word in words {
            let at = self.find(&word);
            if self.counts[at] == 0 {
                self.words[at] = word;
                self.taken.push(at as u32);
            }
            self.counts[at] += 1;
            self.left[at] += 1;
        }
    }

    /// Whether these words, of which there must be as many as members, are the same multiset. O(members).
    pub(crate) fn equals(&mut self, words: impl Iterator<Item = W>) -> bool {
        let mut equal = true;
        for word in words {
            let at = self.find(&word);
            // A free slot has none left either.
            if self.left[at] == 0 {
                equal = false;
                break;
            }
            self.left[at] -= 1;
        }
        for &at in &self.taken {
            self.left[at as usize] = self.counts[at as usize];
        }
        equal
    }

    /// The slot that has this word, or else the free one where it belongs.
    #[inline]
    fn find(&self, word: &W) -> usize {
        let mask = self.words.len() - 1;
        let mut at = (word.spread() >> self.shift) as usize & mask;
        while self.words[at] != *word && self.counts[at] != 0 {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multisets_are_compared_with_their_counts() {
        let mut m = Multiset::default();
        m.load([3u32, 1, 3, 2].into_iter());
        assert!(m.equals([1, 2, 3, 3].into_iter()));
        assert!(!m.equals([1, 2, 2, 3].into_iter()));
        assert!(!m.equals([1, 2, 3, 4].into_iter()));
        // A comparison leaves the multiset as it was, whatever came of it.
        assert!(m.equals([3, 3, 2, 1].into_iter()));
        m.load([7u32].into_iter());
        assert!(m.equals([7].into_iter()));
        assert!(!m.equals([3].into_iter()));
    }

    #[test]
    fn full_tables_find_everything() {
        let mut m: Multiset<u64> = Multiset::default();
        let words = |step: u64| (0..1000u64).map(move |i| (i * step) << 32 | i);
        m.load(words(7).collect::<Vec<_>>().into_iter());
        assert!(m.equals(words(7).rev()));
        assert!(!m.equals(words(8)));
    }
}
