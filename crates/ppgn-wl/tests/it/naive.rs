//! The tests of Section 3.2 straight from their equations, as slow and as plain as can be: what the fast code is
//! measured against.
//!
//! A colour is the number of its full key among all keys of the round, over all graphs. Nothing is hashed, nothing is
//! skipped, nothing is shared with the crate but [`Graph`] and [`Test`].

use ppgn_graph::Graph;
use ppgn_wl::{Family, Refinement, Test};
use std::collections::{BTreeMap, BTreeSet};

/// For every graph, the colour of every tuple, in the order of [`tuples`].
pub(crate) type Colouring = Vec<Vec<usize>>;

/// The colouring of every round: the isomorphism types first, the stable colouring last.
pub(crate) fn rounds(graphs: &[Graph], test: Test) -> Vec<Colouring> {
    let k = test.k();
    let mut rounds = vec![number(graphs.iter().map(|g| tuples(g, k).iter().map(|t| kind(g, t)).collect()))];
    loop {
        let last = rounds.last().unwrap();
        let next = match (k, test.family()) {
            (1, _) => round(graphs, k, |g, c, t| refinement_key(&graphs[g], &last[g], c, t[0])),
            (_, Family::Wl) => round(graphs, k, |g, c, t| wl_key(&graphs[g], &last[g], c, t)),
            (_, Family::Fwl) => round(graphs, k, |g, c, t| fwl_key(&graphs[g], &last[g], c, t)),
        };
        if colours(&next) == colours(last) {
            return rounds;
        }
        rounds.push(next);
    }

    fn round<K: Ord>(graphs: &[Graph], k: usize, key: impl Fn(usize, usize, &[usize]) -> K) -> Colouring {
        number(graphs.iter().enumerate().map(|(g, graph)| {
            tuples(graph, k).iter().enumerate().map(|(at, tuple)| key(g, at, tuple)).collect()
        }))
    }
}

/// All k-tuples of a graph's nodes, (0, ..., 0) first, the last node changing fastest.
pub(crate) fn tuples(g: &Graph, k: usize) -> Vec<Vec<usize>> {
    let longer = |tuples: Vec<Vec<usize>>| {
        let extend =
            |t: &Vec<usize>| (0..g.nodes()).map(|i| [t.as_slice(), &[i]].concat()).collect::<Vec<_>>();
        tuples.iter().flat_map(extend).collect()
    };
    (0..k).fold(vec![vec![]], |tuples, _| longer(tuples))
}

/// The isomorphism type: the nodes' labels, which of them are equal, and every arc with its labels.
#[allow(clippy::type_complexity)]
fn kind(g: &Graph, tuple: &[usize]) -> (Vec<Vec<i64>>, Vec<(bool, Option<Vec<i64>>)>) {
    let pairs = tuple.iter().flat_map(|&u| tuple.iter().map(move |&v| (u == v, arc(g, u, v))));
    (tuple.iter().map(|&u| g.node_labels(u).to_vec()).collect(), pairs.collect())
}

fn arc(g: &Graph, u: usize, v: usize) -> Option<Vec<i64>> {
    g.arc(u, v).map(|a| g.edge_labels(a).to_vec())
}

/// Colour refinement: the colour, and the multiset of neighbours' (relation, colour).
#[allow(clippy::type_complexity)]
fn refinement_key(
    g: &Graph,
    c: &[usize],
    at: usize,
    u: usize,
) -> (usize, Vec<(Option<Vec<i64>>, Option<Vec<i64>>, usize)>) {
    let neighbours = (0..g.nodes()).filter(|&v| v != u && (g.arc(u, v).is_some() || g.arc(v, u).is_some()));
    (c[at], sorted(neighbours.map(|v| (arc(g, u, v), arc(g, v, u), c[v]))))
}

/// k-WL: the colour, and a multiset for every position j: the colours of the tuples that differ there at most.
fn wl_key(g: &Graph, c: &[usize], at: usize, tuple: &[usize]) -> (usize, Vec<Vec<usize>>) {
    let multiset = |j| sorted((0..g.nodes()).map(|i| c[place(g, tuple, j, i)]));
    (c[at], (0..tuple.len()).map(multiset).collect())
}

/// k-FWL: the colour, and the multiset over all nodes i of the k colours where i has taken each position.
fn fwl_key(g: &Graph, c: &[usize], at: usize, tuple: &[usize]) -> (usize, Vec<Vec<usize>>) {
    let replaced = |i| (0..tuple.len()).map(|j| c[place(g, tuple, j, i)]).collect::<Vec<_>>();
    (c[at], sorted((0..g.nodes()).map(replaced)))
}

/// Where the tuple is that has node i at position j.
fn place(g: &Graph, tuple: &[usize], j: usize, i: usize) -> usize {
    tuple.iter().enumerate().fold(0, |at, (q, &u)| at * g.nodes() + if q == j { i } else { u })
}

fn sorted<K: Ord>(items: impl Iterator<Item = K>) -> Vec<K> {
    let mut items: Vec<K> = items.collect();
    items.sort();
    items
}

/// The number of each key among all that occur.
fn number<K: Ord>(keys: impl Iterator<Item = Vec<K>>) -> Colouring {
    let keys: Vec<Vec<K>> = keys.collect();
    let all: BTreeSet<&K> = keys.iter().flatten().collect();
    let numbers: BTreeMap<&K, usize> = all.into_iter().enumerate().map(|(i, key)| (key, i)).collect();
    keys.iter().map(|graph| graph.iter().map(|key| numbers[key]).collect()).collect()
}

/// How many colours there are.
pub(crate) fn colours(colouring: &Colouring) -> usize {
    colouring.iter().flatten().collect::<BTreeSet<_>>().len()
}

/// Holds a refinement against the definition: the same number of rounds, and after each the same partition.
pub(crate) fn compare(graphs: &[Graph], refinement: &Refinement) -> Result<(), String> {
    let naive = rounds(graphs, refinement.test());
    if refinement.rounds() != naive.len() - 1 || !refinement.is_stable() {
        return Err(format!("{} rounds, {} by definition", refinement.rounds(), naive.len() - 1));
    }
    for (r, colouring) in naive.iter().enumerate() {
        if refinement.colours_after(r) != colours(colouring) {
            let found = refinement.colours_after(r);
            return Err(format!("round {r}: {found} colours, {} by definition", colours(colouring)));
        }
        let mut pairs = BTreeSet::new();
        for (g, expected) in colouring.iter().enumerate() {
            let found = refinement.colours_at(g, r);
            if found.len() != expected.len() {
                return Err(format!("graph {g}: {} tuples, not {}", found.len(), expected.len()));
            }
            pairs.extend(found.into_iter().zip(expected));
        }
        // As many pairs as colours on both sides: one colour of ours for each of theirs.
        if pairs.len() != colours(colouring) {
            return Err(format!("round {r}: the partitions differ: {pairs:?}"));
        }
    }
    Ok(())
}

#[test]
fn known_colourings() {
    let path = [Graph::undirected(5, [(0, 1), (1, 2), (2, 3), (3, 4)]).unwrap()];
    let found = rounds(&path, Test::COLOUR_REFINEMENT);
    assert_eq!(found.iter().map(colours).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(found[2][0], [0, 1, 2, 1, 0]);

    // C6 and two triangles: one colour for 1-WL in any number of rounds; 2-FWL distinguishes them, 2-WL does not.
    let c6 = Graph::undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]).unwrap();
    let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]).unwrap();
    let pair = [c6, triangles];
    let distinguished = |test| {
        let rounds = rounds(&pair, test);
        let [a, b] = &rounds.last().unwrap()[..] else { panic!("two graphs") };
        sorted(a.iter()) != sorted(b.iter())
    };
    assert_eq!(rounds(&pair, Test::COLOUR_REFINEMENT).len(), 1);
    assert!(!distinguished(Test::wl(2).unwrap()));
    assert!(distinguished(Test::fwl(2).unwrap()));
    assert!(distinguished(Test::wl(3).unwrap()));
}
