//! The integration tests of ppgn-graph, one binary, a module a theme.

mod encode;
#[cfg(feature = "fetch")]
mod fetch;
mod locate;
mod shared;
