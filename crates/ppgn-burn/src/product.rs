//! Where rows meet: the matrix product in every channel, and its relatives for tuples.
//!
//! The tuples of a panel are a tensor `[graphs, n, ..., n, channels]` without a copy, and each product is a few operations
//! per panel.

use crate::meeting::{Meeting, Panel};
use burn::tensor::Tensor;
use ppgn_nn::kernels::Product;

/// Numbers of the terms of a generalised product that exist at once.
const TERMS: usize = 1 << 24;

/// The product of these factors on all tuples, without the factor of the sizes.
///
/// - `Matrix`: `W[i,k] = sum over j of Y1[i,j] * Y2[j,k]`;
/// - `Generalised`: `W[i] = sum over j of the product over q of Yq[i with j in place q]`;
/// - `Sums`: `Y1[i with j in place q]` summed over j, for every place q side by side.
///
/// # Shapes
/// - `ys`, each: `[tuples, channels]`
/// - result: `[tuples, channels]`; `[tuples, order * channels]` for `Sums`
///
/// # Complexity
/// O(n^(order + 1)) per channel and graph for the products, O(order * n^order) for the sums.
pub(crate) fn product(meeting: &Meeting, product: Product, ys: &[Tensor<2>]) -> Tensor<2> {
    let part = |panel: &Panel| {
        let ys: Vec<_> = ys.iter().map(|y| meeting.rows(panel, y)).collect();
        match product {
            Product::Matrix | Product::Transposed => matrix(panel, &ys[0], &ys[1]),
            Product::Generalised => match panel.order {
                2 => generalised::<5>(panel, &ys),
                3 => generalised::<6>(panel, &ys),
                4 => generalised::<7>(panel, &ys),
                5 => generalised::<8>(panel, &ys),
                _ => generalised::<9>(panel, &ys),
            },
            Product::Sums(order) => sums(panel, order, &ys[0]),
            Product::Neighbours(_) => unreachable!("messages are not a meeting of tuples"),
        }
    };
    meeting.join(part).unwrap_or_else(|| nothing(product, ys))
}

/// The product of factors that have no rows.
pub(crate) fn nothing(product: Product, ys: &[Tensor<2>]) -> Tensor<2> {
    let width = ys[0].dims()[1]
        * if let Product::Sums(times) | Product::Neighbours(times) = product { times } else { 1 };
    Tensor::zeros([0, width], (&ys[0].device(), ys[0].dtype()))
}

fn matrix(panel: &Panel, y1: &Tensor<2>, y2: &Tensor<2>) -> Tensor<2> {
    let &Panel { nodes: n, graphs: g, .. } = panel;
    let channels = y1.dims()[1];
    let matrices = |y: &Tensor<2>| y.clone().reshape([g, n, n, channels]).permute([0, 3, 1, 2]);
    let w = matrices(y1).matmul(matrices(y2)); // [g, channels, n, n]
    w.permute([0, 2, 3, 1]).reshape([g * n * n, channels]) // [g * n * n, channels]
}

/// D is the order and three more: graphs, the order's places i, the place j that is summed over, channels.
fn generalised<const D: usize>(panel: &Panel, ys: &[Tensor<2>]) -> Tensor<2> {
    let &Panel { nodes: n, graphs: g, order, .. } = panel;
    assert_eq!(D, order + 3, "orders up to 6");
    let [rows, channels] = ys[0].dims();
    let j = order + 1;
    let mut shape = [n; D];
    (shape[0], shape[j], shape[D - 1]) = (g, 1, channels);
    // Place q of factor q is the one that is summed over.
    let factors: Vec<Tensor<D>> =
        ys.iter().enumerate().map(|(q, y)| y.clone().reshape(shape).swap_dims(q + 1, j)).collect();
    let together = (TERMS / (rows * channels).max(1)).clamp(1, n.max(1));
    let some = |from: usize| {
        let count = together.min(n - from);
        let factors = factors.iter().map(|y| y.clone().narrow(j, from, count));
        let terms = factors.reduce(|product, y| product * y).expect("a product has factors");
        terms.sum_dim(j).reshape([rows, channels])
    };
    (0..n).step_by(together).map(some).reduce(|sum, terms| sum + terms).expect("a panel has nodes")
}

fn sums(panel: &Panel, order: usize, y: &Tensor<2>) -> Tensor<2> {
    let part = |q: usize| {
        let places = by_place(panel, order, q, y);
        places.clone().sum_dim(1).expand(places.dims()).reshape(y.dims()) // [rows, channels]
    };
    Tensor::cat((0..order).map(part).collect(), 1) // [rows, order * channels]
}

/// A panel's rows with place q of their tuples as a dimension of its own: `[graphs * n^q, n, n^(order - 1 - q) * channels]`.
fn by_place(panel: &Panel, order: usize, q: usize, y: &Tensor<2>) -> Tensor<3> {
    let n = panel.nodes;
    let (before, after) = (n.pow(q as u32), n.pow((order - 1 - q) as u32));
    y.clone().reshape([panel.graphs * before, n, after * y.dims()[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::Link;
    use burn::tensor::Device;
    use ppgn_nn::{Dense, Precision, Scale};

    fn link() -> Link {
        Link::new(&Device::flex(), Precision::F32)
    }

    fn tensor(y: &[f32], channels: usize) -> Tensor<2> {
        Tensor::<1>::from_floats(y, &Device::flex()).reshape([y.len() / channels, channels])
    }

    /// Rows below to rows above, as a block does it.
    fn run(space: &Dense, padding: f64, kind: Product, ys: Vec<Tensor<2>>) -> Vec<f32> {
        let meeting = Meeting::dense(&link(), space, Scale::N, padding, false);
        assert_eq!(meeting.ways.is_some(), padding > 1.0);
        let spread = |y: Tensor<2>| meeting.ways.as_ref().map_or(y.clone(), |[spread, _]| spread.forward(y));
        let w = product(&meeting, kind, &ys.into_iter().map(spread).collect::<Vec<_>>());
        let w = meeting.ways.as_ref().map_or(w.clone(), |[_, read]| read.forward(w));
        meeting.factor.times(w).try_into_vec_as().unwrap()
    }

    #[test]
    fn it_is_the_matrix_product_in_every_channel() {
        let space = Dense::new(&[2, 1, 2]).unwrap();
        assert_eq!(space.given(), [1, 0, 2]);
        let y1: Vec<f32> = (0..18).map(|x| x as f32).collect();
        let y2: Vec<f32> = (0..18).map(|x| (x * x % 7) as f32).collect();
        for padding in [1.0, 9.0] {
            let run = |kind, first: &[f32], second: &[f32]| -> Vec<f32> {
                run(&space, padding, kind, vec![tensor(first, 2), tensor(second, 2)])
            };
            let w = run(Product::Matrix, &y1, &y2);
            // Over pairs the generalised product is Y2 . Y1.
            assert_eq!(run(Product::Generalised, &y2, &y1), w);
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

    #[test]
    fn sums_are_over_one_place_each() {
        let space = Dense::of_tuples(3, &[2, 0]).unwrap();
        let y: Vec<f32> = (0..8).map(|x| (1 << x) as f32).collect();
        let w = run(&space, 1.0, Product::Sums(3), vec![tensor(&y, 1)]);
        // Of (0, 1, 0), halved: 010 and 110, 000 and 010, 010 and 011.
        assert_eq!(w[3 * 2..3 * 3], [34.0, 2.5, 6.0]);
        let meeting = Meeting::dense(&link(), &Dense::new(&[0]).unwrap(), Scale::None, 1.0, false);
        let nothing = Tensor::zeros([0, 2], &Device::flex());
        assert_eq!(product(&meeting, Product::Sums(2), &[nothing]).dims(), [0, 4]);
    }
}
