//! k-WL and k-FWL against the definition, and what must not matter to them.

use crate::{graphs, naive};
use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use ppgn_wl::{Error, Interrupt, Options, Refinement, Test, refine};
use proptest::prelude::*;

fn run(graphs: &[Graph], test: Test) -> Refinement {
    refine(graphs, test, &Options::default()).unwrap()
}

/// 2-WL, 3-WL, 2-FWL, 3-FWL.
fn tests() -> [Test; 4] {
    [Test::wl(2), Test::wl(3), Test::fwl(2), Test::fwl(3)].map(Result::unwrap)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_graphs_are_coloured_as_defined(some in graphs::some(6)) {
        for test in tests() {
            naive::compare(&some, &run(&some, test)).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn longer_tuples_are_coloured_as_defined(some in graphs::some(3)) {
        for test in [Test::wl(4), Test::fwl(4), Test::wl(5), Test::fwl(5)].map(Result::unwrap) {
            naive::compare(&some, &run(&some, test)).map_err(TestCaseError::fail)?;
        }
    }

    /// Relabelled and in another order, tuple by tuple the same colours, and the same of all else.
    #[test]
    fn the_order_of_nodes_and_graphs_is_nothing(some in graphs::some(7), seed: u64) {
        let mut random = Stream::new(seed, "relabel", &[]);
        let order = random.permutation(some.len());
        let permutations: Vec<Vec<u32>> = some.iter().map(|g| random.permutation(g.nodes())).collect();
        let others: Vec<Graph> =
            order.iter().map(|&g| some[g as usize].permute(&permutations[g as usize]).unwrap()).collect();
        for test in tests() {
            let (a, b) = (run(&some, test), run(&others, test));
            prop_assert_eq!(a.rounds(), b.rounds());
            for round in 0..=a.rounds() {
                prop_assert_eq!(a.colours_after(round), b.colours_after(round));
            }
            for c in 0..a.colours_after(a.rounds()) as u32 {
                prop_assert_eq!(a.parent(c), b.parent(c));
            }
            for (new, &old) in order.iter().enumerate() {
                let permutation = &permutations[old as usize];
                for (at, tuple) in naive::tuples(&some[old as usize], test.k()).iter().enumerate() {
                    let image =
                        tuple.iter().fold(0, |at, &u| at * permutation.len() + permutation[u] as usize);
                    prop_assert_eq!(a.colours(old as usize)[at], b.colours(new)[image]);
                }
            }
        }
    }
}

#[test]
fn all_small_graphs_are_coloured_as_defined() {
    let [wl2, wl3, fwl2, fwl3] = tests();
    for test in [wl2, fwl2, wl3, fwl3] {
        let mut all = Vec::new();
        for n in 1..=6 {
            let connected = graphs::connected(n);
            for g in &connected {
                let one = std::slice::from_ref(g);
                naive::compare(one, &run(one, test)).unwrap();
            }
            all.extend(connected);
        }
        // Together they have more colours than any has by itself, and all tests but 2-WL distinguish them.
        let together = run(&all, test);
        naive::compare(&all, &together).unwrap();
        let equal = (0..all.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let equal = equal.filter(|&(a, b)| together.equal(a, b)).count();
        assert_eq!(equal, if test == wl2 { EQUAL_BY_2_WL } else { 0 }, "{test}");
    }
}

/// Many rounds, each of which leaves most colours as they are: what a round leaves out must not be missed.
#[test]
fn long_refinements_are_coloured_as_defined() {
    let path = |n: u32| Graph::undirected(n as usize, (1..n).map(|i| (i - 1, i))).unwrap();
    let arrows = |n: u32| Graph::directed(n as usize, (1..n).map(|i| (i - 1, i))).unwrap();
    let tadpole = |n: u32| Graph::undirected(n as usize, (1..n).map(|i| (i - 1, i)).chain([(0, 3)])).unwrap();
    let sets = [vec![path(11), path(10), path(11)], vec![tadpole(10), path(10), tadpole(9)], vec![arrows(9)]];
    for set in sets {
        for test in ["2-wl", "2-fwl"] {
            naive::compare(&set, &run(&set, test.parse().unwrap())).unwrap();
        }
    }
    let set = [tadpole(7), path(7)];
    for test in ["3-wl", "3-fwl"] {
        naive::compare(&set, &run(&set, test.parse().unwrap())).unwrap();
    }
}

/// Pairs of connected graphs with up to 6 nodes that colour refinement cannot part: the prism and K3,3 are one.
const EQUAL_BY_2_WL: usize = 3;

#[test]
fn threads_change_nothing() {
    let mut random = Stream::new(3, "threads", &[]);
    let mut graph = |n: usize, degree: usize| {
        let edges: Vec<(u32, u32)> =
            (0..n * degree / 2).map(|_| (random.below(n) as u32, random.below(n) as u32)).collect();
        Graph::undirected(n, edges).unwrap()
    };
    let with = |threads, graphs: &[Graph], test| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(graphs, test))
    };
    let many: Vec<Graph> = (5..25).map(|n| graph(n, 3)).collect();
    for test in tests() {
        assert_eq!(with(1, &many, test), with(2, &many, test), "{test}");
    }
    // Large enough to be spread over threads by itself.
    for (n, test) in [(350, "2-fwl"), (110, "3-wl"), (77, "3-fwl")] {
        let (one, test) = ([graph(n, 3)], test.parse().unwrap());
        assert_eq!(with(1, &one, test), with(2, &one, test), "{test}");
    }
}

/// Nodes (a, b) of Z4 x Z4, joined where their difference is one of these or its negative.
fn cayley(differences: &[(u32, u32)]) -> Graph {
    let node = |a: u32, b: u32| a % 4 * 4 + b % 4;
    let from = |a: u32, b: u32| differences.iter().map(move |&(x, y)| (node(a, b), node(a + x, b + y)));
    Graph::undirected(16, (0..16).flat_map(|u| from(u / 4, u % 4))).unwrap()
}

#[test]
fn rook_and_shrikhande() {
    let rook = cayley(&[(0, 1), (0, 2), (1, 0), (2, 0)]);
    let shrikhande = cayley(&[(0, 1), (1, 0), (1, 1)]);
    let pair = [rook, shrikhande];
    let folklore = run(&pair, Test::fwl(2).unwrap());
    // Strongly regular: equal, adjacent, apart; stable from the beginning.
    assert_eq!((folklore.rounds(), folklore.colours_after(0)), (0, 3));
    assert!(folklore.equal(0, 1));
    assert!(run(&pair, Test::wl(3).unwrap()).equal(0, 1));
    assert!(run(&pair, Test::fwl(3).unwrap()).distinguishing_round(0, 1).is_some());
}

#[test]
fn more_places_than_nodes() {
    let edge = Graph::undirected(2, [(0, 1)]).unwrap();
    let point = Graph::undirected(1, []).unwrap();
    for test in ["5-wl", "5-fwl", "7-wl", "9-fwl"] {
        let test: Test = test.parse().unwrap();
        let r = run(&[edge.clone(), point.clone(), edge.clone()], test);
        assert_eq!(r.colours(0).len(), 1 << test.k());
        assert_eq!((r.equal(0, 2), r.distinguishing_round(0, 1)), (true, Some(0)));
        // Both nodes are alike, and nothing else is: a pattern a colour, and one more for the other size of graph.
        assert_eq!(r.colours_after(r.rounds()), (1 << (test.k() - 1)) + 1, "{test}");
    }
    let looped = Graph::undirected(1, [(0, 0)]).unwrap();
    let r = run(&[point.clone(), point, looped], Test::fwl(1_000_000_000).unwrap());
    assert_eq!((r.equal(0, 1), r.equal(0, 2)), (true, false));
}

#[test]
fn limits() {
    let path = Graph::undirected(40, (0..39).map(|i| (i, i + 1))).unwrap();
    let of = |rounds| {
        let options = Options { rounds, ..Options::default() };
        refine(std::slice::from_ref(&path), Test::wl(2).unwrap(), &options).unwrap()
    };
    let full = of(None);
    assert!(full.is_stable() && full.rounds() > 5);
    for rounds in [0, 1, 5] {
        let r = of(Some(rounds));
        assert_eq!((r.rounds(), r.is_stable()), (rounds, false));
        assert_eq!(r.colours(0), full.colours_at(0, rounds));
    }
    assert_eq!(of(Some(1000)), full);
}

/// Each would run for seconds at the least.
#[test]
fn long_refinements_can_be_stopped() {
    let circulant = |n: u32| {
        let from = |u: u32| [1, 3, 7, 12, 20].map(|step| (u, (u + step) % n));
        Graph::undirected(n as usize, (0..n).flat_map(from)).unwrap()
    };
    for (test, n) in [("2-fwl", 2000), ("3-fwl", 150), ("3-wl", 250)] {
        let interrupt = Interrupt::default();
        let options = Options { interrupt: interrupt.clone(), ..Options::default() };
        let graphs = [circulant(n)];
        let running = std::thread::spawn(move || refine(&graphs, test.parse().unwrap(), &options));
        std::thread::sleep(std::time::Duration::from_millis(100));
        interrupt.set();
        assert_eq!(running.join().unwrap(), Err(Error::Interrupted), "{test}");
    }
}

#[test]
fn wrong_calls_are_errors() {
    let test = Test::fwl(2).unwrap();
    let graph = |n: usize| Graph::undirected(n, []).unwrap();
    let error = |graphs: &[Graph], test, options: &Options| refine(graphs, test, options).unwrap_err();
    let plain = Options::default();
    assert_eq!(error(&[], test, &plain), Error::NoGraphs);
    assert_eq!(error(&[graph(1), graph(0)], test, &plain), Error::NoNodes { graph: 1 });
    let k = 40;
    assert_eq!(error(&[graph(3)], Test::fwl(k).unwrap(), &plain), Error::TooManyTuples { nodes: 3, k });
    let options = Options { max_memory: Some(10_000), ..Options::default() };
    assert!(matches!(error(&[graph(100)], test, &options), Error::Memory { limit: 10_000, .. }));
    let interrupt = Interrupt::default();
    interrupt.set();
    let options = Options { interrupt, ..Options::default() };
    assert_eq!(error(&[graph(10)], test, &options), Error::Interrupted);
}

/// Issue 14, point 1: `stable` means that another round would change nothing, for every test alike.
#[test]
fn stable_means_the_same_for_every_test() {
    let path = ppgn_graph::generate::generate("path:n=9").unwrap();
    for name in ["1-wl", "2-wl", "2-fwl", "3-fwl"] {
        let test = name.parse().unwrap();
        let with = |rounds| refine(path.graphs(), test, &Options { rounds, ..Options::default() }).unwrap();
        let last = with(None).rounds();
        assert!(last > 0 && with(None).is_stable(), "{name}");
        for rounds in 0..=last + 1 {
            let limited = with(Some(rounds));
            assert_eq!((limited.rounds(), limited.is_stable()), (rounds.min(last), rounds >= last), "{name}");
        }
    }
}
