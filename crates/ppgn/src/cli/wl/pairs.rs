//! `ppgn wl pairs`: graphs 2p and 2p+1 of a file as pairs, as the benchmarks of expressiveness come.

use super::TestArgs;
use crate::cli::output::{self, counted, progress};
use crate::cli::ranks::each;
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
    let pair = |p: usize| {
        let refinement = ppgn::wl::refine(&dataset.graphs()[2 * p..][..2], test, &options)?;
        Ok((refinement.distinguishing_round(0, 1), refinement.is_stable()))
    };
    let found: Option<Vec<(Option<usize>, bool)>> = each(dataset.len() / 2, pair, |pairs| bar.inc(pairs))?;
    bar.finish_and_clear();
    let Some(found) = found else { return Ok(ExitCode::SUCCESS) };
    let rounds: Vec<Option<usize>> = found.iter().map(|(round, _)| *round).collect();
    let is_open = |p: &usize| found[*p].0.is_none() && !found[*p].1;
    let undecided: Vec<usize> = (0..found.len()).filter(is_open).collect();
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
            "undecided": undecided.len(),
            "undecided_indices": undecided,
            "stable": undecided.is_empty(),
        }))?;
    } else {
        output::print(&to_text(test, &rounds, &undecided, args.rounds, seconds))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(
    test: Test,
    rounds: &[Option<usize>],
    undecided: &[usize],
    limit: Option<usize>,
    seconds: f64,
) -> String {
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
    let list = |what: &str, pairs: &[usize]| {
        let shown: Vec<String> = pairs.iter().take(20).map(usize::to_string).collect();
        let dots = if pairs.len() > shown.len() { " ..." } else { "" };
        format!("  {what}: {}{dots}\n", shown.join(" "))
    };
    let equal: Vec<usize> =
        (0..rounds.len()).filter(|p| rounds[*p].is_none() && undecided.binary_search(p).is_err()).collect();
    if !equal.is_empty() {
        text += &list("not distinguished", &equal);
    }
    if !undecided.is_empty() {
        let after = counted(limit.unwrap_or(0), "round", "rounds");
        text += &list(&format!("not distinguished after {after} (not stable)"), undecided);
    }
    text
}
