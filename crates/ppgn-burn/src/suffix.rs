//! From pooled features to scores: the two suffixes of the paper's Section 7.

use crate::config::{PpgnConfig, SuffixKind};
use crate::linear::{Cutter, Linear};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// Suffix i is an MLP on the last block's pooled features (512, 256, outputs, with ReLU between the layers); suffix ii
/// is one linear map a block, `sum over l of pool(X_l) A_l^T + b_l`.
#[derive(Debug, Clone)]
pub(crate) struct Suffix {
    kind: SuffixKind,
    layers: Vec<Linear>,
}

impl Suffix {
    /// The suffix of a network, from its array of parameters.
    pub(crate) fn cut(config: &PpgnConfig, cutter: &mut Cutter<'_>) -> Self {
        let layers = match config.suffix {
            SuffixKind::I => config.suffix_hidden.len() + 1,
            SuffixKind::Ii => config.blocks.len(),
        };
        Suffix { kind: config.suffix, layers: (0..layers).map(|_| cutter.linear()).collect() }
    }

    /// # Shapes
    /// - `pooled`: `[graphs, 2 * width]` of every block (ii), or of the last one (i)
    /// - result: `[graphs, outputs]`
    pub(crate) fn forward(&self, pooled: Vec<Tensor<2>>) -> Tensor<2> {
        let mut layers = self.layers.iter().zip(pooled).map(|(layer, x)| layer.forward(x));
        let first = layers.next().expect("at least one block is pooled");
        match self.kind {
            SuffixKind::Ii => layers.fold(first, |sum, scores| sum + scores),
            SuffixKind::I => self.layers[1..].iter().fold(first, |x, layer| layer.forward(relu(x))),
        }
    }
}
