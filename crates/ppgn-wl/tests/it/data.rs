//! Real data for the tests: `PPGN_DATA`, else `shared/data` beside the checkout.

use ppgn_graph::{Graph, format};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of the data folder, or `None` after saying what is skipped.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("PPGN_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        // Past the test runner's capture: what was not tested must be seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// The graphs of a file of the data folder.
pub(crate) fn graphs(name: &str) -> Option<Vec<Graph>> {
    let dataset = format::read(file(name)?, &Default::default()).unwrap();
    Some(dataset.graphs().to_vec())
}
