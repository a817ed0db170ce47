//! Keys of pairs in a graph with few colours: counts read off bit sets.
//!
//! How often (a, b) is in the multiset of (i, k) is the number of bits that two sets share: the j with colour a in row
//! i, and those with colour b in column k. With m colours that is m^2 n/64 words per pair instead of n steps through a
//! table, and since the counts of each row and column are known, (m - 1)^2 of them are enough.

use super::classify::{Keys, Place};
use super::product::Pairs;
use std::cmp::Ordering;

/// The rows and columns of a graph's pair colours as bit sets.
pub(crate) struct Few<'a> {
    pairs: &'a Pairs<'a>,
    colours: &'a [u32],
    n: usize,
    /// Words per set.
    words: usize,
    /// The colours that occur, ascending.
    present: Vec<u32>,
    /// The sets of row i, one per colour, at `i * present * words`; and those of the columns.
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// The sizes of all those sets.
    row_sizes: Vec<u32>,
    column_sizes: Vec<u32>,
}

/// The key of one pair: where it is, and its counts but for the last colour's.
#[derive(Default)]
pub(crate) struct FewProbe {
    place: Option<Place>,
    counts: Vec<u32>,
}

/// Steps through a table cost about this many words of bit sets.
const STEP: usize = 2;

impl<'a> Few<'a> {
    /// The sets, if the graph has few enough colours for them to be cheaper. O(n^2).
    pub(crate) fn of(pairs: &'a Pairs<'a>, graph: usize) -> Option<Self> {
        let (colours, n) = (&pairs.colouring.colours[graph][..], pairs.colouring.nodes[graph]);
        let words = n.div_ceil(64);
        let mut present: Vec<u32> = Vec::new();
        for &c in colours {
            if let Err(at) = present.binary_search(&c) {
                if present.len().pow(2) * words > STEP * n {
                    return None;
                }
                present.insert(at, c);
            }
        }
        let m = present.len();
        let (mut rows, mut columns) = (vec![0; n * m * words], vec![0; n * m * words]);
        for i in 0..n {
            for k in 0..n {
                let Ok(c) = present.binary_search(&colours[i * n + k]) else { return None };
                rows[(i * m + c) * words + k / 64] |= 1u64 << (k % 64);
                columns[(k * m + c) * words + i / 64] |= 1u64 << (i % 64);
            }
        }
        let sizes = |sets: &[u64]| sets.chunks_exact(words).map(|set| common(set, set)).collect();
        let (row_sizes, column_sizes) = (sizes(&rows), sizes(&columns));
        Some(Few { pairs, colours, n, words, present, rows, columns, row_sizes, column_sizes })
    }

    fn sets<'b>(&self, of: &'b [u64], at: usize) -> std::slice::ChunksExact<'b, u64> {
        let length = self.present.len() * self.words;
        of[at * length..(at + 1) * length].chunks_exact(self.words)
    }

    /// The sizes of the sets of the pair's row, and of its column.
    fn sizes(&self, place: Place) -> (&[u32], &[u32]) {
        let (i, k, m) = (place.item as usize / self.n, place.item as usize % self.n, self.present.len());
        (&self.row_sizes[i * m..(i + 1) * m], &self.column_sizes[k * m..(k + 1) * m])
    }

    /// How often each pair of colours, but for the last colour, is in the multiset.
    fn counts(&self, place: Place) -> impl Iterator<Item = u32> + '_ {
        let (i, k) = (place.item as usize / self.n, place.item as usize % self.n);
        let but_last = self.present.len() - 1;
        let rows = self.sets(&self.rows, i).take(but_last);
        rows.flat_map(move |a| self.sets(&self.columns, k).take(but_last).map(move |b| common(a, b)))
    }
}

#[inline]
fn common(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).fold(0u32, |sum, (x, y)| sum.wrapping_add((x & y).count_ones()))
}

impl Keys for Few<'_> {
    type Probe = FewProbe;

    fn probe(&self) -> FewProbe {
        FewProbe::default()
    }

    fn load(&self, probe: &mut FewProbe, place: Place) {
        probe.place = Some(place);
        probe.counts.clear();
        probe.counts.extend(self.counts(place));
    }

    fn equals(&self, probe: &mut FewProbe, place: Place) -> bool {
        let alike = |first: Place| {
            self.colours[first.item as usize] == self.colours[place.item as usize]
                && self.sizes(first) == self.sizes(place)
        };
        probe.place.is_some_and(alike) && self.counts(place).eq(probe.counts.iter().copied())
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        self.pairs.compare(a, b)
    }
}
