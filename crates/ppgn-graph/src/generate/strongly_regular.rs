//! The classic small strongly regular graphs.
//!
//! In an srg(n, k, λ, μ) every node has k neighbours, neighbours have λ of them in common and other pairs μ. 2-FWL
//! (which is 3-WL) sees nothing else, so two such graphs with the same parameters are beyond the paper's networks:
//! the rook's graph on 4 x 4 and Shrikhande's graph are the smallest pair.

use super::rows::{MAX_NODES, undirected};
use super::{Generator, Parameter};
use crate::error::Result;
use crate::graph::Graph;

pub(super) const ROOK: Generator = Generator {
    name: "rook",
    about: "the rook's graph, srg(n^2, 2n-2, n-2, 2); with n = 4 the same to 2-FWL as shrikhande, and not isomorphic",
    parameters: &[Parameter::new("n", "4", "rows and columns of the board, from 1")],
    make: |a| Ok(rook(a.number("n", 1..=MAX_NODES)?)?.into()),
};

/// The squares of an n x n board, row by row, joined where a rook moves from one to the other.
fn rook(n: u32) -> Result<Graph> {
    let wide = u64::from(n);
    undirected(wide * wide, (wide * wide).saturating_mul(2 * (wide - 1)), |u, row| {
        let (r, c) = (u / n, u % n);
        let column = |range: std::ops::Range<u32>| range.map(move |i| i * n + c);
        row.extend(column(0..r).chain((r * n..(r + 1) * n).filter(|&v| v != u)).chain(column(r + 1..n)));
    })
}

pub(super) const SHRIKHANDE: Generator = Generator {
    name: "shrikhande",
    about: "Shrikhande's graph, srg(16, 6, 2, 2) like rook:n=4; 3-FWL distinguishes the two, 2-FWL does not",
    parameters: &[],
    make: |_| Ok(shrikhande()?.into()),
};

/// Nodes (a, b) modulo 4, numbered 4a + b, joined where they differ by (1,0), (0,1) or (1,1), up to sign.
fn shrikhande() -> Result<Graph> {
    undirected(16, 96, |u, row| {
        let (a, b) = (u / 4, u % 4);
        let steps = [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)];
        row.extend(steps.map(|(x, y)| (a + x) % 4 * 4 + (b + y) % 4));
    })
}

pub(super) const PETERSEN: Generator = Generator {
    name: "petersen",
    about: "Petersen's graph, srg(10, 3, 0, 1) of girth 5; the same to 1-WL as every cubic graph of 10 nodes",
    parameters: &[],
    make: |_| Ok(petersen()?.into()),
};

/// A pentagon 0..5, a pentagram 5..10, and a spoke from each u to u + 5.
pub(super) fn petersen() -> Result<Graph> {
    undirected(10, 30, |u, row| {
        let (start, step) = if u < 5 { (0, 1) } else { (5, 2) };
        row.extend([start + (u + step) % 5, start + (u + 5 - step) % 5, (u + 5) % 10]);
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The parameters (n, k, λ, μ) of a strongly regular graph.
    pub(in super::super) fn strong_regularity(g: &Graph) -> Option<(usize, usize, usize, usize)> {
        let common = |u: usize, v: usize| {
            g.neighbours(u).iter().filter(|w| g.neighbours(v).binary_search(w).is_ok()).count()
        };
        let pairs = || (0..g.nodes()).flat_map(|u| (0..u).map(move |v| (u, v)));
        fn constant(mut counts: impl Iterator<Item = usize>) -> Option<usize> {
            let first = counts.next()?;
            counts.all(|c| c == first).then_some(first)
        }
        let k = constant((0..g.nodes()).map(|u| g.neighbours(u).len()))?;
        let adjacent = |&(u, v): &(usize, usize)| g.arc(u, v).is_some();
        let lambda = constant(pairs().filter(adjacent).map(|(u, v)| common(u, v)))?;
        let mu = constant(pairs().filter(|p| !adjacent(p)).map(|(u, v)| common(u, v)))?;
        (g.self_loops() == 0).then_some((g.nodes(), k, lambda, mu))
    }

    #[test]
    fn parameters() {
        for n in 2..8 {
            let wide = n as usize;
            let wanted = (wide * wide, 2 * wide - 2, wide - 2, 2);
            assert_eq!(strong_regularity(&rook(n).unwrap()), Some(wanted));
        }
        assert_eq!(rook(1).unwrap().nodes(), 1);
        assert_eq!(strong_regularity(&shrikhande().unwrap()), Some((16, 6, 2, 2)));
        assert_eq!(strong_regularity(&petersen().unwrap()), Some((10, 3, 0, 1)));
        assert_eq!(strong_regularity(&super::super::families::path(4).unwrap()), None);
    }

    #[test]
    fn rook_and_shrikhande_differ_in_cliques() {
        // The rows and columns of the board are cliques of four; around a node of Shrikhande's graph is a hexagon.
        let cliques = |g: &Graph| {
            let joined = |u: usize, v: usize| usize::from(g.arc(u, v).is_some());
            let mut count = 0;
            for (a, b, _) in g.edge_list().filter(|(a, b, _)| a < b) {
                for c in b + 1..16 {
                    for d in c + 1..16 {
                        count += joined(a, c) * joined(a, d) * joined(b, c) * joined(b, d) * joined(c, d);
                    }
                }
            }
            count
        };
        assert_eq!((cliques(&rook(4).unwrap()), cliques(&shrikhande().unwrap())), (8, 0));
    }
}
