//! The integration tests of ppgn-train, one module per theme.

mod choice;
mod levels;
mod metrics;
mod nothing_lost;
mod protocols;
mod recipes;
mod resume;
mod sessions;
mod settings;
mod space;
