//! Channels beyond the paper, computed from the edges alone: degrees, shortest paths, random walks.
//!
//! They stand behind the channels of any encoding. What a block would have to learn over several products is there from the
//! start, at the price of rows that fewer pairs share. Two pairs that an automorphism (or a relabelling) maps to each other
//! have the same bits in every channel: degrees and path lengths are integers, and walks are sums of integers, so no value
//! depends on the order in which neighbours are numbered. The quotient, which merges pairs with equal rows, needs that.

use super::Grid;
use crate::float::Float;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};

/// Probability 1 in fixed point: 2^30, so that a probability takes 31 bits and the sum over 2^32 neighbours 63.
const ONE: u32 = 1 << 30;

/// Which structural channels an encoding has besides its own.
///
/// ```
/// use ppgn_graph::encode::{Encoding, Kind, Structure};
/// use ppgn_graph::{Graph, Schema};
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let structure = Structure { degree: true, shortest_paths: 2, walks: 2 };
/// let encoding = Encoding { structure, ..Encoding::from(Kind::Paper) };
/// let encoder = encoding.encoder(&Schema::of(&[path.clone()])?)?;
/// assert_eq!(encoder.channels()[1..], ["degree", "shortest path 1", "shortest path 2", "walk 1", "walk 2"]);
/// let rows: Vec<f64> = encoder.rows(&path)?;                       // [9, 6]
/// assert_eq!(rows[6 * 2 + 1..6 * 3], [0.0, 0.0, 1.0, 0.0, 0.5]);   // pair (0, 2): two steps, half of the walks
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Structure {
    /// ln(1 + degree) on the diagonal, of outgoing edges where they are directed; a self-loop counts once.
    pub degree: bool,
    /// For d = 1 ... this: 1 where the shortest path from i to j has d edges.
    pub shortest_paths: u8,
    /// For k = 1 ... this: the probability that a random walk from i is at j after k steps, `((D^-1 A)^k)[i, j]`, in fixed
    /// point with 30 binary digits. A walk that comes to a node without outgoing edges ends there.
    pub walks: u8,
}

impl Structure {
    pub(super) fn channels(self) -> Vec<String> {
        let mut channels: Vec<String> = self.degree.then(|| "degree".to_string()).into_iter().collect();
        channels.extend((1..=self.shortest_paths).map(|d| format!("shortest path {d}")));
        channels.extend((1..=self.walks).map(|k| format!("walk {k}")));
        channels
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        *self == Structure::default()
    }

    /// O(n) for degrees, O(n * (n + m)) for paths, O(walks * n * m) for walks, which take 8 n^2 bytes meanwhile.
    pub(super) fn fill<T: Float>(self, graph: &Graph, grid: &mut Grid<'_, T>) {
        if self.degree {
            for u in 0..graph.nodes() {
                grid.pair(u, u)[0] = T::from_f64((graph.neighbours(u).len() as f64).ln_1p());
            }
        }
        let first_path = usize::from(self.degree);
        if self.shortest_paths > 0 {
            let mut search = Search::new(graph.nodes());
            for source in 0..graph.nodes() {
                search.from(graph, source, self.shortest_paths, |node, steps| {
                    grid.pair(source, node)[first_path + usize::from(steps) - 1] = T::from_f64(1.0);
                });
            }
        }
        let first_walk = first_path + usize::from(self.shortest_paths);
        if self.walks > 0 {
            walks(graph, self.walks, |step, i, j, probability| {
                grid.pair(i, j)[first_walk + step] = T::from_f64(f64::from(probability) / f64::from(ONE));
            });
        }
    }
}

/// Breadth-first search with memory that serves all sources.
struct Search {
    seen: Vec<bool>,
    reached: Vec<u32>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Search { seen: vec![false; nodes], reached: Vec::with_capacity(nodes) }
    }

    /// Calls `found(node, steps)` for every node other than the source within `limit` steps of it.
    fn from(&mut self, graph: &Graph, source: usize, limit: u8, mut found: impl FnMut(usize, u8)) {
        self.seen[source] = true;
        self.reached.push(source as u32);
        let mut layer = 0..1;
        for steps in 1..=limit {
            for place in layer.clone() {
                for &next in graph.neighbours(self.reached[place] as usize) {
                    if !std::mem::replace(&mut self.seen[next as usize], true) {
                        self.reached.push(next);
                        found(next as usize, steps);
                    }
                }
            }
            layer = layer.end..self.reached.len();
        }
        self.reached.drain(..).for_each(|node| self.seen[node as usize] = false);
    }
}

/// Calls `put(step, i, j, probability)` for all steps from 0 (one step) and all probabilities that are not 0.
///
/// One step from i is a step to a neighbour u and the rest from there: `p_k[i, j] = sum over u of p_(k-1)[u, j] / degree(i)`.
/// The sum of integers is exact in any order; the quotient is rounded once.
fn walks(graph: &Graph, steps: u8, mut put: impl FnMut(usize, usize, usize, u32)) {
    let n = graph.nodes();
    let mut now = vec![0u32; n * n];
    let mut next = vec![0u32; n * n];
    let mut sums = vec![0u64; n];
    (0..n).for_each(|i| now[i * n + i] = ONE);
    for step in 0..usize::from(steps) {
        for i in 0..n {
            sums.fill(0);
            for &u in graph.neighbours(i) {
                let row = &now[u as usize * n..][..n];
                sums.iter_mut().zip(row).for_each(|(sum, &p)| *sum += u64::from(p));
            }
            let degree = (graph.neighbours(i).len() as u64).max(1);
            for (j, (to, &sum)) in next[i * n..][..n].iter_mut().zip(&sums).enumerate() {
                *to = ((sum + degree / 2) / degree) as u32; // a mean of numbers up to ONE
                if *to > 0 {
                    put(step, i, j, *to);
                }
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
}
