//! ppgn: graph networks with proven Weisfeiler-Leman power, and the tests that they match.
//!
//! This crate gathers the parts of ppgn under one name. Data walks through them in this order: [`graph`] (files,
//! graphs, encodings), then [`wl`] (colours).
//!
//! ```
//! use ppgn::graph::locate::Locator;
//! let csl = Locator::default().load("csl")?;
//! assert_eq!(csl.len(), 150);
//! # Ok::<(), ppgn::graph::Error>(())
//! ```

pub use ppgn_graph as graph;
pub use ppgn_wl as wl;
