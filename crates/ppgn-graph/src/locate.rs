//! How data is named in every command: `MUTAG`, `./my.g6:7`, `cfi:base=k4`.
//!
//! One word names data everywhere in ppgn. A word with a slash or a known extension is a file or folder, from here or else
//! from the data folder; `-` is standard input; otherwise it is
//! a generator, if one has that name; otherwise a dataset in the [data folder](default_data_dir), ignoring case. `:7`
//! after any of them is its graph 7, counted from 0.

pub use crate::folder::{EXTENSIONS, Found, default_cache_dir, default_data_dir, has_known_extension};

use crate::error::{Error, Remedy, Result};
use crate::fetch::{self, GetOptions, Progress};
use crate::folder;
use crate::format::source::STDIN;
use crate::format::{self, ReadOptions};
use crate::nearest::nearest;
use crate::{Dataset, generate};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Finds data by name.
///
/// The default looks in [`default_data_dir`] and never downloads.
///
/// ```
/// use ppgn_graph::locate::{Locator, What};
/// let locator = Locator::default();
/// let located = locator.resolve("figure1:1")?;
/// assert_eq!((located.what, located.index), (What::Generator("figure1".into()), Some(1)));
/// let error = locator.resolve("figur1").unwrap_err();
/// assert!(error.is_call() && error.to_string().contains("did you mean `figure1`?"));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Locator {
    /// The data folder, where it is not [`default_data_dir`].
    pub data_dir: Option<PathBuf>,
    /// How files are read.
    pub read: ReadOptions,
    /// Whether a dataset that is not in the data folder is downloaded, if ppgn knows where it lives.
    pub download: bool,
    /// Called with the progress of such a download.
    pub progress: Progress,
}

/// What a word stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The data.
    pub what: What,
    /// One graph of it, counted from 0, where the word names one.
    pub index: Option<usize>,
}

/// A place where graphs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A file or folder that exists.
    File(PathBuf),
    /// A generator with its settings, as [`generate::generate`] takes it.
    Generator(String),
}

impl Located {
    /// The file or folder, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.what {
            What::File(path) => Some(path),
            What::Generator(_) => None,
        }
    }
}

impl Locator {
    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(default_data_dir)
    }

    /// What is in the data folder, by name.
    pub fn list(&self) -> Vec<Found> {
        folder::list(&self.data_dir())
    }

    /// Finds what `spec` stands for. Nothing is read; but with [`download`](Locator::download), a known dataset that is
    /// not there is fetched.
    ///
    /// A word that stands for nothing is an [`Error::Call`] that says what it could have been.
    pub fn resolve(&self, spec: &str) -> Result<Located> {
        let (word, index) = split_index(spec);
        if word == STDIN {
            return Ok(Located { what: What::File(STDIN.into()), index });
        }
        if is_path(spec) || is_path(word) {
            return self.path(spec, word, index);
        }
        let name = word.split_once(':').map_or(word, |(name, _)| name);
        if generate::find(name).is_some() {
            return Ok(Located { what: What::Generator(word.into()), index });
        }
        // A file of the data folder may itself have a name that ends in a colon and digits.
        for (name, index) in [(spec, None), (word, index)] {
            if let Some(path) = folder::lookup(&self.data_dir(), name)? {
                return Ok(Located { what: What::File(path), index });
            }
        }
        let Some(known) = fetch::find(word) else { return Err(self.unknown(word)) };
        if let Some(path) = folder::lookup(&self.data_dir(), &known.name)? {
            return Ok(Located { what: What::File(path), index });
        }
        if !self.download {
            return Err(Error::NotDownloaded { name: known.name.clone(), folder: self.data_dir() });
        }
        let options = GetOptions { progress: self.progress.clone(), ..GetOptions::new(self.data_dir()) };
        Ok(Located { what: What::File(fetch::get_known(known, &options)?.path), index })
    }

    /// Reads or makes what `spec` stands for; one graph of it is a dataset of one graph, by the name of the whole.
    pub fn load(&self, spec: &str) -> Result<Dataset> {
        let located = self.resolve(spec)?;
        let dataset = match &located.what {
            What::File(path) => format::read(path, &self.read)?,
            What::Generator(spec) => format::with_labels(generate::generate(spec)?, &self.read)?,
        };
        let Some(index) = located.index else { return Ok(dataset) };
        match u32::try_from(index) {
            Ok(index) => dataset.subset(&[index]),
            Err(_) => Err(Error::call(format!(
                "`{spec}`: no such graph in {}, which has {} (numbered from 0)",
                dataset.name(),
                dataset.len()
            ))),
        }
    }

    fn path(&self, spec: &str, word: &str, index: Option<usize>) -> Result<Located> {
        for (path, index) in [(spec, None), (word, index)] {
            match std::fs::metadata(path) {
                Ok(_) => return Ok(Located { what: What::File(path.into()), index }),
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                // Nothing of that name can be there; what it can be is for the message to say.
                Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidFilename) => {}
                Err(e) => return Err(Error::io(path, e)),
            }
        }
        // A collection of the data folder by its place there: brec/basic.g6.
        if Path::new(word).is_relative() && !word.starts_with('.') {
            for (path, index) in [(spec, None), (word, index)] {
                let path = self.data_dir().join(path);
                if path.exists() {
                    return Ok(Located { what: What::File(path), index });
                }
            }
        }
        let mut text = format!("there is no file or folder `{word}`");
        if word.contains("://") {
            text += ": ppgn reads files, not addresses";
            return Err(Error::NoData { message: text, remedy: Remedy::NameMirror });
        }
        if let Some((name, _)) = word.rsplit_once('.').filter(|_| !is_path_by_slash(word))
            && let Ok(Some(path)) = folder::lookup(&self.data_dir(), name)
        {
            text +=
                &format!(" here; `{name}`, without an extension, is {} in the data folder", path.display());
        }
        Err(Error::call(text))
    }

    fn unknown(&self, word: &str) -> Error {
        let no_data = |message: String| Error::NoData { message, remedy: Remedy::ListData };
        if word.is_empty() {
            return no_data("no data given: name a file, a generator or a dataset".into());
        }
        if Path::new(word).exists() {
            return Error::call(format!(
                "`{word}` is neither a generator nor a dataset in {}; for the file or folder of that name here, write \
                 `./{word}`",
                self.data_dir().display()
            ));
        }
        let name = word.split_once(':').map_or(word, |(name, _)| name);
        let found = self.list();
        let known = fetch::known().iter().map(|k| k.name.as_str());
        let candidates = generate::generators().iter().map(|g| g.name);
        let candidates = candidates.chain(known).chain(found.iter().map(|f| f.name.as_str()));
        let guess = nearest(name, candidates);
        let guess = guess.map_or(String::new(), |guess| format!("; did you mean `{guess}`?"));
        // Only generators have settings.
        let generator = if name == word { "a generator" } else { "a generator (`name:key=value,...`)" };
        no_data(format!(
            "`{name}` is not {generator}, not a dataset in {}, and not a file (a file has a slash, as in ./{name}, or an \
             extension, as in {name}.g6){guess}",
            self.data_dir().display()
        ))
    }
}

/// `WORD:7` as (`WORD`, 7); a number beyond all graphs where the digits are too many.
///
/// ```
/// use ppgn_graph::locate::split_index;
/// assert_eq!(split_index("cfi:base=k4:1"), ("cfi:base=k4", Some(1)));
/// assert_eq!(split_index("MUTAG"), ("MUTAG", None));
/// ```
pub fn split_index(spec: &str) -> (&str, Option<usize>) {
    match spec.rsplit_once(':') {
        Some((word, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            (word, Some(digits.parse().unwrap_or(usize::MAX)))
        }
        _ => (spec, None),
    }
}

fn is_path(word: &str) -> bool {
    is_path_by_slash(word) || folder::has_known_extension(word)
}

fn is_path_by_slash(word: &str) -> bool {
    word.contains(std::path::is_separator) || matches!(word, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_digits_after_the_last_colon() {
        for (spec, word, index) in [
            ("a.g6:7", "a.g6", Some(7)),
            ("cfi:base=k4:0", "cfi:base=k4", Some(0)),
            ("cfi:base=k4", "cfi:base=k4", None),
            ("a:", "a:", None),
            ("a:-1", "a:-1", None),
            ("a:7x", "a:7x", None),
            (":7", "", Some(7)),
            ("a:99999999999999999999999", "a", Some(usize::MAX)),
            ("", "", None),
        ] {
            assert_eq!(split_index(spec), (word, index), "{spec}");
        }
    }

    #[test]
    fn files_have_a_slash_or_an_ending() {
        for file in ["./x", "a/b", "/x", "x.g6", "X.ZIP", "a.b.jsonl", ".", "..", "http://h/x"] {
            assert!(is_path(file), "{file}");
        }
        for other in ["x", "MUTAG", "gnp:n=10,p=0.5", "cfi:base=k4", ".g6", "x.part", ""] {
            assert!(!is_path(other), "{other}");
        }
    }
}
