//! What is in a dataset, in numbers: counted graph by graph, so that it works on streams larger than memory.

use crate::dataset::{Header, Record};
use crate::error::Result;
use crate::format::Records;
use std::collections::BTreeMap;

/// Smallest, largest and mean of a column of numbers, and its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    /// How many numbers there were.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    squares: f64,
}

impl Range {
    /// Takes a number into account (Welford's update, which does not lose small deviations of large numbers).
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        (self.min, self.max) = if self.count == 1 { (x, x) } else { (self.min.min(x), self.max.max(x)) };
        let delta = x - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (x - self.mean);
    }

    /// The standard deviation (of the whole, not of a sample).
    pub fn deviation(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.squares / self.count as f64).sqrt() }
    }
}

/// Counts over a dataset.
///
/// ```
/// use ppgn_graph::{Dataset, Graph, format::Records, summary::Summary};
/// let d = Dataset::builder("d").graphs(vec![Graph::undirected(3, [(0, 1), (1, 2), (2, 2)])?]).build()?;
/// let s = Summary::of(Records::of(&d))?;
/// assert_eq!((s.graphs, s.nodes.mean, s.edges.mean, s.self_loops), (1, 3.0, 3.0, 1));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The number of graphs.
    pub graphs: usize,
    /// Nodes per graph.
    pub nodes: Range,
    /// Edges per graph: an undirected edge counts once, and so does a self-loop.
    pub edges: Range,
    /// Neighbours per node (in a directed graph, outgoing arcs).
    pub degrees: Range,
    /// How many graphs have each number of nodes.
    pub sizes: BTreeMap<usize, usize>,
    /// Self-loops in all graphs.
    pub self_loops: usize,
    /// Graphs without nodes.
    pub null_graphs: usize,
    /// Graphs with nodes but without edges.
    pub edgeless_graphs: usize,
    /// Graphs whose every arc has an equal arc in the other direction (all, where the dataset is undirected).
    pub symmetric_graphs: usize,
    /// Graphs of each class, in the order of the classes.
    pub class_counts: Vec<usize>,
    /// Graphs whose class is not known, where graphs have classes.
    pub unknown_classes: usize,
    /// Nodes of which something is known that is to be learned.
    pub known_nodes: u64,
    /// Ordered pairs of nodes of which something is known that is to be learned.
    pub known_pairs: u64,
    /// For every column of node labels, how many nodes have each raw value.
    pub node_labels: Vec<BTreeMap<i64, u64>>,
    /// For every column of edge labels, how many edges have each raw value.
    pub edge_labels: Vec<BTreeMap<i64, u64>>,
    /// The range of every node attribute.
    pub node_attributes: Vec<Range>,
    /// The range of every edge attribute.
    pub edge_attributes: Vec<Range>,
    /// The range of every target, over the graphs where it is known.
    pub targets: Vec<Range>,
}

impl Summary {
    /// Counts a stream to its end.
    pub fn of(records: Records<'_>) -> Result<Self> {
        let mut summary = Summary::new(&records.header);
        for record in records.records {
            summary.add(&records.header, &record?);
        }
        Ok(summary)
    }

    /// Nothing counted yet.
    pub fn new(header: &Header) -> Self {
        let schema = &header.schema;
        Summary {
            class_counts: vec![0; header.classes.as_ref().map_or(0, Vec::len)],
            node_labels: vec![BTreeMap::new(); schema.node_labels.len()],
            edge_labels: vec![BTreeMap::new(); schema.edge_labels.len()],
            node_attributes: vec![Range::default(); schema.node_attributes.len()],
            edge_attributes: vec![Range::default(); schema.edge_attributes.len()],
            targets: vec![Range::default(); header.targets.len()],
            ..Summary::default()
        }
    }

    /// Counts one graph. O(n + m).
    pub fn add(&mut self, header: &Header, record: &Record) {
        let g = &record.graph;
        let loops = g.self_loops();
        self.graphs += 1;
        self.nodes.add(g.nodes() as f64);
        self.edges.add(g.edges() as f64);
        *self.sizes.entry(g.nodes()).or_default() += 1;
        self.self_loops += loops;
        self.null_graphs += usize::from(g.nodes() == 0);
        self.edgeless_graphs += usize::from(g.nodes() > 0 && g.arcs() == 0);
        self.symmetric_graphs += usize::from(g.asymmetry().is_none());
        if let (Some(classes), Some(label)) = (&header.classes, record.label)
            && let Ok(class) = classes.binary_search(&label)
        {
            self.class_counts[class] += 1;
        }
        self.unknown_classes += usize::from(header.classes.is_some() && record.label.is_none());
        self.known_nodes += record.nodes.len() as u64;
        self.known_pairs += record.pairs.len() as u64;
        for u in 0..g.nodes() {
            self.degrees.add(g.neighbours(u).len() as f64);
            count(&mut self.node_labels, g.node_labels(u));
            range(&mut self.node_attributes, g.node_attributes(u));
        }
        if !self.edge_labels.is_empty() || !self.edge_attributes.is_empty() {
            for (_, _, arc) in g.edge_list() {
                count(&mut self.edge_labels, g.edge_labels(arc));
                range(&mut self.edge_attributes, g.edge_attributes(arc));
            }
        }
        range(&mut self.targets, &record.targets);
    }
}

fn count(columns: &mut [BTreeMap<i64, u64>], labels: &[i64]) {
    for (column, &label) in columns.iter_mut().zip(labels) {
        *column.entry(label).or_default() += 1;
    }
}

fn range(columns: &mut [Range], values: &[f64]) {
    for (column, &x) in columns.iter_mut().zip(values).filter(|(_, x)| !x.is_nan()) {
        column.add(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let mut r = Range::default();
        [2.0, 4.0, 9.0].iter().for_each(|&x| r.add(x));
        assert_eq!((r.count, r.min, r.max, r.mean), (3, 2.0, 9.0, 5.0));
        assert!((r.deviation() - (26.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Range::default().deviation(), 0.0);
    }
}
