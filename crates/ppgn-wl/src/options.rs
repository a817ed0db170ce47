//! How a refinement is run: what counts as a colour, how long, in how much memory, and how to stop it.

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which features of the data are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Node and edge labels (on by default).
    pub labels: bool,
    /// Node and edge attributes, equal where their bits are (off by default: real numbers distinguish most nodes).
    pub attributes: bool,
}

impl Default for Features {
    fn default() -> Self {
        Features { labels: true, attributes: false }
    }
}

/// Asks a running refinement to stop. Clones share the request.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag behind it, for code that polls one itself.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// An error if it was asked to stop.
    pub fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// How to refine.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What counts as a colour.
    pub features: Features,
    /// The maximum number of rounds; without it, until nothing changes.
    pub rounds: Option<usize>,
    /// The maximum memory in bytes, estimated before it is allocated; without it, no limit.
    pub max_memory: Option<u64>,
    /// A way to stop early.
    pub interrupt: Interrupt,
}
