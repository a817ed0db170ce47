//! A run seen from outside: its settings, progress and results so far. Nothing is locked or changed, so a run can be
//! inspected while it is being trained.

use crate::error::Result;
use crate::metrics::Epoch;
use crate::run::{Run, Summary, is_locked, read_config, read_epochs, read_state_of, read_timing};
use crate::settings::Settings;
use std::path::Path;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All epochs are done.
    Finished,
    /// A process is training it.
    Running,
    /// It can be resumed.
    Stopped,
    /// Its network was trained elsewhere, or compiled.
    Imported,
}

impl Status {
    pub(crate) fn of(settings: &Settings, has_summary: bool, locked: bool) -> Self {
        match has_summary {
            _ if settings.trained().is_none() => Status::Imported,
            true => Status::Finished,
            false if locked => Status::Running,
            false => Status::Stopped,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Finished => "finished",
            Status::Running => "running",
            Status::Stopped => "stopped",
            Status::Imported => "imported",
        }
    }
}

/// What a run folder shows.
#[derive(Debug, Clone)]
pub struct Overview {
    /// Its settings.
    pub settings: Settings,
    /// Its state.
    pub status: Status,
    /// Epochs done, according to its checkpoint.
    pub epochs: usize,
    /// The metrics of the best epoch so far.
    pub best: Option<Epoch>,
    /// Its summary, if it is finished.
    pub summary: Option<Summary>,
    /// Seconds of all epochs together.
    pub seconds: f64,
}

impl Overview {
    /// Looks at a run folder.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Overview::with_epochs(path)?.0)
    }

    /// Looks at a run folder, and at the metrics of all epochs up to its checkpoint.
    pub fn with_epochs(path: impl AsRef<Path>) -> Result<(Self, Vec<Epoch>)> {
        let path = path.as_ref();
        let (settings, digest) = read_config(path)?;
        // The lock is read first: a run that ends in the meantime is reported as running, which it was.
        let locked = is_locked(path);
        let summary = Run::summary(path)?;
        let status = Status::of(&settings, summary.is_some(), locked);
        let state = read_state_of(path, || Ok(digest))?;
        let epochs = state.as_ref().map_or(0, |s| s.epoch);
        let metrics = match &state {
            Some(state) if epochs > 0 => read_epochs(path, state)?,
            _ => Vec::new(),
        };
        let best =
            state.and_then(|s| s.best).and_then(|best| metrics.get(best.epoch.checked_sub(1)?).cloned());
        Ok((Overview { settings, status, epochs, best, summary, seconds: seconds(path) }, metrics))
    }

    /// Whether a process is training in a run folder. Nothing is read or waited for.
    pub fn is_running(path: impl AsRef<Path>) -> bool {
        is_locked(path.as_ref())
    }
}

/// Seconds of all epochs of a run. Damaged lines are skipped: nothing depends on them.
pub(crate) fn seconds(path: &Path) -> f64 {
    read_timing(path).iter().sum()
}
