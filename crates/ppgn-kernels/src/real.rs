//! The two floating-point types that kernels support.

use crate::compiled::Compiled;
use crate::simd::{Kernel, Level, levels};
use crate::workspace::{Store, Stores};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};
use std::sync::Mutex;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
#[allow(private_bounds, private_interfaces, reason = "the dispatch is an implementation detail")]
pub trait Real:
    Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
    + sealed::Sealed
    + Compiled
    + 'static
{
    /// Less than or equal to every number: negative infinity.
    const LOWEST: Self;

    /// `x` rounded to this type.
    fn rounded(x: f64) -> Self;

    /// The square root.
    fn root(self) -> Self;

    /// The same number as `f64`.
    fn wide(self) -> f64;

    /// Whether it is neither infinite nor NaN.
    fn finite(self) -> bool;

    /// Whether it is NaN.
    fn is_nan(self) -> bool;

    #[doc(hidden)]
    fn store(stores: &Stores) -> &Mutex<Store<Self>>;

    #[doc(hidden)]
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
}

macro_rules! real {
    ($real:ty, $store:ident) => {
        #[allow(private_bounds, private_interfaces, reason = "see the trait")]
        impl Real for $real {
            const LOWEST: Self = <$real>::NEG_INFINITY;

            #[inline(always)]
            fn rounded(x: f64) -> Self {
                x as $real
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$real>::is_nan(self)
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            fn store(stores: &Stores) -> &Mutex<Store<Self>> {
                &stores.$store
            }

            levels!($real);
        }
    };
}
real!(f32, single);
real!(f64, double);
