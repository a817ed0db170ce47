//! What several topics need: golden files, random graphs, random configurations.

use ppgn_graph::random::Stream;
use ppgn_nn::{
    Activation, Batch, BlockConfig, Level, M3, M4, Model, Norm, Number, Pooling, Ppgn, PpgnConfig, Precision,
    Scale, SuffixKind, Values,
};
use ppgn_nn::{Evaluated, Matrix, Result};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;

/// The path of a golden file next to the checkout, or `None` after reporting the skipped test.
pub(crate) fn golden(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/goldens")).join(name);
    if !path.exists() {
        // Bypasses the test runner's capture: a skipped test must be visible.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", path.display());
        return None;
    }
    Some(path)
}

/// A graph as rows: nodes and `[n * n, channels]`.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) nodes: usize,
    pub(crate) numbers: Vec<f64>,
}

impl Rows {
    /// Random features, many of them 0 or 1 as in encodings.
    pub(crate) fn random(nodes: usize, channels: usize, random: &mut Stream) -> Self {
        let number = |random: &mut Stream| match random.below(4) {
            0 => 0.0,
            1 => 1.0,
            _ => random.uniform(-1.0, 1.0),
        };
        Rows { nodes, numbers: (0..nodes * nodes * channels).map(|_| number(random)).collect() }
    }

    /// The same graph with node i renamed to `permutation[i]`.
    pub(crate) fn permuted(&self, permutation: &[u32], channels: usize) -> Self {
        let mut numbers = vec![0.0; self.numbers.len()];
        for i in 0..self.nodes {
            for j in 0..self.nodes {
                let from = (i * self.nodes + j) * channels;
                let to = (permutation[i] as usize * self.nodes + permutation[j] as usize) * channels;
                numbers[to..to + channels].copy_from_slice(&self.numbers[from..from + channels]);
            }
        }
        Rows { nodes: self.nodes, numbers }
    }
}

fn batch_of<T: Number>(channels: usize, graphs: &[&Rows]) -> Batch {
    let numbers: Vec<Vec<T>> =
        graphs.iter().map(|g| g.numbers.iter().map(|&x| T::from_f64(x)).collect()).collect();
    let pairs: Vec<(usize, &[T])> =
        graphs.iter().zip(&numbers).map(|(g, v)| (g.nodes, v.as_slice())).collect();
    Batch::dense(channels, &pairs).unwrap()
}

/// A batch of such graphs.
pub(crate) fn batch(channels: usize, graphs: &[&Rows], precision: Precision) -> Batch {
    match precision {
        Precision::F32 => batch_of::<f32>(channels, graphs),
        Precision::F64 => batch_of::<f64>(channels, graphs),
    }
}

/// The numbers of a matrix.
pub(crate) fn numbers(matrix: Matrix) -> Vec<f64> {
    matrix.to_f64()
}

/// The largest absolute value.
pub(crate) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |m, x| x.abs().max(m))
}

/// The largest absolute difference.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (x, y)| (x - y).abs().max(m))
}

/// The loss that is a linear combination of all scores with these coefficients.
pub(crate) fn weighted(slopes: &[f64]) -> impl Fn(&Matrix) -> Result<Evaluated> {
    move |scores: &Matrix| {
        let value = scores.to_f64().iter().zip(slopes).map(|(s, w)| s * w).sum();
        let gradient = Values::from_f64(scores.precision(), slopes);
        Ok(Evaluated { value, gradient: Matrix::new(scores.rows(), scores.columns(), gradient)? })
    }
}

/// The arrays of a network.
pub(crate) fn arrays(network: &Ppgn) -> Vec<Values> {
    network.parameters().unwrap().into_iter().map(|(_, values)| values).collect()
}

/// A network with biases drawn from +-0.1: the paper's zero biases make exact ties, which rounding breaks.
pub(crate) fn biased(config: &PpgnConfig, seed: u64, precision: Precision) -> Ppgn {
    let mut network = config.init(seed, precision).unwrap();
    let layout = network.layout().clone();
    let mut random = Stream::new(seed, "test biases", &[]);
    let mut flat: Vec<Vec<f64>> = arrays(&network).iter().map(Values::to_f64).collect();
    for (a, part) in layout.parts().filter(|(_, part)| part.name.ends_with("bias")) {
        flat[a][part.range()].iter_mut().for_each(|x| *x = random.uniform(-0.1, 0.1));
    }
    network.set_parameters(flat.iter().map(|v| Values::from_f64(precision, v)).collect()).unwrap();
    network
}

fn blocks() -> impl Strategy<Value = Vec<BlockConfig>> {
    let hidden = prop::option::of(prop::collection::vec(1..6usize, 0..3));
    let block = (1..6usize, prop::option::of(1..5usize), hidden)
        .prop_map(|(width, product, hidden)| BlockConfig { width, product, hidden });
    prop::collection::vec(block, 1..4)
}

/// Any small configuration.
pub(crate) fn configs() -> impl Strategy<Value = PpgnConfig> {
    let model = prop_oneof![3 => Just(Model::Mp), 1 => Just(Model::MpLin), 1 => Just(Model::Lin), 1 => Just(Model::Mlp)];
    (model, papers()).prop_map(|(model, config)| match model {
        Model::Lin => {
            let blocks = config.blocks.into_iter().map(|b| BlockConfig { product: None, ..b }).collect();
            PpgnConfig { model, blocks, m3: M3::Identity, m4: M4::Linear, residual: false, ..config }
        }
        _ => PpgnConfig { model, ..config },
    })
}

/// Any small configuration that also runs on the quotient space.
pub(crate) fn on_both_spaces() -> impl Strategy<Value = PpgnConfig> {
    let model = prop_oneof![3 => Just(Model::Mp), 1 => Just(Model::Mlp)];
    (model, papers()).prop_map(|(model, config)| PpgnConfig { model, ..config })
}

/// Any small configuration of the paper's model.
fn papers() -> impl Strategy<Value = PpgnConfig> {
    let m3 = prop_oneof![
        2 => Just(M3::Identity),
        1 => prop::collection::vec(1..5usize, 1..3).prop_map(M3::Mlp),
    ];
    let m4 = prop_oneof![Just(M4::Linear), Just(M4::None)];
    let suffix = prop_oneof![Just(SuffixKind::I), Just(SuffixKind::Ii)];
    let pooling =
        prop_oneof![Just(Pooling::Max), Just(Pooling::Sum), Just(Pooling::Mean), Just(Pooling::MaxMean)];
    let activation =
        prop_oneof![2 => Just(Activation::Relu), 1 => Just(Activation::Sin), 1 => Just(Activation::Gelu)];
    let activation = (activation, any::<bool>(), prop::option::of(0.5..2.0f64));
    let scale = prop_oneof![Just(Scale::None), Just(Scale::SqrtN), Just(Scale::N)];
    let norm = prop_oneof![Just(Norm::None), Just(Norm::Rms)];
    let widths = (1..4usize, 1..4usize, 1..4usize, prop::collection::vec(1..6usize, 0..3));
    (widths, blocks(), m3, m4, suffix, (pooling, activation), (scale, norm), any::<bool>()).prop_map(
        |(
            (inputs, outputs, depth, suffix_hidden),
            blocks,
            m3,
            m4,
            suffix,
            (pooling, (activation, activate_pooled, init_gain)),
            (scale, norm),
            residual,
        )| {
            let residual = residual && m4 == M4::Linear;
            #[rustfmt::skip]
            let config = PpgnConfig {
                inputs, outputs, level: Level::Graph, order: 2, blocks, model: Model::Mp, depth, m3, m4, suffix, suffix_hidden,
                pooling, activate_pooled, activation, init_gain, scale, norm, residual,
            };
            config
        },
    )
}
