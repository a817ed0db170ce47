//! A graph's channels laid out for products: for every vector of channels, a matrix whose entries are vectors.
//!
//! In memory, all channels of a pair are contiguous. A product processes a few of them at a time, one cache line
//! ([`PLANES`] vectors of [`Part`]): it gathers them into planes, multiplies, and scatters the result ([`Grid`]).

use crate::real::Real;
use crate::simd::Simd;

/// Vectors of channels processed at once: one cache line with AVX2 vectors.
pub(crate) const PLANES: usize = 2;

/// A range of the channels of each row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// The number of channels of a whole row.
    pub(crate) channels: usize,
    /// The first channel.
    pub(crate) from: usize,
    /// The number of channels in the range.
    pub(crate) width: usize,
}

impl Part {
    /// All channels.
    pub(crate) fn all(channels: usize) -> Self {
        Part { channels, from: 0, width: channels }
    }

    /// The offset of the range in a row.
    #[inline(always)]
    pub(crate) fn at(&self, row: usize) -> usize {
        row * self.channels + self.from
    }

    /// Splits the range into parts of at most this width.
    #[inline(always)]
    pub(crate) fn cut(self, width: usize) -> impl Iterator<Item = Part> {
        let end = self.from + self.width;
        (self.from..end).step_by(width).map(move |from| Part { from, width: width.min(end - from), ..self })
    }
}

/// Planes of n by n vectors: entry (i, j) of a plane is vector `i * side + j`. The side is odd so that a column of a
/// matrix with a power of two rows does not map to a single cache set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) n: usize,
    pub(crate) side: usize,
    /// Size of a plane in numbers.
    pub(crate) size: usize,
}

impl Grid {
    pub(crate) fn new<T: Real, S: Simd<T>>(n: usize) -> Self {
        Grid { n, side: n | 1, size: n * (n | 1) * S::LANES }
    }

    /// Gathers a part, at most [`PLANES`] vectors, of the rows of all pairs: `copy` gets an offset and a destination.
    /// A vector that the part does not fill is padded with 0.
    #[inline(always)]
    pub(crate) fn gather<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: impl Fn(usize) -> usize,
        to: &mut [T],
        copy: impl Fn(usize, &mut [T]),
    ) {
        if !part.width.is_multiple_of(S::LANES) {
            to.fill(T::default());
        }
        self.entries::<T, S>(part, row, |from, at, width| copy(from, &mut to[at..at + width]));
    }

    /// The inverse: `put` gets an offset and the numbers to store there, for the rows of all pairs.
    #[inline(always)]
    pub(crate) fn scatter<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: impl Fn(usize) -> usize,
        from: &[T],
        put: impl Fn(usize, &[T]),
    ) {
        self.entries::<T, S>(part, row, |to, at, width| put(to, &from[at..at + width]));
    }

    /// Visits the numbers of every pair; see [`entry`](Self::entry).
    #[inline(always)]
    fn entries<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: impl Fn(usize) -> usize,
        mut each: impl FnMut(usize, usize, usize),
    ) {
        for i in 0..self.n {
            for j in 0..self.n {
                self.vectors::<T, S>(part, row(i * self.n + j), i * self.side + j, &mut each);
            }
        }
    }

    /// Visits the numbers of pair `i * n + j`, given its row: their offset in the rows, their offset in the planes, and
    /// their count.
    #[inline(always)]
    pub(crate) fn entry<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: usize,
        place: usize,
        mut each: impl FnMut(usize, usize, usize),
    ) {
        self.vectors::<T, S>(part, row, place / self.n * self.side + place % self.n, &mut each);
    }

    #[inline(always)]
    fn vectors<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: usize,
        vector: usize,
        each: &mut impl FnMut(usize, usize, usize),
    ) {
        let (first, at) = (part.at(row), vector * S::LANES);
        // There is a single call site on purpose: otherwise the closure might not be inlined, and only inlined code is
        // compiled for the level.
        for p in 0..PLANES {
            let from = p * S::LANES;
            if from < part.width {
                each(first + from, p * self.size + at, S::LANES.min(part.width - from));
            }
        }
    }
}

/// `to = from`, one instruction if both are a whole vector. (The compiler cannot know the lengths of the slices, or
/// that they do not overlap, and would go number by number; the same holds for the functions below.)
#[inline(always)]
pub(crate) fn copy<T: Real, S: Simd<T>>(to: &mut [T], from: &[T]) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have the length of a vector.
        unsafe { S::store(to.as_mut_ptr(), S::load(from.as_ptr())) };
    } else {
        to.copy_from_slice(from);
    }
}

/// `to = from * by`.
#[inline(always)]
pub(crate) fn scale<T: Real, S: Simd<T>>(to: &mut [T], from: &[T], by: T) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        let zero = S::splat(T::default());
        // SAFETY: both have the length of a vector.
        unsafe { S::store(to.as_mut_ptr(), S::multiply_add(S::load(from.as_ptr()), S::splat(by), zero)) };
    } else {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = x * by);
    }
}

/// `to += from * by`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real, S: Simd<T>>(to: &mut [T], from: &[T], by: T) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have the length of a vector.
        unsafe {
            let sum = S::multiply_add(S::load(from.as_ptr()), S::splat(by), S::load(to.as_ptr()));
            S::store(to.as_mut_ptr(), sum);
        }
    } else {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to += x * by);
    }
}

/// Overwrites the output of a ReLU with its gradient: `to = from` where `to` is above 0, else 0.
#[inline(always)]
pub(crate) fn replace<T: Real, S: Simd<T>>(to: &mut [T], from: &[T]) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have the length of a vector.
        unsafe { S::store(to.as_mut_ptr(), S::mask(S::load(from.as_ptr()), S::load(to.as_ptr()))) };
    } else {
        to.iter_mut().zip(from).for_each(|(y, &x)| *y = if *y > T::default() { x } else { T::default() });
    }
}
