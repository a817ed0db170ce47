//! ppgn: graph networks with provable Weisfeiler-Leman power, and the tests that bound them.
//!
//! This crate re-exports the libraries of ppgn under one name. Data flows through them in this order: [`graph`] (files,
//! graphs, encodings), [`wl`] (colours), [`nn`] (networks), [`train`] (presets, run folders, predictions).
//!
//! ```
//! use ppgn::graph::locate::Locator;
//! use ppgn::wl::{Options, Test, refine};
//!
//! let figure1 = Locator::default().load("figure1")?;
//! let colours = refine(figure1.graphs(), Test::fwl(2)?, &Options::default())?;
//! assert_eq!(colours.distinguishing_round(0, 1), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Training a network, and predicting with it:
//!
//! ```
//! use ppgn::graph::locate::Locator;
//! use ppgn::nn::BlockConfig;
//! use ppgn::train::{Division, Outcome, Overrides, Predictor, Request, Run, Session, Settings, train};
//!
//! let data = Locator::default().load("csl:n=11,skips=2+3,copies=4")?;
//! let overrides = Overrides { epochs: Some(3), blocks: Some(vec![BlockConfig::new(8); 2]), ..Overrides::default() };
//! let division = Division::Shares([0.5, 0.25, 0.25]);
//! let settings = Settings::resolve(&Request { overrides, division, ..Request::new("csl", &data) })?;
//! let path = std::env::temp_dir().join(format!("ppgn-doc-run-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&path);
//! let session = Session::default();
//! let run = Run::create(&path, settings)?;
//! let Outcome::Finished(summary) = train(&session, &run, &data, &mut |_| true)? else { unreachable!("nobody stops it") };
//! assert_eq!(summary.epochs, 3);
//! assert_eq!(Predictor::open(&session, &path)?.predict(&data)?.len(), 8);
//! # std::fs::remove_dir_all(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "gpu")]
pub use ppgn_burn as burn;
pub use ppgn_graph as graph;
pub use ppgn_nn as nn;
pub use ppgn_train as train;
pub use ppgn_wl as wl;
