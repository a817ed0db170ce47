//! `ppgn wl digest`: one line per graph, equal exactly for graphs that the test does not distinguish.

use super::TestArgs;
use crate::cli::output::{self, progress};
use crate::cli::ranks::each;
use anyhow::Result;
use ppgn::graph::text::escaped;
use ppgn::wl::Test;
use serde_json::json;
use std::process::ExitCode;

pub(super) fn run(spec: &str, test: Test, args: &TestArgs) -> Result<ExitCode> {
    args.without_rounds("a digest is of the stable colouring")?;
    let dataset = args.load(spec)?;
    let options = args.options()?;
    let bar = progress(dataset.len(), "graphs", args.json);
    let digest = |g: usize| Ok(ppgn::wl::digest(dataset.graph(g), test, &options)?.to_string());
    let digests: Option<Vec<String>> = each(dataset.len(), digest, |graphs| bar.inc(graphs))?;
    bar.finish_and_clear();
    let Some(digests) = digests else { return Ok(ExitCode::SUCCESS) };
    if args.json {
        output::json(&json!({"data": dataset.name(), "test": test.to_string(), "digests": digests}))?;
    } else {
        let lines: Vec<String> = digests
            .iter()
            .enumerate()
            .map(|(g, d)| format!("{}:{g} {d}\n", escaped(dataset.name())))
            .collect();
        output::print(&lines.concat())?;
    }
    Ok(ExitCode::SUCCESS)
}
