//! RMS normalisation: each row is divided by its root mean square.

use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

const ROWS: usize = 64;

/// `W <- W * r` with `r = 1 / sqrt(mean(W^2) + epsilon)` over the channels of a row; returns r for every row.
///
/// # Shapes
/// - `w`: `[rows, channels]`
pub(crate) fn rms<T: Real>(w: &mut [T], channels: usize, epsilon: f64) -> Vec<T> {
    let mut scales = vec![T::default(); w.len() / channels];
    w.par_chunks_mut(ROWS * channels)
        .zip(scales.par_chunks_mut(ROWS))
        .for_each(|(w, scales)| dispatch(Rms { w, scales, channels, epsilon }));
    scales
}

struct Rms<'a, T> {
    w: &'a mut [T],
    scales: &'a mut [T],
    channels: usize,
    epsilon: f64,
}

impl<T: Real> Kernel<T> for Rms<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let (one, count) = (T::rounded(1.0), T::rounded(self.channels as f64));
        for (row, scale) in self.w.chunks_exact_mut(self.channels).zip(self.scales) {
            let square = dot(row, row);
            *scale = one / (square / count + T::rounded(self.epsilon)).root();
            row.iter_mut().for_each(|x| *x *= *scale);
        }
    }
}

/// The gradient of [`rms`], in place: `dW = r * (d - N * mean(N * d))` with the normalised rows `N = W * r`.
///
/// # Shapes
/// - `d`: `[rows, channels]`, the gradient of N, then of W
/// - `w`: `[rows, channels]`, N
pub(crate) fn rms_backward<T: Real>(d: &mut [T], w: &[T], channels: usize, scales: &[T]) {
    d.par_chunks_mut(ROWS * channels)
        .zip(w.par_chunks(ROWS * channels))
        .zip(scales.par_chunks(ROWS))
        .for_each(|((d, w), scales)| dispatch(Backward { d, w, scales, channels }));
}

struct Backward<'a, T> {
    d: &'a mut [T],
    w: &'a [T],
    scales: &'a [T],
    channels: usize,
}

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let count = T::rounded(self.channels as f64);
        let rows = self.d.chunks_exact_mut(self.channels).zip(self.w.chunks_exact(self.channels));
        for ((d, w), &r) in rows.zip(self.scales) {
            let along = dot(w, d) / count;
            d.iter_mut().zip(w).for_each(|(d, &w)| *d = r * (*d - w * along));
        }
    }
}

/// The dot product, in eight partial sums that the compiler can vectorise.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::default(); 8];
    let (whole_a, whole_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = whole_a.remainder().iter().zip(whole_b.remainder());
    let rest = rest.fold(T::default(), |sum, (&a, &b)| sum + a * b);
    for (a, b) in whole_a.zip(whole_b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().fold(rest, |sum, &x| sum + x)
}
