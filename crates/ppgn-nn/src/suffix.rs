//! From pooled features to scores: the two suffixes of the paper's Section 7, as data.
//!
//! Suffix i is an MLP on the last block's pooled features (512, 256, outputs, with ReLU in between); suffix ii is one
//! linear map per block, `sum over l of pool(X_l) A_l^T + b_l`. The kernels compute both ([`ppgn_kernels::Suffix`]).
//!
//! A network with outputs per node or pair pools nothing: the rows of the nodes, `X_l[i,i]`, or of all pairs, `X_l[i,j]`,
//! take the place of the pooled features, and the map is linear: of every block (suffix ii), or of the last (suffix i).

use crate::config::{Level, PpgnConfig, SuffixKind};
use crate::model::{Layer, LayerKind};

impl PpgnConfig {
    /// The layers of the suffix, for blocks of these widths (input included).
    pub(crate) fn suffix_layers(&self, widths: &[usize]) -> Vec<Layer> {
        let pooled = |l: usize| widths[l].saturating_mul(self.groups());
        let sizes: Vec<(usize, usize)> = match self.suffix {
            SuffixKind::Ii => (1..widths.len()).map(|l| (pooled(l), self.outputs)).collect(),
            SuffixKind::I if self.level != Level::Graph => vec![(widths[widths.len() - 1], self.outputs)],
            SuffixKind::I => {
                let sizes = [&[pooled(widths.len() - 1)], &self.suffix_hidden[..], &[self.outputs]].concat();
                sizes.windows(2).map(|pair| (pair[0], pair[1])).collect()
            }
        };
        let layer = |(i, (inputs, outputs))| Layer {
            name: format!("fc_layers.{i}.fc"),
            kind: LayerKind::Graphs,
            inputs,
            outputs,
            stream: vec![1, i as u64],
        };
        sizes.into_iter().enumerate().map(layer).collect()
    }

    /// The number of groups that an output's features come from: one per pattern of equal nodes where a graph is pooled, a
    /// single one for nodes and pairs.
    pub(crate) fn groups(&self) -> usize {
        if self.level == Level::Graph { self.pools() } else { 1 }
    }

    /// Whether block l's output is pooled.
    pub fn pools_after(&self, l: usize) -> bool {
        self.suffix == SuffixKind::Ii || l + 1 == self.blocks.len()
    }
}
