//! Message passing, the product of order 1: for every node, sums over its neighbours.
//!
//! `W[i, r] = sum over the edges (i, j) of E[i,j,r] * Y[j]`: one gather to the edges, a product with their weights, and
//! sums over the edges of every node, all of a batch at once.

use crate::gather::{Gather, Lists, Tree};
use crate::transfer::Link;
use burn::tensor::{Int, Tensor};
use ppgn_nn::kernels;

/// Who every row hears from.
#[derive(Debug, Clone)]
pub(crate) struct Messages {
    /// Rows below to edges.
    from: Gather,
    /// Edges to rows above.
    to: Tree,
    /// The row above of every edge.
    rows: Tensor<1, Int>,
    /// `[edges, relations, 1]`
    weights: Tensor<3>,
}

impl Messages {
    /// O(edges * relations).
    pub(crate) fn new(link: &Link, messages: kernels::Messages<'_>, below: usize) -> Self {
        let kernels::Messages { offsets, rows, weights, relations } = messages;
        let above = offsets.len() - 1;
        let owners: Vec<u32> = offsets
            .windows(2)
            .enumerate()
            .flat_map(|(row, pair)| std::iter::repeat_n(row as u32, pair[1] - pair[0]))
            .collect();
        Messages {
            from: Gather::new(link, rows, below),
            to: Tree::new(link, Lists::inverse(&owners, above), rows.len()),
            rows: link.indices(&owners),
            weights: link.numbers("weights of edges", weights, [rows.len(), relations, 1]),
        }
    }

    /// # Shapes
    /// - `y`: `[rows below, channels]`
    /// - result: `[rows above, relations * channels]`
    pub(crate) fn forward(&self, y: Tensor<2>) -> Tensor<2> {
        let [edges, relations, _] = self.weights.dims();
        let channels = y.dims()[1];
        let heard = self.from.forward(y).reshape([edges, 1, channels]) * self.weights.clone();
        self.to.sum(heard.reshape([edges, relations * channels]))
    }

    /// The gradient of y from that of the result.
    pub(crate) fn backward(&self, slope: Tensor<2>) -> Tensor<2> {
        let [edges, relations, _] = self.weights.dims();
        let channels = slope.dims()[1] / relations;
        let slope = slope.select(0, self.rows.clone()).reshape([edges, relations, channels]);
        let slope = (slope * self.weights.clone()).sum_dim(1).reshape([edges, channels]);
        self.from.backward(slope)
    }
}
