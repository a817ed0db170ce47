//! Theorem 1 and the generalisation to k-FWL, in both directions: a compiled network's scores differ exactly for the
//! graphs that k-WL or k-FWL distinguishes, and are bitwise identical for relabelled copies.

use crate::compile::{assert_agrees_with, coloured, colours_by, distinguishes, every_pair, file, generated};
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder, Schema};
use ppgn_nn::Model;
use ppgn_nn::compile::{Compiled, Multiset, Options, compile};
use ppgn_wl::Test;

fn compiled(test: Test, graphs: &[Graph], options: &Options) -> Compiled {
    let schema = Schema::of(graphs).unwrap();
    let compiled = compile(graphs, &schema, &colours_by(test, graphs), options).unwrap();
    compiled.verify(graphs, &schema).unwrap();
    compiled
}

fn tests(names: &[&str]) -> Vec<Test> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// All connected graphs with n nodes, one per isomorphism class.
fn connected(n: usize) -> Vec<Graph> {
    let pairs: Vec<(u32, u32)> = (0..n as u32).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let number = |u: u32, v: u32| (v.max(u) * (v.max(u) - 1) / 2 + u.min(v)) as usize;
    let orders: Vec<Vec<u32>> = (0..n as u32).fold(vec![vec![]], |shorter, new| {
        let insert = |p: &Vec<u32>| -> Vec<Vec<u32>> {
            (0..=p.len()).map(|at| [&p[..at], &[new], &p[at..]].concat()).collect()
        };
        shorter.iter().flat_map(insert).collect()
    });
    let images: Vec<Vec<usize>> = orders
        .iter()
        .map(|p| pairs.iter().map(|&(u, v)| number(p[u as usize], p[v as usize])).collect())
        .collect();
    // The smallest image of an edge set identifies its class.
    let least =
        |set: u32| images.iter().all(|p| (0..pairs.len()).fold(0, |s, i| s | (set >> i & 1) << p[i]) >= set);
    let graph = |set: u32| {
        let edges = pairs.iter().enumerate().filter(|&(i, _)| set >> i & 1 == 1).map(|(_, &e)| e);
        Graph::undirected(n, edges).unwrap()
    };
    let whole = |g: &Graph| {
        let mut reached = vec![0usize];
        let mut at = 0;
        while let Some(&u) = reached.get(at) {
            let next = g.neighbours(u).iter().map(|&v| v as usize);
            let new: Vec<usize> = next.filter(|v| !reached.contains(v)).collect();
            reached.extend(new);
            at += 1;
        }
        reached.len() == n
    };
    (0..1 << pairs.len()).filter(|&set| least(set)).map(graph).filter(whole).collect()
}

#[test]
fn two_wl_on_small_connected_graphs() {
    let test = Test::wl(2).unwrap();
    let all: Vec<Graph> = (2..=6).flat_map(connected).collect();
    assert_eq!(all.len(), 142);
    let nodes = colours_by(Test::COLOUR_REFINEMENT, &all);
    let (equal, unequal): (Vec<_>, Vec<_>) = every_pair(&all)
        .into_iter()
        .filter(|&(a, b)| all[a].nodes() == all[b].nodes())
        .partition(|&(a, b)| nodes.equal(a, b));
    assert!(!equal.is_empty());
    let mut random = Stream::new(0, "unequal", &[]);
    let drawn = (0..100).map(|_| unequal[random.below(unequal.len())]);
    for (a, b) in equal.iter().copied().chain(drawn) {
        let pair = [all[a].clone(), all[b].clone()];
        let network = compiled(test, &pair, &Options::default());
        assert_eq!((network.config.model, network.config.order), (Model::Sums, 2));
        let distinguished = assert_agrees_with(test, &pair, &network, [(0, 1)]);
        assert_eq!(distinguished, usize::from(!nodes.equal(a, b)), "graphs {a} and {b}: 2-WL is 1-WL");
    }
}

#[test]
fn three_wl_and_three_fwl_on_known_pairs() {
    let pairs = [
        (vec!["figure1"], [true, true]),
        (vec!["rook", "shrikhande"], [false, true]),
        (vec!["cfi:base=c3"], [true, true]),
        (vec!["cfi:base=k4-e"], [true, true]),
        (vec!["cfi:base=k4"], [false, true]),
    ];
    for (specs, distinguished) in pairs {
        let graphs = generated(&specs);
        for (test, distinguished) in tests(&["3-wl", "3-fwl"]).into_iter().zip(distinguished) {
            let rounds = (!distinguished).then_some(1);
            let network = compiled(test, &graphs, &Options { rounds, ..Options::default() });
            assert_eq!(network.config.order, 3);
            assert_eq!(
                assert_agrees_with(test, &graphs, &network, [(0, 1)]),
                usize::from(distinguished),
                "{specs:?} {test}"
            );
            assert!(network.margin >= 1.0 && network.largest < 2f64.powi(53));
        }
    }
}

#[test]
fn every_encoding_of_multisets() {
    for test in tests(&["2-wl", "3-wl", "3-fwl", "4-fwl"]) {
        let small = [
            Graph::undirected(4, [(0, 1), (1, 2), (2, 3)]).unwrap(),
            Graph::undirected(4, [(0, 1), (0, 2), (0, 3)]).unwrap(),
        ];
        for multiset in Multiset::ALL {
            let options = Options { multiset, rounds: Some(1), ..Options::default() };
            let network = compiled(test, &small, &options);
            assert_eq!(assert_agrees_with(test, &small, &network, [(0, 1)]), 1, "{test} {multiset:?}");
        }
    }
}

#[test]
fn random_coloured_pairs() {
    for test in tests(&["2-wl", "3-wl", "3-fwl"]) {
        for pair in 0..20 {
            let graphs = coloured(pair / 4, pair % 2 == 1, pair % 3 == 0);
            let at = 2 * (pair % 4) as usize;
            let pair = &graphs[at..at + 2];
            let network = compiled(test, pair, &Options::default());
            assert_agrees_with(test, pair, &network, [(0, 1)]);
        }
    }
}

#[test]
fn after_any_number_of_rounds() {
    let graphs = coloured(2, false, true);
    for test in tests(&["2-wl", "3-wl", "3-fwl"]) {
        let colours = colours_by(test, &graphs);
        for rounds in 0..=colours.rounds() + 1 {
            let network = compiled(test, &graphs, &Options { rounds: Some(rounds), ..Options::default() });
            assert_eq!(network.config.blocks.len(), rounds + 1);
            for (a, b) in every_pair(&graphs) {
                let by_test = colours.distinguishing_round(a, b).is_some_and(|r| r <= rounds);
                assert_eq!(
                    distinguishes(&network, &network.scores[a], &network.scores[b]),
                    by_test,
                    "{test} {rounds}"
                );
            }
        }
    }
}

/// Tuples see an edge in both directions, so they can represent labels that pairs cannot.
#[test]
fn labels_of_both_directions() {
    let arcs = |back: i64| {
        let mut b = GraphBuilder::new(2, true);
        b.edge_label_columns(1).edge_with(0, 1, &[0], &[]).edge_with(1, 0, &[back], &[]);
        b.build().unwrap()
    };
    let graphs = [arcs(0), arcs(1)];
    for test in tests(&["2-wl", "3-fwl"]) {
        let network = compiled(test, &graphs, &Options::default());
        assert_eq!(assert_agrees_with(test, &graphs, &network, [(0, 1)]), 1);
    }
}

#[test]
fn strongly_regular_graphs_at_order_three() {
    let Some(data) = file("sr/sr16622.g6") else { return };
    let test = Test::fwl(3).unwrap();
    let network = compiled(test, data.graphs(), &Options::default());
    assert_eq!(assert_agrees_with(test, data.graphs(), &network, [(0, 1)]), 1);
}

#[test]
fn what_cannot_be_compiled_is_an_error() {
    let graphs = generated(&["figure1"]);
    let schema = Schema::of(&graphs).unwrap();
    let nodes = colours_by(Test::COLOUR_REFINEMENT, &graphs);
    let error = compile(&graphs, &schema, &nodes, &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("2-wl distinguishes the same graphs"), "{error}");
    let other = generated(&["cycles:n=5"]);
    let triples = colours_by(Test::fwl(3).unwrap(), &graphs);
    let error = compile(&other, &schema, &triples, &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("other graphs"), "{error}");
    let long = colours_by(Test::fwl(11).unwrap(), &[Graph::undirected(1, []).unwrap()]);
    let one = [Graph::undirected(1, []).unwrap()];
    let error = compile(&one, &schema, &long, &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("order from 1"), "{error}");
}
