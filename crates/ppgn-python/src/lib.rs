//! The compiled half of the Python package `ppgn`: the module `ppgn._ppgn`.
//!
//! Python sees the types and functions below through `python/ppgn`, which converts what the field uses (NetworkX graphs,
//! arrays, molecules) to [`Graph`](graph::Graph)s before it calls them. Here are the border and nothing else: arguments
//! become the libraries' types, results become NumPy arrays, errors become exceptions ([`error`]), and everything that
//! computes does so in a thread of its own while the caller listens for Ctrl-C ([`compute`]).

mod arrays;
mod bytes;
mod compute;
mod dataset;
mod device;
mod error;
mod express;
mod graph;
mod kernel;
mod molecule;
mod network;
mod run;
mod settings;
mod wl;

use pyo3::prelude::*;

/// The compiled half of ppgn. Use the package `ppgn`.
#[pymodule]
mod _ppgn {
    #[pymodule_export]
    use super::compute::threads;
    #[pymodule_export]
    use super::dataset::{Dataset, load, names};
    #[pymodule_export]
    use super::express::express;
    #[pymodule_export]
    use super::graph::{Graph, parse_graph6};
    #[pymodule_export]
    use super::kernel::{wl_features, wl_gram, wl_seen};
    #[pymodule_export]
    use super::molecule::{parse_smiles, perceived};
    #[pymodule_export]
    use super::network::Network;
    #[pymodule_export]
    use super::run::{Predictor, compile, fit};
    #[pymodule_export]
    use super::settings::{presets, settings};
    #[pymodule_export]
    use super::wl::{Refinement, certificate, digests, refine};

    /// The version of the package, which is the workspace's.
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
