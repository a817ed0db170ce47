//! Nodes and pairs as the suffix sees them: each has the features of one row of a level.
//!
//! To the kernels this is a sum over a single row, of a "graph" of its own: gathering is the forward pass of a sum pool, and
//! adding up the gradients of all nodes or pairs that share a colour is its backward pass.

use crate::config::{Level, PpgnConfig};
use crate::space::Space;
use ppgn_kernels::{Count, Pools};

/// The row of every node or pair, at every level that the suffix reads.
pub(super) struct Items {
    /// By block: the rows after it; empty where the suffix does not read them.
    rows: Vec<Vec<Count>>,
    /// 0, 1, 2, ...: each has a single row.
    offsets: Vec<usize>,
}

impl Items {
    /// The nodes or pairs of a batch; nothing for a network with outputs per graph.
    ///
    /// # Complexity
    /// O(blocks * items).
    pub(super) fn new(config: &PpgnConfig, space: &Space) -> Option<Self> {
        if config.level == Level::Graph {
            return None;
        }
        let each = |level: usize, call: &mut dyn FnMut(u32)| match space {
            Space::Dense(dense) => {
                for (nodes, start) in dense.firsts() {
                    places(config, nodes).for_each(|place| call((start + place) as u32));
                }
            }
            Space::Quotient(quotient) => {
                let matrix = &quotient.levels[level].matrix;
                for (&nodes, &start) in quotient.nodes.iter().zip(&quotient.offsets) {
                    places(config, nodes).for_each(|place| call(matrix[start + place]));
                }
            }
        };
        let after = |l: usize| {
            let mut rows = Vec::new();
            if config.pools_after(l) {
                each(l + 1, &mut |row| rows.push(Count { row, pattern: 0, count: 1 }));
            }
            rows
        };
        let rows: Vec<Vec<Count>> = (0..config.blocks.len()).map(after).collect();
        let items = rows.last().map_or(0, Vec::len);
        Some(Items { rows, offsets: (0..=items).collect() })
    }

    /// The number of nodes or pairs.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Their rows after block l.
    pub(super) fn pools(&self, l: usize) -> Pools<'_> {
        Pools::Quotient { order: 1, counts: &self.rows[l], offsets: &self.offsets }
    }
}

/// The rows that have outputs, among the n*n pairs or n nodes of a graph.
fn places(config: &PpgnConfig, nodes: usize) -> impl Iterator<Item = usize> {
    let step = if config.level == Level::Node && config.order == 2 { nodes + 1 } else { 1 };
    (0..nodes.pow(config.order as u32)).step_by(step)
}
