//! Graphs, datasets, file formats, generators, splits and input encodings: everything about data, nothing about learning.
//!
//! Data goes from a file ([`mod@format`]) or a generator ([`generate`]) to a [`Graph`] in a [`Dataset`], and from there
//! through an input encoding ([`encode`]) to the rows that networks take. [`locate`] turns a name
//! (`MUTAG`, `./my.g6:7`, `cfi:base=k4`) into data, [`split`] divides it, [`fetch`] downloads it.
//!
//! ```
//! use ppgn_graph::locate::Locator;
//! let csl = Locator::default().load("csl")?;
//! assert_eq!((csl.len(), csl.graph(0).nodes()), (150, 41));
//! # Ok::<(), ppgn_graph::Error>(())
//! ```

mod chem;
mod dataset;
mod error;
mod float;
mod folder;
mod graph;
mod nearest;

pub mod encode;
pub mod fetch;
pub mod file;
pub mod format;
pub mod generate;
pub mod locate;
pub mod memory;
pub mod molecule;
pub mod random;
pub mod split;
pub mod substructures;
pub mod summary;
pub mod text;
pub mod treewidth;

pub use dataset::{
    Dataset, DatasetBuilder, Fold, Header, Item, Known, LabelColumn, Learnable, Provenance, Record, Schema,
    Target, Task,
};
pub use error::{Defect, Error, Remedy, Result};
pub use float::Float;
pub use graph::{Graph, GraphBuilder, GraphError, Merged, Transposed};
