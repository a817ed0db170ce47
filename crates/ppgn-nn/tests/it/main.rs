//! The integration tests of ppgn-nn in one binary, one module per topic.

mod compile;
mod compile_orders;
mod determinism;
mod dropout;
mod equivariant;
mod figure1;
mod files;
mod golden;
mod gradient;
mod import;
mod invariance;
mod multiset;
mod orders;
mod outputs;
mod quotient;
mod shared;
mod spaces;
