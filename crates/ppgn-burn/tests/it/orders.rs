//! Networks on triples and quadruples: the generalised product and the sums, on both spaces.

use crate::agree::agree;
use crate::shared::on_both_spaces;
use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder, Schema};
use ppgn_nn::{Batch, Colours, Model, PpgnConfig, Precision};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Directed graphs with labels of nodes, and the encoding of all of them.
fn graphs(sizes: &[usize], seed: u64) -> (Vec<Graph>, Encoder) {
    let mut random = Stream::new(seed, "orders", &[]);
    let mut graph = |&n: &usize| {
        let mut builder = GraphBuilder::new(n, true);
        builder.node_labels(1, (0..n).map(|_| random.below(2) as i64).collect());
        for _ in 0..n {
            builder.edge(random.below(n) as u32, random.below(n) as u32);
        }
        builder.build_merging().unwrap().0
    };
    let mut graphs: Vec<Graph> = sizes.iter().map(&mut graph).collect();
    // All labels occur.
    let mut both = GraphBuilder::new(2, true);
    both.node_labels(1, vec![0, 1]).edge(0, 1);
    graphs.push(both.build().unwrap());
    let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&graphs).unwrap()).unwrap();
    (graphs, encoder)
}

fn check(config: &PpgnConfig, order: usize, model: Model, sizes: &[usize], seed: u64) -> Result<(), String> {
    let (graphs, encoder) = graphs(sizes, seed);
    let config = PpgnConfig { order, model, inputs: encoder.channels().len(), ..config.clone() };
    let all: Vec<&Graph> = graphs.iter().collect();
    let dense = Batch::of(&config, &encoder, &all, Precision::F64).unwrap();
    agree(&config, &dense, seed).map_err(|message| format!("order {order}, dense: {message}"))?;
    let colours = Colours::of(&config, &encoder, &graphs, Precision::F64, &Default::default()).unwrap();
    let chosen: Vec<usize> = (0..graphs.len()).rev().chain([0]).collect();
    let quotient = Batch::quotient(&colours, &chosen).unwrap();
    agree(&config, &quotient, seed).map_err(|message| format!("order {order}, quotient: {message}"))
}

proptest! {
    // Always the same cases: how far rounding goes in a random network has no bound.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(30) })]

    #[test]
    fn triples(config in on_both_spaces(), sums in any::<bool>(), seed in 0..1000u64) {
        let model = if sums { Model::Sums } else { Model::Mp };
        prop_assert_eq!(check(&config, 3, model, &[4, 1, 3], seed), Ok(()));
    }

    #[test]
    fn quadruples(config in on_both_spaces(), sums in any::<bool>(), seed in 0..1000u64) {
        let model = if sums { Model::Sums } else { Model::Mp };
        prop_assert_eq!(check(&config, 4, model, &[3, 1], seed), Ok(()));
    }
}
