//! Default names for the folders and files of a command.

use super::wrong::wrong;
use anyhow::Result;
use ppgn::train::{Error, Run};
use std::path::{Path, PathBuf};

/// The words as a file name that is valid on every file system.
pub(crate) fn file_name(words: &str) -> String {
    let fit = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    words.trim_start_matches('.').chars().map(fit).take(100).collect()
}

/// The folder in `runs` named after these words: the same for the same words, so that the same command resumes.
pub(crate) fn folder(words: &[&str]) -> PathBuf {
    Path::new("runs").join(file_name(&words.join("-")))
}

/// Creates a run in `out`, or in the first of `runs/NAME`, `runs/NAME-2`, `runs/NAME-3` ... that does not exist.
/// Processes that start at the same time get different folders.
pub(crate) fn made(
    out: Option<&Path>,
    name: &str,
    make: impl Fn(&Path) -> ppgn::train::Result<Run>,
) -> ppgn::train::Result<Run> {
    if let Some(out) = out {
        return make(out);
    }
    let name = file_name(name);
    for number in 1u64.. {
        let name = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        match make(&Path::new("runs").join(name)) {
            Err(Error::Exists { .. }) => continue,
            made => return made,
        }
    }
    Err(Error::Exists { path: folder(&[&name]) })
}

/// An error if a file would be overwritten without `--force`.
pub(crate) fn writable(file: &Path, force: bool) -> Result<()> {
    match file.try_exists()? && !force {
        true => Err(wrong(format!("{} already exists; --force overwrites it", file.display()))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_every_file_system_takes() {
        assert_eq!(folder(&["cv", "a/b:c", "small"]), Path::new("runs/cv-a_b_c-small"));
        assert_eq!(file_name("../x y"), "_x_y");
    }
}
