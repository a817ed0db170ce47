//! Training: from a dataset and a preset to a run folder, and from a run folder to predictions.
//!
//! [`Settings`] say everything about a run and are what its `config.toml` holds. [`Run`] is the folder: configuration,
//! metrics, checkpoints, all written so that a process killed at any moment leaves something to resume. [`train`] fills
//! it, epoch by epoch, and [`Predictor`] reads it. Randomness is a function of (seed, purpose, epoch), so a run that
//! was killed and resumed ends bit-equal to one that was not.

mod batches;
pub mod bench;
mod compiled;
mod curve;
mod cv;
mod data;
mod estimate;
mod figure;
mod jobs;
mod metrics;
mod overview;
mod paper;
mod picture;
mod predict;
mod preset;
mod report;
mod reproduce;
mod run;
mod search;
mod settings;
mod space;
mod trainer;

pub use batches::{Batching, batches};
pub use compiled::{Compilation, Pairs};
pub use curve::{Averaged, average};
pub use cv::{Cv, CvReport, DEALT, Template, fold_numbers};
pub use data::{Goal, Prepared, Scaling, limited};
pub use estimate::{Estimate, estimate};
pub use figure::{Curves, Figure, FigurePart, FigureReport, RunCurves, Trained};
pub use jobs::{Ended, Finished, Job, JobWatcher, Notice, Standing, Workers, run_jobs};
pub use metrics::{Best, Epoch, Part};
pub use overview::{Overview, Status};
pub use paper::{Printed, Rank, Table1, Table2};
pub use predict::{Prediction, Predictor};
pub use preset::{PRESETS, Preset};
pub use reproduce::{Asked, Row1, Row2};
pub use run::{Run, State, Summary};
pub use search::{Grid, Search, SearchReport, Trial};
pub use settings::{Division, Overrides, Settings, Training};
pub use space::{keep_colours_in, stop_colouring_by};
pub use trainer::{Event, Outcome, Watcher, train};
