//! `ppgn wl kernel`: the WL subtree kernel, as files that NumPy and SciPy read.

use super::TestArgs;
use crate::cli::{output, ranks};
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::wl::Gram;
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
        let matrix = match ranks::are_several() {
            false => kernel.gram(&options)?,
            true => {
                // Rows in stripes, of which every rank has several: the last are not shorter, but nobody waits for long.
                let (n, stripes) = (kernel.graphs(), ranks::STRIPES.min(kernel.graphs().max(1)));
                let stripe = |i: usize| {
                    let rows = n * i / stripes..n * (i + 1) / stripes;
                    Ok(kernel.between(rows, 0..n, &options)?)
                };
                let rows: Vec<Vec<u64>> = ranks::each(stripes, stripe, || ())?;
                Gram::from_rows(rows.concat())
                    .ok_or_else(|| Error::unfit("the ranks have different graphs"))?
            }
        };
        if !ranks::lead() {
            return Ok(ExitCode::SUCCESS);
        }
        let seconds = start.elapsed().as_secs_f64();
        matrix.write(out)?;
        seconds
    } else if !ranks::lead() {
        // The features are the colouring, which is found together.
        return Ok(ExitCode::SUCCESS);
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
