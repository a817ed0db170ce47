//! The settings of the training loop: epochs, batches, learning rate, optimiser, precision.

use super::Schedule;
use crate::batches::Batching;
use crate::error::{Error, Result};
use crate::metrics::Selection;
use crate::objective::ClassWeights;
use crate::reference::References;
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
    /// Adam's learning rate before any decay.
    pub rate: f64,
    /// Learning-rate decay factor, applied every `decay_every` epochs.
    pub decay: f64,
    /// Number of epochs between two decays of the learning rate; for [`Schedule::Plateau`], epochs without improvement
    /// that are allowed before one.
    pub decay_every: usize,
    /// How the learning rate changes.
    #[serde(default, skip_serializing_if = "Schedule::is_step")]
    pub schedule: Schedule,
    /// Epochs of linear warm-up before that.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warmup: usize,
    /// Stop after this many epochs without a better one; 0 for never.
    #[serde(default, skip_serializing_if = "is_none")]
    pub patience: usize,
    /// Weight decay coefficient of AdamW; 0 for none.
    #[serde(default, skip_serializing_if = "is_off")]
    pub weight_decay: f64,
    /// Maximum norm of the gradients; 0 for no clipping.
    #[serde(default, skip_serializing_if = "is_off")]
    pub clip: f64,
    /// How much the classes count in the loss.
    #[serde(default, skip_serializing_if = "ClassWeights::is_none")]
    pub class_weights: ClassWeights,
    /// Probability of a pooled feature, or of an output of a hidden layer of the suffix, to be zeroed during training.
    #[serde(default, skip_serializing_if = "is_off")]
    pub dropout: f64,
    /// Decay of the exponential moving average of the weights, which is then what is evaluated and kept; 0 for none.
    #[serde(default, skip_serializing_if = "is_off")]
    pub ema: f64,
    /// What is subtracted from targets before they are standardised, and added to predictions.
    #[serde(default, skip_serializing_if = "References::is_none")]
    pub reference: References,
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
    /// Whether the predictions of every epoch are kept too, for an average over several runs.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub keep_predictions: bool,
}

fn is_none(number: &usize) -> bool {
    *number == 0
}

fn is_off(number: &f64) -> bool {
    *number == 0.0
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
            schedule: Schedule::Step,
            warmup: 0,
            patience: 0,
            weight_decay: 0.0,
            clip: 0.0,
            class_weights: ClassWeights::None,
            dropout: 0.0,
            ema: 0.0,
            reference: References::None,
            seed: 0,
            precision: Precision::F32,
            space: SpaceChoice::Auto,
            select: Selection::default(),
            keep_predictions: false,
        }
    }
}

impl Training {
    /// The most epochs of a run: beyond what any training takes, and far from where counts overflow.
    pub const EPOCHS: usize = 1_000_000_000;

    /// Whether nothing is left to train after this epoch, given the best one so far: all epochs are done, or `patience`
    /// epochs have passed without a better one.
    pub(crate) fn is_over(&self, epoch: usize, best: usize) -> bool {
        epoch >= self.epochs || self.patience > 0 && epoch.saturating_sub(best) >= self.patience
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
            t if t.warmup >= t.epochs && t.warmup > 0 => {
                wrong("the warm-up must be shorter than the training")
            }
            t if !(t.weight_decay >= 0.0 && t.weight_decay.is_finite()) => {
                wrong("the weight decay coefficient must be a number of at least 0")
            }
            t if t.rate * t.weight_decay >= 1.0 => wrong(
                "learning rate times weight decay must be below 1: a step would turn the weights around",
            ),
            t if !(t.clip >= 0.0 && t.clip.is_finite()) => {
                wrong("the maximum norm of the gradients must be a number of at least 0")
            }
            t if !(0.0..1.0).contains(&t.dropout) => {
                wrong("the probability of dropout must be from 0 to below 1")
            }
            t if !(0.0..1.0).contains(&t.ema) => {
                wrong("the decay of the averaged weights must be from 0 to below 1")
            }
            t if t.decay_every == 0 => wrong("the learning rate must decay after at least 1 epoch"),
            _ => Ok(()),
        }
    }
}
