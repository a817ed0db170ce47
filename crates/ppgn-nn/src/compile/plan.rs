//! The weights of one block of a compiled network: the MLPs of its product, m4, and a note on their purpose.

use super::form::Form;
use super::table::Layer;
use crate::config::{BlockConfig, Pooling, PpgnConfig, SuffixKind};
use crate::error::Result;
use crate::model::{Branch, Description};
use crate::precision::Values;

/// One block. m3 is the identity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BlockPlan {
    /// m1, m2, ..., all of the same widths.
    pub(super) factors: Vec<Vec<Layer>>,
    pub(super) m4: Layer,
    /// A description of what the block does.
    pub(super) note: String,
}

impl BlockPlan {
    /// The widths of the block.
    pub(super) fn config(&self) -> BlockConfig {
        let (last, hidden) = self.factors[0].split_last().expect("an MLP has layers");
        let hidden = hidden.iter().map(|layer| layer.outputs).collect();
        BlockConfig { width: self.m4.outputs, product: Some(last.outputs), hidden: Some(hidden) }
    }

    /// The block's flat array of parameters, in the order of its layers.
    fn array(&self, block: &Description) -> Values {
        let mut numbers = Vec::new();
        let mut add = |layer: &Layer| numbers.extend(layer.weight.iter().chain(&layer.bias));
        for branch in &block.branches {
            if let Branch::Product { factors, .. } = branch {
                debug_assert_eq!(factors.len(), self.factors.len());
                self.factors.iter().flatten().for_each(&mut add);
            }
        }
        add(&self.m4);
        Values::F64(numbers)
    }
}

/// The network of these blocks, whose outputs are the last block's sums over all pairs: sum pooling, suffix ii, and
/// zero maps for the other blocks.
pub(super) fn network(form: &Form, inputs: usize, plans: &[BlockPlan]) -> Result<(PpgnConfig, Vec<Values>)> {
    let outputs = plans.last().expect("a histogram").m4.outputs;
    let config = PpgnConfig {
        blocks: plans.iter().map(BlockPlan::config).collect(),
        depth: plans[0].factors[0].len(),
        suffix: SuffixKind::Ii,
        pooling: Pooling::Sum,
        ..form.config(inputs, outputs)
    };
    config.validate()?;
    let blocks = config.descriptions();
    let mut arrays: Vec<Values> = plans.iter().zip(&blocks).map(|(plan, block)| plan.array(block)).collect();
    let mut suffix = Vec::new();
    for (l, plan) in plans.iter().enumerate() {
        let (width, pools) = (plan.m4.outputs, config.pools());
        let mut layer = Layer::zeros(pools * width, outputs)?;
        if l + 1 == plans.len() {
            // The sum over the diagonal and over the rest; in general, one per pattern.
            (0..outputs).for_each(|o| (0..pools).for_each(|pool| layer.set(o, pool * width + o, 1)));
        }
        suffix.extend(layer.weight.iter().chain(&layer.bias));
    }
    arrays.push(Values::F64(suffix));
    Ok((config, arrays))
}
