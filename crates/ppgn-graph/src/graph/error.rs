//! [`GraphError`]: why a graph could not be built.

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
    #[error("edge {u} {v} is given twice with different labels or attributes")]
    Conflict { u: u32, v: u32 },
    #[error("edge {u} {v} has no equal edge {v} {u}, so the graph is not undirected")]
    NotSymmetric { u: u32, v: u32 },
    #[error("not a permutation of 0..{nodes}")]
    NotPermutation { nodes: usize },
}
