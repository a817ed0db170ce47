//! Random d-regular simple graphs.
//!
//! The configuration model gives every node d stubs and pairs all stubs at random; the result has a few loops and double
//! edges. Rejecting it until it has none is exactly uniform but hopeless beyond d = 6 or so, because the chance of success
//! falls as exp(-(d^2 - 1)/4). Here only the bad pairs are repaired, each by exchanging ends with a random other pair:
//! close to uniform, and fast for every n and d.

use super::rows::{MAX_NODES, undirected};
use super::{COUNT, Generator, Made, Parameter, SEED};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::random::Stream;

pub(super) const REGULAR: Generator = Generator {
    name: "regular",
    about: "random regular graphs; 1-WL distinguishes none with the same n and d, 2-FWL almost all",
    parameters: &[
        Parameter::new("n", "16", "nodes, from 1"),
        Parameter::new("d", "3", "the degree of every node, below n; n*d must be even"),
        COUNT,
        SEED,
    ],
    make: |a| {
        let n = a.number("n", 1..=MAX_NODES)?;
        let d = a.number("d", 0..=n - 1)?;
        let arcs = u64::from(n) * u64::from(d);
        if arcs % 2 == 1 {
            return Err(Error::call(format!("no graph with {n} nodes is {d}-regular: n*d must be even")));
        }
        Made::random(a, (n.into(), arcs), |random| regular(n, d, random))
    },
};

/// A d-regular graph on n nodes, d < n, n*d even. O(nd) expected; for d < n/32, where rows are searched by walking
/// them, O(d) for each of the about d^2/4 pairs to be repaired comes on top.
pub(super) fn regular(n: u32, d: u32, random: &mut Stream) -> Result<Graph> {
    let arcs = u64::from(n) * u64::from(d);
    // The matrix of bits takes at most the memory of the result.
    if u64::from(n) > 32 * u64::from(d) {
        let mut lists = Lists::new(n, d);
        pair_up(n, d, &mut lists, random);
        return undirected(n.into(), arcs, |u, row| row.extend_from_slice(lists.row(u)));
    }
    // Repair is sure to end for d <= (n-1)/2; above that, the complement is drawn.
    let complement = d > (n - 1) / 2;
    let mut bits = Bits::new(n);
    pair_up(n, if complement { n - 1 - d } else { d }, &mut bits, random);
    undirected(n.into(), arcs, |u, row| match complement {
        true => row.extend((0..n).filter(|&v| v != u && !bits.contains(u, v))),
        false => bits.push_row(u, row),
    })
}

/// Fills `edges` with a random d-regular graph, d <= (n-1)/2.
///
/// Pair i is `stubs[2i]` and `stubs[2i + 1]`. To repair (u, v), which is a loop or there already, a random pair in
/// one of its two directions, (x, y), is taken for an exchange: (u, x) and (v, y), if both are new. There always is
/// such a pair, so this ends: u has at most d - 1 neighbours, because one of its stubs is in the bad pair, so x is
/// barred from at most d nodes, and so is y; with 2d^2 of the n*d directed pairs barred at most, d are not.
fn pair_up(n: u32, d: u32, edges: &mut impl Edges, random: &mut Stream) {
    let mut stubs: Vec<u32> = (0..n).flat_map(|u| std::iter::repeat_n(u, d as usize)).collect();
    random.shuffle(&mut stubs);
    let pairs: &[[u32; 2]] = stubs.as_chunks().0;
    let mut placed = good_pairs(n, pairs);
    for (&[u, v], _) in pairs.iter().zip(&placed).filter(|(_, placed)| **placed) {
        edges.add(u, v);
    }
    let mut bad: Vec<usize> = (0..placed.len()).filter(|&i| !placed[i]).collect();
    while let Some(i) = bad.pop() {
        let (u, v) = (stubs[2 * i], stubs[2 * i + 1]);
        // Repaired as the other one of an exchange, or made good by the removal of its double.
        placed[i] = placed[i] || edges.add_new(u, v);
        while !placed[i] {
            let end = random.below(stubs.len());
            let (j, x, y) = (end / 2, stubs[end], stubs[end ^ 1]);
            if x == u || y == v || edges.contains(u, x) || edges.contains(v, y) {
                continue;
            }
            if placed[j] {
                edges.remove(x, y);
            }
            (stubs[2 * i], stubs[2 * i + 1]) = (u, x);
            (stubs[2 * j], stubs[2 * j + 1]) = (v, y);
            placed[i] = edges.add_new(u, x);
            placed[j] = edges.add_new(v, y);
            // Two loops exchange to the same pair twice: one is placed, the other is still to be repaired.
            if !placed[j] {
                bad.push(j);
            }
        }
    }
}

/// Which pairs are neither loops nor the same as an earlier pair. O(n + pairs).
fn good_pairs(n: u32, pairs: &[[u32; 2]]) -> Vec<bool> {
    // The pairs by their smaller end, in order: a counting sort.
    let low = |pair: &[u32; 2]| pair[0].min(pair[1]) as usize;
    let mut next = vec![0u32; n as usize + 1];
    for pair in pairs {
        next[low(pair) + 1] += 1;
    }
    for u in 0..n as usize {
        next[u + 1] += next[u];
    }
    let mut order = vec![0u32; pairs.len()];
    for (i, pair) in pairs.iter().enumerate() {
        let slot = &mut next[low(pair)];
        order[*slot as usize] = i as u32;
        *slot += 1;
    }
    let mut good = vec![false; pairs.len()];
    let mut seen_from = vec![u32::MAX; n as usize];
    for i in order {
        let [u, v] = pairs[i as usize];
        let (u, v) = (u.min(v), u.max(v));
        good[i as usize] = u != v && seen_from[v as usize] != u;
        seen_from[v as usize] = u;
    }
    good
}

/// A set of undirected edges without loops.
trait Edges {
    fn contains(&self, u: u32, v: u32) -> bool;
    /// Adds an edge that is new and not a loop.
    fn add(&mut self, u: u32, v: u32);
    /// Removes an existing edge.
    fn remove(&mut self, u: u32, v: u32);
    /// Adds an edge unless it is a loop or exists already; whether it was added.
    fn add_new(&mut self, u: u32, v: u32) -> bool {
        let new = u != v && !self.contains(u, v);
        if new {
            self.add(u, v);
        }
        new
    }
}

/// The adjacency matrix, one bit per pair: for dense graphs.
struct Bits {
    width: usize,
    words: Vec<u64>,
}

impl Bits {
    fn new(n: u32) -> Self {
        let width = (n as usize).div_ceil(64);
        Bits { width, words: vec![0; width * n as usize] }
    }

    fn push_row(&self, u: u32, row: &mut Vec<u32>) {
        let start = u as usize * self.width;
        for (i, &word) in self.words[start..start + self.width].iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                row.push(i as u32 * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }

    fn flip(&mut self, u: u32, v: u32) {
        self.words[u as usize * self.width + v as usize / 64] ^= 1 << (v % 64);
        self.words[v as usize * self.width + u as usize / 64] ^= 1 << (u % 64);
    }
}

impl Edges for Bits {
    fn contains(&self, u: u32, v: u32) -> bool {
        self.words[u as usize * self.width + v as usize / 64] >> (v % 64) & 1 == 1
    }

    fn add(&mut self, u: u32, v: u32) {
        self.flip(u, v);
    }

    fn remove(&mut self, u: u32, v: u32) {
        self.flip(u, v);
    }
}

/// The neighbours of each node in a row of d places: for sparse graphs.
struct Lists {
    d: usize,
    lengths: Vec<u32>,
    places: Vec<u32>,
}

impl Lists {
    fn new(n: u32, d: u32) -> Self {
        let (n, d) = (n as usize, d as usize);
        Lists { d, lengths: vec![0; n], places: vec![0; n * d] }
    }

    fn row(&self, u: u32) -> &[u32] {
        let start = u as usize * self.d;
        &self.places[start..start + self.lengths[u as usize] as usize]
    }

    fn push(&mut self, u: u32, v: u32) {
        self.places[u as usize * self.d + self.lengths[u as usize] as usize] = v;
        self.lengths[u as usize] += 1;
    }

    fn take(&mut self, u: u32, v: u32) {
        if let Some(i) = self.row(u).iter().position(|&w| w == v) {
            let start = u as usize * self.d;
            self.lengths[u as usize] -= 1;
            self.places.swap(start + i, start + self.lengths[u as usize] as usize);
        }
    }
}

impl Edges for Lists {
    fn contains(&self, u: u32, v: u32) -> bool {
        self.row(u).contains(&v)
    }

    fn add(&mut self, u: u32, v: u32) {
        self.push(u, v);
        self.push(v, u);
    }

    fn remove(&mut self, u: u32, v: u32) {
        self.take(u, v);
        self.take(v, u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_small_feasible_degree() {
        for n in 1..=24u32 {
            for d in (0..n).filter(|d| n * d % 2 == 0) {
                for seed in 0..20 {
                    let g = regular(n, d, &mut Stream::new(seed, "regular test", &[])).unwrap();
                    assert!((0..n as usize).all(|u| g.neighbours(u).len() == d as usize), "{n} {d} {seed}");
                    assert_eq!(g.self_loops(), 0);
                }
            }
        }
    }

    #[test]
    fn lists_and_bits_make_the_same_graph() {
        for (n, d) in [(7, 2), (20, 3), (51, 10), (101, 50)] {
            let mut lists = Lists::new(n, d);
            let mut bits = Bits::new(n);
            pair_up(n, d, &mut lists, &mut Stream::new(3, "same", &[]));
            pair_up(n, d, &mut bits, &mut Stream::new(3, "same", &[]));
            for u in 0..n {
                let mut row = lists.row(u).to_vec();
                row.sort_unstable();
                assert_eq!(row, (0..n).filter(|&v| bits.contains(u, v)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn small_cases_are_close_to_uniform() {
        // 2-regular on 6 nodes: 60 hexagons and 10 pairs of triangles. 3-regular: the 70 complements of those.
        for d in [2, 3] {
            let mut seen: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
            for seed in 0..7000 {
                let g = regular(6, d, &mut Stream::new(seed, "regular uniform", &[])).unwrap();
                *seen.entry(g.targets().to_vec()).or_default() += 1.0;
            }
            assert_eq!(seen.len(), 70);
            assert!(seen.values().all(|&count| count > 50.0 && count < 200.0), "{:?}", seen.values());
        }
    }
}
