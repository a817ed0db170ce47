//! Ranges of the channels of a row, and loops over a few numbers that are one instruction where they fill a vector.
//!
//! In memory, all channels of a pair are contiguous. A product processes a few of them at a time, whole cache lines.

use crate::real::Real;
use crate::simd::Simd;

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
