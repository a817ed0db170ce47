//! Row by row: the rows needed are read in place, a few channels at a time so that the tables stay in the cache.

use super::{BACKWARD, ColourMatrix, Share};
use crate::planes::Part;
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{EachVector, Kernel, Lanes, Simd, each_vector};

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
        let by = T::rounded(self.colours.factors[self.graph]);
        for &(row, place) in self.rows {
            // SAFETY: each row belongs to exactly one task.
            let to = unsafe { self.w.part(row as usize * self.channels, self.channels) };
            let mut sum = Sum { forward: &self, place, by, to };
            let mut from = 0;
            while self.channels - from >= VECTORS * S::LANES {
                from = sum.vectors::<S, VECTORS, true>(from, Lanes::new(S::LANES));
            }
            if self.channels - from >= 2 * S::LANES {
                from = sum.vectors::<S, 2, true>(from, Lanes::new(S::LANES));
            }
            each_vector::<T, S>(from, self.channels - from, &mut sum);
        }
    }
}

/// A row of W.
struct Sum<'a, T> {
    forward: &'a Forward<'a, T>,
    place: u32,
    by: T,
    to: &'a mut [T],
}

impl<T: Real> EachVector<T> for Sum<'_, T> {
    #[inline(always)]
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<T, S>) {
        self.vectors::<S, 1, WHOLE>(from, lanes);
    }
}

impl<T: Real> Sum<'_, T> {
    /// The channels from `from` on of V vectors; returns the channel after them.
    #[inline(always)]
    fn vectors<S: Simd<T>, const V: usize, const WHOLE: bool>(
        &mut self,
        from: usize,
        lanes: Lanes<T, S>,
    ) -> usize {
        let &Forward { colours, graph, channels, y1, y2, .. } = self.forward;
        let width = (V - 1) * S::LANES + lanes.width;
        let zero = S::splat(T::default());
        let mut sums = [zero; V];
        for (l, r) in colours.terms(graph, self.place) {
            let a = &y1[l * channels + from..][..width];
            let b = &y2[r * channels + from..][..width];
            for (v, sum) in sums.iter_mut().enumerate() {
                // SAFETY: both slices hold that many vectors.
                *sum = unsafe {
                    let load = |y: &[T]| lanes.load::<WHOLE>(y.as_ptr().add(v * S::LANES));
                    S::multiply_add(load(a), load(b), *sum)
                };
            }
        }
        let to = &mut self.to[from..from + width];
        for (v, &sum) in sums.iter().enumerate() {
            // SAFETY: `to` has room for that many vectors.
            unsafe {
                let to = to.as_mut_ptr().add(v * S::LANES);
                lanes.store::<WHOLE>(to, S::multiply_add(sum, S::splat(self.by), zero));
            }
        }
        from + width
    }
}

/// A graph's contribution to the gradients.
pub(super) struct Backward<'a, T>(pub(super) Share<'a, T>);

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let Part { from, width, .. } = self.0.part;
        // The widths of most tasks, with all vectors of a term at once.
        match (width, width / S::LANES) {
            (BACKWARD, 8) => self.vectors::<S, 8, true>(from, Lanes::new(S::LANES)),
            (BACKWARD | 16, 4) => self.vectors::<S, 4, true>(from, Lanes::new(S::LANES)),
            (BACKWARD | 16, 2) => self.vectors::<S, 2, true>(from, Lanes::new(S::LANES)),
            _ => each_vector::<T, S>(from, width, &mut self),
        }
    }
}

impl<T: Real> EachVector<T> for Backward<'_, T> {
    #[inline(always)]
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<T, S>) {
        self.vectors::<S, 1, WHOLE>(from, lanes);
    }
}

impl<T: Real> Backward<'_, T> {
    /// The channels from `from` on of V vectors.
    #[inline(always)]
    fn vectors<S: Simd<T>, const V: usize, const WHOLE: bool>(&self, from: usize, lanes: Lanes<T, S>) {
        let Share { colours, own, part, dw, y, d, .. } = self.0;
        let width = (V - 1) * S::LANES + lanes.width;
        let at = |row: usize| row * part.channels + from;
        let factor = S::splat(T::rounded(colours.factors[own.graph]));
        for &(row, place) in &own.rows {
            let dw = &dw[at(row as usize)..][..width];
            let scaled: [S::V; V] = std::array::from_fn(|v| {
                // SAFETY: the slice holds that many vectors.
                let dw = unsafe { lanes.load::<WHOLE>(dw.as_ptr().add(v * S::LANES)) };
                S::multiply_add(dw, factor, S::splat(T::default()))
            });
            for (l, r) in colours.terms(own.graph, place) {
                let (a, b) = (&y[0][at(l)..][..width], &y[1][at(r)..][..width]);
                // SAFETY: only one task accesses these channels, and the two parts belong to different slices.
                let (da, db) = unsafe { (d[0].part(at(l), width), d[1].part(at(r), width)) };
                for (v, &s) in scaled.iter().enumerate() {
                    let c = v * S::LANES;
                    // SAFETY: all four hold that many vectors. (The compiler cannot know that they do not overlap.)
                    unsafe {
                        let (to_a, to_b) = (da.as_mut_ptr().add(c), db.as_mut_ptr().add(c));
                        let load = |from: *const T| lanes.load::<WHOLE>(from);
                        let plus_a = S::multiply_add(s, load(b.as_ptr().add(c)), load(to_a));
                        lanes.store::<WHOLE>(to_a, plus_a);
                        let plus_b = S::multiply_add(s, load(a.as_ptr().add(c)), load(to_b));
                        lanes.store::<WHOLE>(to_b, plus_b);
                    }
                }
            }
        }
    }
}
