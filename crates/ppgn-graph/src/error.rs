//! What can go wrong between a file and a [`Graph`](crate::Graph).
//!
//! Two kinds matter to a caller: a wrong *call* (a name that does not exist, an option out of range; the command line
//! exits with 2) and a failed *job* (a damaged file, a full disk; exit code 1). [`Error::is_call`] distinguishes them.
//! Everything found inside a file is a [`Defect`] with its place, so that a person can open the file at the wrong line.
//!
//! Messages are complete sentences that include their cause, so [`std::error::Error::source`] does not repeat it: the
//! cause is a field. Text from files is shown with control characters escaped. They name no flags and no commands, because a library has none. Where a setting would help,
//! [`Error::remedy`] says which, and the front end puts it into its own words.

use crate::fetch::FetchError;
use crate::text::{escaped, escaped_lines};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a graph or dataset could not be read, built, encoded or written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call itself is wrong: an unknown name, a value out of range, contradictory options.
    #[error("{}", escaped_lines(.0))]
    Call(String),
    /// The operating system refused: a missing file, no permission, a full disk.
    #[error("{path}: {source}", path = escaped(&path.to_string_lossy()))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        r#source: Arc<std::io::Error>,
    },
    /// Something inside a file is wrong.
    #[error("{0}")]
    Defect(Defect),
    /// A graph that cannot exist.
    #[error(transparent)]
    Graph(#[from] crate::graph::GraphError),
    /// The data is sound, but it does not have the shape that the operation needs.
    #[error("{}", escaped_lines(.0))]
    Unfit(String),
    /// A number of a graph is finite in the data, but not in the precision of its rows.
    #[error("{}{attribute} is {value:e}, which {precision} cannot hold", of_graph(*graph))]
    Overflow {
        /// The graph, where the caller knows its number.
        graph: Option<usize>,
        /// Whose number it is, such as `mass of node 3`.
        attribute: String,
        /// The number.
        value: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A format cannot hold everything that a dataset has.
    #[error("{format} cannot hold {}", escaped(&losses.join(", nor ")))]
    Lossy {
        /// The format, as in "the TU format".
        format: &'static str,
        /// What it cannot hold.
        losses: Vec<String>,
    },
    /// A dataset that ppgn can download is not in the data folder, and downloading is off.
    #[error("{name} is not in the data folder {folder}", folder = escaped(&folder.to_string_lossy()))]
    NotDownloaded {
        /// The dataset.
        name: String,
        /// The data folder.
        folder: PathBuf,
    },
    /// A word that names no data.
    #[error("{}", escaped_lines(message))]
    NoData {
        /// What the word could have been.
        message: String,
        /// Where to look.
        remedy: Remedy,
    },
    /// A dataset could not be downloaded.
    #[error(transparent)]
    Fetch(#[from] FetchError),
}

fn of_graph(graph: Option<usize>) -> String {
    graph.map(|graph| format!("graph {graph}: ")).unwrap_or_default()
}

/// A setting or an action that would avoid an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Raise [`Limits::max_unpacked`](crate::format::Limits::max_unpacked).
    RaiseUnpackedLimit,
    /// Set [`ReadOptions::format`](crate::format::ReadOptions::format).
    NameFormat,
    /// Name the file as the table of what is to be learned ([`ReadOptions::labels`](crate::format::ReadOptions::labels)),
    /// beside a file of graphs.
    NameLabels,
    /// Name the column of classes ([`ReadOptions::class`](crate::format::ReadOptions::class)).
    NameClass,
    /// Set [`WriteOptions::lossy`](crate::format::WriteOptions::lossy).
    AllowLoss,
    /// Look at [`Locator::list`](crate::locate::Locator::list), [`generators`](crate::generate::generators) and
    /// [`known`](crate::fetch::known).
    ListData,
    /// Download this dataset ([`get`](crate::fetch::get)), or look in another data folder.
    Download(String),
    /// Download a known dataset from an address ([`GetOptions::from`](crate::fetch::GetOptions::from)).
    NameMirror,
    /// Replace the file ([`GetOptions::force`](crate::fetch::GetOptions::force)).
    Replace,
}

impl Error {
    /// An [`Error::Call`] with this text.
    pub fn call(message: impl Into<String>) -> Self {
        Error::Call(message.into())
    }

    /// An [`Error::Unfit`] with this text.
    pub fn unfit(message: impl Into<String>) -> Self {
        Error::Unfit(message.into())
    }

    /// An [`Error::Io`] at this path.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source: Arc::new(source) }
    }

    /// Whether the caller asked for something impossible (exit code 2), as opposed to a job that failed (1).
    pub fn is_call(&self) -> bool {
        matches!(self, Error::Call(_) | Error::NotDownloaded { .. } | Error::NoData { .. })
    }

    /// What would avoid the error, where something would.
    ///
    /// ```
    /// use ppgn_graph::{Remedy, locate::Locator};
    /// let error = Locator::default().resolve("figur1").unwrap_err();
    /// assert_eq!(error.remedy(), Some(Remedy::ListData));
    /// ```
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Defect(defect) => defect.remedy.clone(),
            Error::Lossy { .. } => Some(Remedy::AllowLoss),
            Error::NotDownloaded { name, .. } => Some(Remedy::Download(name.clone())),
            Error::NoData { remedy, .. } => Some(remedy.clone()),
            Error::Fetch(error) => error.remedy(),
            _ => None,
        }
    }
}

/// One thing that is wrong inside a file, with its place.
///
/// ```
/// use ppgn_graph::Defect;
/// let d = Defect::new("MUTAG.txt", "node 99 is out of range, the graph has 23 nodes").line(17).graph(0);
/// assert_eq!(d.to_string(), "MUTAG.txt:17: graph 0: node 99 is out of range, the graph has 23 nodes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Defect {
    /// The file, or `archive.zip/inner/name` for a file in an archive.
    pub file: String,
    /// The line, counted from 1, where the format has lines.
    pub line: Option<u64>,
    /// The graph, counted from 0 as everywhere in ppgn.
    pub graph: Option<usize>,
    /// What is wrong, and where it helps what to do.
    pub message: String,
    /// A setting with which the file could be read.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

impl Defect {
    /// A defect somewhere in `file`.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Defect { file: file.into(), line: None, graph: None, message: message.into(), remedy: None }
    }

    /// The same at this line (from 1).
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same in this graph (from 0).
    pub fn graph(mut self, graph: usize) -> Self {
        self.graph = Some(graph);
        self
    }

    /// The same with a setting that would help.
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(graph) = self.graph {
            write!(f, ": graph {graph}")?;
        }
        write!(f, ": {}", escaped(&self.message))
    }
}

impl From<Defect> for Error {
    fn from(defect: Defect) -> Self {
        Error::Defect(defect)
    }
}
