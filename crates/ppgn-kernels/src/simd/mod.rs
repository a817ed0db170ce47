//! Which vector instructions are used: detected at run time, or set by `PPGN_SIMD`.
//!
//! A kernel is written once, as a [`Kernel`] on the vectors of a [`Simd`], and compiled three times: for AVX-512, for
//! AVX2 with FMA, and for the baseline of the target; one body serves `f32` and `f64`. Simple loops are left to the
//! compiler, which vectorises them with the level's instructions too.

#[cfg(target_arch = "x86_64")]
mod lines;
mod part;
mod transpose;

pub(crate) use part::{EachVector, Lanes, each_vector};
pub(crate) use transpose::{SIDE, transpose};

use crate::real::Real;
use std::sync::LazyLock;

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The baseline of the target.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 (F).
    Avx512,
}

impl Level {
    /// Its name, as in `PPGN_SIMD=avx2`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// The best level this machine supports.
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // AVX-512 kernels also use smaller vectors.
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 && is_x86_feature_detected!("avx512f") {
                return Level::Avx512;
            }
            if avx2 {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// The level in use: the best one, or a lower one set by `PPGN_SIMD`. A level that the machine does not support, or
    /// an unknown name, is ignored.
    ///
    /// ```
    /// use ppgn_kernels::Level;
    /// assert!(Level::current() <= Level::best());
    /// ```
    pub fn current() -> Level {
        static CURRENT: LazyLock<Level> =
            LazyLock::new(|| Level::chosen(std::env::var("PPGN_SIMD").ok().as_deref()));
        *CURRENT
    }

    fn chosen(name: Option<&str>) -> Level {
        let all = [Level::Portable, Level::Avx2, Level::Avx512];
        let named = all.into_iter().find(|level| Some(level.name()) == name);
        named.map_or(Level::best(), |level| level.min(Level::best()))
    }
}

/// Rows of the result that a kernel holds in registers, two vectors each: 12 sums, two vectors and a broadcast number
/// fit the 16 registers that every x86-64 has.
pub(crate) const MR: usize = 6;

/// The largest size of a pair of vectors, in numbers.
pub(crate) const MAX_NR: usize = 32;

/// The vectors of one level for one number type.
pub(crate) trait Simd<T>: Copy {
    /// `LANES` numbers.
    type V: Copy;

    /// Which numbers of a vector are read or written: see [`first`](Self::first).
    type M: Copy;

    /// Vectors of half the size for narrow rows, or these if there are no smaller ones worth using.
    type Half: Simd<T>;

    /// Numbers in a vector.
    const LANES: usize;

    /// Columns of the result that a kernel holds in registers.
    const NR: usize = 2 * Self::LANES;

    /// Whether there are 32 registers rather than 16, so that tiles may be taller.
    const TALL: bool = false;

    fn splat(x: T) -> Self::V;

    /// # Safety
    /// `from` must be readable for `LANES` numbers.
    unsafe fn load(from: *const T) -> Self::V;

    /// # Safety
    /// `to` must be writable for `LANES` numbers.
    unsafe fn store(to: *mut T, v: Self::V);

    /// The first `count` numbers of a vector.
    fn first(count: usize) -> Self::M;

    /// The numbers of `which`, and 0 for the others, which are not read.
    ///
    /// # Safety
    /// `from` must be readable for the numbers of `which`.
    unsafe fn load_part(from: *const T, which: Self::M) -> Self::V;

    /// Stores the numbers of `which`.
    ///
    /// # Safety
    /// `to` must be writable for the numbers of `which`.
    unsafe fn store_part(to: *mut T, v: Self::V, which: Self::M);

    /// `x * by + plus`.
    fn multiply_add(x: Self::V, by: Self::V, plus: Self::V) -> Self::V;

    /// `max(0, x)`; NaN stays NaN.
    fn relu(x: Self::V) -> Self::V;

    /// The larger number of each lane; unspecified where one is NaN.
    fn max(x: Self::V, y: Self::V) -> Self::V;

    /// Whether the two are equal in any lane.
    fn any_equal(x: Self::V, y: Self::V) -> bool;

    /// `x` where `mask` is above 0, else 0.
    fn mask(x: Self::V, mask: Self::V) -> Self::V;

    /// `tile[i][j] += sum over p of a[i * row + p] * b[p * NR + j]` over the leading lines, with the level's
    /// hand-written loop if it has one; returns the number of lines processed.
    ///
    /// # Safety
    /// `tile` must have MR rows; `a` must be readable at `i * row + p` and `b` at `p * NR + j` for all `i < MR`,
    /// `j < NR`, `p < depth`.
    #[inline(always)]
    unsafe fn add_rows(
        _tile: *mut [Self::V; 2],
        _depth: usize,
        _a: *const T,
        _row: usize,
        _b: *const T,
    ) -> usize {
        0
    }

    /// The same with the left-hand side packed into a panel, `a[p * MR + i]`.
    ///
    /// # Safety
    /// As for [`add_rows`](Self::add_rows), with `a` readable at `p * MR + i`.
    #[inline(always)]
    unsafe fn add_panel(_tile: *mut [Self::V; 2], _depth: usize, _a: *const T, _b: *const T) -> usize {
        0
    }
}

/// Asks for these numbers to be brought into the L2 cache; a hint that changes nothing.
pub(crate) fn prefetch<T>(numbers: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in numbers.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    let _ = numbers;
}

/// A computation that is compiled for every level.
///
/// `run`, and everything it calls in its inner loops, must be `#[inline(always)]`: only inlined code is compiled for
/// the level.
pub(crate) trait Kernel<T> {
    type Output;

    fn run<S: Simd<T>>(self) -> Self::Output;
}

/// Runs a kernel at the current level.
pub(crate) fn dispatch<T: Real, K: Kernel<T>>(kernel: K) -> K::Output {
    T::dispatch(Level::current(), kernel)
}

/// The baseline: the compiler vectorises arrays of four numbers.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl<T: Real> Simd<T> for Portable {
    type V = [T; 4];
    type M = usize;
    type Half = Portable;
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(x: T) -> [T; 4] {
        [x; 4]
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> [T; 4] {
        // SAFETY: the caller guarantees that it is readable.
        unsafe { from.cast::<[T; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut T, v: [T; 4]) {
        // SAFETY: the caller guarantees that it is writable.
        unsafe { to.cast::<[T; 4]>().write_unaligned(v) }
    }

    #[inline(always)]
    fn first(count: usize) -> usize {
        count.min(4)
    }

    #[inline(always)]
    unsafe fn load_part(from: *const T, which: usize) -> [T; 4] {
        // SAFETY: the caller guarantees that these are readable.
        std::array::from_fn(|i| if i < which { unsafe { *from.add(i) } } else { T::default() })
    }

    #[inline(always)]
    unsafe fn store_part(to: *mut T, v: [T; 4], which: usize) {
        for (i, &x) in v.iter().enumerate().take(which) {
            // SAFETY: the caller guarantees that these are writable.
            unsafe { *to.add(i) = x };
        }
    }

    #[inline(always)]
    fn multiply_add(x: [T; 4], by: [T; 4], plus: [T; 4]) -> [T; 4] {
        std::array::from_fn(|i| x[i] * by[i] + plus[i])
    }

    #[inline(always)]
    fn relu(x: [T; 4]) -> [T; 4] {
        x.map(|x| if x < T::default() { T::default() } else { x })
    }

    #[inline(always)]
    fn max(x: [T; 4], y: [T; 4]) -> [T; 4] {
        std::array::from_fn(|i| if x[i] > y[i] { x[i] } else { y[i] })
    }

    #[inline(always)]
    fn any_equal(x: [T; 4], y: [T; 4]) -> bool {
        x.iter().zip(y).fold(false, |any, (&x, y)| any | (x == y))
    }

    #[inline(always)]
    fn mask(x: [T; 4], mask: [T; 4]) -> [T; 4] {
        std::array::from_fn(|i| if mask[i] > T::default() { x[i] } else { T::default() })
    }
}

/// The vectors of an x86 level.
#[cfg(target_arch = "x86_64")]
macro_rules! x86 {
    ($level:ident, $half:ident, $tall:literal, $doc:literal, $($real:ty: $v:ident * $lanes:literal,
        $splat:ident $load:ident $store:ident $fused:ident $max:ident $equal:expr, $mask:expr,
        $part:ident $first:expr, $load_part:expr, $store_part:ident $(, $lines:ident)?;)*) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub(crate) struct $level;

        $(impl Simd<$real> for $level {
            type V = std::arch::x86_64::$v;
            type M = std::arch::x86_64::$part;
            type Half = $half;
            const LANES: usize = $lanes;
            const TALL: bool = $tall;

            #[inline(always)]
            fn splat(x: $real) -> Self::V {
                // SAFETY: kernels of this level run only on machines that support it.
                unsafe { std::arch::x86_64::$splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $real) -> Self::V {
                // SAFETY: the caller guarantees that it is readable; as in `splat`.
                unsafe { std::arch::x86_64::$load(from) }
            }

            #[inline(always)]
            unsafe fn store(to: *mut $real, v: Self::V) {
                // SAFETY: the caller guarantees that it is writable; as in `splat`.
                unsafe { std::arch::x86_64::$store(to, v) }
            }

            #[inline(always)]
            fn first(count: usize) -> Self::M {
                ($first)(count)
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $real, which: Self::M) -> Self::V {
                // SAFETY: the caller guarantees that these numbers are readable; no others are read; as in `splat`.
                {
                    use std::arch::x86_64::*;
                    unsafe { ($load_part)(from, which) }
                }
            }

            #[inline(always)]
            unsafe fn store_part(to: *mut $real, v: Self::V, which: Self::M) {
                // SAFETY: the caller guarantees that these numbers are writable; no others are written; as in `splat`.
                unsafe { std::arch::x86_64::$store_part(to, which, v) }
            }

            #[inline(always)]
            fn multiply_add(x: Self::V, by: Self::V, plus: Self::V) -> Self::V {
                // SAFETY: as in `splat`.
                unsafe { std::arch::x86_64::$fused(x, by, plus) }
            }

            #[inline(always)]
            fn relu(x: Self::V) -> Self::V {
                // SAFETY: as in `splat`. If either operand is NaN, the instruction returns the second.
                unsafe { std::arch::x86_64::$max(std::arch::x86_64::$splat(0.0), x) }
            }

            #[inline(always)]
            fn max(x: Self::V, y: Self::V) -> Self::V {
                // SAFETY: as in `splat`.
                unsafe { std::arch::x86_64::$max(x, y) }
            }

            #[inline(always)]
            fn any_equal(x: Self::V, y: Self::V) -> bool {
                use std::arch::x86_64::*;
                // SAFETY: as in `splat`.
                unsafe { ($equal)(x, y) != 0 }
            }

            #[inline(always)]
            fn mask(x: Self::V, mask: Self::V) -> Self::V {
                use std::arch::x86_64::*;
                // SAFETY: as in `splat`.
                unsafe {
                    let zero = $splat(0.0);
                    ($mask)(x, mask, zero)
                }
            }

            $(#[inline(always)]
            unsafe fn add_rows(
                tile: *mut [Self::V; 2],
                depth: usize,
                a: *const $real,
                row: usize,
                b: *const $real,
            ) -> usize {
                // SAFETY: guaranteed by the caller; as in `splat`.
                unsafe { lines::$lines::<1>(tile, depth, a, row, b) }
            }

            #[inline(always)]
            unsafe fn add_panel(tile: *mut [Self::V; 2], depth: usize, a: *const $real, b: *const $real) -> usize {
                // SAFETY: as above; the rows of a panel are adjacent, its lines MR apart.
                unsafe { lines::$lines::<MR>(tile, depth, a, 1, b) }
            })?
        })*
    };
}

/// The first `count` of `N` numbers of some size, as AVX2 wants them: all bits set.
#[cfg(target_arch = "x86_64")]
macro_rules! bits {
    ($int:ty, $n:literal) => {
        |count: usize| {
            let bits: [$int; $n] = std::array::from_fn(|i| if i < count { -1 } else { 0 });
            // SAFETY: both are 32 bytes of plain bits; as in `splat`.
            unsafe { std::arch::x86_64::_mm256_loadu_si256(bits.as_ptr().cast()) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
x86! { Avx2, Avx2, false, "AVX2 with FMA.",
    f32: __m256 * 8, _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_fmadd_ps _mm256_max_ps
        |x, y| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(x, y)),
        |x, m, zero| _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_GT_OQ>(m, zero)),
        __m256i bits!(i32, 8), _mm256_maskload_ps, _mm256_maskstore_ps, avx2_f32;
    f64: __m256d * 4, _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_fmadd_pd _mm256_max_pd
        |x, y| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(x, y)),
        |x, m, zero| _mm256_and_pd(x, _mm256_cmp_pd::<_CMP_GT_OQ>(m, zero)),
        __m256i bits!(i64, 4), _mm256_maskload_pd, _mm256_maskstore_pd, avx2_f64;
}

#[cfg(target_arch = "x86_64")]
x86! { Avx512, Avx2, true, "AVX-512 (F).",
    f32: __m512 * 16, _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_fmadd_ps _mm512_max_ps
        |x, y| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(x, y),
        |x, m, zero| _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(m, zero), x),
        __mmask16 |count: usize| ((1u32 << count.min(16)) - 1) as u16,
        |from, which| _mm512_maskz_loadu_ps(which, from), _mm512_mask_storeu_ps;
    f64: __m512d * 8, _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_fmadd_pd _mm512_max_pd
        |x, y| _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(x, y),
        |x, m, zero| _mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(m, zero), x),
        __mmask8 |count: usize| ((1u32 << count.min(8)) - 1) as u8,
        |from, which| _mm512_maskz_loadu_pd(which, from), _mm512_mask_storeu_pd;
}

/// The dispatch for one number type.
macro_rules! levels {
    ($real:ty) => {
        fn dispatch<K: $crate::simd::Kernel<$real>>(level: $crate::simd::Level, kernel: K) -> K::Output {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2<K: $crate::simd::Kernel<$real>>(kernel: K) -> K::Output {
                    kernel.run::<$crate::simd::Avx2>()
                }
                #[target_feature(enable = "avx512f,avx2,fma")]
                fn avx512<K: $crate::simd::Kernel<$real>>(kernel: K) -> K::Output {
                    kernel.run::<$crate::simd::Avx512>()
                }
                match level {
                    // SAFETY: the level comes from `Level::current`, which only returns levels that the machine
                    // supports.
                    $crate::simd::Level::Avx2 => return unsafe { avx2(kernel) },
                    // SAFETY: as above.
                    $crate::simd::Level::Avx512 => return unsafe { avx512(kernel) },
                    $crate::simd::Level::Portable => {}
                }
            }
            let _ = level;
            kernel.run::<$crate::simd::Portable>()
        }
    };
}
pub(crate) use levels;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_can_be_lowered_but_not_raised() {
        assert_eq!(Level::chosen(Some("portable")), Level::Portable);
        assert_eq!(Level::chosen(Some("avx512")), Level::best());
        assert_eq!(Level::chosen(Some("avx2")), Level::Avx2.min(Level::best()));
        assert_eq!(Level::chosen(Some("neon")), Level::best());
        assert_eq!(Level::chosen(None), Level::best());
    }
}
