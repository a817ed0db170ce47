//! Uniformly random labelled trees, through Prüfer's bijection: n - 2 free choices of a node name each tree once.

use super::rows::{MAX_NODES, from_edges};
use super::{COUNT, Generator, Made, Parameter, SEED};
use crate::error::Result;
use crate::graph::Graph;
use crate::random::Stream;

pub(super) const TREE: Generator = Generator {
    name: "tree",
    about: "uniformly random labelled trees; 1-WL decides their isomorphism, so they check a colouring against truth",
    parameters: &[Parameter::new("n", "16", "nodes, from 1"), COUNT, SEED],
    make: |a| {
        let n = a.number("n", 1..=MAX_NODES)?;
        Made::random(a, (n.into(), 2 * u64::from(n - 1)), |random| tree(n, random))
    },
};

/// A tree drawn uniformly from the n^(n-2) on the nodes 0..n. O(n).
fn tree(n: u32, random: &mut Stream) -> Result<Graph> {
    let sequence: Vec<u32> = (2..n).map(|_| random.below(n as usize) as u32).collect();
    from_edges(n, &decode(n, &sequence))
}

/// The edges of the tree with this Prüfer sequence, n - 2 nodes below n (none for n < 3).
///
/// The rule is: join the smallest leaf to the next node of the sequence and remove it; at last, join the two nodes
/// that are left. The largest node is never the smallest leaf, so it is one of the two, and stands for the next node
/// at the end of the sequence. A pointer that only moves up finds the leaves: a node that becomes one below it is the
/// smallest at once, and is taken first.
fn decode(n: u32, sequence: &[u32]) -> Vec<(u32, u32)> {
    let mut open = vec![1u32; n as usize]; // the edges that each node still waits for
    for &u in sequence {
        open[u as usize] += 1;
    }
    let mut edges = Vec::with_capacity(n as usize - 1);
    let mut pointer = 0;
    let mut below = None;
    for u in sequence.iter().copied().chain((n > 1).then(|| n - 1)) {
        let leaf = below.take().unwrap_or_else(|| {
            while open[pointer] != 1 {
                pointer += 1;
            }
            pointer += 1;
            pointer as u32 - 1
        });
        edges.push((leaf, u));
        open[u as usize] -= 1;
        if open[u as usize] == 1 && (u as usize) < pointer {
            below = Some(u);
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn sequences_are_decoded_by_the_rule() {
        // The rule as it is stated, in quadratic time.
        fn slowly(n: u32, sequence: &[u32]) -> Vec<(u32, u32)> {
            let mut nodes: Vec<u32> = (0..n).collect();
            let mut edges = Vec::new();
            for (i, &u) in sequence.iter().enumerate() {
                let leaf = *nodes.iter().find(|v| !sequence[i..].contains(v)).unwrap();
                nodes.retain(|&v| v != leaf);
                edges.push((leaf, u));
            }
            edges.push((nodes[0], nodes[1]));
            edges
        }
        assert_eq!(decode(6, &[3, 3, 3, 4]), [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)]);
        assert_eq!(decode(1, &[]), []);
        for n in 2..=6u32 {
            for code in 0..n.pow(n - 2) {
                let sequence: Vec<u32> = (0..n - 2).map(|i| code / n.pow(i) % n).collect();
                assert_eq!(decode(n, &sequence), slowly(n, &sequence), "{n} {sequence:?}");
            }
        }
    }

    #[test]
    fn trees_are_uniform() {
        for (n, kinds, draws) in [(3, 3, 3_000), (4, 16, 16_000)] {
            let mut seen: BTreeMap<Vec<u32>, i32> = BTreeMap::new();
            for seed in 0..draws {
                let g = tree(n, &mut Stream::new(seed, "uniform trees", &[])).unwrap();
                *seen.entry([g.offsets(), g.targets()].concat()).or_default() += 1;
            }
            assert_eq!(seen.len(), kinds);
            // Each is drawn about a thousand times, with a deviation of about 31.
            assert!(seen.values().all(|count| (count - 1000).abs() < 150), "{seen:?}");
        }
    }
}
