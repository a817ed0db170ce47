//! How the composition is held against the kernels: pooled features, scores and gradients.

use crate::shared::{biased, distance, largest, weighted};
use ppgn_burn::{Composed, Device};
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, Evaluated, Matrix, Ppgn, PpgnConfig, Precision, Result, Values};

/// In f64 alone: in f32, a row that two kinds of rounding separate at a ReLU or a maximum would not be a mistake.
const TOLERANCE: f64 = 1e-9;

/// The network of a configuration, and its composition on the CPU.
pub(crate) fn both(config: &PpgnConfig, seed: u64, precision: Precision) -> (Ppgn, Composed) {
    let kernels = biased(config, seed, precision);
    let composed = Composed::new(&kernels, &Device::flex()).unwrap();
    (kernels, composed)
}

fn close(what: &str, composed: &[f64], kernels: &[f64], scale: f64) -> Result<(), String> {
    assert_eq!(composed.len(), kernels.len());
    let (off, scale) = (distance(composed, kernels), scale.max(largest(kernels)).max(1.0));
    // Not `off > ...`: what is not a number is not close.
    match off <= TOLERANCE * scale && composed.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(format!("{what}: {off:e} apart, of {scale:e}")),
    }
}

/// Features, scores and gradients of both engines are close, relative to the largest number of each.
pub(crate) fn agree(config: &PpgnConfig, batch: &Batch, seed: u64) -> Result<(), String> {
    // Cross entropy would magnify the rounding of large scores: a combination with random slopes does not.
    let mut random = Stream::new(seed, "slopes", &[]);
    let count = batch.items(config.level) * config.outputs;
    let slopes: Vec<f64> = (0..count).map(|_| random.uniform(-1.0, 1.0)).collect();
    agree_in(config, batch, seed, weighted(&slopes))
}

/// The same with this loss. Graphs of different sizes are computed apart, together where that costs little, and all together.
pub(crate) fn agree_in(
    config: &PpgnConfig,
    batch: &Batch,
    seed: u64,
    loss: impl Fn(&Matrix) -> Result<Evaluated>,
) -> Result<(), String> {
    let (kernels, composed) = both(config, seed, batch.precision());
    let features = kernels.embed(batch).unwrap().to_f64();
    // Scores are sums of products of features: their own size may be far below what was added.
    let scale = largest(&features);
    let scores = kernels.forward(batch).unwrap();
    let step = kernels.backward(batch, &loss).unwrap();
    for padding in [1.0, 1.5, 1e9] {
        let composed = composed.clone().with_padding(padding);
        close("features", &composed.embed(batch).unwrap().to_f64(), &features, 0.0)?;
        let found = composed.forward(batch).unwrap();
        assert_eq!((found.rows(), found.columns()), (scores.rows(), scores.columns()));
        close("scores", &found.to_f64(), &scores.to_f64(), scale)?;
        let found = composed.backward(batch, &loss).unwrap();
        close("scores of the step", &found.scores.to_f64(), &step.scores.to_f64(), scale)?;
        close("loss", &[found.loss], &[step.loss], scale)?;
        assert_eq!(found.gradients.len(), step.gradients.len());
        let wanted: Vec<Vec<f64>> = step.gradients.iter().map(Values::to_f64).collect();
        for (array, (a, b)) in found.gradients.iter().zip(&wanted).enumerate() {
            close(&format!("padding {padding}, gradient of array {array}"), &a.to_f64(), b, 0.0)?;
        }
    }
    Ok(())
}
