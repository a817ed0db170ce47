//! `ppgn runs`: lists the runs in a folder with their settings, state and best results; shows and compares runs, and frees what
//! finished ones no longer need.

mod compare;
mod find;
mod fit;
mod list;
mod prune;
mod query;
mod show;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// `ppgn runs`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  ppgn runs                                            all runs in `runs`
  ppgn runs --sort result --filter dataset=MUTAG       the best on MUTAG first
  ppgn runs --filter 'rate<0.001' --filter state=finished --csv > runs.csv
  ppgn runs compare runs/a runs/b                      what differs, and the curves in one page
A folder called like a subcommand is listed as ./compare.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Compare runs: the settings that differ, figures side by side, and a page with their curves
    Compare(compare::Args),
    /// Show one run: state, figures by set, settings, files
    Show(show::Args),
    /// Free the checkpoints of finished runs: says how much first, and does it with --yes
    Prune(prune::Args),
}

/// Runs `ppgn runs`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.action {
        None => list::run(&args.list),
        Some(Action::Compare(args)) => compare::run(args),
        Some(Action::Show(args)) => show::run(args),
        Some(Action::Prune(args)) => prune::run(args),
    }
}
