//! From pooled features to scores: the two suffixes of the paper's Section 7.

use crate::linear::{Cutter, Linear};
use crate::mlp::activate;
use burn::tensor::Tensor;
use ppgn_nn::{Activation, PpgnConfig, SuffixKind};

/// Suffix i is an MLP on the last block's features, with the activation in between; suffix ii is one linear map per block,
/// summed: `sum over l of pool(X_l) A_l^T + b_l`.
#[derive(Debug, Clone)]
pub(crate) struct Suffix {
    kind: SuffixKind,
    layers: Vec<Linear>,
    activation: Activation,
}

/// What features and hidden layers are multiplied by, in training with dropout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Masks {
    pub(crate) pooled: Vec<Tensor<2>>,
    pub(crate) hidden: Vec<Tensor<2>>,
}

impl Suffix {
    /// The suffix of the last array of parameters.
    pub(crate) fn cut(config: &PpgnConfig, cutter: &mut Cutter<'_>) -> Self {
        let mut layers = Vec::new();
        while !cutter.is_done() {
            layers.push(cutter.linear());
        }
        Suffix { kind: config.suffix, layers, activation: config.activation }
    }

    /// # Shapes
    /// - `pooled`, each: `[graphs, patterns * width]`, of every block (ii), or of the last one (i)
    /// - result: `[graphs, outputs]`
    pub(crate) fn forward(&self, pooled: &[Tensor<2>], masks: &Masks) -> Tensor<2> {
        let masked = |x: Tensor<2>, mask: Option<&Tensor<2>>| match mask {
            Some(mask) => x * mask.clone(),
            None => x,
        };
        let features = pooled.iter().enumerate().map(|(l, x)| masked(x.clone(), masks.pooled.get(l)));
        let mut layers = self.layers.iter().zip(features).map(|(layer, x)| layer.forward(x));
        let first = layers.next().expect("at least one block is pooled");
        match self.kind {
            SuffixKind::Ii => layers.fold(first, |sum, scores| sum + scores),
            SuffixKind::I => {
                let next = |x, (i, layer): (usize, &Linear)| {
                    layer.forward(masked(activate(self.activation, x), masks.hidden.get(i)))
                };
                self.layers[1..].iter().enumerate().fold(first, next)
            }
        }
    }
}
