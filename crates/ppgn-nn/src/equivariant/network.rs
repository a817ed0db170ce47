//! The k-order network of Section 3.1, `F = m . h . L_d . s ... s . L_1`.

use super::layer::{EquivariantConfig, EquivariantLinear};
use crate::batch::Batch;
use crate::linear::Linear;
use crate::network::Step;
use crate::precision::{Precision, Values};
use crate::space::{Dense, Space};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use ppgn_graph::random::Stream;
use ppgn_graph::{Error, Result};
use serde::{Deserialize, Serialize};

/// Configuration of a [`KOrder`] network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KOrderConfig {
    /// The order of the hidden tensors: 2 or 3.
    pub k: usize,
    /// Channels of the input, which has order 2.
    pub inputs: usize,
    /// Outputs a graph.
    pub outputs: usize,
    /// The widths of L_1, ..., L_d; a ReLU follows each but the last.
    pub widths: Vec<usize>,
    /// The output width of the invariant layer h.
    pub invariant: usize,
    /// The hidden widths of the MLP m, a ReLU after each.
    #[serde(default)]
    pub mlp: Vec<usize>,
    /// Whether sums are means.
    #[serde(default)]
    pub normalise: bool,
}

impl KOrderConfig {
    /// Whether such a network can be built; the error says what is wrong.
    pub fn validate(&self) -> Result<()> {
        if !(2..=3).contains(&self.k) {
            return Err(Error::call(format!("k-order networks are there for k = 2 and 3, not {}", self.k)));
        }
        if self.widths.is_empty() {
            return Err(Error::call("a k-order network has at least one equivariant layer"));
        }
        self.layers().iter().try_for_each(|layer| layer.sizes().map(drop))?;
        match self.linears().iter().any(|&(inputs, outputs)| inputs == 0 || outputs == 0) {
            true => Err(Error::call("a network has layers of at least one channel")),
            false => Ok(()),
        }
    }

    /// L_1, ..., L_d and h.
    fn layers(&self) -> Vec<EquivariantConfig> {
        let KOrderConfig { k, normalise, .. } = *self;
        let mut layers = Vec::new();
        let (mut order, mut inputs) = (2, self.inputs);
        for &outputs in &self.widths {
            layers.push(EquivariantConfig { k: order, l: k, inputs, outputs, normalise });
            (order, inputs) = (k, outputs);
        }
        layers.push(EquivariantConfig { k: order, l: 0, inputs, outputs: self.invariant, normalise });
        layers
    }

    /// (in, out) of the layers of m.
    fn linears(&self) -> Vec<(usize, usize)> {
        let widths = [&[self.invariant], self.mlp.as_slice(), &[self.outputs]].concat();
        widths.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// A network of this configuration with initial weights by the seed.
    pub fn init(&self, device: &Device, seed: u64, precision: Precision) -> Result<KOrder> {
        self.validate()?;
        let mut parameters = Vec::new();
        for (l, layer) in self.layers().iter().enumerate() {
            parameters.extend(layer.initial(seed, l as u64, precision)?);
        }
        for (l, (inputs, outputs)) in self.linears().into_iter().enumerate() {
            let bound = (6.0 / (inputs + outputs) as f64).sqrt();
            let mut random = Stream::new(seed, "equivariant mlp", &[l as u64]);
            let numbers: Vec<f64> = (0..inputs * outputs).map(|_| random.uniform(-bound, bound)).collect();
            parameters.push(Values::from_f64(precision, &numbers));
            parameters.push(Values::zeros(precision, outputs));
        }
        KOrder::new(self.clone(), parameters, device)
    }
}

/// A k-order graph network: linear equivariant layers with ReLU between, an invariant layer, an MLP.
///
/// L_1 goes from order 2, that of the input, to order k; h from order k to 0. It runs on the dense space.
///
/// ```
/// use ppgn_nn::equivariant::KOrderConfig;
/// use ppgn_nn::{Batch, Device, Precision};
/// let config = KOrderConfig {
///     k: 3, inputs: 1, outputs: 2, widths: vec![4, 4], invariant: 8, mlp: vec![], normalise: false,
/// };
/// let network = config.init(&Device::default(), 0, Precision::F32)?;
/// let edge = [0.0f32, 1.0, 1.0, 0.0];
/// let batch = Batch::dense(1, &[(2, &edge[..])], &Device::default())?;
/// assert_eq!(network.forward(&batch)?.dims(), [1, 2]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KOrder {
    config: KOrderConfig,
    precision: Precision,
    device: Device,
    /// Weight and bias of every layer: L_1, ..., L_d, h, then those of m.
    arrays: Vec<Tensor<1>>,
}

/// The layers, cut from the arrays.
struct Parts {
    equivariant: Vec<EquivariantLinear>,
    mlp: Vec<Linear>,
}

impl KOrder {
    /// A network with these parameters: weight and bias of L_1, ..., L_d, h, and of the layers of m (`[out, in]`).
    pub fn new(config: KOrderConfig, parameters: Vec<Values>, device: &Device) -> Result<Self> {
        config.validate()?;
        let mut lengths: Vec<usize> = Vec::new();
        for layer in config.layers() {
            lengths.extend(layer.sizes()?);
        }
        config.linears().iter().for_each(|(inputs, outputs)| lengths.extend([inputs * outputs, *outputs]));
        let precision = parameters.first().map_or(Precision::F32, Values::precision);
        let found: Vec<usize> = parameters.iter().map(Values::len).collect();
        if found != lengths || parameters.iter().any(|p| p.precision() != precision) {
            return Err(Error::call(format!(
                "arrays of {found:?} numbers, not of {lengths:?} in one precision"
            )));
        }
        let device = device.clone().without_autodiff();
        let tensor = |values: Values| {
            let length = values.len();
            values.into_tensor([length], &device)
        };
        let arrays = parameters.into_iter().map(tensor).collect();
        Ok(KOrder { config, precision, device, arrays })
    }

    /// What it is made of.
    pub fn config(&self) -> &KOrderConfig {
        &self.config
    }

    /// A copy of its parameters, in the order of [`new`](KOrder::new).
    pub fn parameters(&self) -> Result<Vec<Values>> {
        self.arrays.iter().map(|array| Values::of(array.clone())).collect()
    }

    /// The scores of every graph, in the order of the batch.
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`
    pub fn forward(&self, batch: &Batch) -> Result<Tensor<2>> {
        self.run(&self.cut(&self.arrays), batch)
    }

    /// A forward pass, the loss of its scores, and the loss's gradient by all parameters.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(Tensor<2>) -> Result<Tensor<1>>) -> Result<Step> {
        let leaves: Vec<Tensor<1>> =
            self.arrays.iter().map(|array| array.clone().autodiff().require_grad()).collect();
        let scores = self.run(&self.cut(&leaves), batch)?;
        let loss = loss(scores.clone())?;
        let mut tape = loss.backward();
        let mut gradients = Vec::new();
        for (leaf, array) in leaves.iter().zip(&self.arrays) {
            gradients.push(match leaf.grad_remove(&mut tape) {
                Some(gradient) => Values::of(gradient)?,
                None => Values::zeros(self.precision, array.dims()[0]),
            });
        }
        let loss = Values::of(loss.inner())?.to_f64().iter().sum();
        Ok(Step { loss, scores: Values::of(scores.inner())?, gradients })
    }

    fn cut(&self, arrays: &[Tensor<1>]) -> Parts {
        let mut arrays = arrays.iter().cloned();
        let mut next = || arrays.next().expect("checked to be as many as the layers need");
        let equivariant = self.config.layers().into_iter().map(|config| {
            let (weight, bias) = (next(), next());
            let (inputs, outputs) = (config.inputs, config.outputs);
            let operations = weight.dims()[0] / inputs / outputs;
            let biases = bias.dims()[0] / outputs;
            let weight = weight.reshape([operations, inputs, outputs]);
            EquivariantLinear::from_tensors(config, weight, bias.reshape([biases, outputs]))
        });
        let equivariant = equivariant.collect();
        let linear = |(inputs, outputs): (usize, usize)| {
            let (weight, bias) = (next(), next());
            Linear { weight: weight.reshape([outputs, inputs]), bias }
        };
        Parts { equivariant, mlp: self.config.linears().into_iter().map(linear).collect() }
    }

    fn run(&self, parts: &Parts, batch: &Batch) -> Result<Tensor<2>> {
        let space = self.check(batch)?;
        let all = batch.tensor(); // [rows, inputs]
        let mut invariants = Vec::new();
        for group in space.groups() {
            for graph in 0..group.graphs {
                let pairs = group.nodes * group.nodes;
                let rows = all.clone().narrow(0, group.start + graph * pairs, pairs); // [n^2, inputs]
                invariants.push(invariant(&parts.equivariant, rows, group.nodes)?); // [1, invariant]
            }
        }
        let x = space.restore(Tensor::cat(invariants, 0)); // [graphs, invariant]
        let (last, hidden) = parts.mlp.split_last().expect("m has at least one layer");
        Ok(last.forward(hidden.iter().fold(x, |x, layer| relu(layer.forward(x))))) // [graphs, outputs]
    }

    fn check<'a>(&self, batch: &'a Batch) -> Result<&'a Dense> {
        if batch.channels() != self.config.inputs || batch.precision() != self.precision {
            return Err(Error::call(format!(
                "the network takes {} channels in {}, the batch has {} in {}",
                self.config.inputs,
                self.precision.name(),
                batch.channels(),
                batch.precision().name()
            )));
        }
        if *batch.device() != self.device {
            return Err(Error::call("the network and the batch are on different devices"));
        }
        match batch.space() {
            Space::Dense(dense) => Ok(dense),
            // Pairs of one colour may differ in the sums of their rows and columns.
            Space::Quotient(_) => Err(Error::call("the linear basis is there for the dense space only")),
        }
    }
}

/// `h . L_d . s ... s . L_1` of one graph.
///
/// # Shapes
/// - `x`: `[n^2, inputs]`
/// - result: `[1, invariant]`
fn invariant(layers: &[EquivariantLinear], x: Tensor<2>, n: usize) -> Result<Tensor<2>> {
    let (h, layers) = layers.split_last().expect("h is one of them");
    let mut x = x;
    for (l, layer) in layers.iter().enumerate() {
        x = layer.forward(x, n)?; // [n^k, width]
        if l + 1 < layers.len() {
            x = relu(x);
        }
    }
    h.forward(x, n)
}
