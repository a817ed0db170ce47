//! The Weisfeiler-Leman tests, exact and fast: colour refinement, k-WL and k-FWL for every k, as Section 3.2 of
//! *Provably Powerful Graph Networks* defines them.
//!
//! [`refine()`] colours any set of graphs together, so that a colour means the same in all of them, and gives a
//! [`Refinement`]: the partition after every round, histograms, and the round that distinguishes two graphs. Colours
//! are canonical (relabelling nodes permutes the colouring and changes nothing else) and exact: where two colours are
//! called equal, their keys were compared, not only their hashes.
//!
//! On top of it, [`certificate()`] explains why two graphs are distinguished, [`digest()`] gives a graph one line that is
//! equal exactly for graphs that a test does not distinguish, and [`subtree_kernel`] gives the WL features and the Gram
//! matrix of a dataset.

mod colour_refinement;
mod digest;
mod error;
mod kernel;
mod levels;
mod neighbourhood;
mod options;
mod pace;
mod refine;
mod refinement;
mod test;
mod tuples;
mod types;

pub mod certificate;

pub use certificate::{Certificate, certificate};
pub use digest::{Digest, digest};
pub use error::Error;
pub use kernel::{Gram, SparseRows, SubtreeKernel, subtree_kernel};
pub use levels::{LevelsError, TupleLevels};
// ppgn-nn still uses this name: delete it when it follows.
pub use options::{Features, Interrupt, Options};
#[doc(hidden)]
pub use ppgn_graph::Float as Bits;
pub use refine::refine;
pub use refinement::Refinement;
pub use test::{Family, Test};
