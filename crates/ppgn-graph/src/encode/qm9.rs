//! The authors' input for QM9, 19 channels: 13 node features on the diagonal, the distances between all atoms, the
//! adjacency matrix, and the four bond types (single, double, triple, aromatic) one-hot.

use super::Grid;
use crate::dataset::Schema;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::format::qm9::FEATURES;
use crate::graph::Graph;

const NODE_FEATURES: usize = FEATURES.len();
const DISTANCE: usize = NODE_FEATURES;
const ADJACENCY: usize = DISTANCE + 1;
const BONDS: [&str; 4] = ["single", "double", "triple", "aromatic"];

#[derive(Debug, Clone)]
pub(super) struct Qm9;

impl Qm9 {
    pub(super) fn new(schema: &Schema) -> Result<Self> {
        let bonds = schema.edge_labels.len() == 1
            && schema.edge_labels[0].values().iter().all(|b| (1..=BONDS.len() as i64).contains(b));
        if schema.node_attributes.len() != NODE_FEATURES || !schema.positions || !bonds || schema.directed {
            return Err(Error::unfit(
                "the encoding `qm9` needs undirected molecules with 13 node attributes, positions and bond types 1 to 4, \
                 as read from QM9's files",
            ));
        }
        Ok(Qm9)
    }

    pub(super) fn fill<T: Float>(&self, graph: &Graph, grid: &mut Grid<'_, T>) {
        for u in 0..graph.nodes() {
            for (channel, &x) in grid.pair(u, u).iter_mut().zip(graph.node_attributes(u)) {
                *channel = T::from_f64(x);
            }
        }
        let positions = graph.positions().unwrap_or_default();
        for (i, a) in positions.iter().enumerate() {
            for (j, b) in positions.iter().enumerate() {
                grid.pair(i, j)[DISTANCE] = T::from_f64(distance(a, b));
            }
        }
        for (u, v, arc) in graph.arc_list() {
            let pair = grid.pair(u, v);
            pair[ADJACENCY] = T::from_f64(1.0);
            pair[ADJACENCY + graph.edge_labels(arc)[0] as usize] = T::from_f64(1.0);
        }
    }
}

pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
    square.sqrt()
}

pub(super) fn channels() -> Vec<String> {
    let mut channels: Vec<String> = FEATURES.iter().map(|name| format!("node {name}")).collect();
    channels.extend(["distance".to_string(), "adjacency".to_string()]);
    channels.extend(BONDS.iter().map(|bond| format!("{bond} bond")));
    channels
}
