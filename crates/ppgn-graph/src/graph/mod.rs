//! [`Graph`]: the one type that everything after the readers works on.
//!
//! A graph is immutable and shared by reference count, so it can be handed to threads and kept in several datasets
//! for the price of a pointer. Edges are in compressed rows: for every node the sorted list of nodes that its arcs
//! lead to. An undirected graph stores both directions of an edge, so its rows *are* the symmetric adjacency
//! matrix; a self-loop is stored once. Graphs are built by [`GraphBuilder`], which checks everything.

mod builder;

pub use builder::{GraphBuilder, Merged};

use crate::random::Stream;
use std::sync::Arc;

/// Why a graph could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GraphError {
    #[error("node {node} is out of range, the graph has {nodes} nodes (numbered from 0)")]
    NodeOutOfRange { node: u64, nodes: usize },
    #[error("a graph with {nodes} nodes is too large, at most {} are possible", u32::MAX - 1)]
    TooManyNodes { nodes: u64 },
    #[error("a graph with {arcs} directed edges is too large, at most {} are possible", u32::MAX)]
    TooManyEdges { arcs: u64 },
    #[error("{what}: {got} values, but {wanted} are needed")]
    Length { what: &'static str, got: usize, wanted: usize },
    #[error("{what} of {whose} is not a finite number")]
    NotFinite { what: &'static str, whose: String },
    #[error("edge {u} {v} is there twice with different labels or attributes")]
    Conflict { u: u32, v: u32 },
    #[error("edge {u} {v} has no equal edge {v} {u}, so the graph is not undirected")]
    NotSymmetric { u: u32, v: u32 },
    #[error("not a permutation of 0..{nodes}")]
    NotPermutation { nodes: usize },
}

/// A rectangular array, one row a node or arc; no columns where the graph has no such feature.
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

    /// The arcs by their ends: the compressed rows of the transposed adjacency. O(n + m).
    pub fn transposed(&self) -> Transposed {
        let n = self.nodes();
        let mut offsets = vec![0u32; n + 1];
        for &v in self.targets() {
            offsets[v as usize + 1] += 1;
        }
        for u in 0..n {
            offsets[u + 1] += offsets[u];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0u32; self.arcs()];
        let mut arcs = vec![0u32; self.arcs()];
        for (u, v, a) in self.arc_list() {
            let slot = next[v] as usize;
            next[v] += 1;
            sources[slot] = u as u32;
            arcs[slot] = a as u32;
        }
        Transposed { offsets, sources, arcs }
    }

    /// How many columns of categorical node labels there are.
    pub fn node_label_columns(&self) -> usize {
        self.0.node_labels.width
    }

    /// The labels of node u, one a column, as raw values of the file (`Schema` numbers them 0..L-1).
    pub fn node_labels(&self, u: usize) -> &[i64] {
        self.0.node_labels.row(u)
    }

    /// How many real attributes a node has.
    pub fn node_attribute_columns(&self) -> usize {
        self.0.node_attributes.width
    }

    /// The real attributes of node u.
    pub fn node_attributes(&self, u: usize) -> &[f64] {
        self.0.node_attributes.row(u)
    }

    /// How many columns of categorical edge labels there are.
    pub fn edge_label_columns(&self) -> usize {
        self.0.edge_labels.width
    }

    /// The labels of an arc, one a column, as raw values. Both arcs of an undirected edge have the same.
    pub fn edge_labels(&self, arc: usize) -> &[i64] {
        self.0.edge_labels.row(arc)
    }

    /// How many real attributes an edge has.
    pub fn edge_attribute_columns(&self) -> usize {
        self.0.edge_attributes.width
    }

    /// The real attributes of an arc. Both arcs of an undirected edge have the same.
    pub fn edge_attributes(&self, arc: usize) -> &[f64] {
        self.0.edge_attributes.row(arc)
    }

    /// Every node's place in space, where the data has one.
    pub fn positions(&self) -> Option<&[[f64; 3]]> {
        self.0.positions.as_deref()
    }

    /// Relabels the nodes: node u becomes node `permutation[u]`. O(n + m log(degree)).
    ///
    /// ```
    /// # use ppgn_graph::Graph;
    /// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
    /// let relabelled = path.permute(&[1, 0, 2])?;      // the middle node is now node 0
    /// assert_eq!(relabelled.neighbours(0), [1, 2]);
    /// # Ok::<(), ppgn_graph::GraphError>(())
    /// ```
    pub fn permute(&self, permutation: &[u32]) -> Result<Self, GraphError> {
        let n = self.nodes();
        let error = GraphError::NotPermutation { nodes: n };
        if permutation.len() != n {
            return Err(error);
        }
        let mut inverse = vec![u32::MAX; n];
        for (u, &p) in permutation.iter().enumerate() {
            match inverse.get_mut(p as usize) {
                Some(slot) if *slot == u32::MAX => *slot = u as u32,
                _ => return Err(error),
            }
        }
        let mut offsets = Vec::with_capacity(n + 1);
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.arcs()); // (new target, old arc)
        offsets.push(0);
        for &u in &inverse {
            let start = order.len();
            order.extend(
                self.arc_range(u as usize).map(|a| (permutation[self.0.targets[a] as usize], a as u32)),
            );
            order[start..].sort_unstable();
            offsets.push(order.len() as u32);
        }
        let old_nodes = || inverse.iter().map(|&u| u as usize);
        let old_arcs = || order.iter().map(|&(_, a)| a as usize);
        Ok(Graph(Arc::new(Inner {
            directed: self.0.directed,
            offsets: offsets.into(),
            targets: order.iter().map(|&(v, _)| v).collect(),
            node_labels: self.0.node_labels.gather(old_nodes()),
            node_attributes: self.0.node_attributes.gather(old_nodes()),
            edge_labels: self.0.edge_labels.gather(old_arcs()),
            edge_attributes: self.0.edge_attributes.gather(old_arcs()),
            positions: self.0.positions.as_ref().map(|p| old_nodes().map(|u| p[u]).collect()),
        })))
    }

    /// A uniformly random relabelling.
    pub fn permute_randomly(&self, random: &mut Stream) -> Self {
        self.permute(&random.permutation(self.nodes())).expect("a permutation of the nodes")
    }

    /// The first arc that has no equal arc in the other direction, if any. O(m), and O(m log(degree)) if there is one.
    pub fn asymmetry(&self) -> Option<(u32, u32)> {
        if !self.is_directed() || self.is_symmetric() {
            return None;
        }
        let equal = |a, b| {
            self.edge_labels(a) == self.edge_labels(b) && self.edge_attributes(a) == self.edge_attributes(b)
        };
        self.arc_list()
            .find(|&(u, v, a)| !self.arc(v, u).is_some_and(|back| equal(a, back)))
            .map(|(u, v, _)| (u as u32, v as u32))
    }

    /// Whether every arc has an equal arc in the other direction.
    fn is_symmetric(&self) -> bool {
        let (offsets, targets) = (self.offsets(), self.targets());
        let featured = self.edge_label_columns() + self.edge_attribute_columns() > 0;
        // Rows are sorted: while node u's arcs upwards are met in order of u, the arcs back to it stand in front of
        // what is left of their rows. So `next[v]` walks the part of row v that leads downwards, once.
        let mut next: Vec<u32> = offsets[..self.nodes()].to_vec();
        for u in 0..self.nodes() {
            let end = offsets[u + 1] as usize;
            let mut arc = next[u] as usize;
            if arc < end && targets[arc] as usize == u {
                arc += 1;
            }
            for (a, &v) in (arc..end).zip(&targets[arc..end]) {
                // An arc downwards here was met by none that leads up to u.
                if v as usize <= u {
                    return false;
                }
                let back = next[v as usize];
                next[v as usize] = back + 1;
                if back >= offsets[v as usize + 1] || targets[back as usize] as usize != u {
                    return false;
                }
                let back = back as usize;
                if featured
                    && (self.edge_labels(a) != self.edge_labels(back)
                        || self.edge_attributes(a) != self.edge_attributes(back))
                {
                    return false;
                }
            }
        }
        true
    }

    /// The same graph as an undirected one: every arc must have an equal arc in the other direction. O(m).
    pub fn to_undirected(self) -> Result<Self, GraphError> {
        if let Some((u, v)) = self.asymmetry() {
            return Err(GraphError::NotSymmetric { u, v });
        }
        Ok(self.with_direction(false))
    }

    /// The same graph as a directed one: every undirected edge becomes two arcs.
    pub fn to_directed(self) -> Self {
        self.with_direction(true)
    }

    /// The same arcs under another word: for `directed == false` the caller knows that they are symmetric.
    ///
    /// In place, unless the graph is shared.
    pub(crate) fn with_direction(mut self, directed: bool) -> Self {
        debug_assert!(directed || self.asymmetry().is_none());
        Arc::make_mut(&mut self.0).directed = directed;
        self
    }

    /// Gives each node one label. For readers that know the labels only after the arcs.
    pub(crate) fn set_node_labels(&mut self, labels: Vec<i64>) {
        assert_eq!(labels.len(), self.nodes(), "one label a node");
        Arc::make_mut(&mut self.0).node_labels = Table::new(1, labels);
    }

    /// Gives each node `width` finite attributes.
    pub(crate) fn set_node_attributes(&mut self, width: usize, values: Vec<f64>) {
        assert_eq!(values.len(), self.nodes() * width, "`width` attributes a node");
        Arc::make_mut(&mut self.0).node_attributes = Table::new(width, values);
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

/// The arcs of a graph sorted by their ends: see [`Graph::transposed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transposed {
    /// Where each node's incoming arcs begin, n + 1 numbers.
    pub offsets: Vec<u32>,
    /// The node that each arc comes from, ascending within a row.
    pub sources: Vec<u32>,
    /// The arc's number in the graph.
    pub arcs: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn featured() -> Graph {
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
    }

    #[test]
    fn permuting_moves_features_with_their_nodes() {
        let g = featured();
        let p = [2u32, 0, 1];
        let h = g.permute(&p).unwrap();
        for (u, v, a) in g.arc_list() {
            let b = h.arc(p[u] as usize, p[v] as usize).unwrap();
            assert_eq!(g.edge_labels(a), h.edge_labels(b));
            assert_eq!(g.edge_attributes(a), h.edge_attributes(b));
        }
        for (u, v) in p.iter().map(|&v| v as usize).enumerate() {
            assert_eq!(g.node_labels(u), h.node_labels(v));
            assert_eq!(g.positions().unwrap()[u], h.positions().unwrap()[v]);
        }
        let mut inverse = [0u32; 3];
        for (u, &x) in p.iter().enumerate() {
            inverse[x as usize] = u as u32;
        }
        assert_eq!(h.permute(&inverse).unwrap(), g);
        assert!(g.permute(&[0, 0, 1]).is_err());
        assert!(g.permute(&[0, 1]).is_err());
        assert!(g.permute(&[0, 1, 3]).is_err());
    }

    #[test]
    fn directions() {
        let g = Graph::undirected(3, [(0, 1), (1, 1), (1, 2)]).unwrap();
        assert_eq!((g.edges(), g.arcs()), (3, 5));
        let d = g.clone().to_directed();
        assert_eq!((d.edges(), d.is_directed()), (5, true));
        assert_eq!(d.to_undirected().unwrap(), g);
        assert_eq!(featured().to_undirected(), Err(GraphError::NotSymmetric { u: 0, v: 1 }));
        assert_eq!(
            Graph::directed(2, [(1, 0)]).unwrap().to_undirected(),
            Err(GraphError::NotSymmetric { u: 1, v: 0 })
        );
    }

    #[test]
    fn asymmetry_is_the_first_arc_without_an_equal_reverse() {
        let mut random = Stream::new(0, "asymmetry", &[]);
        let mut symmetric = 0;
        for _ in 0..2000 {
            let n = 1 + random.below(5);
            let mut b = GraphBuilder::directed(n);
            b.edge_label_columns(1);
            for _ in 0..random.below(5) {
                let (u, v) = (random.below(n) as u32, random.below(n) as u32);
                b.edge_with(u, v, &[1], &[]);
                if random.below(8) > 0 {
                    b.edge_with(v, u, &[1 + i64::from(random.below(8) == 0)], &[]);
                }
            }
            let (g, _) = b.build_merging().unwrap();
            let label = |u: usize, v: usize| g.arc(u, v).map(|a| g.edge_labels(a)[0]);
            let mut pairs = (0..n).flat_map(|u| (0..n).map(move |v| (u, v)));
            let expected = pairs.find(|&(u, v)| label(u, v).is_some() && label(u, v) != label(v, u));
            assert_eq!(g.asymmetry(), expected.map(|(u, v)| (u as u32, v as u32)), "{g:?}");
            symmetric += usize::from(expected.is_none());
        }
        assert!((200..1800).contains(&symmetric), "{symmetric}");
    }

    #[test]
    fn transposed_rows() {
        let t = featured().transposed();
        assert_eq!(t.offsets, [0, 2, 3, 3]);
        assert_eq!(t.sources, [0, 2, 0]);
        assert_eq!(t.arcs, [0, 2, 1]);
    }

    #[test]
    fn null_graph() {
        let g = Graph::undirected(0, []).unwrap();
        assert_eq!((g.nodes(), g.edges(), g.arcs()), (0, 0, 0));
        assert_eq!(g.permute(&[]).unwrap(), g);
    }
}
