//! One linear layer, as a view into an array of parameters.
//!
//! Layers own nothing: the network's parameters are a few flat arrays, and every forward pass cuts them into weights and
//! biases. Where gradients are wanted each piece is a leaf of its own, because the gradient of a slice of a long array
//! would be a long array of zeros for every slice.

use crate::equivariant::{EquivariantConfig, EquivariantLinear};
use crate::layout::Part;
use burn::tensor::Tensor;

/// Applies `Y = X A^T + b` to every row.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    /// A, `[outputs, inputs]`.
    pub(crate) weight: Tensor<2>,
    /// b, `[outputs]`.
    pub(crate) bias: Tensor<1>,
}

impl Linear {
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows, outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight.clone().transpose()) + self.bias.clone().unsqueeze()
    }
}

/// Cuts an array of parameters into its layers, in order.
pub(crate) struct Cutter<'a> {
    flat: &'a Tensor<1>,
    parts: std::slice::Iter<'a, Part>,
    /// Where gradients are wanted: the leaves so far, one a part.
    leaves: Option<&'a mut Vec<Tensor<1>>>,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(
        flat: &'a Tensor<1>,
        parts: &'a [Part],
        leaves: Option<&'a mut Vec<Tensor<1>>>,
    ) -> Self {
        Cutter { flat, parts: parts.iter(), leaves }
    }

    /// The next layer. There must be one.
    pub(crate) fn linear(&mut self) -> Linear {
        let (weight, shape) = self.part();
        let (bias, _) = self.part();
        Linear { weight: weight.reshape([shape[0], shape[1]]), bias }
    }

    /// The next layer, which is an equivariant one. There must be one.
    pub(crate) fn equivariant(&mut self) -> EquivariantLinear {
        let (weight, shape) = self.part();
        let (bias, biases) = self.part();
        let [operations, inputs, outputs] = [shape[0], shape[1], shape[2]];
        let config = EquivariantConfig { normalise: true, ..EquivariantConfig::new(2, 2, inputs, outputs) };
        let weight = weight.reshape([operations, inputs, outputs]);
        EquivariantLinear::from_tensors(config, weight, bias.reshape([biases[0], outputs]))
    }

    fn part(&mut self) -> (Tensor<1>, &'a [usize]) {
        let part = self.parts.next().expect("the layout has a part for every layer");
        let piece = self.flat.clone().narrow(0, part.offset, part.len());
        let piece = match &mut self.leaves {
            Some(leaves) => {
                let leaf = piece.autodiff().require_grad();
                leaves.push(leaf.clone());
                leaf
            }
            None => piece,
        };
        (piece, &part.shape)
    }
}
