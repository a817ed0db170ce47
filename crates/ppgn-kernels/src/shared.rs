//! One slice, many writers: for tasks that write different columns of the same rows.

use std::marker::PhantomData;

/// The size of a matrix. A product that wraps around would pass for the length of a short slice.
///
/// # Panics
/// If it does not fit in `usize`.
#[inline]
pub(crate) fn numbers(rows: usize, columns: usize) -> usize {
    rows.checked_mul(columns).expect("the size of a matrix fits in usize")
}

/// A slice that several tasks write to, each to different positions.
pub(crate) struct Shared<'a, T> {
    numbers: *mut T,
    length: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer represents an exclusive borrow; accesses through it follow the contract of `part`.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
    pub(crate) fn new(numbers: &'a mut [T]) -> Self {
        Shared { numbers: numbers.as_mut_ptr(), length: numbers.len(), lifetime: PhantomData }
    }

    /// Where the `length` numbers starting at `start` begin: for tasks whose numbers are interleaved.
    #[inline(always)]
    pub(crate) fn pointer(&self, start: usize, length: usize) -> *mut T {
        assert!(start.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: within the borrowed slice.
        unsafe { self.numbers.add(start) }
    }

    /// The `length` numbers starting at `start`.
    ///
    /// # Safety
    /// While the returned slice is alive, no other task may access these positions.
    #[allow(clippy::mut_from_ref, reason = "the caller guarantees that slices do not overlap")]
    #[inline(always)]
    pub(crate) unsafe fn part(&self, start: usize, length: usize) -> &mut [T] {
        // SAFETY: within the borrowed slice, and not accessed by others.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(start, length), length) }
    }
}
