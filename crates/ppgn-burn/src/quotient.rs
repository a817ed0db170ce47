//! The quotient's operations as compositions of burn's own: what every device can do, and what kernels are held to.

use super::Quotient;
use crate::config::{Pooling, Scale};
use crate::product;
use crate::space::Dense;
use burn::tensor::{Int, Tensor, TensorData};
use ppgn_kernels::patterns;

/// The rows of `level` as rows of `level + 1`: each is its parent's.
///
/// # Shapes
/// - `x`: `[rows(level), channels]`
/// - result: `[rows(level + 1), channels]`
pub(crate) fn lift(space: &Quotient, level: usize, x: Tensor<2>) -> Tensor<2> {
    let parent = space.levels[level + 1].parent.iter().map(|&row| i64::from(row)).collect();
    select(x, parent)
}

/// The product: that of the dense space, of the graphs that have an example, read at the examples.
///
/// # Shapes
/// - `y1`, `y2`: `[rows(level), channels]`
/// - result: `[rows(level + 1), channels]`
pub(crate) fn product(
    space: &Quotient,
    level: usize,
    y1: Tensor<2>,
    y2: Tensor<2>,
    scale: Scale,
) -> Tensor<2> {
    let (matrix, examples) = (&space.levels[level].matrix, &space.levels[level + 1].example);
    let mut graphs: Vec<usize> = examples.iter().map(|example| example.graph as usize).collect();
    graphs.dedup(); // examples are in the order of graphs
    let nodes: Vec<usize> = graphs.iter().map(|&graph| space.nodes[graph]).collect();
    let Ok(dense) = Dense::new(&nodes) else { return y1 }; // no graph has a node
    let mut pairs = Vec::with_capacity(dense.rows());
    let mut start = vec![0; space.graphs()];
    for &lies in dense.order() {
        let graph = graphs[lies];
        start[graph] = pairs.len();
        let range = space.offsets[graph]..space.offsets[graph + 1];
        pairs.extend(matrix[range].iter().map(|&row| i64::from(row)));
    }
    let at = examples.iter().map(|example| (start[example.graph as usize] + example.place as usize) as i64);
    let (y1, y2) = (select(y1, pairs.clone()), select(y2, pairs)); // [pairs, channels]
    select(product::dense(&dense, y1, y2, scale), at.collect()) // [rows(level + 1), channels]
}

/// Per graph, over the diagonal and off it; over every pattern of longer tuples. What a graph has no tuples for is 0.
///
/// # Shapes
/// - `x`: `[rows(level), channels]`
/// - result: `[graphs, patterns * channels]`: the diagonal's, then the rest's
pub(crate) fn pool(space: &Quotient, level: usize, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
    let (level, patterns) = (&space.levels[level], patterns(space.order) as u32);
    let graph = |range: &[usize]| {
        let counts = &level.pool[range[0]..range[1]];
        let part = |pattern: u32| {
            let present = counts.iter().filter(|count| count.pattern == pattern);
            let (rows, weights): (Vec<i64>, Vec<f64>) =
                present.map(|count| (i64::from(count.row), f64::from(count.count))).unzip();
            join(&x, rows, weights, pooling)
        };
        Tensor::cat((0..patterns).map(part).collect(), 1) // [1, patterns * channels]
    };
    Tensor::cat(level.pool_offsets.windows(2).map(graph).collect(), 0) // [graphs, patterns * channels]
}

/// The maximum of these rows, its gradient split by weight over those that attain it; or their weighted sum.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - result: `[1, channels]`
pub(crate) fn join(x: &Tensor<2>, rows: Vec<i64>, weights: Vec<f64>, pooling: Pooling) -> Tensor<2> {
    if rows.is_empty() {
        return Tensor::zeros([1, x.dims()[1]], (&x.device(), x.dtype()));
    }
    let chosen = select(x.clone(), rows); // [present, channels]
    let plain = chosen.clone().inner();
    let shape = [weights.len(), 1];
    let weights = Tensor::<2>::from_data(TensorData::new(weights, shape), (&plain.device(), x.dtype()));
    let within = |plain: Tensor<2>| if x.is_autodiff() { Tensor::from_inner(plain) } else { plain };
    if pooling == Pooling::Sum {
        return (chosen * within(weights)).sum_dim(0);
    }
    let value = plain.clone().max_dim(0); // [1, channels]
    if !x.is_autodiff() {
        return value;
    }
    let tied = plain.clone().equal(value.clone().expand(plain.dims())); // [present, channels]
    let share = plain.zeros_like().mask_fill(tied, 1.0) * weights;
    let share = share.clone() / share.sum_dim(0);
    // As on the dense space: worth the maximum, with the gradient wanted.
    let mean = (chosen * within(share)).sum_dim(0);
    within(value) + (mean.clone() - mean.detach()) // [1, channels]
}

fn select(x: Tensor<2>, rows: Vec<i64>) -> Tensor<2> {
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &x.device());
    x.select(0, rows)
}
