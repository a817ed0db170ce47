//! Colours in memory: those of the datasets used last, shared by all runs of a session.
//!
//! No lock is held during a colouring. A rayon thread that waits for another may block the work that it waits for, so
//! it computes the same colours itself. A thread outside every pool waits, so that the folds of a cross-validation do
//! not colour one dataset several times at once.

use crate::error::{Error, Result};
use ppgn_nn::Colours;
use ppgn_wl::Interrupt;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of datasets whose colours are kept.
const KEPT: usize = 4;

/// How often a waiting thread checks for an interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(crate) struct ColourCache {
    state: Mutex<State>,
    /// Signals that a colouring has ended.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// In order of use, the most recent last.
    kept: Vec<(String, Arc<Colours>)>,
    /// The keys of the running colourings.
    searches: BTreeSet<String>,
}

impl State {
    fn get(&mut self, key: &str) -> Option<Arc<Colours>> {
        let place = self.kept.iter().position(|(of, _)| of == key)?;
        let entry = self.kept.remove(place);
        let colours = entry.1.clone();
        self.kept.push(entry);
        Some(colours)
    }
}

/// A running colouring; it ends when this is dropped, on errors and panics too.
struct Search<'a> {
    cache: &'a ColourCache,
    key: &'a str,
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        self.cache.lock().searches.remove(self.key);
        self.cache.ended.notify_all();
    }
}

impl ColourCache {
    /// The colours of this key: from the cache, or computed by `find`.
    pub(crate) fn get(
        &self,
        key: &str,
        interrupt: &Interrupt,
        find: impl FnOnce() -> Result<Colours>,
    ) -> Result<Arc<Colours>> {
        let may_wait = rayon::current_thread_index().is_none();
        let mut state = self.lock();
        loop {
            if let Some(colours) = state.get(key) {
                return Ok(colours);
            }
            if !may_wait || !state.searches.contains(key) {
                break;
            }
            interrupt.check().map_err(|_| Error::Interrupted)?;
            state = self.ended.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        let first = state.searches.insert(key.to_string());
        drop(state);
        let _search = first.then(|| Search { cache: self, key });
        let found = find()?;
        Ok(self.keep(key, found))
    }

    /// Keeps the colours, unless another thread was faster: then those, which are equal.
    fn keep(&self, key: &str, found: Colours) -> Arc<Colours> {
        let mut state = self.lock();
        if let Some(colours) = state.get(key) {
            return colours;
        }
        let found = Arc::new(found);
        if state.kept.len() >= KEPT {
            state.kept.remove(0);
        }
        state.kept.push((key.to_string(), found.clone()));
        found
    }

    pub(crate) fn clear(&self) {
        self.lock().kept.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn colours() -> Result<Colours> {
        Ok(Colours::new(&[2], 1, 1, &Default::default(), |_| Ok(vec![0.0f32, 1.0, 1.0, 0.0]))?)
    }

    #[test]
    fn the_last_few_are_kept_until_they_are_released() {
        let (cache, searches) = (ColourCache::default(), AtomicUsize::new(0));
        let get = |key: &str| {
            let find = || {
                searches.fetch_add(1, Ordering::Relaxed);
                colours()
            };
            cache.get(key, &Interrupt::default(), find).unwrap();
            searches.load(Ordering::Relaxed)
        };
        assert_eq!(["a", "b", "c", "d", "a", "e", "a", "b"].map(get), [1, 2, 3, 4, 4, 5, 5, 6]);
        cache.clear();
        assert_eq!(get("a"), 7);
    }

    #[test]
    fn threads_outside_a_pool_search_once_and_may_be_interrupted() {
        let (cache, searches) = (ColourCache::default(), AtomicUsize::new(0));
        let slow = || {
            searches.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(200));
            colours()
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| cache.get("a", &Interrupt::default(), slow).unwrap());
            }
        });
        assert_eq!(searches.load(Ordering::Relaxed), 1);
        let (interrupt, started) = (Interrupt::default(), Mutex::new(false));
        interrupt.set();
        std::thread::scope(|scope| {
            let started = &started;
            let find = move || {
                *started.lock().unwrap() = true;
                slow()
            };
            let cache = &cache;
            scope.spawn(move || cache.get("b", &Interrupt::default(), find).unwrap());
            while !*started.lock().unwrap() {
                std::thread::yield_now();
            }
            let refused = cache.get("b", &interrupt, || panic!("another thread is searching"));
            assert!(matches!(refused, Err(Error::Interrupted)));
        });
    }

    #[test]
    fn a_failed_search_is_no_obstacle() {
        let cache = ColourCache::default();
        let failed = cache.get("a", &Interrupt::default(), || Err(Error::Interrupted));
        assert!(failed.is_err());
        assert!(cache.get("a", &Interrupt::default(), colours).is_ok());
    }

    #[test]
    fn nobody_waits_inside_a_pool() {
        // In a pool of one thread, a nested request for the same key must not wait.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let cache = ColourCache::default();
        let get = |find: &dyn Fn() -> Result<Colours>| cache.get("a", &Interrupt::default(), find);
        let inner = pool.install(|| {
            let nested = || {
                get(&colours)?;
                colours()
            };
            get(&nested).map(|_| ())
        });
        inner.unwrap();
        assert!(cache.get("a", &Interrupt::default(), || panic!("it is kept")).is_ok());
    }
}
