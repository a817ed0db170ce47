//! k-FWL for k >= 3: the key of a tuple is one multiset, over all nodes j, of the k colours it has with j put in each
//! of its places.
//!
//! `W` holds those k colours: an array where k is small, a vector where it is not.

use super::classify::{Keys, Place, Work};
use super::colouring::{Busy, Colouring, Rule};
use super::hash::{mix, odd};
use super::multiset::{Multiset, Word};
use crate::Error;
use std::cmp::Ordering;
use std::marker::PhantomData;

/// The keys of the k-tuples of a set of graphs.
pub(crate) struct Folklore<'a, W> {
    colouring: &'a Colouring,
    k: usize,
    words: PhantomData<fn() -> W>,
}

/// A word of k colours that can be made one by one.
pub(crate) trait Gather: Word {
    /// The word of these colours.
    fn gather(k: usize, colour: impl FnMut(usize) -> u32) -> Self;
}

impl<const K: usize> Gather for [u32; K]
where
    [u32; K]: Default,
{
    #[inline]
    fn gather(_k: usize, colour: impl FnMut(usize) -> u32) -> Self {
        std::array::from_fn(colour)
    }
}

impl Gather for Vec<u32> {
    fn gather(k: usize, colour: impl FnMut(usize) -> u32) -> Self {
        (0..k).map(colour).collect()
    }
}

/// A key in a table: the colour of the tuple, the size of its graph, and its multiset.
#[derive(Default)]
pub(crate) struct TupleProbe<W> {
    parent: u32,
    nodes: usize,
    multiset: Multiset<W>,
}

/// Where a tuple stands in its graph's array: for every place, the tuple with node 0 put there, and the step from one
/// node to the next.
pub(crate) struct Steps(Vec<(usize, usize)>);

impl Steps {
    pub(crate) fn of(tuple: usize, n: usize, k: usize) -> Self {
        let mut steps = vec![(0, 0); k];
        let mut step = 1;
        for slot in steps.iter_mut().rev() {
            *slot = (tuple - tuple / step % n * step, step);
            step *= n;
        }
        Steps(steps)
    }
}

impl<'a, W: Gather> Folklore<'a, W> {
    pub(crate) fn new(colouring: &'a Colouring, k: usize) -> Self {
        Folklore { colouring, k, words: PhantomData }
    }

    fn members(&self, place: Place) -> impl ExactSizeIterator<Item = W> + '_ {
        let n = self.colouring.nodes[place.graph as usize];
        let colours = &self.colouring.colours[place.graph as usize];
        let steps = Steps::of(place.item as usize, n, self.k).0;
        (0..n).map(move |j| W::gather(self.k, |q| colours[steps[q].0 + j * steps[q].1]))
    }

    /// Hashes of the n tuples that differ in the last place only.
    fn hash_row(&self, graph: usize, row: usize, words: &mut [u64], out: &mut [u64]) {
        let (n, colours) = (self.colouring.nodes[graph], &self.colouring.colours[graph]);
        let steps = Steps::of(row * n, n, self.k).0;
        let (last, others) = (self.k - 1, &steps[..self.k - 1]);
        out.fill(0);
        for j in 0..n {
            words.fill(u64::from(colours[row * n + j]).wrapping_mul(odd(last)));
            for (q, &(first, step)) in others.iter().enumerate() {
                let factor = odd(q);
                for (word, &c) in words.iter_mut().zip(&colours[first + j * step..][..n]) {
                    *word = word.wrapping_add(u64::from(c).wrapping_mul(factor));
                }
            }
            for (sum, &word) in out.iter_mut().zip(&*words) {
                *sum = sum.wrapping_add(mix(word));
            }
        }
    }
}

impl<W: Gather> Keys for Folklore<'_, W> {
    type Probe = TupleProbe<W>;

    fn probe(&self) -> TupleProbe<W> {
        TupleProbe::default()
    }

    fn load(&self, probe: &mut TupleProbe<W>, place: Place) {
        probe.parent = self.colouring.at(place);
        probe.nodes = self.colouring.nodes[place.graph as usize];
        probe.multiset.load(self.members(place));
    }

    fn equals(&self, probe: &mut TupleProbe<W>, place: Place) -> bool {
        probe.parent == self.colouring.at(place)
            && probe.nodes == self.colouring.nodes[place.graph as usize]
            && probe.multiset.equals(self.members(place))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        let key = |place: Place| {
            let mut members: Vec<W> = self.members(place).collect();
            members.sort_unstable();
            (self.colouring.at(place), members)
        };
        key(a).cmp(&key(b))
    }
}

impl<W: Gather> Rule for Folklore<'_, W> {
    fn hashes(&self, graph: usize, busy: &Busy, work: Work) -> Result<Vec<u64>, Error> {
        let n = self.colouring.nodes[graph];
        let mut hashes = vec![0; self.colouring.colours[graph].len()];
        // Some tens of thousands of steps at a stretch.
        let rows = (1 << 15) / (n * n) + 1;
        work.each(hashes.chunks_mut(rows * n).enumerate(), |(block, out)| {
            let mut words = vec![0; n];
            for (at, out) in out.chunks_mut(n).enumerate() {
                let row = block * rows + at;
                if busy.any(row * n..(row + 1) * n) {
                    self.hash_row(graph, row, &mut words, out);
                }
            }
            Ok(())
        })?;
        Ok(hashes)
    }

    fn steps(&self, graph: usize) -> u64 {
        let nodes = self.colouring.nodes[graph] as u64;
        (self.colouring.colours[graph].len() as u64).saturating_mul(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_put_every_node_in_every_place() {
        // (2, 0, 1) of 3 nodes is tuple 19; with node j first it is 9 j + 1, and so on.
        assert_eq!(Steps::of(19, 3, 3).0, [(1, 9), (19, 3), (18, 1)]);
    }
}
