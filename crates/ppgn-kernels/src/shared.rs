//! One slice, many writers: for tasks that write different columns of the same rows.

use std::marker::PhantomData;

/// The numbers of a matrix. A product that wraps around would pass for the length of a short slice.
///
/// # Panics
/// If they cannot be counted.
#[inline]
pub(crate) fn numbers(rows: usize, columns: usize) -> usize {
    rows.checked_mul(columns).expect("the numbers of a matrix can be counted")
}

/// A slice that several tasks write to, each its own places.
pub(crate) struct Shared<'a, T> {
    numbers: *mut T,
    length: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer stands for an exclusive borrow; what is done through it is bound by the rules of `read`, `write`.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
    pub(crate) fn new(numbers: &'a mut [T]) -> Self {
        Shared { numbers: numbers.as_mut_ptr(), length: numbers.len(), lifetime: PhantomData }
    }

    /// The numbers from `start` on.
    ///
    /// # Safety
    /// While the slice lives no other task may touch these places.
    #[allow(clippy::mut_from_ref, reason = "the caller vouches that places do not meet")]
    #[inline(always)]
    pub(crate) unsafe fn part(&self, start: usize, length: usize) -> &mut [T] {
        assert!(start.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: within the borrowed slice, and not touched by others.
        unsafe { std::slice::from_raw_parts_mut(self.numbers.add(start), length) }
    }
}
