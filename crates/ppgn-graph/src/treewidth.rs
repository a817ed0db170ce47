//! The treewidth of small graphs, exactly: what decides which k-FWL distinguishes the pair of Cai, Fürer and Immerman
//! over a base graph.
//!
//! Bodlaender, Fomin, Koster, Kratsch and Thilikos, *On exact algorithms for treewidth* (2012): a graph is eliminated
//! node by node, and the width of an order is the most neighbours that a node has left when its turn comes. For a set
//! S of nodes that come first, with w(∅) = 0,
//!
//! ```text
//! w(S) = min over v in S of max(w(S - v), |Q(S - v, v)|)
//! ```
//!
//! where Q(S, v) are the nodes outside S and v that v reaches through S: its neighbours once S is gone.

use crate::graph::Graph;

/// The treewidth of a graph of at most 20 nodes; `None` for a larger one. Directions and loops are ignored.
///
/// # Complexity
/// O(2^n n^2) time, O(2^n) memory.
///
/// ```
/// use ppgn_graph::{generate::generate, treewidth::treewidth};
/// let width = |spec: &str| Ok::<_, ppgn_graph::Error>(treewidth(generate(spec)?.graph(0)));
/// assert_eq!(width("tree:n=12")?, Some(1));
/// assert_eq!(width("grid:rows=2,columns=5")?, Some(2));
/// assert_eq!(width("petersen")?, Some(4));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn treewidth(graph: &Graph) -> Option<usize> {
    let n = graph.nodes();
    if n > MOST {
        return None;
    }
    let mut rows = vec![0u32; n];
    for (u, v, _) in graph.arc_list().filter(|(u, v, _)| u != v) {
        rows[u] |= 1 << v;
        rows[v] |= 1 << u;
    }
    let mut width = vec![0u8; 1 << n];
    for set in 1..1usize << n {
        let without = |v: usize| set & !(1 << v);
        let of = |v: usize| width[without(v)].max(reached(&rows, without(v) as u32, v).count_ones() as u8);
        width[set] = (0..n).filter(|v| set >> v & 1 == 1).map(of).min().unwrap_or(0);
    }
    Some(width[(1 << n) - 1].into())
}

/// The most nodes.
const MOST: usize = 20;

/// The nodes outside `set` and `v` that `v` reaches through `set`.
fn reached(rows: &[u32], set: u32, v: usize) -> u32 {
    let (mut seen, mut open) = (1u32 << v, rows[v]);
    loop {
        let inner = open & set & !seen;
        if inner == 0 {
            return open & !set & !(1 << v);
        }
        seen |= inner;
        open |= (0..rows.len()).filter(|u| inner >> u & 1 == 1).fold(0, |all, u| all | rows[u]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    #[test]
    fn known_widths() {
        let width = |spec: &str| treewidth(generate(spec).unwrap().graph(0));
        for (spec, wanted) in [
            ("path:n=1", 0),
            ("path:n=9", 1),
            ("star:n=7", 1),
            ("cycles:n=7", 2),
            ("grid:rows=3,columns=4", 3),
            ("grid:rows=4,columns=4", 4),
            ("complete:n=6", 5),
            ("bipartite:a=3,b=3", 3),
            ("prism:n=3", 3),
            ("hypercube:d=3", 3),
            ("petersen", 4),
        ] {
            assert_eq!(width(spec), Some(wanted), "{spec}");
        }
        assert_eq!(width("path:n=21"), None);
        assert_eq!(treewidth(&Graph::undirected(0, []).unwrap()), Some(0));
        assert_eq!(treewidth(&Graph::directed(3, [(0, 1), (1, 2), (2, 0), (1, 1)]).unwrap()), Some(2));
    }
}
