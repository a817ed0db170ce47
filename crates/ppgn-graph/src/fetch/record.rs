//! What was downloaded, remembered: length and SHA-256 of files that the registry does not know them of.
//!
//! They are in `downloads.sha256` in the data folder, which `sha256sum --check downloads.sha256` understands:
//!
//! ```text
//! # tu/AIDS.zip 1234567 bytes
//! 0123...cdef  tu/AIDS.zip
//! ```
//!
//! A later download, or a file that is in place already, must have the same. To accept another version of a file, delete
//! its two lines.

use super::Remote;
use crate::error::{Error, Result};
use crate::file::write_atomically;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

fn list(data_dir: &Path) -> PathBuf {
    data_dir.join("downloads.sha256")
}

fn read(data_dir: &Path) -> Result<String> {
    match std::fs::read_to_string(list(data_dir)) {
        Ok(text) => Ok(text),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(String::new()),
        Err(e) => Err(Error::io(list(data_dir), e)),
    }
}

/// The file with what was recorded of it.
pub(super) fn recorded(file: &Remote, data_dir: &Path) -> Result<Remote> {
    let text = read(data_dir)?;
    let mut found = file.clone();
    for line in text.lines() {
        if let Some((place, bytes)) =
            line.strip_prefix("# ").and_then(|rest| rest.strip_suffix(" bytes")?.rsplit_once(' '))
            && place == file.place
        {
            found.bytes = found.bytes.or(bytes.parse().ok());
        }
        if let Some((hash, place)) = line.split_once("  ")
            && place == file.place
            && hash.len() == 64
        {
            found.sha256 = Some(hash.to_ascii_lowercase());
        }
    }
    Ok(found)
}

/// Records a file that was downloaded for the first time.
pub(super) fn add(file: &Remote, bytes: u64, sha256: &str, data_dir: &Path) -> Result<()> {
    let mut text = read(data_dir)?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text += &format!("# {} {bytes} bytes\n{sha256}  {}\n", file.place, file.place);
    let path = list(data_dir);
    write_atomically(&path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(&path, e)))
}
