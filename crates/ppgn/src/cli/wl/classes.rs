//! `ppgn wl classes`: the graphs of a file grouped by equal stable histogram.

use super::TestArgs;
use crate::cli::output::{self, counted};
use anyhow::Result;
use ppgn::wl::Test;
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(spec: &str, test: Test, args: &TestArgs) -> Result<ExitCode> {
    let dataset = args.load(spec)?;
    let options = args.options()?;
    let start = Instant::now();
    let refinement = ppgn::wl::refine(dataset.graphs(), test, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    // Groups in the order of their first graph.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_histogram: HashMap<Vec<(u32, u64)>, usize> = HashMap::new();
    for g in 0..dataset.len() {
        let group = *by_histogram.entry(refinement.histogram(g)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(members) => members.push(g),
            None => groups.push(vec![g]),
        }
    }
    if args.json {
        output::json(&json!({
            "data": dataset.name(),
            "test": test.to_string(),
            "graphs": dataset.len(),
            "classes": groups.len(),
            "groups": groups,
            "rounds": refinement.rounds(),
            "stable": refinement.is_stable(),
            "seconds": seconds,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{test} divides {} into {} ({seconds:.2} s)\n",
        counted(dataset.len(), "graph", "graphs"),
        counted(groups.len(), "class", "classes")
    );
    if !refinement.is_stable() {
        let rounds = counted(refinement.rounds(), "round", "rounds");
        let _ = writeln!(text, "  not distinguished after {rounds} (not stable): classes may still split");
    }
    for members in groups.iter().take(50) {
        let list: Vec<String> = members.iter().take(24).map(usize::to_string).collect();
        let dots = if members.len() > 24 { " ..." } else { "" };
        let _ = writeln!(
            text,
            "  {:>5} {}  {}{dots}",
            members.len(),
            if members.len() == 1 { "graph " } else { "graphs" },
            list.join(" ")
        );
    }
    if groups.len() > 50 {
        let _ = writeln!(text, "  ... and {} more classes (--json lists all)", groups.len() - 50);
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
