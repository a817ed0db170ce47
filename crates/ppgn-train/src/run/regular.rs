//! A run folder holds regular files. Opening a FIFO that stands in the place of one would wait for a writer for ever, and a
//! device would be read without end, so the type is looked at before anything is opened.

use super::MODEL;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// An error where something that is not a regular file has the name of one of a run's files. Links are followed.
pub(super) fn only_regular_files(run: &Path) -> Result<()> {
    let files = ["config.toml", "summary.json", "metrics.jsonl", "timing.jsonl", "lock"].map(PathBuf::from);
    let models = ["checkpoint", "best"].map(|folder| Path::new(folder).join(MODEL));
    files.into_iter().chain(models).map(|name| run.join(name)).try_for_each(regular)
}

fn regular(path: PathBuf) -> Result<()> {
    match std::fs::metadata(&path) {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            Err(Error::Run { path, message: "not a regular file".into() })
        }
        // Whoever opens it says what else is wrong: that it is not there, is a folder, cannot be read.
        _ => Ok(()),
    }
}
