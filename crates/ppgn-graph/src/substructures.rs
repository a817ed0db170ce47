//! Exact counts of small substructures, per graph and per node: the targets of the counting tasks, by which networks
//! are measured on more than telling graphs apart.
//!
//! A substructure is counted where its edges are there, whatever others are (non-induced). A node's count is the number
//! of copies that contain it. Networks of order 2 can determine all but 4-cliques, whose treewidth is 3.

use crate::graph::Graph;

/// The substructures, in the order of the counts.
pub const SUBSTRUCTURES: [&str; 7] =
    ["triangle", "tailed-triangle", "chordal-4-cycle", "4-cycle", "5-cycle", "6-cycle", "4-clique"];

/// The counts of one graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Copies in the graph, by substructure.
    pub graph: [u64; 7],
    /// Copies that contain a node, by node and substructure.
    pub nodes: Vec<[u64; 7]>,
}

impl Counts {
    fn add(&mut self, what: usize, copy: &[u32]) {
        self.graph[what] += 1;
        copy.iter().for_each(|&v| self.nodes[v as usize][what] += 1);
    }
}

/// Counts triangles, tailed triangles, chordal 4-cycles, 4-, 5- and 6-cycles and 4-cliques. Directions and loops are
/// ignored.
///
/// Every copy is enumerated once: a cycle starts at its smallest node and goes towards the smaller of that node's two
/// neighbours on it; a tailed triangle is a triangle, one of its nodes and a further neighbour of that; a chordal 4-cycle
/// is an edge (the chord) and two common neighbours of its ends.
///
/// # Complexity
/// O(n d^5) for n nodes of degree at most d.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_graph::substructures::counts;
/// let k4 = counts(generate("complete:n=4")?.graph(0));
/// assert_eq!(k4.graph, [4, 12, 6, 3, 0, 0, 1]);
/// assert_eq!(k4.nodes[0], [3, 12, 6, 3, 0, 0, 1]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn counts(graph: &Graph) -> Counts {
    let n = graph.nodes();
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (u, v, _) in graph.arc_list().filter(|(u, v, _)| u != v) {
        rows[u].push(v as u32);
        rows[v].push(u as u32);
    }
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    let mut counts = Counts { graph: [0; 7], nodes: vec![[0; 7]; n] };
    let mut path = Vec::new();
    for start in 0..n as u32 {
        path.push(start);
        cycles(&rows, &mut path, &mut counts);
        path.pop();
    }
    for u in 0..n as u32 {
        for &v in after(&rows, u, u) {
            let common: Vec<u32> =
                rows[u as usize].iter().copied().filter(|&w| joined(&rows, v, w)).collect();
            for (i, &w) in common.iter().enumerate() {
                for &x in &common[..i] {
                    counts.add(CHORDAL, &[u, v, w, x]);
                    // A clique once: from its two smallest nodes.
                    if x > v && joined(&rows, w, x) {
                        counts.add(CLIQUE, &[u, v, w, x]);
                    }
                }
            }
            for &w in common.iter().filter(|&&w| w > v) {
                for (a, others) in [(u, [v, w]), (v, [u, w]), (w, [u, v])] {
                    for &tail in rows[a as usize].iter().filter(|t| !others.contains(t)) {
                        counts.add(TAILED, &[u, v, w, tail]);
                    }
                }
            }
        }
    }
    counts
}

const TAILED: usize = 1;
const CHORDAL: usize = 2;
const CLIQUE: usize = 6;

/// What a cycle of this length is.
fn cycle(length: usize) -> Option<usize> {
    match length {
        3 => Some(0),
        4..=6 => Some(length - 1),
        _ => None,
    }
}

/// The neighbours of a node that come after another.
fn after(rows: &[Vec<u32>], u: u32, than: u32) -> &[u32] {
    let row = &rows[u as usize];
    &row[row.partition_point(|&v| v <= than)..]
}

fn joined(rows: &[Vec<u32>], u: u32, v: u32) -> bool {
    rows[u as usize].binary_search(&v).is_ok()
}

/// Adds the cycles that begin with this path, whose first node is the smallest.
fn cycles(rows: &[Vec<u32>], path: &mut Vec<u32>, counts: &mut Counts) {
    let (start, end) = (path[0], path[path.len() - 1]);
    if let Some(what) = cycle(path.len())
        && path[1] < end
        && joined(rows, end, start)
    {
        counts.add(what, path);
    }
    if path.len() < 6 {
        for &next in after(rows, end, start) {
            if !path.contains(&next) {
                path.push(next);
                cycles(rows, path, counts);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    /// The edges of every substructure, and in how many ways it is mapped onto itself.
    const PATTERNS: [(&[(usize, usize)], u64); 7] = [
        (&[(0, 1), (1, 2), (2, 0)], 6),
        (&[(0, 1), (1, 2), (2, 0), (0, 3)], 2),
        (&[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 4),
        (&[(0, 1), (1, 2), (2, 3), (3, 0)], 8),
        (&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], 10),
        (&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], 12),
        (&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 24),
    ];

    /// Every way to place the nodes of a pattern on different nodes of the graph, each copy as often as the pattern has
    /// automorphisms.
    fn by_force(graph: &Graph) -> Counts {
        fn place(
            graph: &Graph,
            pattern: &[(usize, usize)],
            size: usize,
            on: &mut Vec<usize>,
            found: &mut Vec<Vec<usize>>,
        ) {
            if on.len() == size {
                if pattern.iter().all(|&(a, b)| graph.arc(on[a], on[b]).is_some()) {
                    found.push(on.clone());
                }
                return;
            }
            for v in 0..graph.nodes() {
                if !on.contains(&v) {
                    on.push(v);
                    place(graph, pattern, size, on, found);
                    on.pop();
                }
            }
        }
        let mut counts = Counts { graph: [0; 7], nodes: vec![[0; 7]; graph.nodes()] };
        for (what, (pattern, automorphisms)) in PATTERNS.into_iter().enumerate() {
            let size = pattern.iter().map(|&(a, b)| a.max(b)).max().unwrap() + 1;
            let mut found = Vec::new();
            place(graph, pattern, size, &mut Vec::new(), &mut found);
            counts.graph[what] = found.len() as u64 / automorphisms;
            found.iter().flatten().for_each(|&v| counts.nodes[v][what] += 1);
            counts.nodes.iter_mut().for_each(|node| node[what] /= automorphisms);
        }
        counts
    }

    #[test]
    fn counts_are_those_of_brute_force_on_all_graphs_up_to_seven_nodes() {
        for n in 1..=7 {
            for graph in generate(&format!("atlas:n={n}")).unwrap().graphs() {
                assert_eq!(counts(graph), by_force(graph));
            }
        }
    }

    #[test]
    fn loops_and_directions_are_ignored() {
        let directed = Graph::directed(3, [(0, 1), (1, 2), (2, 0), (0, 2), (1, 1)]).unwrap();
        assert_eq!(counts(&directed).graph, [1, 0, 0, 0, 0, 0, 0]);
    }
}
