//! The integration tests of `ppgn-wl`, one module a topic.

mod graphs;
mod naive;
mod pairs;
mod tuples;
