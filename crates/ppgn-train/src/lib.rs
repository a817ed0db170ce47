//! Training: from a dataset and a preset to a run folder, and from a run folder to predictions.
//!
//! [`Settings`] say everything about a run: they are the content of its `config.toml`. [`Run`] is the folder with
//! configuration, metrics and checkpoints, written so that a process killed at any moment leaves something to resume.
//! [`train`] fills it, epoch by epoch, and [`Predictor`] reads it. A [`Session`] carries what runs share. Randomness is a
//! function of (seed, purpose, epoch), so a run that was killed and resumed ends bit-equal to an uninterrupted one.
//!
//! Three modules build on the training loop: [`protocol`] (cross-validation, search, the paper's tables and figure),
//! [`express`] (how much networks distinguish) and [`bench`] (what networks cost on this machine).

mod batches;
pub mod bench;
mod chart;
mod compare;
mod compiled;
mod data;
mod device;
mod ensemble;
mod error;
pub mod express;
mod headline;
mod items;
mod labelling;
pub mod listing;
mod memory;
pub mod metrics;
mod objective;
mod overview;
mod predict;
mod preset;
pub mod protocol;
pub mod ranks;
mod reference;
mod remote;
mod report;
mod run;
mod session;
mod settings;
mod share;
mod space;
mod step;
mod tensorboard;
mod trainer;

pub use batches::{Batching, batches};
pub use compare::{Compared, compare_page, differences, flat_settings};
pub use compiled::{Compilation, Pairs};
pub use data::{Goal, Prepared, Scaling, limited};
pub use device::DeviceChoice;
pub use ensemble::Ensemble;
pub use error::{Error, Fits, NotFinite, Result};
pub use headline::{figures, headline, mean_error};
pub use items::{Items, Truth};
pub use memory::{check_memory, check_prediction};
pub use metrics::{Best, Epoch, Part};
pub use objective::{ClassWeights, Task};
pub use overview::{Overview, Status};
pub use predict::{Prediction, Predictor};
pub use preset::{PRESETS, Preset};
pub use reference::{Reference, References};
pub use report::{html_list, html_table};
pub use run::{Digests, Follower, Keep, Run, State, Summary, Warning, prunable};
pub use session::Session;
pub use settings::{
    Division, Gain, Imported, Learned, Listing, Origin, Overrides, Ranges, Request, SampleWeights, Schedule,
    Setting, Settings, Trained, Training, text,
};
pub use space::{Choosing, Chosen};
pub use tensorboard::EventLog;
pub use trainer::{Event, Outcome, Watcher, follow, train};
