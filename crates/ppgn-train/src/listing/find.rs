//! Finds run folders.

use crate::error::{Error, Result};
use ppgn_graph::text::natural;
use std::path::{Path, PathBuf};

/// How deep subfolders are searched.
const DEPTH: usize = 5;

/// The run folders at or below a folder, in natural order: `fold-2` before `fold-10`. Links to folders are not followed, and
/// folders inside a run or with a name that begins with a dot are not searched.
pub fn runs_in(dir: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    find(dir.as_ref(), DEPTH, &mut runs)?;
    Ok(runs)
}

fn find(dir: &Path, depth: usize, runs: &mut Vec<PathBuf>) -> Result<()> {
    if dir.join("config.toml").exists() {
        runs.push(dir.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let mut inner = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|t| t.is_dir()) {
            inner.push(entry.path());
        }
    }
    inner.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    // A subfolder that cannot be read hides only its own runs.
    inner.iter().for_each(|dir| find(dir, depth - 1, runs).unwrap_or_default());
    Ok(())
}
