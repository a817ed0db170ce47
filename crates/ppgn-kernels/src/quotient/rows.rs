//! Row by row: the rows needed are read in place, a few channels at a time so that the tables stay in the cache.

use super::{BACKWARD, ColourMatrix, Share};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd};

/// Vectors of channels accumulated at once.
const VECTORS: usize = 4;

/// Some rows of W.
pub(super) struct Forward<'a, T> {
    pub(super) colours: ColourMatrix<'a>,
    pub(super) graph: usize,
    pub(super) rows: &'a [(u32, u32)],
    pub(super) channels: usize,
    pub(super) y1: &'a [T],
    pub(super) y2: &'a [T],
    pub(super) w: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let step = VECTORS * S::LANES;
        let whole = self.channels / step * step;
        let factor = T::rounded(self.colours.factors[self.graph]);
        for &(row, place) in self.rows {
            // SAFETY: each row belongs to exactly one task.
            let to = unsafe { self.w.part(row as usize * self.channels, self.channels) };
            for from in (0..whole).step_by(step) {
                self.vectors::<S>(place, from, &mut to[from..from + step]);
            }
            if whole < self.channels {
                self.rest(place, whole, &mut to[whole..]);
            }
            to.iter_mut().for_each(|x| *x *= factor);
        }
    }
}

impl<T: Real> Forward<'_, T> {
    #[inline(always)]
    fn vectors<S: Simd<T>>(&self, place: u32, from: usize, to: &mut [T]) {
        assert_eq!(to.len(), VECTORS * S::LANES);
        let mut sums = [S::splat(T::default()); VECTORS];
        for (l, r) in self.colours.terms(self.graph, place) {
            let a = &self.y1[l * self.channels + from..][..VECTORS * S::LANES];
            let b = &self.y2[r * self.channels + from..][..VECTORS * S::LANES];
            for (v, sum) in sums.iter_mut().enumerate() {
                // SAFETY: both slices hold that many vectors.
                *sum = unsafe {
                    let at = v * S::LANES;
                    S::multiply_add(S::load(a.as_ptr().add(at)), S::load(b.as_ptr().add(at)), *sum)
                };
            }
        }
        for (v, &sum) in sums.iter().enumerate() {
            // SAFETY: `to` has room for that many vectors.
            unsafe { S::store(to.as_mut_ptr().add(v * S::LANES), sum) };
        }
    }

    #[inline(always)]
    fn rest(&self, place: u32, from: usize, to: &mut [T]) {
        to.fill(T::default());
        for (l, r) in self.colours.terms(self.graph, place) {
            let a = &self.y1[l * self.channels + from..(l + 1) * self.channels];
            let b = &self.y2[r * self.channels + from..(r + 1) * self.channels];
            to.iter_mut().zip(a).zip(b).for_each(|((to, &a), &b)| *to += a * b);
        }
    }
}

/// A graph's contribution to the gradients.
pub(super) struct Backward<'a, T>(pub(super) Share<'a, T>);

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        // Constant lengths let the compiler unroll the loops.
        match self.0.part.width {
            BACKWARD => self.go::<S>(BACKWARD),
            16 => self.go::<S>(16),
            width => self.go::<S>(width),
        }
    }
}

impl<T: Real> Backward<'_, T> {
    #[inline(always)]
    fn go<S: Simd<T>>(&self, width: usize) {
        let Share { colours, own, part, dw, y, d, .. } = self.0;
        let at = |row: usize| part.at(row);
        let factor = T::rounded(colours.factors[own.graph]);
        let mut scaled = [T::default(); BACKWARD];
        for &(row, place) in &own.rows {
            let scaled = &mut scaled[..width];
            scaled.iter_mut().zip(&dw[at(row as usize)..][..width]).for_each(|(s, &d)| *s = d * factor);
            for (l, r) in colours.terms(own.graph, place) {
                let (a, b) = (&y[0][at(l)..][..width], &y[1][at(r)..][..width]);
                // SAFETY: only one task accesses these channels, and the two parts belong to different slices.
                let (da, db) = unsafe { (d[0].part(at(l), width), d[1].part(at(r), width)) };
                let whole = width / S::LANES * S::LANES;
                for c in (0..whole).step_by(S::LANES) {
                    // SAFETY: all five have `width` numbers. (The compiler cannot know that they do not overlap.)
                    unsafe {
                        let s = S::load(scaled.as_ptr().add(c));
                        let (to_a, to_b) = (da.as_mut_ptr().add(c), db.as_mut_ptr().add(c));
                        S::store(to_a, S::multiply_add(s, S::load(b.as_ptr().add(c)), S::load(to_a)));
                        S::store(to_b, S::multiply_add(s, S::load(a.as_ptr().add(c)), S::load(to_b)));
                    }
                }
                for c in whole..width {
                    da[c] += scaled[c] * b[c];
                    db[c] += scaled[c] * a[c];
                }
            }
        }
    }
}
