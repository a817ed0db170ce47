//! One optimiser step over an array, in a single pass; and the norm of gradients, by which they are clipped.

use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// The constants of one Adam step, with decoupled weight decay (AdamW).
///
/// ```text
/// m <- beta1 * m + (1 - beta1) * g          v <- beta2 * v + (1 - beta2) * g^2
/// p <- keep * p - rate * m / (sqrt(v) / root + epsilon)
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// The learning rate divided by `1 - beta1^t`.
    pub rate: f64,
    /// `sqrt(1 - beta2^t)`.
    pub root: f64,
    /// Added to the denominator to keep the quotient finite.
    pub epsilon: f64,
    /// What the parameters are multiplied by first: 1 minus learning rate times weight decay.
    pub keep: f64,
}

/// One step on parameters `p` with gradients `g` and moments `m` and `v`, all of the same length.
///
/// # Complexity
/// O(length): each number is read or written once, seven memory accesses per parameter.
///
/// # Panics
/// If the lengths differ.
pub fn adam<T: Real>(step: AdamStep, p: &mut [T], g: &[T], m: &mut [T], v: &mut [T]) {
    T::adam(step, p, g, m, v)
}

pub(crate) fn adam_generic<T: Real>(step: AdamStep, p: &mut [T], g: &[T], m: &mut [T], v: &mut [T]) {
    assert_eq!([g.len(), m.len(), v.len()], [p.len(); 3]);
    const CHUNK: usize = 1 << 14;
    let state = m.par_chunks_mut(CHUNK).zip(v.par_chunks_mut(CHUNK));
    p.par_chunks_mut(CHUNK).zip(g.par_chunks(CHUNK)).zip(state).for_each(|((p, g), (m, v))| {
        dispatch(Chunk { step, p, g, m, v });
    });
}

struct Chunk<'a, T> {
    step: AdamStep,
    p: &'a mut [T],
    g: &'a [T],
    m: &'a mut [T],
    v: &'a mut [T],
}

impl<T: Real> Kernel<T> for Chunk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let AdamStep { beta1, beta2, rate, root, epsilon, keep } = self.step;
        let [rest1, rest2] = [1.0 - beta1, 1.0 - beta2].map(T::rounded);
        let constants = [beta1, beta2, rate, root, epsilon, keep];
        let [beta1, beta2, rate, root, epsilon, keep] = constants.map(T::rounded);
        for (((p, &g), m), v) in self.p.iter_mut().zip(self.g).zip(self.m).zip(self.v) {
            *m = beta1 * *m + rest1 * g;
            *v = beta2 * *v + rest2 * (g * g);
            *p = keep * *p - rate * *m / (v.root() / root + epsilon);
        }
    }
}

/// The sum of the squares of all numbers, in f64. Sums of chunks of a fixed length are added in order, so the result does
/// not depend on the number of threads. O(length).
///
/// ```
/// assert_eq!(ppgn_kernels::sum_of_squares(&[3.0f32, -4.0]), 25.0);
/// ```
pub fn sum_of_squares<T: Real>(numbers: &[T]) -> f64 {
    T::sum_of_squares(numbers)
}

pub(crate) fn sum_of_squares_generic<T: Real>(numbers: &[T]) -> f64 {
    let chunk = |chunk: &[T]| chunk.iter().map(|x| x.wide() * x.wide()).sum::<f64>();
    let mut sums: Vec<f64> = Vec::new();
    numbers.par_chunks(1 << 14).map(chunk).collect_into_vec(&mut sums);
    sums.iter().sum()
}

/// Multiplies every number by a factor, which is rounded to their precision. O(length).
pub fn multiply_by<T: Real>(numbers: &mut [T], factor: f64) {
    T::multiply_by(numbers, factor)
}

pub(crate) fn multiply_by_generic<T: Real>(numbers: &mut [T], factor: f64) {
    let factor = T::rounded(factor);
    numbers.par_chunks_mut(1 << 14).for_each(|chunk| chunk.iter_mut().for_each(|x| *x *= factor));
}

/// Whether every number is finite. O(length).
pub fn finite<T: Real>(numbers: &[T]) -> bool {
    T::all_finite(numbers)
}

pub(crate) fn finite_generic<T: Real>(numbers: &[T]) -> bool {
    numbers.par_chunks(1 << 16).all(|chunk| dispatch(Finite(chunk)))
}

struct Finite<'a, T>(&'a [T]);

impl<T: Real> Kernel<T> for Finite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> bool {
        // No branch within a chunk: a few instructions per vector.
        self.0.chunks(256).all(|chunk| chunk.iter().fold(true, |all, &x| all & x.finite()))
    }
}
