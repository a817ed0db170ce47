//! The linear basis: equal to its dense matrices, equivariant, independent and complete; and the k-order network.

use crate::shared::weighted;
use ppgn_graph::random::Stream;
use ppgn_nn::equivariant::{EquivariantConfig, EquivariantLinear, KOrder, KOrderConfig, bell, partitions};
use ppgn_nn::{Batch, Matrix, Precision, Values};

fn matrix(rows: usize, numbers: &[f64]) -> Matrix {
    Matrix::new(rows, numbers.len() / rows, Values::F64(numbers.to_vec())).unwrap()
}

fn numbers(x: Matrix) -> Vec<f64> {
    x.to_f64()
}

fn random(count: usize, stream: &mut Stream) -> Vec<f64> {
    (0..count).map(|_| stream.uniform(-1.0, 1.0)).collect()
}

fn layer(config: EquivariantConfig, seed: u64) -> EquivariantLinear {
    let mut stream = Stream::new(seed, "layer", &[]);
    let [weights, biases] = config.sizes().unwrap();
    let (weight, bias) = (random(weights, &mut stream), random(biases, &mut stream));
    EquivariantLinear::new(config, Values::F64(weight), Values::F64(bias)).unwrap()
}

/// The tuple with this index.
fn digits(mut place: usize, order: usize, n: usize) -> Vec<usize> {
    let mut tuple = vec![0; order];
    for digit in tuple.iter_mut().rev() {
        *digit = place % n;
        place /= n;
    }
    tuple
}

fn power(n: usize, order: usize) -> usize {
    n.pow(order as u32)
}

/// Whether indices in the same block are equal.
fn agree(partition: &[usize], values: &[usize]) -> bool {
    (0..values.len()).all(|a| (0..a).all(|b| partition[a] != partition[b] || values[a] == values[b]))
}

/// The matrix of a partition, `[n^l, n^k]`, from its definition.
fn dense(partition: &[usize], k: usize, l: usize, n: usize) -> Vec<f64> {
    let entry = |o: usize, i: usize| {
        let values = [digits(i, k, n), digits(o, l, n)].concat();
        if agree(partition, &values) { 1.0 } else { 0.0 }
    };
    (0..power(n, l)).flat_map(|o| (0..power(n, k)).map(move |i| (o, i))).map(|(o, i)| entry(o, i)).collect()
}

/// The same matrix as the layer computes it: the operation on the unit tensors, one per channel.
fn computed(layer: &EquivariantLinear, p: usize, n: usize) -> Vec<f64> {
    let rows = power(n, layer.config().k);
    let unit: Vec<f64> = (0..rows * rows).map(|x| f64::from(u8::from(x % (rows + 1) == 0))).collect();
    numbers(layer.basis(p, &matrix(rows, &unit), n).unwrap())
}

const ORDERS: [(usize, usize); 10] =
    [(0, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3)];

#[test]
fn one_operation_per_partition() {
    let count = |k, l| layer(EquivariantConfig::new(k, l, 1, 1), 0).operations();
    assert_eq!([count(2, 0), count(2, 1), count(1, 2), count(2, 2)], [2, 5, 5, 15]);
    assert_eq!([count(3, 2), count(3, 3)], [52, 203]);
}

#[test]
fn every_operation_matches_its_dense_matrix() {
    for (k, l) in ORDERS {
        let layer = layer(EquivariantConfig::new(k, l, 1, 1), 0);
        for n in if k + l > 5 { 1..4 } else { 1..5 } {
            for (p, partition) in partitions(k + l).iter().enumerate() {
                assert_eq!(
                    computed(&layer, p, n),
                    dense(partition, k, l, n),
                    "{k} -> {l}, n = {n}, {partition:?}"
                );
            }
        }
    }
}

#[test]
fn a_layer_is_the_sum_of_its_operations_and_biases() {
    for (k, l) in ORDERS {
        for normalise in [false, true] {
            let (n, inputs, outputs) = (3, 2, 3);
            let config = EquivariantConfig { normalise, ..EquivariantConfig::new(k, l, inputs, outputs) };
            let mut stream = Stream::new(7, "layer", &[]);
            let [weights, biases] = config.sizes().unwrap();
            let (weight, bias) = (random(weights, &mut stream), random(biases, &mut stream));
            let values = (Values::F64(weight.clone()), Values::F64(bias.clone()));
            let layer = EquivariantLinear::new(config, values.0, values.1).unwrap();
            let x = random(power(n, k) * inputs, &mut stream);
            let mut expected = vec![0.0; power(n, l) * outputs];
            for (p, partition) in partitions(k + l).iter().enumerate() {
                let summed =
                    (0..k + l).filter(|b| partition[..k].contains(b) && !partition[k..].contains(b)).count();
                let scale = if normalise { (n as f64).powi(-(summed as i32)) } else { 1.0 };
                for (at, entry) in dense(partition, k, l, n).into_iter().enumerate() {
                    let (o, i) = (at / power(n, k), at % power(n, k));
                    for (c, d) in (0..inputs).flat_map(|c| (0..outputs).map(move |d| (c, d))) {
                        let weight = weight[(p * inputs + c) * outputs + d];
                        expected[o * outputs + d] += scale * entry * x[i * inputs + c] * weight;
                    }
                }
            }
            for (q, partition) in partitions(l).iter().enumerate() {
                for o in (0..power(n, l)).filter(|&o| agree(partition, &digits(o, l, n))) {
                    (0..outputs).for_each(|d| expected[o * outputs + d] += bias[q * outputs + d]);
                }
            }
            let found = numbers(layer.forward(&matrix(power(n, k), &x), n).unwrap());
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-10, "{k} -> {l}: {a} {b}");
            }
        }
    }
}

/// The rows of a tensor of this order for the graph in which node u is renamed to `to[u]`.
fn moved(x: &[f64], order: usize, n: usize, to: &[u32]) -> Vec<f64> {
    let channels = x.len() / power(n, order);
    let mut y = vec![0.0; x.len()];
    for (i, row) in x.chunks(channels).enumerate() {
        let place = digits(i, order, n).iter().fold(0, |p, &u| p * n + to[u] as usize);
        y[place * channels..][..channels].copy_from_slice(row);
    }
    y
}

#[test]
fn layers_commute_with_relabelling() {
    for (seed, (k, l)) in (0u64..).zip(ORDERS) {
        for normalise in [false, true] {
            let n = 4;
            let layer = layer(EquivariantConfig { normalise, ..EquivariantConfig::new(k, l, 2, 3) }, seed);
            let mut stream = Stream::new(seed, "relabel", &[]);
            let x = random(power(n, k) * 2, &mut stream);
            let to = stream.permutation(n);
            let run = |x: &[f64]| numbers(layer.forward(&matrix(power(n, k), x), n).unwrap());
            let (expected, found) = (moved(&run(&x), l, n, &to), run(&moved(&x, k, n, &to)));
            assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-10), "{k} -> {l}");
        }
    }
}

#[test]
fn the_basis_is_independent_and_spans_all_orbits() {
    for (k, l) in [(2, 0), (2, 1), (1, 2), (2, 2), (3, 2), (3, 3)] {
        let n = k + l;
        let layer = layer(EquivariantConfig::new(k, l, 1, 1), 0);
        let patterns = partitions(k + l);
        // An orbit of (i, o) under relabelling is a pattern of equalities; with k + l nodes, all of them occur.
        let pattern = |values: &[usize]| -> Vec<usize> {
            let mut seen: Vec<usize> = Vec::new();
            let mut blocks = Vec::new();
            for v in values {
                let block = seen.iter().position(|s| s == v).unwrap_or(seen.len());
                if block == seen.len() {
                    seen.push(*v);
                }
                blocks.push(block);
            }
            blocks
        };
        let orbit: Vec<usize> = (0..power(n, k + l))
            .map(|at| {
                let (o, i) = (at / power(n, k), at % power(n, k));
                patterns.binary_search(&pattern(&[digits(i, k, n), digits(o, l, n)].concat())).unwrap()
            })
            .collect();
        let mut by_orbit: Vec<Vec<f64>> = Vec::new();
        for p in 0..patterns.len() {
            let matrix = computed(&layer, p, n);
            let mut values = vec![f64::NAN; patterns.len()];
            for (entry, &orbit) in matrix.iter().zip(&orbit) {
                assert!(values[orbit].is_nan() || values[orbit] == *entry, "not constant on an orbit");
                values[orbit] = *entry;
            }
            assert!(values.iter().all(|v| !v.is_nan()));
            by_orbit.push(values);
        }
        // So the operations are combinations of the orbits' indicators; being equally many and independent, they span
        // the same space.
        assert_eq!(rank(by_orbit), bell(k + l).unwrap(), "{k} -> {l}");
    }
}

/// The rank of a matrix of small integers modulo a prime, which is at most the true rank.
fn rank(matrix: Vec<Vec<f64>>) -> usize {
    const PRIME: i64 = 1_000_003;
    let mut rows: Vec<Vec<i64>> = matrix.iter().map(|row| row.iter().map(|&x| x as i64).collect()).collect();
    // By Fermat, x^(p - 2) is the inverse of x.
    let inverse = |x: i64| {
        (0..20).rev().fold(1, |y, bit| {
            let square = y * y % PRIME;
            if (PRIME - 2) >> bit & 1 == 1 { square * x % PRIME } else { square }
        })
    };
    let mut rank = 0;
    for column in 0..rows[0].len() {
        let Some(pivot) = (rank..rows.len()).find(|&r| rows[r][column] != 0) else { continue };
        rows.swap(rank, pivot);
        let scale = inverse(rows[rank][column]);
        for r in rank + 1..rows.len() {
            let factor = rows[r][column] * scale % PRIME;
            for c in column..rows[r].len() {
                rows[r][c] = (rows[r][c] - factor * rows[rank][c]).rem_euclid(PRIME);
            }
        }
        rank += 1;
    }
    rank
}

fn network(k: usize, normalise: bool) -> KOrder {
    let config =
        KOrderConfig { k, inputs: 2, outputs: 2, widths: vec![3, 3], invariant: 4, mlp: vec![5], normalise };
    let network = config.init(3, Precision::F64).unwrap();
    // With random biases: the initial ones are 0, which would hide errors in their gradients.
    let mut stream = Stream::new(1, "biases", &[]);
    let mut parameters = network.parameters().to_vec();
    for values in &mut parameters {
        if let Values::F64(v) = values {
            v.iter_mut().for_each(|x| *x += stream.uniform(-0.1, 0.1));
        }
    }
    KOrder::new(config, parameters).unwrap()
}

fn graphs(sizes: &[usize]) -> Vec<(usize, Vec<f64>)> {
    let mut stream = Stream::new(5, "graphs", &[]);
    sizes.iter().map(|&n| (n, random(n * n * 2, &mut stream))).collect()
}

fn batch(graphs: &[(usize, Vec<f64>)]) -> Batch {
    let graphs: Vec<(usize, &[f64])> = graphs.iter().map(|(n, rows)| (*n, rows.as_slice())).collect();
    Batch::dense(2, &graphs).unwrap()
}

#[test]
fn k_order_networks_are_invariant() {
    for k in [2, 3] {
        for normalise in [false, true] {
            let network = network(k, normalise);
            let graphs = graphs(&[4, 1, 3, 4]);
            let scores = numbers(network.forward(&batch(&graphs)).unwrap());
            let mut stream = Stream::new(6, "relabel", &[]);
            let relabelled: Vec<(usize, Vec<f64>)> =
                graphs.iter().map(|(n, rows)| (*n, moved(rows, 2, *n, &stream.permutation(*n)))).collect();
            let again = numbers(network.forward(&batch(&relabelled)).unwrap());
            assert!(scores.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-10), "{scores:?} {again:?}");
            for (g, graph) in graphs.iter().enumerate() {
                let alone = numbers(network.forward(&batch(std::slice::from_ref(graph))).unwrap());
                assert!(scores[2 * g..].iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-10));
            }
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    for k in [2, 3] {
        let network = network(k, k == 3);
        let batch = batch(&graphs(&[3, 2]));
        let weights = [0.5, -1.0, 2.0, 0.25];
        let loss = weighted(&weights);
        let step = network.backward(&batch, loss).unwrap();
        let parameters = network.parameters().to_vec();
        let value = |parameters: Vec<Values>| -> f64 {
            let network = KOrder::new(network.config().clone(), parameters).unwrap();
            let scores = numbers(network.forward(&batch).unwrap());
            scores.iter().zip(weights).map(|(s, w)| s * w).sum()
        };
        assert!((step.loss - value(parameters.clone())).abs() < 1e-10);
        let mut stream = Stream::new(2, "places", &[]);
        for (a, gradient) in step.gradients.iter().enumerate() {
            let gradient = gradient.to_f64();
            for _ in 0..6 {
                let at = stream.below(gradient.len());
                let shifted = |by: f64| {
                    let mut parameters = parameters.clone();
                    if let Values::F64(v) = &mut parameters[a] {
                        v[at] += by;
                    }
                    value(parameters)
                };
                let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                assert!(
                    (slope - gradient[at]).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{a} {at}: {slope} {}",
                    gradient[at]
                );
            }
        }
    }
}

#[test]
fn invalid_arguments_are_errors() {
    let is_call = |config: EquivariantConfig| config.validate().unwrap_err().is_call();
    assert!(is_call(EquivariantConfig::new(5, 4, 1, 1)) && is_call(EquivariantConfig::new(2, 2, 0, 1)));
    let layer = layer(EquivariantConfig::new(2, 1, 1, 1), 0);
    assert!(layer.forward(&matrix(4, &[0.0; 4]), 3).unwrap_err().to_string().contains("3^2 rows"));
    assert!(!layer.forward(&matrix(4, &[0.0; 4]), 0).unwrap_err().is_call());
    assert!(layer.basis(5, &matrix(4, &[0.0; 4]), 2).unwrap_err().to_string().contains("5 operations"));
    let config = KOrderConfig {
        k: 4,
        inputs: 1,
        outputs: 1,
        widths: vec![1],
        invariant: 1,
        mlp: vec![],
        normalise: false,
    };
    assert!(config.init(0, Precision::F32).unwrap_err().to_string().contains("k = 2 and 3"));
    let config = KOrderConfig { k: 2, ..config };
    assert!(KOrder::new(config.clone(), vec![]).unwrap_err().is_call());
    let network = config.init(0, Precision::F32).unwrap();
    assert!(network.forward(&batch(&graphs(&[2]))).unwrap_err().to_string().contains("channels"));
}
