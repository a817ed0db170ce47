//! Invariance to the order of a graph's nodes, and to the other graphs of its batch.

use crate::shared::{Rows, batch, biased, configs, distance, largest, numbers, weighted};
use ppgn_graph::random::Stream;
use ppgn_nn::{BlockConfig, Loss, Ppgn, PpgnConfig, Precision};
use proptest::prelude::*;

const TOLERANCES: [(Precision, f64); 2] = [(Precision::F32, 1e-4), (Precision::F64, 1e-10)];

/// Pooled features and scores of graphs.
fn outputs(network: &Ppgn, graphs: &[&Rows]) -> (Vec<f64>, Vec<f64>) {
    let batch = batch(network.config().inputs, graphs, network.precision());
    (numbers(network.embed(&batch).unwrap()), numbers(network.forward(&batch).unwrap()))
}

fn some_graphs(config: &PpgnConfig, sizes: &[usize], seed: u64) -> Vec<Rows> {
    let mut random = Stream::new(seed, "graphs", &[]);
    sizes.iter().map(|&n| Rows::random(n, config.inputs, &mut random)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn relabelling_changes_nothing(config in configs(), nodes in 1..9usize, seed in 0..1000u64) {
        let graph = &some_graphs(&config, &[nodes], seed)[0];
        let permutation = Stream::new(seed, "permutation", &[]).permutation(nodes);
        let moved = graph.permuted(&permutation, config.inputs);
        for (precision, tolerance) in TOLERANCES {
            // Every other time with the paper's zero biases.
            let network = match seed % 2 {
                0 => config.init(seed, precision).unwrap(),
                _ => biased(&config, seed, precision),
            };
            let ((features, scores), (f, s)) = (outputs(&network, &[graph]), outputs(&network, &[&moved]));
            prop_assert_eq!(features.len(), config.embedding());
            // Features may be differences of larger numbers.
            let scale = tolerance * largest(&features).max(0.1);
            prop_assert!(distance(&features, &f) <= scale, "{precision:?} {} {scale}", distance(&features, &f));
            prop_assert!(distance(&scores, &s) <= scale, "{precision:?} {} {scale}", distance(&scores, &s));
        }
    }

    #[test]
    fn a_batch_equals_its_graphs_one_by_one(
        config in configs(),
        sizes in prop::collection::vec(0..7usize, 1..8),
        seed in 0..1000u64,
    ) {
        let graphs = some_graphs(&config, &sizes, seed);
        for (precision, tolerance) in TOLERANCES {
            let network = biased(&config, seed, precision);
            let (features, scores) = outputs(&network, &graphs.iter().collect::<Vec<_>>());
            let tolerance = tolerance * largest(&features).max(0.1);
            let width = config.embedding();
            for (g, graph) in graphs.iter().enumerate() {
                let (f, s) = outputs(&network, &[graph]);
                prop_assert!(distance(&features[g * width..(g + 1) * width], &f) <= tolerance);
                let place = g * config.outputs..(g + 1) * config.outputs;
                prop_assert!(distance(&scores[place], &s) <= tolerance);
            }
            // In another order, together with other graphs.
            let order = Stream::new(seed, "order", &[]).permutation(graphs.len());
            let mixed: Vec<&Rows> = order.iter().map(|&g| &graphs[g as usize]).collect();
            let (f, _) = outputs(&network, &mixed);
            for (place, &g) in order.iter().enumerate() {
                let given = &features[g as usize * width..][..width];
                prop_assert!(distance(given, &f[place * width..][..width]) <= tolerance);
            }
        }
    }

    #[test]
    fn gradients_add_up_over_the_batch(config in configs(), seed in 0..1000u64) {
        let graphs = some_graphs(&config, &[3, 1, 4, 3], seed);
        let network = biased(&config, seed, Precision::F64);
        let targets: Vec<f64> = (0..4 * config.outputs).map(|t| t as f64).collect();
        let gradient = |graphs: &[&Rows], targets: &[f64]| -> Vec<f64> {
            let batch = batch(config.inputs, graphs, Precision::F64);
            let step = network.backward(&batch, |s| Loss::absolute_error(targets).of(s)).unwrap();
            step.gradients.iter().flat_map(|g| g.to_f64()).collect()
        };
        let whole = gradient(&graphs.iter().collect::<Vec<_>>(), &targets);
        let mut sum = vec![0.0; whole.len()];
        for (graph, targets) in graphs.iter().zip(targets.chunks(config.outputs)) {
            gradient(&[graph], targets).iter().zip(&mut sum).for_each(|(g, s)| *s += g);
        }
        prop_assert!(distance(&whole, &sum) <= 1e-10 * largest(&whole));
    }
}

/// A dense batch of a narrow network goes through the blocks in groups of graphs.
#[test]
fn a_batch_in_groups_has_the_scores_and_the_gradients_of_its_graphs() {
    let mut random = Stream::new(6, "groups", &[]);
    let graphs: Vec<Rows> = [20, 3, 30, 1, 25, 40].map(|n| Rows::random(n, 2, &mut random)).into();
    let config = PpgnConfig { blocks: vec![BlockConfig::new(64); 2], ..PpgnConfig::new(2, 2) };
    let network = biased(&config, 7, Precision::F64);
    let slopes: Vec<f64> = (0..2 * graphs.len()).map(|n| n as f64 - 4.5).collect();
    let all = batch(2, &graphs.iter().collect::<Vec<_>>(), Precision::F64);
    let together = network.backward(&all, weighted(&slopes)).unwrap();
    let mut scores = Vec::new();
    let mut gradients: Vec<Vec<f64>> = together.gradients.iter().map(|g| vec![0.0; g.len()]).collect();
    for (graph, slopes) in graphs.iter().zip(slopes.chunks(2)) {
        let step = network.backward(&batch(2, &[graph], Precision::F64), weighted(slopes)).unwrap();
        scores.extend(numbers(step.scores));
        for (sum, own) in gradients.iter_mut().zip(&step.gradients) {
            sum.iter_mut().zip(own.to_f64()).for_each(|(sum, own)| *sum += own);
        }
    }
    assert!(distance(&numbers(together.scores), &scores) <= 1e-12 * largest(&scores));
    for (all, sum) in together.gradients.iter().zip(&gradients) {
        assert!(distance(&all.to_f64(), sum) <= 1e-11 * largest(sum).max(1.0));
    }
}
