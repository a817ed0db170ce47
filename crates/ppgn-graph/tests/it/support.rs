//! What several of the tests need: files on disk for a moment, and the shared data where it is there.

use ppgn_graph::format::{self, Format, ReadOptions, Report};
use ppgn_graph::{Dataset, Error};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An empty folder, deleted at the end of the test; in memory where that is possible, because writers sync their
/// files and property tests write thousands.
pub(crate) fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// A folder with these files, deleted at the end of the test.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = scratch();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

/// A zip archive of these files; `path` is in `folder`.
pub(crate) fn zip(folder: &Path, name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let path = folder.join(name);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    path
}

/// Reads one file with this content, in this format.
pub(crate) fn read_as(format: Format, name: &str, bytes: &[u8]) -> Result<Dataset, Error> {
    let folder = folder(&[(name, bytes)]);
    format::read(folder.path().join(name), &ReadOptions { format: Some(format), ..ReadOptions::default() })
}

/// Everything that is wrong with a file or folder, as `line: message` with the temporary folder left out.
pub(crate) fn defects_at(path: &Path, options: &ReadOptions) -> Vec<String> {
    let mut report = Report::collecting();
    format::check(path, options, &mut report).unwrap();
    let parent = format!("{}/", path.parent().unwrap().display());
    report.defects().iter().map(|d| d.to_string().replace(&parent, "")).collect()
}

/// The same for one file with this content.
pub(crate) fn defects(format: Format, name: &str, bytes: &[u8]) -> Vec<String> {
    let folder = folder(&[(name, bytes)]);
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    defects_at(&folder.path().join(name), &options)
}

/// A file of the data folder (`PPGN_DATA`, else `shared/data` beside the checkout), or `None` after saying what is
/// skipped.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    found(std::env::var_os("PPGN_DATA").map_or_else(beside, PathBuf::from).join(name))
}

/// A golden file, or `None` after saying what is skipped.
pub(crate) fn golden(name: &str) -> Option<PathBuf> {
    found(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens").join(name))
}

fn found(path: PathBuf) -> Option<PathBuf> {
    if !path.exists() {
        // Past the test runner's capture: what was not tested must be seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not there", path.display());
        return None;
    }
    Some(path)
}
