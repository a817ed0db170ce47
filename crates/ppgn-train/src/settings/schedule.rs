//! The learning rate from epoch to epoch: a linear warm-up, then a schedule.
//!
//! A rate is a function of the settings, the epoch and, for `plateau`, of the losses of earlier epochs, which are in
//! `metrics.jsonl`. So there is no state to save, and a run that is resumed has the rates of one that was not stopped.
//! In PyTorch's terms the two are chained by `SequentialLR` with the end of the warm-up as milestone.

use super::Training;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How the learning rate changes after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Decays the learning rate by the factor `decay` every `decay_every` epochs: PyTorch's `StepLR`.
    #[default]
    Step,
    /// Anneals the learning rate along a cosine that would be 0 after the last epoch: PyTorch's `CosineAnnealingLR`.
    Cosine,
    /// Reduces the learning rate by the factor `decay` when the loss has stopped improving for more than `decay_every`
    /// epochs: PyTorch's `ReduceLROnPlateau`.
    Plateau,
}

impl Schedule {
    pub(super) fn is_step(&self) -> bool {
        *self == Schedule::Step
    }
}

/// A loss improves if it is lower than the lowest so far by this share of it, as PyTorch has it.
const THRESHOLD: f64 = 1e-4;

/// A reduction by less than this is not made, as PyTorch has it.
const LEAST: f64 = 1e-8;

impl Training {
    /// The learning rate of an epoch, counted from 1, given the losses of all epochs before it (of the validation set,
    /// else of the training set). Only [`Schedule::Plateau`] looks at them.
    ///
    /// With a warm-up of w epochs, epoch e <= w has `rate * e / (w + 1)` (PyTorch's `LinearLR`). For the epochs after
    /// it, with t = e - w - 1 from 0:
    ///
    /// - step: `rate * decay^floor(t / decay_every)`
    /// - cosine: `rate * (1 + cos(pi * t / (epochs - w))) / 2`
    /// - plateau: `rate * decay^k` after k reductions
    ///
    /// ```
    /// use ppgn_train::{Schedule, Training};
    /// let t = Training { rate: 0.1, decay: 0.5, decay_every: 20, ..Training::default() };
    /// assert_eq!([1, 20, 21, 41].map(|e| t.rate_of(e, &[])), [0.1, 0.1, 0.05, 0.025]);
    /// let t = Training { warmup: 1, schedule: Schedule::Cosine, epochs: 3, ..t };
    /// assert_eq!([1, 2, 3].map(|e| t.rate_of(e, &[])), [0.05, 0.1, 0.05]);
    /// ```
    pub fn rate_of(&self, epoch: usize, losses: &[f64]) -> f64 {
        let after = epoch.saturating_sub(1);
        if after < self.warmup {
            return self.rate * epoch as f64 / (self.warmup + 1) as f64;
        }
        let t = after - self.warmup;
        match self.schedule {
            Schedule::Step => {
                let steps = t / self.decay_every.max(1);
                (0..steps).fold(self.rate, |rate, _| rate * self.decay)
            }
            Schedule::Cosine => {
                let length = self.epochs.saturating_sub(self.warmup).max(1);
                self.rate * (1.0 + (PI * t as f64 / length as f64).cos()) / 2.0
            }
            Schedule::Plateau => self.reduced(losses.get(self.warmup..).unwrap_or_default()),
        }
    }

    /// The rate after these losses.
    fn reduced(&self, losses: &[f64]) -> f64 {
        let (mut rate, mut lowest, mut bad) = (self.rate, f64::INFINITY, 0);
        for &loss in losses {
            if loss < lowest * (1.0 - THRESHOLD) {
                (lowest, bad) = (loss, 0);
            } else {
                bad += 1;
            }
            if bad > self.decay_every {
                let less = rate * self.decay;
                rate = if rate - less > LEAST { less } else { rate };
                bad = 0;
            }
        }
        rate
    }
}
