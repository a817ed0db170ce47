//! The errors of networks, their input and their files.

use ppgn_graph::Defect;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a network could not be built, run, read, written or compiled.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid network configuration.
    #[error("{0}")]
    Config(String),
    /// Arguments that do not fit the network or each other.
    #[error("{0}")]
    Call(String),
    /// Valid arguments whose result cannot be computed: too large, or not exact.
    #[error("{0}")]
    Unfit(String),
    /// Labels of the graphs that a compiled network's encoding cannot represent.
    #[error("{0}")]
    Labels(String),
    /// A weight file or checkpoint that is damaged or belongs to another network.
    #[error("{0}")]
    File(Defect),
    /// The computation was stopped on request.
    #[error("interrupted")]
    Interrupted,
    /// An error in a graph, an encoding or a file.
    #[error(transparent)]
    Graph(#[from] ppgn_graph::Error),
    /// An error in a colouring.
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

    /// The operating system reported an error for this path.
    pub(crate) fn io(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        ppgn_graph::Error::io(path, source).into()
    }

    /// Whether the call itself was wrong, as opposed to a failed job.
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
