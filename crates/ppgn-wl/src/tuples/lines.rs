//! k-WL: the key of a tuple has a multiset for every place, the colours of the n tuples that differ there at most.
//!
//! Those n tuples are a *line*: they share their multiset, so it is enough to find the classes of the k n^(k-1) lines
//! (exactly, as always) and to give a tuple the numbers of its k lines as its key. A round takes O(k n^k) steps.

use super::classify::{Entry, Keys, Place, Work, classify, sorted};
use super::colouring::{Busy, Colouring, Context, Rule};
use super::hash::{mix, odd};
use super::multiset::Multiset;
use crate::Error;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The lines of a set of graphs: those in direction p of a graph have the numbers `p * n^(k-1)` and up.
struct Lines<'a> {
    colouring: &'a Colouring,
    k: usize,
}

impl Lines<'_> {
    /// n^(k-1).
    fn a_direction(&self, graph: usize) -> usize {
        self.colouring.colours[graph].len() / self.colouring.nodes[graph]
    }

    /// The step from one tuple of a line in direction p to the next.
    fn step(&self, graph: usize, p: usize) -> usize {
        (p + 1..self.k).fold(1, |step, _| step * self.colouring.nodes[graph])
    }

    fn members(&self, place: Place) -> impl ExactSizeIterator<Item = u32> + '_ {
        let (graph, line) = (place.graph as usize, place.item as usize);
        let (n, each) = (self.colouring.nodes[graph], self.a_direction(graph));
        let step = self.step(graph, line / each);
        let (high, low) = (line % each / step, line % each % step);
        let colours = &self.colouring.colours[graph];
        (0..n).map(move |j| colours[(high * n + j) * step + low])
    }

    /// A hash of every line of a graph in direction p.
    fn hashes(&self, graph: usize, p: usize) -> Vec<u64> {
        let (n, step) = (self.colouring.nodes[graph], self.step(graph, p));
        let mut sums = vec![0u64; self.a_direction(graph)];
        // A plane holds tuples that agree in all places up to p, and n planes on end are `step` lines.
        for (at, plane) in self.colouring.colours[graph].chunks_exact(step).enumerate() {
            let sums = &mut sums[at / n * step..][..step];
            for (sum, &c) in sums.iter_mut().zip(plane) {
                *sum = sum.wrapping_add(mix(u64::from(c)));
            }
        }
        sums
    }
}

impl Keys for Lines<'_> {
    type Probe = (usize, Multiset<u32>);

    fn probe(&self) -> Self::Probe {
        Self::Probe::default()
    }

    fn load(&self, probe: &mut Self::Probe, place: Place) {
        probe.0 = self.colouring.nodes[place.graph as usize];
        probe.1.load(self.members(place));
    }

    fn equals(&self, probe: &mut Self::Probe, place: Place) -> bool {
        probe.0 == self.colouring.nodes[place.graph as usize] && probe.1.equals(self.members(place))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        let key = |place: Place| {
            let mut members: Vec<u32> = self.members(place).collect();
            members.sort_unstable();
            members
        };
        key(a).cmp(&key(b))
    }
}

/// The keys of the k-tuples of a set of graphs, by the classes of their lines.
pub(crate) struct Wl<'a> {
    lines: Lines<'a>,
    /// For every graph, the class of every line.
    classes: Vec<Vec<u32>>,
}

impl<'a> Wl<'a> {
    /// Finds the classes of all lines. O(k n^k).
    pub(crate) fn new(colouring: &'a Colouring, k: usize, context: Context) -> Result<Self, Error> {
        let lines = Lines { colouring, k };
        let work = Work { interrupt: context.interrupt, parallel: true };
        // Those of graph g in direction p at g * k + p.
        let hashes: Vec<Vec<u64>> = (0..colouring.nodes.len() * k)
            .into_par_iter()
            .map(|at| context.interrupt.check().map(|()| lines.hashes(at / k, at % k)))
            .collect::<Result<_, Error>>()?;
        let entries = || {
            hashes.chunks_exact(k).enumerate().flat_map(|(graph, directions)| {
                let nodes = colouring.nodes[graph];
                directions.iter().flatten().enumerate().map(move |(line, &hash)| Entry {
                    hash: context.hashing.finish(hash, 0, nodes),
                    place: Place { graph: graph as u32, item: line as u32 },
                })
            })
        };
        let mut entries = sorted(entries, hashes.iter().map(Vec::len).sum(), work)?;
        let starts = classify(&lines, &mut entries, work)?;
        drop(hashes);
        let all = |graph| k * lines.a_direction(graph);
        let mut classes: Vec<Vec<u32>> = (0..colouring.nodes.len()).map(|g| vec![0; all(g)]).collect();
        for (class, bounds) in starts.windows(2).enumerate() {
            for e in &entries[bounds[0] as usize..bounds[1] as usize] {
                classes[e.place.graph as usize][e.place.item as usize] = class as u32;
            }
        }
        Ok(Wl { lines, classes })
    }

    /// The classes of the tuple's lines, in the order of its places.
    #[inline]
    fn key(&self, place: Place) -> impl Iterator<Item = u32> + '_ {
        let (graph, tuple) = (place.graph as usize, place.item as usize);
        let n = self.lines.colouring.nodes[graph];
        let each = self.lines.a_direction(graph);
        let classes = &self.classes[graph];
        let mut step = each;
        (0..self.lines.k).map(move |p| {
            // Direction p has steps of n^(k-1-p).
            let line = tuple / (step * n) * step + tuple % step;
            step /= n;
            classes[p * each + line]
        })
    }
}

impl Keys for Wl<'_> {
    type Probe = (u32, Vec<u32>);

    fn probe(&self) -> Self::Probe {
        Self::Probe::default()
    }

    fn load(&self, probe: &mut Self::Probe, place: Place) {
        probe.0 = self.lines.colouring.at(place);
        probe.1.clear();
        probe.1.extend(self.key(place));
    }

    fn equals(&self, probe: &mut Self::Probe, place: Place) -> bool {
        probe.0 == self.lines.colouring.at(place) && self.key(place).eq(probe.1.iter().copied())
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        let parent = |place| self.lines.colouring.at(place);
        parent(a).cmp(&parent(b)).then_with(|| self.key(a).cmp(self.key(b)))
    }
}

impl Rule for Wl<'_> {
    fn hashes(&self, graph: usize, busy: &Busy, work: Work) -> Result<Vec<u64>, Error> {
        let mut hashes = vec![0u64; self.lines.colouring.colours[graph].len()];
        const STRETCH: usize = 1 << 14;
        work.each(hashes.chunks_mut(STRETCH).enumerate(), |(stretch, out)| {
            for (at, hash) in out.iter_mut().enumerate() {
                let tuple = stretch * STRETCH + at;
                if busy.tuple(tuple) {
                    let key = self.key(Place { graph: graph as u32, item: tuple as u32 });
                    let fold = |x: u64, c: u32| x.wrapping_mul(odd(0)).wrapping_add(u64::from(c));
                    *hash = mix(key.fold(0, fold));
                }
            }
            Ok(())
        })?;
        Ok(hashes)
    }

    fn steps(&self, graph: usize) -> u64 {
        // A tuple takes some tens of steps at least, sorting included.
        (self.lines.colouring.colours[graph].len() as u64).saturating_mul(self.lines.k as u64 + 20)
    }
}
