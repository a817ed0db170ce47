//! `ppgn bench step`.

use super::known;
use crate::cli::device::DeviceArgs;
use crate::cli::output;
use crate::cli::session::MemoryArgs;
use crate::cli::threads::ThreadsArgs;
use anyhow::Result;
use ppgn::nn::SpaceChoice;
use ppgn::train::bench::{StepFigures, StepWork, step};
use ppgn::train::text::named;
use std::process::ExitCode;

/// `ppgn bench step`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Three blocks of F features, suffix ii, two classes, summed cross entropy, Adam, f32. The inputs are random numbers, as in the PyTorch program that benches/peers/compare.py runs in turn with it: no two pairs are alike, so --space quotient saves nothing here. The speed is compared with a plain matrix product of our own kernel (gemm_gflops); compare.py uses torch.mm."
)]
pub(super) struct Args {
    /// Number of graphs in the batch
    #[arg(long, value_name = "B", default_value_t = 5)]
    batch: usize,
    /// Number of nodes of each graph
    #[arg(long, value_name = "N", default_value_t = 18)]
    nodes: usize,
    /// Number of input channels
    #[arg(long, value_name = "C", default_value_t = 8)]
    inputs: usize,
    /// Width of the three blocks
    #[arg(long, value_name = "F", default_value_t = 400)]
    features: usize,
    /// Number of layers of the MLPs m1 and m2
    #[arg(long, value_name = "D", default_value_t = 2)]
    depth: usize,
    /// Order k of the network: rows are pairs of nodes (2) or k-tuples, whose inputs are k * k * (C + 1) channels
    #[arg(long, value_name = "K", default_value_t = 2)]
    order: usize,
    /// Space to compute on: dense (one row per pair of nodes), quotient (one row per colour of pairs) or auto (the
    /// cheaper)
    #[arg(long, value_name = "SPACE", default_value = "dense", value_parser = named::<SpaceChoice>)]
    space: SpaceChoice,
    /// Number of measured steps, after two warm-up steps; the median counts
    #[arg(long, value_name = "N", default_value_t = 7)]
    steps: usize,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ppgn bench step`.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let session = args.device.of(args.threads.of(args.memory.session())?, true)?;
    let Args { batch, nodes, inputs, features, depth, order, space, steps, .. } = *args;
    let figures = step(&session, &StepWork { batch, nodes, inputs, features, depth, order, space, steps })?;
    match args.json {
        true => output::json(&serde_json::to_value(&figures)?)?,
        false => output::print(&to_text(&figures))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(figures: &StepFigures) -> String {
    let StepFigures { work, device, threads, rows, step_ms, gflops, gemm_gflops, peak_rss_mb, minor_faults } =
        figures;
    let share = 100.0 * gflops / gemm_gflops;
    output::facts(&[
        (
            "work",
            format!(
                "{} x {} nodes x {} channels, {} features, order {}",
                work.batch, work.nodes, work.inputs, work.features, work.order
            ),
        ),
        ("space", format!("{}, rows per level {rows:?}", work.space.name())),
        ("device", device.clone().unwrap_or_else(|| "cpu".into())),
        ("threads", threads.to_string()),
        ("step", format!("{step_ms:.1} ms")),
        ("speed", format!("{gflops:.1} GFLOPS, {share:.0} % of a matrix product's {gemm_gflops:.1}")),
        ("memory", known(*peak_rss_mb, " MiB at peak")),
        ("page faults", known(*minor_faults, " per step")),
    ])
}
