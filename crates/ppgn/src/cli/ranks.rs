//! This process as one of the ranks that `mpirun` or `srun` started, with the feature `mpi`. Without it, or without a launcher,
//! a process is alone.
//!
//! All ranks run the same command. Rank 0 speaks for all, and its exit code is that of the job: the others print nothing, and
//! what goes wrong on one of them reaches rank 0 as an error.

use ppgn::train::ranks::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::process::ExitCode;
use std::sync::OnceLock;

/// The ranks of the process, once it is connected.
static RANKS: OnceLock<Ranks> = OnceLock::new();

/// The ranks that share the work of this process, if there are several.
pub(crate) fn ranks() -> Option<Ranks> {
    RANKS.get().cloned()
}

/// Whether other ranks share the work.
pub(crate) fn are_several() -> bool {
    ranks().is_some_and(|ranks| ranks.size() > 1)
}

/// Whether this process writes what concerns all.
pub(crate) fn lead() -> bool {
    ranks().is_none_or(|ranks| ranks.leads())
}

/// Into how many parts work that has no parts of its own is cut for ranks to share.
pub(crate) const STRIPES: usize = 256;

/// The cores for this process: those of the machine, divided among its ranks.
pub(crate) fn cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    (cores / ranks().map_or(1, |ranks| ranks.neighbours())).max(1)
}

/// Computes something for items 0 to `items - 1`, in order; several ranks share them. `done` is called after each.
pub(crate) fn each<T: Serialize + DeserializeOwned>(
    items: usize,
    compute: impl Fn(usize) -> ppgn::train::Result<T> + Sync,
    done: impl Fn() + Sync,
) -> ppgn::train::Result<Vec<T>> {
    let one = |item: usize| compute(item).inspect(|_| done());
    match ranks().filter(|_| are_several()) {
        None => (0..items).map(one).collect(),
        Some(ranks) => ranks.share_out(items, compute, done),
    }
}

/// Runs a command, which gives its exit code and what went wrong, among the ranks of its job, if there are others.
#[cfg(feature = "mpi")]
pub(crate) fn joined(shared: bool, run: impl FnOnce() -> (ExitCode, Option<String>)) -> ExitCode {
    let mpi = match ppgn_mpi::Mpi::connect() {
        Ok(None) => return run().0,
        Ok(Some(mpi)) => mpi,
        Err(error) => {
            super::say::error(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let ranks = RANKS.get_or_init(|| mpi.ranks());
    if ranks.leads() {
        let (code, wrong) = run();
        mpi.finish(wrong.as_deref());
        return code;
    }
    let wrong = match mpi.mute() {
        Err(error) => Some(error.to_string()),
        Ok(()) if shared => run().1,
        Ok(()) => None,
    };
    mpi.finish(wrong.as_deref());
    // If a rank ended with another code, its launcher would end the others before they have said why.
    ExitCode::SUCCESS
}

/// Runs a command.
#[cfg(not(feature = "mpi"))]
pub(crate) fn joined(_shared: bool, run: impl FnOnce() -> (ExitCode, Option<String>)) -> ExitCode {
    run().0
}
