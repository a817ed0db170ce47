//! A graph's channels laid out for products: for every vector of channels a matrix whose entries are vectors.
//!
//! In memory all channels of a pair lie side by side. A product takes some of them at a time, a cache line ([`PLANES`] vectors
//! of [`Part`]), copies them together, multiplies, and puts them back ([`Grid`]).

use crate::real::Real;
use crate::simd::Simd;

/// Vectors of channels that are taken at once: a cache line, where vectors are those of AVX2.
pub(crate) const PLANES: usize = 2;

/// Some channels of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Of a whole row.
    pub(crate) channels: usize,
    /// The first one.
    pub(crate) from: usize,
    /// How many.
    pub(crate) width: usize,
}

impl Part {
    /// All channels.
    pub(crate) fn all(channels: usize) -> Self {
        Part { channels, from: 0, width: channels }
    }

    /// Where they begin in a row.
    #[inline(always)]
    pub(crate) fn at(&self, row: usize) -> usize {
        row * self.channels + self.from
    }

    /// The same channels in parts of a width.
    #[inline(always)]
    pub(crate) fn cut(self, width: usize) -> impl Iterator<Item = Part> {
        let end = self.from + self.width;
        (self.from..end).step_by(width).map(move |from| Part { from, width: width.min(end - from), ..self })
    }
}

/// Planes of n by n vectors: entry (i, j) of a plane at vector `i * side + j`. The odd side keeps columns of matrices with
/// a power of two rows from falling into one set of the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) n: usize,
    pub(crate) side: usize,
    /// Numbers of a plane.
    pub(crate) size: usize,
}

impl Grid {
    pub(crate) fn new<T: Real, S: Simd<T>>(n: usize) -> Self {
        Grid { n, side: n | 1, size: n * (n | 1) * S::LANES }
    }

    /// Copies a part, at most [`PLANES`] vectors, of the rows of all pairs: `copy` gets where numbers begin and where they
    /// go. What is beyond the part is 0.
    #[inline(always)]
    pub(crate) fn gather<T: Real, S: Simd<T>>(
        &self,
        part: Part,
        row: impl Fn(usize) -> usize,
        to: &mut [T],
        copy: impl Fn(usize, &mut [T]),
    ) {
        if part.width < PLANES * S::LANES {
            to.fill(T::default());
        }
        self.entries::<T, S>(part, row, |from, at, width| copy(from, &mut to[at..at + width]));
    }

    /// The way back: `put` gets where numbers begin and the numbers, of the rows of all pairs.
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

    /// Every pair's numbers, as for [`entry`](Self::entry).
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

    /// The numbers of pair `i * n + j` and of a row: where they begin in rows and in the planes, and how many they are.
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
        // It is called at one place alone: else it may not be inlined, and then it is not compiled for the level.
        for p in 0..PLANES {
            let from = p * S::LANES;
            if from < part.width {
                each(first + from, p * self.size + at, S::LANES.min(part.width - from));
            }
        }
    }
}

/// `to = from`, one instruction where both are a whole vector. (A compiler does not see that slices do not overlap, or how long they are,
/// and takes number by number; so for the others here.)
#[inline(always)]
pub(crate) fn copy<T: Real, S: Simd<T>>(to: &mut [T], from: &[T]) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have a vector's length.
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
        // SAFETY: both have a vector's length.
        unsafe { S::store(to.as_mut_ptr(), S::multiply_add(S::load(from.as_ptr()), S::splat(by), zero)) };
    } else {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = x * by);
    }
}

/// `to += from * by`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real, S: Simd<T>>(to: &mut [T], from: &[T], by: T) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have a vector's length.
        unsafe {
            let sum = S::multiply_add(S::load(from.as_ptr()), S::splat(by), S::load(to.as_ptr()));
            S::store(to.as_mut_ptr(), sum);
        }
    } else {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to += x * by);
    }
}

/// A gradient in the place of what a ReLU gave: `to = from` where `to` is above 0, else 0.
#[inline(always)]
pub(crate) fn replace<T: Real, S: Simd<T>>(to: &mut [T], from: &[T]) {
    if (to.len(), from.len()) == (S::LANES, S::LANES) {
        // SAFETY: both have a vector's length.
        unsafe { S::store(to.as_mut_ptr(), S::mask(S::load(from.as_ptr()), S::load(to.as_ptr()))) };
    } else {
        to.iter_mut().zip(from).for_each(|(y, &x)| *y = if *y > T::default() { x } else { T::default() });
    }
}
