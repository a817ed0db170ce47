//! Colour refinement against its definition, and what must not matter to it.

use crate::{graphs, naive};
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder};
use ppgn_wl::{Error, Features, Interrupt, Options, Refinement, Test, refine};
use proptest::prelude::*;

fn colours(graphs: &[Graph]) -> Refinement {
    refine(graphs, Test::COLOUR_REFINEMENT, &Options::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_round_is_that_of_the_definition(graphs in graphs::some(12)) {
        naive::compare(&graphs, &colours(&graphs)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn relabelling_permutes_and_reordering_reorders(graphs in graphs::some(12), seed in any::<u64>()) {
        let plain = colours(&graphs);
        let mut random = Stream::new(seed, "relabel", &[]);
        let permutations: Vec<_> = graphs.iter().map(|g| random.permutation(g.nodes())).collect();
        let order = random.permutation(graphs.len());
        let moved: Vec<Graph> =
            order.iter().map(|&g| graphs[g as usize].permute(&permutations[g as usize]).unwrap()).collect();
        let other = colours(&moved);
        prop_assert_eq!(other.rounds(), plain.rounds());
        for r in 0..=plain.rounds() {
            prop_assert_eq!(other.colours_after(r), plain.colours_after(r));
        }
        for c in 0..plain.colours_after(plain.rounds()) as u32 {
            prop_assert_eq!(other.parent(c), plain.parent(c));
        }
        for (at, &g) in order.iter().enumerate() {
            for (u, &p) in permutations[g as usize].iter().enumerate() {
                prop_assert_eq!(other.colours(at)[p as usize], plain.colours(g as usize)[u]);
            }
        }
    }

    #[test]
    fn limited_rounds_are_the_first_ones(graphs in graphs::some(12), most in 0usize..4) {
        let all = colours(&graphs);
        let options = Options { rounds: Some(most), ..Options::default() };
        let some = refine(&graphs, Test::COLOUR_REFINEMENT, &options).unwrap();
        prop_assert_eq!(some.rounds(), most.min(all.rounds()));
        prop_assert_eq!(some.is_stable(), most >= all.rounds());
        for g in 0..graphs.len() {
            prop_assert_eq!(some.colours(g).to_vec(), all.colours_at(g, most));
        }
    }
}

#[test]
fn all_small_graphs_alone_and_together() {
    let mut all = Vec::new();
    for n in 1..=6 {
        for g in graphs::connected(n) {
            let one = [g];
            naive::compare(&one, &colours(&one)).unwrap();
            all.extend(one);
        }
    }
    naive::compare(&all, &colours(&all)).unwrap();
}

#[test]
fn larger_graphs_and_long_lists() {
    let mut random = Stream::new(1, "larger", &[]);
    for n in [40usize, 90] {
        for degree in [1, 2, 20] {
            let edges = (0..n * degree).map(|_| (random.below(n) as u32, random.below(n) as u32));
            let sparse = [Graph::undirected(n, edges).unwrap()];
            naive::compare(&sparse, &colours(&sparse)).unwrap();
        }
    }
    // Twice as many messages as a word holds, and every edge another relation.
    let mut b = GraphBuilder::directed(70);
    b.edge_label_columns(1);
    for u in 1..70u32 {
        b.edge_with(0, u, &[i64::from(u / 2)], &[]).edge_with(u, (u * 7) % 70, &[i64::from(u)], &[]);
    }
    let wheel = [b.build_merging().unwrap().0];
    naive::compare(&wheel, &colours(&wheel)).unwrap();
    let grid: Vec<_> = (0..12u32)
        .flat_map(|i| (0..12u32).flat_map(move |j| [(i, j, i + 1, j), (i, j, i, j + 1)]))
        .filter(|&(_, _, k, l)| k < 12 && l < 12)
        .map(|(i, j, k, l)| (12 * i + j, 12 * k + l))
        .collect();
    let grid = [Graph::undirected(144, grid).unwrap()];
    naive::compare(&grid, &colours(&grid)).unwrap();
}

#[test]
fn a_path_takes_half_its_length() {
    let n = 100_000u32;
    let path = [Graph::undirected(n as usize, (1..n).map(|v| (v - 1, v))).unwrap()];
    let r = colours(&path);
    assert_eq!((r.rounds(), r.colours_after(r.rounds())), (n as usize / 2 - 1, n as usize / 2));
    assert!(r.colours(0).iter().eq(r.colours(0).iter().rev()));
}

#[test]
fn more_messages_than_half_a_word_can_number() {
    // 100,000 colours in pairs, and 50,000 relations. Every other pair's edges are alike or not.
    let pairs = 100_000u32;
    let mut b = GraphBuilder::undirected(2 * pairs as usize);
    b.edge_label_columns(1).node_labels(1, (0..2 * i64::from(pairs)).map(|u| u / 2).collect());
    for i in (0..pairs).step_by(2) {
        let label = i64::from(i);
        b.edge_with(2 * i, 2 * i + 2, &[label], &[]);
        b.edge_with(2 * i + 1, 2 * i + 3, &[if i % 4 == 0 { label } else { label + 1 }], &[]);
    }
    let r = colours(&[b.build().unwrap()]);
    assert_eq!((r.rounds(), r.colours_after(0), r.colours_after(1)), (1, 100_000, 150_000));
    for u in (0..2 * pairs as usize).step_by(2) {
        assert_eq!(r.colours(0)[u] == r.colours(0)[u + 1], u % 8 < 4);
    }
}

#[test]
fn attributes_count_where_they_are_asked_for() {
    let mut b = GraphBuilder::undirected(3);
    b.node_attributes(1, vec![0.5, 0.5, 0.25]);
    let g = [b.build().unwrap()];
    assert_eq!(colours(&g).colours_after(0), 1);
    let features = Features { labels: true, attributes: true };
    let r = refine(&g, Test::COLOUR_REFINEMENT, &Options { features, ..Options::default() }).unwrap();
    assert_eq!((r.colours_after(0), r.rounds()), (2, 0));
}

#[test]
fn what_cannot_be_is_refused() {
    let test = Test::COLOUR_REFINEMENT;
    let one = Graph::undirected(1, []).unwrap();
    let null = Graph::undirected(0, []).unwrap();
    assert_eq!(refine(&[], test, &Options::default()), Err(Error::NoGraphs));
    assert_eq!(refine(&[one.clone(), null], test, &Options::default()), Err(Error::NoNodes { graph: 1 }));

    let options = Options { max_memory: Some(10), ..Options::default() };
    let Err(Error::Memory { need, limit, .. }) = refine(std::slice::from_ref(&one), test, &options) else {
        panic!("one node in ten bytes");
    };
    assert_eq!(limit, 10);
    let options = Options { max_memory: Some(need), ..Options::default() };
    assert_eq!(refine(&[one], test, &options).unwrap().colours(0), [0]);

    let interrupt = Interrupt::default();
    interrupt.set();
    let path = Graph::undirected(10, (1..10).map(|v| (v - 1, v))).unwrap();
    let options = Options { interrupt, ..Options::default() };
    assert_eq!(refine(&[path], test, &options), Err(Error::Interrupted));
}
