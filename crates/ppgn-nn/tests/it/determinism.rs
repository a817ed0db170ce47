//! The same bits from the same inputs: from run to run, and with one thread or two.

use crate::shared::{Rows, arrays, batch};
use ppgn_graph::random::Stream;
use ppgn_nn::{Adam, BlockConfig, Loss, PpgnConfig, Precision, Values};

/// Losses and parameters after two steps on graphs of these sizes.
fn trained(sizes: &[usize], precision: Precision, threads: usize) -> (Vec<f64>, Vec<Values>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut random = Stream::new(3, "determinism", &[]);
        let graphs: Vec<Rows> = sizes.iter().map(|&n| Rows::random(n, 2, &mut random)).collect();
        let batch = batch(2, &graphs.iter().collect::<Vec<_>>(), precision);
        let config = PpgnConfig {
            blocks: vec![BlockConfig::new(WIDTH), BlockConfig::new(9)],
            ..PpgnConfig::new(2, 2)
        };
        let mut network = config.init(5, precision).unwrap();
        let mut adam = Adam::new(&arrays(&network));
        let classes: Vec<usize> = (0..graphs.len()).map(|g| g % 2).collect();
        let mut losses = Vec::new();
        for _ in 0..2 {
            let step = network.backward(&batch, |s| Loss::cross_entropy(&classes).of(s)).unwrap();
            network.update(|parameters| adam.step(parameters, &step.gradients, 1e-3)).unwrap();
            losses.push(step.loss);
        }
        (losses, arrays(&network))
    })
}

const WIDTH: usize = 64;

#[test]
fn the_same_bits_in_f32() {
    // More than 4 M numbers per activation: enough for every kernel to divide its work among threads.
    let sizes = [70, 20, 180, 70, 160];
    assert!(sizes.iter().map(|n| n * n * WIDTH).sum::<usize>() > 4 << 20);
    let once = trained(&sizes, Precision::F32, 2);
    assert!(once == trained(&sizes, Precision::F32, 2), "two runs differ");
    assert!(once == trained(&sizes, Precision::F32, 1), "one thread and two differ");
}

#[test]
fn the_same_bits_in_f64() {
    let sizes = [40, 9, 60, 40];
    assert!(
        trained(&sizes, Precision::F64, 2) == trained(&sizes, Precision::F64, 1),
        "one thread and two differ"
    );
}

#[test]
fn reused_memory_changes_nothing() {
    let mut random = Stream::new(4, "determinism", &[]);
    let graphs: Vec<Rows> = [5, 3].iter().map(|&n| Rows::random(n, 2, &mut random)).collect();
    let batch = batch(2, &graphs.iter().collect::<Vec<_>>(), Precision::F64);
    let config =
        PpgnConfig { blocks: vec![BlockConfig::new(6), BlockConfig::new(4)], ..PpgnConfig::new(2, 2) };
    let network = config.init(5, Precision::F64).unwrap();
    let fresh = network.backward(&batch, |s| Loss::cross_entropy(&[0, 1]).of(s)).unwrap().gradients;
    let full = |precision: Precision, more: usize| -> Vec<Values> {
        fresh.iter().map(|g| Values::from_f64(precision, &vec![f64::NAN; g.len() + more])).collect()
    };
    // Memory that fits, is too long, has the wrong precision, or is missing.
    for memory in [full(Precision::F64, 0), full(Precision::F64, 1), full(Precision::F32, 0), Vec::new()] {
        let again = network.backward_in(memory, &batch, |s| Loss::cross_entropy(&[0, 1]).of(s)).unwrap();
        assert_eq!(again.gradients, fresh);
    }
}
