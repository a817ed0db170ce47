//! The encoding of Section 6: `B` in R^{n x n x (e+1)}, node features on the diagonal of the first e channels, the
//! adjacency matrix in the last.
//!
//! Categorical labels are one-hot, one channel per value in the schema; real attributes are used as they are. Edge labels and
//! attributes have channels of their own, filled where there is an edge. On request the distances between nodes, the identity
//! matrix and the transposed adjacency come as further channels. The adjacency is always the last channel.

use super::qm9::distance;
use super::{Encoding, Grid};
use crate::dataset::{LabelColumn, Schema};
use crate::error::{Error, Result};
use crate::float::Float;
use crate::graph::Graph;

#[derive(Debug, Clone)]
pub(super) struct Paper {
    identity: bool,
    transposed: bool,
    pub(super) distances: bool,
}

impl Paper {
    pub(super) fn new(schema: &Schema, encoding: Encoding) -> Result<Self> {
        let Encoding { identity, transposed, distances, .. } = encoding;
        if distances && !schema.positions {
            return Err(Error::call(
                "the graphs have no positions, so there are no distances: leave that channel out",
            ));
        }
        if transposed && !schema.directed {
            return Err(Error::call(
                "the transposed adjacency of an undirected dataset is the adjacency: leave that channel out",
            ));
        }
        Ok(Paper { identity, transposed, distances })
    }

    /// Positions, unless distances were asked for.
    pub(super) fn ignored(&self, schema: &Schema) -> Vec<String> {
        let left_out = schema.positions && !self.distances;
        left_out.then(|| "positions".to_string()).into_iter().collect()
    }

    pub(super) fn channels(&self, schema: &Schema) -> Vec<String> {
        let one_hot = |kind: &'static str, columns: &[LabelColumn]| -> Vec<String> {
            let name = |c: &LabelColumn, v| format!("{kind} {}={v}", c.name());
            columns
                .iter()
                .flat_map(|c| c.values().iter().map(move |v| name(c, v)).collect::<Vec<_>>())
                .collect()
        };
        let mut channels = one_hot("node", &schema.node_labels);
        channels.extend(schema.node_attributes.iter().map(|a| format!("node {a}")));
        channels.extend(one_hot("edge", &schema.edge_labels));
        channels.extend(schema.edge_attributes.iter().map(|a| format!("edge {a}")));
        channels.extend(self.distances.then(|| "distance".to_string()));
        channels.extend(self.identity.then(|| "identity".to_string()));
        channels.extend(self.transposed.then(|| "transposed adjacency".to_string()));
        channels.push("adjacency".into());
        channels
    }

    pub(super) fn fill<T: Float>(&self, schema: &Schema, graph: &Graph, grid: &mut Grid<'_, T>) {
        let one = T::from_f64(1.0);
        let node_channels = width(&schema.node_labels) + schema.node_attributes.len();
        let last = grid.channels.len() - 1;
        let identity = last - usize::from(self.transposed) - usize::from(self.identity);
        if self.distances {
            let positions = graph.positions().unwrap_or_default();
            for (i, a) in positions.iter().enumerate() {
                for (j, b) in positions.iter().enumerate() {
                    grid.pair(i, j)[identity - 1] = T::from_f64(distance(a, b));
                }
            }
        }
        for u in 0..graph.nodes() {
            let pair = grid.pair(u, u);
            put(pair, &schema.node_labels, graph.node_labels(u), graph.node_attributes(u));
            if self.identity {
                pair[identity] = one;
            }
        }
        for (u, v, arc) in graph.arc_list() {
            let pair = grid.pair(u, v);
            put(
                &mut pair[node_channels..],
                &schema.edge_labels,
                graph.edge_labels(arc),
                graph.edge_attributes(arc),
            );
            pair[last] = one;
            if self.transposed {
                grid.pair(v, u)[last - 1] = one;
            }
        }
    }
}

fn width(columns: &[LabelColumn]) -> usize {
    columns.iter().map(|c| c.values().len()).sum()
}

/// One-hot labels, then attributes, from the first channel on.
fn put<T: Float>(channels: &mut [T], columns: &[LabelColumn], labels: &[i64], attributes: &[f64]) {
    let mut start = 0;
    for (column, &label) in columns.iter().zip(labels) {
        if let Some(number) = column.number(label) {
            channels[start + number] = T::from_f64(1.0);
        }
        start += column.values().len();
    }
    for (channel, &x) in channels[start..].iter_mut().zip(attributes) {
        *channel = T::from_f64(x);
    }
}
