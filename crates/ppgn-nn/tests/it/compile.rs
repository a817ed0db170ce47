//! Theorem 2, in both directions: a compiled network's scores differ exactly for the graphs that 2-FWL distinguishes,
//! and are bitwise identical for relabelled copies.

use ppgn_graph::format::{self, ReadOptions};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Graph, GraphBuilder, Schema};
use ppgn_nn::compile::{Compiled, Multiset, Options, compile};
use ppgn_nn::{Batch, Precision};
use ppgn_wl::{Refinement, Test, refine};
use std::io::Write;
use std::path::PathBuf;

/// 2-FWL, the test of this file.
fn two() -> Test {
    Test::fwl(2).unwrap()
}

pub(crate) fn colours_by(test: Test, graphs: &[Graph]) -> Refinement {
    refine(graphs, test, &ppgn_wl::Options::default()).unwrap()
}

fn colours(graphs: &[Graph]) -> Refinement {
    colours_by(two(), graphs)
}

fn verified(graphs: &[Graph], options: &Options) -> Compiled {
    let schema = Schema::of(graphs).unwrap();
    let compiled = compile(graphs, &schema, &colours(graphs), options).unwrap();
    compiled.verify(graphs, &schema).unwrap();
    compiled
}

/// The scores of graphs, not necessarily those the network was compiled from.
fn scores(compiled: &Compiled, schema: &Schema, graphs: &[Graph]) -> Vec<Vec<f64>> {
    let network = compiled.network().unwrap();
    let encoder = compiled.encoding.encoder(schema).unwrap();
    let score = |graph: &Graph| {
        let batch = Batch::of(&compiled.config, &encoder, &[graph], Precision::F64).unwrap();
        network.forward(&batch).unwrap().to_f64()
    };
    graphs.iter().map(score).collect()
}

pub(crate) fn distinguishes(compiled: &Compiled, a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).any(|(x, y)| (x - y).abs() > compiled.threshold())
}

fn assert_agrees(
    graphs: &[Graph],
    compiled: &Compiled,
    pairs: impl IntoIterator<Item = (usize, usize)>,
) -> usize {
    assert_agrees_with(two(), graphs, compiled, pairs)
}

/// Compares a network with the test, run on every pair of graphs separately, and checks that relabelled copies get
/// identical bits.
pub(crate) fn assert_agrees_with(
    test: Test,
    graphs: &[Graph],
    compiled: &Compiled,
    pairs: impl IntoIterator<Item = (usize, usize)>,
) -> usize {
    let schema = Schema::of(graphs).unwrap();
    // `compile` has verified that the network gives these scores.
    let found = &compiled.scores;
    let mut random = Stream::new(0, "copies", &[]);
    // At most about sixty graphs of a large set.
    let some: Vec<usize> = (0..graphs.len()).step_by(graphs.len().div_ceil(60)).collect();
    let copies: Vec<Graph> = some.iter().map(|&g| graphs[g].permute_randomly(&mut random)).collect();
    for (&g, copy) in some.iter().zip(scores(compiled, &schema, &copies)) {
        let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&copy), bits(&found[g]), "a relabelled copy of graph {g}");
    }
    let mut distinguished = 0;
    for (a, b) in pairs {
        let by_network = distinguishes(compiled, &found[a], &found[b]);
        let by_test = !colours_by(test, &[graphs[a].clone(), graphs[b].clone()]).equal(0, 1);
        assert_eq!(by_network, by_test, "graphs {a} and {b}");
        distinguished += usize::from(by_network);
    }
    distinguished
}

fn neighbours(graphs: &[Graph]) -> Vec<(usize, usize)> {
    (0..graphs.len() / 2).map(|p| (2 * p, 2 * p + 1)).collect()
}

pub(crate) fn every_pair(graphs: &[Graph]) -> Vec<(usize, usize)> {
    (0..graphs.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

/// A file in the data folder, if it exists.
pub(crate) fn file(name: &str) -> Option<Dataset> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("PPGN_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", path.display());
        return None;
    }
    Some(format::read(&path, &ReadOptions::default()).unwrap())
}

/// All graphs of these generators, one after another.
pub(crate) fn generated(specs: &[&str]) -> Vec<Graph> {
    specs.iter().flat_map(|spec| generate(spec).unwrap().graphs().to_vec()).collect()
}

#[test]
fn brec_is_distinguished_as_by_the_test() {
    for (name, distinguished) in [("basic", 60), ("regular", 50), ("extension", 100)] {
        let Some(data) = file(&format!("brec/{name}.g6")) else { continue };
        let compiled = verified(data.graphs(), &Options::default());
        assert!(compiled.margin >= 1.0 && compiled.largest < 2f64.powi(53));
        assert_eq!(
            assert_agrees(data.graphs(), &compiled, neighbours(data.graphs())),
            distinguished,
            "{name}"
        );
    }
}

#[test]
fn strongly_regular_graphs_are_not_distinguished() {
    for name in ["sr/sr16622.g6", "sr/sr251256.g6"] {
        let Some(data) = file(name) else { continue };
        let compiled = verified(data.graphs(), &Options::default());
        assert_eq!((compiled.rounds, compiled.margin), (0, 1.0));
        assert_eq!(assert_agrees(data.graphs(), &compiled, every_pair(data.graphs())), 0);
        // Rounds that change nothing are still rounds.
        let three = verified(data.graphs(), &Options { rounds: Some(3), ..Options::default() });
        assert_eq!(three.config.blocks.len(), 4);
        assert_eq!(assert_agrees(data.graphs(), &three, neighbours(data.graphs())), 0);
    }
}

#[test]
fn known_pairs_with_every_encoding_of_multisets() {
    let pairs = [
        (vec!["figure1"], true),
        (vec!["figure1:variant=2"], true),
        (vec!["rook", "shrikhande"], false),
        (vec!["petersen", "prism:n=5"], true),
        (vec!["cfi:base=c3"], true),
        (vec!["cfi:base=k4-e"], true),
        (vec!["cfi:base=k4"], false),
        (vec!["cfi:base=k4,colours=1"], false),
        (vec!["cfi:base=k4-e,colours=1"], true),
    ];
    for (specs, distinguished) in pairs {
        let graphs = generated(&specs);
        let schema = Schema::of(&graphs).unwrap();
        let colours = colours(&graphs);
        for multiset in Multiset::ALL {
            // Graphs that the test does not distinguish: two rounds do not distinguish them either.
            let options = Options { multiset, rounds: (!distinguished).then_some(2), ..Options::default() };
            let compiled = match compile(&graphs, &schema, &colours, &options) {
                Ok(compiled) => compiled,
                // Powers up to the number of nodes: exact only for small graphs with few colours.
                Err(error) if multiset == Multiset::PowerSums => {
                    assert!(
                        graphs[0].nodes() >= 10 && error.to_string().contains("2^53"),
                        "{specs:?} {error}"
                    );
                    continue;
                }
                Err(error) => panic!("{specs:?} {multiset:?} {error}"),
            };
            compiled.verify(&graphs, &schema).unwrap();
            assert_eq!(compiled.rounds, colours.distinguishing_round(0, 1).unwrap_or(2), "{specs:?}");
            assert_eq!(
                assert_agrees(&graphs, &compiled, [(0, 1)]),
                usize::from(distinguished),
                "{specs:?} {multiset:?}"
            );
        }
    }
}

/// Random graphs with node and edge labels, loops and directions; every second is a small change of the one before.
pub(crate) fn coloured(seed: u64, directed: bool, edge_labels: bool) -> Vec<Graph> {
    let mut random = Stream::new(seed, "coloured", &[]);
    let mut graphs = Vec::new();
    for _ in 0..4 {
        let n = 2 + random.below(5);
        let labels: Vec<i64> = (0..n).map(|_| 3 * random.below(2) as i64 - 1).collect();
        let edges: Vec<(u32, u32, i64)> = (0..2 * n)
            .map(|_| (random.below(n) as u32, random.below(n) as u32, random.below(2) as i64))
            .collect();
        for near in [false, true] {
            let mut labels = labels.clone();
            if near {
                labels.rotate_left(1);
            }
            let mut b = GraphBuilder::new(n, directed);
            b.node_labels(1, labels).node_attributes(1, (0..n).map(|u| u as f64 / 7.0).collect());
            if edge_labels {
                b.edge_label_columns(1);
            }
            for &(u, v, label) in &edges {
                b.edge_with(u, v, if edge_labels { std::slice::from_ref(&label) } else { &[] }, &[]);
            }
            graphs.push(b.build_merging().unwrap().0);
        }
    }
    graphs
}

#[test]
fn random_coloured_graphs_after_any_number_of_rounds() {
    for seed in 0..8 {
        let graphs = coloured(seed, seed % 2 == 1, seed % 4 == 0);
        let all = verified(&graphs, &Options::default());
        assert_agrees(&graphs, &all, every_pair(&graphs));
        let colours = colours(&graphs);
        for rounds in 0..=colours.rounds() {
            let compiled = verified(&graphs, &Options { rounds: Some(rounds), ..Options::default() });
            assert_eq!(compiled.config.blocks.len(), rounds + 2, "one more for the node types");
            for (a, b) in every_pair(&graphs) {
                let by_test = colours.distinguishing_round(a, b).is_some_and(|r| r <= rounds);
                assert_eq!(distinguishes(&compiled, &compiled.scores[a], &compiled.scores[b]), by_test);
            }
            assert!(rounds < all.rounds || compiled.rounds >= all.rounds);
        }
    }
}

#[test]
fn labels_can_be_ignored() {
    let graphs = coloured(3, false, true);
    let schema = Schema::of(&graphs).unwrap();
    let features = ppgn_wl::Features { labels: false, attributes: false };
    let plain = ppgn_wl::Options { features, ..ppgn_wl::Options::default() };
    let colours = refine(&graphs, Test::fwl(2).unwrap(), &plain).unwrap();
    let options = Options { labels: false, ..Options::default() };
    let compiled = compile(&graphs, &schema, &colours, &options).unwrap();
    compiled.verify(&graphs, &schema).unwrap();
    for (a, b) in every_pair(&graphs) {
        assert_eq!(distinguishes(&compiled, &compiled.scores[a], &compiled.scores[b]), !colours.equal(a, b));
    }
}

#[test]
fn what_cannot_be_compiled_is_an_error() {
    let arcs = |back: i64| {
        let mut b = GraphBuilder::new(2, true);
        b.edge_label_columns(1).edge_with(0, 1, &[0], &[]).edge_with(1, 0, &[back], &[]);
        b.build().unwrap()
    };
    let graphs = [arcs(0), arcs(1)];
    let schema = Schema::of(&graphs).unwrap();
    let error = compile(&graphs, &schema, &colours(&graphs), &Options::default()).unwrap_err();
    assert!(!error.is_call() && error.to_string().contains("isomorphism type of the pair"), "{error}");

    let graphs = generated(&["figure1"]);
    let schema = Schema::of(&graphs).unwrap();
    let error = compile(&graphs[..1], &schema, &colours(&graphs), &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("other graphs"));
    let nodes = refine(&graphs, Test::COLOUR_REFINEMENT, &ppgn_wl::Options::default()).unwrap();
    let error = compile(&graphs, &schema, &nodes, &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("1-wl"));
    let one = ppgn_wl::Options { rounds: Some(0), ..ppgn_wl::Options::default() };
    let one = refine(&graphs, Test::fwl(2).unwrap(), &one).unwrap();
    let error = compile(&graphs, &schema, &one, &Options::default()).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("stable"));

    let random = generated(&["gnp:n=12,p=0.4,count=4"]);
    let schema = Schema::of(&random).unwrap();
    let options = Options { multiset: Multiset::PowerSums, rounds: Some(2), ..Options::default() };
    let error = compile(&random, &schema, &colours(&random), &options).unwrap_err();
    assert!(error.to_string().contains("powers 12 of") && error.to_string().contains("2^53"), "{error}");
}
