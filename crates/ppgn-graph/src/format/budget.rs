//! Two limits that keep a small file from taking much memory: on nodes that a line claims without describing them, and
//! on the graphs that come out of an archive.

use super::source::Limits;
use crate::dataset::Record;
use crate::error::{Defect, Remedy, Result};
use crate::graph::Graph;

/// Every byte of a line can describe this many nodes, so the nodes beyond are only claimed.
const NODES_PER_BYTE: u64 = 8;

/// The nodes that the lines of a file may still claim.
pub(crate) struct Claims {
    most: u64,
    left: u64,
}

impl Claims {
    pub(crate) fn new(limits: Limits) -> Self {
        Claims { most: limits.max_claimed, left: limits.max_claimed }
    }

    /// Accounts for a line with this many bytes that gives a graph of this many nodes, before anything is allocated.
    pub(crate) fn add(&mut self, nodes: u64, bytes: usize) -> Result<(), String> {
        let claimed = nodes.saturating_sub((bytes as u64).saturating_mul(NODES_PER_BYTE));
        match self.left.checked_sub(claimed) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(format!(
                "{nodes} nodes in a line of {bytes} bytes: a file may have at most {} nodes that it does not describe",
                self.most
            )),
        }
    }
}

/// Graphs that take no more memory than this are never refused, however small the limit.
const HARMLESS: u64 = 16 << 20;

/// The memory of graphs that are read from an archive, which may not exceed [`Limits::max_unpacked`]: a graph takes
/// hundreds of bytes, and an archive can hold one in every two. Plain files are as large as they look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    file: String,
    limit: Option<u64>,
    used: u64,
}

impl Meter {
    pub(crate) fn new(file: String, limit: Option<u64>) -> Self {
        Meter { file, limit: limit.map(|limit| limit.max(HARMLESS)), used: 0 }
    }

    /// The graph, and what is known of its nodes and pairs.
    pub(crate) fn record(&mut self, record: &Record) -> Result<()> {
        self.used += (record.nodes.heap_bytes() + record.pairs.heap_bytes()) as u64;
        self.add(&record.graph)
    }

    pub(crate) fn add(&mut self, graph: &Graph) -> Result<()> {
        self.used += graph.heap_bytes() as u64;
        match self.limit {
            Some(limit) if self.used > limit => {
                let message = format!("the graphs in the archive need more than the {limit} bytes allowed");
                Err(Defect::new(self.file.clone(), message).remedy(Remedy::RaiseUnpackedLimit).into())
            }
            _ => Ok(()),
        }
    }
}
