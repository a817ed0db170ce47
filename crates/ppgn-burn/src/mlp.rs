//! m1, m2 and m3: multilayer perceptrons on the channels of a row.

use crate::linear::{Cutter, Linear};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ppgn_nn::Activation;

/// The function after every layer. ReLU's derivative at 0 is 0.
pub(crate) fn activate<const D: usize>(activation: Activation, x: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Relu => relu(x),
        Activation::Sin => x.sin(),
        // Not burn's `gelu`: on GPUs, its gradient is that of an approximation, 3e-4 apart.
        Activation::Gelu => {
            (x.clone().mul_scalar(std::f64::consts::FRAC_1_SQRT_2).erf() + 1.0) * x.mul_scalar(0.5)
        }
    }
}

/// Linear layers, each followed by the activation, also the last: `X <- f(X A_i^T + b_i)` for every layer i.
#[derive(Debug, Clone)]
pub(crate) struct Mlp {
    layers: Vec<Linear>,
    activation: Activation,
}

impl Mlp {
    /// An MLP of the next layers of an array.
    pub(crate) fn cut(cutter: &mut Cutter<'_>, layers: usize, activation: Activation) -> Self {
        Mlp { layers: (0..layers).map(|_| cutter.linear()).collect(), activation }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows, outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.layers.iter().fold(x, |x, layer| activate(self.activation, layer.forward(x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn a_relu_follows_every_layer_and_is_flat_at_zero() {
        let device = Device::flex().autodiff();
        let weight = Tensor::<2>::from_floats([[1.0], [-1.0]], &device).require_grad();
        let bias = Tensor::<1>::from_floats([-1.0, 0.0], &device).require_grad();
        let layers = vec![Linear { weight: weight.clone(), bias: bias.clone() }];
        let mlp = Mlp { layers, activation: Activation::Relu };
        let x = Tensor::<2>::from_floats([[1.0], [3.0], [-2.0]], &device);
        let y = mlp.forward(x);
        assert_eq!(y.clone().try_into_vec_as::<f32>().unwrap(), [0.0, 0.0, 2.0, 0.0, 0.0, 2.0]);
        let tape = y.sum_dim(0).sum_dim(1).backward();
        // Row 1 of the first output is exactly 0 before its ReLU, and counts for nothing.
        assert_eq!(weight.grad(&tape).unwrap().try_into_vec_as::<f32>().unwrap(), [3.0, -2.0]);
        assert_eq!(bias.grad(&tape).unwrap().try_into_vec_as::<f32>().unwrap(), [1.0, 1.0]);
    }
}
