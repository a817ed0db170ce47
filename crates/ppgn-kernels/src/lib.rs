//! CPU kernels of provably powerful graph networks, on plain slices.
//!
//! A batch is one matrix of rows by channels, row-major: a row is an ordered pair of nodes, or a colour of such pairs.
//! (Beyond order 2, k-tuples of nodes stand in the place of pairs.) [`Block`] is the network's block, forward and
//! backward, over either kind of rows ([`Pairs`]) and with any of the products ([`Product`]); [`Equivariant`] is the
//! linear equivariant layer, [`Linears`] a block of such layers alone; [`pool_max`] and [`pool_sum`] make one row a graph;
//! [`adam`] is the optimiser. Matrix products, bias, ReLU and its mask are one pass,
//! rows stay in the cache through an MLP, hidden layers are kept or computed again ([`Keep`]), gradients take the places of
//! what they are gradients of, and memory is used again from step to step ([`Buffer`]).
//!
//! Everything runs in rayon's current pool; results do not depend on its size. The vector instructions are found at run
//! time ([`Level`]).

mod adam;
mod block;
mod equivariant;
mod gemm;
mod generalised;
mod linear;
mod matrix;
mod mlp;
mod norm;
mod planes;
mod pool;
mod product;
mod quotient;
mod real;
mod shared;
mod simd;
mod suffix;
mod sums;
#[cfg(test)]
mod tests;
mod tuples;
mod workspace;

pub mod loss;

pub use adam::{AdamStep, adam, finite};
pub use block::{Block, Branch, Keep, Kept, Pairs, Product};
pub use equivariant::{Equivariant, Linears};
pub use linear::Layer;
pub use matrix::{add_outer, multiply, multiply_transposed};
pub use mlp::Mlp;
pub use pool::{Count, Pools, Ties, pool_max, pool_max_backward, pool_sum, pool_sum_backward};
pub use product::Square;
pub use quotient::{Colours, Example};
pub use real::Real;
pub use simd::Level;
pub use suffix::{Scored, Suffix};
pub use tuples::{Patterns, patterns};
pub use workspace::{Buffer, Workspace, clear};

/// Work on one of the threads of rayon's current pool: for a pass that has many parallel sections, of which each one that is
/// entered from outside the pool waits for a thread to wake up.
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
