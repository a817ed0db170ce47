//! One linear layer, and how parameters become layers.
//!
//! Every part of the network's layout is a tensor of its own. Where gradients are wanted each is a leaf: the gradient
//! of a slice of a long array would be a long array of zeros for every slice.

use burn::tensor::Tensor;
use ppgn_nn::Part;

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

/// Takes the layers of an array of parameters, one after another.
pub(crate) struct Cutter<'a> {
    parts: std::iter::Zip<std::slice::Iter<'a, Part>, std::slice::Iter<'a, Tensor<1>>>,
}

impl<'a> Cutter<'a> {
    /// The parts of an array, each with its numbers.
    pub(crate) fn new(parts: &'a [Part], tensors: &'a [Tensor<1>]) -> Self {
        Cutter { parts: parts.iter().zip(tensors) }
    }

    /// The next layer's weight and bias, with their shapes in checkpoints. There must be one.
    pub(crate) fn layer(&mut self) -> [(Tensor<1>, &'a [usize]); 2] {
        [(); 2].map(|()| {
            let (part, tensor) = self.parts.next().expect("the layout has a part for every layer");
            (tensor.clone(), &part.shape[..])
        })
    }

    /// The next layer. There must be one.
    pub(crate) fn linear(&mut self) -> Linear {
        let [(weight, shape), (bias, _)] = self.layer();
        Linear { weight: weight.reshape([shape[0], shape[1]]), bias }
    }

    /// Whether all layers are taken.
    pub(crate) fn is_done(&self) -> bool {
        self.parts.len() == 0
    }
}
