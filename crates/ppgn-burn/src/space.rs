//! The space a network runs on: what is a row, and how rows of one level make those of the next.
//!
//! Blocks see four operations only. Block l takes rows of level l and gives rows of level l + 1:
//!
//! - [`rows`](Space::rows): how many there are at a level;
//! - [`lift`](Space::lift): what a row of level l is at level l + 1 (the skip connection's X);
//! - [`product`](Space::product): W at level l + 1 from m1(X) and m2(X) at level l;
//! - [`pool`](Space::pool): one row a graph, over its diagonal pairs and over the others.
//!
//! Everything else in a network acts on a row alone, and so does not know the space. In [`Dense`] every ordered pair of
//! nodes is a row at every level; in [`Quotient`], every colour that 2-FWL gives pairs after as many rounds. For networks
//! of order k it is k-tuples and k-FWL. A space is no part of a network: it comes with the batch.

use crate::config::{Pooling, Scale};
use crate::equivariant::EquivariantLinear;
use crate::quotient::{self, Quotient};
use crate::{pool, product, tuples};
use burn::tensor::Tensor;
use ppgn_graph::{Error, Result};
use std::sync::Arc;

/// What the rows of a batch are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Space {
    /// Every ordered pair of nodes of every graph.
    Dense(Dense),
    /// Every colour of such pairs.
    Quotient(Arc<Quotient>),
}

impl Space {
    /// How many graphs there are.
    pub fn graphs(&self) -> usize {
        match self {
            Space::Dense(dense) => dense.graphs(),
            Space::Quotient(quotient) => quotient.graphs(),
        }
    }

    /// The length of the tuples that rows stand for: 2 for pairs.
    pub fn order(&self) -> usize {
        match self {
            Space::Dense(dense) => dense.tuples(),
            Space::Quotient(quotient) => quotient.order(),
        }
    }

    /// How many rows there are before block `level` (and after block `level - 1`).
    ///
    /// # Panics
    /// In the quotient, beyond the level that its colours were found for.
    pub fn rows(&self, level: usize) -> usize {
        match self {
            Space::Dense(dense) => dense.rows(),
            Space::Quotient(quotient) => quotient.rows(level),
        }
    }

    /// The rows of `level` as rows of `level + 1`.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), channels]`
    /// - result: `[rows(level + 1), channels]`
    pub(crate) fn lift(&self, level: usize, x: Tensor<2>) -> Tensor<2> {
        match self {
            Space::Dense(_) => x,
            Space::Quotient(quotient) => quotient::lift(quotient, level, x),
        }
    }

    /// The matrix product in every channel, `W[i,k] = factor * sum over j of Y1[i,j] * Y2[j,k]`.
    ///
    /// # Shapes
    /// - `y1`, `y2`: `[rows(level), channels]`
    /// - result: `[rows(level + 1), channels]`
    pub(crate) fn product(&self, level: usize, y1: Tensor<2>, y2: Tensor<2>, scale: Scale) -> Tensor<2> {
        match self {
            Space::Dense(dense) => product::dense(dense, y1, y2, scale),
            Space::Quotient(quotient) => quotient::product(quotient, level, y1, y2, scale),
        }
    }

    /// A linear equivariant layer from matrices to matrices, graph by graph.
    ///
    /// # Panics
    /// In the quotient: pairs of one colour may differ in the sums of their rows and columns. Networks with such layers
    /// refuse it.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows, outputs]`
    pub(crate) fn linear(&self, layer: &EquivariantLinear, x: Tensor<2>) -> Tensor<2> {
        let Space::Dense(dense) = self else { panic!("linear equivariant layers need the dense space") };
        let mut parts = Vec::new();
        for group in dense.groups().iter().filter(|group| group.nodes > 0) {
            let pairs = group.nodes * group.nodes;
            for graph in 0..group.graphs {
                let rows = x.clone().narrow(0, group.start + graph * pairs, pairs); // [n^2, inputs]
                parts.push(layer.apply(rows, group.nodes)); // [n^2, outputs]
            }
        }
        match parts.is_empty() {
            true => Tensor::zeros([0, layer.config().outputs], (&x.device(), x.dtype())),
            false => Tensor::cat(parts, 0), // [rows, outputs]
        }
    }

    /// Per graph, over the diagonal and off it; over every pattern of longer tuples.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), channels]`
    /// - result: `[graphs, patterns * channels]`, in the order in which the graphs were given
    pub(crate) fn pool(&self, level: usize, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
        match self {
            Space::Dense(dense) if dense.tuples() > 2 => tuples::pool(dense, x, pooling),
            Space::Dense(dense) => pool::dense(dense, x, pooling),
            Space::Quotient(quotient) => quotient::pool(quotient, level, x, pooling),
        }
    }
}

/// All pairs of all graphs, graph after graph: pair (i, j) of a graph with n nodes at its row i*n + j. Or all k-tuples, in
/// lexicographic order.
///
/// Graphs lie in the order of their sizes, so that those of one size are one stretch of rows: neither product nor
/// pooling needs padding, masks or gathers. Results a graph come back in the order in which the graphs were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// The length of the tuples.
    tuples: usize,
    groups: Vec<Group>,
    /// Given number of each graph, in the order in which they lie.
    order: Vec<usize>,
    rows: usize,
}

/// Graphs of one size that lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Nodes of each.
    pub(crate) nodes: usize,
    /// How many graphs.
    pub(crate) graphs: usize,
    /// The first row of the first.
    pub(crate) start: usize,
    /// Rows of each.
    pub(crate) each: usize,
}

impl Group {
    /// Rows of the group.
    pub(crate) fn rows(&self) -> usize {
        self.graphs * self.each
    }
}

impl Dense {
    /// The space of graphs with so many nodes each.
    ///
    /// ```
    /// use ppgn_nn::Dense;
    /// let dense = Dense::new(&[3, 2, 3])?;
    /// assert_eq!((dense.graphs(), dense.rows(), dense.order()), (3, 22, &[1, 0, 2][..]));
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn new(nodes: &[usize]) -> Result<Self> {
        Self::of_tuples(2, nodes)
    }

    /// The space of the k-tuples of such graphs.
    pub fn of_tuples(k: usize, nodes: &[usize]) -> Result<Self> {
        if nodes.is_empty() {
            return Err(Error::call("a batch needs at least one graph"));
        }
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|&graph| nodes[graph]);
        let mut groups: Vec<Group> = Vec::new();
        let mut rows = 0usize;
        for &graph in &order {
            let n = nodes[graph];
            let each = u32::try_from(k).ok().and_then(|k| n.checked_pow(k));
            let sum = each.and_then(|each| Some((each, rows.checked_add(each)?)));
            let (each, next) = sum.ok_or_else(|| {
                let what = if k == 2 { "pairs".to_string() } else { format!("{k}-tuples") };
                Error::unfit(format!(
                    "graph {graph} of the batch has {n} nodes: their {what} are too many to number"
                ))
            })?;
            match groups.last_mut() {
                Some(group) if group.nodes == n => group.graphs += 1,
                _ => groups.push(Group { nodes: n, graphs: 1, start: rows, each }),
            }
            rows = next;
        }
        Ok(Dense { tuples: k, groups, order, rows })
    }

    /// How many graphs there are.
    pub fn graphs(&self) -> usize {
        self.order.len()
    }

    /// The length of the tuples that are its rows: 2 for pairs.
    pub fn tuples(&self) -> usize {
        self.tuples
    }

    /// How many rows, the sum of n*n over the graphs, or of n^k.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The given number of each graph, in the order in which they lie.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Nodes and first row of every graph, in the order in which they lie.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (usize, usize)> {
        let of = |group: &Group| {
            let Group { nodes, graphs, start, each } = *group;
            (0..graphs).map(move |g| (nodes, start + g * each))
        };
        self.groups.iter().flat_map(of)
    }

    /// One row a graph, from the order in which they lie to that in which they were given.
    ///
    /// # Shapes
    /// - `x`, result: `[graphs, channels]`
    pub(crate) fn restore(&self, x: Tensor<2>) -> Tensor<2> {
        if self.order.is_sorted() {
            return x;
        }
        let mut places = vec![0i64; self.order.len()];
        self.order.iter().enumerate().for_each(|(place, &graph)| places[graph] = place as i64);
        let places = Tensor::from_data(places.as_slice(), &x.device());
        x.select(0, places)
    }
}
