//! Work beside the interpreter: in a thread of its own, on one pool of threads per process, while the caller gives up the
//! interpreter's lock and looks for signals ten times a second.
//!
//! Nothing here takes the interpreter's lock on a thread of the pool: whatever Python is to hear of goes through a channel to
//! the caller. So a caller that holds the lock never waits for a thread that wants it.

use crate::error::OrRaise;
use ppgn_wl::Interrupt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long Ctrl-C may go unnoticed.
const POLL: Duration = Duration::from_millis(100);

/// The stack of a working thread, in bytes, as the main thread of a process has it.
const STACK: usize = 8 << 20;

/// The pool of a process.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

// Locked only by threads that hold the interpreter's lock, and a fork holds that too: a child never finds it taken.
static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// The number of threads that computations use: `OMP_NUM_THREADS`, which joblib and Dask set for their workers, else the
/// number of cores. Results do not depend on it.
#[pyfunction]
pub(crate) fn threads() -> usize {
    let set = std::env::var("OMP_NUM_THREADS").ok();
    let set = set.and_then(|text| text.split(',').next()?.trim().parse::<usize>().ok()).filter(|&n| n > 0);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    set.unwrap_or_else(cores).min(1024)
}

/// The pool of this process, with the wanted number of threads. The threads of a pool do not exist in a forked child: it
/// gets a pool of its own, and its copy of the parent's is left alone, because to end it would be to wait for them.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (process, threads) = (std::process::id(), threads());
    match held.take() {
        Some(known) if known.process == process && known.threads == threads => {
            let pool = known.pool.clone();
            *held = Some(known);
            return Ok(pool);
        }
        Some(known) if known.process != process => std::mem::forget(known),
        _ => {}
    }
    let pool = Arc::new(started(threads)?);
    *held = Some(Pool { process, threads, pool: pool.clone() });
    Ok(pool)
}

/// A pool apart from that of the process, for work that waits for the caller: who answers may compute on the shared one.
pub(crate) fn apart() -> PyResult<ThreadPool> {
    started(threads())
}

fn started(threads: usize) -> PyResult<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    pool.map_err(|e| PyRuntimeError::new_err(format!("{threads} threads cannot be started: {e}")))
}

/// Computes on the pool; `work` is given the interrupt that Ctrl-C sets.
pub(crate) fn on_pool<T: Send, E: crate::error::Raised + Send>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupt) -> Result<T, E> + Send,
) -> PyResult<T> {
    let (pool, interrupt) = (pool()?, Interrupt::default());
    beside(py, &interrupt, |_: &Sender<Message<(), _>>| pool.install(|| work(&interrupt)), |()| Ok(()))?
        .or_raise()
}

/// What the working thread says to the caller.
pub(crate) enum Message<E, T> {
    /// Something happened.
    Event(E),
    /// The work is done, or has panicked.
    Done(std::thread::Result<T>),
}

/// Runs `work` in a thread of its own. The caller hears of its events and of signals; an exception from either sets the
/// interrupt, and is raised when the work has ended.
pub(crate) fn beside<E: Send, T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce(&Sender<Message<E, T>>) -> T + Send,
    mut hear: impl FnMut(E) -> PyResult<()>,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        // Only a lock makes a receiver something that a closure without the interpreter may hold.
        let receiver = Mutex::new(receiver);
        let thread = std::thread::Builder::new().name("ppgn".into()).stack_size(STACK);
        thread
            .spawn_scoped(scope, move || {
                let result = catch_unwind(AssertUnwindSafe(|| work(&sender)));
                // The caller listens until it has heard this.
                let _ = sender.send(Message::Done(result));
            })
            .map_err(|e| PyRuntimeError::new_err(format!("a thread cannot be started: {e}")))?;
        let mut raised = None;
        loop {
            let message =
                py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL));
            let outcome = match message {
                Ok(Message::Event(_)) if raised.is_some() => Ok(()),
                Ok(Message::Event(event)) => hear(event),
                Ok(Message::Done(result)) => {
                    return match raised {
                        Some(error) => Err(error),
                        None => result.map_err(|panic| defect(&*panic)),
                    };
                }
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the working thread ended without a result"));
                }
            };
            if raised.is_none()
                && let Err(error) = outcome.and_then(|()| py.check_signals())
            {
                interrupt.set();
                raised = Some(error);
            }
        }
    })
}

/// A panic as an exception: a defect of ppgn, not of the call.
fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("a defect of ppgn, please report it: {text}"))
}
