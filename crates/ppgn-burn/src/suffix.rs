//! From pooled features to scores: the two suffixes of the paper's Section 7.

use crate::linear::{Cutter, Linear};
use crate::mlp::activate;
use burn::tensor::Tensor;
use ppgn_nn::{Activation, SuffixKind};

/// Suffix i is an MLP on the last block's pooled features, with the activation between the layers; suffix ii is one linear map
/// per block, `sum over l of pool(X_l) A_l^T + b_l`.
#[derive(Debug, Clone)]
pub(crate) struct Suffix {
    kind: SuffixKind,
    activation: Activation,
    layers: Vec<Linear>,
}

impl Suffix {
    /// The suffix of all layers of its array.
    pub(crate) fn cut(kind: SuffixKind, activation: Activation, cutter: &mut Cutter<'_>) -> Self {
        let mut layers = Vec::new();
        while !cutter.is_done() {
            layers.push(cutter.linear());
        }
        Suffix { kind, activation, layers }
    }

    /// # Shapes
    /// - `pooled`: `[graphs, patterns * width]` of every block (ii), or of the last one (i)
    /// - result: `[graphs, outputs]`
    pub(crate) fn forward(&self, pooled: Vec<Tensor<2>>) -> Tensor<2> {
        let mut layers = self.layers.iter().zip(pooled).map(|(layer, x)| layer.forward(x));
        let first = layers.next().expect("at least one block is pooled");
        match self.kind {
            SuffixKind::Ii => layers.fold(first, |sum, scores| sum + scores),
            SuffixKind::I => {
                let next = |x, layer: &Linear| layer.forward(activate(self.activation, x));
                self.layers[1..].iter().fold(first, next)
            }
        }
    }
}
