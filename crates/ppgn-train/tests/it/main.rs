//! The integration tests of ppgn-train, one module per theme.

mod averaging;
mod choice;
mod expressive;
mod follow;
mod levels;
mod metrics;
mod nothing_lost;
mod protocols;
mod ranks;
mod recipes;
mod reference;
mod resume;
mod sample_weights;
mod sessions;
mod settings;
mod space;
