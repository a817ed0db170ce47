//! `ppgn wl kernel`: the WL subtree kernel, as files that NumPy and SciPy read.

use super::TestArgs;
use crate::cli::output;
use crate::cli::ranks::{self, Stripes};
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::train::ranks::Ranks;
use ppgn::wl::{Gram, Options, SubtreeKernel};
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
        let matrix = match ranks::ranks() {
            None => kernel.gram(&options)?,
            Some(ranks) => match shared_out(&ranks, &kernel, &options)? {
                Some(matrix) => matrix,
                None => return Ok(ExitCode::SUCCESS),
            },
        };
        let seconds = start.elapsed().as_secs_f64();
        matrix.write(out)?;
        seconds
    } else if !ranks::lead() {
        // The features are the colouring of all graphs together, which has no parts.
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

/// The Gram matrix by several ranks, on rank 0; nothing on the others.
fn shared_out(ranks: &Ranks, kernel: &SubtreeKernel, options: &Options) -> Result<Option<Gram>> {
    let n = kernel.graphs();
    kernel.check_gram(options)?;
    let stripes = Stripes::new(n, 8 * ranks.size());
    let rows = |stripe: usize| {
        let range = stripes.range(stripe);
        let numbers = kernel.between(range.clone(), range.start..n, options)?;
        Ok(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    };
    let Some(found) = ranks.share_out(stripes.count(), rows, |_| ())? else { return Ok(None) };
    let numbers = |bytes: &Vec<u8>| bytes.as_chunks().0.iter().map(|&b| u64::from_le_bytes(b)).collect();
    let found = found.iter().enumerate().map(|(stripe, bytes)| (stripes.range(stripe), numbers(bytes)));
    let gram = Gram::from_stripes(n, found);
    Ok(Some(gram.ok_or_else(|| Error::unfit("the ranks have different graphs"))?))
}
