//! What can go wrong between a file and a [`Graph`](crate::Graph), and how it is told.
//!
//! Two kinds matter to a caller: a wrong *call* (a name that does not exist, an option out of range; the
//! command line exits with 2) and a failed *job* (a damaged file, a full disk; exit code 1).
//! [`Error::is_call`] tells them apart. Everything found inside a file is a [`Defect`] with its place, so that a
//! person can open the file at the line that is wrong.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a graph or dataset could not be read, built, encoded or written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call itself is wrong: an unknown name, a value out of range, options that contradict each other.
    #[error("{0}")]
    Call(String),
    /// The operating system refused: a missing file, no permission, a full disk.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// Something inside a file is wrong.
    #[error("{0}")]
    Defect(Defect),
    /// A graph that cannot exist was asked for.
    #[error(transparent)]
    Graph(#[from] crate::graph::GraphError),
    /// The data is sound, but it is not of the shape that the operation needs.
    #[error("{0}")]
    Unfit(String),
    /// A dataset could not be downloaded.
    #[error("{0}")]
    Fetch(String),
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

    /// Whether the caller asked for something that cannot be (exit code 2), rather than that a job failed (1).
    pub fn is_call(&self) -> bool {
        matches!(self, Error::Call(_))
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
}

impl Defect {
    /// A defect somewhere in `file`.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Defect { file: file.into(), line: None, graph: None, message: message.into() }
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
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(graph) = self.graph {
            write!(f, ": graph {graph}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl From<Defect> for Error {
    fn from(defect: Defect) -> Self {
        Error::Defect(defect)
    }
}
