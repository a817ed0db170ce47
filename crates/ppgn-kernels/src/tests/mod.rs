//! The kernels against naive implementations of the equations.

mod adam;
mod block;
mod equivariant;
mod hostile;
mod levels;
pub(crate) mod naive;
mod pool;
mod tuples;
