//! A run that is looked at again and again while it is being trained: each look reads what was written since the last one.
//!
//! Settings, state and summary are read again when their files have changed. Of `metrics.jsonl` and `timing.jsonl`, which grow
//! by a line per epoch, only the new lines are read: the place up to which they are known is remembered, with the digest of the
//! lines before it, which must be the one that the checkpoint has. Where a file became shorter or was replaced, was written but
//! did not grow, where the checkpoint went back, or where the digest is not the checkpoint's, everything is read anew. A look
//! costs as much as its news, and what is remembered does not grow: whoever follows decides by a [`Keep`] what stays.

use super::integrity::{checkpoint_file, hex};
use super::lock::is_locked;
use super::prune::state_file;
use super::read::{epoch_of, other_lines, read_config, read_state_of, seconds_of, too_few};
use super::{Run, State, Summary};
use crate::error::{Error, Result};
use crate::metrics::Epoch;
use crate::overview::{Overview, Status};
use crate::settings::Settings;
use ppgn_graph::file::open_regular;
use sha2::{Digest, Sha256};
use std::fs::Metadata;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What is kept of the epochs of a run.
pub trait Keep {
    /// Forgets everything: the epochs come again, from the first.
    fn clear(&mut self);
    /// The next epoch, with its line in `metrics.jsonl`.
    fn add(&mut self, epoch: &Epoch, line: &str);
}

/// Keeps nothing.
impl Keep for () {
    fn clear(&mut self) {}
    fn add(&mut self, _: &Epoch, _: &str) {}
}

/// A run folder with what is known of it.
///
/// ```no_run
/// let mut run = ppgn_train::Follower::new("runs/long", ());
/// println!("{} epochs", run.look()?.epochs);
/// // Reads what was written in between.
/// println!("{} epochs", run.look()?.epochs);
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug)]
pub struct Follower<K> {
    path: PathBuf,
    kept: K,
    settings: Seen<(Settings, String)>,
    summary: Seen<Option<Summary>>,
    state: Seen<Option<State>>,
    metrics: Tail,
    hash: Sha256,
    epochs: usize,
    best: Option<Epoch>,
    timing: Tail,
    seconds: f64,
}

impl<K: Keep> Follower<K> {
    /// A run folder that was not looked at yet.
    pub fn new(path: impl Into<PathBuf>, kept: K) -> Self {
        Follower {
            path: path.into(),
            kept,
            settings: Seen::default(),
            summary: Seen::default(),
            state: Seen::default(),
            metrics: Tail::default(),
            hash: Sha256::new(),
            epochs: 0,
            best: None,
            timing: Tail::default(),
            seconds: 0.0,
        }
    }

    /// What was kept of the epochs so far.
    pub fn kept(&self) -> &K {
        &self.kept
    }

    /// The epoch that is the best so far, as of the last look.
    pub fn best(&self) -> Option<&Epoch> {
        self.best.as_ref()
    }

    /// Looks at the run. The result is that of [`Overview::of`]. O(bytes written since the last look).
    pub fn look(&mut self) -> Result<Overview> {
        let path = self.path.clone();
        let config = stamps([path.join("config.toml")]);
        let (settings, digest) = self.settings.get(config.clone(), || read_config(&path))?.clone();
        // The lock is read first: a run that ends in the meantime is reported as running, which it was.
        let locked = is_locked(&path);
        let summary = self.summary.get(stamps([path.join("summary.json")]), || Run::summary(&path))?.clone();
        let checkpoint = stamps([checkpoint_file(&path), state_file(&path)]);
        let state = [checkpoint, config].concat();
        let state = self.state.get(state, || read_state_of(&path, || Ok(digest)))?.clone();
        self.read_on(state.as_ref())?;
        self.read_times();
        let status = Status::of(&settings, summary.is_some(), locked);
        let epochs = self.epochs;
        Ok(Overview { settings, status, epochs, best: self.best.clone(), summary, seconds: self.seconds })
    }

    /// Reads the epochs up to the checkpoint; all of them where those that are known are others.
    fn read_on(&mut self, state: Option<&State>) -> Result<()> {
        let Some(state) = state else {
            self.forget();
            return Ok(());
        };
        let file = self.path.join("metrics.jsonl");
        let fresh = self.epochs == 0;
        if self.epochs > state.epoch || self.metrics.is_of_another(&file) {
            self.forget();
            return self.read_new(&file, state);
        }
        match self.read_new(&file, state) {
            // What is known may be of lines that are no longer there.
            Err(_) if !fresh => {
                self.forget();
                self.read_new(&file, state)
            }
            result => result,
        }
    }

    fn forget(&mut self) {
        self.kept.clear();
        (self.metrics, self.hash, self.epochs, self.best) = (Tail::default(), Sha256::new(), 0, None);
        (self.timing, self.seconds) = (Tail::default(), 0.0);
    }

    fn read_new(&mut self, file: &Path, state: &State) -> Result<()> {
        let best = state.best.as_ref().map(|best| best.epoch);
        let known = self.best.as_ref().map(|best| best.epoch);
        if best.is_some_and(|epoch| Some(epoch) != known && epoch <= self.epochs) {
            // An epoch that was passed without knowing that it would be wanted.
            self.forget();
        }
        let result = self.read_lines(file, state.epoch, best);
        if let Err(error) = result {
            self.forget();
            return Err(error);
        }
        let digest = state.digests.as_ref().map(|digests| digests.metrics.as_str());
        let found = hex(&self.hash.clone().finalize());
        match digest.is_none_or(|digest| digest == found) {
            true => Ok(()),
            false => {
                self.forget();
                Err(other_lines(file))
            }
        }
    }

    fn read_lines(&mut self, file: &Path, epochs: usize, best: Option<usize>) -> Result<()> {
        if self.epochs == epochs {
            return Ok(());
        }
        let mut lines = self.metrics.lines(file)?;
        while self.epochs < epochs {
            let Some(line) = lines.next()? else { return Err(too_few(file, self.epochs, epochs)) };
            let epoch = epoch_of(file, line, self.epochs + 1)?;
            self.hash.update(line);
            self.epochs += 1;
            self.kept.add(&epoch, std::str::from_utf8(line).unwrap_or_default().trim_end());
            if best == Some(self.epochs) {
                self.best = Some(epoch);
            }
        }
        lines.end();
        Ok(())
    }

    /// Adds the seconds of new epochs. Nothing depends on them, so what cannot be read is left out.
    fn read_times(&mut self) {
        let file = self.path.join("timing.jsonl");
        if self.timing.is_of_another(&file) {
            (self.timing, self.seconds) = (Tail::default(), 0.0);
        }
        let Ok(mut lines) = self.timing.lines(&file) else { return };
        while let Ok(Some(line)) = lines.next() {
            if !line.ends_with(b"\n") {
                break;
            }
            self.seconds += seconds_of(line).unwrap_or(0.0);
        }
        lines.end();
    }
}

/// A value that was read from files, with what they looked like.
#[derive(Debug)]
struct Seen<T>(Option<(Vec<Option<Stamp>>, T)>);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Seen(None)
    }
}

impl<T> Seen<T> {
    /// The value; `read` again where the files are others than those it was read from.
    fn get(&mut self, stamps: Vec<Option<Stamp>>, read: impl FnOnce() -> Result<T>) -> Result<&T> {
        let known = self.0.take().filter(|(seen, _)| *seen == stamps);
        let known = match known {
            Some(known) => known,
            None => (stamps, read()?),
        };
        Ok(&self.0.insert(known).1)
    }
}

/// Which file it is, how long, and when it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    file: u64,
    length: u64,
    written: Option<SystemTime>,
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        std::fs::metadata(file).ok().as_ref().map(Stamp::from)
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Stamp { file: identity(found), length: found.len(), written: found.modified().ok() }
    }
}

fn stamps<const N: usize>(files: [PathBuf; N]) -> Vec<Option<Stamp>> {
    files.iter().map(|file| Stamp::of(file)).collect()
}

/// A number by which a file differs from the one that it replaced, where the system has one.
#[cfg(unix)]
fn identity(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> u64 {
    0
}

/// A file that grows by lines, and the place up to which it was read.
#[derive(Debug, Default)]
struct Tail {
    /// The file when it was opened last.
    seen: Option<Stamp>,
    read: u64,
}

impl Tail {
    /// Whether what was read is not the beginning of the file that is there now, as far as that can be seen from outside.
    fn is_of_another(&self, file: &Path) -> bool {
        let Some(seen) = &self.seen else { return false };
        let Some(now) = Stamp::of(file) else { return true };
        now.file != seen.file
            || now.length < self.read
            || now.length == seen.length && now.written != seen.written
            || now != *seen && !self.ends_a_line(file)
    }

    /// Whether a line ends where reading has ended.
    fn ends_a_line(&self, file: &Path) -> bool {
        let Some(last) = self.read.checked_sub(1) else { return true };
        let Ok(mut opened) = open_regular(file) else { return false };
        let mut byte = [0];
        opened.seek(SeekFrom::Start(last)).is_ok() && opened.read_exact(&mut byte).is_ok() && byte == *b"\n"
    }

    /// The lines that were not read yet.
    fn lines(&mut self, file: &Path) -> Result<Lines<'_>> {
        let opened = match open_regular(file) {
            Err(ppgn_graph::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => None,
            opened => Some(opened?),
        };
        let io = |e| Error::io(file, e);
        let reader = match opened {
            None => None,
            Some(mut opened) => {
                self.seen = Some(Stamp::from(&opened.metadata().map_err(io)?));
                opened.seek(SeekFrom::Start(self.read)).map_err(io)?;
                Some(BufReader::with_capacity(1 << 16, opened))
            }
        };
        Ok(Lines { path: file.to_path_buf(), read: self.read, tail: self, reader, line: Vec::new() })
    }
}

struct Lines<'a> {
    path: PathBuf,
    tail: &'a mut Tail,
    read: u64,
    reader: Option<BufReader<std::fs::File>>,
    line: Vec<u8>,
}

impl Lines<'_> {
    /// The next line with its end. One without an end may still be being written: it comes again after the next look.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        self.line.clear();
        reader.read_until(b'\n', &mut self.line).map_err(|e| Error::io(&self.path, e))?;
        if self.line.ends_with(b"\n") {
            self.read += self.line.len() as u64;
        }
        Ok((!self.line.is_empty()).then_some(&self.line))
    }

    /// Remembers the place.
    fn end(self) {
        self.tail.read = self.read;
    }
}
