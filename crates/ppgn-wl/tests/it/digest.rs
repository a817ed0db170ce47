//! Digests against an independent implementation, and what they must and must not depend on.

use crate::graphs;
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder};
use ppgn_wl::{Digest, Features, Options, Test, digest, refine};
use proptest::prelude::*;

/// Made by `goldens/digest.py`, which shares nothing with this crate.
const GOLDENS: &str = include_str!("goldens/digest.txt");

struct Golden {
    name: String,
    graph: Graph,
    test: Test,
    digest: String,
}

fn goldens() -> Vec<Golden> {
    GOLDENS.lines().map(golden).collect()
}

fn golden(line: &str) -> Golden {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, nodes, direction, labels, edges, test, digest] = words[..] else { panic!("{line}") };
    let mut b = GraphBuilder::new(nodes.parse().unwrap(), direction == "directed");
    if labels != "-" {
        b.node_labels(1, labels.split(',').map(|l| l.parse().unwrap()).collect());
    }
    if edges.contains(':') {
        b.edge_label_columns(1);
    }
    for edge in edges.split(',').filter(|&e| e != "-") {
        let (ends, label) = edge.split_once(':').unwrap_or((edge, ""));
        let (u, v) = ends.split_once('-').unwrap();
        let labels: Vec<i64> = label.parse().into_iter().collect();
        b.edge_with(u.parse().unwrap(), v.parse().unwrap(), &labels, &[]);
    }
    let graph = b.build().unwrap();
    Golden { name: name.to_string(), graph, test: test.parse().unwrap(), digest: digest.to_string() }
}

fn of(g: &Graph, test: Test) -> Digest {
    digest(g, test, &Options::default()).unwrap()
}

#[test]
fn the_same_as_by_the_definition() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 30);
    for golden in goldens {
        assert_eq!(of(&golden.graph, golden.test).to_string(), golden.digest, "{}", golden.name);
    }
}

#[test]
fn class_sizes_alone_are_not_enough() {
    let named = |name: &str| goldens().into_iter().find(|g| g.name == name).unwrap().graph;
    let [k6, c6, triangles] = ["k6", "c6", "two-triangles"].map(named);
    let test = Test::COLOUR_REFINEMENT;
    assert_eq!(of(&c6, test), of(&triangles, test));
    assert_ne!(of(&k6, test), of(&c6, test));
    for test in [Test::fwl(2), Test::wl(3)].map(Result::unwrap) {
        let [a, b, c] = [&k6, &c6, &triangles].map(|g| of(g, test));
        assert!(a != b && b != c && a != c, "{test}");
    }
    let test = Test::wl(2).unwrap();
    assert_eq!(of(&c6, test), of(&triangles, test));
    let [rook, shrikhande] = ["rook", "shrikhande"].map(named);
    assert_eq!(of(&rook, Test::fwl(2).unwrap()), of(&shrikhande, Test::fwl(2).unwrap()));
    assert_ne!(of(&rook, Test::fwl(3).unwrap()), of(&shrikhande, Test::fwl(3).unwrap()));
}

/// Digests are equal exactly if the test, run on the graphs together, does not distinguish them.
fn agree(graphs: &[Graph], test: Test) {
    let together = refine(graphs, test, &Options::default()).unwrap();
    let digests: Vec<Digest> = graphs.iter().map(|g| of(g, test)).collect();
    for a in 0..graphs.len() {
        for b in 0..a {
            assert_eq!(digests[a] == digests[b], together.equal(a, b), "{test}: graphs {a} and {b}");
        }
    }
}

#[test]
fn equal_exactly_if_not_distinguished() {
    let all: Vec<Graph> = (1..=6).flat_map(graphs::connected).collect();
    agree(&all, Test::COLOUR_REFINEMENT);
    let small: Vec<Graph> = (1..=5).flat_map(graphs::connected).collect();
    for test in [Test::wl(2), Test::fwl(2), Test::wl(3), Test::fwl(3)] {
        agree(&small, test.unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_graphs_agree_with_their_verdict(graphs in graphs::some(6)) {
        agree(&graphs, Test::COLOUR_REFINEMENT);
    }

    #[test]
    fn relabelling_changes_nothing(graphs in graphs::some(8), seed in any::<u64>()) {
        for g in &graphs {
            let moved = g.permute_randomly(&mut Stream::new(seed, "digest", &[]));
            for test in [Test::COLOUR_REFINEMENT, Test::wl(2).unwrap(), Test::fwl(2).unwrap()] {
                prop_assert_eq!(of(g, test), of(&moved, test));
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let mut random = Stream::new(6, "threads", &[]);
    let edges: Vec<_> = (0..300).map(|_| (random.below(200) as u32, random.below(200) as u32)).collect();
    let g = Graph::undirected(200, edges).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of(&g, Test::COLOUR_REFINEMENT))
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn what_does_not_count_changes_nothing() {
    let mut b = GraphBuilder::undirected(3);
    b.node_labels(1, vec![1, 2, 3]).node_attributes(1, vec![0.5, 0.5, 0.25]);
    b.edge(0, 1).edge(1, 2);
    let featured = b.build().unwrap();
    let plain = Graph::undirected(3, [(0, 1), (1, 2)]).unwrap();
    let with = |labels, attributes| {
        let features = Features { labels, attributes };
        digest(&featured, Test::COLOUR_REFINEMENT, &Options { features, ..Options::default() }).unwrap()
    };
    assert_eq!(with(false, false), of(&plain, Test::COLOUR_REFINEMENT));
    assert_ne!(with(true, false), with(false, false));
    assert_ne!(with(true, true), with(true, false));
    // An undirected edge is the same as two directed ones.
    assert_eq!(of(&plain, Test::COLOUR_REFINEMENT), of(&plain.to_directed(), Test::COLOUR_REFINEMENT));
    let limited = Options { rounds: Some(0), max_memory: Some(1 << 20), ..Options::default() };
    assert_eq!(digest(&featured, Test::COLOUR_REFINEMENT, &limited).unwrap(), with(true, false));
}
