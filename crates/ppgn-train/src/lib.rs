//! Training: from a dataset and a preset to a run folder, and from a run folder to predictions.
//!
//! [`Settings`] say everything about a run and are what its `config.toml` holds. [`Run`] is the folder: configuration,
//! metrics, checkpoints, all written so that a process killed at any moment leaves something to resume. [`train`] fills
//! it, epoch by epoch, and [`Predictor`] reads it. Randomness is a function of (seed, purpose, epoch), so a run that
//! was killed and resumed ends bit-equal to one that was not.

mod batches;
mod compiled;
mod data;
mod metrics;
mod overview;
mod predict;
mod preset;
mod report;
mod run;
mod settings;
mod trainer;

pub use batches::{Batching, batches};
pub use compiled::{Compilation, Pairs};
pub use data::{Goal, Prepared, Scaling, limited};
pub use metrics::{Best, Epoch, Part};
pub use overview::{Overview, Status};
pub use predict::{Prediction, Predictor};
pub use preset::{PRESETS, Preset};
pub use run::{Run, State, Summary};
pub use settings::{Division, Overrides, Settings, Training};
pub use trainer::{Event, Outcome, Watcher, train};
