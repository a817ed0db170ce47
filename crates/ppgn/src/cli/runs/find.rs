//! Finds run folders as the user named them.

use crate::cli::wrong::wrong;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The run folders at or below a folder, in natural order.
pub(super) fn runs_in(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.is_dir() {
        let dir = dir.display();
        return Err(wrong(format!("{dir} is not a folder; `ppgn train` makes runs in `runs`")));
    }
    Ok(ppgn::train::listing::runs_in(dir)?)
}

/// A folder as it was named, or of this name in `runs`.
pub(super) fn named(path: &Path) -> PathBuf {
    let inside = Path::new("runs").join(path);
    if !path.exists() && inside.is_dir() { inside } else { path.to_path_buf() }
}
