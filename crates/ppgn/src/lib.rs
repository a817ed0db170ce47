//! facade
pub use ppgn_graph as graph;
