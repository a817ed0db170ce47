//! A block as data: its branches, their layers, and how they are joined. This is the single definition of a block.
//!
//! The parameter layout, the CPU engine, the burn composition, the theorem compiler and the cost model all read a
//! [`Description`]; none of them depends on a particular model. Parameters are stored in the order of
//! [`Description::layers`].

use crate::config::{Activation, BlockConfig, M3, M4, Norm, PpgnConfig};
use ppgn_kernels::Product;

/// Keeps the RMS norm of a zero row finite.
const EPSILON: f64 = 1e-5;

/// Neighbours of a node, for estimates of costs.
const NEIGHBOURS: usize = 4;

/// Operations and biases of a linear equivariant layer from matrices to matrices: Bell(4), Bell(2).
const OPERATIONS: usize = 15;
const BIASES: usize = 2;

/// A linear layer: a weight and a bias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name within its block in checkpoints: `mlp1.convs.0`.
    pub name: String,
    /// Its kind.
    pub kind: LayerKind,
    /// Channels of its input.
    pub inputs: usize,
    /// Channels of its output.
    pub outputs: usize,
    /// The indices that select the random stream of its initial weights.
    pub(crate) stream: Vec<u64>,
}

/// The kinds of linear layers, each with its shapes in checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// `Y = X A^T + b` on every row of a block; in checkpoints a 1 x 1 convolution, `(out, in, 1, 1)` and `(out)`.
    Rows,
    /// The same on one row per graph; in checkpoints fully connected, `(out, in)` and `(out)`.
    Graphs,
    /// Linear equivariant, from matrices to matrices: `(15, in, out)` and `(2, out)`.
    Equivariant,
}

impl Layer {
    /// The shapes of weight and bias in checkpoints.
    pub fn shapes(&self) -> [Vec<usize>; 2] {
        let Layer { kind, inputs, outputs, .. } = *self;
        match kind {
            LayerKind::Rows => [vec![outputs, inputs, 1, 1], vec![outputs]],
            LayerKind::Graphs => [vec![outputs, inputs], vec![outputs]],
            LayerKind::Equivariant => [vec![OPERATIONS, inputs, outputs], vec![BIASES, outputs]],
        }
    }

    /// The number of parameters; `None` on overflow.
    pub(crate) fn count(&self) -> Option<usize> {
        let per_output = match self.kind {
            LayerKind::Rows | LayerKind::Graphs => self.inputs.checked_add(1)?,
            LayerKind::Equivariant => self.inputs.checked_mul(OPERATIONS)?.checked_add(BIASES)?,
        };
        self.outputs.checked_mul(per_output)
    }

    /// Initial weights are uniform between minus and plus this bound, unless the configuration has a gain.
    pub(crate) fn bound(&self) -> f64 {
        (6.0 / (self.operations() * (self.inputs + self.outputs)) as f64).sqrt()
    }

    /// The number of terms in each output's sum.
    pub(crate) fn fan_in(&self) -> usize {
        self.operations() * self.inputs
    }

    fn operations(&self) -> usize {
        if self.kind == LayerKind::Equivariant { OPERATIONS } else { 1 }
    }

    /// Multiplications per row.
    fn multiplications(&self) -> f64 {
        // Two of the fifteen operations process all pairs: the matrix and its transpose.
        let operations = if self.kind == LayerKind::Equivariant { 2.0 } else { 1.0 };
        operations * self.inputs as f64 * self.outputs as f64
    }
}

/// What a block computes from its input X before the join.
#[derive(Debug, Clone, PartialEq)]
pub enum Branch {
    /// X itself.
    Skip,
    /// An MLP on every row, with the activation after every layer.
    Rows(Vec<Layer>),
    /// MLPs on every row, followed by a product of their outputs.
    Product {
        /// The kind of product.
        product: Product,
        /// The MLPs.
        factors: Vec<Vec<Layer>>,
        /// The epsilon of an RMS norm over each row's channels after the product; `None` for no norm.
        norm: Option<f64>,
    },
    /// Linear equivariant layers, each followed by the activation.
    Equivariant(Vec<Layer>),
}

impl Branch {
    /// Channels of its result, if X has `inputs` channels.
    pub fn outputs(&self, inputs: usize) -> usize {
        let width = |layers: &[Layer]| layers.last().map_or(inputs, |layer| layer.outputs);
        match self {
            Branch::Skip => inputs,
            Branch::Rows(layers) | Branch::Equivariant(layers) => width(layers),
            Branch::Product { product, factors, .. } => match product {
                Product::Sums(times) | Product::Neighbours(times) => times.saturating_mul(width(&factors[0])),
                Product::Matrix | Product::Transposed | Product::Generalised => width(&factors[0]),
            },
        }
    }

    /// Its layers, in the order of their parameters.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        let (one, several): (&[Layer], &[Vec<Layer>]) = match self {
            Branch::Skip => (&[], &[]),
            Branch::Rows(layers) | Branch::Equivariant(layers) => (layers, &[]),
            Branch::Product { factors, .. } => (&[], factors),
        };
        one.iter().chain(several.iter().flatten())
    }

    /// Whether it combines rows, so that its result has the rows of the next level.
    pub fn is_above(&self) -> bool {
        matches!(self, Branch::Product { .. } | Branch::Equivariant(_))
    }
}

/// A block: its branches, a join of their concatenated results, and whether X is added.
///
/// ```
/// use ppgn_nn::model::Branch;
/// use ppgn_nn::{BlockConfig, PpgnConfig};
/// let config = PpgnConfig { blocks: vec![BlockConfig::new(16)], ..PpgnConfig::new(3, 2) };
/// let block = &config.descriptions()[0];
/// let names: Vec<&str> = block.layers().map(|layer| layer.name.as_str()).collect();
/// assert_eq!(names, ["mlp1.convs.0", "mlp1.convs.1", "mlp2.convs.0", "mlp2.convs.1", "skip.conv"]);
/// assert!(matches!(block.branches[..], [Branch::Skip, Branch::Product { .. }]));
/// assert_eq!((block.inputs, block.outputs()), (3, 16));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Channels of X.
    pub inputs: usize,
    /// Whether the branches see the identity as a further, last channel of X.
    pub identity: bool,
    /// The branches in order.
    pub branches: Vec<Branch>,
    /// A linear layer on the concatenated results; without it, they are the output.
    pub join: Option<Layer>,
    /// Whether X is added to the output; both must have the same width.
    pub residual: bool,
    /// What follows every layer of its branches. The join has none.
    pub activation: Activation,
}

impl Description {
    /// Channels that the branches see: those of X, and the identity.
    pub fn seen(&self) -> usize {
        self.inputs + usize::from(self.identity)
    }

    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        match &self.join {
            Some(join) => join.outputs,
            None => side_by_side(&self.branches, self.seen()),
        }
    }

    /// All layers, in the order of their parameters: the branches', then the join.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.branches.iter().flat_map(Branch::layers).chain(&self.join)
    }

    /// The reason it requires the dense space, if it does. Equal rows stay equal only under operations that act on each
    /// row separately, or that combine rows as the colouring does. The match is exhaustive, so a new kind of branch has
    /// to answer this question.
    pub fn needs_pairs(&self) -> Option<&'static str> {
        self.branches.iter().find_map(|branch| match branch {
            Branch::Skip
            | Branch::Rows(_)
            | Branch::Product {
                product: Product::Matrix | Product::Generalised | Product::Sums(_) | Product::Neighbours(_),
                ..
            } => None,
            // Its colours start from isomorphism types, so they are closed under transposition.
            Branch::Product { product: Product::Transposed, .. } => None,
            Branch::Equivariant(_) => Some(
                "its linear equivariant layers act on whole rows and columns, which pairs of one colour may not share",
            ),
        })
    }

    /// Multiplications of a forward pass per row below (of the block's input) and per row above (of its output), on a
    /// graph with n nodes. Those of a product are multiplied by `weight`.
    pub(crate) fn multiplications(&self, [nodes, terms]: [usize; 2], weight: f64) -> [f64; 2] {
        let sum = |layers: &mut dyn Iterator<Item = &Layer>| layers.map(Layer::multiplications).sum::<f64>();
        let meets = self.branches.iter().any(Branch::is_above);
        let [mut below, mut above] = [0.0; 2];
        for branch in &self.branches {
            below += sum(&mut branch.layers());
            let width = branch.outputs(self.seen()) as f64;
            if let Branch::Product { product, factors, .. } = branch {
                // Multiplications per entry and node: k - 1 for a product of k factors, one for a sum. Messages come
                // from a few neighbours.
                let each = match product {
                    Product::Matrix | Product::Transposed => terms as f64,
                    Product::Generalised => (factors.len() as f64 - 1.0) * nodes as f64,
                    Product::Sums(_) => nodes as f64,
                    Product::Neighbours(_) => nodes.min(NEIGHBOURS) as f64,
                };
                above += weight * width * each;
            }
            if let Some(join) = &self.join {
                let joined = width * join.outputs as f64;
                *(if branch.is_above() && meets { &mut above } else { &mut below }) += joined;
            }
        }
        [below, above]
    }
}

/// Total channels of all branches.
fn side_by_side(branches: &[Branch], inputs: usize) -> usize {
    branches.iter().fold(0, |sum: usize, branch| sum.saturating_add(branch.outputs(inputs)))
}

/// The context in which a model describes a block: the settings and the input width. Parts that models share are built
/// here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) config: &'a PpgnConfig,
    pub(crate) block: &'a BlockConfig,
    /// The index of the block.
    pub(crate) level: usize,
    /// Channels of X.
    pub(crate) inputs: usize,
}

/// Random streams of a block besides those of m1 and m2.
mod stream {
    pub(super) const M3: u64 = 3;
    pub(super) const M4: u64 = 4;
    pub(super) const EQUIVARIANT: u64 = 5;

    /// The stream of the m-th MLP, from 1.
    pub(super) fn factor(m: usize) -> u64 {
        if m < 3 { m as u64 } else { m as u64 + 3 }
    }
}

impl Place<'_> {
    /// The widths of the MLPs of a product (in the model `lin`, of the linear layers), input and output included.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let mut widths = vec![self.inputs];
        match &self.block.hidden {
            Some(hidden) => widths.extend(hidden),
            None => {
                widths.extend(std::iter::repeat_n(self.block.width, self.config.depth.saturating_sub(1)));
            }
        }
        widths.push(self.block.product());
        widths
    }

    /// An MLP.
    fn mlp(&self, name: &str, stream: u64, widths: &[usize]) -> Vec<Layer> {
        let layer = |(i, pair): (usize, &[usize])| {
            self.layer(format!("{name}.convs.{i}"), LayerKind::Rows, stream, i, pair)
        };
        widths.windows(2).enumerate().map(layer).collect()
    }

    fn layer(&self, name: String, kind: LayerKind, stream: u64, i: usize, widths: &[usize]) -> Layer {
        let stream = vec![0, self.level as u64, stream, i as u64];
        Layer { name, kind, inputs: widths[0], outputs: widths[1], stream }
    }

    /// m1, m2, ..., `count` of them.
    fn factors(&self, count: usize) -> Vec<Vec<Layer>> {
        let widths = self.widths();
        (1..=count).map(|m| self.mlp(&format!("mlp{m}"), stream::factor(m), &widths)).collect()
    }

    /// m1 on every row.
    pub(crate) fn m1(&self) -> Branch {
        Branch::Rows(self.factors(1).swap_remove(0))
    }

    /// m3, in a block with `beside` other MLPs: checkpoints call it `mlp3` if that name is free.
    pub(crate) fn m3(&self, beside: usize) -> Branch {
        match &self.config.m3 {
            M3::Identity => Branch::Skip,
            M3::Mlp(widths) => {
                let name = if beside < 3 { "mlp3" } else { "skip.mlp" };
                let widths: Vec<usize> = [&[self.inputs][..], widths].concat();
                Branch::Rows(self.mlp(name, stream::M3, &widths))
            }
        }
    }

    /// A product of the MLPs m1, m2, ..., with the configured norm.
    pub(crate) fn product(&self, product: Product, factors: usize) -> Branch {
        let norm = match self.config.norm {
            Norm::None => None,
            Norm::Rms => Some(EPSILON),
        };
        Branch::Product { product, factors: self.factors(factors), norm }
    }

    /// The matrix product `m1(X, X^T) . m2(X)`, with the configured norm.
    pub(crate) fn transposed_product(&self) -> Branch {
        let mut branch = self.product(Product::Transposed, 2);
        if let Branch::Product { factors, .. } = &mut branch
            && let Some(first) = factors[0].first_mut()
        {
            first.inputs = 2 * self.inputs;
        }
        branch
    }

    /// Linear equivariant layers of these widths, input and output included.
    pub(crate) fn equivariant(&self, widths: &[usize]) -> Branch {
        let layer = |(i, pair): (usize, &[usize])| {
            self.layer(format!("lin.{i}"), LayerKind::Equivariant, stream::EQUIVARIANT, i, pair)
        };
        Branch::Equivariant(widths.windows(2).enumerate().map(layer).collect())
    }

    /// These branches joined by m4, with the configured residual connection.
    pub(crate) fn joined(&self, branches: Vec<Branch>) -> Description {
        let join = match self.config.m4 {
            M4::None => None,
            M4::Linear => {
                let widths = [side_by_side(&branches, self.inputs), self.block.width];
                Some(self.layer("skip.conv".into(), LayerKind::Rows, stream::M4, 0, &widths))
            }
        };
        let activation = self.config.activation;
        let mut block =
            Description { inputs: self.inputs, identity: false, branches, join, residual: false, activation };
        block.residual = self.config.residual && block.outputs() == self.inputs;
        block
    }
}
