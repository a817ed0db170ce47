//! A space as the kernels see it: slices of the batch's data.

use crate::config::PpgnConfig;
use crate::quotient::Quotient;
use crate::space::Space;
use ppgn_kernels::{ColourMatrix, Pairs, Pools, Square};

/// A space as the kernels see it.
pub(super) enum View<'a> {
    Dense { order: usize, squares: Vec<Square>, place: &'a [usize], rows: usize },
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
                View::Dense { order: dense.order(), squares, place: dense.given(), rows: dense.rows() }
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
            View::Dense { rows, .. } => *rows,
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

    /// The rows to pool at a level.
    pub(super) fn pools(&self, level: usize) -> Pools<'_> {
        match self {
            View::Dense { order, squares, place, .. } => {
                Pools::Dense { order: *order, graphs: squares, place }
            }
            View::Quotient { space, .. } => {
                let level = &space.levels[level];
                Pools::Quotient { order: space.order, counts: &level.pool, offsets: &level.pool_offsets }
            }
        }
    }
}
