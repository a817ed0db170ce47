//! Equivariant layers against their definition: every partition of four indices, entry by entry, in f64.

use super::naive::Random;
use crate::{Activation, Buffer, Equivariant, Linears, Real, Square, Workspace};

/// All partitions of four indices in lexicographic order, given as the block of every index.
fn partitions() -> Vec<[usize; 4]> {
    let mut all = Vec::new();
    for code in 0..4usize.pow(4) {
        let p = [code / 64 % 4, code / 16 % 4, code / 4 % 4, code % 4];
        let in_order = (0..4).all(|i| p[i] <= p[..i].iter().map(|b| b + 1).max().unwrap_or(0));
        if in_order {
            all.push(p);
        }
    }
    all
}

/// Whether indices in the same block of a partition are equal.
fn agree(partition: &[usize; 4], at: [usize; 4]) -> bool {
    (0..4).all(|i| (0..i).all(|j| partition[i] != partition[j] || at[i] == at[j]))
}

/// The divisor that makes the operation a mean: n for every block of input indices without an output index.
fn divisor(partition: &[usize; 4], n: usize) -> f64 {
    let summed = |b: &usize| !partition[2..].contains(b);
    let blocks: std::collections::BTreeSet<&usize> = partition[..2].iter().filter(|b| summed(b)).collect();
    (n as f64).powi(blocks.len() as i32)
}

/// The layer as a matrix from entries and channels to entries and channels, one term at a time: `term` gets (output
/// index, input index, weight index, factor).
fn terms(n: usize, [a, b]: [usize; 2], mut term: impl FnMut(usize, usize, usize, f64)) {
    for (p, partition) in partitions().iter().enumerate() {
        for code in 0..n.pow(4) {
            let at = [code / n.pow(3), code / n.pow(2) % n, code / n % n, code % n];
            if !agree(partition, at) {
                continue;
            }
            let factor = 1.0 / divisor(partition, n);
            for i in 0..a {
                for o in 0..b {
                    let (from, to) = ((at[0] * n + at[1]) * a + i, (at[2] * n + at[3]) * b + o);
                    term(to, from, (p * a + i) * b + o, factor);
                }
            }
        }
    }
}

struct Naive {
    y: Vec<f64>,
    dx: Vec<f64>,
    gradient: Vec<f64>,
}

/// Output and gradients of ReLU(L(X)) for consecutive graphs.
fn naive(sizes: &[usize], widths: [usize; 2], p: &[f64], x: &[f64], d: &[f64]) -> Naive {
    let [a, b] = widths;
    let rows: usize = sizes.iter().map(|n| n * n).sum();
    let mut all = Naive { y: vec![0.0; rows * b], dx: vec![0.0; rows * a], gradient: vec![0.0; p.len()] };
    let mut start = 0;
    for &n in sizes {
        let y = &mut all.y[start * b..][..n * n * b];
        for pair in 0..n * n {
            for o in 0..b {
                let diagonal = if pair / n == pair % n { p[15 * a * b + o] } else { 0.0 };
                y[pair * b + o] = diagonal + p[15 * a * b + b + o];
            }
        }
        let x = &x[start * a..];
        terms(n, widths, |to, from, weight, factor| y[to] += factor * p[weight] * x[from]);
        y.iter_mut().for_each(|y| *y = y.max(0.0));
        let d: Vec<f64> =
            d[start * b..].iter().zip(&*y).map(|(&d, &y)| if y > 0.0 { d } else { 0.0 }).collect();
        let (dx, gradient) = (&mut all.dx[start * a..], &mut all.gradient);
        terms(n, widths, |to, from, weight, factor| {
            gradient[weight] += factor * d[to] * x[from];
            dx[from] += factor * d[to] * p[weight];
        });
        for (pair, d) in d.chunks(b).enumerate() {
            for (o, &d) in d.iter().enumerate() {
                gradient[15 * a * b + b + o] += d;
                gradient[15 * a * b + o] += if pair / n == pair % n { d } else { 0.0 };
            }
        }
        start += n * n;
    }
    all
}

fn close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
    for (at, (g, w)) in got.iter().zip(expected).enumerate() {
        assert!((g - w).abs() <= tolerance * scale, "{what}[{at}]: {g} {w} of {scale}");
    }
}

fn squares(sizes: &[usize]) -> Vec<Square> {
    let mut start = 0;
    let square = |&nodes: &usize| {
        let square = Square { start, nodes, factor: 1.0 };
        start += nodes * nodes;
        square
    };
    sizes.iter().map(square).collect()
}

/// Layers with these widths, in sequence.
fn linears<'a, T: Real>(p: &'a [T], widths: &[usize]) -> Linears<'a, T> {
    let mut rest = p;
    let layer = |w: &[usize]| {
        let (layer, next) = Equivariant::cut(rest, w[0], w[1]);
        rest = next;
        layer
    };
    Linears { layers: widths.windows(2).map(layer).collect(), activation: Activation::Relu }
}

/// The last output and, given its gradient `d`, the gradients of the parameters and of X.
fn run<T: Real>(layers: &Linears<'_, T>, graphs: &[Square], x: &[T], d: &[T]) -> [Vec<T>; 3] {
    let workspace = Workspace::default();
    let results = layers.forward(&workspace, graphs, x, true);
    let last = results.0.last().unwrap().to_vec();
    assert!(layers.forward(&workspace, graphs, x, false).0[0][..] == last[..]);
    let (mut gradient, mut dx) = (vec![T::default(); layers.len()], vec![T::default(); x.len()]);
    let d = Buffer::copy(&workspace, d);
    layers.backward(&workspace, graphs, x, results, d, &mut gradient, Some(&mut dx));
    [last, gradient, dx]
}

#[test]
fn a_layer_matches_its_fifteen_operations() {
    assert_eq!(partitions().len(), 15);
    for (seed, (sizes, [a, b])) in
        [(&[1][..], [1, 1]), (&[3, 0, 2, 1], [2, 3]), (&[5], [3, 1]), (&[4, 6], [5, 19])]
            .into_iter()
            .enumerate()
    {
        let rows: usize = sizes.iter().map(|n| n * n).sum();
        let mut random = Random::new(seed as u64);
        let (p, x, d) =
            (random.numbers(15 * a * b + 2 * b), random.numbers(rows * a), random.numbers(rows * b));
        let expected = naive(sizes, [a, b], &p, &x, &d);
        let (graphs, layer) = (squares(sizes), linears(&p, &[a, b]));
        let [y, gradient, dx] = run(&layer, &graphs, &x, &d);
        close(&y, &expected.y, 1e-12, "output");
        close(&dx, &expected.dx, 1e-12, "dx");
        close(&gradient, &expected.gradient, 1e-12, "gradient");
    }
}

#[test]
fn several_layers_in_sequence() {
    let (sizes, widths) = ([4, 3], [2, 5, 3]);
    let graphs = squares(&sizes);
    let length = |w: &[usize]| 15 * w[0] * w[1] + 2 * w[1];
    let mut random = Random::new(9);
    let (p, x, d) =
        (random.numbers(widths.windows(2).map(length).sum()), random.numbers(25 * 2), random.numbers(25 * 3));
    let (p1, p2) = p.split_at(length(&widths));
    let hidden = naive(&sizes, [2, 5], p1, &x, &[0.0; 25 * 5]);
    let last = naive(&sizes, [5, 3], p2, &hidden.y, &d);
    let first = naive(&sizes, [2, 5], p1, &x, &last.dx);
    let layers = linears(&p, &widths);
    let [y, gradient, dx] = run(&layers, &graphs, &x, &d);
    close(&y, &last.y, 1e-12, "output");
    close(&dx, &first.dx, 1e-12, "dx");
    close(&gradient, &[first.gradient, last.gradient].concat(), 1e-12, "gradient");
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let (sizes, widths) = ([9, 14, 3, 30], [5, 21, 37]);
    let graphs = squares(&sizes);
    let rows: usize = sizes.iter().map(|n| n * n).sum();
    let mut random = Random::new(8);
    let mut numbers = |count| -> Vec<f32> { random.numbers(count).iter().map(|&x| x as f32).collect() };
    let length = widths.windows(2).map(|w| 15 * w[0] * w[1] + 2 * w[1]).sum();
    let (p, x, d) = (numbers(length), numbers(rows * 5), numbers(rows * 37));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&linears(&p, &widths), &graphs, &x, &d))
    };
    assert_eq!(on(1), on(3));
}
