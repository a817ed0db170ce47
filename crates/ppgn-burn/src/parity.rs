//! How far a device is from the CPU engine: features, scores and gradients of every kind of network, and the losses of a training.
//!
//! Both compute the same function, so what differs is rounding. An owner of a GPU can measure it on their own device: `ppgn
//! devices` prints this table.

use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder, Schema};
use ppgn_nn::device::{Accelerator, Input, Pass, Training};
use ppgn_nn::{
    Activation, Adam, Average, Batch, BlockConfig, Colours, Dropout, Evaluated, Level, Loss, M3, M4, Matrix,
    Model, Norm, Pooling, Ppgn, PpgnConfig, Precision, Result, Scale, SuffixKind, Values, clip,
};

use crate::devices::Gpu;
use crate::network::Composed;

/// Steps of training whose losses are compared.
pub const STEPS: usize = 20;

/// How far two engines are apart on one kind of network: the largest difference, relative to the largest number.
#[derive(Debug, Clone, PartialEq)]
pub struct Parity {
    /// The network, by what is different from the paper's.
    pub name: String,
    /// `dense` or `quotient`.
    pub space: &'static str,
    /// Of the pooled features.
    pub features: f64,
    /// Of the scores.
    pub scores: f64,
    /// Of the gradient: the largest of all arrays.
    pub gradient: f64,
    /// Of the losses of 20 steps of training.
    pub losses: f64,
}

/// The kinds of networks that are compared: their names, configurations, and the loss.
fn cases() -> Vec<(String, PpgnConfig, Kinds)> {
    let base = || PpgnConfig { blocks: [8, 6].map(BlockConfig::new).to_vec(), ..PpgnConfig::new(1, 3) };
    let mut cases = Vec::new();
    let mut add = |name: &str, config, loss| cases.push((name.to_string(), config, loss));
    for &model in Model::ALL {
        add(model.name(), PpgnConfig { model, ..base() }, Kinds::Classes);
    }
    for (order, model) in [(1, Model::Mp), (3, Model::Mp), (3, Model::Sums), (4, Model::Mp)] {
        add(
            &format!("{}, order {order}", model.name()),
            PpgnConfig { order, model, ..base() },
            Kinds::Classes,
        );
    }
    add(
        "pooling by sum, scale n",
        PpgnConfig { pooling: Pooling::Sum, scale: Scale::N, ..base() },
        Kinds::Classes,
    );
    let mean = PpgnConfig { pooling: Pooling::Mean, scale: Scale::SqrtN, norm: Norm::Rms, ..base() };
    add("pooling by mean, scale sqrt-n, norm", mean.clone(), Kinds::Labels);
    add("pooling by max and mean", PpgnConfig { pooling: Pooling::MaxMean, ..base() }, Kinds::Labels);
    let suffix = PpgnConfig { suffix: SuffixKind::I, suffix_hidden: vec![9, 7], ..base() };
    add("suffix i, dropout, clipped, averaged", suffix, Kinds::Recipe);
    let wide = PpgnConfig { m3: M3::Mlp(vec![5, 4]), m4: M4::None, scale: Scale::N, ..base() };
    add("m3 an MLP, no m4", wide, Kinds::Squared);
    let residual = PpgnConfig { blocks: vec![BlockConfig::new(6); 3], residual: true, ..mean };
    add(
        "residual, activated pooling, gelu",
        PpgnConfig { activate_pooled: true, activation: Activation::Gelu, ..residual },
        Kinds::Missing,
    );
    add("sin", PpgnConfig { activation: Activation::Sin, scale: Scale::N, ..base() }, Kinds::Absolute);
    for (name, level) in [("per node", Level::Node), ("per pair", Level::Pair)] {
        add(name, PpgnConfig { level, scale: Scale::N, ..base() }, Kinds::Missing);
    }
    cases
}

/// What a network is trained by.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kinds {
    Classes,
    Labels,
    Absolute,
    Squared,
    /// Absolute errors of targets of which some are missing.
    Missing,
    /// Classes, with dropout, clipping, weight decay and averaged weights.
    Recipe,
}

/// Directed graphs of several sizes with labels of nodes, and the encoding of all of them.
fn graphs() -> Result<(Vec<Graph>, Encoder)> {
    let mut random = Stream::new(5, "parity", &[]);
    let mut graphs = Vec::new();
    for n in [5, 3, 6, 5, 2, 6, 7] {
        let mut builder = GraphBuilder::new(n, true);
        builder.node_labels(1, (0..n).map(|node| (node % 2) as i64).collect());
        for _ in 0..2 * n {
            builder.edge(random.below(n) as u32, random.below(n) as u32);
        }
        graphs.push(builder.build_merging()?.0);
    }
    let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&graphs)?)?;
    Ok((graphs, encoder))
}

/// Compares a device with the CPU engine, network by network; `each` hears of every result.
pub fn parity(device: &Gpu, precision: Precision, each: &mut dyn FnMut(&Parity)) -> Result<Vec<Parity>> {
    let (graphs, encoder) = graphs()?;
    let mut all = Vec::new();
    for (name, config, loss) in cases() {
        let config = PpgnConfig { inputs: encoder.channels().len(), ..config };
        let mut batches =
            vec![("dense", Batch::of(&config, &encoder, &graphs.iter().collect::<Vec<_>>(), precision)?)];
        if config.needs_pairs().is_none() {
            let colours = Colours::of(&config, &encoder, &graphs, precision, &Default::default())?;
            let chosen: Vec<usize> = (0..graphs.len()).collect();
            batches.push(("quotient", Batch::quotient_for(config.level, &colours, &chosen)?));
        }
        for (space, batch) in batches {
            let found = compare(device, &name, space, &config, &batch, loss)?;
            each(&found);
            all.push(found);
        }
    }
    Ok(all)
}

fn compare(
    device: &Gpu,
    name: &str,
    space: &'static str,
    config: &PpgnConfig,
    batch: &Batch,
    kind: Kinds,
) -> Result<Parity> {
    let network = network(config, batch.precision())?;
    let composed = Composed::new(&network, device.burn())?;
    let features = apart(&[composed.embed(batch)?.to_f64()], &[network.embed(batch)?.to_f64()]);
    let scores = apart(&[composed.forward(batch)?.to_f64()], &[network.forward(batch)?.to_f64()]);
    let known = Known::new(config, batch, kind);
    let loss = |scores: &Matrix| known.loss().of(scores);
    let numbers = |values: &[Values]| -> Vec<Vec<f64>> { values.iter().map(Values::to_f64).collect() };
    let (a, b) = (composed.backward(batch, loss)?, network.backward(batch, loss)?);
    let gradient = apart(&numbers(&a.gradients), &numbers(&b.gradients));
    let losses = losses_apart(device, network, batch, &known, kind)?;
    Ok(Parity { name: name.into(), space, features, scores, gradient, losses })
}

/// A network with biases: the paper's zero biases make exact ties, which rounding breaks.
fn network(config: &PpgnConfig, precision: Precision) -> Result<Ppgn> {
    let mut network = config.init(3, precision)?;
    let mut random = Stream::new(3, "biases", &[]);
    let layout = network.layout().clone();
    let mut arrays: Vec<Vec<f64>> = network.parameters()?.iter().map(|(_, values)| values.to_f64()).collect();
    for (array, part) in layout.parts().filter(|(_, part)| part.name.ends_with("bias")) {
        arrays[array][part.range()].iter_mut().for_each(|x| *x = random.uniform(-0.1, 0.1));
    }
    network.set_parameters(arrays.iter().map(|numbers| Values::from_f64(precision, numbers)).collect())?;
    Ok(network)
}

/// The largest difference of corresponding lists, relative to the largest number of each.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let list = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        let scale = b.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        // Not `max` alone: what is not a number is not close.
        a.iter()
            .zip(b)
            .fold(0.0, |m: f64, (x, y)| if (x - y).is_nan() { f64::INFINITY } else { m.max((x - y).abs()) })
            / scale
    };
    a.iter().zip(b).map(list).fold(0.0, f64::max)
}

/// What is known of a batch.
struct Known {
    classes: Vec<usize>,
    values: Vec<f64>,
    present: Vec<bool>,
    weights: Vec<f64>,
    kind: Kinds,
}

impl Known {
    fn new(config: &PpgnConfig, batch: &Batch, kind: Kinds) -> Self {
        let (rows, outputs) = (batch.items(config.level), config.outputs);
        let mut random = Stream::new(7, "known", &[]);
        let value = |random: &mut Stream| {
            if kind == Kinds::Labels { random.below(2) as f64 } else { random.uniform(-1.0, 1.0) }
        };
        Known {
            classes: (0..rows).map(|row| row % outputs).collect(),
            values: (0..rows * outputs).map(|_| value(&mut random)).collect(),
            present: (0..rows * outputs).map(|place| kind != Kinds::Missing || place % 3 != 1).collect(),
            weights: (0..outputs).map(|column| 1.0 + column as f64 / 2.0).collect(),
            kind,
        }
    }

    fn loss(&self) -> Loss<'_> {
        match self.kind {
            Kinds::Classes => Loss::cross_entropy(&self.classes),
            Kinds::Recipe => Loss::cross_entropy(&self.classes).column_weights(&self.weights),
            Kinds::Labels => Loss::binary_cross_entropy(&self.values).positive_weights(&self.weights),
            Kinds::Squared => Loss::squared_error(&self.values),
            Kinds::Absolute => Loss::absolute_error(&self.values),
            Kinds::Missing => Loss::absolute_error(&self.values).present(&self.present),
        }
    }
}

/// How far the losses of a training are apart, step by step.
fn losses_apart(device: &Gpu, mut network: Ppgn, batch: &Batch, known: &Known, kind: Kinds) -> Result<f64> {
    let (rate, recipe) = (1e-3, kind == Kinds::Recipe);
    let norm = if recipe { 0.5 } else { 0.0 };
    let weights: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
    let mut adam = Adam { weight_decay: if recipe { 0.1 } else { 0.0 }, ..Adam::new(&weights) };
    let mut average = recipe.then(|| Average::new(0.9, &weights));
    let mut resident = device.load(&network)?;
    resident.begin(&adam, average.as_ref())?;
    let rows = batch.items(network.config().level);
    let terms = known.loss().terms(rows, network.config().outputs)?;
    let numbers: Vec<u32> = (0..batch.graphs() as u32).collect();
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for step in 0..STEPS as u64 {
        let dropout = Dropout { probability: 0.3, seed: 1, epoch: 1, step, graphs: &numbers };
        let dropout = Some(dropout).filter(|_| recipe);
        let loss = |scores: &Matrix| -> Result<Evaluated> { known.loss().of(scores) };
        let mut own = network.backward_dropped(Vec::new(), batch, dropout, loss)?;
        here.push(own.loss);
        if recipe {
            clip(&mut own.gradients, norm);
        }
        network.update(|weights| {
            adam.step(weights, &own.gradients, rate)?;
            average.as_mut().map_or(Ok(()), |average| average.update(weights, adam.steps))
        })?;
        let input = Input { graphs: &numbers, batch: Some(batch), again: true };
        let stepped =
            resident.step(&Training { pass: Pass { input, terms: &terms, dropout }, rate, clip: norm })?;
        there.push(known.loss().of(&stepped.scores)?.value);
    }
    let step = |(there, here): (&f64, &f64)| (there - here).abs() / here.abs().max(1e-3);
    Ok(there.iter().zip(&here).map(step).fold(0.0, f64::max))
}
