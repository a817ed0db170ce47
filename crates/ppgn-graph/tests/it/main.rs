//! The integration tests of ppgn-graph, one binary.

mod qm9;
