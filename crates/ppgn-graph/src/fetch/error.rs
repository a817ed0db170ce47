//! [`FetchError`]: why a dataset could not be downloaded.

use super::Attempt;
use crate::error::Remedy;
use std::path::PathBuf;

/// Why a dataset could not be downloaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No address gave the file.
    #[error("{file} could not be downloaded:\n{}{}", list(tried), by_hand_text(target, facts, by_hand.as_deref()))]
    Failed {
        /// The file's name.
        file: String,
        /// Every address, with the reason why it failed.
        tried: Vec<Attempt>,
        /// Where to put the file by hand.
        target: PathBuf,
        /// Its length and checksum, where they are known.
        facts: Vec<String>,
        /// What else can take its place.
        by_hand: Option<String>,
    },
    /// Something else is in the file's place.
    #[error("{path} exists, but is not the file that ppgn expects: {what}", path = path.display())]
    OtherFile {
        /// The place.
        path: PathBuf,
        /// How it differs.
        what: String,
    },
    /// Another process is downloading the same file.
    #[error("another process is downloading to {path}: wait until it is done, or stop it", path = path.display())]
    Busy {
        /// The partial file.
        path: PathBuf,
    },
}

impl FetchError {
    pub(crate) fn remedy(&self) -> Option<Remedy> {
        match self {
            FetchError::Failed { .. } => Some(Remedy::NameMirror),
            FetchError::OtherFile { .. } => Some(Remedy::Replace),
            FetchError::Busy { .. } => None,
        }
    }
}

fn list(tried: &[Attempt]) -> String {
    tried.iter().map(|Attempt { url, outcome }| format!("  {url}: {outcome}\n")).collect()
}

fn by_hand_text(target: &std::path::Path, facts: &[String], by_hand: Option<&str>) -> String {
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let else_ = by_hand.map_or(String::new(), |text| format!("; {text}"));
    format!("By hand: put the file at {}{facts}{else_}", target.display())
}
