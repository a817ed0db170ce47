//! The layer: every basis operation with its own map of the channels, and a bias for every diagonal.

use super::operation::{Embedding, Reduction, constant, operation};
use super::partition::{bell, partitions};
use crate::precision::{Precision, Values};
use burn::tensor::{Device, Tensor};
use ppgn_graph::random::Stream;
use ppgn_graph::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Configuration of an [`EquivariantLinear`], made into one by [`init`](EquivariantConfig::init).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquivariantConfig {
    /// The order of the input: 2 for matrices.
    pub k: usize,
    /// The order of the output: 0 for invariants.
    pub l: usize,
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Whether sums are means, as in the reference networks: divided by n for every index that is summed over.
    #[serde(default)]
    pub normalise: bool,
}

/// k + l is at most this: Bell(8) = 4140 operations.
const MOST_INDICES: usize = 8;

impl EquivariantConfig {
    /// A layer without normalisation.
    pub fn new(k: usize, l: usize, inputs: usize, outputs: usize) -> Self {
        EquivariantConfig { k, l, inputs, outputs, normalise: false }
    }

    /// Whether such a layer can be built; the error says what is wrong.
    pub fn validate(&self) -> Result<()> {
        let indices = self.k.saturating_add(self.l);
        if indices > MOST_INDICES {
            return Err(Error::call(format!(
                "a layer from order {} to order {} has the partitions of {indices} indices as its basis; {MOST_INDICES} \
                 indices are the most",
                self.k, self.l
            )));
        }
        if self.inputs == 0 || self.outputs == 0 {
            return Err(Error::call("a layer has at least one channel at either end"));
        }
        Ok(())
    }

    /// How many numbers its weights have, and its biases: Bell(k + l) * inputs * outputs, and Bell(l) * outputs.
    pub fn sizes(&self) -> Result<[usize; 2]> {
        self.validate()?;
        let weights = bell(self.k + self.l)
            .and_then(|b| b.checked_mul(self.inputs))
            .and_then(|b| b.checked_mul(self.outputs));
        let biases = bell(self.l).and_then(|b| b.checked_mul(self.outputs));
        let most = 1usize << 30;
        match (weights, biases) {
            (Some(weights), Some(biases)) if weights <= most && biases <= most => Ok([weights, biases]),
            _ => Err(Error::call(format!("these widths make more than {most} parameters"))),
        }
    }

    /// Initial values: weights uniform with the variance of Xavier's over all operations together, biases zero.
    pub(crate) fn initial(&self, seed: u64, layer: u64, precision: Precision) -> Result<[Values; 2]> {
        let [weights, biases] = self.sizes()?;
        let operations = weights / self.inputs / self.outputs;
        let bound = (6.0 / (operations as f64 * (self.inputs + self.outputs) as f64)).sqrt();
        let mut random = Stream::new(seed, "equivariant", &[layer]);
        let numbers: Vec<f64> = (0..weights).map(|_| random.uniform(-bound, bound)).collect();
        Ok([Values::from_f64(precision, &numbers), Values::zeros(precision, biases)])
    }

    /// A layer with initial weights by the seed.
    pub fn init(&self, device: &Device, seed: u64, precision: Precision) -> Result<EquivariantLinear> {
        let [weight, bias] = self.initial(seed, 0, precision)?;
        EquivariantLinear::new(self.clone(), weight, bias, device)
    }
}

/// A linear equivariant layer from k-tensors to l-tensors (Section 3.1; Maron et al. 2019), with its full basis.
///
/// ```text
/// Y = sum over the partitions p of k + l indices of L_p(X) A_p + sum over the partitions q of l indices of b_q 1_q
/// ```
///
/// L_p sums X over all input tuples that agree with the output tuple in the blocks of p (blocks may coincide), A_p maps
/// channels, and 1_q is 1 where output indices in one block are equal. Every linear map that commutes with relabelling is
/// of this form. For l = 0 the layer is invariant.
///
/// # Complexity
/// O(n^max(k, l)) rows for each of a few diagonals, sums and embeddings; no n^(k+l) matrix.
///
/// ```
/// use ppgn_nn::equivariant::EquivariantConfig;
/// use ppgn_nn::{Device, Precision, Tensor};
/// let layer = EquivariantConfig::new(2, 2, 1, 4).init(&Device::default(), 0, Precision::F32)?;
/// assert_eq!(layer.operations(), 15);
/// let path = [0f32, 1., 0., 1., 0., 1., 0., 1., 0.];
/// let x = Tensor::<1>::from_floats(path, &Device::default()).reshape([9, 1]);
/// assert_eq!(layer.forward(x, 3)?.dims(), [9, 4]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EquivariantLinear {
    config: EquivariantConfig,
    /// One an operation, in the order of [`partitions`](super::partitions): `[operations, inputs, outputs]`.
    weight: Tensor<3>,
    /// One a partition of the output's indices: `[Bell(l), outputs]`.
    bias: Tensor<2>,
    operations: Vec<(Reduction, Embedding)>,
    constants: Vec<Embedding>,
}

impl EquivariantLinear {
    /// A layer with these weights, `[Bell(k + l), inputs, outputs]`, and biases, `[Bell(l), outputs]`, row-major.
    pub fn new(config: EquivariantConfig, weight: Values, bias: Values, device: &Device) -> Result<Self> {
        let sizes = config.sizes()?;
        if [weight.len(), bias.len()] != sizes || weight.precision() != bias.precision() {
            return Err(Error::call(format!(
                "the layer has {} weights and {} biases in one precision, not {} and {}",
                sizes[0],
                sizes[1],
                weight.len(),
                bias.len()
            )));
        }
        let EquivariantConfig { k, l, inputs, outputs, .. } = config;
        let operations = sizes[0] / inputs / outputs;
        let weight = weight.into_tensor([operations, inputs, outputs], device);
        let bias = bias.into_tensor([sizes[1] / outputs, outputs], device);
        Ok(Self::of(config, weight, bias, k, l))
    }

    /// The same on tensors, which may be leaves of a tape. Their shapes must fit.
    pub(crate) fn from_tensors(config: EquivariantConfig, weight: Tensor<3>, bias: Tensor<2>) -> Self {
        let EquivariantConfig { k, l, .. } = config;
        Self::of(config, weight, bias, k, l)
    }

    fn of(config: EquivariantConfig, weight: Tensor<3>, bias: Tensor<2>, k: usize, l: usize) -> Self {
        let operations = partitions(k + l).iter().map(|p| operation(p, k)).collect();
        let constants = partitions(l).iter().map(|q| constant(q)).collect();
        EquivariantLinear { config, weight, bias, operations, constants }
    }

    /// What it is.
    pub fn config(&self) -> &EquivariantConfig {
        &self.config
    }

    /// How many basis operations it has: Bell(k + l).
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// The layer on one graph with n nodes; tuple (i1, ..., ik) is row (i1 * n + i2) * n + ... + ik.
    ///
    /// # Shapes
    /// - `x`: `[n^k, inputs]`
    /// - result: `[n^l, outputs]`
    pub fn forward(&self, x: Tensor<2>, n: usize) -> Result<Tensor<2>> {
        self.check(&x, n, self.config.inputs)?;
        Ok(self.apply(x, n))
    }

    /// The same on rows that are known to fit, of a graph with nodes.
    pub(crate) fn apply(&self, x: Tensor<2>, n: usize) -> Tensor<2> {
        let mut sums: BTreeMap<&Reduction, Tensor<2>> = BTreeMap::new();
        // Operations that are put into the output in the same way are added up before they are.
        let mut parts: BTreeMap<&Embedding, Tensor<2>> = BTreeMap::new();
        let mut add = |embedding, part: Tensor<2>| {
            let sum = match parts.remove(embedding) {
                Some(sum) => sum + part,
                None => part,
            };
            parts.insert(embedding, sum);
        };
        for (p, (reduction, embedding)) in self.operations.iter().enumerate() {
            let sum = sums.entry(reduction).or_insert_with(|| self.reduce(reduction, &x, n)).clone();
            let weight = self.weight.clone().narrow(0, p, 1).squeeze_dim(0); // [inputs, outputs]
            add(embedding, sum.matmul(weight)); // [n^kept, outputs]
        }
        for (q, embedding) in self.constants.iter().enumerate() {
            add(embedding, self.bias.clone().narrow(0, q, 1)); // [1, outputs]
        }
        let embedded = parts.into_iter().map(|(embedding, part)| embedding.apply(part, n));
        embedded.reduce(|sum, part| sum + part).expect("a basis has at least one operation")
    }

    /// One basis operation by itself, `L_p(X)` for the p-th partition, on any number of channels.
    ///
    /// # Shapes
    /// - `x`: `[n^k, channels]`
    /// - result: `[n^l, channels]`
    pub fn basis(&self, p: usize, x: &Tensor<2>, n: usize) -> Result<Tensor<2>> {
        self.check(x, n, x.dims()[1])?;
        let operation = self.operations.get(p);
        let (reduction, embedding) = operation
            .ok_or_else(|| Error::call(format!("there are {} operations, none is {p}", self.operations())))?;
        Ok(embedding.apply(self.reduce(reduction, x, n), n))
    }

    fn reduce(&self, reduction: &Reduction, x: &Tensor<2>, n: usize) -> Tensor<2> {
        let sum = reduction.apply(x, n);
        match (self.config.normalise, reduction.summed()) {
            // Times the reciprocal: the gradient of burn's division by a scalar is rounded to f32.
            (true, summed) if summed > 0 => sum.mul_scalar((n as f64).powi(-(summed as i32))),
            _ => sum,
        }
    }

    fn check(&self, x: &Tensor<2>, n: usize, inputs: usize) -> Result<()> {
        let EquivariantConfig { k, l, .. } = self.config;
        let rows = |order: usize| (0..order).try_fold(1usize, |rows, _| rows.checked_mul(n));
        if n == 0 {
            return Err(Error::unfit("a graph without nodes has nothing to sum"));
        }
        if rows(k).is_none() || rows(l).is_none_or(|rows| rows > isize::MAX as usize / 8) {
            return Err(Error::unfit(format!("a graph with {n} nodes has too many {}-tuples", k.max(l))));
        }
        match x.dims() {
            [r, c] if Some(r) == rows(k) && c == inputs => Ok(()),
            [r, c] => Err(Error::call(format!(
                "the layer takes {n}^{k} rows of {inputs} channels, not {r} rows of {c}"
            ))),
        }
    }
}
