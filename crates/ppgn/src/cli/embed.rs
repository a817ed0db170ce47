//! `ppgn embed`: the pooled features of graphs, as an array that NumPy reads.

use super::data::DATA_HELP;
use super::device::DeviceArgs;
use super::folder::{file_name, writable};
use super::input::InputArgs;
use super::load::load_all;
use super::output;
use super::session::MemoryArgs;
use super::threads::ThreadsArgs;
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::graph::format::npy::write_npz;
use ppgn::nn::Precision;
use ppgn::train::Predictor;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// `ppgn embed`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// The graphs, with the features of those that the run was trained on
    data: String,
    /// Where to: an .npz with the array `embedding`, graphs x features [default: DATASET.embedding.npz]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print no closing line
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn embed`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(out) = &args.out
        && !out.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"))
    {
        return Err(wrong(format!("{}: embeddings are written as .npz", out.display())));
    }
    let predictor =
        Predictor::open(&args.device.of(args.threads.of(args.memory.session())?, true)?, &args.run)?;
    output::warn(predictor.warnings());
    let (_, dataset) = load_all(&args.data, &args.input)?;
    let out = args.out.clone().unwrap_or_else(|| default_file(&dataset));
    writable(&out, args.force)?;
    let start = Instant::now();
    let rows = predictor.embed(&dataset)?;
    let seconds = start.elapsed().as_secs_f64();
    let features = predictor.settings().network.embedding();
    write(&out, &dataset, &rows, features, predictor.settings().training.precision)?;
    match args.json {
        true => output::json(&json!({
            "run": output::path(&args.run),
            "data": dataset.name(),
            "graphs": dataset.len(),
            "features": features,
            "out": output::path(&out),
            "seconds": seconds,
        }))?,
        false if args.quiet => {}
        false => output::print(&format!(
            "embedding, {} x {features}, written to {} ({seconds:.2} s)\n",
            dataset.len(),
            out.display()
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn default_file(dataset: &Dataset) -> PathBuf {
    format!("{}.embedding.npz", file_name(dataset.name())).into()
}

/// Writes `embedding` in the network's precision, and where the classes of all graphs are known their labels as `label`.
fn write(
    path: &Path,
    dataset: &Dataset,
    rows: &[Vec<f64>],
    features: usize,
    precision: Precision,
) -> Result<()> {
    let numbers = rows.iter().flatten().copied();
    let shape = [rows.len(), features];
    let labels: Option<Vec<i64>> = dataset.records().map(|record| record.label).collect();
    write_npz(path, |npz| {
        match precision {
            Precision::F32 => npz.array("embedding", &shape, numbers.map(|x| x as f32))?,
            Precision::F64 => npz.array("embedding", &shape, numbers)?,
        }
        match labels.filter(|_| dataset.has_classes()) {
            Some(labels) => npz.array("label", &[dataset.len()], labels),
            None => Ok(()),
        }
    })?;
    Ok(())
}
