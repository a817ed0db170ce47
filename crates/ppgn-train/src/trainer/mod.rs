//! The training loop: batches, steps, and after every epoch an evaluation and a checkpoint.
//!
//! [`train`] is for a process that is alone and for rank 0 of several; the others [`follow`]. What they do together is the same
//! code: the [`Learner`](learner::Learner) trains an epoch and is evaluated, on the CPU engine or on a device. Rank 0 alone
//! decides what comes next and writes the run folder ([`epochs`]).

mod ending;
mod epochs;
mod evaluate;
mod follow;
mod learner;

pub use follow::follow;

use crate::data::Prepared;
use crate::error::{Error, Result};
use crate::metrics::{Best, Epoch};
use crate::run::{Run, Summary, Warning, read_state};
use crate::session::Session;
use crate::space::Chosen;
use ppgn_graph::Dataset;
use ppgn_graph::split::to_csv;

/// What happens during training, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something about a run that is resumed, before its data is prepared.
    Warning(&'a Warning),
    /// The data is ready, before the first step.
    Ready {
        /// The space that it is trained on, and why.
        space: &'a Chosen,
    },
    /// A batch of the running epoch was trained on.
    Step {
        /// The epoch, from 1.
        epoch: usize,
        /// Graphs trained on in this epoch so far.
        graphs: usize,
        /// Graphs of an epoch.
        of: usize,
    },
    /// An epoch is over, and its checkpoint written.
    Epoch {
        /// Its figures.
        epoch: &'a Epoch,
        /// The best epoch so far.
        best: &'a Best,
        /// What it took.
        seconds: f64,
    },
}

/// Hears of every [`Event`], and returns `false` to stop after the running step.
pub type Watcher<'a> = dyn FnMut(Event<'_>) -> bool + Send + 'a;

/// How training ended.
#[derive(Debug)]
pub enum Outcome {
    /// All epochs are done.
    Finished(Box<Summary>),
    /// It was asked to stop; the last finished epoch is the state.
    Stopped {
        /// Epochs finished.
        epochs: usize,
    },
}

/// Trains a run to its end, from its last checkpoint if it has one.
///
/// The run's files are verified before anything is computed or changed ([`Run::verify`]).
/// A loss that is not finite ends it with [`Error::NotFinite`]; the last checkpoint stays. The session's interrupt ends it
/// within a moment, the watcher after the running step.
///
/// Where the session has several [ranks](crate::ranks), this is for rank 0; the others [`follow`].
pub fn train(session: &Session, run: &Run, dataset: &Dataset, watcher: &mut Watcher<'_>) -> Result<Outcome> {
    let restored = run.restore()?;
    let mut go_on = true;
    for warning in restored.iter().flat_map(|restored| &restored.warnings) {
        go_on &= watcher(Event::Warning(warning));
    }
    if let Some(warning) = run.settings().reference_warning(dataset) {
        go_on &= watcher(Event::Warning(&warning));
    }
    if !go_on {
        return stopped(run);
    }
    if let Some(ranks) = session.ranks() {
        ranks.decided(|| run.settings().clone())?;
    }
    // On the caller's thread, which may wait for colours that another run is finding; a thread of a pool may not.
    let prepared = match Prepared::new(session, run.settings(), dataset) {
        // Stopped while the data was prepared: that is not a failure.
        Err(_) if session.check().is_err() => {
            return stopped(run);
        }
        prepared => prepared?,
    };
    if let Some(ranks) = session.ranks() {
        ranks.decided(|| prepared.space.colours.is_some())?;
    }
    run.write_split(&to_csv(&prepared.split, dataset))?;
    let outcome = session.install(|| {
        let mut watcher = |event: Event<'_>| watcher(event) && session.check().is_ok();
        epochs::epochs(session, run, &prepared, restored, &mut watcher)
    });
    match outcome {
        // Within a step, which is discarded.
        Err(Error::Interrupted) => stopped(run),
        // Those that share the work were interrupted at the same time.
        Err(Error::Rank { .. }) if session.check().is_err() => stopped(run),
        outcome => outcome,
    }
}

/// The outcome of a run that was stopped: its last checkpoint.
fn stopped(run: &Run) -> Result<Outcome> {
    let epochs = read_state(run.path())?.map_or(0, |state| state.epoch);
    Ok(Outcome::Stopped { epochs })
}
