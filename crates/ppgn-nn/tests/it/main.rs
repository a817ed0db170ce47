//! The integration tests of ppgn-nn, one binary, a module a theme.

mod choice;
mod determinism;
mod figure1;
mod files;
mod golden;
mod gradient;
mod import;
mod invariance;
mod quotient;
mod shared;
