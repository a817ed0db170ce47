//! The k-order network of Section 3.1, `F = m . h . L_d . s ... s . L_1`.

use super::layer::{Basis, EquivariantConfig, Sums};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::loss::Evaluated;
use crate::matrix::Matrix;
use crate::network::Step;
use crate::precision::{Number, Precision, Values};
use crate::space::{Dense, Space};
use ppgn_graph::random::Stream;
use ppgn_kernels::{Activation, Buffer, Layer, Suffix, Workspace};
use serde::{Deserialize, Serialize};

/// Configuration of a [`KOrder`] network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KOrderConfig {
    /// The order of the hidden tensors: 2 or 3.
    pub k: usize,
    /// Channels of the input, which has order 2.
    pub inputs: usize,
    /// Outputs per graph.
    pub outputs: usize,
    /// The widths of L_1, ..., L_d; a ReLU follows each except the last.
    pub widths: Vec<usize>,
    /// The output width of the invariant layer h.
    pub invariant: usize,
    /// The hidden widths of the MLP m, each followed by a ReLU.
    #[serde(default)]
    pub mlp: Vec<usize>,
    /// Whether sums are normalised to means.
    #[serde(default)]
    pub normalise: bool,
}

impl KOrderConfig {
    /// Checks that such a network can be built; the error explains the problem.
    pub fn validate(&self) -> Result<()> {
        if !(2..=3).contains(&self.k) {
            return Err(Error::config(format!("k-order networks support k = 2 and 3, not {}", self.k)));
        }
        if self.widths.is_empty() {
            return Err(Error::config("a k-order network needs at least one equivariant layer"));
        }
        self.layers().iter().try_for_each(|layer| layer.sizes().map(drop))?;
        match self.linears().iter().any(|&(inputs, outputs)| inputs == 0 || outputs == 0) {
            true => Err(Error::config("every layer needs at least one channel")),
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

    /// A network of this configuration with initial weights drawn from the seed.
    pub fn init(&self, seed: u64, precision: Precision) -> Result<KOrder> {
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
        KOrder::new(self.clone(), parameters)
    }
}

/// A k-order graph network: linear equivariant layers with ReLU in between, an invariant layer, and an MLP.
///
/// L_1 maps from order 2, that of the input, to order k; h maps from order k to 0. The network runs on the dense space.
///
/// ```
/// use ppgn_nn::equivariant::KOrderConfig;
/// use ppgn_nn::{Batch, Precision};
/// let config = KOrderConfig {
///     k: 3, inputs: 1, outputs: 2, widths: vec![4, 4], invariant: 8, mlp: vec![], normalise: false,
/// };
/// let network = config.init(0, Precision::F32)?;
/// let edge = [0.0f32, 1.0, 1.0, 0.0];
/// let batch = Batch::dense(1, &[(2, &edge[..])])?;
/// assert_eq!(network.forward(&batch)?.columns(), 2);
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KOrder {
    config: KOrderConfig,
    precision: Precision,
    /// L_1, ..., L_d and h.
    layers: Vec<Basis>,
    /// Weight and bias of every layer: L_1, ..., L_d, h, then those of m.
    arrays: Vec<Values>,
    workspace: Workspace,
}

/// The intermediate results of one graph.
struct Tape<T> {
    nodes: usize,
    /// The sums of every layer, and where its output was positive if a ReLU follows.
    layers: Vec<(Sums<T>, Option<Vec<bool>>)>,
}

impl KOrder {
    /// A network with these parameters: weight and bias of L_1, ..., L_d, h, and of the layers of m (`[out, in]`).
    pub fn new(config: KOrderConfig, parameters: Vec<Values>) -> Result<Self> {
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
                "expected parameter arrays of lengths {lengths:?} in a single precision, found {found:?}"
            )));
        }
        let layers = config.layers().iter().map(EquivariantConfig::basis).collect();
        Ok(KOrder { config, precision, layers, arrays: parameters, workspace: Workspace::default() })
    }

    /// Its configuration.
    pub fn config(&self) -> &KOrderConfig {
        &self.config
    }

    /// Its parameters, in the order of [`new`](KOrder::new).
    pub fn parameters(&self) -> &[Values] {
        &self.arrays
    }

    /// The scores of every graph, in the order of the batch.
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`
    pub fn forward(&self, batch: &Batch) -> Result<Matrix> {
        let space = self.check(batch)?;
        match self.precision {
            Precision::F32 => self.scores::<f32>(batch, space),
            Precision::F64 => self.scores::<f64>(batch, space),
        }
    }

    /// A forward pass, the loss of its scores, and the gradient of the loss with respect to all parameters.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(&Matrix) -> Result<Evaluated>) -> Result<Step> {
        let space = self.check(batch)?;
        match self.precision {
            Precision::F32 => self.step::<f32>(batch, space, loss),
            Precision::F64 => self.step::<f64>(batch, space, loss),
        }
    }

    fn scores<T: Number>(&self, batch: &Batch, space: &Dense) -> Result<Matrix> {
        let arrays = self.slices::<T>()?;
        let (invariants, _) = self.invariants(&arrays, batch, space)?;
        let scored = self.mlp(&arrays).forward(&self.workspace, batch.graphs(), &[invariants]);
        Matrix::new(batch.graphs(), self.config.outputs, T::values(scored.scores.to_vec()))
    }

    fn step<T: Number>(
        &self,
        batch: &Batch,
        space: &Dense,
        loss: impl FnOnce(&Matrix) -> Result<Evaluated>,
    ) -> Result<Step> {
        let arrays = self.slices::<T>()?;
        let (invariants, tapes) = self.invariants(&arrays, batch, space)?;
        let (mlp, pooled) = (self.mlp(&arrays), [invariants]);
        let scored = mlp.forward(&self.workspace, batch.graphs(), &pooled);
        let values = T::values(scored.scores.to_vec());
        let scores = Matrix::new(batch.graphs(), self.config.outputs, values)?;
        let Evaluated { value, gradient } = loss(&scores)?;
        let slope = T::slice(gradient.values()).filter(|slope| slope.len() == scores.values().len());
        let slope = slope
            .ok_or_else(|| Error::call("the gradient of the loss does not have the shape of the scores"))?;
        let mut gradients: Vec<Vec<T>> = arrays.iter().map(|array| vec![T::default(); array.len()]).collect();
        // The kernels take the MLP's arrays as a single one.
        let (of_layers, of_mlp) = gradients.split_at_mut(2 * self.layers.len());
        let mut flat = vec![T::default(); of_mlp.iter().map(Vec::len).sum()];
        let d = mlp.backward(&self.workspace, &pooled, scored, slope, &mut flat).swap_remove(0);
        let mut rest = &flat[..];
        for array in of_mlp {
            let (own, next) = rest.split_at(array.len());
            array.copy_from_slice(own);
            rest = next;
        }
        for (place, tape) in tapes.into_iter().enumerate() {
            let graph = space.given()[place];
            let d = &d[graph * self.config.invariant..][..self.config.invariant];
            self.back(&arrays, tape, d, of_layers);
        }
        Ok(Step { loss: value, scores, gradients: gradients.into_iter().map(T::values).collect() })
    }

    fn slices<T: Number>(&self) -> Result<Vec<&[T]>> {
        let slices: Option<Vec<&[T]>> = self.arrays.iter().map(T::slice).collect();
        slices.ok_or_else(|| Error::call(format!("the network is not in {}", T::PRECISION.name())))
    }

    /// m, with a ReLU after each layer except the last.
    fn mlp<'a, T: Number>(&self, arrays: &[&'a [T]]) -> Suffix<'a, T> {
        let arrays = arrays[2 * self.layers.len()..].chunks_exact(2);
        let layers = self.config.linears().into_iter().zip(arrays).map(|((inputs, outputs), pair)| Layer {
            weight: pair[0],
            bias: pair[1],
            inputs,
            outputs,
        });
        Suffix::Chain(layers.collect(), Activation::Relu)
    }

    /// `h . L_d . s ... s . L_1` for every graph, `[graphs, invariant]` in the order of the batch, and the tapes in the
    /// order in which the graphs are stored.
    fn invariants<T: Number>(
        &self,
        arrays: &[&[T]],
        batch: &Batch,
        space: &Dense,
    ) -> Result<(Buffer<T>, Vec<Tape<T>>)> {
        let rows = T::slice(batch.rows())
            .ok_or_else(|| Error::call("the batch and the network have different precisions"))?;
        let mut invariants = Buffer::zeros(&self.workspace, space.graphs() * self.config.invariant);
        let mut tapes = Vec::with_capacity(space.graphs());
        for (place, (nodes, start)) in space.starts().enumerate() {
            if nodes == 0 {
                return Err(Error::unfit("a graph without nodes has no entries to sum"));
            }
            let x = &rows[start * self.config.inputs..][..nodes * nodes * self.config.inputs];
            let mut x = std::borrow::Cow::Borrowed(x);
            let mut layers = Vec::with_capacity(self.layers.len());
            for (l, layer) in self.layers.iter().enumerate() {
                let parameters = [arrays[2 * l], arrays[2 * l + 1]];
                let (mut y, sums) = layer.forward(&self.workspace, parameters, &x, nodes);
                // ReLUs are between equivariant layers: neither L_d nor h is followed by one.
                let positive = (l + 2 < self.layers.len()).then(|| {
                    let positive: Vec<bool> = y.iter().map(|&y| y > T::default()).collect();
                    y.iter_mut().zip(&positive).for_each(|(y, &p)| *y = if p { *y } else { T::default() });
                    positive
                });
                layers.push((sums, positive));
                x = std::borrow::Cow::Owned(y);
            }
            let graph = space.given()[place];
            invariants[graph * self.config.invariant..][..self.config.invariant].copy_from_slice(&x);
            tapes.push(Tape { nodes, layers });
        }
        Ok((invariants, tapes))
    }

    /// The backward pass through the equivariant layers for one graph.
    fn back<T: Number>(&self, arrays: &[&[T]], tape: Tape<T>, d: &[T], gradients: &mut [Vec<T>]) {
        let mut d = d.to_vec();
        let layers = self.layers.iter().zip(tape.layers).enumerate().rev();
        for (l, (layer, (sums, positive))) in layers {
            for (d, positive) in d.iter_mut().zip(positive.iter().flatten()) {
                *d = if *positive { *d } else { T::default() };
            }
            let [of_weight, of_bias] = &mut gradients[2 * l..2 * l + 2] else { return };
            let to = [&mut of_weight[..], &mut of_bias[..]];
            d = layer.backward(&self.workspace, arrays[2 * l], &sums, &d, to, tape.nodes);
        }
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
        match batch.space() {
            Space::Dense(dense) => Ok(dense),
            // Pairs of the same colour may differ in the sums of their rows and columns.
            Space::Quotient(_) => Err(Error::call("linear equivariant layers require the dense space")),
        }
    }
}
