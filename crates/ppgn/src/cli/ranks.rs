//! This process as one of the ranks that `mpirun` or `srun` started, with the feature `mpi`. Without it, or without a launcher,
//! a process is alone.
//!
//! All ranks run the same command. Rank 0 speaks for all, and its exit code is that of the job: the others print nothing, and
//! what goes wrong on one of them reaches rank 0 as an error.

use anyhow::Result;
use ppgn::train::ranks::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::OnceLock;

/// The ranks of the process, once it is connected.
static RANKS: OnceLock<Ranks> = OnceLock::new();

/// The ranks that share the work of this process, if there are several.
pub(crate) fn ranks() -> Option<Ranks> {
    RANKS.get().filter(|ranks| ranks.size() > 1).cloned()
}

/// Whether this process writes what concerns all.
pub(crate) fn lead() -> bool {
    ranks().is_none_or(|ranks| ranks.leads())
}

/// The cores for this process: those of the machine, divided among the ranks that share them.
pub(crate) fn cores() -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    ranks().map_or_else(all, |ranks| ranks.cores())
}

/// ` on 4 ranks`, if there are several.
pub(crate) fn on_ranks() -> String {
    ranks().map_or_else(String::new, |ranks| format!(" on {} ranks", ranks.size()))
}

/// Items in a row, cut into stripes for ranks that share them: some for each, so that nobody waits long for the last one, and no
/// more, so that messages stay few.
pub(crate) struct Stripes {
    items: usize,
    count: usize,
}

impl Stripes {
    /// At most this many.
    pub(crate) fn new(items: usize, most: usize) -> Self {
        Stripes { items, count: items.min(most) }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn range(&self, stripe: usize) -> Range<usize> {
        let start = |stripe: usize| self.items * stripe / self.count.max(1);
        start(stripe)..start(stripe + 1)
    }
}

/// Computes something for items 0 to `items - 1`, in order; several ranks share them, and only rank 0 has the results. `done` is
/// called with the number of items that were finished.
pub(crate) fn each<T: Serialize + DeserializeOwned>(
    items: usize,
    compute: impl Fn(usize) -> Result<T, ppgn::wl::Error> + Sync,
    done: impl Fn(u64) + Sync,
) -> Result<Option<Vec<T>>> {
    let Some(ranks) = ranks() else {
        let one = |item: usize| compute(item).inspect(|_| done(1));
        return Ok(Some((0..items).map(one).collect::<Result<_, ppgn::wl::Error>>()?));
    };
    let stripes = Stripes::new(items, 64 * ranks.size());
    let stripe = |stripe: usize| {
        let found = stripes.range(stripe).map(&compute).collect::<Result<Vec<T>, ppgn::wl::Error>>()?;
        Ok(serde_json::to_vec(&found).unwrap_or_default())
    };
    let found =
        ranks.share_out(stripes.count(), stripe, |stripe| done(stripes.range(stripe).len() as u64))?;
    let Some(found) = found else { return Ok(None) };
    let mut all = Vec::with_capacity(items);
    for stripe in &found {
        all.extend(serde_json::from_slice::<Vec<T>>(stripe)?);
    }
    Ok(Some(all))
}

/// Runs a command, which gives its exit code and what went wrong, among the ranks of its job, if there are others.
#[cfg(feature = "mpi")]
pub(crate) fn joined(run: impl FnOnce() -> (ExitCode, Option<String>)) -> ExitCode {
    let mpi = match ppgn_mpi::Mpi::connect() {
        Ok(None) => return run().0,
        Ok(Some(mpi)) => mpi,
        Err(error) => {
            super::say::error(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    if RANKS.get_or_init(|| mpi.ranks()).leads() {
        let (code, wrong) = run();
        mpi.finish(wrong.as_deref());
        return code;
    }
    let wrong = match mpi.mute() {
        Err(error) => Some(error.to_string()),
        Ok(()) => run().1,
    };
    mpi.finish(wrong.as_deref());
    // If a rank ended with another code, its launcher would end the others before they have said why.
    ExitCode::SUCCESS
}

/// Runs a command.
#[cfg(not(feature = "mpi"))]
pub(crate) fn joined(run: impl FnOnce() -> (ExitCode, Option<String>)) -> ExitCode {
    run().0
}

/// An error if this process was started as one of several that it cannot share its work with: each would do all of it, in the
/// same folders.
pub(crate) fn supported() -> Result<()> {
    #[cfg(not(feature = "mpi"))]
    if let Some(size) = launched(|name| std::env::var(name).ok()) {
        return Err(super::wrong::wrong(format!(
            "this is one of {size} processes that mpirun or srun has started, and this build cannot share work among them; \
             one that can: cargo build --release --features mpi (docs/cluster.md)"
        )));
    }
    Ok(())
}

/// The number of processes that a launcher says it has started, if there are several.
#[cfg(any(test, not(feature = "mpi")))]
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    // Of OpenMPI, of MPICH and its descendants, and of Slurm where it starts MPI processes itself.
    let names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];
    let told = names.iter().find_map(|name| variable(name));
    let size = told.or_else(|| variable("PMIX_RANK").and_then(|_| variable("SLURM_STEP_NUM_TASKS")))?;
    size.parse().ok().filter(|&size| size > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_cover_all_items_once() {
        for (items, most) in [(0, 2), (1, 2), (127, 128), (128, 128), (1000, 24)] {
            let stripes = Stripes::new(items, most);
            let all: Vec<usize> = (0..stripes.count()).flat_map(|s| stripes.range(s)).collect();
            assert_eq!(all, (0..items).collect::<Vec<_>>());
        }
    }

    #[test]
    fn launchers_are_recognised() {
        let of = |set: &[(&str, &str)]| {
            launched(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "16")]), Some(16));
        assert_eq!(of(&[("PMI_SIZE", "4"), ("PMI_RANK", "0")]), Some(4));
        assert_eq!(of(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "8")]), Some(8));
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "8")]), None, "tasks of other software");
    }
}
