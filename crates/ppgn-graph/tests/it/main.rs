//! The integration tests of ppgn-graph, one binary, a module a theme.

mod encode;
#[cfg(feature = "fetch")]
mod fetch;
mod generate;
mod graph6;
mod jsonl;
mod locate;
mod random_datasets;
mod shared;
mod stream_fuzz;
mod stream_memory;
