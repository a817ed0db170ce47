//! Times training steps of a network of three blocks on random graphs of one size.
//!
//!     cargo run --release -p ppgn-nn --example step -- [BATCH NODES INPUTS FEATURES STEPS]

use ppgn_graph::random::Stream;
use ppgn_nn::{Adam, Batch, BlockConfig, Device, PpgnConfig, Precision, Values, loss};
use std::time::{Duration, Instant};

fn main() -> ppgn_graph::Result<()> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |i: usize, usual: usize| given.get(i).copied().unwrap_or(usual);
    let (graphs, n, inputs) = (number(0, 5), number(1, 18), number(2, 8));
    let (features, steps) = (number(3, 400), number(4, 10));

    let device = Device::default();
    let config = PpgnConfig { blocks: vec![BlockConfig::new(features); 3], ..PpgnConfig::new(inputs, 2) };
    let mut network = config.init(&device, 0, Precision::F32)?;
    let mut random = Stream::new(0, "step", &[]);
    let rows: Vec<f32> = (0..graphs * n * n * inputs).map(|_| random.unit() as f32).collect();
    let each: Vec<_> = rows.chunks(n * n * inputs).map(|rows| (n, rows)).collect();
    let batch = Batch::dense(inputs, &each, &device)?;
    let classes: Vec<usize> = (0..graphs).map(|g| g % 2).collect();
    let parameters: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
    let mut adam = Adam::new(&parameters);

    let (mut forward, mut backward, mut update) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..steps + 2 {
        let start = Instant::now();
        network.forward(&batch)?;
        forward.push(start.elapsed());
        let start = Instant::now();
        let step = network.backward(&batch, |scores| loss::cross_entropy(scores, &classes))?;
        backward.push(start.elapsed());
        let start = Instant::now();
        network.update(|parameters| adam.step(parameters, &step.gradients, 1e-4))?;
        update.push(start.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.drain(..2); // the first two warm up
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let step = backward.iter().zip(&update).map(|(a, b)| *a + *b).collect::<Vec<_>>();
    let least = step[2..].iter().min().map_or(0.0, |t| t.as_secs_f64()) * 1e3;
    let gflop = flops(graphs * n * n, n, inputs, features) / 1e9;
    let (f, b, u) = (median(&mut forward), median(&mut backward), median(&mut update));
    println!(
        "forward alone {f:.1} ms; step {:.1} ms (backward pass with its forward {b:.1}, Adam {u:.1})",
        b + u
    );
    println!("least {least:.1} ms, {:.1} GFLOPS", gflop / least * 1e3);
    Ok(())
}

/// Multiply-adds of a dense forward pass times six, as `step_flops` of the PyTorch peer counts them.
fn flops(rows: usize, n: usize, inputs: usize, features: usize) -> f64 {
    let mut macs = 0;
    let mut a = inputs;
    for _ in 0..3 {
        macs += 2 * (a * features + features * features) + (a + features) * features + features * n;
        a = features;
    }
    (6 * rows * macs) as f64
}
