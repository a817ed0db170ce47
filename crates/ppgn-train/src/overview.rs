//! A run seen from outside: its settings, progress and results so far. Nothing is locked or changed, so a run can be
//! inspected while it is being trained.

use crate::error::Result;
use crate::metrics::Epoch;
use crate::run::{Run, Summary, is_locked, read_metrics, read_settings, read_state, read_timing};
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
        let path = path.as_ref();
        let settings = read_settings(path)?;
        // The lock is read first: a run that ends in the meantime is reported as running, which it was.
        let locked = is_locked(path);
        let summary = Run::summary(path)?;
        let status = match &summary {
            _ if settings.trained().is_none() => Status::Imported,
            Some(_) => Status::Finished,
            None if locked => Status::Running,
            None => Status::Stopped,
        };
        let state = read_state(path)?;
        let best = match state.as_ref().and_then(|s| s.best.as_ref()) {
            Some(best) => read_metrics(path, best.epoch)?.pop(),
            None => None,
        };
        let epochs = state.map_or(0, |s| s.epoch);
        Ok(Overview { settings, status, epochs, best, summary, seconds: seconds(path) })
    }
}

/// Seconds of all epochs of a run. Damaged lines are skipped: nothing depends on them.
pub(crate) fn seconds(path: &Path) -> f64 {
    read_timing(path).iter().sum()
}
