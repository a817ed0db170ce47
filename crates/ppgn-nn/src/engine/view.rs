//! A space as the kernels see it: slices of the batch's data.

use crate::config::PpgnConfig;
use crate::edges::Edges;
use crate::quotient::Quotient;
use crate::space::{Dense, Space};
use ppgn_kernels::{ColourMatrix, Messages, Pairs, Pools, Square};
use std::borrow::Cow;
use std::ops::Range;

/// A space as the kernels see it.
pub(super) enum View<'a> {
    Dense { space: &'a Dense, rows: usize, squares: Vec<Square>, place: Cow<'a, [usize]> },
    Quotient { space: &'a Quotient, factors: Vec<f64> },
}

/// Some graphs of a dense batch of pairs, as a batch of their own.
pub(super) struct Group<'a> {
    pub(super) view: View<'a>,
    /// Their rows in the batch.
    pub(super) rows: Range<usize>,
    /// The row of each graph's result in the batch.
    pub(super) place: Vec<usize>,
}

impl<'a> View<'a> {
    /// Divides a dense batch of pairs into groups of graphs with at least this many rows, apart from the last; nothing if
    /// there would be one only, or in another space.
    pub(super) fn groups(&self, least: usize) -> Vec<Group<'a>> {
        let mut groups = Vec::new();
        let View::Dense { space, squares, place, .. } = self else { return groups };
        if space.order() != 2 {
            return groups;
        }
        let mut from = 0;
        while from < squares.len() {
            let start = squares[from].start;
            let end = |square: &Square| square.start + square.nodes * square.nodes;
            let more = squares[from..].iter().position(|square| end(square) - start >= least);
            let to = more.map_or(squares.len(), |more| from + more + 1);
            let own =
                squares[from..to].iter().map(|square| Square { start: square.start - start, ..*square });
            let rows = start..end(&squares[to - 1]);
            let view = View::Dense {
                space,
                rows: rows.len(),
                squares: own.collect(),
                place: (0..to - from).collect::<Vec<_>>().into(),
            };
            groups.push(Group { view, rows, place: place[from..to].to_vec() });
            from = to;
        }
        if groups.len() > 1 { groups } else { Vec::new() }
    }

    pub(super) fn new(config: &PpgnConfig, space: &'a Space) -> Self {
        match space {
            Space::Dense(dense) => {
                let square = |(nodes, start): (usize, usize)| Square {
                    start,
                    nodes,
                    factor: config.scale.factor(nodes.max(1)),
                };
                let squares = dense.starts().map(square).collect();
                View::Dense { space: dense, rows: dense.rows(), squares, place: Cow::Borrowed(dense.given()) }
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
                    twins: &space.twins,
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
            View::Dense { space, squares, place, .. } => {
                Pools::Dense { order: space.order(), graphs: squares, place }
            }
            View::Quotient { space, .. } => {
                let level = &space.levels[level];
                Pools::Quotient { order: space.order, counts: &level.pool, offsets: &level.pool_offsets }
            }
        }
    }
}
