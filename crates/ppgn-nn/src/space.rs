//! The space a network runs on: what a row is, and how the rows of one level give those of the next.
//!
//! Blocks use only four operations. Block l maps rows of level l to rows of level l + 1:
//!
//! - *rows*: the number of rows at a level ([`Space::rows`]);
//! - *lift*: the row of level l that each row of level l + 1 comes from (X on the skip connection);
//! - *product*: W at level l + 1 from m1(X) and m2(X) at level l;
//! - *pool*: one row per graph, over its diagonal pairs and over the others.
//!
//! Everything else in a network acts on each row separately and does not depend on the space. In [`Dense`], every
//! ordered pair of nodes is a row at every level; in [`Quotient`], a row of level l is a colour of pairs after l rounds
//! of 2-FWL. Networks of order k use k-tuples and k-FWL; those of order 1 use nodes, messages and 1-WL. A space belongs to a batch, not to a network.

use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::quotient::Quotient;
use ppgn_kernels::Messages;
use std::sync::Arc;

/// What the rows of a batch are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Space {
    /// One row per ordered pair of nodes of every graph.
    Dense(Dense),
    /// One row per colour of such pairs.
    Quotient(Arc<Quotient>),
}

impl Space {
    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        match self {
            Space::Dense(dense) => dense.graphs(),
            Space::Quotient(quotient) => quotient.graphs(),
        }
    }

    /// The order of the tuples that rows represent: 2 for pairs.
    pub fn order(&self) -> usize {
        match self {
            Space::Dense(dense) => dense.order(),
            Space::Quotient(quotient) => quotient.order(),
        }
    }

    /// The number of nodes of every graph, in the order in which the graphs were given.
    pub fn nodes(&self) -> Vec<usize> {
        match self {
            Space::Dense(dense) => dense.firsts().into_iter().map(|(nodes, _)| nodes).collect(),
            Space::Quotient(quotient) => quotient.nodes().to_vec(),
        }
    }

    /// Who the rows of a level hear from, those of the level below; at order 1 only, and not at level 0.
    pub fn messages(&self, level: usize) -> Option<Messages<'_>> {
        let edges = match self {
            Space::Dense(dense) => dense.edges.as_deref(),
            Space::Quotient(quotient) => quotient.levels[level].edges.as_ref(),
        };
        edges.map(Edges::messages)
    }

    /// The number of rows before block `level` (and after block `level - 1`).
    ///
    /// # Panics
    /// On the quotient space, if `level` exceeds the depth its colours were computed for.
    pub fn rows(&self, level: usize) -> usize {
        match self {
            Space::Dense(dense) => dense.rows(),
            Space::Quotient(quotient) => quotient.rows(level),
        }
    }
}

/// All pairs of all graphs, graph after graph: pair (i, j) of a graph with n nodes is its row i*n + j. For order k, all
/// k-tuples in lexicographic order.
///
/// Graphs are stored in order of size, so that graphs of the same size form one contiguous range of rows: neither
/// product nor pooling needs padding, masks or gathers. Results per graph are returned in the order in which the graphs
/// were given.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// The order of the tuples.
    order: usize,
    groups: Vec<Group>,
    /// The original index of each graph, in storage order.
    given: Vec<usize>,
    rows: usize,
    /// Who every node hears from; at order 1 only.
    pub(crate) edges: Option<Arc<Edges>>,
}

/// Consecutive graphs of the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Nodes per graph.
    pub nodes: usize,
    /// The number of graphs.
    pub graphs: usize,
    /// The first row of the first graph.
    pub start: usize,
    /// Rows per graph.
    pub each: usize,
}

impl Group {
    /// Rows of the whole group.
    pub fn rows(&self) -> usize {
        self.graphs * self.each
    }
}

impl Dense {
    /// The space of graphs with these numbers of nodes.
    ///
    /// ```
    /// use ppgn_nn::Dense;
    /// let dense = Dense::new(&[3, 2, 3])?;
    /// assert_eq!((dense.graphs(), dense.rows(), dense.given()), (3, 22, &[1, 0, 2][..]));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn new(nodes: &[usize]) -> Result<Self> {
        Self::of_tuples(2, nodes)
    }

    /// The space of the k-tuples of such graphs.
    pub fn of_tuples(k: usize, nodes: &[usize]) -> Result<Self> {
        if nodes.is_empty() {
            return Err(Error::call("a batch needs at least one graph"));
        }
        let mut given: Vec<usize> = (0..nodes.len()).collect();
        given.sort_by_key(|&graph| nodes[graph]);
        let mut groups: Vec<Group> = Vec::new();
        let mut rows = 0usize;
        for &graph in &given {
            let n = nodes[graph];
            let each = u32::try_from(k).ok().and_then(|k| n.checked_pow(k));
            let sum = each.and_then(|each| Some((each, rows.checked_add(each)?)));
            let (each, next) = sum.ok_or_else(|| {
                let what = if k == 2 { "pairs".to_string() } else { format!("{k}-tuples") };
                Error::unfit(format!("graph {graph} of the batch has {n} nodes, too many {what} to index"))
            })?;
            match groups.last_mut() {
                Some(group) if group.nodes == n => group.graphs += 1,
                _ => groups.push(Group { nodes: n, graphs: 1, start: rows, each }),
            }
            rows = next;
        }
        Ok(Dense { order: k, groups, given, rows, edges: None })
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.given.len()
    }

    /// The order of the tuples that are its rows: 2 for pairs.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of rows: the sum of n*n, or n^k, over the graphs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The original index of each graph, in storage order.
    pub fn given(&self) -> &[usize] {
        &self.given
    }

    /// The groups of graphs of equal size, in storage order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Number of nodes and first row of every graph, in the order in which the graphs were given.
    pub(crate) fn firsts(&self) -> Vec<(usize, usize)> {
        let mut firsts = vec![(0, 0); self.graphs()];
        self.given.iter().zip(self.starts()).for_each(|(&graph, first)| firsts[graph] = first);
        firsts
    }

    /// Number of nodes and first row of every graph, in storage order.
    pub fn starts(&self) -> impl Iterator<Item = (usize, usize)> {
        let of = |group: &Group| {
            let Group { nodes, graphs, start, each } = *group;
            (0..graphs).map(move |g| (nodes, start + g * each))
        };
        self.groups.iter().flat_map(of)
    }
}
