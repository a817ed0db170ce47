//! Runs whose pages are open: each is followed, so that an answer costs what was written since the last one, and what is
//! remembered of a run of any length is bounded.

use crate::error::Answer;
use crate::thinned::Thinned;
use ppgn_train::{Epoch, Follower, Keep, Overview};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs at the same time; of more, the one that was looked at least recently is forgotten.
const AT_ONCE: usize = 32;
/// How long a run is remembered after its last use.
const KEPT: Duration = Duration::from_secs(60);
/// Epochs of an answer, at most.
const POINTS: usize = 1000;
/// The bytes of their lines, at most.
const BYTES: usize = 384 << 10;

/// The runs that somebody looks at.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    runs: Mutex<HashMap<PathBuf, Known>>,
    readings: AtomicU64,
}

#[derive(Debug)]
struct Known {
    follower: Arc<Mutex<Follower<Lines>>>,
    used: Instant,
}

/// The lines of the epochs that an answer has.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Another number for every time that the epochs were read from the first: a page that has epochs of another reading needs
    /// all of them.
    reading: u64,
    cleared: u64,
    lines: Thinned<Box<str>>,
}

impl Keep for Lines {
    fn clear(&mut self) {
        self.cleared += 1;
        self.lines.clear();
    }

    fn add(&mut self, epoch: &Epoch, line: &str) {
        self.lines.push(epoch.epoch, line.into(), line.len());
    }
}

/// What a page gets of the epochs.
pub(crate) struct Lately {
    pub(crate) overview: Overview,
    /// The name of the reading that they are of.
    pub(crate) reading: String,
    /// The distance between them.
    pub(crate) step: usize,
    /// After which epoch they begin.
    pub(crate) from: usize,
    /// Lines of `metrics.jsonl`, at equal distances.
    pub(crate) lines: Vec<Box<str>>,
    /// The lines of the best and of the last epoch.
    pub(crate) extra: Vec<Box<str>>,
}

impl Followed {
    /// Looks at a run: its epochs after `from`, if the page has those before it from the same reading, else all.
    pub(crate) fn look(&self, path: &Path, from: usize, reading: Option<&str>) -> Answer<Lately> {
        let follower = self.follower(path);
        let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
        let overview = follower.look()?;
        let kept = follower.kept();
        let name = format!("{}.{}", kept.reading, kept.cleared);
        let from = if reading == Some(&name) { from } else { 0 };
        let lines =
            kept.lines.kept().filter(|(epoch, _)| *epoch > from).map(|(_, line)| line.clone()).collect();
        let best = follower.best().and_then(|best| serde_json::to_string(best).ok()).map(String::into);
        let last = kept.lines.last().map(|(_, line)| line.clone());
        let extra = best.into_iter().chain(last).collect();
        Ok(Lately { overview, reading: name, step: kept.lines.step(), from, lines, extra })
    }

    fn follower(&self, path: &Path) -> Arc<Mutex<Follower<Lines>>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = runs.get_mut(path) {
            known.used = Instant::now();
            return known.follower.clone();
        }
        while runs.len() >= AT_ONCE {
            let oldest = runs.iter().min_by_key(|(_, known)| known.used).map(|(path, _)| path.clone());
            oldest.map(|path| runs.remove(&path));
        }
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        let kept = Lines { reading, cleared: 0, lines: Thinned::new(POINTS, BYTES) };
        let follower = Arc::new(Mutex::new(Follower::new(path, kept)));
        runs.insert(path.to_path_buf(), Known { follower: follower.clone(), used: Instant::now() });
        follower
    }

    /// Forgets runs that nobody looked at for a while.
    pub(crate) fn forget_unused(&self) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|_, known| known.used.elapsed() < KEPT);
    }
}
