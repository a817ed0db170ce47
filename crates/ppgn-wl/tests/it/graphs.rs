//! The graphs that tests are run on: random ones for proptest, and all small ones.

use ppgn_graph::{Graph, GraphBuilder};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A random graph of at most `most` nodes: directed or not, with or without node labels, edge labels and loops.
pub(crate) fn graph(most: usize, directed: bool, node_labels: i64, edge_labels: i64) -> BoxedStrategy<Graph> {
    (1..=most)
        .prop_flat_map(move |n| {
            let edge = (0..n as u32, 0..n as u32, 0..edge_labels.max(1));
            // Few edges leave symmetry, which is what a refinement has to keep.
            (
                Just(n),
                prop::collection::vec(edge, 0..2 * n + 1),
                prop::collection::vec(0..node_labels.max(1), n),
            )
        })
        .prop_map(move |(n, edges, labels)| {
            let mut b = GraphBuilder::new(n, directed);
            if edge_labels > 0 {
                b.edge_label_columns(1);
            }
            if node_labels > 0 {
                b.node_labels(1, labels);
            }
            for (u, v, label) in edges {
                b.edge_with(u, v, if edge_labels > 0 { std::slice::from_ref(&label) } else { &[] }, &[]);
            }
            b.build_merging().unwrap().0
        })
        .boxed()
}

/// One to three random graphs of one kind.
pub(crate) fn some(most: usize) -> BoxedStrategy<Vec<Graph>> {
    (any::<bool>(), 0..3i64, 0..3i64)
        .prop_flat_map(move |(directed, nodes, edges)| {
            prop::collection::vec(graph(most, directed, nodes, edges), 1..4)
        })
        .boxed()
}

/// All connected graphs with n nodes (at most 6), one for every isomorphism class: 1, 1, 2, 6, 21, 112.
pub(crate) fn connected(n: usize) -> Vec<Graph> {
    let pairs: Vec<(u32, u32)> = (0..n as u32).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let number = |u: u32, v: u32| (v.max(u) * (v.max(u) - 1) / 2 + u.min(v)) as usize;
    // What every permutation does to the pairs; the smallest image of an edge set names its class.
    let permutations: Vec<Vec<usize>> = permutations(n)
        .iter()
        .map(|p| pairs.iter().map(|&(u, v)| number(p[u as usize], p[v as usize])).collect())
        .collect();
    let mut graphs = Vec::new();
    for set in 0u32..1 << pairs.len() {
        let image = |p: &Vec<usize>| (0..pairs.len()).fold(0, |s, i| s | (set >> i & 1) << p[i]);
        // Only the smallest of a class is kept, so every other one is done with at its first smaller image.
        if permutations.iter().any(|p| image(p) < set) {
            continue;
        }
        let edges = pairs.iter().enumerate().filter(|&(i, _)| set >> i & 1 == 1).map(|(_, &e)| e);
        let g = Graph::undirected(n, edges).unwrap();
        if is_connected(&g) {
            graphs.push(g);
        }
    }
    graphs
}

fn permutations(n: usize) -> Vec<Vec<u32>> {
    (0..n as u32).fold(vec![vec![]], |shorter, new| {
        let insert =
            |p: &Vec<u32>| (0..=p.len()).map(|at| [&p[..at], &[new], &p[at..]].concat()).collect::<Vec<_>>();
        shorter.iter().flat_map(insert).collect()
    })
}

fn is_connected(g: &Graph) -> bool {
    let mut reached = BTreeSet::from([0]);
    let mut stack = vec![0];
    while let Some(u) = stack.pop() {
        stack.extend(g.neighbours(u).iter().map(|&v| v as usize).filter(|&v| reached.insert(v)));
    }
    reached.len() == g.nodes()
}

#[test]
fn as_many_connected_graphs_as_there_are() {
    let counts: Vec<usize> = (1..=6).map(|n| connected(n).len()).collect();
    assert_eq!(counts, [1, 1, 2, 6, 21, 112]);
}
