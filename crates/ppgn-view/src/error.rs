//! What can keep the page from being served, and a request from being answered.

use std::path::PathBuf;

/// Why the page cannot be served or exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The operating system refused threads, sockets or random numbers.
    #[error("cannot serve: {0}")]
    System(String),
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A file of an export cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder of an export has something in it already.
    #[error("{} is not an empty folder: an export replaces nothing", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

/// The result of serving and exporting.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request has no answer: the status, and a message for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) message: String,
}

/// The answer to a request.
pub(crate) type Answer<T = serde_json::Value> = std::result::Result<T, Failure>;

impl Failure {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Failure { status, message: message.into() }
    }

    /// The request makes no sense.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Failure::new(400, message)
    }

    /// It asks for what it may not have.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Failure::new(403, message)
    }

    /// There is no such thing.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Failure::new(404, message)
    }

    /// It was there before: the question has to be asked anew.
    pub(crate) fn gone(message: impl Into<String>) -> Self {
        Failure::new(410, message)
    }

    /// What it asks for cannot be read or computed.
    pub(crate) fn unfit(message: impl std::fmt::Display) -> Self {
        Failure::new(422, message.to_string())
    }

    /// It would take too long or too much.
    pub(crate) fn too_much(message: impl Into<String>) -> Self {
        Failure::new(413, message)
    }

    /// There is too much to do at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Failure::new(503, message)
    }
}

impl From<ppgn_graph::Error> for Failure {
    fn from(error: ppgn_graph::Error) -> Self {
        Failure::unfit(error)
    }
}

impl From<ppgn_train::Error> for Failure {
    fn from(error: ppgn_train::Error) -> Self {
        Failure::unfit(error)
    }
}

impl From<ppgn_wl::Error> for Failure {
    fn from(error: ppgn_wl::Error) -> Self {
        Failure::unfit(error)
    }
}

impl From<ppgn_nn::Error> for Failure {
    fn from(error: ppgn_nn::Error) -> Self {
        Failure::unfit(error)
    }
}
