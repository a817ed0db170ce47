//! Training: from a dataset and a preset to a run folder, and from a run folder to predictions.
//!
//! [`Settings`] say everything about a run and are what its `config.toml` holds. [`Run`] is the folder: configuration,
//! metrics, checkpoints, all written so that a process killed at any moment leaves something to resume. [`train`] fills
//! it, epoch by epoch, and [`Predictor`] reads it. Randomness is a function of (seed, purpose, epoch), so a run that
//! was killed and resumed ends bit-equal to one that was not.

mod batches;
mod data;
mod metrics;
mod predict;
mod preset;
mod run;
mod settings;
mod space;
mod trainer;

pub use batches::{Batching, batches};
pub use data::{Goal, Prepared};
pub use metrics::{Best, Epoch, Part};
pub use predict::{Prediction, Predictor};
pub use preset::{PRESETS, Preset};
pub use run::{Run, State, Summary};
pub use settings::{Division, Overrides, Settings, Training};
pub use space::keep_colours_in;
pub use trainer::{Event, Outcome, Watcher, train};
