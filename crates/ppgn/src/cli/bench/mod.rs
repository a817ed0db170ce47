//! `ppgn bench`: what networks cost on this machine, for people and for `benches/peers/compare.py`.

mod cost;
mod epoch;
mod scaling;
mod step;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// `ppgn bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Time a training step of three blocks on random inputs, next to a plain matrix product
    Step(step::Args),
    /// Time an epoch of training on a dataset, and separately its preparation
    Epoch(Box<epoch::Args>),
    /// Time a forward pass of a block or of an equivariant layer on one graph
    Cost(cost::Args),
    /// Measure how the cost scales with the number of nodes: fitted exponents and a plot, next to theory
    Scaling(scaling::Args),
}

/// Runs `ppgn bench`.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Step(args) => step::run(&args),
        Command::Epoch(args) => epoch::run(&args),
        Command::Cost(args) => cost::run(&args),
        Command::Scaling(args) => scaling::run(&args),
    }
}

/// A measurement that not every system provides.
fn known(figure: Option<f64>, unit: &str) -> String {
    figure.map_or_else(|| "unknown on this system".into(), |x| format!("{x:.0}{unit}"))
}
