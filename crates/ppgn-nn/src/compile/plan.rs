//! A block's weights on their way into a network: m1, m2, m4, and what they are there for.

use super::table::Layer;
use crate::config::{BlockConfig, Pooling, PpgnConfig, SuffixKind};
use crate::precision::Values;
use ppgn_graph::Result;

/// One block. m3 is the identity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) m1: Vec<Layer>,
    pub(super) m2: Vec<Layer>,
    pub(super) m4: Layer,
    /// What it does, for people.
    pub(super) note: String,
}

impl Plan {
    /// The widths of the block.
    pub(super) fn config(&self) -> BlockConfig {
        let (last, hidden) = self.m1.split_last().expect("an MLP has layers");
        let hidden = hidden.iter().map(|layer| layer.outputs).collect();
        BlockConfig { width: self.m4.outputs, product: Some(last.outputs), hidden: Some(hidden) }
    }

    /// The block's flat array of parameters, in the order of [`Layout`](crate::Layout).
    fn array(&self) -> Values {
        let layers = self.m1.iter().chain(&self.m2).chain([&self.m4]);
        Values::F64(layers.flat_map(|l| l.weight.iter().chain(&l.bias)).copied().collect())
    }
}

/// The network of these blocks, the last one's sums over all pairs as its outputs: sum pooling, suffix ii, zero maps for
/// the other blocks.
pub(super) fn network(inputs: usize, plans: &[Plan]) -> Result<(PpgnConfig, Vec<Values>)> {
    let outputs = plans.last().expect("a histogram").m4.outputs;
    let config = PpgnConfig {
        blocks: plans.iter().map(Plan::config).collect(),
        depth: plans[0].m1.len(),
        suffix: SuffixKind::Ii,
        pooling: Pooling::Sum,
        ..PpgnConfig::new(inputs, outputs)
    };
    config.validate()?;
    let mut arrays: Vec<Values> = plans.iter().map(Plan::array).collect();
    let mut suffix = Vec::new();
    for (l, plan) in plans.iter().enumerate() {
        let width = plan.m4.outputs;
        let mut layer = Layer::zeros(2 * width, outputs)?;
        if l + 1 == plans.len() {
            // The diagonal's sum and that of the rest.
            (0..outputs).for_each(|o| [o, width + o].into_iter().for_each(|input| layer.set(o, input, 1)));
        }
        suffix.extend(layer.weight.iter().chain(&layer.bias));
    }
    arrays.push(Values::F64(suffix));
    Ok((config, arrays))
}
