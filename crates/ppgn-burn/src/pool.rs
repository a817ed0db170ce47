//! From pairs to a graph: the maximum or the sum over its diagonal pairs, and over the others.
//!
//! The diagonal holds what belongs to nodes, the rest what belongs to pairs of them, so an invariant network pools the
//! two apart. Where several pairs attain a maximum, its gradient is split evenly over them: with the paper's zero biases
//! rows of zeros tie often, and no other rule is the same in every order of the nodes and in every space.

use crate::config::Pooling;
use crate::space::{Dense, Group};
use burn::tensor::{Bool, Tensor, TensorData, s};

/// Pooling on the dense space. What a graph has no pairs for (off the diagonal of one node) is 0.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - result: `[graphs, 2 * channels]`: the diagonal's, then the rest's
pub(crate) fn dense(space: &Dense, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
    let pooled: Vec<_> = space.groups().iter().map(|g| group(g, &x, pooling)).collect();
    space.restore(Tensor::cat(pooled, 0)) // [graphs, 2 * channels]
}

/// Pooling of graphs of one size, `[graphs of the group, 2 * channels]`.
fn group(group: &Group, x: &Tensor<2>, pooling: Pooling) -> Tensor<2> {
    let &Group { nodes: n, graphs: g, start, .. } = group;
    let channels = x.dims()[1];
    let zeros = || Tensor::zeros([g, channels], (&x.device(), x.dtype())); // [g, channels]
    if n == 0 {
        return Tensor::cat(vec![zeros(), zeros()], 1);
    }
    let x = x.clone().narrow(0, start, group.rows()).reshape([g, n * n, channels]);
    let diagonal = x.clone().slice(s![.., ..;n as isize + 1, ..]); // [g, n, channels]
    let diagonal = match pooling {
        Pooling::Max => maximum(diagonal, None),
        Pooling::Sum => diagonal.sum_dim(1).squeeze_dim(1), // [g, channels]
    };
    let rest = match pooling {
        _ if n == 1 => zeros(),
        Pooling::Max => maximum(x.clone(), Some(on_diagonal(n, &x))), // [g, channels]
        Pooling::Sum => x.clone().mask_fill(on_diagonal(n, &x), 0.0).sum_dim(1).squeeze_dim(1),
    };
    Tensor::cat(vec![diagonal, rest], 1) // [g, 2 * channels]
}

/// Which pairs are on the diagonal, in the shape of `x`: `[g, n * n, channels]`.
fn on_diagonal(n: usize, x: &Tensor<3>) -> Tensor<3, Bool> {
    let diagonal: Vec<bool> = (0..n * n).map(|pair| pair % (n + 1) == 0).collect();
    let device = x.device().without_autodiff();
    Tensor::<3, Bool>::from_data(TensorData::new(diagonal, [1, n * n, 1]), &device).expand(x.dims())
}

/// The maximum over the pairs that are not left out, its gradient split evenly over those that attain it.
///
/// # Shapes
/// - `x`, `without`: `[g, pairs, channels]`
/// - result: `[g, channels]`
fn maximum(x: Tensor<3>, without: Option<Tensor<3, Bool>>) -> Tensor<2> {
    let plain = x.clone().inner();
    let plain = match without {
        Some(without) => plain.mask_fill(without, f64::NEG_INFINITY),
        None => plain,
    };
    let value = plain.clone().max_dim(1); // [g, 1, channels]
    if !x.is_autodiff() {
        return value.squeeze_dim(1);
    }
    let tied = plain.clone().equal(value.clone().expand(plain.dims())); // [g, pairs, channels]
    let share = plain.zeros_like().mask_fill(tied, 1.0);
    let share = share.clone() / share.sum_dim(1); // [g, pairs, channels]
    // Worth the maximum, up to rounding, and with the gradient wanted; taking off its own value leaves an exact 0.
    let mean = (x * Tensor::from_inner(share)).sum_dim(1); // [g, 1, channels]
    let slope = mean.clone() - mean.detach();
    (Tensor::from_inner(value) + slope).squeeze_dim(1) // [g, channels]
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn tensor(device: &Device, numbers: &[f64]) -> Tensor<2> {
        let data = TensorData::new(numbers.to_vec(), [numbers.len(), 1]);
        Tensor::from_data(data, (device, burn::tensor::DType::F64))
    }

    #[test]
    fn ties_share_the_gradient_evenly() {
        // Three nodes with ties on the diagonal (5) and off it (7), one node, and two nodes all tied.
        let device = Device::default().autodiff();
        let space = Dense::new(&[3, 1, 2]).unwrap();
        let numbers = [-4.0, -2.0, -2.0, -2.0, -2.0, 5.0, 7.0, 1.0, 7.0, 5.0, 0.0, 7.0, 2.0, 3.0];
        let x = tensor(&device, &numbers).require_grad();
        let pooled = dense(&space, x.clone(), Pooling::Max);
        let values: Vec<f64> = pooled.clone().try_into_vec_as().unwrap();
        assert_eq!(values, [5.0, 7.0, -4.0, 0.0, -2.0, -2.0]);
        let weights = tensor(&device, &[1.0, 12.0, 100.0, 1e9, 1000.0, 5000.0]).reshape([3, 2]);
        let gradients = (pooled * weights).sum_dim(0).sum_dim(1).backward();
        let gradient: Vec<f64> = x.grad(&gradients).unwrap().try_into_vec_as().unwrap();
        let expected = [100.0, 500.0, 2500.0, 2500.0, 500.0, 0.5, 4.0, 0.0, 4.0, 0.5, 0.0, 4.0, 0.0, 0.0];
        assert_eq!(gradient, expected);
    }

    #[test]
    fn sums_are_over_each_part() {
        let space = Dense::new(&[2, 0, 1]).unwrap();
        let x = tensor(&Device::default(), &[8.0, 1.0, 2.0, 3.0, 4.0]);
        let sums: Vec<f64> = dense(&space, x.clone(), Pooling::Sum).try_into_vec_as().unwrap();
        assert_eq!(sums, [5.0, 5.0, 0.0, 0.0, 8.0, 0.0]);
        let maxima: Vec<f64> = dense(&space, x, Pooling::Max).try_into_vec_as().unwrap();
        assert_eq!(maxima, [4.0, 3.0, 0.0, 0.0, 8.0, 0.0]);
    }
}
