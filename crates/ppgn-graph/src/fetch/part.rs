//! `FILE.part`: a file on its way, with what is known of it in `FILE.part.json`.
//!
//! The part is locked while it is written, so that two processes never write one file. What has arrived survives the
//! process; what the server stated about the file (its address, version and length) is kept beside it, so that the next
//! call can ask for the rest of *that* file and not of another that has taken its place.

use super::FetchError;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a server stated about the file that the part is the beginning of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Version {
    /// Where it came from.
    pub(super) url: String,
    /// The `ETag`, if strong, else the `Last-Modified`: what `If-Range` takes.
    pub(super) validator: Option<String>,
    /// The length of the whole.
    pub(super) total: Option<u64>,
}

/// The beginning of a file, locked.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    file: File,
    length: u64,
    version: Option<Version>,
}

/// How often a part that vanished under our hands (its writer finished) is opened anew.
const OPENINGS: usize = 8;

impl Part {
    /// Opens or makes the part of `target` and locks it.
    pub(super) fn open(target: &Path) -> Result<Self> {
        let path = beside(target, ".part");
        for _ in 0..OPENINGS {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(|e| Error::io(&path, e))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(locked(&path)),
                // Some network file systems have no locks; one writer is then for the user to see to.
                Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(Error::io(&path, e)),
            }
            // Between opening and locking, another process may have finished: our handle is then the finished file.
            if same_file(&file, &path) {
                let length = file.metadata().map_err(|e| Error::io(&path, e))?.len();
                let version = std::fs::read(beside(target, ".part.json")).ok();
                let version = version.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                return Ok(Part { path, file, length, version });
            }
        }
        Err(locked(&path))
    }

    /// The bytes that are here.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// What is known of the file, if anything.
    pub(super) fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.file.set_len(0).map_err(|e| Error::io(&self.path, e))?;
        self.length = 0;
        self.version = None;
        Ok(())
    }

    /// Begins anew, with this file.
    pub(super) fn begin(&mut self, version: Version) -> Result<()> {
        self.clear()?;
        let path = self.notes();
        let text = serde_json::to_vec(&version).map_err(|e| Error::io(&path, e.into()))?;
        std::fs::write(&path, text).map_err(|e| Error::io(&path, e))?;
        self.version = Some(version);
        Ok(())
    }

    /// Adds to the end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let io = |e| Error::io(&self.path, e);
        self.file.seek(SeekFrom::Start(self.length)).map_err(io)?;
        self.file.write_all(bytes).map_err(io)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The first bytes, and the hash of all.
    pub(super) fn examine(&mut self) -> Result<(Vec<u8>, String)> {
        let io = |e| Error::io(&self.path, e);
        let mut start = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(io)?;
        (&self.file).take(16).read_to_end(&mut start).map_err(io)?;
        self.file.seek(SeekFrom::Start(0)).map_err(io)?;
        let hash = super::sha256_of(&mut &self.file).map_err(io)?;
        Ok((start, hash))
    }

    /// Whether all of a zip archive is here: its table of contents comes last.
    pub(super) fn is_zip(&self) -> bool {
        zip::ZipArchive::new(std::io::BufReader::new(&self.file)).is_ok()
    }

    /// Makes the part the file: it is on the disk before it has the name.
    pub(super) fn finish(self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(|e| Error::io(&self.path, e))?;
        std::fs::rename(&self.path, target).map_err(|e| Error::io(target, e))?;
        let _ = std::fs::remove_file(self.notes());
        // The name is on the disk when the folder is; where folders cannot be synced, they need not be.
        if let Some(folder) = target.parent()
            && let Ok(folder) = File::open(folder)
        {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Leaves the part for another day, or nothing where nothing arrived.
    pub(super) fn leave(self) {
        if self.length == 0 {
            let _ = std::fs::remove_file(self.notes());
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn notes(&self) -> PathBuf {
        beside(&self.path, ".json")
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn locked(path: &Path) -> Error {
    FetchError::Busy { path: path.to_path_buf() }.into()
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(total: u64) -> Version {
        Version { url: "http://h/x".into(), validator: Some("\"a\"".into()), total: Some(total) }
    }

    #[test]
    fn what_arrived_and_what_is_known_of_it_survive() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.zip");
        let mut part = Part::open(&target).unwrap();
        part.begin(version(5)).unwrap();
        part.append(b"abc").unwrap();
        drop(part);
        let mut part = Part::open(&target).unwrap();
        assert_eq!((part.length(), part.version()), (3, Some(&version(5))));
        part.append(b"de").unwrap();
        let (start, hash) = part.examine().unwrap();
        assert_eq!(start, b"abcde");
        assert_eq!(hash, "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c");
        part.finish(&target).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"abcde");
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["x.zip"]);
    }

    #[test]
    fn a_part_has_one_writer_and_leaves_nothing_where_nothing_came() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.zip");
        let first = Part::open(&target).unwrap();
        let error = Part::open(&target).unwrap_err();
        assert!(error.to_string().contains("another process is downloading"), "{error}");
        first.leave();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Part::open(&target).is_ok());
    }

    #[test]
    fn damaged_notes_are_no_notes() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.zip");
        std::fs::write(folder.path().join("x.zip.part"), b"ab").unwrap();
        std::fs::write(folder.path().join("x.zip.part.json"), b"{\"url\": 7").unwrap();
        let part = Part::open(&target).unwrap();
        assert_eq!((part.length(), part.version()), (2, None));
    }
}
