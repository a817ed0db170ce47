//! Levels against the definition: equal rows first, then k-FWL on what they give.

use crate::{graphs, naive};
use ppgn_graph::random::Stream;
use ppgn_graph::{Float, Graph};
use ppgn_wl::{Options, Test, TupleLevels, refine};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn levels<T: Float>(
    k: usize,
    nodes: &[usize],
    channels: usize,
    depth: usize,
    rows: &[Vec<T>],
) -> TupleLevels {
    TupleLevels::new(k, nodes, channels, depth, &Options::default(), |g| Ok::<_, ()>(rows[g].clone()))
        .unwrap()
}

/// The number of each key among all that occur.
fn number<K: Ord>(keys: Vec<Vec<K>>) -> Vec<Vec<usize>> {
    let all: BTreeSet<&K> = keys.iter().flatten().collect();
    let numbers: BTreeMap<&K, usize> = all.into_iter().zip(0..).collect();
    keys.iter().map(|graph| graph.iter().map(|key| numbers[key]).collect()).collect()
}

/// For every node j: the places of the tuples that have it in the first, ..., the last place instead.
fn with_each_node(place: usize, n: usize, k: usize) -> Vec<Vec<usize>> {
    let digits: Vec<usize> = (0..k as u32).rev().map(|q| place / n.pow(q) % n).collect();
    let put = |q: usize, j: usize| {
        let with = |r: usize| if r == q { j } else { digits[r] };
        (0..k).fold(0, |place, r| place * n + with(r))
    };
    (0..n).map(|j| (0..k).map(|q| put(q, j)).collect()).collect()
}

/// The levels straight from their definition.
fn defined<T: Float>(
    k: usize,
    nodes: &[usize],
    channels: usize,
    depth: usize,
    rows: &[Vec<T>],
) -> Vec<Vec<Vec<usize>>> {
    let row = |values: &[T]| values.iter().map(|x| x.bits()).collect::<Vec<u64>>();
    let mut levels = vec![number(rows.iter().map(|r| r.chunks(channels).map(row).collect()).collect())];
    for _ in 0..depth {
        let last = &levels[levels.len() - 1];
        let key = |g: usize, place: usize| {
            let words = with_each_node(place, nodes[g], k).into_iter();
            let mut members: Vec<Vec<usize>> =
                words.map(|word| word.into_iter().map(|at| last[g][at]).collect()).collect();
            members.sort_unstable();
            (last[g][place], members)
        };
        let tuples = |g: usize| 0..nodes[g].pow(k as u32);
        let keys = (0..nodes.len()).map(|g| tuples(g).map(|place| key(g, place)).collect());
        levels.push(number(keys.collect()));
    }
    levels
}

/// Whether two colourings of all pairs are the same partition.
fn same(found: &[Vec<u32>], expected: &[Vec<usize>]) -> bool {
    let both: BTreeSet<(&u32, &usize)> =
        found.iter().zip(expected).flat_map(|(a, b)| a.iter().zip(b)).collect();
    let count = |of: BTreeSet<usize>| of.len();
    both.len() == count(found.iter().flatten().map(|&c| c as usize).collect())
        && both.len() == count(expected.iter().flatten().copied().collect())
        && found.iter().zip(expected).all(|(a, b)| a.len() == b.len())
}

/// Everything that the levels say must follow from the colours of pairs.
fn check<T: Float>(
    k: usize,
    nodes: &[usize],
    channels: usize,
    depth: usize,
    rows: &[Vec<T>],
) -> Result<(), TestCaseError> {
    let found = levels(k, nodes, channels, depth, rows);
    prop_assert_eq!((found.k(), found.depth(), found.graphs()), (k, depth, nodes.len()));
    let colours: Vec<Vec<Vec<u32>>> = (0..=depth + 1)
        .map(|l| (0..nodes.len()).map(|g| found.colours(l, g).into_owned()).collect())
        .collect();
    for (l, expected) in defined(k, nodes, channels, depth, rows).iter().enumerate() {
        prop_assert!(same(&colours[l], expected), "level {l}");
        let present: BTreeSet<u32> = colours[l].iter().flatten().copied().collect();
        prop_assert!(present.iter().copied().eq(0..found.count(l) as u32), "numbers have gaps");
        for c in present {
            let (g, place) = found.example(c);
            prop_assert_eq!(colours[l][g][place], c);
            if l == 0 {
                prop_assert_eq!(found.parent(0, c), None);
                continue;
            }
            let below = &colours[l - 1][g];
            prop_assert_eq!(found.parent(l, c), Some(below[place]));
        }
    }
    Ok(())
}

/// One to four graphs by their numbers of nodes, with rows of so many channels.
fn inputs() -> impl Strategy<Value = (Vec<usize>, usize, u64, usize)> {
    (prop::collection::vec(1..7usize, 1..5), 1..4usize, any::<u64>(), 1..5usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn levels_are_as_defined((nodes, channels, seed, values) in inputs()) {
        let mut random = Stream::new(seed, "rows", &[]);
        let some = [0.0f64, -0.0, 1.0 / 3.0, f64::NAN, 1e-310];
        let mut of = |n: usize| (0..n * n * channels).map(|_| some[random.below(values)]).collect();
        let rows: Vec<Vec<f64>> = nodes.iter().map(|&n| of(n)).collect();
        check(2, &nodes, channels, 3, &rows)?;
        let narrow: Vec<Vec<f32>> = rows.iter().map(|r| r.iter().map(|&x| x as f32).collect()).collect();
        check(2, &nodes, channels, 3, &narrow)?;
    }

    #[test]
    fn levels_of_triples_are_as_defined((nodes, channels, seed, values) in inputs()) {
        let mut random = Stream::new(seed, "rows", &[]);
        let nodes: Vec<usize> = nodes.iter().map(|&n| n.min(4)).collect();
        let mut of = |n: usize| (0..n.pow(3) * channels).map(|_| random.below(values) as f32).collect();
        let rows: Vec<Vec<f32>> = nodes.iter().map(|&n| of(n)).collect();
        check(3, &nodes, channels, 2, &rows)?;
    }

    /// Rows that tell the isomorphism type make the levels the rounds of 2-FWL.
    #[test]
    fn levels_are_rounds_where_rows_are_types(some in graphs::some(7)) {
        let test = Test::fwl(2).unwrap();
        let rounds = refine(&some, test, &Options::default()).unwrap();
        let arc = |g: &Graph, u: usize, v: usize| match g.arc(u, v) {
            None => -1.0,
            Some(a) => g.edge_labels(a).first().map_or(0.0, |&l| l as f32),
        };
        let label = |g: &Graph, u: usize| g.node_labels(u).first().map_or(0.0, |&l| l as f32);
        let row = |g: &Graph, t: &Vec<usize>| {
            let (u, v) = (t[0], t[1]);
            let same = f32::from(u8::from(u == v));
            [same, label(g, u), label(g, v), arc(g, u, u), arc(g, v, v), arc(g, u, v), arc(g, v, u)]
        };
        let rows: Vec<Vec<f32>> =
            some.iter().map(|g| naive::tuples(g, 2).iter().flat_map(|t| row(g, t)).collect()).collect();
        let nodes: Vec<usize> = some.iter().map(Graph::nodes).collect();
        let found = levels(2, &nodes, 7, 4, &rows);
        for l in 0..=4 {
            let a: Vec<Vec<u32>> = (0..some.len()).map(|g| found.colours(l, g).into_owned()).collect();
            let of_round = |g| rounds.colours_at(g, l).into_iter().map(|c| c as usize).collect();
            let b: Vec<Vec<usize>> = (0..some.len()).map(of_round).collect();
            prop_assert!(same(&a, &b), "level {l}");
        }
    }

    #[test]
    fn the_order_of_nodes_and_graphs_is_nothing((nodes, channels, seed, values) in inputs()) {
        let mut random = Stream::new(seed, "rows", &[]);
        let mut of = |n: usize| (0..n * n * channels).map(|_| random.below(values) as f32).collect();
        let rows: Vec<Vec<f32>> = nodes.iter().map(|&n| of(n)).collect();
        let order = random.permutation(nodes.len());
        let permutations: Vec<Vec<u32>> = nodes.iter().map(|&n| random.permutation(n)).collect();
        let image = |g: usize, pair: usize| {
            let (n, p) = (nodes[g], &permutations[g]);
            p[pair / n] as usize * n + p[pair % n] as usize
        };
        let moved = |&g: &u32| {
            let (g, mut moved) = (g as usize, rows[g as usize].clone());
            for (pair, row) in rows[g].chunks(channels).enumerate() {
                moved[image(g, pair) * channels..][..channels].copy_from_slice(row);
            }
            moved
        };
        let other_rows: Vec<Vec<f32>> = order.iter().map(moved).collect();
        let other_nodes: Vec<usize> = order.iter().map(|&g| nodes[g as usize]).collect();
        let a = levels(2, &nodes, channels, 3, &rows);
        let b = levels(2, &other_nodes, channels, 3, &other_rows);
        for l in 0..=3 {
            prop_assert_eq!(a.count(l), b.count(l));
            for (new, &old) in order.iter().enumerate() {
                let (was, is) = (a.colours(l, old as usize), b.colours(l, new));
                for (pair, c) in was.iter().enumerate() {
                    prop_assert_eq!(*c, is[image(old as usize, pair)]);
                }
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let mut random = Stream::new(4, "rows", &[]);
    let nodes: Vec<usize> = (1..40).chain([340]).collect();
    let rows: Vec<Vec<f32>> = nodes
        .iter()
        .map(|n| (0..n * n).map(|_| f32::from(u8::from(random.below(n / 2 + 1) == 0))).collect())
        .collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| levels(2, &nodes, 1, 2, &rows))
    };
    assert_eq!(with(1), with(2));
}

#[test]
fn no_channels_are_one_colour() {
    let found = levels::<f32>(2, &[3, 2], 0, 2, &[vec![], vec![]]);
    // What is left is the number of nodes.
    assert_eq!((found.count(0), found.count(1), found.count(2)), (1, 2, 2));
}
