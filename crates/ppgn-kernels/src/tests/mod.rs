//! The kernels against the equations, written out naively.

mod adam;
mod block;
mod equivariant;
mod hostile;
mod levels;
mod naive;
mod pool;
mod tuples;
