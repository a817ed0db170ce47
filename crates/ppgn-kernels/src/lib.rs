//! CPU kernels for provably powerful graph networks, on plain slices.
//!
//! A batch is one row-major matrix of rows by channels: a row is an ordered pair of nodes, or a colour of such pairs.
//! (Beyond order 2, k-tuples of nodes replace pairs.) [`Block`] is the network's block, forward and backward, for
//! either kind of row ([`Pairs`]), any of the products ([`Product`]) and any [`Activation`]; [`Equivariant`] is the linear equivariant
//! layer, [`Linears`] a sequence of such layers; [`pool_max`], [`pool_sum`] and [`pool_mean`] reduce to one row per graph; [`Suffix`]
//! computes scores, [`loss`] their loss; [`adam`] is the optimiser. Matrix products are fused with bias, ReLU and its
//! mask; rows stay in the cache throughout an MLP; hidden layers are kept or recomputed ([`Keep`]); gradients overwrite
//! the values they belong to; and memory is reused from step to step ([`Buffer`]).
//!
//! Everything runs in rayon's current pool; results do not depend on its size. The vector instructions are selected at
//! run time ([`Level`]).

mod activation;
mod adam;
mod block;
mod compiled;
mod equivariant;
mod gemm;
mod generalised;
mod large;
mod linear;
mod matrix;
mod messages;
mod mlp;
mod narrow;
mod norm;
mod planes;
mod pool;
mod pool_pairs;
mod product;
mod quotient;
mod real;
mod shared;
mod simd;
mod strips;
mod suffix;
mod sums;
#[cfg(test)]
mod tests;
mod tuples;
mod workspace;

pub mod loss;

pub use activation::{Activation, activate, activate_backward};
pub use adam::{AdamStep, adam, finite, multiply_by, sum_of_squares};
pub use block::{Block, Branch, Keep, Kept, Pairs, Product};
pub use equivariant::{Equivariant, Linears};
pub use linear::Layer;
pub use matrix::{add_outer, multiply, multiply_transposed};
pub use messages::Messages;
pub use mlp::Mlp;
pub use pool::{
    Count, Pools, Ties, pool_max, pool_max_backward, pool_mean, pool_mean_backward, pool_sum,
    pool_sum_backward,
};
pub use product::Square;
pub use quotient::{ColourMatrix, Example, merges_twins};
pub use real::Real;
pub use simd::Level;
pub use suffix::{Scored, Suffix, add_each, multiply_each};
pub use tuples::{Patterns, patterns};
pub use workspace::{Buffer, Workspace, clear};

/// Runs `work` on a thread of rayon's current pool. A pass has many parallel sections, and each one entered from
/// outside the pool would wait for a thread to wake up.
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
