//! A whole block: several branches applied to the same rows, concatenated and joined by a linear layer.
//!
//! The paper's block is `m4(X, W)` with `W = m1(X) . m2(X)`: one branch is the skip connection, one consists of two
//! MLPs and their product, and the join is m4. Every block of the comparison is such a list ([`Branch`]), so one
//! forward pass ([`forward`]) and one backward pass ([`backward`]) serve all of them. The parameters are stored in one
//! flat array: those of the branches in order, then those of the join; the weight of each layer precedes its bias.
//!
//! Branches that act on each row separately are *below*: on the quotient space they are computed for the rows of the
//! level below and then lifted. Branches that combine rows are *above*.

mod backward;
mod forward;
mod sight;

use crate::equivariant::Linears;
use crate::linear::{Layer, add_to};
use crate::messages::Messages;
use crate::mlp::Mlp;
use crate::product::Square;
use crate::quotient::ColourMatrix;
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};

/// A block: the branches' results concatenated, then passed through the join if there is one.
#[derive(Debug, Clone)]
pub struct Block<'a, T> {
    /// Channels of X.
    pub inputs: usize,
    /// Whether the branches see the identity as a further, last channel of X.
    pub identity: bool,
    /// The branches in order, at least one.
    pub branches: Vec<Branch<'a, T>>,
    /// A linear layer on the concatenated results; without it, they are the output.
    pub join: Option<Layer<'a, T>>,
    /// Whether X is added to the output; both must have the same width.
    pub residual: bool,
    /// Who every row hears from, for [`Product::Neighbours`].
    pub messages: Option<Messages<'a>>,
}

/// What a block computes from X before its join.
#[derive(Debug, Clone)]
pub enum Branch<'a, T> {
    /// X itself.
    Skip,
    /// An MLP applied to every row.
    Rows(Mlp<'a, T>),
    /// MLPs applied to every row, followed by a product of their outputs.
    Product {
        /// The kind of product.
        product: Product,
        /// The MLPs; all have the same output width.
        factors: Vec<Mlp<'a, T>>,
        /// The epsilon of an RMS norm after the product; `None` for no norm.
        norm: Option<f64>,
    },
    /// Linear equivariant layers, each followed by the activation. They require the dense space.
    Equivariant(Linears<'a, T>),
}

/// How a product combines the outputs of MLPs across rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `Y1 . Y2` in every channel, over pairs.
    Matrix,
    /// The same, where the first MLP sees the rows of the transposed pairs beside X: its input is twice as wide.
    Transposed,
    /// The generalised product of k factors over k-tuples; for pairs it is `Y2 . Y1`.
    Generalised,
    /// The sums of Y1 over one index each, for tuples of the given order k; W is k times as wide as Y1.
    Sums(usize),
    /// The sums of Y1 over the neighbours of a node, one per relation, for this many relations: message passing. W is that
    /// many times as wide as Y1.
    Neighbours(usize),
}

/// What the rows of a block are, and how they map to those of the next level.
#[derive(Debug, Clone, Copy)]
pub enum Pairs<'a> {
    /// Every pair or tuple is a row, both before and after the block.
    Dense(&'a [Square]),
    /// One row per colour.
    Quotient {
        /// The input of the product: which row below each tuple has.
        colours: ColourMatrix<'a>,
        /// For each row, its parent row on the level below.
        parents: &'a [u32],
    },
}

/// What a forward pass keeps for the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: there will be no backward pass.
    Nothing,
    /// The results of the branches and of their MLPs; hidden layers are recomputed.
    Results,
    /// The hidden layers as well: faster, with identical results.
    Hidden,
}

/// What the backward pass needs besides X.
#[derive(Debug)]
pub struct Kept<T: Real> {
    branches: Vec<Computed<T>>,
    /// The hidden layers of all MLPs in order, with the derivatives of their activations, if they were kept.
    hidden: Option<Vec<Vec<Buffer<T>>>>,
}

/// What a branch has computed.
#[derive(Debug)]
enum Computed<T: Real> {
    /// Nothing: it is X.
    Input,
    /// The MLP's output.
    Rows(Buffer<T>),
    Product {
        /// The factors.
        ys: Vec<Buffer<T>>,
        /// Their product, normalised.
        w: Buffer<T>,
        /// The factor that normalised each row; empty without a norm.
        scales: Vec<T>,
    },
    /// The outputs of all layers, or only the last if there is no backward pass; then the derivatives of the activation
    /// at all of them, unless it is a ReLU.
    Equivariant(Vec<Buffer<T>>, Vec<Buffer<T>>),
}

impl<T: Real> Computed<T> {
    /// The result; X itself for a skip connection.
    fn result<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        match self {
            Computed::Input => x,
            Computed::Rows(y) => y,
            Computed::Product { w, .. } => w,
            Computed::Equivariant(ys, _) => ys.last().map_or(&[], |y| y),
        }
    }
}

impl<'a, T: Real> Branch<'a, T> {
    /// Channels of its result, if X has `inputs` channels.
    fn outputs(&self, inputs: usize) -> usize {
        match self {
            Branch::Skip => inputs,
            Branch::Rows(mlp) => mlp.outputs(),
            Branch::Product {
                product: Product::Sums(times) | Product::Neighbours(times), factors, ..
            } => times * factors[0].outputs(),
            Branch::Product { factors, .. } => factors[0].outputs(),
            Branch::Equivariant(layers) => layers.outputs(),
        }
    }

    /// Number of parameters in the flat array.
    fn len(&self) -> usize {
        match self {
            Branch::Skip => 0,
            Branch::Rows(mlp) => mlp.len(),
            Branch::Product { factors, .. } => factors.iter().map(Mlp::len).sum(),
            Branch::Equivariant(layers) => layers.len(),
        }
    }

    /// Whether it combines rows, so that it is computed for the rows of the next level.
    fn is_above(&self) -> bool {
        matches!(self, Branch::Product { .. } | Branch::Equivariant(_))
    }

    /// Its MLPs.
    fn mlps(&self) -> &[Mlp<'a, T>] {
        match self {
            Branch::Rows(mlp) => std::slice::from_ref(mlp),
            Branch::Product { factors, .. } => factors,
            Branch::Skip | Branch::Equivariant(_) => &[],
        }
    }
}

impl<'a, T: Real> Block<'a, T> {
    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.join.map_or_else(|| self.widths().iter().sum(), |join| join.outputs)
    }

    /// Channels of every branch's result.
    fn widths(&self) -> Vec<usize> {
        self.branches.iter().map(|branch| branch.outputs(self.seen())).collect()
    }

    /// Every branch with the width of its result and its first column in the concatenation.
    fn columns<'s>(&'s self) -> impl Iterator<Item = (&'s Branch<'a, T>, usize, usize)> {
        self.branches.iter().zip(self.widths()).scan(0, |from, (branch, width)| {
            *from += width;
            Some((branch, width, *from - width))
        })
    }

    fn mlps(&self) -> impl Iterator<Item = &Mlp<'a, T>> {
        self.branches.iter().flat_map(Branch::mlps)
    }

    /// Of every MLP whether it sees the transpose beside X.
    fn transposes(&self) -> impl Iterator<Item = bool> {
        self.branches.iter().flat_map(|branch| (0..branch.mlps().len()).map(|m| branch.sees_transpose(m)))
    }

    /// Numbers per row of its input that [`Keep::Hidden`] keeps in addition: the hidden layers of its MLPs, and the
    /// derivatives of activations other than ReLU.
    pub fn hidden(&self) -> usize {
        self.mlps().map(Mlp::kept).sum()
    }

    /// Whether any branch combines rows. Also asserts that there is at most one skip connection: the gradients rely on
    /// it.
    fn combines_rows(&self) -> bool {
        assert!(self.branches.iter().filter(|branch| matches!(branch, Branch::Skip)).count() <= 1);
        self.branches.iter().any(Branch::is_above)
    }
}

fn slices<T: Real>(buffers: &mut [Buffer<T>]) -> Vec<&mut [T]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

impl<'a> Pairs<'a> {
    /// The graphs whose pairs the rows are.
    ///
    /// # Panics
    /// If the rows are colours.
    pub fn squares(&self) -> &'a [Square] {
        match self {
            Pairs::Dense(graphs) => graphs,
            Pairs::Quotient { .. } => {
                panic!("equivariant layers require the dense space")
            }
        }
    }

    /// The parent, on the level below, of a row.
    fn parent(&self, row: usize) -> usize {
        match self {
            Pairs::Dense(_) => row,
            Pairs::Quotient { parents, .. } => parents[row] as usize,
        }
    }

    /// The gradient of rows that were lifted: each row below gets the sum over its children. `None` where lifting is
    /// the identity.
    fn drop<T: Real>(&self, workspace: &Workspace, d: &[T], width: usize, below: usize) -> Option<Buffer<T>> {
        let Pairs::Quotient { parents, .. } = self else { return None };
        let mut sums = Buffer::zeros(workspace, below * width);
        for (row, &parent) in d.chunks_exact(width).zip(*parents) {
            add_to(&mut sums[parent as usize * width..][..width], row);
        }
        Some(sums)
    }
}
