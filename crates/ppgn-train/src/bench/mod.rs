//! What networks cost on this machine: a training step on random inputs, an epoch of a dataset, one component of a network
//! as a function of the number of nodes.
//!
//! `benches/peers/compare.py` runs these in turn with a PyTorch program that does the same work. Times are comparable only
//! within one sitting; [`gemm_gflops`] is the speed of a plain matrix product at that moment.

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

/// Refuses a number of repetitions whose times would not fit in memory.
fn at_most_a_million(what: &str, number: usize) -> Result<()> {
    match number <= 1_000_000 {
        true => Ok(()),
        false => Err(Error::settings(format!("{number} {what} are too many: at most 1000000 are timed"))),
    }
}

/// The median; the upper one of the two in the middle for an even count.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
