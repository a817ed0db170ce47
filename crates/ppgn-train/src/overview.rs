//! A run seen from outside: what it is, where it stands, what it gave so far. Nothing is locked or changed, so a run
//! that is being trained can be looked at.

use crate::error::Result;
use crate::metrics::Epoch;
use crate::run::{Run, Summary, is_locked, read_metrics, read_settings, read_state, read_timing};
use crate::settings::Settings;
use std::path::Path;

/// Where a run stands.
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

/// What can be seen of a run folder.
#[derive(Debug, Clone)]
pub struct Overview {
    /// What the run is.
    pub settings: Settings,
    /// Where it stands.
    pub status: Status,
    /// Epochs that a checkpoint holds.
    pub epochs: usize,
    /// The figures of the best epoch so far.
    pub best: Option<Epoch>,
    /// What it gave, if it is finished.
    pub summary: Option<Summary>,
    /// What the epochs took together.
    pub seconds: f64,
}

impl Overview {
    /// Looks at a run folder.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let settings = read_settings(path)?;
        // The lock first: a run that ends while we look is then called running with its last epoch, which it was.
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

/// What the epochs of a run took; lines that are damaged do not count, nothing depends on them.
pub(crate) fn seconds(path: &Path) -> f64 {
    read_timing(path).iter().sum()
}
