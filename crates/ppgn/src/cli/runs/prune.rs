//! `ppgn runs prune`: frees what finished runs no longer need.

use super::find::runs_in;
use crate::cli::output::{self, bytes, counted};
use crate::cli::say;
use anyhow::Result;
use ppgn::train::{Run, prunable};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// `ppgn runs prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A checkpoint has the last weights and Adam's moments: three times the network. A finished run needs it only to be extended by
more epochs. Its best network, metrics, summary and report stay, and so do the checksums that verify them; `predict`, `embed`,
`runs`, and `cv` and `search` on top of it work as before.")]
pub(super) struct Args {
    /// The folder to search, with its subfolders
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// Do it; otherwise only say how much would be freed
    #[arg(long, short)]
    yes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Says how much the checkpoints of finished runs take, and with `--yes` frees it.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let (mut freed, mut failed) = (Vec::new(), 0);
    for path in runs_in(&args.dir)? {
        let size = match prunable(&path) {
            Ok(Some(size)) if args.yes => Run::open(&path).and_then(|run| run.prune()).map(|_| Some(size)),
            size => size,
        };
        match size {
            Ok(Some(size)) => freed.push((path, size)),
            Ok(None) => {}
            // One damaged run does not keep the others from being pruned.
            Err(error) => {
                say::warning(&format!("{} is left alone: {error}", path.display()));
                failed += 1;
            }
        }
    }
    let total: u64 = freed.iter().map(|(_, size)| size).sum();
    if args.json {
        let runs: Vec<String> = freed.iter().map(|(path, _)| output::path(path)).collect();
        output::json(&json!({ "bytes": total, "pruned": args.yes, "runs": runs, "failed": failed }))?;
        return Ok(ExitCode::from(u8::from(failed > 0)));
    }
    let runs = counted(freed.len(), "finished run", "finished runs");
    output::print(&match (freed.is_empty(), args.yes) {
        (true, _) => format!("no finished run in {} has a checkpoint\n", args.dir.display()),
        (false, true) => format!("freed {}: the checkpoints of {runs}\n", bytes(total)),
        (false, false) => {
            let list = freed.iter().map(|(path, size)| vec![path.display().to_string(), bytes(*size)]);
            let list = output::table(&list.collect::<Vec<_>>());
            let dir = args.dir.display();
            format!(
                "{list}The checkpoints of {runs} take {}. `ppgn runs prune {dir} --yes` frees it; the runs can be used as\n\
                 before, but not be extended.\n",
                bytes(total)
            )
        }
    })?;
    Ok(ExitCode::from(u8::from(failed > 0)))
}
