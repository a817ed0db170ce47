//! A vector of which only the first numbers may exist in memory: rows rarely are a multiple of a vector long.

use super::Simd;
use crate::real::Real;
use std::marker::PhantomData;

/// The first `width` numbers of a vector. Where a kernel is compiled with `WHOLE`, these are all of them, which needs
/// no mask.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<T, S: Simd<T>> {
    pub(crate) width: usize,
    which: S::M,
    numbers: PhantomData<T>,
}

impl<T: Real, S: Simd<T>> Lanes<T, S> {
    #[inline(always)]
    pub(crate) fn new(width: usize) -> Self {
        Lanes { width, which: S::first(width), numbers: PhantomData }
    }

    /// # Safety
    /// `from` must be readable for `width` numbers; with `WHOLE`, `width` must be `LANES`.
    #[inline(always)]
    pub(crate) unsafe fn load<const WHOLE: bool>(&self, from: *const T) -> S::V {
        // SAFETY: guaranteed by the caller.
        match WHOLE {
            true => unsafe { S::load(from) },
            false => unsafe { S::load_part(from, self.which) },
        }
    }

    /// # Safety
    /// `to` must be writable for `width` numbers; with `WHOLE`, `width` must be `LANES`.
    #[inline(always)]
    pub(crate) unsafe fn store<const WHOLE: bool>(&self, to: *mut T, v: S::V) {
        // SAFETY: guaranteed by the caller.
        match WHOLE {
            true => unsafe { S::store(to, v) },
            false => unsafe { S::store_part(to, v, self.which) },
        }
    }
}

/// A computation on the channels from `from` on, a vector of them at a time.
pub(crate) trait EachVector<T: Real> {
    /// Computes the channels from `from` on that the vector has.
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<T, S>);
}

/// Divides a range of channels into vectors: whole ones, and for the rest one that may be of half the size.
#[inline(always)]
pub(crate) fn each_vector<T: Real, S: Simd<T>>(from: usize, width: usize, work: &mut impl EachVector<T>) {
    let end = from + width;
    let whole = from + width / S::LANES * S::LANES;
    for at in (from..whole).step_by(S::LANES) {
        work.vector::<S, true>(at, Lanes::new(S::LANES));
    }
    let rest = end - whole;
    match rest {
        0 => {}
        _ if rest == S::Half::LANES => work.vector::<S::Half, true>(whole, Lanes::new(rest)),
        _ if rest < S::Half::LANES => work.vector::<S::Half, false>(whole, Lanes::new(rest)),
        _ => work.vector::<S, false>(whole, Lanes::new(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Level};

    /// Doubles the numbers of a range.
    struct Double<'a>(&'a mut [f32], usize, usize);

    impl Kernel<f32> for Double<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<f32>>(mut self) {
            let (from, width) = (self.1, self.2);
            each_vector::<f32, S>(from, width, &mut self);
        }
    }

    impl EachVector<f32> for Double<'_> {
        #[inline(always)]
        fn vector<S: Simd<f32>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<f32, S>) {
            let numbers = &mut self.0[from..from + lanes.width];
            // SAFETY: the slice has all numbers of the vector.
            unsafe {
                let v = lanes.load::<WHOLE>(numbers.as_ptr());
                lanes.store::<WHOLE>(numbers.as_mut_ptr(), S::multiply_add(v, S::splat(2.0), S::splat(0.0)));
            }
        }
    }

    #[test]
    fn every_number_of_a_range_once_and_none_beside_it() {
        for level in [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= Level::best())
        {
            for width in 0..40 {
                let mut numbers = vec![1.0; 3 + width + 2];
                f32::dispatch(level, Double(&mut numbers, 3, width));
                let expected: Vec<f32> =
                    (0..numbers.len()).map(|i| if (3..3 + width).contains(&i) { 2.0 } else { 1.0 }).collect();
                assert_eq!(numbers, expected, "{level:?} {width}");
            }
        }
    }
}
