//! The settings of the training loop: epochs, batches, learning rate, precision.

use crate::batches::Batching;
use crate::error::{Error, Result};
use crate::metrics::Selection;
use ppgn_nn::{Precision, SpaceChoice};
use serde::{Deserialize, Serialize};

/// How a network is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Number of training epochs.
    pub epochs: usize,
    /// Batch size: maximum number of graphs in a batch.
    pub batch: usize,
    /// Which graphs share a batch.
    pub batching: Batching,
    /// Adam's learning rate in the first epochs.
    pub rate: f64,
    /// Learning-rate decay factor, applied every `decay_every` epochs.
    pub decay: f64,
    /// Number of epochs between two decays of the learning rate.
    pub decay_every: usize,
    /// The random seed of initial weights and batches.
    pub seed: u64,
    /// The floating-point precision.
    pub precision: Precision,
    /// The space to compute on.
    #[serde(default)]
    pub space: SpaceChoice,
    /// What the best epoch is selected by.
    #[serde(skip_serializing_if = "Selection::is_default", default)]
    pub select: Selection,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs: 100,
            batch: 16,
            batching: Batching::Mixed,
            rate: 1e-3,
            decay: 0.75,
            decay_every: 20,
            seed: 0,
            precision: Precision::F32,
            space: SpaceChoice::Auto,
            select: Selection::default(),
        }
    }
}

impl Training {
    /// The most epochs of a run: beyond what any training takes, and far from where counts overflow.
    pub const EPOCHS: usize = 1_000_000_000;

    /// The learning rate of an epoch, counted from 1: `rate * decay^floor((epoch - 1) / decay_every)`.
    ///
    /// ```
    /// use ppgn_train::Training;
    /// let t = Training { rate: 0.1, decay: 0.5, decay_every: 20, ..Training::default() };
    /// assert_eq!((t.rate_of(1), t.rate_of(20), t.rate_of(21), t.rate_of(41)), (0.1, 0.1, 0.05, 0.025));
    /// ```
    pub fn rate_of(&self, epoch: usize) -> f64 {
        let steps = epoch.saturating_sub(1) / self.decay_every.max(1);
        (0..steps).fold(self.rate, |rate, _| rate * self.decay)
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::settings(what));
        match self {
            t if t.epochs == 0 => wrong("the number of epochs must be at least 1"),
            t if t.epochs > Self::EPOCHS => {
                wrong(&format!("the number of epochs must be at most {}, not {}", Self::EPOCHS, t.epochs))
            }
            t if t.batch == 0 => wrong("the batch size must be at least 1"),
            t if !(t.rate > 0.0 && t.rate.is_finite()) => wrong("the learning rate must be a number above 0"),
            t if !(t.decay > 0.0 && t.decay <= 1.0) => {
                wrong("the learning-rate decay factor must be above 0 and at most 1")
            }
            t if t.decay_every == 0 => wrong("the learning rate must decay after at least 1 epoch"),
            _ => Ok(()),
        }
    }
}
