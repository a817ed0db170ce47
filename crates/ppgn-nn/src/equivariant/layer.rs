//! The layer: every basis operation with its own channel map, and one bias per diagonal.

use super::operation::{Embedding, Reduction, constant, operation};
use super::partition::{bell, partitions};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::precision::{Number, Precision, Values, each};
use ppgn_graph::random::Stream;
use ppgn_kernels::{Workspace, add_outer, multiply, multiply_transposed};
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
    /// Whether sums are normalised to means, as in the reference networks: divided by n for every index summed over.
    #[serde(default)]
    pub normalise: bool,
}

/// The maximum of k + l: Bell(8) = 4140 operations.
const MAX_INDICES: usize = 8;

impl EquivariantConfig {
    /// A layer without normalisation.
    pub fn new(k: usize, l: usize, inputs: usize, outputs: usize) -> Self {
        EquivariantConfig { k, l, inputs, outputs, normalise: false }
    }

    /// Checks that such a layer can be built; the error explains the problem.
    pub fn validate(&self) -> Result<()> {
        let indices = self.k.saturating_add(self.l);
        if indices > MAX_INDICES {
            return Err(Error::config(format!(
                "a layer from order {} to order {} has a basis of partitions of {indices} indices; the \
                 maximum is {MAX_INDICES}",
                self.k, self.l
            )));
        }
        if self.inputs == 0 || self.outputs == 0 {
            return Err(Error::config("a layer needs at least one input and one output channel"));
        }
        Ok(())
    }

    /// The numbers of its weights and biases: Bell(k + l) * inputs * outputs, and Bell(l) * outputs.
    pub fn sizes(&self) -> Result<[usize; 2]> {
        self.validate()?;
        let weights = bell(self.k + self.l)
            .and_then(|b| b.checked_mul(self.inputs))
            .and_then(|b| b.checked_mul(self.outputs));
        let biases = bell(self.l).and_then(|b| b.checked_mul(self.outputs));
        let most = 1usize << 30;
        match (weights, biases) {
            (Some(weights), Some(biases)) if weights <= most && biases <= most => Ok([weights, biases]),
            _ => Err(Error::config(format!("these widths give more than {most} parameters"))),
        }
    }

    /// Initial values: weights uniform, with Xavier's variance over all operations together; biases zero.
    pub(crate) fn initial(&self, seed: u64, layer: u64, precision: Precision) -> Result<[Values; 2]> {
        let [weights, biases] = self.sizes()?;
        let operations = weights / self.inputs / self.outputs;
        let bound = (6.0 / (operations as f64 * (self.inputs + self.outputs) as f64)).sqrt();
        let mut random = Stream::new(seed, "equivariant", &[layer]);
        let numbers: Vec<f64> = (0..weights).map(|_| random.uniform(-bound, bound)).collect();
        Ok([Values::from_f64(precision, &numbers), Values::zeros(precision, biases)])
    }

    /// A layer with initial weights drawn from the seed.
    pub fn init(&self, seed: u64, precision: Precision) -> Result<EquivariantLinear> {
        let [weight, bias] = self.initial(seed, 0, precision)?;
        EquivariantLinear::new(self.clone(), weight, bias)
    }

    /// Its basis: every operation, and every bias.
    pub(super) fn basis(&self) -> Basis {
        Basis {
            config: self.clone(),
            operations: partitions(self.k + self.l).iter().map(|p| operation(p, self.k)).collect(),
            constants: partitions(self.l).iter().map(|q| constant(q)).collect(),
        }
    }
}

/// A linear equivariant layer from k-tensors to l-tensors (Section 3.1; Maron et al. 2019), with its full basis.
///
/// ```text
/// Y = sum over the partitions p of k + l indices of L_p(X) A_p + sum over the partitions q of l indices of b_q 1_q
/// ```
///
/// L_p sums X over all input tuples such that indices in the same block of p, of the input or the output, are equal
/// (different blocks may have equal values); A_p maps channels; 1_q is 1 where output indices in the same block are
/// equal. Every linear map that commutes with relabelling has this form. For l = 0 the layer is invariant.
///
/// # Complexity
/// O(n^max(k, l)) rows for each of a few diagonals, sums and embeddings; no n^(k+l) matrix.
///
/// ```
/// use ppgn_nn::equivariant::EquivariantConfig;
/// use ppgn_nn::{Matrix, Precision, Values};
/// let layer = EquivariantConfig::new(2, 2, 1, 4).init(0, Precision::F32)?;
/// assert_eq!(layer.operations(), 15);
/// let path = Matrix::new(9, 1, Values::F32(vec![0., 1., 0., 1., 0., 1., 0., 1., 0.]))?;
/// let result = layer.forward(&path, 3)?;
/// assert_eq!((result.rows(), result.columns()), (9, 4));
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EquivariantLinear {
    basis: Basis,
    /// One channel map per operation, in the order of [`partitions`](super::partitions):
    /// `[operations, inputs, outputs]`.
    weight: Values,
    /// One per partition of the output's indices: `[Bell(l), outputs]`.
    bias: Values,
    workspace: Workspace,
}

impl EquivariantLinear {
    /// A layer with these weights, `[Bell(k + l), inputs, outputs]`, and biases, `[Bell(l), outputs]`, row-major.
    pub fn new(config: EquivariantConfig, weight: Values, bias: Values) -> Result<Self> {
        let sizes = config.sizes()?;
        if [weight.len(), bias.len()] != sizes || weight.precision() != bias.precision() {
            return Err(Error::call(format!(
                "the layer needs {} weights and {} biases of the same precision, not {} and {}",
                sizes[0],
                sizes[1],
                weight.len(),
                bias.len()
            )));
        }
        Ok(EquivariantLinear { basis: config.basis(), weight, bias, workspace: Workspace::default() })
    }

    /// Its configuration.
    pub fn config(&self) -> &EquivariantConfig {
        &self.basis.config
    }

    /// The number of basis operations: Bell(k + l).
    pub fn operations(&self) -> usize {
        self.basis.operations.len()
    }

    /// Applies the layer to one graph with n nodes; tuple (i1, ..., ik) is row (i1 * n + i2) * n + ... + ik.
    ///
    /// # Shapes
    /// - `x`: `[n^k, inputs]`
    /// - result: `[n^l, outputs]`
    pub fn forward(&self, x: &Matrix, n: usize) -> Result<Matrix> {
        self.basis.check(x, n, self.config().inputs)?;
        let (ws, outputs) = (&self.workspace, self.config().outputs);
        let values = match (x.values(), &self.weight, &self.bias) {
            (Values::F32(x), Values::F32(a), Values::F32(b)) => {
                Values::F32(self.basis.forward(ws, [a, b], x, n).0)
            }
            (Values::F64(x), Values::F64(a), Values::F64(b)) => {
                Values::F64(self.basis.forward(ws, [a, b], x, n).0)
            }
            _ => return Err(Error::call("the layer and its input have different precisions")),
        };
        Matrix::new(values.len() / outputs, outputs, values)
    }

    /// A single basis operation, `L_p(X)` for the p-th partition, on any number of channels.
    ///
    /// # Shapes
    /// - `x`: `[n^k, channels]`
    /// - result: `[n^l, channels]`
    pub fn basis(&self, p: usize, x: &Matrix, n: usize) -> Result<Matrix> {
        let channels = x.columns();
        self.basis.check(x, n, channels)?;
        let (reduction, embedding) = self.basis.operations.get(p).ok_or_else(|| {
            Error::call(format!(
                "operation {p} is out of range; the layer has {} operations",
                self.operations()
            ))
        })?;
        let rows = n.pow(self.config().l as u32);
        let values = each!(x.values(), x => {
            let sums = self.basis.reduce(reduction, x, channels, n);
            let mut y = vec![Default::default(); rows * channels];
            embedding.apply(&sums, &mut y, channels, n);
            Number::values(y)
        });
        Matrix::new(rows, channels, values)
    }
}

/// The operations of a layer, ready to be applied.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub(super) config: EquivariantConfig,
    operations: Vec<(Reduction, Embedding)>,
    constants: Vec<Embedding>,
}

/// The sums a layer computed, which its backward pass needs.
pub(super) type Sums<T> = BTreeMap<Reduction, Vec<T>>;

impl Basis {
    /// Applies the layer to rows already known to have the right shape; also returns the sums it computed.
    pub(super) fn forward<T: Number>(
        &self,
        workspace: &Workspace,
        [weight, bias]: [&[T]; 2],
        x: &[T],
        n: usize,
    ) -> (Vec<T>, Sums<T>) {
        let EquivariantConfig { l, inputs, outputs, .. } = self.config;
        let mut sums: Sums<T> = BTreeMap::new();
        // Operations with the same embedding are added up before it is applied.
        let mut parts: BTreeMap<&Embedding, Vec<T>> = BTreeMap::new();
        let zeros = |embedding: &Embedding| vec![T::default(); embedding.incoming(n) * outputs];
        for ((reduction, embedding), map) in self.operations.iter().zip(weight.chunks_exact(inputs * outputs))
        {
            if !sums.contains_key(reduction) {
                sums.insert(reduction.clone(), self.reduce(reduction, x, inputs, n));
            }
            let part = parts.entry(embedding).or_insert_with(|| zeros(embedding));
            multiply(workspace, &sums[reduction], (map, inputs, outputs), part, true);
        }
        for (embedding, bias) in self.constants.iter().zip(bias.chunks_exact(outputs)) {
            let part = parts.entry(embedding).or_insert_with(|| zeros(embedding));
            part.iter_mut().zip(bias).for_each(|(part, &bias)| *part += bias);
        }
        let mut y = vec![T::default(); n.pow(l as u32) * outputs];
        parts.iter().for_each(|(embedding, part)| embedding.apply(part, &mut y, outputs, n));
        (y, sums)
    }

    /// Given the gradient of the output, adds the gradients of weights and biases, and returns that of the input.
    pub(super) fn backward<T: Number>(
        &self,
        workspace: &Workspace,
        weight: &[T],
        sums: &Sums<T>,
        d: &[T],
        [of_weight, of_bias]: [&mut [T]; 2],
        n: usize,
    ) -> Vec<T> {
        let EquivariantConfig { k, inputs, outputs, .. } = self.config;
        let mut parts: BTreeMap<&Embedding, Vec<T>> = BTreeMap::new();
        let mut of_sums: BTreeMap<&Reduction, Vec<T>> = BTreeMap::new();
        let maps = weight.chunks_exact(inputs * outputs).zip(of_weight.chunks_exact_mut(inputs * outputs));
        for ((reduction, embedding), (map, of_map)) in self.operations.iter().zip(maps) {
            let part = parts.entry(embedding).or_insert_with(|| embedding.apply_back(d, outputs, n));
            let sum = &sums[reduction];
            add_outer(workspace, (sum, inputs), (part, outputs), of_map);
            let to = of_sums.entry(reduction).or_insert_with(|| vec![T::default(); sum.len()]);
            multiply_transposed(workspace, part, (map, inputs, outputs), to, true);
        }
        for (embedding, of_bias) in self.constants.iter().zip(of_bias.chunks_exact_mut(outputs)) {
            let part = parts.entry(embedding).or_insert_with(|| embedding.apply_back(d, outputs, n));
            of_bias.iter_mut().zip(part.iter()).for_each(|(to, &d)| *to += d);
        }
        let mut dx = vec![T::default(); n.pow(k as u32) * inputs];
        for (reduction, mut d) in of_sums {
            self.normalise(reduction, &mut d, n);
            reduction.apply_back(&d, &mut dx, inputs, n);
        }
        dx
    }

    /// The sums, or means, of X that an operation starts from.
    fn reduce<T: Number>(&self, reduction: &Reduction, x: &[T], channels: usize, n: usize) -> Vec<T> {
        let mut sums = reduction.apply(x, channels, n);
        self.normalise(reduction, &mut sums, n);
        sums
    }

    fn normalise<T: Number>(&self, reduction: &Reduction, sums: &mut [T], n: usize) {
        if self.config.normalise && reduction.summed() > 0 {
            let share = T::rounded((n as f64).powi(-(reduction.summed() as i32)));
            sums.iter_mut().for_each(|sum| *sum *= share);
        }
    }

    fn check(&self, x: &Matrix, n: usize, inputs: usize) -> Result<()> {
        let EquivariantConfig { k, l, .. } = self.config;
        let rows = |order: usize| (0..order).try_fold(1usize, |rows, _| rows.checked_mul(n));
        if n == 0 {
            return Err(Error::unfit("a graph without nodes has no entries to sum"));
        }
        if rows(k).is_none() || rows(l).is_none_or(|rows| rows > isize::MAX as usize / 8) {
            return Err(Error::unfit(format!("a graph with {n} nodes has too many {}-tuples", k.max(l))));
        }
        match (x.rows(), x.columns()) {
            (r, c) if Some(r) == rows(k) && c == inputs => Ok(()),
            (r, c) => Err(Error::call(format!(
                "the layer takes {n}^{k} rows of {inputs} channels, not {r} rows of {c}"
            ))),
        }
    }
}
