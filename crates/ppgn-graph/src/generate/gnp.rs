//! The random graphs of Gilbert, and Erdős and Rényi: every possible edge is there with probability p, independently.
//!
//! Walking from edge to edge rather than from pair to pair makes them in O(n + m): the number of pairs passed over
//! before the next edge is geometrically distributed (Batagelj and Brandes, *Efficient generation of large random
//! networks*, 2005).

use super::rows::{MAX_NODES, from_edges};
use super::{COUNT, Generator, Made, Parameter, SEED};
use crate::error::Result;
use crate::graph::Graph;
use crate::random::Stream;

pub(super) const GNP: Generator = Generator {
    name: "gnp",
    about: "random graphs, each edge with probability p; 1-WL distinguishes almost all: an average case of any size",
    parameters: &[
        Parameter::new("n", "16", "nodes, from 1"),
        Parameter::new("p", "0.25", "the probability of each edge, from 0 to 1"),
        Parameter::new("directed", "0", "1: each direction of a pair is drawn by itself"),
        Parameter::new("loops", "0", "1: self-loops are drawn too"),
        COUNT,
        SEED,
    ],
    make: |a| {
        let kind = Gnp {
            n: a.number("n", 1..=MAX_NODES)?,
            p: a.real("p", 0.0..=1.0)?,
            directed: a.flag("directed")?,
            loops: a.flag("loops")?,
        };
        Made::random(a, (kind.n.into(), kind.likely_arcs()), |random| kind.draw(random))
    },
};

pub(super) struct Gnp {
    pub(super) n: u32,
    pub(super) p: f64,
    pub(super) directed: bool,
    pub(super) loops: bool,
}

impl Gnp {
    /// How many places for an edge row u has: all columns, or those left of the diagonal, with or without it.
    fn places(&self, u: u32) -> u64 {
        match (self.directed, self.loops) {
            (true, true) => self.n.into(),
            (true, false) => u64::from(self.n) - 1,
            (false, true) => u64::from(u) + 1,
            (false, false) => u.into(),
        }
    }

    /// The mean number of edges.
    fn mean(&self) -> f64 {
        // The rows' places are constant or an arithmetic progression.
        let places = u64::from(self.n) * (self.places(0) + self.places(self.n - 1));
        places as f64 / 2.0 * self.p
    }

    /// A number of arcs that is not exceeded: ten deviations above the mean.
    pub(super) fn likely_arcs(&self) -> u64 {
        let edges = self.mean() + 10.0 * self.mean().sqrt() + 10.0;
        (if self.directed { edges } else { 2.0 * edges }) as u64
    }

    /// O(n + m).
    pub(super) fn draw(&self, random: &mut Stream) -> Result<Graph> {
        let edges = self.edges(random);
        match self.directed {
            true => Ok(Graph::directed(self.n as usize, edges)?),
            false => from_edges(self.n, &edges),
        }
    }

    fn edges(&self, random: &mut Stream) -> Vec<(u32, u32)> {
        let mut edges = Vec::new();
        if self.p == 0.0 {
            return edges;
        }
        edges.reserve((self.mean() + 3.0 * self.mean().sqrt()) as usize);
        let denominator = ln_one_minus(self.p);
        // P(skip >= k) = (1-p)^k, inverted. With p = 1 the denominator is -inf, and every skip 0.
        let mut skip = || (ln(1.0 - random.unit()) / denominator) as u64;
        let (mut u, mut place) = (0, skip());
        loop {
            while place >= self.places(u) {
                place -= self.places(u);
                u += 1;
                if u == self.n {
                    return edges;
                }
            }
            let v = place as u32;
            let passes_diagonal = self.directed && !self.loops && v >= u;
            edges.push((u, v + u32::from(passes_diagonal)));
            place = place.saturating_add(1).saturating_add(skip());
        }
    }
}

/// ln(x) for normal x > 0, by additions, multiplications and divisions alone: those are the same on every machine,
/// `f64::ln` is not in its last bit, and a seed has to mean the same graph everywhere.
fn ln(x: f64) -> f64 {
    let mut exponent = (x.to_bits() >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * artanh((mantissa - 1.0) / (mantissa + 1.0))
}

/// ln(1 - p) for 0 < p <= 1, without losing the digits of a small p.
fn ln_one_minus(p: f64) -> f64 {
    match p {
        1.0 => f64::NEG_INFINITY,
        _ if p < 0.25 => -2.0 * artanh(p / (2.0 - p)),
        _ => ln(1.0 - p),
    }
}

/// s + s^3/3 + s^5/5 + ..., for |s| < 0.18 to the last digit.
fn artanh(s: f64) -> f64 {
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    s * series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(n: u32, p: f64, directed: bool, loops: bool, seed: u64) -> Graph {
        Gnp { n, p, directed, loops }.draw(&mut Stream::new(seed, "gnp test", &[])).unwrap()
    }

    #[test]
    fn logarithms() {
        let mut random = Stream::new(0, "ln", &[]);
        for _ in 0..10_000 {
            let x = 1.0 - random.unit();
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * x.ln().abs(), "{x}");
        }
        assert_eq!((ln(1.0), ln(0.5)), (0.0, -std::f64::consts::LN_2));
        assert!((ln(f64::EPSILON / 2.0) + 53.0 * std::f64::consts::LN_2).abs() < 1e-14);
        for p in [1e-300, 1e-12, 1e-5, 0.1, 0.249_999, 0.25, 0.5, 0.999, 1.0 - f64::EPSILON] {
            let wanted = (-p).ln_1p();
            assert!((ln_one_minus(p) - wanted).abs() <= 1e-15 * wanted.abs(), "{p}");
        }
    }

    #[test]
    fn edge_counts_are_those_of_a_binomial() {
        for (n, p) in [(1000u32, 0.5), (1000, 0.01), (3000, 0.001), (300, 0.9)] {
            for (directed, loops) in [(false, false), (false, true), (true, false), (true, true)] {
                let g = draw(n, p, directed, loops, 1);
                let n = f64::from(n);
                let pairs = if directed { n * (n - 1.0) } else { n * (n - 1.0) / 2.0 };
                let within = |count: usize, trials: f64| {
                    (count as f64 - trials * p).abs() <= 5.0 * (trials * p * (1.0 - p)).sqrt()
                };
                assert!(
                    within(g.edges() - g.self_loops(), pairs),
                    "{n} {p} {directed} {loops}: {}",
                    g.edges()
                );
                assert!(if loops { within(g.self_loops(), n) } else { g.self_loops() == 0 });
                assert_eq!(g.is_directed(), directed);
                assert!(g.arcs() as u64 <= Gnp { n: n as u32, p, directed, loops }.likely_arcs());
            }
        }
    }

    #[test]
    fn every_edge_is_equally_likely() {
        for (directed, loops, pairs) in
            [(false, false, 6), (false, true, 10), (true, false, 12), (true, true, 16)]
        {
            let mut counts = [[0i32; 4]; 4];
            for seed in 0..4000 {
                for (u, v, _) in draw(4, 0.25, directed, loops, seed).edge_list() {
                    counts[u][v] += 1;
                }
            }
            let seen: Vec<_> = counts.as_flattened().iter().filter(|&&c| c > 0).collect();
            assert_eq!(seen.len(), pairs);
            // 1000 on average, with a deviation of 27.
            assert!(seen.iter().all(|&c| (c - 1000).abs() < 137), "{counts:?}");
        }
    }

    #[test]
    fn certain_and_impossible_edges() {
        for (directed, loops, all) in
            [(false, false, 10), (false, true, 15), (true, false, 20), (true, true, 25)]
        {
            assert_eq!(draw(5, 1.0, directed, loops, 0).edges(), all);
            assert_eq!(draw(5, 0.0, directed, loops, 0).edges(), 0);
            assert_eq!(draw(5, 5e-324, directed, loops, 0).edges(), 0);
            assert_eq!(draw(1, 1.0, directed, loops, 0).edges(), usize::from(loops));
        }
    }
}
