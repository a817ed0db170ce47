//! The linear equivariant layer from matrices to matrices (Maron et al. 2019), on one panel at a time.
//!
//! A basis operation is a partition of four indices, (i, j) of the input and (r, s) of the output: `Y[r, s]` is the sum of
//! `X[i, j]` over all i and j that agree with r and s within the blocks, and 0 where r and s share a block and differ. So
//! an operation takes X or its diagonal, averages over the input indices that no output index shares, maps the channels, and
//! broadcasts. Only two of the fifteen map all n^2 rows. Pairs that are padding must be rows of zeros, and are left so.

use crate::linear::Cutter;
use crate::meeting::{Meeting, Panel};
use crate::mlp::activate;
use burn::tensor::{Tensor, TensorData, s};
use ppgn_nn::Activation;
use ppgn_nn::equivariant::partitions;
use std::collections::BTreeMap;

/// `Y = f(sum over the partitions p of L_p(X) A_p + b_0 on the diagonal + b_1 everywhere)`, sums taken as means.
#[derive(Debug, Clone)]
pub(crate) struct Equivariant {
    /// A, `[15, inputs, outputs]`, in the order of [`partitions`].
    weight: Tensor<3>,
    /// b, `[2, outputs]`.
    bias: Tensor<2>,
    /// f.
    activation: Activation,
}

/// How the result of an operation is put into the output: on the diagonal alone, and along which of the two indices it
/// varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    diagonal: bool,
    varies: [bool; 2],
}

impl Equivariant {
    /// The next layer of an array. There must be one.
    pub(crate) fn cut(cutter: &mut Cutter<'_>, activation: Activation) -> Self {
        let [(weight, shape), (bias, biases)] = cutter.layer();
        Equivariant {
            weight: weight.reshape([shape[0], shape[1], shape[2]]),
            bias: bias.reshape([biases[0], biases[1]]),
            activation,
        }
    }

    /// # Shapes
    /// - `x`: `[tuples, inputs]`
    /// - result: `[tuples, outputs]`
    ///
    /// # Complexity
    /// O(inputs * outputs) for each of the n^2 rows of a graph.
    pub(crate) fn forward(&self, meeting: &Meeting, x: Tensor<2>) -> Tensor<2> {
        let part = |panel: &Panel| self.panel(panel, meeting.rows(panel, &x));
        meeting
            .join(part)
            .unwrap_or_else(|| Tensor::zeros([0, self.bias.dims()[1]], (&x.device(), x.dtype())))
    }

    fn panel(&self, panel: &Panel, x: Tensor<2>) -> Tensor<2> {
        let &Panel { nodes: n, graphs: g, .. } = panel;
        let outputs = self.bias.dims()[1];
        let inputs = Inputs::new(panel, x);
        let mut sums: BTreeMap<(bool, [bool; 2]), Tensor<4>> = BTreeMap::new();
        // Operations with the same target are added up before they are broadcast.
        let mut parts: BTreeMap<Target, Tensor<4>> = BTreeMap::new();
        let mut add = |target, part: Tensor<4>| {
            let sum = match parts.remove(&target) {
                Some(sum) => sum + part,
                None => part,
            };
            parts.insert(target, sum);
        };
        for (number, partition) in partitions(4).iter().enumerate() {
            let [i, j, r, s] = partition[..] else { unreachable!("a partition of four indices") };
            let kept = [i, j].map(|block| block == r || block == s);
            let sum = sums.entry((i == j, kept)).or_insert_with(|| inputs.mean(i == j, kept)).clone();
            let [_, d1, d2, channels] = sum.dims();
            let weight = self.weight.clone().narrow(0, number, 1).squeeze_dim(0); // [inputs, outputs]
            let mapped = sum.reshape([g * d1 * d2, channels]).matmul(weight).reshape([g, d1, d2, outputs]);
            // An index of the input stands at its place in the output: the first at i, the second at j until here.
            let turned = (s == i && r != i) || (i != j && r == j);
            let mapped = if turned { mapped.swap_dims(1, 2) } else { mapped };
            let comes_in = |block: usize| block == i || block == j;
            let varies = if r == s { [comes_in(r), false] } else { [comes_in(r), comes_in(s)] };
            add(Target { diagonal: r == s, varies }, mapped); // [g, n or 1, n or 1, outputs]
        }
        for (number, diagonal) in [true, false].into_iter().enumerate() {
            let bias = self.bias.clone().narrow(0, number, 1).reshape([1, 1, 1, outputs]);
            add(Target { diagonal, varies: [false; 2] }, bias);
        }
        let placed = parts.into_iter().map(|(target, part)| match target.diagonal {
            true => part * inputs.identity.clone(), // [g, n, n, outputs]
            false => part,
        });
        let y = placed.reduce(|sum, part| sum + part).expect("a basis has operations");
        let y = activate(self.activation, y);
        let y = match &panel.own {
            Some([own, _]) => y * own.clone(),
            None => y,
        };
        y.reshape([g * n * n, outputs])
    }
}

/// The matrices of a panel.
struct Inputs<'a> {
    panel: &'a Panel,
    /// `[g, n, n, inputs]`
    matrix: Tensor<4>,
    /// `[g, n, 1, inputs]`
    diagonal: Tensor<4>,
    /// `[1, n, n, 1]`
    identity: Tensor<4>,
}

impl<'a> Inputs<'a> {
    fn new(panel: &'a Panel, x: Tensor<2>) -> Self {
        let &Panel { nodes: n, graphs: g, .. } = panel;
        let channels = x.dims()[1];
        let ones: Vec<f64> = (0..n * n).map(|pair| if pair % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
        let device = x.device().without_autodiff();
        let identity = Tensor::from_data(TensorData::new(ones, [1, n, n, 1]), (&device, x.dtype()));
        let diagonal = x.clone().reshape([g, n * n, channels]).slice(s![.., ..;n as isize + 1, ..]);
        Inputs {
            panel,
            matrix: x.reshape([g, n, n, channels]),
            diagonal: diagonal.reshape([g, n, 1, channels]),
            identity,
        }
    }

    /// X or its diagonal, averaged over the indices that are not kept: `[g, n or 1, n or 1, inputs]`.
    fn mean(&self, diagonal: bool, kept: [bool; 2]) -> Tensor<4> {
        let x = if diagonal { &self.diagonal } else { &self.matrix };
        let mut mean = x.clone();
        for (dimension, kept) in [1, 2].into_iter().zip(kept) {
            let n = mean.dims()[dimension];
            if !kept && n > 1 {
                let sum = mean.sum_dim(dimension);
                mean = match &self.panel.own {
                    Some([_, reciprocals]) => sum * reciprocals.clone(),
                    None => sum.mul_scalar(1.0 / n as f64),
                };
            }
        }
        mean
    }
}
