//! Memory that is used again: activations are as large from step to step, and fresh pages cost as much as filling them.
//!
//! A [`Buffer`] that is dropped goes back to a store a number type, and the next one of about its size is made of it.
//! The store keeps at most half as much again as was ever in use at once.

use crate::real::Real;
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};

/// What is not in use, oldest first, and the figures that bound it (all in numbers, not bytes).
#[derive(Debug, Default)]
pub(crate) struct Store<T> {
    free: Vec<Vec<T>>,
    kept: usize,
    used: usize,
    most: usize,
}

impl<T> Store<T> {
    pub(crate) const fn new() -> Mutex<Self> {
        Mutex::new(Store { free: Vec::new(), kept: 0, used: 0, most: 0 })
    }

    /// The smallest vector that is long enough and not far too long: batches differ in size.
    fn take(&mut self, length: usize) -> Option<Vec<T>> {
        let fits = |v: &&Vec<T>| v.len() >= length && v.len() / 4 <= length;
        let best = self.free.iter().filter(fits).map(Vec::len).min()?;
        let place = self.free.iter().position(|v| v.len() == best)?;
        self.kept -= best;
        Some(self.free.remove(place))
    }

    fn give(&mut self, v: Vec<T>) {
        self.used -= v.len();
        self.kept += v.len();
        self.free.push(v);
        while self.kept + self.used > self.most + self.most / 2 {
            self.kept -= self.free.remove(0).len();
        }
    }
}

fn lock<T: Real>() -> MutexGuard<'static, Store<T>> {
    // Nothing in here panics half-way, so what a poisoned lock guards is whole.
    T::store().lock().unwrap_or_else(|e| e.into_inner())
}

/// A slice of numbers from the store.
#[derive(Debug)]
pub struct Buffer<T: Real> {
    whole: Vec<T>,
    length: usize,
}

impl<T: Real> Buffer<T> {
    /// So many numbers, whatever they are.
    pub fn dirty(length: usize) -> Self {
        let taken = lock::<T>().take(length);
        let whole = taken.unwrap_or_else(|| vec![T::default(); length]);
        let mut store = lock::<T>();
        store.used += whole.len();
        store.most = store.most.max(store.used);
        Buffer { whole, length }
    }

    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let mut buffer = Self::dirty(length);
        clear(&mut buffer);
        buffer
    }

    /// These numbers again.
    pub(crate) fn copy(numbers: &[T]) -> Self {
        let mut copy = Self::dirty(numbers.len());
        copy.copy_from_slice(numbers);
        copy
    }
}

/// Makes all numbers 0.
pub fn clear<T: Real>(numbers: &mut [T]) {
    numbers.par_chunks_mut(1 << 16).for_each(|part| part.fill(T::default()));
}

impl<T: Real> Drop for Buffer<T> {
    fn drop(&mut self) {
        lock::<T>().give(std::mem::take(&mut self.whole));
    }
}

impl<T: Real> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.whole[..self.length]
    }
}

impl<T: Real> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.whole[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_gives_what_fits_and_keeps_little() {
        let mut store = Store { free: Vec::new(), kept: 0, used: 100, most: 100 };
        store.give(vec![0u8; 60]);
        store.give(vec![0u8; 40]);
        assert_eq!((store.kept, store.used), (100, 0));
        assert!(store.take(9).is_none() && store.take(61).is_none());
        assert_eq!(store.take(40).map(|v| v.len()), Some(40));
        store.used += 90;
        store.give(vec![0u8; 90]);
        // 60 and 90 are not more than 150, with 70 they are: the oldest is gone.
        assert_eq!((store.kept, store.free.len()), (150, 2));
        store.used += 70;
        store.give(vec![0u8; 70]);
        assert_eq!((store.kept, store.free.len()), (70, 1));
    }
}
