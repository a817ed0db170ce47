//! ppgn: graph networks with proven Weisfeiler-Leman power, and the tests that they match.
//!
//! This crate gathers the parts of ppgn under one name. Data walks through them in this order: [`graph`] (files,
//! graphs, encodings), then [`wl`] (colours).
//!
//! ```
//! use ppgn::graph::locate::Locator;
//! use ppgn::wl::{Options, Test, refine};
//!
//! let figure1 = Locator::default().load("figure1")?;
//! let colours = refine(figure1.graphs(), Test::fwl(2)?, &Options::default())?;
//! assert_eq!(colours.parting_round(0, 1), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ppgn_graph as graph;
pub use ppgn_wl as wl;
