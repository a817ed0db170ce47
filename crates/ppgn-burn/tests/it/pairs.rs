//! Networks on pairs: every model, and random configurations, on both spaces.

use crate::agree::{agree, agree_in};
use crate::shared::{Rows, batch, configs, on_both_spaces};
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, BlockConfig, Colours, Loss, Model, PpgnConfig, Precision};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Graphs of these sizes on the dense space.
fn dense(config: &PpgnConfig, sizes: &[usize], seed: u64) -> Batch {
    let mut random = Stream::new(seed, "engines", &[]);
    // For the sums, rows stand in for the isomorphism types of pairs.
    let channels = config.widths()[0];
    let graphs: Vec<Rows> = sizes.iter().map(|&n| Rows::random(n, channels, &mut random)).collect();
    batch(channels, &graphs.iter().collect::<Vec<_>>(), Precision::F64)
}

/// Graphs of these sizes on the quotient space, the first one twice, and in another order than the dataset.
fn quotient(config: &PpgnConfig, sizes: &[usize], seed: u64) -> Batch {
    let chosen: Vec<usize> = (0..sizes.len()).rev().chain([0]).collect();
    chosen_quotient(config, sizes, &chosen, seed)
}

/// These of the graphs: rows of few different numbers, so that pairs share colours.
fn chosen_quotient(config: &PpgnConfig, sizes: &[usize], chosen: &[usize], seed: u64) -> Batch {
    let mut random = Stream::new(seed, "colours", &[]);
    let channels = config.widths()[0];
    let mut graph = |&n: &usize| -> Vec<f64> {
        let few: Vec<f64> = (0..2 * channels).map(|_| [0.0, 1.0, 0.5][random.below(3)]).collect();
        (0..n * n).flat_map(|_| few[random.below(2) * channels..][..channels].to_vec()).collect()
    };
    let graphs: Vec<Vec<f64>> = sizes.iter().map(&mut graph).collect();
    let depth = config.blocks.len() + seed as usize % 2;
    let colours = Colours::new(sizes, channels, depth, &Default::default(), |g| Ok(graphs[g].clone()));
    Batch::quotient(&colours.unwrap(), chosen).unwrap()
}

fn two_blocks(model: Model) -> PpgnConfig {
    PpgnConfig { model, blocks: [5, 4].map(BlockConfig::new).to_vec(), ..PpgnConfig::new(2, 3) }
}

#[test]
fn every_model() {
    for &model in Model::ALL {
        let config = two_blocks(model);
        for seed in 0..5 {
            let batch = dense(&config, &[5, 1, 3, 5, 2], seed);
            let classes: Vec<usize> = (0..batch.graphs()).map(|g| g % config.outputs).collect();
            let result = agree_in(&config, &batch, seed, |scores| Loss::cross_entropy(&classes).of(scores));
            result.unwrap_or_else(|message| panic!("{model:?}, seed {seed}: {message}"));
        }
    }
}

#[test]
fn every_model_on_the_quotient() {
    let mut ran = 0;
    // `ppgn++` takes colours of isomorphism types; `parity` has them.
    for &model in Model::ALL.iter().filter(|&&model| model != Model::PpgnPlus) {
        let config = two_blocks(model);
        let batch = quotient(&config, &[6, 1, 3, 2], 1);
        if config.descriptions().iter().all(|block| block.needs_pairs().is_none()) {
            agree(&config, &batch, 1).unwrap_or_else(|message| panic!("{model:?}: {message}"));
            ran += 1;
        }
    }
    assert_eq!(ran, 3);
}

#[test]
fn graphs_without_nodes() {
    for &model in Model::ALL {
        let config = two_blocks(model);
        for sizes in [&[0, 3, 0][..], &[0]] {
            agree(&config, &dense(&config, sizes, 0), 0).unwrap_or_else(|m| panic!("{model:?}: {m}"));
        }
    }
    for model in [Model::Mp, Model::Mlp, Model::Sums] {
        let config = two_blocks(model);
        for chosen in [&[0, 1, 2][..], &[2]] {
            let batch = chosen_quotient(&config, &[0, 3, 0], chosen, 0);
            agree(&config, &batch, 0).unwrap_or_else(|m| panic!("{model:?}: {m}"));
        }
    }
}

/// Any small configuration, the sums among them.
fn any_config(from: impl Strategy<Value = PpgnConfig>) -> impl Strategy<Value = PpgnConfig> {
    (from, 0..5).prop_map(|(config, sums)| match sums {
        0 => PpgnConfig { model: Model::Sums, ..config },
        _ => config,
    })
}

proptest! {
    // Always the same cases: how far rounding goes in a random network has no bound.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(80) })]

    #[test]
    fn any_network_on_the_dense_space(config in any_config(configs()), seed in 0..1000u64) {
        prop_assert_eq!(agree(&config, &dense(&config, &[5, 1, 3, 5], seed), seed), Ok(()));
    }

    #[test]
    fn any_network_on_the_quotient(config in any_config(on_both_spaces()), seed in 0..1000u64) {
        prop_assert_eq!(agree(&config, &quotient(&config, &[5, 1, 3, 5], seed), seed), Ok(()));
    }
}
