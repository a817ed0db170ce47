//! The checked way to a [`Graph`]: collects nodes, edges and features in any order, and refuses what cannot be.

use super::{Graph, GraphError, Inner, Table};
use std::sync::Arc;

/// Builds a [`Graph`]. Sizes and numbers are checked when [`build`](GraphBuilder::build) is called, so filling it
/// in needs no error handling.
///
/// ```
/// use ppgn_graph::GraphBuilder;
/// let mut b = GraphBuilder::undirected(2);
/// b.edge_label_columns(1).edge_with(0, 1, &[2], &[]);   // a double bond
/// b.node_labels(1, vec![6, 8]);                         // between carbon and oxygen
/// let g = b.build()?;
/// assert_eq!(g.edge_labels(g.arc(1, 0).unwrap()), [2]);
/// # Ok::<(), ppgn_graph::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    nodes: usize,
    directed: bool,
    edges: Vec<(u32, u32)>,
    node_labels: Table<i64>,
    node_attributes: Table<f64>,
    edge_label_columns: usize,
    edge_labels: Vec<i64>,
    edge_attribute_columns: usize,
    edge_attributes: Vec<f64>,
    positions: Option<Vec<[f64; 3]>>,
}

/// How many edges were given more than once: see [`GraphBuilder::build_merging`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Merged {
    /// Edges beyond the first between the same two nodes.
    pub duplicates: usize,
    /// Those of them whose labels or attributes differ from the first's.
    pub conflicts: usize,
}

impl GraphBuilder {
    /// A builder of an undirected graph: an edge (u, v) is also the edge (v, u).
    pub fn undirected(nodes: usize) -> Self {
        Self::new(nodes, false)
    }

    /// A builder of a directed graph.
    pub fn directed(nodes: usize) -> Self {
        Self::new(nodes, true)
    }

    /// A builder of a graph with `nodes` nodes, numbered from 0.
    pub fn new(nodes: usize, directed: bool) -> Self {
        GraphBuilder {
            nodes,
            directed,
            edges: Vec::new(),
            node_labels: Table::default(),
            node_attributes: Table::default(),
            edge_label_columns: 0,
            edge_labels: Vec::new(),
            edge_attribute_columns: 0,
            edge_attributes: Vec::new(),
            positions: None,
        }
    }

    /// Adds an edge without features.
    pub fn edge(&mut self, u: u32, v: u32) -> &mut Self {
        self.edges.push((u, v));
        self
    }

    /// Adds edges without features.
    pub fn extend(&mut self, edges: impl IntoIterator<Item = (u32, u32)>) -> &mut Self {
        self.edges.extend(edges);
        self
    }

    /// Adds an edge with its labels and attributes; their numbers are the column counts.
    pub fn edge_with(&mut self, u: u32, v: u32, labels: &[i64], attributes: &[f64]) -> &mut Self {
        self.edges.push((u, v));
        self.edge_labels.extend_from_slice(labels);
        self.edge_attributes.extend_from_slice(attributes);
        self
    }

    /// Says how many labels each edge has.
    pub fn edge_label_columns(&mut self, columns: usize) -> &mut Self {
        self.edge_label_columns = columns;
        self
    }

    /// Says how many attributes each edge has.
    pub fn edge_attribute_columns(&mut self, columns: usize) -> &mut Self {
        self.edge_attribute_columns = columns;
        self
    }

    /// Sets the labels of all nodes, `columns` per node, node after node.
    pub fn node_labels(&mut self, columns: usize, values: Vec<i64>) -> &mut Self {
        self.node_labels = Table::new(columns, values);
        self
    }

    /// Sets the attributes of all nodes, `columns` per node, node after node.
    pub fn node_attributes(&mut self, columns: usize, values: Vec<f64>) -> &mut Self {
        self.node_attributes = Table::new(columns, values);
        self
    }

    /// Sets every node's place in space.
    pub fn positions(&mut self, positions: Vec<[f64; 3]>) -> &mut Self {
        self.positions = Some(positions);
        self
    }

    /// The graph. Edges given twice are merged if they agree in labels and attributes, else an error. O(n + m).
    pub fn build(self) -> Result<Graph, GraphError> {
        self.assemble(|u, v| Err(GraphError::Conflict { u, v })).map(|(graph, _)| graph)
    }

    /// The graph and how many edges were merged; of edges that do not agree, the first one given stands. O(n + m).
    pub fn build_merging(self) -> Result<(Graph, Merged), GraphError> {
        self.assemble(|_, _| Ok(()))
    }

    fn check(&self) -> Result<(), GraphError> {
        check_nodes(self.nodes)?;
        let length = |what, got, wanted| match got == wanted {
            true => Ok(()),
            false => Err(GraphError::Length { what, got, wanted }),
        };
        let (n, m) = (self.nodes, self.edges.len());
        length("node labels", self.node_labels.values.len(), n * self.node_labels.width)?;
        length("node attributes", self.node_attributes.values.len(), n * self.node_attributes.width)?;
        length("edge labels", self.edge_labels.len(), m * self.edge_label_columns)?;
        length("edge attributes", self.edge_attributes.len(), m * self.edge_attribute_columns)?;
        if let Some(positions) = &self.positions {
            length("positions", positions.len(), n)?;
            if let Some(u) = positions.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
                return Err(GraphError::NotFinite { what: "the position", whose: format!("node {u}") });
            }
        }
        if let Some(i) = self.node_attributes.values.iter().position(|x| !x.is_finite()) {
            let whose = format!("node {}", i / self.node_attributes.width);
            return Err(GraphError::NotFinite { what: "an attribute", whose });
        }
        if let Some(i) = self.edge_attributes.iter().position(|x| !x.is_finite()) {
            let (u, v) = self.edges[i / self.edge_attribute_columns];
            return Err(GraphError::NotFinite { what: "an attribute", whose: format!("edge {u} {v}") });
        }
        if let Some(&(u, v)) = self.edges.iter().find(|&&(u, v)| u.max(v) as usize >= n) {
            return Err(GraphError::NodeOutOfRange { node: u64::from(u.max(v)), nodes: n });
        }
        let arcs = if self.directed { m as u64 } else { 2 * m as u64 };
        if arcs > u64::from(u32::MAX) {
            return Err(GraphError::TooManyEdges { arcs });
        }
        Ok(())
    }

    fn assemble(
        self,
        on_conflict: impl Fn(u32, u32) -> Result<(), GraphError>,
    ) -> Result<(Graph, Merged), GraphError> {
        self.check()?;
        let labels = Table::new(self.edge_label_columns, self.edge_labels);
        let attributes = Table::new(self.edge_attribute_columns, self.edge_attributes);
        // (from, to, the number of the edge as given), sorted by two stable counting passes: O(n + m).
        let mut arcs: Vec<(u32, u32, u32)> = Vec::with_capacity(self.edges.len() * 2);
        for (i, &(u, v)) in self.edges.iter().enumerate() {
            arcs.push((u, v, i as u32));
            if !self.directed && u != v {
                arcs.push((v, u, i as u32));
            }
        }
        let mut scratch = vec![(0, 0, 0); arcs.len()];
        counting_sort(self.nodes, &arcs, &mut scratch, |a| a.1);
        let offsets = counting_sort(self.nodes, &scratch, &mut arcs, |a| a.0);
        drop(scratch);

        let mut merged = Merged::default();
        let mut kept = Vec::with_capacity(arcs.len());
        let mut new_offsets = Vec::with_capacity(self.nodes + 1);
        new_offsets.push(0u32);
        for u in 0..self.nodes {
            let row_start = kept.len();
            for &(_, v, edge) in &arcs[offsets[u] as usize..offsets[u + 1] as usize] {
                match kept[row_start..].last() {
                    Some(&(last, first)) if last == v => {
                        if self.directed || u as u32 <= v {
                            merged.duplicates += 1;
                            let (a, b) = (first as usize, edge as usize);
                            if labels.row(a) != labels.row(b) || attributes.row(a) != attributes.row(b) {
                                merged.conflicts += 1;
                                on_conflict(u as u32, v)?;
                            }
                        }
                    }
                    _ => kept.push((v, edge)),
                }
            }
            new_offsets.push(kept.len() as u32);
        }
        let order = || kept.iter().map(|&(_, e)| e as usize);
        let graph = Graph(Arc::new(Inner {
            directed: self.directed,
            offsets: new_offsets.into(),
            targets: kept.iter().map(|&(v, _)| v).collect(),
            node_labels: self.node_labels,
            node_attributes: self.node_attributes,
            edge_labels: labels.gather(order()),
            edge_attributes: attributes.gather(order()),
            positions: self.positions.map(Vec::into_boxed_slice),
        }));
        Ok((graph, merged))
    }

    /// A directed graph from its rows as they stand in a file: `targets[offsets[u]..offsets[u + 1]]` are the ends of
    /// u's arcs in any order. Faster than adding edges one by one; rows that are sorted already are not touched.
    ///
    /// `labels` has one label per node, or is empty. O(n + m), and O(m log m) for unsorted rows.
    pub fn from_rows(
        offsets: Vec<u32>,
        mut targets: Vec<u32>,
        labels: Vec<i64>,
    ) -> Result<(Graph, Merged), GraphError> {
        let nodes = offsets.len().checked_sub(1).ok_or(GraphError::Length {
            what: "row offsets",
            got: 0,
            wanted: 1,
        })?;
        check_nodes(nodes)?;
        if offsets[0] != 0 || offsets[nodes] as usize != targets.len() || !offsets.is_sorted() {
            return Err(GraphError::Length {
                what: "row offsets",
                got: offsets[nodes] as usize,
                wanted: targets.len(),
            });
        }
        if !labels.is_empty() && labels.len() != nodes {
            return Err(GraphError::Length { what: "node labels", got: labels.len(), wanted: nodes });
        }
        if let Some(&v) = targets.iter().find(|&&v| v as usize >= nodes) {
            return Err(GraphError::NodeOutOfRange { node: u64::from(v), nodes });
        }
        let mut sorted = true;
        for row in offsets.windows(2) {
            let row = &mut targets[row[0] as usize..row[1] as usize];
            if !row.is_sorted_by(|a, b| a < b) {
                row.sort_unstable();
                sorted = false;
            }
        }
        let mut merged = Merged::default();
        let mut offsets = offsets;
        if !sorted {
            let before = targets.len();
            let mut end = 0;
            let mut start = 0;
            for u in 0..nodes {
                let stop = offsets[u + 1] as usize;
                for i in start..stop {
                    if i == start || targets[i] != targets[i - 1] {
                        targets[end] = targets[i];
                        end += 1;
                    }
                }
                start = stop;
                offsets[u + 1] = end as u32;
            }
            targets.truncate(end);
            merged.duplicates = before - end;
        }
        let width = usize::from(!labels.is_empty());
        let graph = Graph(Arc::new(Inner {
            directed: true,
            offsets: offsets.into(),
            targets: targets.into(),
            node_labels: Table::new(width, labels),
            node_attributes: Table::default(),
            edge_labels: Table::default(),
            edge_attributes: Table::default(),
            positions: None,
        }));
        Ok((graph, merged))
    }
}

fn check_nodes(nodes: usize) -> Result<(), GraphError> {
    match nodes < u32::MAX as usize {
        true => Ok(()),
        false => Err(GraphError::TooManyNodes { nodes: nodes as u64 }),
    }
}

/// Sorts stably by a key in `0..n` from one slice into another of the same length; returns where each key begins.
fn counting_sort<T: Copy>(n: usize, from: &[T], to: &mut [T], key: impl Fn(&T) -> u32) -> Vec<u32> {
    let mut starts = vec![0u32; n + 1];
    for item in from {
        starts[key(item) as usize + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    for item in from {
        let slot = &mut next[key(item) as usize];
        to[*slot as usize] = *item;
        *slot += 1;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_merge_and_conflicts_are_told() {
        let mut b = GraphBuilder::undirected(3);
        b.edge_label_columns(1);
        b.edge_with(0, 1, &[5], &[]).edge_with(1, 0, &[5], &[]).edge_with(2, 2, &[1], &[]).edge_with(
            2,
            2,
            &[1],
            &[],
        );
        let (g, merged) = b.clone().build_merging().unwrap();
        assert_eq!((g.edges(), merged), (2, Merged { duplicates: 2, conflicts: 0 }));
        b.edge_with(1, 0, &[6], &[]);
        let (g, merged) = b.clone().build_merging().unwrap();
        assert_eq!(merged, Merged { duplicates: 3, conflicts: 1 });
        assert_eq!(g.edge_labels(g.arc(1, 0).unwrap()), [5]);
        assert_eq!(b.build(), Err(GraphError::Conflict { u: 0, v: 1 }));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(Graph::undirected(2, [(0, 2)]), Err(GraphError::NodeOutOfRange { node: 2, nodes: 2 }));
        let mut b = GraphBuilder::directed(2);
        b.node_labels(1, vec![1]);
        assert!(matches!(b.build(), Err(GraphError::Length { .. })));
        let mut b = GraphBuilder::directed(2);
        b.node_attributes(1, vec![1.0, f64::NAN]);
        assert_eq!(b.build().unwrap_err().to_string(), "an attribute of node 1 is not a finite number");
        let mut b = GraphBuilder::directed(2);
        b.edge_attribute_columns(1).edge_with(0, 1, &[], &[f64::INFINITY]);
        assert_eq!(b.build().unwrap_err().to_string(), "an attribute of edge 0 1 is not a finite number");
        assert!(matches!(
            GraphBuilder::directed(u32::MAX as usize).build(),
            Err(GraphError::TooManyNodes { .. })
        ));
    }

    #[test]
    fn rows_in_any_order_with_duplicates() {
        let (g, merged) =
            GraphBuilder::from_rows(vec![0, 3, 5, 5], vec![2, 1, 2, 0, 0], vec![4, 5, 6]).unwrap();
        assert_eq!((g.neighbours(0), g.neighbours(1), g.neighbours(2)), (&[1, 2][..], &[0][..], &[][..]));
        assert_eq!(merged.duplicates, 2);
        assert_eq!(g.node_labels(2), [6]);
        assert!(GraphBuilder::from_rows(vec![], vec![], vec![]).is_err());
        assert!(GraphBuilder::from_rows(vec![0, 2], vec![0], vec![]).is_err());
        assert!(GraphBuilder::from_rows(vec![0, 1], vec![1], vec![]).is_err());
    }
}
