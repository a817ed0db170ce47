//! The generalised product and the sums over one index against the equations, one term at a time.

use super::naive::Random;
use crate::generalised::quotient::{quotient_generalised, quotient_generalised_backward};
use crate::generalised::{generalised_product, generalised_product_backward};
use crate::product::{product, product_backward};
use crate::sums::{index_sums, index_sums_backward, quotient_sums, quotient_sums_backward};
use crate::{
    ColourMatrix, Example, Pools, Real, Square, Workspace, patterns, pool_max, pool_max_backward, pool_sum,
    pool_sum_backward,
};

/// For every row above: its factor and, for every node j, the rows below of the tuples in which j replaces one node.
type Terms = Vec<(f64, Vec<Vec<usize>>)>;

fn digits(place: usize, n: usize, k: usize) -> Vec<usize> {
    (0..k as u32).rev().map(|q| place / n.pow(q) % n).collect()
}

fn with_each_node(place: usize, n: usize, k: usize) -> Vec<Vec<usize>> {
    let put = |q: usize, j: usize| {
        let mut tuple = digits(place, n, k);
        tuple[q] = j;
        tuple.into_iter().fold(0, |place, node| place * n + node)
    };
    (0..n).map(|j| (0..k).map(|q| put(q, j)).collect()).collect()
}

fn close<T: Real + Into<f64>>(got: &[T], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (at, (&g, &w)) in got.iter().zip(expected).enumerate() {
        let g: f64 = g.into();
        assert!((g - w).abs() <= tolerance * w.abs().max(1.0), "{what}[{at}]: {g} {w}");
    }
}

/// W and, given its gradient dW, the gradients of the factors.
fn generalised(
    terms: &Terms,
    c: usize,
    ys: &[Vec<f64>],
    dw: &[f64],
    relu: bool,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut w = vec![0.0; terms.len() * c];
    let mut ds = vec![vec![0.0; ys[0].len()]; ys.len()];
    for (row, (factor, words)) in terms.iter().enumerate() {
        for word in words {
            for channel in 0..c {
                let y = |q: usize| ys[q][word[q] * c + channel];
                w[row * c + channel] += factor * (0..ys.len()).map(y).product::<f64>();
                for q in (0..ys.len()).filter(|&q| !relu || y(q) > 0.0) {
                    let others = (0..ys.len()).filter(|&r| r != q).map(y).product::<f64>();
                    ds[q][word[q] * c + channel] += factor * dw[row * c + channel] * others;
                }
            }
        }
    }
    (w, ds)
}

fn summed(terms: &Terms, k: usize, c: usize, y: &[f64], dw: &[f64], relu: bool) -> (Vec<f64>, Vec<f64>) {
    let mut w = vec![0.0; terms.len() * k * c];
    let mut d = vec![0.0; y.len()];
    for (row, (factor, words)) in terms.iter().enumerate() {
        for word in words {
            for (q, &at) in word.iter().enumerate() {
                for channel in 0..c {
                    let (above, below) = ((row * k + q) * c + channel, at * c + channel);
                    w[above] += factor * y[below];
                    d[below] += if !relu || y[below] > 0.0 { factor * dw[above] } else { 0.0 };
                }
            }
        }
    }
    (w, d)
}

enum Way<'a> {
    Dense(&'a [Square]),
    Quotient(ColourMatrix<'a>),
}

/// Compares both products on random numbers, forward and backward, on one space and in one precision.
fn compare<T: Real + Into<f64>>(
    way: &Way<'_>,
    terms: &Terms,
    below: usize,
    k: usize,
    c: usize,
    tolerance: f64,
) {
    // A ReLU's derivative is part of the products' gradients; other activations take care of theirs.
    let relu = c != 16 && c != 5;
    let mut random = Random::new((k * 100 + c) as u64);
    let mut numbers =
        |count| -> Vec<f64> { random.numbers(count).iter().map(|&x| f64::from(x as f32)).collect() };
    let ys: Vec<Vec<f64>> = (0..k).map(|_| numbers(below * c)).collect();
    let (dw, dsums) = (numbers(terms.len() * c), numbers(terms.len() * k * c));
    let rounded = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| T::rounded(x)).collect() };
    let (w, ds) = generalised(terms, c, &ys, &dw, relu);
    let (sums, d) = summed(terms, k, c, &ys[0], &dsums, relu);
    let (ys, dw, dsums): (Vec<Vec<T>>, _, _) =
        (ys.iter().map(|y| rounded(y)).collect(), rounded(&dw), rounded(&dsums));
    let factors: Vec<&[T]> = ys.iter().map(Vec::as_slice).collect();
    let (mut got, mut got_sums) = (vec![T::default(); w.len()], vec![T::default(); sums.len()]);
    let (mut gradients, mut gradient) =
        (vec![vec![T::rounded(7.0); ys[0].len()]; k], vec![T::rounded(7.0); d.len()]);
    let mut into: Vec<&mut [T]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
    let workspace = Workspace::default();
    match way {
        Way::Dense(graphs) => {
            generalised_product(&workspace, graphs, c, &factors, &mut got);
            generalised_product_backward(&workspace, graphs, c, &dw, &factors, &mut into, relu);
            index_sums(graphs, k, c, factors[0], &mut got_sums);
            index_sums_backward(graphs, k, c, &dsums, factors[0], &mut gradient, relu);
        }
        Way::Quotient(colours) => {
            quotient_generalised(&workspace, *colours, c, &factors, &mut got);
            quotient_generalised_backward(&workspace, *colours, c, &dw, &factors, &mut into, relu);
            quotient_sums(*colours, k, c, factors[0], &mut got_sums);
            quotient_sums_backward(*colours, k, c, &dsums, factors[0], &mut gradient, relu);
        }
    }
    close(&got, &w, tolerance, "product");
    close(&got_sums, &sums, tolerance, "sums");
    gradients
        .iter()
        .zip(&ds)
        .for_each(|(got, expected)| close(got, expected, tolerance, "gradient of the product"));
    close(&gradient, &d, tolerance, "gradient of the sums");
}

/// Graphs with the given numbers of nodes, one after another, scaled by 1 / n.
fn squares(nodes: &[usize], k: usize) -> (Vec<Square>, usize) {
    let mut start = 0;
    let square = |&nodes: &usize| {
        let square = Square { start, nodes, factor: 1.0 / nodes.max(1) as f64 };
        start += nodes.pow(k as u32);
        square
    };
    (nodes.iter().map(square).collect(), start)
}

#[test]
fn dense_products_match_the_equations() {
    let sizes: [(usize, &[usize]); 4] = [(2, &[4, 0, 1, 7]), (3, &[1, 7, 0, 2]), (4, &[2, 3]), (5, &[2])];
    for (k, nodes) in sizes {
        let (graphs, rows) = squares(nodes, k);
        let mut terms = Terms::new();
        for graph in &graphs {
            for place in 0..graph.nodes.pow(k as u32) {
                let mut words = with_each_node(place, graph.nodes, k);
                words.iter_mut().flatten().for_each(|row| *row += graph.start);
                terms.push((graph.factor, words));
            }
        }
        // Whole vectors of every level, parts of them, and both.
        for channels in [1, 3, 4, 8, 11, 16, 24, 35] {
            compare::<f64>(&Way::Dense(&graphs), &terms, rows, k, channels, 1e-12);
            compare::<f32>(&Way::Dense(&graphs), &terms, rows, k, channels, 2e-5);
        }
    }
}

#[test]
fn quotient_products_match_the_equations() {
    let mut random = Random::new(1);
    let mut pick = |below: usize| random.bits() as usize % below;
    for k in 2..=4 {
        // Two graphs; the colours may be arbitrary, stable or not.
        let (nodes, below) = ([3usize, 4], 9);
        let tuples = nodes.map(|n| n.pow(k as u32));
        let offsets = [0, tuples[0]];
        let matrix: Vec<u32> = (0..tuples[0] + tuples[1]).map(|_| pick(below) as u32).collect();
        let example = |at: usize| Example { graph: (at % 2) as u32, place: pick(tuples[at % 2]) as u32 };
        let examples: Vec<Example> = (0..23).map(example).collect();
        let factors = [0.5, 0.25];
        let colours = ColourMatrix {
            below,
            examples: &examples,
            nodes: &nodes,
            factors: &factors,
            offsets: &offsets,
            matrix: &matrix,
            twins: &[],
        };
        let term = |e: &Example| {
            let graph = e.graph as usize;
            let mut words = with_each_node(e.place as usize, nodes[graph], k);
            words.iter_mut().flatten().for_each(|at| *at = matrix[offsets[graph] + *at] as usize);
            (factors[graph], words)
        };
        let terms: Terms = examples.iter().map(term).collect();
        for channels in [1, 5, 32, 70] {
            compare::<f64>(&Way::Quotient(colours), &terms, below, k, channels, 1e-12);
            compare::<f32>(&Way::Quotient(colours), &terms, below, k, channels, 2e-5);
        }
    }
}

#[test]
fn on_pairs_the_generalised_product_is_the_second_factor_times_the_first() {
    let (graphs, rows) = squares(&[6, 3], 2);
    let mut random = Random::new(5);
    let [a, b, dw] = [(); 3].map(|()| random.numbers(rows * 4));
    let [mut general, mut pairs] = [vec![0.0; rows * 4], vec![0.0; rows * 4]];
    generalised_product(&Workspace::default(), &graphs, 4, &[&a, &b], &mut general);
    product(&Workspace::default(), &graphs, 4, &b, &a, &mut pairs);
    close(&general, &pairs, 1e-14, "product");
    let [mut da, mut db] = [general, pairs];
    generalised_product_backward(
        &Workspace::default(),
        &graphs,
        4,
        &dw,
        &[&a, &b],
        &mut [&mut da, &mut db],
        true,
    );
    let (mut ga, mut gb) = (a, b);
    product_backward(&Workspace::default(), &graphs, 4, &dw, &mut gb, &mut ga, true);
    close(&da, &ga, 1e-14, "gradient");
    close(&db, &gb, 1e-14, "gradient");
}

#[test]
fn every_pattern_is_pooled_separately() {
    let (k, channels) = (3, 2);
    let (graphs, rows) = squares(&[1, 2, 4], k);
    let pools = Pools::Dense { order: k, graphs: &graphs, place: &[1, 2, 0] };
    let mut random = Random::new(2);
    let x = random.numbers(rows * channels);
    let d = random.numbers(3 * 5 * channels);
    // The words of the five patterns, in order.
    let words = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]];
    let word = |tuple: &[usize]| {
        let mut seen: Vec<usize> = Vec::new();
        let mut number = |node: usize| {
            seen.iter().position(|&s| s == node).unwrap_or_else(|| {
                seen.push(node);
                seen.len() - 1
            })
        };
        [number(tuple[0]), number(tuple[1]), number(tuple[2])]
    };
    let (mut sums, mut maxima) = (vec![0.0; d.len()], vec![0.0f64; d.len()]);
    let (mut dsum, mut dmax) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for (graph, place) in graphs.iter().zip([1, 2, 0]) {
        for (p, pattern) in words.iter().enumerate() {
            let tuples: Vec<usize> = (0..graph.nodes.pow(3))
                .filter(|&t| word(&digits(t, graph.nodes, 3)) == *pattern)
                .map(|t| graph.start + t)
                .collect();
            for c in 0..channels {
                let to = (place * 5 + p) * channels + c;
                let values: Vec<f64> = tuples.iter().map(|&t| x[t * channels + c]).collect();
                sums[to] = values.iter().sum();
                maxima[to] = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
                let tied = values.iter().filter(|&&v| v == maxima[to]).count() as f64;
                for (&t, &v) in tuples.iter().zip(&values) {
                    dsum[t * channels + c] += d[to];
                    dmax[t * channels + c] += if v == maxima[to] { d[to] / tied } else { 0.0 };
                }
            }
        }
    }
    assert_eq!(patterns(k), words.len());
    let (mut got, mut dx) = (vec![0.0; d.len()], vec![0.0; x.len()]);
    pool_sum(pools, channels, &x, &mut got);
    close(&got, &sums, 1e-14, "sums");
    pool_sum_backward(pools, channels, &d, &mut dx);
    close(&dx, &dsum, 1e-14, "gradient of sums");
    let (ties, mut dx) = (pool_max(pools, channels, &x, &mut got, true), vec![0.0; x.len()]);
    close(&got, &maxima, 1e-14, "maxima");
    pool_max_backward(pools, channels, &ties, &d, &mut dx);
    close(&dx, &dmax, 1e-14, "gradient of maxima");
}
