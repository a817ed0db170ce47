//! `ppgn data get`: downloads a dataset that ppgn knows to the data folder.

use crate::cli::output::{bytes, download_bar, json, print};
use crate::cli::say;
use anyhow::Result;
use ppgn::graph::fetch::{GetOptions, get};
use ppgn::graph::locate::default_data_dir;
use ppgn::graph::text::escaped_lines;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) struct Options {
    pub(super) from: Option<String>,
    pub(super) force: bool,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) quiet: bool,
    pub(super) json: bool,
}

pub(super) fn run(name: &str, options: Options) -> Result<ExitCode> {
    let (bar, progress) = download_bar(options.quiet);
    let fetched = get(
        name,
        &GetOptions {
            from: options.from,
            force: options.force,
            progress,
            ..GetOptions::new(options.data_dir.unwrap_or_else(default_data_dir))
        },
    );
    bar.finish_and_clear();
    let fetched = fetched?;
    for note in &fetched.notes {
        say::note(&escaped_lines(note));
    }
    if options.json {
        json(&serde_json::to_value(&fetched)?)?;
    } else {
        let verb = if fetched.already_there { "exists already" } else { "downloaded" };
        print(&format!(
            "{} {verb}: {} ({})\n",
            fetched.name,
            escaped_lines(&fetched.path.to_string_lossy()),
            bytes(fetched.bytes)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
