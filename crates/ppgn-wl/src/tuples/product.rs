//! 2-FWL: the key of a pair (i, k) is the multiset of (colour of (i, j), colour of (j, k)) over all j.
//!
//! Its hash is an entry of a product of matrices: the sum over j of f(C\[i, j\]) g(C\[j, k\]) modulo 2^64, where f and g
//! give every colour a fixed 32-bit number. That is n^3 multiplications which a compiler turns into vector code on any
//! processor. Comparing keys takes n^3 steps through small tables, or, where a graph has few colours, far fewer
//! through bit sets (`few`).

use super::classify::{Entry, Keys, Place, Work, classify};
use super::colouring::{Busy, Colouring, Rule};
use super::few::Few;
use super::hash::mix;
use super::multiset::Multiset;
use crate::Error;
use std::cmp::Ordering;

/// The keys of the pairs of a set of graphs.
pub(crate) struct Pairs<'a> {
    pub(crate) colouring: &'a Colouring,
}

/// A key in a table: the colour of the pair, the size of its graph, and its multiset.
#[derive(Default)]
pub(crate) struct PairProbe {
    parent: u32,
    nodes: usize,
    multiset: Multiset<u64>,
}

#[inline]
fn word(c1: u32, c2: u32) -> u64 {
    u64::from(c1) << 32 | u64::from(c2)
}

impl Pairs<'_> {
    /// The members of the multiset of a pair, in the order of j.
    fn members(&self, place: Place) -> impl ExactSizeIterator<Item = u64> + '_ {
        let n = self.colouring.nodes[place.graph as usize];
        let colours = &self.colouring.colours[place.graph as usize];
        let (i, k) = (place.item as usize / n, place.item as usize % n);
        let column = colours[k..].iter().step_by(n);
        colours[i * n..(i + 1) * n].iter().zip(column).map(|(&c1, &c2)| word(c1, c2))
    }
}

impl Keys for Pairs<'_> {
    type Probe = PairProbe;

    fn probe(&self) -> PairProbe {
        PairProbe::default()
    }

    fn load(&self, probe: &mut PairProbe, place: Place) {
        probe.parent = self.colouring.at(place);
        probe.nodes = self.colouring.nodes[place.graph as usize];
        probe.multiset.load(self.members(place));
    }

    fn equals(&self, probe: &mut PairProbe, place: Place) -> bool {
        probe.parent == self.colouring.at(place)
            && probe.nodes == self.colouring.nodes[place.graph as usize]
            && probe.multiset.equals(self.members(place))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        let key = |place: Place| {
            let mut members: Vec<u64> = self.members(place).collect();
            members.sort_unstable();
            (self.colouring.at(place), members)
        };
        key(a).cmp(&key(b))
    }
}

impl Rule for Pairs<'_> {
    fn hashes(&self, graph: usize, busy: &Busy, work: Work) -> Result<Vec<u64>, Error> {
        let n = self.colouring.nodes[graph];
        let colours = &self.colouring.colours[graph];
        let (f, g) = colours.iter().map(|&c| factors(c)).collect::<(Vec<u32>, Vec<u32>)>();
        let mut hashes = vec![0; n * n];
        work.each(hashes.chunks_mut(ROWS * n).enumerate(), |(block, out)| {
            let start = block * ROWS * n;
            if busy.any(start..start + out.len()) {
                multiply(&f[start..start + out.len()], &g, n, out);
            }
            Ok(())
        })?;
        Ok(hashes)
    }

    fn steps(&self, graph: usize) -> u64 {
        (self.colouring.nodes[graph] as u64).saturating_pow(3)
    }

    fn classify(&self, graph: usize, entries: &mut [Entry], work: Work) -> Result<Vec<u32>, Error> {
        match Few::of(self, graph) {
            Some(few) => classify(&few, entries, work),
            None => classify(&OneGraph::new(self, graph), entries, work),
        }
    }
}

/// The fixed numbers of a colour: as first of a pair, and as second.
#[inline]
fn factors(colour: u32) -> (u32, u32) {
    let x = mix(u64::from(colour));
    ((x >> 32) as u32 | 1, x as u32 | 1)
}

/// The number of rows that are multiplied at once.
const ROWS: usize = 4;
/// The number of columns at a time, whose sums stay in the first-level cache.
const COLUMNS: usize = 256;

/// Up to [`ROWS`] rows of the product: `out[r, k]` = sum over j of `f[r, j] * g[j, k]`, modulo 2^64.
fn multiply(f: &[u32], g: &[u32], n: usize, out: &mut [u64]) {
    let rows = out.len() / n;
    let mut sums = [[0u64; COLUMNS]; ROWS];
    for start in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - start);
        sums.iter_mut().for_each(|row| row[..width].fill(0));
        let [s0, s1, s2, s3] = &mut sums;
        let (s0, s1, s2, s3) = (&mut s0[..width], &mut s1[..width], &mut s2[..width], &mut s3[..width]);
        for j in 0..n {
            let factor = |r: usize| if r < rows { u64::from(f[r * n + j]) } else { 0 };
            let (f0, f1, f2, f3) = (factor(0), factor(1), factor(2), factor(3));
            let row = &g[j * n + start..][..width];
            for l in 0..width {
                let x = u64::from(row[l]);
                s0[l] = s0[l].wrapping_add(f0.wrapping_mul(x));
                s1[l] = s1[l].wrapping_add(f1.wrapping_mul(x));
                s2[l] = s2[l].wrapping_add(f2.wrapping_mul(x));
                s3[l] = s3[l].wrapping_add(f3.wrapping_mul(x));
            }
        }
        for (r, row) in sums.iter().enumerate().take(rows) {
            out[r * n + start..][..width].copy_from_slice(&row[..width]);
        }
    }
}

/// The keys of one graph's pairs, with columns laid out as rows.
struct OneGraph<'a> {
    pairs: &'a Pairs<'a>,
    colours: &'a [u32],
    transposed: Vec<u32>,
    n: usize,
}

impl<'a> OneGraph<'a> {
    fn new(pairs: &'a Pairs<'a>, graph: usize) -> Self {
        let (colours, n) = (&pairs.colouring.colours[graph][..], pairs.colouring.nodes[graph]);
        let mut transposed = Vec::with_capacity(colours.len());
        (0..n).for_each(|k| transposed.extend(colours[k..].iter().step_by(n)));
        OneGraph { pairs, colours, transposed, n }
    }

    #[inline]
    fn members(&self, place: Place) -> impl ExactSizeIterator<Item = u64> + '_ {
        let (i, k) = (place.item as usize / self.n, place.item as usize % self.n);
        let row = &self.colours[i * self.n..(i + 1) * self.n];
        let column = &self.transposed[k * self.n..(k + 1) * self.n];
        row.iter().zip(column).map(|(&c1, &c2)| word(c1, c2))
    }
}

impl Keys for OneGraph<'_> {
    type Probe = (u32, Multiset<u64>);

    fn probe(&self) -> Self::Probe {
        Self::Probe::default()
    }

    fn load(&self, (parent, multiset): &mut Self::Probe, place: Place) {
        *parent = self.colours[place.item as usize];
        multiset.load(self.members(place));
    }

    fn equals(&self, (parent, multiset): &mut Self::Probe, place: Place) -> bool {
        *parent == self.colours[place.item as usize] && multiset.equals(self.members(place))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        self.pairs.compare(a, b)
    }
}
