//! `ppgn bench cost`.

use super::known;
use crate::cli::output;
use crate::cli::session::MemoryArgs;
use crate::cli::threads::ThreadsArgs;
use anyhow::Result;
use ppgn::train::bench::{Subject, cost};
use std::process::ExitCode;

/// `ppgn bench cost`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// block-K: a block on K-tuples (block-2 is the paper's); layer-K: the linear equivariant layer on K-tensors
    subject: Subject,
    /// Number of nodes of the graph
    #[arg(long, value_name = "N", default_value_t = 64)]
    nodes: usize,
    /// Number of input and output channels
    #[arg(long, value_name = "F", default_value_t = 4)]
    features: usize,
    /// Number of measured passes, after one warm-up pass; the median counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: usize,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ppgn bench cost`.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let session = args.threads.of(args.memory.session())?;
    let figures = cost(&session, args.subject, args.nodes, args.features, args.repeats)?;
    match args.json {
        true => output::json(&serde_json::to_value(&figures)?)?,
        false => output::print(&output::facts(&[
            ("work", format!("{}, {} nodes, {} features", figures.subject, figures.nodes, figures.features)),
            ("threads", figures.threads.to_string()),
            ("forward pass", format!("{:.3} ms", figures.forward_ms)),
            ("memory", known(figures.space_mb, " MiB at peak")),
        ]))?,
    }
    Ok(ExitCode::SUCCESS)
}
