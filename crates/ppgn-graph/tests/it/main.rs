//! The integration tests of ppgn-graph: one binary, one module per theme.

mod edges;
mod encode;
#[cfg(feature = "fetch")]
mod fetch;
mod fuzz;
mod generate;
mod graph6;
mod hostile;
mod items;
mod jsonl;
mod labels;
mod locate;
mod molecules;
mod networkx;
mod qm9;
mod random_datasets;
mod strategies;
mod stream_fuzz;
mod stream_memory;
mod structure;
mod support;
mod text;
mod tu;
