//! `ppgn wl pairs`: graphs 2p and 2p+1 of a file as pairs, as the benchmarks of expressiveness come.

use super::TestArgs;
use crate::cli::output::{self, progress};
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::wl::Test;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(spec: &str, test: Test, args: &TestArgs) -> Result<ExitCode> {
    let dataset = args.load(spec)?;
    if dataset.len() % 2 == 1 {
        return Err(Error::call(format!(
            "{spec} has {} graphs: an odd number cannot be taken in pairs",
            dataset.len()
        ))
        .into());
    }
    let options = args.options()?;
    let start = Instant::now();
    let bar = progress(dataset.len() / 2, "pairs", args.json);
    let mut rounds: Vec<Option<usize>> = Vec::new();
    for pair in dataset.graphs().chunks(2) {
        let refinement = ppgn::wl::refine(pair, test, &options)?;
        rounds.push(refinement.distinguishing_round(0, 1));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let distinguished: Vec<usize> = (0..rounds.len()).filter(|&p| rounds[p].is_some()).collect();
    let rounds_max = rounds.iter().flatten().max().copied().unwrap_or(0);
    if args.json {
        output::json(&json!({
            "data": dataset.name(),
            "test": test.to_string(),
            "pairs": rounds.len(),
            "distinguished": distinguished.len(),
            "rounds_max": rounds_max,
            "seconds": seconds,
            "distinguished_indices": distinguished,
            "rounds": rounds,
        }))?;
    } else {
        output::print(&to_text(test, &rounds, seconds))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(test: Test, rounds: &[Option<usize>], seconds: f64) -> String {
    let distinguished = rounds.iter().flatten().count();
    let mut text =
        format!("{test} distinguishes {distinguished} of {} pairs ({seconds:.2} s)\n", rounds.len());
    let last = rounds.iter().flatten().max().copied();
    for round in last.map_or(0..0, |last| 0..last + 1) {
        let count = rounds.iter().filter(|r| **r == Some(round)).count();
        if count > 0 {
            let _ = writeln!(text, "  {count} at round {round}");
        }
    }
    let equal: Vec<String> =
        (0..rounds.len()).filter(|&p| rounds[p].is_none()).map(|p| p.to_string()).collect();
    if !equal.is_empty() {
        let dots = if equal.len() > 20 { " ..." } else { "" };
        let _ = writeln!(text, "  not distinguished: {}{dots}", equal[..equal.len().min(20)].join(" "));
    }
    text
}
