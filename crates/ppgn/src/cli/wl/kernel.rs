//! `ppgn wl kernel`: the WL subtree kernel, as files that NumPy and SciPy read.

use super::TestArgs;
use crate::cli::output;
use anyhow::Result;
use ppgn::graph::Error;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(
    spec: &str,
    out: &Path,
    iterations: usize,
    gram: bool,
    args: &TestArgs,
) -> Result<ExitCode> {
    let extension = out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    match (extension.as_deref(), gram) {
        (Some("npz"), _) | (Some("npy"), true) => {}
        (_, true) => {
            return Err(Error::call(format!(
                "{}: the Gram matrix is written as .npy or .npz",
                out.display()
            ))
            .into());
        }
        (_, false) => {
            return Err(Error::call(format!("{}: features are written as .npz", out.display())).into());
        }
    }
    args.without_rounds("--iterations says how many")?;
    let dataset = args.load(spec)?;
    let options = args.options()?;
    let start = Instant::now();
    let kernel = ppgn::wl::subtree_kernel(dataset.graphs(), iterations, &options)?;
    let columns = kernel.block(iterations).end;
    let seconds = if gram {
        let matrix = kernel.gram(&options)?;
        let seconds = start.elapsed().as_secs_f64();
        matrix.write(out)?;
        seconds
    } else {
        let features = kernel.features(&options)?;
        let seconds = start.elapsed().as_secs_f64();
        features.write_npz(out)?;
        seconds
    };
    if args.json {
        output::json(&json!({
            "data": dataset.name(),
            "graphs": dataset.len(),
            "iterations": iterations,
            "columns": columns,
            "gram": gram,
            "out": output::path(out),
            "seconds": seconds,
        }))?;
    } else {
        let (n, what) = (dataset.len(), if gram { "Gram matrix" } else { "features" });
        let shape = if gram { format!("{n} x {n}") } else { format!("{n} x {columns}") };
        output::print(&format!("{what}, {shape}, written to {} ({seconds:.2} s)\n", out.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
