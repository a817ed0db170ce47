//! Names for folders and files that a command was given none for.

use std::path::{Path, PathBuf};

/// Words as a name that every file system takes.
pub(crate) fn file_name(words: &str) -> String {
    let fit = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    words.trim_start_matches('.').chars().map(fit).take(100).collect()
}

/// The folder of these words in `runs`: the same for the same words, so that the same command resumes.
pub(crate) fn folder(words: &[&str]) -> PathBuf {
    Path::new("runs").join(file_name(&words.join("-")))
}

/// The first of `runs/NAME`, `runs/NAME-2`, `runs/NAME-3` ... that does not exist.
pub(crate) fn free_folder(name: &str) -> PathBuf {
    let name = file_name(name);
    let numbered = (2..).map(|n: u64| format!("{name}-{n}"));
    let mut folders = std::iter::once(name.clone()).chain(numbered).map(|name| Path::new("runs").join(name));
    folders.find(|folder| !folder.exists()).unwrap_or_else(|| Path::new("runs").join(name))
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
