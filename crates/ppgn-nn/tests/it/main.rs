//! The integration tests of ppgn-nn, one binary, a module a theme.

mod choice;
mod compile;
mod determinism;
mod engine;
mod equivariant;
mod figure1;
mod files;
mod golden;
mod gradient;
mod import;
mod invariance;
mod multiset;
mod quotient;
mod shared;
