//! m1, m2 and m3: multilayer perceptrons on the channels of a row.

use crate::linear::{Cutter, Linear};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// The output of a hidden layer has at most about so many numbers where no gradients are wanted: compiled networks have
/// layers of ten thousands of channels.
const LARGEST: usize = 1 << 25;

/// Linear layers, each followed by a ReLU, also the last: `X <- max(0, X A_i^T + b_i)` for every layer i.
///
/// ReLU's derivative at 0 is 0.
#[derive(Debug, Clone)]
pub(crate) struct Mlp {
    layers: Vec<Linear>,
}

impl Mlp {
    /// An MLP of the next so many layers.
    pub(crate) fn cut(cutter: &mut Cutter<'_>, layers: usize) -> Self {
        Mlp { layers: (0..layers).map(|_| cutter.linear()).collect() }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows, outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.forward_in(x, LARGEST)
    }

    /// The same with at most about so many numbers in a layer's output at a time. Where gradients are wanted all of
    /// them are kept anyway, so there is nothing to gain.
    fn forward_in(&self, x: Tensor<2>, largest: usize) -> Tensor<2> {
        let [rows, inputs] = x.dims();
        let widest = self.layers.iter().map(|layer| layer.bias.dims()[0]).fold(inputs, usize::max);
        let chunk = (largest / widest.max(1)).max(64);
        let wanted = x.is_autodiff() || self.layers.iter().any(|layer| layer.weight.is_autodiff());
        if rows <= chunk || wanted {
            return self.whole(x);
        }
        let chunks = (0..rows).step_by(chunk);
        let part = |start| self.whole(x.clone().narrow(0, start, chunk.min(rows - start)));
        Tensor::cat(chunks.map(part).collect(), 0) // [rows, outputs]
    }

    fn whole(&self, x: Tensor<2>) -> Tensor<2> {
        self.layers.iter().fold(x, |x, layer| relu(layer.forward(x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn a_relu_follows_every_layer_and_is_flat_at_zero() {
        let device = Device::default().autodiff();
        let weight = Tensor::<2>::from_floats([[1.0], [-1.0]], &device).require_grad();
        let bias = Tensor::<1>::from_floats([-1.0, 0.0], &device).require_grad();
        let mlp = Mlp { layers: vec![Linear { weight: weight.clone(), bias: bias.clone() }] };
        let x = Tensor::<2>::from_floats([[1.0], [3.0], [-2.0]], &device);
        let y = mlp.forward(x);
        assert_eq!(y.clone().try_into_vec_as::<f32>().unwrap(), [0.0, 0.0, 2.0, 0.0, 0.0, 2.0]);
        let tape = y.sum_dim(0).sum_dim(1).backward();
        // Row 1 of the first output is exactly 0 before its ReLU, and counts for nothing.
        assert_eq!(weight.grad(&tape).unwrap().try_into_vec_as::<f32>().unwrap(), [3.0, -2.0]);
        assert_eq!(bias.grad(&tape).unwrap().try_into_vec_as::<f32>().unwrap(), [1.0, 1.0]);
    }

    #[test]
    fn rows_in_chunks_are_the_same_rows() {
        let device = Device::default();
        let weight = Tensor::<2>::from_floats([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]], &device);
        let bias = Tensor::<1>::from_floats([-1.0, 0.0, 3.0], &device);
        let mlp = Mlp { layers: vec![Linear { weight, bias }] };
        let rows: Vec<f32> = (0..400).map(|i| (i % 7) as f32 - 3.0).collect();
        let x = Tensor::<1>::from_floats(rows.as_slice(), &device).reshape([200, 2]);
        let numbers = |y: Tensor<2>| y.try_into_vec_as::<f32>().unwrap();
        // 64 rows at a time, and the rest.
        assert_eq!(numbers(mlp.forward_in(x.clone(), 1)), numbers(mlp.whole(x)));
    }
}
