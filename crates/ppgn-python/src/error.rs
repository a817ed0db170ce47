//! Errors of the libraries as Python exceptions, each of the class that Python has for it.

use pyo3::exceptions::{
    PyConnectionError, PyFileExistsError, PyFileNotFoundError, PyFloatingPointError, PyKeyboardInterrupt,
    PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;

/// Turns an error of a library into an exception.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Raised> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| error.raised())
    }
}

/// An error that has an exception.
pub(crate) trait Raised {
    fn raised(&self) -> PyErr;
}

/// A wrong call is a `ValueError`, a failed job a `RuntimeError`.
fn by_kind(is_call: bool, text: String) -> PyErr {
    if is_call { PyValueError::new_err(text) } else { PyRuntimeError::new_err(text) }
}

impl Raised for ppgn_graph::GraphError {
    fn raised(&self) -> PyErr {
        PyValueError::new_err(self.to_string())
    }
}

impl Raised for ppgn_graph::Error {
    fn raised(&self) -> PyErr {
        use ppgn_graph::Error;
        let text = self.to_string();
        match self {
            Error::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
                ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
                ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
                _ => PyOSError::new_err(text),
            },
            Error::Call(_) if text.starts_with("there is no file or folder") => {
                PyFileNotFoundError::new_err(text)
            }
            Error::NotDownloaded { .. } => {
                PyFileNotFoundError::new_err(format!("{text}: download=True fetches it"))
            }
            Error::NoData { .. } => PyFileNotFoundError::new_err(text),
            Error::Lossy { .. } => PyValueError::new_err(format!("{text}: lossy=True leaves it out")),
            Error::Fetch(_) => PyConnectionError::new_err(text),
            // What is wrong inside a file or with a value.
            _ => PyValueError::new_err(text),
        }
    }
}

impl Raised for ppgn_wl::Error {
    fn raised(&self) -> PyErr {
        match self {
            ppgn_wl::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            ppgn_wl::Error::Memory { .. } => PyMemoryError::new_err(self.to_string()),
            _ => by_kind(self.is_call(), self.to_string()),
        }
    }
}

impl Raised for ppgn_nn::Error {
    fn raised(&self) -> PyErr {
        match self {
            ppgn_nn::Error::Graph(error) => error.raised(),
            ppgn_nn::Error::Wl(error) => error.raised(),
            ppgn_nn::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            ppgn_nn::Error::File(_) | ppgn_nn::Error::Labels(_) => PyValueError::new_err(self.to_string()),
            _ => by_kind(self.is_call(), self.to_string()),
        }
    }
}

impl Raised for ppgn_train::Error {
    fn raised(&self) -> PyErr {
        use ppgn_train::Error;
        let text = self.to_string();
        match self {
            Error::Graph(error) => error.raised(),
            Error::Wl(error) => error.raised(),
            Error::Network(error) => error.raised(),
            Error::NotARun { .. } | Error::NoNetwork { .. } => PyFileNotFoundError::new_err(text),
            Error::Exists { .. } => PyFileExistsError::new_err(text),
            Error::Memory { .. } => PyMemoryError::new_err(text),
            Error::NotFinite(_) | Error::NoPrediction { .. } => PyFloatingPointError::new_err(text),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            _ => by_kind(self.is_call(), text),
        }
    }
}
