//! What networks cost on this machine, now: a training step on random inputs, an epoch of a dataset, a part of a network by
//! the number of nodes.
//!
//! The counterpart of `bench` and `epoch` of a PyTorch program, so that the two can be run in turn on the same work. Times
//! mean something only beside others of the same sitting; [`gemm_gflops`] is what the machine gives a plain matrix
//! product at that moment.

mod cost;
mod epoch;
mod gemm;
mod scaling;
mod step;
mod usage;

use crate::error::{Error, Result};

pub use cost::{CostFigures, Subject, cost};
pub use epoch::{EpochFigures, EpochWork, epoch};
pub use gemm::gemm_gflops;
pub use scaling::{Growth, sizes, write_scaling};
pub use step::{StepFigures, StepWork, step, step_flops};

/// An error for a number of repetitions that nobody waits for, and whose times would not fit into memory.
fn at_most_a_million(what: &str, number: usize) -> Result<()> {
    match number <= 1_000_000 {
        true => Ok(()),
        false => Err(Error::settings(format!("{number} {what} are too many: at most 1000000 are timed"))),
    }
}

/// The middle one of some numbers; of an even number the upper middle one.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
