//! The integration tests of ppgn-graph: one binary, one module a topic.

mod generate;
