//! The block's heart: a matrix product in every channel.
//!
//! `W[i,k,c] = factor(n) * sum over j of Y1[i,j,c] * Y2[j,k,c]`, O(n^3) a channel and graph. Rows have their channels
//! last, so a channel's matrix is read with strides; graphs of one size are one batch of such matrices.

use crate::config::Scale;
use crate::space::{Dense, Group};
use burn::tensor::Tensor;

/// The product on the dense space.
///
/// # Shapes
/// - `y1`, `y2`, result: `[rows, channels]`
pub(crate) fn dense(space: &Dense, y1: Tensor<2>, y2: Tensor<2>, scale: Scale) -> Tensor<2> {
    let part = |y: &Tensor<2>, group: &Group| match space.groups() {
        [_] => y.clone(),
        _ => y.clone().narrow(0, group.start, group.rows()),
    };
    // A graph without nodes has no rows.
    let groups = space.groups().iter().filter(|g| g.nodes > 0);
    let parts: Vec<_> = groups.map(|g| group(g, part(&y1, g), part(&y2, g), scale.factor(g.nodes))).collect();
    match parts.len() {
        0 => y1,
        1 => parts.into_iter().next().expect("one part"),
        _ => Tensor::cat(parts, 0), // [rows, channels]
    }
}

/// The product of graphs of one size.
fn group(group: &Group, y1: Tensor<2>, y2: Tensor<2>, factor: f64) -> Tensor<2> {
    let &Group { nodes: n, graphs: g, .. } = group;
    let channels = y1.dims()[1];
    let matrices = |y: Tensor<2>| y.reshape([g, n, n, channels]).permute([0, 3, 1, 2]); // [g, channels, n, n]
    let w = matrices(y1).matmul(matrices(y2)); // [g, channels, n, n]
    let w = w.permute([0, 2, 3, 1]).reshape([g * n * n, channels]); // [g * n * n, channels]
    if factor == 1.0 { w } else { w.mul_scalar(factor) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn it_is_the_matrix_product_in_every_channel() {
        let device = Device::default();
        let space = Dense::new(&[2, 1, 2]).unwrap();
        assert_eq!(space.order(), [1, 0, 2]);
        let y1: Vec<f32> = (0..18).map(|x| x as f32).collect();
        let y2: Vec<f32> = (0..18).map(|x| (x * x % 7) as f32).collect();
        let tensor = |y: &[f32]| Tensor::<1>::from_floats(y, &device).reshape([9, 2]);
        let w: Vec<f32> = dense(&space, tensor(&y1), tensor(&y2), Scale::N).try_into_vec_as().unwrap();
        for (start, n) in [(0, 1), (1, 2), (5, 2)] {
            for c in 0..2 {
                for i in 0..n {
                    for k in 0..n {
                        let at = |i: usize, k: usize| 2 * (start + i * n + k) + c;
                        let sum: f32 = (0..n).map(|j| y1[at(i, j)] * y2[at(j, k)]).sum();
                        assert_eq!(w[at(i, k)], sum / n as f32);
                    }
                }
            }
        }
    }
}
