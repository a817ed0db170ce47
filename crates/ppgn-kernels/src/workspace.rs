//! What the passes of a network share: reusable memory and a stop request.
//!
//! Activations have the same sizes from step to step, and allocating fresh pages costs as much as filling them. A
//! dropped [`Buffer`] returns its memory to its [`Workspace`], and the next buffer of similar size reuses it. Memory in
//! use and kept together never exceed 1.5 times the peak use; [`release`](Workspace::release) frees what is kept. A
//! workspace is a handle: clones share the memory, and separate workspaces share nothing.

use crate::real::Real;
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Reusable memory, and a flag that stops passes early.
///
/// ```
/// use ppgn_kernels::{Buffer, Workspace};
/// let workspace = Workspace::default();
/// let buffer = Buffer::<f32>::zeros(&workspace, 1000);
/// assert!(buffer.iter().all(|&x| x == 0.0));
/// drop(buffer);
/// assert!(workspace.kept() >= 4000);
/// workspace.release();
/// assert_eq!(workspace.kept(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    stores: Arc<Stores>,
    stop: Option<Arc<AtomicBool>>,
}

impl Workspace {
    /// The same memory with a stop flag: once it is set, passes return early with meaningless results. Whoever sets the
    /// flag must discard them.
    pub fn stopped_by(&self, flag: Arc<AtomicBool>) -> Self {
        Workspace { stores: self.stores.clone(), stop: Some(flag) }
    }

    /// Whether passes have been asked to stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Bytes kept for reuse, not in use.
    pub fn kept(&self) -> usize {
        lock(&self.stores.single).kept * size_of::<f32>() + lock(&self.stores.double).kept * size_of::<f64>()
    }

    /// Frees the memory that is not in use.
    pub fn release(&self) {
        lock(&self.stores.single).clear();
        lock(&self.stores.double).clear();
    }
}

/// One store per number type.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    pub(crate) single: Mutex<Store<f32>>,
    pub(crate) double: Mutex<Store<f64>>,
}

/// The vectors not in use, oldest first, and the totals that bound them (in numbers, not bytes).
#[derive(Debug)]
pub(crate) struct Store<T> {
    free: Vec<Vec<T>>,
    kept: usize,
    used: usize,
    peak: usize,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Store { free: Vec::new(), kept: 0, used: 0, peak: 0 }
    }
}

impl<T> Store<T> {
    /// The smallest vector that is long enough but not far too long: batches differ in size.
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
        while self.kept + self.used > self.peak + self.peak / 2 {
            self.kept -= self.free.remove(0).len();
        }
    }

    fn clear(&mut self) {
        self.free = Vec::new();
        (self.kept, self.peak) = (0, self.used);
    }
}

fn lock<T>(store: &Mutex<Store<T>>) -> MutexGuard<'_, Store<T>> {
    // No operation on a store panics half-way, so its state is consistent even if the lock is poisoned.
    store.lock().unwrap_or_else(|e| e.into_inner())
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// A slice of numbers from a workspace. It begins at a cache line, so that a vector of its rows is in one line, not two.
#[derive(Debug)]
pub struct Buffer<T: Real> {
    whole: Vec<T>,
    start: usize,
    length: usize,
    stores: Arc<Stores>,
}

impl<T: Real> Buffer<T> {
    /// `length` numbers with unspecified values.
    pub fn dirty(workspace: &Workspace, length: usize) -> Self {
        let stores = workspace.stores.clone();
        let needed = length + LINE / size_of::<T>();
        let taken = lock(T::store(&stores)).take(needed);
        let whole = taken.unwrap_or_else(|| vec![T::default(); needed]);
        let start = whole.as_ptr().align_offset(LINE).min(needed - length);
        {
            let mut store = lock(T::store(&stores));
            store.used += whole.len();
            store.peak = store.peak.max(store.used);
        }
        Buffer { whole, start, length, stores }
    }

    /// `length` zeros.
    pub fn zeros(workspace: &Workspace, length: usize) -> Self {
        let mut buffer = Self::dirty(workspace, length);
        clear(&mut buffer);
        buffer
    }

    /// A copy of these numbers.
    pub fn copy(workspace: &Workspace, numbers: &[T]) -> Self {
        let mut copy = Self::dirty(workspace, numbers.len());
        copy.copy_from_slice(numbers);
        copy
    }
}

/// Sets all numbers to 0.
pub fn clear<T: Real>(numbers: &mut [T]) {
    T::clear(numbers)
}

pub(crate) fn clear_generic<T: Real>(numbers: &mut [T]) {
    numbers.par_chunks_mut(1 << 16).for_each(|part| part.fill(T::default()));
}

impl<T: Real> Drop for Buffer<T> {
    fn drop(&mut self) {
        lock(T::store(&self.stores)).give(std::mem::take(&mut self.whole));
    }
}

impl<T: Real> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.whole[self.start..][..self.length]
    }
}

impl<T: Real> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.whole[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_reuses_what_fits_and_limits_what_it_keeps() {
        let mut store = Store { free: Vec::new(), kept: 0, used: 100, peak: 100 };
        store.give(vec![0u8; 60]);
        store.give(vec![0u8; 40]);
        assert_eq!((store.kept, store.used), (100, 0));
        assert!(store.take(9).is_none() && store.take(61).is_none());
        assert_eq!(store.take(40).map(|v| v.len()), Some(40));
        store.used += 90;
        store.give(vec![0u8; 90]);
        // 60 + 90 does not exceed the limit of 150, but with 70 more the oldest vector is freed.
        assert_eq!((store.kept, store.free.len()), (150, 2));
        store.used += 70;
        store.give(vec![0u8; 70]);
        assert_eq!((store.kept, store.free.len()), (70, 1));
    }

    #[test]
    fn clones_share_memory_and_separate_workspaces_do_not() {
        let (one, other) = (Workspace::default(), Workspace::default());
        let buffer = Buffer::<f64>::dirty(&one, 10);
        let clone = one.clone();
        drop(buffer);
        let kept = one.kept();
        assert_eq!((kept >= 80, clone.kept(), other.kept()), (true, kept, 0));
        let flag = Arc::new(AtomicBool::new(false));
        let stoppable = clone.stopped_by(flag.clone());
        assert!(!stoppable.is_stopped());
        flag.store(true, Ordering::Relaxed);
        assert!(stoppable.is_stopped() && !one.is_stopped());
        assert_eq!(stoppable.kept(), kept);
    }
}
