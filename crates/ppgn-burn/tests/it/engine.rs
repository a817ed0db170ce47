//! The kernels against the composition of burn's operations, which other devices use.

use crate::shared::{Rows, batch, biased, configs, distance, largest, numbers};
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, BlockConfig, Engine, Model, PpgnConfig, Precision, loss};
use proptest::prelude::*;

fn check(config: &PpgnConfig, seed: u64, precision: Precision, tolerance: f64) -> Result<(), TestCaseError> {
    let mut random = Stream::new(seed, "engines", &[]);
    let graphs: Vec<Rows> =
        [5, 1, 3, 5].iter().map(|&n| Rows::random(n, config.inputs, &mut random)).collect();
    let batch = batch(config.inputs, &graphs.iter().collect::<Vec<_>>(), precision);
    engines_agree(config, &batch, seed, tolerance)
}

/// Scores, features and gradients of both agree, relative to the largest number of each.
pub(crate) fn engines_agree(
    config: &PpgnConfig,
    batch: &Batch,
    seed: u64,
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let kernels = biased(config, seed, batch.precision());
    prop_assert_eq!(kernels.engine(), Engine::Kernels);
    let composed = kernels.clone().with_engine(Engine::Composed).unwrap();
    let close = |a: &[f64], b: &[f64]| distance(a, b) <= tolerance * largest(b).max(1.0);
    let features = [&kernels, &composed].map(|network| numbers(network.embed(batch).unwrap()));
    prop_assert!(close(&features[0], &features[1]));
    let classes: Vec<usize> = (0..batch.graphs()).map(|g| g % config.outputs).collect();
    let steps = [&kernels, &composed]
        .map(|network| network.backward(batch, |scores| loss::cross_entropy(scores, &classes)).unwrap());
    prop_assert!(close(&steps[0].scores.to_f64(), &steps[1].scores.to_f64()));
    for (a, b) in steps[0].gradients.iter().zip(&steps[1].gradients) {
        let (a, b) = (a.to_f64(), b.to_f64());
        prop_assert!(close(&a, &b), "{} of {}: {a:?} {b:?}", distance(&a, &b), largest(&b));
    }
    Ok(())
}

#[test]
fn every_model() {
    for model in Model::ALL {
        for seed in 0..10 {
            let config =
                PpgnConfig { model, blocks: [5, 4].map(BlockConfig::new).to_vec(), ..PpgnConfig::new(2, 3) };
            check(&config, seed, Precision::F64, 1e-9).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn kernels_are_the_composition(config in configs(), seed in 0..1000u64) {
        // In f64 alone: in f32 a row that two kinds of rounding part at a ReLU or a maximum would be no mistake.
        check(&config, seed, Precision::F64, 1e-9)?;
    }
}
