//! The size limits, and the short way from an adjacency rule to a [`Graph`].
//!
//! A family of graphs is a function from a node to its neighbours. [`undirected`] and [`directed`] write such rows
//! straight into their final place: half the memory and time of an edge list, which counts at a hundred million arcs.

use crate::error::{Error, Result};
use crate::graph::{Graph, GraphBuilder};

/// The maximum number of nodes of a generated dataset, all graphs together.
pub(super) const MAX_NODES: u32 = 1 << 27;

/// The maximum number of graphs of a generated dataset.
pub(super) const MAX_GRAPHS: u32 = 1_000_000;

/// Refuses more than [`MAX_NODES`] nodes or `u32::MAX` arcs in `graphs` graphs with this many each.
pub(super) fn check_size(graphs: u64, nodes: u64, arcs: u64) -> Result<()> {
    let refuse = |count: u64, what, most| {
        // A count that left 64 bits is not worth its digits.
        let count = if count == u64::MAX { "more than 10^19".into() } else { count.to_string() };
        Err(Error::call(format!("{count} {what} are too many, a generator makes at most {most}")))
    };
    let (nodes, arcs) = (nodes.saturating_mul(graphs), arcs.saturating_mul(graphs));
    if graphs > MAX_GRAPHS.into() {
        return refuse(graphs, "graphs", MAX_GRAPHS);
    }
    if nodes > MAX_NODES.into() {
        return refuse(nodes, "nodes", MAX_NODES);
    }
    if arcs > u32::MAX.into() {
        return refuse(arcs, "arcs", u32::MAX);
    }
    Ok(())
}

/// The directed graph whose node u has the arcs that `row(u, ...)` pushes, in any order; repeated arcs are merged.
/// `arcs` is at least their number. O(n + m) where rows come sorted.
pub(super) fn directed(nodes: u64, arcs: u64, row: impl FnMut(u32, &mut Vec<u32>)) -> Result<Graph> {
    labelled(nodes, arcs, Vec::new(), row)
}

/// The same as an undirected graph: v must be in the row of u whenever u is in that of v.
pub(super) fn undirected(nodes: u64, arcs: u64, row: impl FnMut(u32, &mut Vec<u32>)) -> Result<Graph> {
    // The rows are not compared with their transpose: that would take longer than all the rest. Tests do it.
    Ok(directed(nodes, arcs, row)?.with_direction(false))
}

/// [`directed`] with a label for every node, or none for any.
pub(super) fn labelled(
    nodes: u64,
    arcs: u64,
    labels: Vec<i64>,
    mut row: impl FnMut(u32, &mut Vec<u32>),
) -> Result<Graph> {
    check_size(1, nodes, arcs)?;
    let mut offsets = Vec::with_capacity(nodes as usize + 1);
    let mut targets = Vec::with_capacity(arcs as usize);
    offsets.push(0);
    for u in 0..nodes as u32 {
        row(u, &mut targets);
        offsets.push(targets.len() as u32);
    }
    Ok(GraphBuilder::from_rows(offsets, targets, labels)?.0)
}

/// The undirected graph of these edges, each given once. Rows need no sorting where the edges come sorted by their
/// larger end, then by the smaller. O(n + m).
pub(super) fn from_edges(nodes: u32, edges: &[(u32, u32)]) -> Result<Graph> {
    check_size(1, nodes.into(), 2 * edges.len() as u64)?;
    let mut offsets = vec![0u32; nodes as usize + 1];
    for &(u, v) in edges {
        offsets[u as usize + 1] += 1;
        if u != v {
            offsets[v as usize + 1] += 1;
        }
    }
    for u in 0..nodes as usize {
        offsets[u + 1] += offsets[u];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0u32; offsets[nodes as usize] as usize];
    let mut push = |u: u32, v: u32| {
        targets[next[u as usize] as usize] = v;
        next[u as usize] += 1;
    };
    for &(u, v) in edges {
        push(u, v);
        if u != v {
            push(v, u);
        }
    }
    Ok(GraphBuilder::from_rows(offsets, targets, Vec::new())?.0.with_direction(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_edges_give_what_the_builder_gives() {
        let edges = [(1, 0), (2, 2), (3, 0), (3, 1)];
        let wanted = Graph::undirected(5, edges).unwrap();
        assert_eq!(from_edges(5, &edges).unwrap(), wanted);
        assert_eq!(from_edges(5, &[(0, 3), (1, 3), (2, 2), (0, 1)]).unwrap(), wanted);
        let rows: [&[u32]; 5] = [&[3, 1, 3], &[0, 3], &[2], &[1, 0], &[]];
        assert_eq!(undirected(5, 10, |u, row| row.extend_from_slice(rows[u as usize])).unwrap(), wanted);
    }

    #[test]
    fn the_guard_stands_at_its_limits() {
        assert!(check_size(1, 1 << 27, u32::MAX.into()).is_ok());
        assert!(check_size(1, (1 << 27) + 1, 0).is_err());
        assert!(check_size(1, 1, 1 << 32).is_err());
        assert!(check_size(2, 1, 1 << 31).is_err());
        let message = check_size(1_000_000, 1, u64::MAX).unwrap_err().to_string();
        assert_eq!(message, "more than 10^19 arcs are too many, a generator makes at most 4294967295");
        assert!(check_size(1_000_001, 1, 1).is_err());
    }
}
