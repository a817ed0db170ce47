//! [`Graph`]: the one type that everything after the readers works on.
//!
//! A graph is immutable and shared by reference count, so it can be handed to threads and kept in several datasets
//! for the price of a pointer. Edges are in compressed rows: for every node the sorted list of nodes that its arcs
//! lead to. An undirected graph stores both directions of an edge, so its rows *are* the symmetric adjacency
//! matrix; a self-loop is stored once. Graphs are built by [`GraphBuilder`], which checks everything.

mod builder;
mod derive;
mod error;

pub use builder::{GraphBuilder, Merged};
pub use derive::Transposed;
pub use error::GraphError;

use crate::dataset::Item;
use std::sync::Arc;

/// A rectangular array, one row per node or arc; without columns where the graph lacks the feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table<T> {
    pub(crate) width: usize,
    pub(crate) values: Box<[T]>,
}

impl<T: Copy> Table<T> {
    pub(crate) fn new(width: usize, values: Vec<T>) -> Self {
        Table { width, values: values.into_boxed_slice() }
    }

    fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// The table without these columns.
    fn without(&self, columns: &[usize]) -> Self {
        if columns.is_empty() {
            return self.clone();
        }
        let kept: Vec<usize> = (0..self.width).filter(|c| !columns.contains(c)).collect();
        let rows = self.values.chunks_exact(self.width.max(1));
        Table::new(kept.len(), rows.flat_map(|row| kept.iter().map(|&c| row[c])).collect())
    }

    /// Row `order[i]` of this table as row i.
    fn gather(&self, order: impl IntoIterator<Item = usize>) -> Self {
        if self.width == 0 {
            return Table { width: 0, values: Box::default() };
        }
        let mut values = Vec::with_capacity(self.values.len());
        for i in order {
            values.extend_from_slice(self.row(i));
        }
        Table::new(self.width, values)
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    directed: bool,
    offsets: Box<[u32]>,
    targets: Box<[u32]>,
    node_labels: Table<i64>,
    node_attributes: Table<f64>,
    edge_labels: Table<i64>,
    edge_attributes: Table<f64>,
    positions: Option<Box<[[f64; 3]]>>,
}

/// An immutable graph with optional labels, attributes and positions. Cloning shares it.
///
/// ```text
///     0 --- 1
///     |     |      an undirected 4-cycle: 4 edges, 8 arcs
///     3 --- 2
/// ```
///
/// ```
/// use ppgn_graph::Graph;
/// let g = Graph::undirected(4, [(0, 1), (1, 2), (2, 3), (3, 0)])?;
/// assert_eq!((g.nodes(), g.edges(), g.arcs()), (4, 4, 8));
/// assert_eq!(g.neighbours(0), [1, 3]);
/// # Ok::<(), ppgn_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph(Arc<Inner>);

impl Graph {
    /// An undirected graph without features. Edges given twice are one.
    pub fn undirected(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Result<Self, GraphError> {
        let mut builder = GraphBuilder::undirected(nodes);
        builder.extend(edges);
        builder.build()
    }

    /// A directed graph without features. Edges given twice are one.
    pub fn directed(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Result<Self, GraphError> {
        let mut builder = GraphBuilder::directed(nodes);
        builder.extend(edges);
        builder.build()
    }

    /// The number of nodes, n.
    pub fn nodes(&self) -> usize {
        self.0.offsets.len() - 1
    }

    /// The number of entries of the adjacency matrix: a directed edge counts once, an undirected one twice, a
    /// self-loop once.
    pub fn arcs(&self) -> usize {
        self.0.targets.len()
    }

    /// The number of edges: an undirected edge counts once, and so does a self-loop.
    pub fn edges(&self) -> usize {
        if self.is_directed() { self.arcs() } else { (self.arcs() + self.self_loops()) / 2 }
    }

    /// The number of self-loops. O(m).
    pub fn self_loops(&self) -> usize {
        (0..self.nodes()).filter(|&u| self.neighbours(u).binary_search(&(u as u32)).is_ok()).count()
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.0.directed
    }

    /// Where each node's arcs begin, n + 1 numbers: row u is `targets()[offsets()[u]..offsets()[u + 1]]`.
    pub fn offsets(&self) -> &[u32] {
        &self.0.offsets
    }

    /// The ends of all arcs, row after row, each row in ascending order.
    pub fn targets(&self) -> &[u32] {
        &self.0.targets
    }

    /// The arcs of node u, as a range of arc numbers.
    pub fn arc_range(&self, u: usize) -> std::ops::Range<usize> {
        self.0.offsets[u] as usize..self.0.offsets[u + 1] as usize
    }

    /// The nodes that u's arcs lead to, in ascending order.
    pub fn neighbours(&self, u: usize) -> &[u32] {
        &self.0.targets[self.arc_range(u)]
    }

    /// The number of the arc from u to v, if there is one. O(log degree).
    pub fn arc(&self, u: usize, v: usize) -> Option<usize> {
        let range = self.arc_range(u);
        let v = u32::try_from(v).ok()?;
        self.0.targets[range.clone()].binary_search(&v).ok().map(|i| range.start + i)
    }

    /// Every edge once, as (u, v, arc number): u <= v where the graph is undirected.
    ///
    /// ```
    /// # use ppgn_graph::Graph;
    /// let g = Graph::undirected(3, [(2, 1), (0, 0)])?;
    /// let edges: Vec<_> = g.edge_list().map(|(u, v, _)| (u, v)).collect();
    /// assert_eq!(edges, [(0, 0), (1, 2)]);
    /// # Ok::<(), ppgn_graph::GraphError>(())
    /// ```
    pub fn edge_list(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let directed = self.is_directed();
        self.arc_list().filter(move |&(u, v, _)| directed || u <= v)
    }

    /// Every arc, as (u, v, arc number), in the order of the rows.
    pub fn arc_list(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.nodes())
            .flat_map(move |u| self.arc_range(u).map(move |a| (u, self.0.targets[a] as usize, a)))
    }

    /// The number of columns of categorical node labels.
    pub fn node_label_columns(&self) -> usize {
        self.0.node_labels.width
    }

    /// The labels of node u, one per column, as the raw values of the file (`Schema` numbers them 0..L-1).
    pub fn node_labels(&self, u: usize) -> &[i64] {
        self.0.node_labels.row(u)
    }

    /// The number of real attributes of a node.
    pub fn node_attribute_columns(&self) -> usize {
        self.0.node_attributes.width
    }

    /// The real attributes of node u.
    pub fn node_attributes(&self, u: usize) -> &[f64] {
        self.0.node_attributes.row(u)
    }

    /// The number of columns of categorical edge labels.
    pub fn edge_label_columns(&self) -> usize {
        self.0.edge_labels.width
    }

    /// The labels of an arc, one per column, as raw values. Both arcs of an undirected edge have the same.
    pub fn edge_labels(&self, arc: usize) -> &[i64] {
        self.0.edge_labels.row(arc)
    }

    /// The number of real attributes of an edge.
    pub fn edge_attribute_columns(&self) -> usize {
        self.0.edge_attributes.width
    }

    /// The real attributes of an arc. Both arcs of an undirected edge have the same.
    pub fn edge_attributes(&self, arc: usize) -> &[f64] {
        self.0.edge_attributes.row(arc)
    }

    /// The labels of all nodes, node after node: `nodes() * node_label_columns()` raw values.
    pub fn all_node_labels(&self) -> &[i64] {
        &self.0.node_labels.values
    }

    /// The attributes of all nodes, node after node.
    pub fn all_node_attributes(&self) -> &[f64] {
        &self.0.node_attributes.values
    }

    /// The labels of all arcs, arc after arc in the order of the rows.
    pub fn all_edge_labels(&self) -> &[i64] {
        &self.0.edge_labels.values
    }

    /// The attributes of all arcs, arc after arc in the order of the rows.
    pub fn all_edge_attributes(&self) -> &[f64] {
        &self.0.edge_attributes.values
    }

    /// Every node's place in space, where the data has one.
    pub fn positions(&self) -> Option<&[[f64; 3]]> {
        self.0.positions.as_deref()
    }

    /// Gives each node one label. For readers that know the labels only after the arcs.
    pub(crate) fn set_node_labels(&mut self, labels: Vec<i64>) {
        assert_eq!(labels.len(), self.nodes(), "one label per node");
        Arc::make_mut(&mut self.0).node_labels = Table::new(1, labels);
    }

    /// Gives each node `width` finite attributes.
    pub(crate) fn set_node_attributes(&mut self, width: usize, values: Vec<f64>) {
        assert_eq!(values.len(), self.nodes() * width, "`width` attributes per node");
        Arc::make_mut(&mut self.0).node_attributes = Table::new(width, values);
    }

    /// The graph without these columns of labels and attributes, of nodes or of edges.
    pub(crate) fn without(&self, item: Item, labels: &[usize], attributes: &[usize]) -> Self {
        let mut inner = (*self.0).clone();
        let (own, real) = match item {
            Item::Node => (&mut inner.node_labels, &mut inner.node_attributes),
            Item::Pair => (&mut inner.edge_labels, &mut inner.edge_attributes),
        };
        *own = own.without(labels);
        *real = real.without(attributes);
        Graph(Arc::new(inner))
    }

    /// The graph with each label replaced, given its column and raw value.
    pub(crate) fn relabelled(
        &self,
        node: impl Fn(usize, i64) -> i64,
        edge: impl Fn(usize, i64) -> i64,
    ) -> Self {
        fn each(table: &mut Table<i64>, new: impl Fn(usize, i64) -> i64) {
            let width = table.width.max(1);
            table.values.iter_mut().enumerate().for_each(|(i, raw)| *raw = new(i % width, *raw));
        }
        let mut inner = (*self.0).clone();
        each(&mut inner.node_labels, node);
        each(&mut inner.edge_labels, edge);
        Graph(Arc::new(inner))
    }

    /// The bytes that the graph holds.
    pub fn heap_bytes(&self) -> usize {
        fn of<T>(slice: &[T]) -> usize {
            std::mem::size_of_val(slice)
        }
        let g = &*self.0;
        std::mem::size_of::<Inner>()
            + of(&g.offsets)
            + of(&g.targets)
            + of(&g.node_labels.values)
            + of(&g.node_attributes.values)
            + of(&g.edge_labels.values)
            + of(&g.edge_attributes.values)
            + g.positions.as_deref().map_or(0, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn featured() -> Graph {
        let mut b = GraphBuilder::directed(3);
        b.edge_label_columns(1).edge_attribute_columns(2);
        b.edge_with(2, 0, &[7], &[0.5, 1.0]);
        b.edge_with(0, 1, &[-3], &[2.0, 3.0]);
        b.edge_with(0, 0, &[1], &[4.0, 5.0]);
        b.node_labels(2, vec![1, 2, 3, 4, 5, 6]).node_attributes(1, vec![0.1, 0.2, 0.3]);
        b.positions(vec![[0.0; 3], [1.0; 3], [2.0; 3]]);
        b.build().unwrap()
    }

    #[test]
    fn rows_are_sorted_and_features_follow() {
        let g = featured();
        assert_eq!(g.neighbours(0), [0, 1]);
        assert_eq!(g.edge_labels(g.arc(0, 1).unwrap()), [-3]);
        assert_eq!(g.edge_attributes(g.arc(2, 0).unwrap()), [0.5, 1.0]);
        assert_eq!(g.arc(1, 0), None);
        assert_eq!((g.edges(), g.self_loops()), (3, 1));
        assert_eq!(g.all_node_labels(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(g.all_node_attributes(), [0.1, 0.2, 0.3]);
        assert_eq!(g.all_edge_labels(), [1, -3, 7]);
        assert_eq!(g.all_edge_attributes(), [4.0, 5.0, 2.0, 3.0, 0.5, 1.0]);
    }

    #[test]
    fn null_graph() {
        let g = Graph::undirected(0, []).unwrap();
        assert_eq!((g.nodes(), g.edges(), g.arcs()), (0, 0, 0));
        assert_eq!(g.permute(&[]).unwrap(), g);
    }
}
