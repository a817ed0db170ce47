//! The integration tests of ppgn-burn, one binary, one module per theme.

mod agree;
mod device;
mod orders;
mod pairs;
mod parity;
mod ranks;
mod resident;
mod runs;

/// Random graphs and configurations are those of the kernels' own tests.
#[path = "../../../ppgn-nn/tests/it/shared.rs"]
#[allow(dead_code, reason = "not every helper of ppgn-nn's tests is needed here")]
mod shared;
