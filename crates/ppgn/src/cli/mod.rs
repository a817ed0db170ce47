//! The commands: raw arguments here, one file per command below.

mod bench;
mod compile;
mod completions;
mod data;
mod device;
mod devices;
mod division;
mod embed;
mod express;
mod folder;
mod hint;
mod import;
mod input;
mod interrupt;
mod load;
mod log;
mod man;
mod metrics;
mod output;
mod predict;
mod protocol;
mod ranks;
mod runs;
mod say;
mod session;
mod settings;
mod threads;
mod tip;
mod train;
mod view;
mod wl;
mod wrong;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use ppgn::graph::text::{escaped, escaped_lines};
use std::process::ExitCode;

/// Graph networks with provable Weisfeiler-Leman power, and the tests that bound them.
#[derive(Debug, Parser)]
#[command(name = "ppgn", version, propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Try: ppgn train                  train on graphs that no message-passing network can distinguish\n     ppgn data info csl          show what is in a built-in dataset\n     ppgn data list              list datasets, generators and formats\n     ppgn wl compare figure1     compare two graphs that no message-passing network can distinguish"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Inspect, convert, check and download datasets
    Data(data::Args),
    /// Run Weisfeiler-Leman tests: colours, verdicts with reasons, digests, the subtree kernel
    Wl(wl::Args),
    /// Train a network: without arguments, on built-in graphs that no message-passing network can distinguish
    Train(Box<train::Args>),
    /// Predict with a trained network: classes with probabilities, or values
    Predict(predict::Args),
    /// Write the pooled features of graphs, computed by a trained network
    Embed(embed::Args),
    /// List the runs in a folder: settings, state, best results
    Runs(runs::Args),
    /// Show runs while they train, datasets and Weisfeiler-Leman tests on a page of your own machine
    View(view::Args),
    /// Write the network that computes a Weisfeiler-Leman test on given graphs: the paper's theorems as weights
    Compile(compile::Args),
    /// Measure how many pairs of graphs a network tells apart, beside the test that bounds it
    Express(Box<express::Args>),
    /// Import a PyTorch checkpoint of the paper's authors as a run
    Import(import::Args),
    /// Cross-validate by the protocol of the paper's Table 1, or by a fair one, resumable fold by fold
    Cv(Box<protocol::cv::Args>),
    /// Search for settings on one fixed split: the paper's grid, or another
    Search(Box<protocol::search::Args>),
    /// Reproduce the paper's tables and figure, next to the printed numbers
    Reproduce(Box<protocol::reproduce::Args>),
    /// Benchmark training on this machine: a step on random inputs, an epoch on a dataset, scaling with n
    Bench(bench::Args),
    /// List the GPUs of this machine, and what this build of ppgn can use
    Devices(devices::Args),
    /// Print the completion script of a shell: `ppgn completions bash`
    Completions(completions::Args),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(man::Args),
}

/// Parses the arguments and runs the command, as one of several ranks if a launcher started this process as one.
pub(crate) fn run() -> ExitCode {
    ranks::joined(|| {
        let command = match parsed() {
            Ok(cli) => cli.command,
            Err(error) => {
                // It goes to a stream that may be closed; the exit code says it too.
                let _ = error.print();
                let wrong = (error.exit_code() != 0).then(|| error.to_string());
                return (ExitCode::from(error.exit_code() as u8), wrong);
            }
        };
        // Every command ends with the code of the signal that stopped it.
        interrupt::on_ctrl_c();
        match command.is_shared() {
            true => ended(ranks::supported().and_then(|()| command.run())),
            false if ranks::lead() => ended(command.run()),
            false => (ExitCode::SUCCESS, None),
        }
    })
}

impl Command {
    /// Whether several ranks share its work; of other commands rank 0 does everything.
    fn is_shared(&self) -> bool {
        match self {
            Command::Train(_) | Command::Cv(_) | Command::Search(_) | Command::Reproduce(_) => true,
            Command::Express(_) => true,
            Command::Wl(args) => args.is_shared(),
            _ => false,
        }
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Data(args) => data::run(args),
            Command::Wl(args) => wl::run(args),
            Command::Train(args) => train::run(*args),
            Command::Predict(args) => predict::run(&args),
            Command::Embed(args) => embed::run(&args),
            Command::Runs(args) => runs::run(&args),
            Command::View(args) => view::run(&args),
            Command::Compile(args) => compile::run(&args),
            Command::Express(args) => express::run(&args),
            Command::Import(args) => import::run(&args),
            Command::Cv(args) => protocol::cv::run(&args),
            Command::Search(args) => protocol::search::run(&args),
            Command::Reproduce(args) => protocol::reproduce::run(&args),
            Command::Bench(args) => bench::run(args),
            Command::Devices(args) => devices::run(&args),
            Command::Completions(args) => completions::run(&args, &mut Cli::command()),
            Command::Man(args) => man::run(&args, Cli::command()),
        }
    }
}

/// The exit code of a command, and what went wrong, if anything did, after it was said.
fn ended(result: anyhow::Result<ExitCode>) -> (ExitCode, Option<String>) {
    match result {
        Ok(code) => (code, None),
        Err(error) => {
            if let Some(io) = error.downcast_ref::<std::io::Error>()
                && io.kind() == std::io::ErrorKind::BrokenPipe
            {
                return (ExitCode::SUCCESS, None); // the reader has closed the pipe
            }
            let text = message(&error);
            // Messages quote files; what a terminal would obey is made visible.
            say::error(&escaped_lines(&text));
            if let Some(hint) = hint::hint(&error) {
                say::hint(&escaped(&hint));
            }
            (ExitCode::from(exit_code(&error)), Some(text))
        }
    }
}

/// The arguments of the process; for a wrong call clap's message, and a tip that helps.
fn parsed() -> Result<Cli, clap::Error> {
    let parsed = Cli::command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    parsed.map_err(|error| {
        let words: Vec<String> =
            std::env::args_os().skip(1).map(|word| word.to_string_lossy().into()).collect();
        tip::with_tip(error, Cli::command(), &words)
    })
}

/// The messages of an error and its causes, each once: many messages end with that of their cause.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<ppgn::train::Error>() {
        return match error {
            ppgn::train::Error::Interrupted => interrupt::interrupted(),
            error if error.is_call() => 2,
            _ => 1,
        };
    }
    if error.is::<wrong::WrongCall>() {
        return 2;
    }
    if let Some(error) = error.downcast_ref::<ppgn::wl::Error>() {
        return match error {
            ppgn::wl::Error::Interrupted => interrupt::interrupted(),
            error if error.is_call() => 2,
            _ => 1,
        };
    }
    if let Some(error) = error.downcast_ref::<ppgn::nn::Error>() {
        use ppgn::nn::Error::{Interrupted, Wl};
        return match error {
            Interrupted | Wl(ppgn::wl::Error::Interrupted) => interrupt::interrupted(),
            error if error.is_call() => 2,
            _ => 1,
        };
    }
    let call = error.downcast_ref::<ppgn::graph::Error>().is_some_and(ppgn::graph::Error::is_call);
    if call { 2 } else { 1 }
}
