//! `ppgn data convert`: from any format to JSON Lines, graph6 or TU, graph by graph where the format allows.

use crate::cli::input::{InputArgs, with_records};
use crate::cli::output::{counted, json, path, print};
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::graph::format::{self, Records, WriteOptions};
use ppgn::graph::text::escaped;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(super) struct Options {
    pub(super) lossy: bool,
    pub(super) copies: Option<u16>,
    pub(super) force: bool,
    pub(super) json: bool,
}

pub(super) fn run(data: &str, out: &Path, options: Options, input: &InputArgs) -> Result<ExitCode> {
    format::writer_of(out)?;
    if out.is_file() && !options.force {
        return Err(Error::call(format!("{} exists already; --force overwrites it", out.display())).into());
    }
    let locator = input.locator()?;
    let lossy = WriteOptions { lossy: options.lossy };
    let written = match options.copies {
        Some(copies) => {
            let copied = locator.load(data)?.relabelled_copies(copies.into(), 0)?;
            format::write(Records::of(&copied), out, lossy)?
        }
        None => with_records(&locator, data, |records| format::write(records, out, lossy))?,
    };
    if options.json {
        json(&json!({
            "data": data,
            "out": path(out),
            "format": written.format.name(),
            "graphs": written.graphs,
            "dropped": written.dropped,
        }))?;
    } else {
        for dropped in &written.dropped {
            eprintln!("left out: {}", escaped(dropped));
        }
        let graphs = counted(written.graphs, "graph", "graphs");
        print(&format!(
            "{graphs} written to {} ({})\n",
            escaped(&out.to_string_lossy()),
            written.format.name()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
