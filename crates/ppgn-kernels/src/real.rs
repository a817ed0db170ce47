//! The two number types that kernels run on.

use crate::buffer::Store;
use crate::simd::{Kernel, Level, levels};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};
use std::sync::Mutex;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
#[allow(private_bounds, private_interfaces, reason = "the dispatch is no business of users")]
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
    + 'static
{
    /// Below every number.
    const LOWEST: Self;

    /// The number nearest to `x`.
    fn rounded(x: f64) -> Self;

    /// The square root.
    fn root(self) -> Self;

    /// Whether it is neither infinite nor no number.
    fn finite(self) -> bool;

    /// Whether it is no number.
    fn lost(self) -> bool;

    #[doc(hidden)]
    fn store() -> &'static Mutex<Store<Self>>;

    #[doc(hidden)]
    fn dispatch<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
}

macro_rules! real {
    ($real:ty) => {
        #[allow(private_bounds, private_interfaces, reason = "as the trait")]
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
            fn lost(self) -> bool {
                self.is_nan()
            }

            fn store() -> &'static Mutex<Store<Self>> {
                static STORE: Mutex<Store<$real>> = Store::new();
                &STORE
            }

            levels!($real);
        }
    };
}
real!(f32);
real!(f64);
