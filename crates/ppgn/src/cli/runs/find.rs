//! Finds run folders, and sorts their names as people do: `fold-2` before `fold-10`.

use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Error;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// How deep subfolders are searched.
const DEPTH: usize = 5;

/// The run folders at or below a folder, in natural order.
pub(super) fn runs_in(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.is_dir() {
        let dir = dir.display();
        return Err(wrong(format!("{dir} is not a folder; `ppgn train` makes runs in `runs`")));
    }
    let mut runs = Vec::new();
    find(dir, DEPTH, &mut runs)?;
    Ok(runs)
}

/// Folders inside a run are not searched.
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

/// A folder as it was named, or of this name in `runs`.
pub(super) fn named(path: &Path) -> PathBuf {
    let inside = Path::new("runs").join(path);
    if !path.exists() && inside.is_dir() { inside } else { path.to_path_buf() }
}

/// Compares texts piece by piece: digits as numbers, whatever is between them by its letters.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let by_piece = pieces(a).map(Piece::of).cmp(pieces(b).map(Piece::of));
    by_piece.then_with(|| a.cmp(b))
}

/// A piece of a text: a number by its digits without leading zeros, or other text. Numbers come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Piece<'a> {
    Number(usize, &'a str),
    Text(&'a str),
}

impl<'a> Piece<'a> {
    fn of(piece: &'a str) -> Self {
        match piece.starts_with(|c: char| c.is_ascii_digit()) {
            true => {
                let digits = piece.trim_start_matches('0');
                Piece::Number(digits.len(), digits)
            }
            false => Piece::Text(piece),
        }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let digit = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names =
            ["fold-10", "fold-2", "fold-1", "a9b", "a10b", "a010b", "a10", "fold", "2", "10", "é1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["2", "10", "a9b", "a10", "a010b", "a10b", "fold", "fold-1", "fold-2", "fold-10", "é1"]
        );
        assert_eq!(natural("x99999999999999999999999", "x100000000000000000000000"), Ordering::Less);
        assert_eq!(natural("same", "same"), Ordering::Equal);
    }
}
