//! `ppgn wl`: the Weisfeiler-Leman tests on files, generators and single graphs.

mod classes;
mod compare;
mod digest;
mod kernel;
mod pairs;
mod refine;
mod svg;

use super::data::DATA_HELP;
use super::input::{InputArgs, size};
use super::interrupt::on_ctrl_c;
use super::threads::ThreadsArgs;
use anyhow::Result;
use clap::Subcommand;
use ppgn::graph::{Dataset, Error, Graph};
use ppgn::wl::{Features, Options, Test};
use std::path::PathBuf;
use std::process::ExitCode;

/// `ppgn wl`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

impl Args {
    /// Whether several ranks share the work.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.command, Command::Pairs { .. } | Command::Digest { .. } | Command::Kernel { .. })
    }
}

/// What every test takes.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TestArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Maximum number of rounds [default: until nothing changes]
    #[arg(long, value_name = "R")]
    pub(super) rounds: Option<usize>,
    /// Memory limit, such as 2GiB [default: 80 % of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
    #[command(flatten)]
    threads: ThreadsArgs,
    /// Ignore node and edge labels
    #[arg(long)]
    ignore_labels: bool,
    /// Use node and edge attributes as initial colours too (compared bit by bit)
    #[arg(long)]
    attributes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl TestArgs {
    /// The options of a refinement, stopped by Ctrl-C.
    pub(super) fn options(&self) -> Result<Options> {
        self.threads.apply();
        Ok(Options {
            features: Features { labels: !self.ignore_labels, attributes: self.attributes },
            rounds: self.rounds,
            max_memory: self.max_memory.or_else(default_memory),
            interrupt: on_ctrl_c(),
        })
    }

    /// Refuses `--rounds` where the number of rounds is fixed by what is computed.
    pub(super) fn without_rounds(&self, why: &str) -> Result<()> {
        match self.rounds {
            None => Ok(()),
            Some(_) => Err(Error::call(format!("--rounds does not go with this command: {why}")).into()),
        }
    }

    /// What the graphs have that these options ignore.
    pub(super) fn ignored(&self, graphs: &[Graph]) -> Vec<&'static str> {
        let any = |has: fn(&Graph) -> bool| graphs.iter().any(has);
        [
            ("node labels", self.ignore_labels && any(|g| g.node_label_columns() > 0)),
            ("edge labels", self.ignore_labels && any(|g| g.edge_label_columns() > 0)),
            ("node attributes", !self.attributes && any(|g| g.node_attribute_columns() > 0)),
            ("edge attributes", !self.attributes && any(|g| g.edge_attribute_columns() > 0)),
            ("positions", any(|g| g.positions().is_some())),
        ]
        .into_iter()
        .filter_map(|(what, ignored)| ignored.then_some(what))
        .collect()
    }

    /// The data of a word, all of it in memory.
    pub(super) fn load(&self, spec: &str) -> Result<Dataset> {
        let dataset = self.input.locator()?.load(spec)?;
        if dataset.is_empty() {
            return Err(Error::call(format!("{spec} has no graphs")).into());
        }
        Ok(dataset)
    }
}

/// The test by name: `3-fwl`, or `k-fwl --order 3`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TestName {
    /// The test: 1-wl, or k-wl or k-fwl for any k >= 2, such as 2-fwl
    #[arg(long, value_name = "TEST", default_value = "1-wl")]
    test: String,
    /// The k of k-wl and k-fwl
    #[arg(long, value_name = "K")]
    order: Option<usize>,
}

impl TestName {
    fn test(&self) -> Result<Test> {
        test(&self.test, self.order)
    }
}

/// The test of this name, in which `k` stands for the order.
pub(super) fn test(name: &str, order: Option<usize>) -> Result<Test> {
    let family = name.strip_prefix("k-").or_else(|| name.strip_prefix("K-"));
    let wrong = |message: String| Error::call(message);
    let text = match (family, order) {
        (Some(family), Some(k)) => format!("{k}-{family}"),
        (Some(family), None) => {
            return Err(wrong(format!("--test {name} takes --order K, or write K-{family}")).into());
        }
        (None, _) => name.to_string(),
    };
    let test: Test = text.parse().map_err(|e: ppgn::wl::Error| wrong(e.to_string()))?;
    match order.filter(|&k| k != test.k()) {
        Some(k) => {
            Err(wrong(format!("--order {k} does not go with --test {name}, whose k is {}", test.k())).into())
        }
        None => Ok(test),
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Colour graphs: the partition after every round
    #[command(after_help = DATA_HELP)]
    Refine {
        /// The graphs, coloured together: a colour means the same in all of them
        graphs: String,
        #[command(flatten)]
        test: TestName,
        /// Write every tuple's last colour to FILE: .csv, or .jsonl with one line per graph
        #[arg(long, value_name = "FILE")]
        colours: Option<PathBuf>,
        /// Draw the colouring to FILE, one panel per round: nodes for 1-wl, the matrix of pairs for 2-wl and 2-fwl
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
        #[command(flatten)]
        args: TestArgs,
    },
    /// Does a test distinguish two graphs? Without --test, tries stronger tests until one does
    #[command(after_help = DATA_HELP)]
    Compare {
        /// The first graph (or a dataset of exactly two, without B)
        a: String,
        /// The second graph
        b: Option<String>,
        /// The test [default: 1-wl, 2-fwl, 3-fwl ... until one distinguishes them]
        #[arg(long, value_name = "TEST")]
        test: Option<String>,
        /// The k of k-wl and k-fwl
        #[arg(long, value_name = "K", requires = "test")]
        order: Option<usize>,
        #[command(flatten)]
        args: TestArgs,
    },
    /// Take graphs 2p and 2p+1 as pairs: how many are distinguished, at which round, in what time
    #[command(after_help = DATA_HELP)]
    Pairs {
        /// The graphs
        graphs: String,
        #[command(flatten)]
        test: TestName,
        #[command(flatten)]
        args: TestArgs,
    },
    /// Group graphs that a test does not distinguish
    #[command(after_help = DATA_HELP)]
    Classes {
        /// The graphs
        graphs: String,
        #[command(flatten)]
        test: TestName,
        #[command(flatten)]
        args: TestArgs,
    },
    /// Print one line per graph, equal exactly for graphs that a test does not distinguish
    #[command(after_help = DATA_HELP)]
    Digest {
        /// The graphs
        graphs: String,
        #[command(flatten)]
        test: TestName,
        #[command(flatten)]
        args: TestArgs,
    },
    /// Write the features of the WL subtree kernel as a sparse matrix, or its Gram matrix
    #[command(after_help = DATA_HELP)]
    Kernel {
        /// The dataset
        data: String,
        /// Where to: an .npz that scipy.sparse.load_npz reads; with --gram an .npy or .npz
        out: PathBuf,
        /// Rounds of colour refinement
        #[arg(long, value_name = "H", default_value_t = 5)]
        iterations: usize,
        /// Write the Gram matrix (graphs x graphs) instead of the features
        #[arg(long)]
        gram: bool,
        #[command(flatten)]
        args: TestArgs,
    },
}

/// Runs `ppgn wl`.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Refine { graphs, test, colours, svg, args } => {
            refine::run(&graphs, test.test()?, refine::Files { colours, svg }, &args)
        }
        Command::Compare { a, b, test: name, order, args } => {
            let test = name.map(|name| test(&name, order)).transpose()?;
            compare::run(&a, b.as_deref(), test, &args)
        }
        Command::Pairs { graphs, test, args } => pairs::run(&graphs, test.test()?, &args),
        Command::Classes { graphs, test, args } => classes::run(&graphs, test.test()?, &args),
        Command::Digest { graphs, test, args } => digest::run(&graphs, test.test()?, &args),
        Command::Kernel { data, out, iterations, gram, args } => {
            kernel::run(&data, &out, iterations, gram, &args)
        }
    }
}

/// The memory that a test may use by default: 80 % of what the machine and its control groups have available.
pub(super) fn default_memory() -> Option<u64> {
    ppgn::graph::memory::available().map(|bytes| bytes / 5 * 4)
}
