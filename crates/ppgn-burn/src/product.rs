//! Where rows meet: the matrix product in every channel, and its relatives for tuples.
//!
//! Rows lie graph after graph, in groups of one size, with their channels last. So the tuples of a group are a tensor
//! `[graphs, n, ..., n, channels]` without a copy, and each product is a few operations per group: neither padding, masks
//! nor gathers.

use burn::tensor::Tensor;
use ppgn_nn::kernels::Product;
use ppgn_nn::{Dense, Group, Scale};

/// The product of these factors on the dense space, times `factor(n)`.
///
/// - `Matrix`: `W[i,k] = sum over j of Y1[i,j] * Y2[j,k]`;
/// - `Generalised`: `W[i] = sum over j of the product over q of Yq[i with j in place q]`;
/// - `Sums`: `Y1[i with j in place q]` summed over j, for every place q side by side.
///
/// # Shapes
/// - `ys`, each: `[rows, channels]`
/// - result: `[rows, channels]`; `[rows, order * channels]` for `Sums`
///
/// # Complexity
/// O(n^(order + 1)) per channel and graph for the products, O(order * n^order) for the sums.
pub(crate) fn product(space: &Dense, product: Product, ys: &[Tensor<2>], scale: Scale) -> Tensor<2> {
    let part = |group: &Group| {
        let ys: Vec<_> = ys.iter().map(|y| rows(space, group, y)).collect();
        let w = match product {
            Product::Matrix => matrix(group, &ys[0], &ys[1]),
            Product::Generalised => generalised(group, &ys),
            Product::Sums(order) => sums(group, order, &ys[0]),
            Product::Neighbours(_) | Product::Transposed => {
                unreachable!("such networks are refused when they are made")
            }
        };
        // Times the reciprocal: the gradient of burn's division by a scalar is rounded to f32.
        let factor = scale.factor(group.nodes);
        if factor == 1.0 { w } else { w.mul_scalar(factor) }
    };
    join(space, part).unwrap_or_else(|| nothing(product, ys))
}

/// The product of factors that have no rows.
pub(crate) fn nothing(product: Product, ys: &[Tensor<2>]) -> Tensor<2> {
    let width = ys[0].dims()[1]
        * if let Product::Sums(times) | Product::Neighbours(times) = product { times } else { 1 };
    Tensor::zeros([0, width], (&ys[0].device(), ys[0].dtype()))
}

/// The rows of a group.
pub(crate) fn rows(space: &Dense, group: &Group, x: &Tensor<2>) -> Tensor<2> {
    match space.groups() {
        [_] => x.clone(),
        _ => x.clone().narrow(0, group.start, group.rows()),
    }
}

/// What is computed of every group, one below another; nothing if no graph has a node.
pub(crate) fn join(space: &Dense, part: impl Fn(&Group) -> Tensor<2>) -> Option<Tensor<2>> {
    // A graph without nodes has no rows.
    let mut parts: Vec<_> = space.groups().iter().filter(|group| group.nodes > 0).map(part).collect();
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Tensor::cat(parts, 0)), // [rows, channels]
    }
}

fn matrix(group: &Group, y1: &Tensor<2>, y2: &Tensor<2>) -> Tensor<2> {
    let &Group { nodes: n, graphs: g, .. } = group;
    let channels = y1.dims()[1];
    let matrices = |y: &Tensor<2>| y.clone().reshape([g, n, n, channels]).permute([0, 3, 1, 2]);
    let w = matrices(y1).matmul(matrices(y2)); // [g, channels, n, n]
    w.permute([0, 2, 3, 1]).reshape([g * n * n, channels]) // [g * n * n, channels]
}

fn generalised(group: &Group, ys: &[Tensor<2>]) -> Tensor<2> {
    let places: Vec<_> = ys.iter().enumerate().map(|(q, y)| by_place(group, ys.len(), q, y)).collect();
    let shape = ys[0].dims();
    let term = |j: usize| {
        let factors = places.iter().map(|y| y.clone().narrow(1, j, 1).expand(y.dims()).reshape(shape));
        factors.reduce(|product, y| product * y).expect("a product has factors") // [rows, channels]
    };
    (0..group.nodes).map(term).reduce(|sum, term| sum + term).expect("a group has nodes")
}

fn sums(group: &Group, order: usize, y: &Tensor<2>) -> Tensor<2> {
    let part = |q: usize| {
        let places = by_place(group, order, q, y);
        places.clone().sum_dim(1).expand(places.dims()).reshape(y.dims()) // [rows, channels]
    };
    Tensor::cat((0..order).map(part).collect(), 1) // [rows, order * channels]
}

/// A group's rows with place q of their tuples as a dimension of its own: `[graphs * n^q, n, n^(order - 1 - q) * channels]`.
fn by_place(group: &Group, order: usize, q: usize, y: &Tensor<2>) -> Tensor<3> {
    let n = group.nodes;
    let (before, after) = (n.pow(q as u32), n.pow((order - 1 - q) as u32));
    y.clone().reshape([group.graphs * before, n, after * y.dims()[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn tensor(y: &[f32], channels: usize) -> Tensor<2> {
        Tensor::<1>::from_floats(y, &Device::flex()).reshape([y.len() / channels, channels])
    }

    #[test]
    fn it_is_the_matrix_product_in_every_channel() {
        let space = Dense::new(&[2, 1, 2]).unwrap();
        assert_eq!(space.given(), [1, 0, 2]);
        let y1: Vec<f32> = (0..18).map(|x| x as f32).collect();
        let y2: Vec<f32> = (0..18).map(|x| (x * x % 7) as f32).collect();
        let run = |kind, first: &[f32], second: &[f32]| -> Vec<f32> {
            let ys = [tensor(first, 2), tensor(second, 2)];
            product(&space, kind, &ys, Scale::N).try_into_vec_as().unwrap()
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

    #[test]
    fn sums_are_over_one_place_each() {
        let space = Dense::of_tuples(3, &[2, 0]).unwrap();
        let y: Vec<f32> = (0..8).map(|x| (1 << x) as f32).collect();
        let w: Vec<f32> =
            product(&space, Product::Sums(3), &[tensor(&y, 1)], Scale::None).try_into_vec_as().unwrap();
        // Of (0, 1, 0): 010 and 110, 000 and 010, 010 and 011.
        assert_eq!(w[3 * 2..3 * 3], [4.0 + 64.0, 1.0 + 4.0, 4.0 + 8.0]);
        let empty = Dense::new(&[0]).unwrap();
        let nothing = Tensor::zeros([0, 2], &Device::flex());
        assert_eq!(product(&empty, Product::Sums(2), &[nothing], Scale::None).dims(), [0, 4]);
    }
}
