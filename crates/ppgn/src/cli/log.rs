//! `--log tensorboard`: event files in run folders, written while runs are trained.

use super::say;
use anyhow::Result;
use ppgn::train::{Epoch, EventLog};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Software that metrics are logged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Log {
    /// Event files: `tensorboard --logdir runs`
    Tensorboard,
}

/// `--log`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct LogArgs {
    /// Also write the metrics for TensorBoard, as event files in run folders; a run that has one keeps it when resumed
    #[arg(long, value_name = "FOR")]
    log: Option<Log>,
}

/// The event files of the runs that a command trains.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    wanted: bool,
    open: Mutex<HashMap<PathBuf, EventLog>>,
}

impl LogArgs {
    pub(crate) fn logs(self) -> Logs {
        Logs { wanted: self.log.is_some(), open: Mutex::default() }
    }
}

impl Logs {
    /// Opens the event file of a run that is about to be trained, if it is wanted or there.
    pub(crate) fn begin(&self, run: &Path) -> Result<()> {
        if self.wanted || EventLog::exists(run) {
            self.lock().insert(run.to_path_buf(), EventLog::open(run)?);
        }
        Ok(())
    }

    /// The same where the runs are one of many: without its event file a run is still worth training.
    pub(crate) fn begin_or_warn(&self, run: &Path) {
        if let Err(error) = self.begin(run) {
            say::warning(&format!("no event file is written: {error}"));
        }
    }

    /// Adds an epoch. A full disk ends the log, not the training.
    pub(crate) fn add(&self, run: &Path, epoch: &Epoch) {
        let mut open = self.lock();
        if let Some(Err(error)) = open.get_mut(run).map(|log| log.add(epoch)) {
            say::warning(&format!("the event file ends here: {error}"));
            open.remove(run);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, EventLog>> {
        self.open.lock().unwrap_or_else(|e| e.into_inner())
    }
}
