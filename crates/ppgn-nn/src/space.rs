//! The space a network runs on: what is a row, and how rows of one level make those of the next.
//!
//! Blocks see four operations only. Block l takes rows of level l and gives rows of level l + 1:
//!
//! - *rows*: how many there are at a level ([`Space::rows`]);
//! - *lift*: what a row of level l is at level l + 1 (the skip connection's X);
//! - *product*: W at level l + 1 from m1(X) and m2(X) at level l;
//! - *pool*: one row per graph, over its diagonal pairs and over the others.
//!
//! Everything else in a network acts on a row alone, and so does not know the space. In [`Dense`] every ordered pair of
//! nodes is a row at every level; in [`Quotient`], every colour that 2-FWL gives pairs after as many rounds. For networks
//! of order k it is k-tuples and k-FWL. A space is no part of a network: it comes with the batch.

use crate::error::{Error, Result};
use crate::quotient::Quotient;
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
            Space::Dense(dense) => dense.order(),
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
}

/// All pairs of all graphs, graph after graph: pair (i, j) of a graph with n nodes at its row i*n + j. Or all k-tuples, in
/// lexicographic order.
///
/// Graphs lie in the order of their sizes, so that those of one size are one stretch of rows: neither product nor
/// pooling needs padding, masks or gathers. Results a graph come back in the order in which the graphs were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// The length of the tuples.
    order: usize,
    groups: Vec<Group>,
    /// Given number of each graph, in the order in which they lie.
    given: Vec<usize>,
    rows: usize,
}

/// Graphs of one size that lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Nodes of each.
    pub nodes: usize,
    /// How many graphs.
    pub graphs: usize,
    /// The first row of the first.
    pub start: usize,
    /// Rows of each.
    pub each: usize,
}

impl Group {
    /// Rows of the group.
    pub fn rows(&self) -> usize {
        self.graphs * self.each
    }
}

impl Dense {
    /// The space of graphs with so many nodes each.
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
        Ok(Dense { order: k, groups, given, rows })
    }

    /// How many graphs there are.
    pub fn graphs(&self) -> usize {
        self.given.len()
    }

    /// The length of the tuples that are its rows: 2 for pairs.
    pub fn order(&self) -> usize {
        self.order
    }

    /// How many rows, the sum of n*n over the graphs, or of n^k.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The given number of each graph, in the order in which they lie.
    pub fn given(&self) -> &[usize] {
        &self.given
    }

    /// The groups of graphs of one size, in the order in which they lie.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Nodes and first row of every graph, in the order in which they lie.
    pub fn starts(&self) -> impl Iterator<Item = (usize, usize)> {
        let of = |group: &Group| {
            let Group { nodes, graphs, start, each } = *group;
            (0..graphs).map(move |g| (nodes, start + g * each))
        };
        self.groups.iter().flat_map(of)
    }
}
