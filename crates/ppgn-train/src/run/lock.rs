//! One process per run, and nothing left of those that were killed.

use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// What a killed process was writing is as old as this before it is removed where no lock says whose it is.
const STALE: Duration = Duration::from_secs(60);

pub(super) fn lock(path: &Path) -> Result<File> {
    let file = path.join("lock");
    regular_or_absent(&file).map_err(|e| Error::io(&file, e))?;
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file)
        .map_err(|e| Error::io(&file, e))?;
    for patience in (0..5).rev() {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // Whoever only looks whether the run is locked has it for a moment.
            Err(TryLockError::WouldBlock) if patience > 0 => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(e)) => return Err(Error::io(&file, e)),
        }
    }
    Err(Error::Busy { path: path.to_path_buf() })
}

/// An error where something that is not a file has a file's name: a pipe would be waited for without end.
pub(super) fn regular_or_absent(file: &Path) -> std::io::Result<()> {
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => {
            Err(std::io::Error::new(ErrorKind::InvalidInput, "not a regular file"))
        }
        _ => Ok(()),
    }
}

/// Whether a process is training in a run folder.
pub(crate) fn is_locked(path: &Path) -> bool {
    let file = path.join("lock");
    let lock = regular_or_absent(&file).and_then(|()| OpenOptions::new().write(true).open(file));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Removes what a killed process was writing. Whoever calls has the lock.
pub(super) fn sweep(path: &Path) {
    for folder in [path.to_path_buf(), path.join("checkpoint"), path.join("best")] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(".ppgn-") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes run folders beside this one that never got their names, because their process was killed.
pub(super) fn sweep_beside(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(".ppgn-run-") {
            continue;
        }
        let old = entry.metadata().and_then(|m| m.modified()).ok().and_then(|time| time.elapsed().ok());
        // A folder is locked as soon as it is made; the time is for the moment between the two.
        if old.is_some_and(|age| age > STALE) && !is_locked(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
