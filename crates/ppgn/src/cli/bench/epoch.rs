//! `ppgn bench epoch`.

use super::known;
use crate::cli::data::DATA_HELP;
use crate::cli::device::DeviceArgs;
use crate::cli::input::InputArgs;
use crate::cli::interrupt::interrupted;
use crate::cli::load::load_all;
use crate::cli::output;
use crate::cli::session::MemoryArgs;
use crate::cli::settings::{Chosen, SettingsArgs};
use crate::cli::threads::ThreadsArgs;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::train::bench::{EpochFigures, EpochWork, epoch};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `ppgn bench epoch`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(super) struct Args {
    /// The dataset
    data: String,
    /// JSON file with the batches: a list of lists of graph indices, counted from 0 [default: drawn as for training]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["limit", "batch", "batching"])]
    batches: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `ppgn bench epoch`.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let session = args.device.of(args.threads.of(args.memory.session())?, true)?;
    let Chosen { preset, overrides, limit, .. } = args.settings.chosen()?;
    let batches = args.batches.as_deref().map(read_batches).transpose()?;
    let (_, dataset) = load_all(&args.data, &args.input)?;
    let bar = output::progress(dataset.len(), "graphs", args.quiet);
    let work = EpochWork { preset: &preset, overrides, limit, batches };
    let figures = epoch(&session, &dataset, &work, &mut |graphs, of| {
        bar.set_length(of as u64);
        bar.set_position(graphs as u64);
        session.check().is_ok()
    });
    bar.finish_and_clear();
    if session.check().is_err() {
        eprintln!("stopped");
        return Ok(ExitCode::from(interrupted()));
    }
    let figures = figures?;
    match args.json {
        true => output::json(&serde_json::to_value(&figures)?)?,
        false => output::print(&to_text(&figures))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read_batches(path: &Path) -> Result<Vec<Vec<u32>>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let unreadable = |e: serde_json::Error| {
        wrong(format!("{}: not a list of lists of graph indices, such as [[0, 3], [1]]: {e}", path.display()))
    };
    serde_json::from_str(&text).map_err(unreadable)
}

fn to_text(figures: &EpochFigures) -> String {
    let EpochFigures { graphs, batches, pairs, rows, epoch_s, prepare_s, .. } = figures;
    let shares =
        rows.iter().map(|&r| format!("{:.0} %", 100.0 * r as f64 / *pairs as f64)).collect::<Vec<_>>();
    output::facts(&[
        ("work", format!("{graphs} graphs of {} in {batches} batches, {pairs} pairs", figures.dataset)),
        ("space", format!("{}, rows per level {}", figures.space, shares.join(" / "))),
        ("device", figures.device.clone().unwrap_or_else(|| "cpu".into())),
        ("threads", figures.threads.to_string()),
        ("epoch", format!("{epoch_s:.2} s")),
        ("preparation", format!("{prepare_s:.2} s, {:.2} epochs", prepare_s / epoch_s)),
        ("loss", format!("{:.4} per graph", figures.loss / *graphs as f64)),
        ("memory", known(figures.peak_rss_mb, " MiB at peak")),
    ])
}
