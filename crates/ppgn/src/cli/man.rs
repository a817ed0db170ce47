//! `ppgn man`: manual pages, from the same descriptions as `--help`.

use super::output::{self, counted};
use anyhow::Result;
use clap_mangen::Man;
use ppgn::graph::Error;
use ppgn::graph::file::write_whole;
use std::path::PathBuf;
use std::process::ExitCode;

/// `ppgn man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Read one page now: ppgn man | man -l -
Install all pages: ppgn man ~/.local/share/man/man1      (then `man ppgn-train`)")]
pub(crate) struct Args {
    /// Write one page per command to this folder: ppgn.1, ppgn-train.1, ppgn-wl-refine.1 ... [default: print ppgn.1]
    dir: Option<PathBuf>,
}

/// Runs `ppgn man`.
pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<ExitCode> {
    // `help` as a command would have a page for every other command.
    command = command.disable_help_subcommand(true);
    command.build();
    let Some(dir) = &args.dir else {
        output::print(&page(&command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
    let mut pages = 0;
    let mut commands = vec![&command];
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        write_whole(&dir.join(format!("{name}.1")), page(command)?.as_bytes())?;
        pages += 1;
        commands.extend(command.get_subcommands().filter(|inner| !inner.is_hide_set()));
    }
    output::print(&format!("{} written to {}\n", counted(pages, "page", "pages"), dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command, as troff.
fn page(command: &clap::Command) -> Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
