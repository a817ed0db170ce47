//! The commands: raw arguments here, one file per command below.

mod bench;
mod compile;
mod data;
mod embed;
mod hint;
mod import;
mod input;
mod interrupt;
mod output;
mod predict;
mod protocol;
mod runs;
mod threads;
mod train;
mod wl;

use clap::{Parser, Subcommand};
use ppgn::graph::text::{escaped, escaped_lines};
use std::process::ExitCode;

/// Graph networks with proven Weisfeiler-Leman power, and the tests that they match.
#[derive(Debug, Parser)]
#[command(name = "ppgn", version, propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Try: ppgn train                  a network on graphs that no message-passing network can tell apart\n     ppgn data info csl          what is in a built-in dataset\n     ppgn data list              what data there is\n     ppgn wl compare figure1     two graphs that no message-passing network can tell apart"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look at datasets, convert, check and download them
    Data(data::Args),
    /// Run Weisfeiler-Leman tests: colours, verdicts with reasons, digests, the subtree kernel
    Wl(wl::Args),
    /// Train a network: without arguments, on built-in graphs that no message-passing network can tell apart
    Train(Box<train::Args>),
    /// Say what a trained network makes of graphs: classes with probabilities, or values
    Predict(predict::Args),
    /// Write the pooled features of graphs, as a trained network sees them
    Embed(embed::Args),
    /// List the runs in a folder: settings, state, best figures
    Runs(runs::Args),
    /// Write the network that is a Weisfeiler-Leman test on given graphs: the paper's theorems as weights
    Compile(compile::Args),
    /// Make a run of a PyTorch checkpoint of the paper's authors
    Import(import::Args),
    /// Cross-validate: the protocol of the paper's Table 1, resumable fold by fold
    Cv(Box<protocol::cv::Args>),
    /// Search for settings: the paper's grid, or another, on one fixed split
    Search(Box<protocol::search::Args>),
    /// Measure the paper's tables anew, beside what it printed
    Reproduce(Box<protocol::reproduce::Args>),
    /// Time training on this machine: a step on random inputs, an epoch of a dataset
    Bench(bench::Args),
}

/// Parses the arguments and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Data(args) => data::run(args),
        Command::Wl(args) => wl::run(args),
        Command::Train(args) => train::run(*args),
        Command::Predict(args) => predict::run(&args),
        Command::Embed(args) => embed::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Cv(args) => protocol::cv::run(&args),
        Command::Search(args) => protocol::search::run(&args),
        Command::Reproduce(args) => protocol::reproduce::run(&args),
        Command::Bench(args) => bench::run(args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            if let Some(io) = error.downcast_ref::<std::io::Error>()
                && io.kind() == std::io::ErrorKind::BrokenPipe
            {
                return ExitCode::SUCCESS; // whoever was reading has seen enough
            }
            // Messages quote files; what a terminal would obey is made visible.
            eprintln!("error: {}", escaped_lines(&format!("{error:#}")));
            if let Some(hint) = hint::hint(&error) {
                eprintln!("hint: {}", escaped(&hint));
            }
            ExitCode::from(exit_code(&error))
        }
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<ppgn::wl::Error>() {
        return match error {
            ppgn::wl::Error::Interrupted => interrupt::INTERRUPTED,
            error if error.is_call() => 2,
            _ => 1,
        };
    }
    let call = error.downcast_ref::<ppgn::graph::Error>().is_some_and(ppgn::graph::Error::is_call);
    if call { 2 } else { 1 }
}
