//! The space that a run trains on, and the colours that runs on the same data share, in memory and on disk.

mod cache;
mod check;
mod choice;
mod memory;

pub use choice::{Choosing, Chosen};
pub(crate) use memory::ColourCache;
