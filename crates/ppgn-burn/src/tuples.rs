//! Blocks and pooling on tuples as compositions of burn's operations: what every device can do, and what the kernels are
//! held to.
//!
//! Every term of a sum over j is a gather: the row of the tuple with j put in one of its places. Graphs with fewer nodes
//! than the largest gather a row of zeros for the rest.

use crate::config::{Pooling, Scale};
use crate::quotient::join;
use crate::space::{Dense, Space};
use burn::tensor::{Int, Tensor};
use ppgn_kernels::{Patterns, patterns};

/// The tuples that rows of the next level stand for, and where the rows of others are.
struct Terms<'a> {
    order: usize,
    /// Nodes of every graph, and the number of its first tuple's row or entry.
    graphs: Vec<(usize, usize)>,
    /// (graph, place) of a tuple of every row.
    above: Vec<(usize, usize)>,
    /// The row of every tuple, where it is not its own.
    matrix: Option<&'a [u32]>,
    /// Rows of the level.
    below: usize,
}

impl<'a> Terms<'a> {
    fn new(space: &'a Space, level: usize) -> Self {
        match space {
            Space::Dense(dense) => {
                let graphs: Vec<(usize, usize)> = dense.starts().collect();
                let tuples = |(g, &(n, _)): (usize, &(usize, usize))| {
                    (0..n.pow(dense.tuples() as u32)).map(move |place| (g, place))
                };
                let above = graphs.iter().enumerate().flat_map(tuples).collect();
                Terms { order: dense.tuples(), graphs, above, matrix: None, below: dense.rows() }
            }
            Space::Quotient(quotient) => {
                let example = quotient.levels[level + 1].example.iter();
                Terms {
                    order: quotient.order,
                    graphs: quotient.nodes.iter().copied().zip(quotient.offsets.iter().copied()).collect(),
                    above: example.map(|e| (e.graph as usize, e.place as usize)).collect(),
                    matrix: Some(&quotient.levels[level].matrix),
                    below: quotient.rows(level),
                }
            }
        }
    }

    /// Nodes of the largest graph.
    fn nodes(&self) -> usize {
        self.graphs.iter().map(|&(n, _)| n).max().unwrap_or(0)
    }

    /// For every row above, the row of its tuple with node j put in place q; one behind the last where there is none.
    fn rows(&self, q: usize, j: usize) -> Vec<i64> {
        let row = |&(graph, place): &(usize, usize)| {
            let (n, start) = self.graphs[graph];
            if j >= n {
                return self.below as i64;
            }
            let step = n.pow((self.order - 1 - q) as u32);
            let at = start + place - place / step % n * step + j * step;
            self.matrix.map_or(at as i64, |matrix| i64::from(matrix[at]))
        };
        self.above.iter().map(row).collect()
    }

    /// What the sums are multiplied by, `[rows above, 1]`.
    fn factors(&self, scale: Scale, like: &Tensor<2>) -> Tensor<2> {
        let factors: Vec<f64> = self.above.iter().map(|&(g, _)| scale.factor(self.graphs[g].0)).collect();
        let data = burn::tensor::TensorData::new(factors, [self.above.len(), 1]);
        Tensor::from_data(data, (&like.device(), like.dtype()))
    }
}

/// The generalised product, `W[i] = factor * sum over j of the product of Yq[i with j in place q]`.
///
/// # Shapes
/// - `ys`, each: `[rows(level), channels]`
/// - result: `[rows(level + 1), channels]`
pub(crate) fn product(space: &Space, level: usize, ys: Vec<Tensor<2>>, scale: Scale) -> Tensor<2> {
    let terms = Terms::new(space, level);
    let ys: Vec<Tensor<2>> = ys.into_iter().map(padded).collect();
    let term = |j: usize| {
        let rows = ys.iter().enumerate().map(|(q, y)| select(y, terms.rows(q, j)));
        rows.reduce(|product, row| product * row).expect("a product has factors") // [rows(level + 1), channels]
    };
    sum(&terms, &ys[0], scale, term)
}

/// The sums over one index each, side by side: `Lq(Y)[i] = factor * sum over j of Y[i with j in place q]`.
///
/// # Shapes
/// - `y`: `[rows(level), channels]`
/// - result: `[rows(level + 1), order * channels]`
pub(crate) fn sums(space: &Space, level: usize, y: Tensor<2>, scale: Scale) -> Tensor<2> {
    let terms = Terms::new(space, level);
    let y = padded(y);
    let parts = (0..terms.order).map(|q| sum(&terms, &y, scale, |j| select(&y, terms.rows(q, j))));
    Tensor::cat(parts.collect(), 1)
}

fn sum(terms: &Terms<'_>, y: &Tensor<2>, scale: Scale, term: impl Fn(usize) -> Tensor<2>) -> Tensor<2> {
    let total = (0..terms.nodes()).map(term).reduce(|sum, term| sum + term);
    let total = total.unwrap_or_else(|| y.clone().narrow(0, 0, terms.above.len()));
    if scale == Scale::None { total } else { total * terms.factors(scale, y) }
}

/// A row of zeros behind the last.
fn padded(y: Tensor<2>) -> Tensor<2> {
    let zeros = Tensor::zeros([1, y.dims()[1]], (&y.device(), y.dtype()));
    Tensor::cat(vec![y, zeros], 0)
}

fn select(x: &Tensor<2>, rows: Vec<i64>) -> Tensor<2> {
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &x.device());
    x.clone().select(0, rows)
}

/// Pooling on the dense space: per graph, over the tuples of every pattern. What a graph has no tuples for is 0.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - result: `[graphs, patterns * channels]`
pub(crate) fn pool(space: &Dense, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
    let order = space.tuples();
    let mut walk = Patterns::new(order);
    let graph = |(nodes, start): (usize, usize)| {
        let mut rows = vec![Vec::new(); patterns(order)];
        walk.each(nodes, |place, pattern| rows[pattern].push((start + place) as i64));
        let part = |rows: Vec<i64>| {
            let weights = vec![1.0; rows.len()];
            join(&x, rows, weights, pooling)
        };
        Tensor::cat(rows.into_iter().map(part).collect(), 1) // [1, patterns * channels]
    };
    space.restore(Tensor::cat(space.starts().map(graph).collect(), 0))
}
