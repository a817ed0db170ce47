//! What nodes or pairs with outputs of their own take, beyond the blocks: during a pass, and from epoch to epoch.

use super::Pass;
use crate::labelling::item_of;
use ppgn_graph::split::Split;
use ppgn_graph::{Dataset, Item};
use ppgn_nn::kernels::Count;
use ppgn_nn::{Level, PpgnConfig};

/// A network's outputs.
pub(super) struct Outputs {
    level: Level,
    blocks: f64,
    /// Numbers that the suffix takes per node or pair, over all blocks.
    features: f64,
    outputs: f64,
}

impl Outputs {
    pub(super) fn new(config: &PpgnConfig) -> Self {
        let widths = config.widths();
        let read = (0..config.blocks.len()).filter(|&l| config.pools_after(l));
        Outputs {
            level: config.level,
            blocks: config.blocks.len() as f64,
            features: read.map(|l| widths[l + 1] as f64).sum(),
            outputs: config.outputs as f64,
        }
    }

    /// The bytes of a pass over a batch with this many nodes and pairs, with numbers of this size: the features that are
    /// gathered for each item (their gradients, and dropout's masks), the places they come from, scores, and what the loss
    /// compares them with. Graphs take next to nothing.
    pub(super) fn pass(&self, pass: Pass, size: f64, nodes: f64, pairs: f64) -> f64 {
        let items = match self.level {
            Level::Graph => return 0.0,
            Level::Node => nodes,
            Level::Pair => pairs,
        };
        let (copies, scores) = if pass == Pass::Training { (3.0, 6.0) } else { (1.0, 3.0) };
        let places = size_of::<Count>() as f64 * self.blocks + 8.0;
        items * (copies * self.features * size + scores * self.outputs * 8.0 + places)
    }

    /// The bytes that are held from epoch to epoch: what is known of all items, and the scores of those of the largest set
    /// while it is measured.
    pub(super) fn held(&self, dataset: &Dataset, split: &Split) -> u64 {
        let Some(item) = item_of(self.level) else { return 0 };
        let listed = !dataset.learnable(item).is_empty();
        let known = |&g: &u32| {
            let graph = dataset.graph(g as usize);
            match (listed, item) {
                (true, _) => dataset.known(item, g as usize).len() as f64,
                (false, Item::Node) => graph.nodes() as f64,
                (false, Item::Pair) => graph.arcs() as f64,
            }
        };
        let sets =
            [&split.train, &split.validation, &split.test].map(|set| set.iter().map(known).sum::<f64>());
        let largest = sets.iter().copied().fold(0.0, f64::max);
        let labels = sets.iter().sum::<f64>() * (12.0 + 16.0 * self.outputs);
        (labels + largest * self.outputs * 8.0 * 4.0) as u64
    }
}
