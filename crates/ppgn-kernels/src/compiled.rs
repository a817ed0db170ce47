//! Where the kernels are compiled: in this crate, once for `f32` and once for `f64`.
//!
//! The compiler makes the code of a generic function in whichever crate calls it with a concrete type, with the options
//! of that crate: kernels would be compiled again in every crate above, test binaries included, and without
//! optimisation where that crate has none. So public functions that compute call a method of this trait; its
//! implementations are not generic, and their code, with all that they call, is made here.

use crate::activation::Activation;
use crate::adam::AdamStep;
use crate::block::{Block, Keep, Kept, Pairs};
use crate::linear::Layer;
use crate::pool::{Pools, Ties};
use crate::real::Real;
use crate::suffix::{Scored, Suffix};
use crate::workspace::{Buffer, Workspace};

/// Declares the trait and implements it for both number types: every method calls the generic function named after it.
macro_rules! compiled {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:path;)*) => {
        /// The entry points to the kernels for one number type.
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments, missing_docs, reason = "documented at the functions that call them")]
        pub trait Compiled: Sized {
            $(fn $name($($argument: $type),*) $(-> $result)? where Self: Real;)*
        }

        compiled!(@for f32 $(fn $name($($argument: $type),*) $(-> $result)? = $body;)*);
        compiled!(@for f64 $(fn $name($($argument: $type),*) $(-> $result)? = $body;)*);
    };
    (@for $real:ident $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:path;)*) => {
        impl Compiled for $real {
            $(fn $name($($argument: $type),*) $(-> $result)? { $body($($argument),*) })*
        }
    };
}

compiled! {
    fn clear(numbers: &mut [Self]) = crate::workspace::clear_generic;
    fn all_finite(numbers: &[Self]) -> bool = crate::adam::finite_generic;
    fn sum_of_squares(numbers: &[Self]) -> f64 = crate::adam::sum_of_squares_generic;
    fn multiply_by(numbers: &mut [Self], factor: f64) = crate::adam::multiply_by_generic;
    fn adam(step: AdamStep, p: &mut [Self], g: &[Self], m: &mut [Self], v: &mut [Self]) = crate::adam::adam_generic;

    fn multiply(
        workspace: &Workspace, x: &[Self], m: (&[Self], usize, usize), y: &mut [Self], add: bool,
    ) = crate::matrix::multiply_generic;
    fn multiply_transposed(
        workspace: &Workspace, x: &[Self], m: (&[Self], usize, usize), y: &mut [Self], add: bool,
    ) = crate::matrix::multiply_transposed_generic;
    fn add_outer(
        workspace: &Workspace, x: (&[Self], usize), d: (&[Self], usize), c: &mut [Self],
    ) = crate::matrix::add_outer_generic;
    fn layer_forward(
        layer: &Layer<'_, Self>, workspace: &Workspace, x: &[Self], y: &mut [Self],
    ) = Layer::forward_generic;

    fn block_forward(
        block: &Block<'_, Self>, workspace: &Workspace, pairs: Pairs<'_>, x: &[Self], keep: Keep,
    ) -> (Buffer<Self>, Option<Kept<Self>>) = Block::forward_generic;
    fn block_backward(
        block: &Block<'_, Self>, workspace: &Workspace, pairs: Pairs<'_>, x: &[Self], kept: Kept<Self>,
        d: Buffer<Self>, gradient: &mut [Self], with_input: bool,
    ) -> Option<Buffer<Self>> = Block::backward_generic;

    fn pool_max(
        pools: Pools<'_>, channels: usize, x: &[Self], to: &mut [Self], ties: bool,
    ) -> Ties<Self> = crate::pool::pool_max_generic;
    fn pool_max_backward(
        pools: Pools<'_>, channels: usize, ties: &Ties<Self>, d: &[Self], dx: &mut [Self],
    ) = crate::pool::pool_max_backward_generic;
    fn pool_sum(
        pools: Pools<'_>, channels: usize, x: &[Self], to: &mut [Self],
    ) = crate::pool::pool_sum_generic;
    fn pool_sum_backward(
        pools: Pools<'_>, channels: usize, d: &[Self], dx: &mut [Self],
    ) = crate::pool::pool_sum_backward_generic;

    fn pool_mean(
        pools: Pools<'_>, channels: usize, x: &[Self], to: &mut [Self],
    ) = crate::pool::pool_mean_generic;
    fn pool_mean_backward(
        pools: Pools<'_>, channels: usize, d: &[Self], dx: &mut [Self],
    ) = crate::pool::pool_mean_backward_generic;
    fn activate(activation: Activation, x: &mut [Self]) = crate::activation::activate_generic;
    fn activate_backward(
        activation: Activation, x: &[Self], d: &mut [Self],
    ) = crate::activation::activate_backward_generic;

    fn suffix_forward(
        suffix: &Suffix<'_, Self>, workspace: &Workspace, graphs: usize, pooled: &[Buffer<Self>],
        masks: Vec<Vec<Self>>,
    ) -> Scored<Self> = Suffix::forward_generic;
    fn suffix_backward(
        suffix: &Suffix<'_, Self>, workspace: &Workspace, pooled: &[Buffer<Self>], scored: Scored<Self>,
        d: &[Self], gradient: &mut [Self],
    ) -> Vec<Buffer<Self>> = Suffix::backward_generic;
}
