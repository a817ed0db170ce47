//! Work for a request: off the thread that answers, few at a time, for a limited time, and stopped when the browser leaves.
//!
//! Whoever waits for the answer holds a [`Leaving`]; when the connection is closed its future is dropped, which asks the work
//! to stop. The place of a job is free again when its work has really ended.

use crate::error::{Answer, Failure};
use ppgn_wl::Interrupt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The longest that a request is worked on.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest that a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many requests compute at the same time.
const AT_ONCE: usize = 2;
/// How many more may wait; others are sent away.
const WAITING: usize = 64;

/// The places for work.
#[derive(Debug, Clone)]
pub(crate) struct Jobs {
    computing: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl Default for Jobs {
    fn default() -> Self {
        Jobs {
            computing: Arc::new(Semaphore::new(AT_ONCE)),
            admitted: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
        }
    }
}

/// Stops the work when nobody waits for it any more.
struct Leaving(Interrupt);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl Jobs {
    /// Runs something that looks at the interrupt between its steps.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Interrupt) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let busy = || Failure::busy("there is too much to compute at once; try again");
        let admitted = self.admitted.clone().try_acquire_owned().map_err(|_| busy())?;
        let waited = tokio::time::timeout(PATIENCE, self.computing.clone().acquire_owned()).await;
        let place = waited.ok().and_then(|place| place.ok()).ok_or_else(busy)?;
        let interrupt = Interrupt::default();
        let _leaving = Leaving(interrupt.clone());
        let job = tokio::task::spawn_blocking(move || {
            let _places = (admitted, place);
            work(&interrupt)
        });
        match tokio::time::timeout(LONGEST, job).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Failure { status: 500, message: "the computation failed".into() }),
            Err(_) => {
                let seconds = LONGEST.as_secs();
                Err(Failure::too_much(format!("stopped after {seconds} seconds: choose something smaller")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    #[test]
    fn work_that_nobody_waits_for_is_asked_to_stop() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let seen = stopped.clone();
        runtime.block_on(async {
            let jobs = Jobs::default();
            let work = jobs.run(move |interrupt| {
                let start = Instant::now();
                while interrupt.check().is_ok() && start.elapsed() < LONGEST {
                    std::thread::sleep(Duration::from_millis(2));
                }
                seen.store(interrupt.check().is_err(), Ordering::Relaxed);
                Ok(())
            });
            // The connection is closed: the future that waits is dropped.
            assert!(tokio::time::timeout(Duration::from_millis(30), work).await.is_err());
            // Its place is free again.
            for _ in 0..AT_ONCE {
                assert_eq!(jobs.run(|_| Ok(7)).await, Ok(7));
            }
        });
        drop(runtime);
        assert!(stopped.load(Ordering::Relaxed));
    }
}
