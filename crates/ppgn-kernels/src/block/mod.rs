//! A whole block: branches of the same rows side by side, and a layer that joins them.
//!
//! The paper's block is `m4(X, W)` with `W = m1(X) . m2(X)`: a branch that passes X by, one with two MLPs and their product,
//! and the join m4. Every block of the comparison is such a list ([`Branch`]), so there is one forward pass ([`forward`])
//! and one backward pass ([`backward`]) for all of them. Its parameters follow each other in one flat array: the branches'
//! in order, then the join's, each layer's weight and then its bias.
//!
//! Branches that act on a row alone are *below*: on the quotient space they are computed for the rows of the level below and
//! lifted. Those in which rows meet are *above*.

mod backward;
mod forward;

use crate::equivariant::Linears;
use crate::linear::{Layer, add_to};
use crate::mlp::Mlp;
use crate::product::Square;
use crate::quotient::Colours;
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};

/// A block: the branches' results side by side, through the join if there is one.
#[derive(Debug, Clone)]
pub struct Block<'a, T> {
    /// Channels of X.
    pub inputs: usize,
    /// First to last, at least one.
    pub branches: Vec<Branch<'a, T>>,
    /// A linear layer on the branches' results side by side; without it these are the output.
    pub join: Option<Layer<'a, T>>,
    /// Whether X is added to the output, which is as wide.
    pub residual: bool,
}

/// What a block computes of X before its join.
#[derive(Debug, Clone)]
pub enum Branch<'a, T> {
    /// X itself.
    Skip,
    /// An MLP on every row.
    Rows(Mlp<'a, T>),
    /// MLPs on every row, and a product of what they give.
    Product {
        /// How rows meet.
        product: Product,
        /// The MLPs, all equally wide at their ends.
        factors: Vec<Mlp<'a, T>>,
        /// The epsilon of an RMS norm of the product, or no norm.
        norm: Option<f64>,
    },
    /// Linear equivariant layers with a ReLU after each. They need all pairs as rows.
    Equivariant(Linears<'a, T>),
}

/// How the outputs of MLPs meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `Y1 . Y2` in every channel, over pairs.
    Matrix,
    /// The generalised product of as many factors as tuples have nodes; over pairs it is `Y2 . Y1`.
    Generalised,
    /// The sums of Y1 over one index each, of tuples of so many nodes: so many times as wide as Y1.
    Sums(usize),
}

/// What a block's rows are, and how they become those of the next level.
#[derive(Debug, Clone, Copy)]
pub enum Pairs<'a> {
    /// Every pair, or every tuple, is a row, before and after.
    Dense(&'a [Square]),
    /// One row per colour.
    Quotient {
        /// The product.
        colours: Colours<'a>,
        /// The row below that each row comes from.
        parents: &'a [u32],
    },
}

/// What a forward pass keeps for the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: there is none.
    Nothing,
    /// The results of branches and of their MLPs; hidden layers are computed again.
    Results,
    /// The hidden layers too: faster, and the same numbers.
    Hidden,
}

/// What the backward pass needs beside X.
#[derive(Debug)]
pub struct Kept<T: Real> {
    branches: Vec<Made<T>>,
    /// The hidden layers of all MLPs in order, where they are kept.
    hidden: Option<Vec<Vec<Buffer<T>>>>,
}

/// What a branch has computed.
#[derive(Debug)]
enum Made<T: Real> {
    /// Nothing: it is X.
    Input,
    /// The MLP's output.
    Rows(Buffer<T>),
    Product {
        /// The factors.
        ys: Vec<Buffer<T>>,
        /// Their product, normed.
        w: Buffer<T>,
        /// What the product was multiplied by, row by row, where there is a norm.
        scales: Vec<T>,
    },
    /// The outputs of all layers, the last one's alone where there is no backward pass.
    Equivariant(Vec<Buffer<T>>),
}

impl<T: Real> Made<T> {
    /// The result, which is X's where the branch is X.
    fn result<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        match self {
            Made::Input => x,
            Made::Rows(y) => y,
            Made::Product { w, .. } => w,
            Made::Equivariant(ys) => ys.last().map_or(&[], |y| y),
        }
    }
}

impl<'a, T: Real> Branch<'a, T> {
    /// Channels of its result, for an X with `inputs`.
    fn outputs(&self, inputs: usize) -> usize {
        match self {
            Branch::Skip => inputs,
            Branch::Rows(mlp) => mlp.outputs(),
            Branch::Product { product: Product::Sums(order), factors, .. } => order * factors[0].outputs(),
            Branch::Product { factors, .. } => factors[0].outputs(),
            Branch::Equivariant(layers) => layers.outputs(),
        }
    }

    /// How many numbers it has in a flat array.
    fn len(&self) -> usize {
        match self {
            Branch::Skip => 0,
            Branch::Rows(mlp) => mlp.len(),
            Branch::Product { factors, .. } => factors.iter().map(Mlp::len).sum(),
            Branch::Equivariant(layers) => layers.len(),
        }
    }

    /// Whether rows meet in it, so that it is computed for the rows of the next level.
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
        self.branches.iter().map(|branch| branch.outputs(self.inputs)).collect()
    }

    /// Every branch with its result, its width, and its first column among all results side by side.
    fn columns<'s>(&'s self) -> impl Iterator<Item = (&'s Branch<'a, T>, usize, usize)> {
        self.branches.iter().zip(self.widths()).scan(0, |from, (branch, width)| {
            *from += width;
            Some((branch, width, *from - width))
        })
    }

    fn mlps(&self) -> impl Iterator<Item = &Mlp<'a, T>> {
        self.branches.iter().flat_map(Branch::mlps)
    }

    /// Numbers per row in all hidden layers of its MLPs.
    pub fn hidden(&self) -> usize {
        self.mlps().map(Mlp::hidden).sum()
    }

    /// Whether rows meet in any branch. Also holds that X is passed by at most once: gradients rely on it.
    fn meets(&self) -> bool {
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
                panic!("an equivariant layer needs all pairs, and these rows are colours")
            }
        }
    }

    /// The row below of a row.
    fn parent(&self, row: usize) -> usize {
        match self {
            Pairs::Dense(_) => row,
            Pairs::Quotient { parents, .. } => parents[row] as usize,
        }
    }

    /// The gradient of rows that were lifted: each row below has the sum over its children. Nothing where lifting is
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
