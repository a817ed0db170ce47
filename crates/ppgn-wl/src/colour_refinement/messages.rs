//! What nodes hear in a round, how it is written, and in which order it stands.
//!
//! A message is (splitter, relation) as one positive number. What a node heard is the sorted list of its messages,
//! each as often as it came, with a 0 after the last. Lists lie in one array, so that nothing is allocated per node,
//! and the first messages of a list are packed into one word, in an order-preserving way, so that most comparisons
//! look at no list at all.

use crate::Error;
use crate::pace::Pace;
use std::cmp::Ordering;
use std::ops::Range;

/// A message, as wide as the round needs it.
pub(super) trait Message: Copy + Ord + Default {
    fn new(code: u64) -> Self;
    fn code(self) -> u64;
}

impl Message for u32 {
    #[inline]
    fn new(code: u64) -> Self {
        code as u32
    }
    #[inline]
    fn code(self) -> u64 {
        u64::from(self)
    }
}

impl Message for u64 {
    #[inline]
    fn new(code: u64) -> Self {
        code
    }
    #[inline]
    fn code(self) -> u64 {
        self
    }
}

/// A node with what it heard.
#[derive(Clone, Copy)]
pub(super) struct Listener {
    /// The first messages.
    pub(super) prefix: u64,
    /// Where its list begins.
    pub(super) begin: u32,
    pub(super) node: u32,
}

/// The messages of a round.
pub(super) struct Codes {
    pub(super) splitters: Range<u32>,
    relations: u64,
    /// The bits of a message, and how many messages fit a word.
    bits: u32,
    fit: u32,
}

impl Codes {
    pub(super) fn new(splitters: Range<u32>, relations: u64) -> Self {
        let mut codes = Codes { splitters, relations: relations.max(1), bits: 0, fit: 0 };
        codes.bits = 64 - codes.last().leading_zeros();
        codes.fit = 64 / codes.bits;
        codes
    }

    /// The largest message, which is also the number of different messages. There must be a splitter.
    pub(super) fn last(&self) -> u64 {
        u64::from(self.splitters.end - self.splitters.start) * self.relations
    }

    /// The message of a neighbour in this splitter class and this relation.
    #[inline]
    pub(super) fn message<M: Message>(&self, class: u32, relation: u32) -> M {
        M::new(u64::from(class - self.splitters.start) * self.relations + u64::from(relation) + 1)
    }

    /// The first messages of a list in one word, most significant first, with zeros after the last.
    pub(super) fn pack<M: Message>(&self, list: &[M]) -> u64 {
        let mut word = 0;
        let mut place = 64;
        for message in list.iter().take(self.fit as usize) {
            place -= self.bits;
            word |= message.code() << place;
        }
        word
    }

    /// The order of two nodes by what they heard.
    #[inline]
    pub(super) fn compare<M: Message>(&self, lists: &[M], a: &Listener, b: &Listener) -> Ordering {
        a.prefix.cmp(&b.prefix).then_with(|| self.compare_rest(lists, a, b))
    }

    /// The same where the words are equal.
    fn compare_rest<M: Message>(&self, lists: &[M], a: &Listener, b: &Listener) -> Ordering {
        let last_place = 64 - self.bits * self.fit;
        if (a.prefix >> last_place) & (u64::MAX >> (64 - self.bits)) == 0 {
            return Ordering::Equal; // both lists end within the word
        }
        let rest = |l: &Listener| &lists[l.begin as usize + self.fit as usize..];
        for (x, y) in rest(a).iter().zip(rest(b)) {
            if x != y || *x == M::default() {
                return x.cmp(y);
            }
        }
        Ordering::Equal
    }
}

/// Sorts, and stays stoppable however long the list is.
pub(super) fn sort<T>(
    items: &mut [T],
    compare: &impl Fn(&T, &T) -> Ordering,
    pace: &mut Pace<'_>,
) -> Result<(), Error> {
    const AT_ONCE: usize = 1 << 20;
    pace.spend(items.len())?;
    if items.len() <= AT_ONCE {
        items.sort_unstable_by(compare);
        return Ok(());
    }
    let (less, pivot, more) = items.select_nth_unstable_by(items.len() / 2, compare);
    // What equals the pivot is in place once it stands beside it.
    let unequal = move_to_front(less, |a| compare(a, pivot).is_lt());
    sort(&mut less[..unequal], compare, pace)?;
    let equal = move_to_front(more, |a| compare(a, pivot).is_eq());
    sort(&mut more[equal..], compare, pace)
}

/// Moves what fulfils the condition to the front, and says how much it is.
fn move_to_front<T>(items: &mut [T], condition: impl Fn(&T) -> bool) -> usize {
    let mut front = 0;
    for i in 0..items.len() {
        if condition(&items[i]) {
            items.swap(front, i);
            front += 1;
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use ppgn_graph::random::Stream;

    #[test]
    fn words_and_lists_are_in_the_order_of_the_lists() {
        let mut random = Stream::new(3, "lists", &[]);
        for (splitters, relations) in
            [(0..1, 1), (0..1, 3), (5..35, 1), (7..1_000_007, 1), (2..300_002, 900_000)]
        {
            let codes = Codes::new(splitters, relations);
            let mut lists: Vec<u64> = Vec::new();
            let (mut listeners, mut plain) = (Vec::new(), Vec::new());
            for node in 0..200 {
                // Few different messages, or no two lists would begin alike.
                let most = codes.last().min(4);
                let length = random.below(70);
                let mut list: Vec<u64> =
                    (0..length).map(|_| codes.last() - random.below(most as usize) as u64).collect();
                list.sort_unstable();
                list[..length / 2].fill(codes.last() - most + 1);
                listeners.push(Listener { prefix: codes.pack(&list), begin: lists.len() as u32, node });
                lists.extend(&list);
                lists.push(0);
                plain.push(list);
            }
            for a in &listeners {
                for b in &listeners {
                    let expected = plain[a.node as usize].cmp(&plain[b.node as usize]);
                    assert_eq!(codes.compare(&lists, a, b), expected);
                }
            }
        }
    }

    #[test]
    fn long_lists_are_sorted_in_parts() {
        let interrupt = Interrupt::default();
        let mut random = Stream::new(4, "sort", &[]);
        for different in [2, 1000, usize::MAX] {
            let mut items: Vec<usize> = (0..(1 << 21) + 5).map(|_| random.below(different)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort(&mut items, &usize::cmp, &mut Pace::new(&interrupt)).unwrap();
            assert!(items == expected);
        }
        interrupt.set();
        let result = sort(&mut vec![0; 1 << 21], &i32::cmp, &mut Pace::new(&interrupt));
        assert_eq!(result, Err(Error::Interrupted));
    }
}
