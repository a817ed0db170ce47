//! `ppgn predict --pairs`: which pairs of graphs a compiled network distinguishes, as the benchmarks of expressiveness ask.

use super::Args;
use crate::cli::output;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::train::{Pairs, Predictor};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(args: &Args, predictor: &Predictor, dataset: &Dataset) -> Result<ExitCode> {
    let Some(compilation) = predictor.settings().compilation() else {
        return Err(wrong(format!(
            "{} was not compiled: it has no threshold for pairs (see `ppgn compile`)",
            args.run.display()
        )));
    };
    if dataset.len() % 2 == 1 {
        let graphs = dataset.len();
        return Err(wrong(format!(
            "{} has {graphs} graphs: an odd number is not a list of pairs",
            args.data
        )));
    }
    let start = Instant::now();
    let pairs = Pairs::of(&predictor.scores(dataset)?, compilation.threshold);
    let seconds = start.elapsed().as_secs_f64();
    let distinguished = pairs.distinguished();
    if args.json {
        output::json(&json!({
            "run": output::path(&args.run),
            "data": dataset.name(),
            "test": compilation.test,
            "pairs": pairs.differences.len(),
            "distinguished": distinguished.len(),
            "margin_min": pairs.margin_min(),
            "threshold": pairs.threshold,
            "distinguished_indices": distinguished,
            "seconds": seconds,
        }))?;
    } else {
        let margin = pairs.margin_min().map(|m| format!(", each by at least {m}")).unwrap_or_default();
        output::print(&format!(
            "the network distinguishes {} of {} pairs{margin} (threshold {}, {seconds:.2} s)\n",
            distinguished.len(),
            pairs.differences.len(),
            pairs.threshold
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
