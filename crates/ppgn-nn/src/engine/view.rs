//! A space as the kernels see it: slices of the batch's data.

use crate::config::PpgnConfig;
use crate::edges::Edges;
use crate::quotient::Quotient;
use crate::space::{Dense, Space};
use ppgn_kernels::{ColourMatrix, Messages, Pairs, Pools, Square};

/// A space as the kernels see it.
pub(super) enum View<'a> {
    Dense { space: &'a Dense, squares: Vec<Square> },
    Quotient { space: &'a Quotient, factors: Vec<f64> },
}

impl<'a> View<'a> {
    pub(super) fn new(config: &PpgnConfig, space: &'a Space) -> Self {
        match space {
            Space::Dense(dense) => {
                let square = |(nodes, start): (usize, usize)| Square {
                    start,
                    nodes,
                    factor: config.scale.factor(nodes.max(1)),
                };
                let squares = dense.starts().map(square).collect();
                View::Dense { space: dense, squares }
            }
            Space::Quotient(space) => {
                let factors = space.nodes.iter().map(|&n| config.scale.factor(n.max(1))).collect();
                View::Quotient { space, factors }
            }
        }
    }

    pub(super) fn graphs(&self) -> usize {
        match self {
            View::Dense { squares, .. } => squares.len(),
            View::Quotient { space, .. } => space.graphs(),
        }
    }

    /// Rows of a level.
    pub(super) fn rows(&self, level: usize) -> usize {
        match self {
            View::Dense { space, .. } => space.rows(),
            View::Quotient { space, .. } => space.rows(level),
        }
    }

    /// The rows of block l and how they map to the next level.
    pub(super) fn pairs(&self, l: usize) -> Pairs<'_> {
        match self {
            View::Dense { squares, .. } => Pairs::Dense(squares),
            View::Quotient { space, factors } => {
                let (below, above) = (&space.levels[l], &space.levels[l + 1]);
                let colours = ColourMatrix {
                    below: below.rows,
                    examples: &above.example,
                    nodes: &space.nodes,
                    factors,
                    offsets: &space.offsets,
                    matrix: &below.matrix,
                };
                Pairs::Quotient { colours, parents: &above.parent }
            }
        }
    }

    /// Who the rows of level l + 1 hear from; at order 1 only.
    pub(super) fn messages(&self, l: usize) -> Option<Messages<'a>> {
        match self {
            View::Dense { space, .. } => space.edges.as_ref().map(|edges| edges.messages()),
            View::Quotient { space, .. } => space.levels[l + 1].edges.as_ref().map(Edges::messages),
        }
    }

    /// The rows to pool at a level.
    pub(super) fn pools(&self, level: usize) -> Pools<'_> {
        match self {
            View::Dense { space, squares } => {
                Pools::Dense { order: space.order(), graphs: squares, place: space.given() }
            }
            View::Quotient { space, .. } => {
                let level = &space.levels[level];
                Pools::Quotient { order: space.order, counts: &level.pool, offsets: &level.pool_offsets }
            }
        }
    }
}
