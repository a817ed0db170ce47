//! Who sends messages to whom, for networks of order 1: the pairs of different nodes whose encoding is not zero.
//!
//! The encoding of a pair is the weights of its message, one relation per channel. So labelled edges are summed per label,
//! attributes weight their messages, and directed edges carry messages from their head to their tail; the encoding
//! `paper+transposed` adds the other direction as a relation of its own.

use crate::precision::Number;
use ppgn_kernels::Messages;

/// Neighbours, node after node or row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Edges {
    /// Where the neighbours of each begin, and the end of the last one's.
    offsets: Vec<usize>,
    /// The neighbours: nodes of a graph, or rows.
    rows: Vec<u32>,
    /// `[neighbours, relations]`.
    weights: Vec<f64>,
    relations: usize,
}

impl Edges {
    /// None yet, with this many relations.
    pub(crate) fn new(relations: usize) -> Self {
        Edges { offsets: vec![0], rows: Vec::new(), weights: Vec::new(), relations }
    }

    /// The edges of a graph, by its encoding: `[n * n, channels]`. O(n * n * channels).
    pub(crate) fn of<T: Number>(nodes: usize, channels: usize, pairs: &[T]) -> Self {
        let mut edges = Edges::new(channels);
        for i in 0..nodes {
            for j in (0..nodes).filter(|&j| j != i) {
                let row = &pairs[(i * nodes + j) * channels..][..channels];
                if row.iter().any(|&x| x != T::default()) {
                    edges.rows.push(j as u32);
                    // -0 + 0 is 0; all other numbers are unchanged.
                    edges.weights.extend(row.iter().map(|x| ppgn_kernels::Real::wide(*x) + 0.0));
                }
            }
            edges.offsets.push(edges.rows.len());
        }
        edges
    }

    /// The neighbours of a node with the weights of their messages.
    pub(crate) fn at(&self, node: usize) -> impl Iterator<Item = (u32, &[f64])> {
        let range = self.offsets[node]..self.offsets[node + 1];
        range.map(|edge| (self.rows[edge], &self.weights[edge * self.relations..][..self.relations]))
    }

    /// Adds one more node or row, with these neighbours.
    pub(crate) fn push<'a>(&mut self, neighbours: impl Iterator<Item = (u32, &'a [f64])>) {
        for (row, weights) in neighbours {
            self.rows.push(row);
            self.weights.extend_from_slice(weights);
        }
        self.offsets.push(self.rows.len());
    }

    /// As the kernels take them.
    pub(crate) fn messages(&self) -> Messages<'_> {
        let Edges { offsets, rows, weights, relations } = self;
        Messages { offsets, rows, weights, relations: *relations }
    }
}
