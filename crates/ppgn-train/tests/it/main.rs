//! The integration tests of ppgn-train, one module per theme.

mod choice;
mod expressive;
mod levels;
mod metrics;
mod nothing_lost;
mod protocols;
mod ranks;
mod recipes;
mod resume;
mod sample_weights;
mod sessions;
mod settings;
mod space;
