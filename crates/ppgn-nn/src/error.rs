//! What can go wrong with a network, its input and its files.

use ppgn_graph::Defect;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a network could not be built, run, read, written or compiled.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No network has such a configuration.
    #[error("{0}")]
    Config(String),
    /// Arguments do not fit the network, or each other.
    #[error("{0}")]
    Call(String),
    /// The arguments are sound, but what they ask for cannot be computed: too large, or not exact.
    #[error("{0}")]
    Unfit(String),
    /// The labels of the graphs are more than a compiled network's encoding carries.
    #[error("{0}")]
    Labels(String),
    /// A weight file or checkpoint is damaged, or not of the network.
    #[error("{0}")]
    File(Defect),
    /// The computation was stopped on request.
    #[error("interrupted")]
    Interrupted,
    /// Graphs, encodings and files.
    #[error(transparent)]
    Graph(#[from] ppgn_graph::Error),
    /// Colourings.
    #[error(transparent)]
    Wl(#[from] ppgn_wl::Error),
}

impl Error {
    /// An [`Error::Config`] with this text.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Error::Config(message.into())
    }

    /// An [`Error::Call`] with this text.
    pub(crate) fn call(message: impl Into<String>) -> Self {
        Error::Call(message.into())
    }

    /// An [`Error::Unfit`] with this text.
    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Error::Unfit(message.into())
    }

    /// The operating system refused something at this path.
    pub(crate) fn io(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        ppgn_graph::Error::io(path, source).into()
    }

    /// Whether the caller asked for something that cannot be, rather than that a job failed.
    pub fn is_call(&self) -> bool {
        match self {
            Error::Config(_) | Error::Call(_) => true,
            Error::Graph(error) => error.is_call(),
            _ => false,
        }
    }
}

impl From<ppgn_graph::GraphError> for Error {
    fn from(error: ppgn_graph::GraphError) -> Self {
        Error::Graph(error.into())
    }
}

impl From<Defect> for Error {
    fn from(defect: Defect) -> Self {
        Error::File(defect)
    }
}
