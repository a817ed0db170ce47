//! Tests of the crate as its users see it, in one binary.

mod edges;
mod fuzz;
mod strategies;
mod support;
mod text;
mod tu;
