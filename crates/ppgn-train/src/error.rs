//! What can go wrong between a dataset and a trained network. Every variant that a caller may want to answer in a way of its
//! own carries what that takes; causes are kept. Messages name no command-line option: the library has none.

use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be trained, resumed or used.
///
/// ```
/// use ppgn_train::{Error, Run};
/// let error = Run::open("no-such-run").unwrap_err();
/// assert!(matches!(error, Error::NotARun { .. }) && error.is_call());
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph or dataset cannot be read, encoded or written, or a file of a run is damaged.
    #[error(transparent)]
    Graph(#[from] ppgn_graph::Error),
    /// A colouring failed.
    #[error(transparent)]
    Wl(#[from] ppgn_wl::Error),
    /// A network cannot be built, run, read or written.
    #[error(transparent)]
    Network(Box<ppgn_nn::Error>),
    /// A setting is unknown or out of range, or does not fit the data or another setting.
    #[error("{0}")]
    Settings(String),
    /// There is nothing of that name to learn of nodes or pairs.
    #[error("{}", nothing_at_level(dataset, item, asked, targets, columns))]
    NothingAtLevel {
        /// The dataset's name.
        dataset: String,
        /// `node` or `pair`.
        item: &'static str,
        /// The names that were asked for.
        asked: Vec<String>,
        /// The targets that the data lists.
        targets: Vec<String>,
        /// The columns of nodes or edges, which can be learned too.
        columns: Vec<String>,
    },
    /// Early stopping would be decided by the test set.
    #[error("early stopping needs a validation set, and the split has none: the test set must not decide")]
    NoValidation,
    /// A run is extended, never shortened.
    #[error("{} has {planned} epochs: {asked} are not more", path.display())]
    Shortened {
        /// The folder.
        path: PathBuf,
        /// Its number of epochs.
        planned: usize,
        /// The number that was asked for.
        asked: usize,
    },
    /// A file of settings is wrong.
    #[error("{file}: {message}")]
    SettingsFile {
        /// The file, as it was named.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// The folder is not a run.
    #[error("{} is not a run folder: it has no config.toml", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A run folder is never overwritten.
    #[error("{} already exists", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The run is locked.
    #[error("another process is training in {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A run of other settings is where this one should be.
    #[error("{} was made with other settings: {difference}", path.display())]
    OtherSettings {
        /// The folder.
        path: PathBuf,
        /// The first setting that differs, with both values.
        difference: String,
    },
    /// A run can be trained on the data that it was started on only.
    #[error("{data} is not the data that the run was started on: its content has changed")]
    OtherData {
        /// The data.
        data: String,
    },
    /// The network of the run was imported or compiled.
    #[error("the network of the run was {how}: there is nothing to train")]
    NothingToTrain {
        /// `imported` or `compiled`.
        how: &'static str,
    },
    /// There is no network yet to predict with.
    #[error("{} has not finished an epoch yet", path.display())]
    NoNetwork {
        /// The run folder.
        path: PathBuf,
    },
    /// Something in a run folder does not fit the rest of it.
    #[error("{}: {message}", path.display())]
    Run {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The protocol averages accuracies, and the data has regression targets.
    #[error("{dataset} is a regression dataset, and {protocol} needs classes")]
    NeedsClasses {
        /// The dataset's name.
        dataset: String,
        /// What needs classes: `cross-validation`, `the figure`.
        protocol: &'static str,
    },
    /// A setting is both fixed and varied by a grid.
    #[error("`{name}` is varied by the grid, so it cannot be set as well")]
    Varied {
        /// The setting.
        name: String,
    },
    /// The seed draws the split that all trials of a search share.
    #[error("{file}: `seed` cannot be varied: it draws the split, which all trials share")]
    VariedSeed {
        /// The grid's file.
        file: String,
    },
    /// The loss, or its gradient, is not finite.
    #[error("{0}")]
    NotFinite(NotFinite),
    /// A pass over a batch would need more memory than there is. Nothing was allocated.
    #[error("{} about {} of memory, but only {} may be used; {fits}", fits.refused(*graphs, *nodes), bytes(*need), bytes(*limit))]
    Memory {
        /// The estimated need in bytes.
        need: u64,
        /// The limit in bytes: the session's, or what the system has available.
        limit: u64,
        /// Graphs of the batch, or runs side by side.
        graphs: usize,
        /// Nodes of its largest graph.
        nodes: usize,
        /// What would fit.
        fits: Fits,
    },
    /// What a network gives for a graph is not finite: it is no prediction.
    #[error("the {what} of graph {graph} of {dataset} are not finite: there is no prediction for it")]
    NoPrediction {
        /// The dataset's name.
        dataset: String,
        /// The graph, counted from 0.
        graph: usize,
        /// `scores`, `features` or `values`.
        what: &'static str,
    },
    /// One of several runs failed.
    #[error("{name}: {source}")]
    Job {
        /// Its name.
        name: String,
        /// Why it failed.
        source: Box<Error>,
    },
    /// The threads of a session could not be started.
    #[error("{threads} threads cannot be started: {message}")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// What the system said.
        message: String,
    },
    /// Another rank of the job has failed or left.
    #[error("rank {rank}: {message}")]
    Rank {
        /// The number of the rank.
        rank: usize,
        /// What it said.
        message: String,
    },
    /// A GPU that is not there, or that the build cannot use.
    #[error("{}", no_device(*.number, *.supported, .found))]
    NoDevice {
        /// Its number.
        number: usize,
        /// Whether the build can use GPUs.
        supported: bool,
        /// Those that there are.
        found: Vec<String>,
    },
    /// The session's interrupt was set.
    #[error("interrupted")]
    Interrupted,
    /// The runs do not give what was to be computed from them.
    #[error("{0}")]
    Incomplete(String),
}

/// What fits into memory instead of what was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    /// Batches of this many of the graphs.
    Batch(usize),
    /// One graph of up to this many nodes.
    Nodes(usize),
    /// This many runs side by side.
    Jobs(usize),
}

impl std::fmt::Display for Fits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fits::Batch(1) => write!(f, "one graph at a time would fit"),
            Fits::Batch(n) => write!(f, "batches of {n} graphs would fit"),
            Fits::Nodes(0) => write!(f, "the network alone is too large"),
            Fits::Nodes(n) => write!(f, "one graph of up to {n} nodes would fit"),
            Fits::Jobs(1) => write!(f, "one run at a time would fit"),
            Fits::Jobs(n) => write!(f, "{n} runs side by side would fit"),
        }
    }
}

impl Fits {
    /// What was refused, with its verb.
    fn refused(&self, number: usize, nodes: usize) -> String {
        match (self, number) {
            (Fits::Jobs(_), _) => {
                format!("{number} runs side by side on graphs with up to {nodes} nodes need")
            }
            (_, 1) => format!("a batch of one graph with {nodes} nodes needs"),
            _ => format!("a batch of {number} graphs with up to {nodes} nodes needs"),
        }
    }
}

/// A number of bytes as people write it.
fn bytes(n: u64) -> String {
    let unit = [("TiB", 40), ("GiB", 30), ("MiB", 20)].into_iter().find(|(_, bits)| n >> bits > 0);
    let (unit, bits) = unit.unwrap_or(("KiB", 10));
    format!("{:.1} {unit}", n as f64 / (1u64 << bits) as f64)
}

/// Where a loss, or its gradient, was not finite. The last checkpoint is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NotFinite {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Whether it was found while the validation or test part was evaluated, after the epoch.
    pub evaluation: bool,
    /// The batch, from 1, and its graphs; nothing where only the sum over all batches is not finite.
    pub batch: Option<(usize, Vec<u32>)>,
}

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.evaluation {
            false => write!(f, "the loss or its gradient is not finite in epoch {}", self.epoch)?,
            true => {
                write!(f, "the loss of the validation or test part is not finite after epoch {}", self.epoch)?
            }
        }
        if let Some((number, graphs)) = &self.batch {
            write!(f, ", batch {number}: graphs {graphs:?}")?;
        }
        write!(f, "; the last checkpoint (epoch {}) is kept", self.epoch.saturating_sub(1))
    }
}

fn no_device(number: usize, supported: bool, found: &[String]) -> String {
    match (supported, found) {
        (false, _) => "this is a build of ppgn without GPU support".into(),
        (true, []) => "there is no GPU that this build of ppgn can use".into(),
        (true, found) => format!("there is no GPU number {number}; there are, from 0: {}", found.join(", ")),
    }
}

impl Error {
    /// An [`Error::Settings`] with this text.
    pub fn settings(message: impl Into<String>) -> Self {
        Error::Settings(message.into())
    }

    pub(crate) fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        ppgn_graph::Error::io(path, source).into()
    }

    /// Whether the caller asked for something that cannot be (exit code 2), rather than that a job failed (1).
    pub fn is_call(&self) -> bool {
        match self {
            Error::Graph(error) => error.is_call(),
            Error::Wl(error) => error.is_call(),
            Error::Network(error) => error.is_call(),
            Error::Job { source, .. } => source.is_call(),
            Error::Settings(_)
            | Error::NothingAtLevel { .. }
            | Error::SettingsFile { .. }
            | Error::NotARun { .. }
            | Error::Exists { .. }
            | Error::Busy { .. }
            | Error::OtherSettings { .. }
            | Error::OtherData { .. }
            | Error::NothingToTrain { .. }
            | Error::NoNetwork { .. }
            | Error::NeedsClasses { .. }
            | Error::NoValidation
            | Error::Shortened { .. }
            | Error::Varied { .. }
            | Error::NoDevice { .. }
            | Error::VariedSeed { .. } => true,
            Error::Run { .. }
            | Error::Memory { .. }
            | Error::NotFinite(_)
            | Error::NoPrediction { .. }
            | Error::Threads { .. }
            | Error::Rank { .. }
            | Error::Interrupted
            | Error::Incomplete(_) => false,
        }
    }
}

impl From<ppgn_nn::Error> for Error {
    /// What a network only passes on keeps its own variant here.
    fn from(error: ppgn_nn::Error) -> Self {
        match error {
            ppgn_nn::Error::Graph(error) => Error::Graph(error),
            ppgn_nn::Error::File(defect) => Error::Graph(defect.into()),
            ppgn_nn::Error::Wl(error) => Error::Wl(error),
            ppgn_nn::Error::Interrupted => Error::Interrupted,
            error => Error::Network(Box::new(error)),
        }
    }
}

impl From<ppgn_graph::Defect> for Error {
    fn from(defect: ppgn_graph::Defect) -> Self {
        Error::Graph(defect.into())
    }
}

fn nothing_at_level(
    dataset: &str,
    item: &str,
    asked: &[String],
    targets: &[String],
    columns: &[String],
) -> String {
    let of = if item == "node" { "nodes" } else { "edges" };
    let list = |names: &[String]| names.join(", ");
    let targets =
        if targets.is_empty() { String::new() } else { format!("; it has the targets {}", list(targets)) };
    let columns = match columns.is_empty() {
        true => format!("; its {of} have no columns that could be learned"),
        false => format!("; the columns of its {of} are {}", list(columns)),
    };
    match asked.is_empty() {
        true => format!("{dataset} lists nothing to learn per {item}{columns}"),
        false => {
            format!("{dataset} has nothing called {} to learn per {item}{targets}{columns}", list(asked))
        }
    }
}
