//! All graphs on n nodes, each once up to isomorphism: what a statement about every small graph is checked on, and the
//! collection `graph8c` of the literature on expressiveness (all connected graphs on 8 nodes).
//!
//! Graphs on n nodes are those on n - 1 nodes with one more node, joined to any set of the others; a connected graph
//! has a node whose removal leaves it connected, so connected graphs come from connected ones. Of the candidates, one
//! per [canonical form](canonical) is kept.

use super::rows::undirected;
use super::{Generator, Made, Parameter};
use crate::error::Result;
use crate::graph::Graph;
use std::collections::BTreeSet;

pub(super) const ATLAS: Generator = Generator {
    name: "atlas",
    about: "all graphs on n nodes, each once up to isomorphism; connected=1 for the connected ones only",
    parameters: &[
        Parameter::new("n", "5", "nodes, 1 to 8"),
        Parameter::new("connected", "0", "1: connected graphs only (n=8: the 11117 of graph8c)"),
    ],
    make: |a| {
        let (nodes, connected) = (a.number("n", 1..=MOST as u32)? as usize, a.flag("connected")?);
        let graphs: Result<Vec<Graph>> = atlas(nodes, connected).into_iter().map(graph).collect();
        Ok(Made { graphs: graphs?, ..Made::default() })
    },
};

/// The most nodes: a graph is a byte per node.
const MOST: usize = 8;

/// The neighbours of every node as bits; rows beyond the last node are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rows {
    nodes: usize,
    rows: [u8; MOST],
}

/// One graph per isomorphism class, by number of edges, then by canonical form.
fn atlas(nodes: usize, connected: bool) -> Vec<Rows> {
    let mut graphs = vec![Rows { nodes: 1, rows: [0; MOST] }];
    for n in 2..=nodes {
        let mut found: BTreeSet<(u32, Rows)> = BTreeSet::new();
        for graph in &graphs {
            for joined in u32::from(connected)..1 << (n - 1) {
                let mut rows = Rows { nodes: n, ..*graph };
                for v in (0..n - 1).filter(|v| joined >> v & 1 == 1) {
                    rows.rows[v] |= 1 << (n - 1);
                    rows.rows[n - 1] |= 1 << v;
                }
                found.insert((rows.rows.iter().map(|row| row.count_ones()).sum(), canonical(&rows)));
            }
        }
        graphs = found.into_iter().map(|(_, rows)| rows).collect();
    }
    graphs
}

fn graph(rows: Rows) -> Result<Graph> {
    let arcs = rows.rows.iter().map(|row| u64::from(row.count_ones())).sum();
    undirected(rows.nodes as u64, arcs, |u, row| {
        row.extend((0..rows.nodes as u32).filter(|v| rows.rows[u as usize] >> v & 1 == 1));
    })
}

/// The same graph with its nodes in an order that isomorphic graphs agree on: of all orders that refining and
/// individualising nodes leads to, the one with the largest rows. The tree of these choices has one leaf per
/// automorphism at worst; twins, which are what small graphs with many automorphisms consist of, are tried once.
fn canonical(graph: &Rows) -> Rows {
    let mut best = Rows { nodes: 0, rows: [0; MOST] };
    search(graph, refined(graph, [0; MOST]), &mut best);
    best
}

fn search(graph: &Rows, colours: [u8; MOST], best: &mut Rows) {
    let nodes = 0..graph.nodes;
    let size = |c: u8| nodes.clone().filter(|&v| colours[v] == c).count();
    let Some(cell) = (0..graph.nodes as u8).find(|&c| size(c) > 1) else {
        let mut rows = [0; MOST];
        for u in nodes.clone() {
            for v in nodes.clone().filter(|v| graph.rows[u] >> v & 1 == 1) {
                rows[usize::from(colours[u])] |= 1 << colours[v];
            }
        }
        *best = (*best).max(Rows { nodes: graph.nodes, rows });
        return;
    };
    let members: Vec<usize> = nodes.clone().filter(|&v| colours[v] == cell).collect();
    for (i, &v) in members.iter().enumerate() {
        if members[..i].iter().any(|&w| are_twins(graph, v, w)) {
            continue;
        }
        // The chosen node comes before the rest of its class.
        let mut chosen = colours.map(|c| 2 * c + 1);
        chosen[v] -= 1;
        search(graph, refined(graph, chosen), best);
    }
}

/// Whether swapping two nodes changes nothing.
fn are_twins(graph: &Rows, v: usize, w: usize) -> bool {
    let others = !(1u8 << v | 1 << w);
    graph.rows[v] & others == graph.rows[w] & others
}

/// Colour refinement; colours are ranks, from 0, in an order that does not depend on the nodes'.
fn refined(graph: &Rows, mut colours: [u8; MOST]) -> [u8; MOST] {
    let mut count = 0;
    loop {
        // A node's key: its colour, then how many neighbours it has of every colour, four bits each.
        let key = |v: usize| {
            let neighbours = (0..graph.nodes).filter(|u| graph.rows[v] >> u & 1 == 1);
            neighbours.fold(u128::from(colours[v]) << 64, |key, u| key + (1 << (4 * (colours[u] % 16))))
        };
        let keys: Vec<u128> = (0..graph.nodes).map(key).collect();
        let distinct: BTreeSet<u128> = keys.iter().copied().collect();
        for (colour, key) in colours.iter_mut().zip(&keys) {
            *colour = distinct.range(..key).count() as u8;
        }
        if distinct.len() == count {
            return colours;
        }
        count = distinct.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OEIS A000088 and A001349.
    #[test]
    fn as_many_as_there_are() {
        let count = |connected: bool| [1, 2, 3, 4, 5, 6, 7].map(|n| atlas(n, connected).len());
        assert_eq!(count(false), [1, 2, 4, 11, 34, 156, 1044]);
        assert_eq!(count(true), [1, 1, 2, 6, 21, 112, 853]);
    }

    #[test]
    fn graph8c_has_11117_graphs() {
        assert_eq!(atlas(8, true).len(), 11_117);
    }

    /// Every order of the nodes leads to the same form.
    #[test]
    fn the_form_is_canonical() {
        let mut random = crate::random::Stream::new(1, "atlas", &[]);
        for original in atlas(6, false).into_iter().step_by(5).chain(atlas(7, true).into_iter().step_by(40)) {
            let p = random.permutation(original.nodes);
            let mut rows = [0; MOST];
            for u in 0..original.nodes {
                for v in (0..original.nodes).filter(|v| original.rows[u] >> v & 1 == 1) {
                    rows[p[u] as usize] |= 1 << p[v];
                }
            }
            let moved = Rows { nodes: original.nodes, rows };
            assert_eq!(canonical(&moved), canonical(&original));
            assert_eq!(canonical(&original), original);
        }
    }
}
