//! What crosses the border between host and device in a training, from a trace; `docs/gpu.md` has its output.
//!
//! `cargo run --release -p ppgn-burn --example transfers`, with `--features wgpu` on the first GPU.

use ppgn_burn::{Gpu, devices};
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_nn::device::{Accelerator, Input, OnDevice, Pass, Training};
use ppgn_nn::{Adam, Batch, BlockConfig, Loss, PpgnConfig, Precision, Values};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Graphs of 10 to 25 nodes, as molecules have.
    let mut graphs = Vec::new();
    for n in 10..26 {
        graphs.extend(generate(&format!("gnp:n={n},p=0.2,count=2"))?.graphs().to_vec());
    }
    let schema = ppgn_graph::Schema::of(&graphs)?;
    let encoder = Encoding::from(Kind::Paper).encoder(&schema)?;
    let config =
        PpgnConfig { blocks: vec![BlockConfig::new(32); 3], ..PpgnConfig::new(encoder.channels().len(), 2) };
    let network = config.init(0, Precision::F32)?;
    let weights: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
    let device = devices().into_iter().next().unwrap_or_else(Gpu::plain);
    println!("{}: 32 graphs of 10 to 25 nodes, three blocks of 32, dense", device.name());
    let mut there = device.load(&network)?;
    there.begin(&Adam::new(&weights), None)?;
    let nodes: Vec<usize> = graphs.iter().map(|graph| graph.nodes()).collect();
    there.hold(&nodes, &mut |g| Batch::of(&config, &encoder, &[&graphs[g]], Precision::F32))?;
    println!("\nbefore the first step:\n{}", there.transfers());
    let numbers: Vec<u32> = (0..graphs.len() as u32).rev().collect();
    let classes: Vec<usize> = (0..graphs.len()).map(|graph| graph % 2).collect();
    let terms = Loss::cross_entropy(&classes).terms(graphs.len(), 2)?;
    let input = |again| Input { graphs: &numbers, batch: None, again };
    let step = |there: &mut dyn OnDevice, again| {
        there.step(&Training {
            pass: Pass { input: input(again), terms: &terms, dropout: None },
            rate: 1e-3,
            clip: 1.0,
        })
    };
    step(&mut *there, false)?;
    println!("a step of training:\n{}", there.transfers());
    let half: Vec<u32> = numbers.iter().step_by(2).copied().collect();
    let terms = Loss::cross_entropy(&classes[..half.len()]).terms(half.len(), 2)?;
    let share = Input { graphs: &half, ..input(false) };
    let passed = there.gradients(&Pass { input: share, terms: &terms, dropout: None })?;
    there.apply(&passed.gradients, 1e-3)?;
    println!("a step that two ranks share, on one of them:\n{}", there.transfers());
    there.forward(&input(true), false)?;
    there.transfers();
    there.forward(&input(true), false)?;
    println!("a batch of validation, from the second epoch on:\n{}", there.transfers());
    there.state()?;
    println!("the checkpoint after an epoch:\n{}", there.transfers());
    Ok(())
}
