//! Which graphs share a batch, and in which order: a function of (seed, epoch).

use ppgn_graph::Dataset;
use ppgn_graph::random::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How graphs are grouped into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batching {
    /// Any graphs together, in random order.
    #[default]
    Mixed,
    /// Graphs of one size together, as the authors do: groups are shuffled and cut into batches, which are shuffled too.
    SameSize,
}

/// The batches of an epoch: every graph of `graphs` once, at most `size` together.
///
/// ```
/// use ppgn_graph::{Dataset, Graph};
/// use ppgn_train::{Batching, batches};
/// let graphs = [1, 2, 1, 2, 1].map(|n| Graph::undirected(n, []).unwrap());
/// let d = Dataset::builder("d").graphs(graphs.to_vec()).build()?;
/// let epoch = batches(&d, &[0, 1, 2, 3, 4], 2, Batching::SameSize, 7, 1);
/// assert_eq!(epoch.iter().map(Vec::len).sum::<usize>(), 5);
/// assert!(epoch.iter().all(|b| b.iter().all(|&g| d.graph(g as usize).nodes() == d.graph(b[0] as usize).nodes())));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn batches(
    dataset: &Dataset,
    graphs: &[u32],
    size: usize,
    batching: Batching,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<u32>> {
    let mut random = Stream::new(seed, "batches", &[epoch as u64]);
    let mut order = graphs.to_vec();
    random.shuffle(&mut order);
    match batching {
        Batching::Mixed => order.chunks(size.max(1)).map(<[u32]>::to_vec).collect(),
        Batching::SameSize => {
            let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
            for g in order {
                groups.entry(dataset.graph(g as usize).nodes()).or_default().push(g);
            }
            let mut batches: Vec<Vec<u32>> =
                groups.values().flat_map(|group| group.chunks(size.max(1)).map(<[u32]>::to_vec)).collect();
            random.shuffle(&mut batches);
            batches
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::Graph;

    #[test]
    fn every_graph_once_and_epochs_differ() {
        let graphs: Vec<Graph> = (0..23).map(|i| Graph::undirected(1 + i % 4, []).unwrap()).collect();
        let d = Dataset::builder("d").graphs(graphs).build().unwrap();
        let train: Vec<u32> = (0..23).collect();
        for batching in [Batching::Mixed, Batching::SameSize] {
            let epoch = |e| batches(&d, &train, 5, batching, 3, e);
            let mut all = epoch(1).concat();
            assert_ne!(all, epoch(2).concat());
            assert_eq!(epoch(1), epoch(1));
            assert!(epoch(1).iter().all(|b| (1..=5).contains(&b.len())));
            all.sort_unstable();
            assert_eq!(all, train);
        }
    }
}
