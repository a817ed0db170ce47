//! The integration tests of ppgn-graph, one binary, a module a theme.

mod encode;
mod shared;
