//! Message passing, the product of order 1: for every node, sums over its neighbours.
//!
//! `W[i, r] = sum over the edges (i, j) of E[i,j,r] * Y[j]`, one sum per relation r. An edge has one weight per relation: 1
//! in the channel of the adjacency matrix, 0 or 1 in those of its label, its own numbers in those of attributes. Rows
//! are nodes, or colours of nodes; then a row stands for its first node, and messages come from the rows of that node's
//! neighbours on the level below.

use crate::mlp::mask;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use rayon::prelude::*;

/// Who every row hears from.
#[derive(Debug, Clone, Copy)]
pub struct Messages<'a> {
    /// Where each row's neighbours begin, and the end of the last one's: one more than there are rows above.
    pub offsets: &'a [usize],
    /// The neighbours: rows below.
    pub rows: &'a [u32],
    /// `[neighbours, relations]`, row-major.
    pub weights: &'a [f64],
    /// The number of relations.
    pub relations: usize,
}

impl Messages<'_> {
    /// Checks that everything is within bounds.
    fn check(&self, above: usize, below: usize) {
        let Messages { offsets, rows, weights, relations } = *self;
        assert_eq!(offsets.len(), above + 1);
        assert!(offsets.is_sorted() && offsets[above] <= rows.len());
        assert!(rows.iter().all(|&row| (row as usize) < below), "a message from a row that is not there");
        assert_eq!(weights.len(), numbers(rows.len(), relations));
    }

    /// The messages to a row: the row below, and the weights that are not 0.
    #[inline(always)]
    fn to(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        let edges = self.offsets[row]..self.offsets[row + 1];
        edges.flat_map(move |edge| {
            let weights = &self.weights[edge * self.relations..][..self.relations];
            let some = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            some.map(move |(relation, &weight)| (self.rows[edge] as usize, relation, weight))
        })
    }
}

/// W from Y.
///
/// # Shapes
/// - `y`: `[below, channels]`
/// - `w`: `[above, relations * channels]`
///
/// # Complexity
/// O(neighbours * channels).
pub(crate) fn neighbour_sums<T: Real>(messages: Messages<'_>, channels: usize, y: &[T], w: &mut [T]) {
    let width = numbers(messages.relations, channels).max(1);
    messages.check(w.len() / width, y.len() / channels.max(1));
    w.par_chunks_mut(width).enumerate().for_each(|(row, w)| {
        w.fill(T::default());
        for (below, relation, weight) in messages.to(row) {
            let weight = T::rounded(weight);
            let y = &y[below * channels..][..channels];
            w[relation * channels..][..channels].iter_mut().zip(y).for_each(|(w, &y)| *w += weight * y);
        }
    });
}

/// The gradient of Y; with `relu`, 0 where Y is not above 0. A row of W stands for all of its nodes, and its gradient is the
/// sum of theirs, so what goes back is right for colours too.
///
/// # Shapes
/// - `dw`: `[above, relations * channels]`
/// - `y`, `d`: `[below, channels]`; `d` is overwritten
///
/// # Complexity
/// O(neighbours * channels).
pub(crate) fn neighbour_sums_backward<T: Real>(
    messages: Messages<'_>,
    channels: usize,
    dw: &[T],
    y: &[T],
    d: &mut [T],
    relu: bool,
) {
    let width = numbers(messages.relations, channels).max(1);
    let above = dw.len() / width;
    messages.check(above, y.len() / channels.max(1));
    assert_eq!(y.len(), d.len());
    const WIDTH: usize = 8;
    d.fill(T::default());
    let shared = Shared::new(d);
    (0..channels.div_ceil(WIDTH)).into_par_iter().for_each(|group| {
        let from = group * WIDTH;
        let some = WIDTH.min(channels - from);
        for row in 0..above {
            for (below, relation, weight) in messages.to(row) {
                let weight = T::rounded(weight);
                let dw = &dw[row * width + relation * channels + from..][..some];
                // SAFETY: only this task writes these channels.
                let d = unsafe { shared.part(below * channels + from, some) };
                d.iter_mut().zip(dw).for_each(|(d, &dw)| *d += weight * dw);
            }
        }
    });
    if relu {
        mask(d, y);
    }
}
