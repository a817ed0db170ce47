//! `ppgn data`: look at datasets, convert, check and download them.

mod check;
mod convert;
mod get;
mod info;
mod list;

use super::input::InputArgs;
use anyhow::Result;
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

/// `ppgn data`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// How data is named: written once, shown under every command that takes it.
pub(crate) const DATA_HELP: &str = "\
DATA is one of
  a file or folder   ./x, dir/x, x.g6, x.zip ...   (in any format of `ppgn data list`)
  standard input     -
  a generator        csl, cycles:n=6,copies=2, cfi:base=k4 ...
  a dataset's name   MUTAG, QM9 ...   (looked up in the data folder, case ignored; a known one is downloaded)
and DATA:7 is graph 7 of any of them, counted from 0.";

#[derive(Debug, Subcommand)]
enum Command {
    /// List generators, datasets and formats
    List {
        #[command(flatten)]
        input: InputArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show what is in a dataset: sizes, labels, features, degrees, folds
    #[command(after_help = DATA_HELP)]
    Info {
        /// The dataset
        data: String,
        #[command(flatten)]
        input: InputArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Download a dataset to the data folder
    Get {
        /// MUTAG, PTC, PROTEINS, NCI1, NCI109, COLLAB, IMDBBINARY, IMDBMULTI, ENZYMES, QM9, or any set of TUDataset (AIDS, DD ...)
        name: String,
        /// A mirror: the URL of the file, or of a folder (ending in /) that has it
        #[arg(long, value_name = "URL")]
        from: Option<String>,
        /// Download again, and replace the existing file
        #[arg(long)]
        force: bool,
        /// The data folder [default: $PPGN_DATA, else the platform's]
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
        /// No progress bar
        #[arg(long, short)]
        quiet: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a dataset in another format: OUT ends in .jsonl or .g6, or is a folder (TU)
    #[command(after_help = DATA_HELP)]
    Convert {
        /// The dataset
        data: String,
        /// Where to: x.jsonl (JSON Lines, lossless), x.g6 (graph6), or a folder (TU Dortmund)
        out: PathBuf,
        /// Drop what OUT's format cannot hold, instead of refusing
        #[arg(long)]
        lossy: bool,
        /// Write every graph K times: as it is, then with its nodes in random order (seed 0). Graphs without classes and
        /// targets get their numbers as classes: can a network learn which graph a copy is of?
        #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
        copies: Option<u16>,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        input: InputArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read everything and report every defect with file and line; exit code 1 if there is one
    #[command(after_help = DATA_HELP)]
    Check {
        /// The dataset
        data: String,
        #[command(flatten)]
        input: InputArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Runs `ppgn data`.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::List { input, json } => list::run(&input, json),
        Command::Info { data, input, json } => info::run(&data, &input, json),
        Command::Get { name, from, force, data_dir, quiet, json } => {
            get::run(&name, get::Options { from, force, data_dir, quiet, json })
        }
        Command::Convert { data, out, lossy, copies, force, input, json } => {
            convert::run(&data, &out, convert::Options { lossy, copies, force, json }, &input)
        }
        Command::Check { data, input, json } => check::run(&data, &input, json),
    }
}
