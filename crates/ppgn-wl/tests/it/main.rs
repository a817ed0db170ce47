//! The integration tests of `ppgn-wl`, one module a topic.

mod certificate;
mod colour_refinement;
mod data;
mod digest;
mod graphs;
mod hierarchy;
mod kernel;
mod levels;
mod naive;
mod tuples;
