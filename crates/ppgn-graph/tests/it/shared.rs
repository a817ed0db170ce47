//! Where the tests find real data: `PPGN_DATA`, else `shared/data` beside the checkout.

use std::io::Write;
use std::path::PathBuf;

/// The path of something in the data folder, or `None` with a word on what is skipped.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("PPGN_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    found(folder.join(name))
}

/// The path of a golden file, or `None` with a word on what is skipped.
pub(crate) fn golden(name: &str) -> Option<PathBuf> {
    found(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/goldens")).join(name))
}

fn found(path: PathBuf) -> Option<PathBuf> {
    if !path.exists() {
        // Past the test runner's capture: what was not tested must be seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not there", path.display());
        return None;
    }
    Some(path)
}
