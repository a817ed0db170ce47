//! The integration tests of `ppgn-wl`, one module a topic.

mod colour_refinement;
mod data;
mod graphs;
mod kernel;
mod naive;
