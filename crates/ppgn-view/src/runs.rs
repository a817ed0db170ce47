//! The list of runs: a row per run and per cross-validation or search, read again only where files have changed.
//!
//! A look at the folder finds which runs are new or have changed; these are read a hundred at a time, in the order of the list,
//! so that the first rows of a thousand runs are there before the last one was read. Every look that finds something has a
//! number, the version: a page that has a list of some version asks for what came after it.

use crate::answer::name_of;
use crate::error::{Answer, Failure};
use crate::place::Place;
use crate::thinned::Thinned;
use ppgn_graph::text::natural;
use ppgn_train::listing::{Entry, Group, folded, runs_in};
use ppgn_train::{Epoch, Follower, Keep, Overview, Settings};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Points of a sparkline, at most.
const POINTS: usize = 40;
/// Runs that are listed, at most.
const MOST: usize = 20_000;
/// Runs that are read before anybody else gets to ask.
const AT_A_TIME: usize = 100;
/// Rows of an answer: the first ones are fewer, so that there is something to see.
const FIRST: usize = 100;
const ROWS: usize = 500;
/// Cross-validations and searches of an answer, at most.
const GROUPS: usize = 1000;
/// The folder is not looked at again within this time.
const FRESH: Duration = Duration::from_millis(200);

/// What is known of the folder.
#[derive(Debug)]
pub(crate) struct Runs {
    place: Place,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Counts the looks that found something new.
    version: u64,
    /// When the folder was looked at last.
    looked: Option<Instant>,
    root: PathBuf,
    /// All runs, in the order of the list.
    order: Vec<PathBuf>,
    /// How many there are, listed or not.
    total: usize,
    rows: BTreeMap<PathBuf, Row>,
    /// Runs that the last look found new or changed, with their places in the order, and that were not read yet.
    unread: VecDeque<(usize, Stamp)>,
    /// Runs that are gone, by their names, with the version that noticed it.
    gone: Vec<(String, u64)>,
    groups: Vec<Value>,
    groups_version: u64,
    /// When the result of a protocol was written last.
    reported: Option<SystemTime>,
}

#[derive(Debug)]
struct Row {
    stamp: Stamp,
    version: u64,
    entry: Entry,
    json: Value,
    /// Of a run that trains: it will change again.
    follower: Option<Follower<Spark>>,
}

/// The curve of the list.
#[derive(Debug)]
struct Spark {
    points: Thinned<f64>,
    what: &'static str,
}

impl Default for Spark {
    fn default() -> Self {
        Spark { points: Thinned::new(POINTS, usize::MAX), what: "loss" }
    }
}

/// What the best epoch is selected by, epoch by epoch: the accuracy where there is one, else the loss.
impl Keep for Spark {
    fn clear(&mut self) {
        *self = Spark::default();
    }

    fn add(&mut self, epoch: &Epoch, _: &str) {
        let part = epoch.selected_on();
        if part.accuracy.is_some() {
            self.what = "accuracy";
        }
        self.points.push(epoch.epoch, part.accuracy.unwrap_or(part.loss), 0);
    }
}

impl Spark {
    fn to_json(&self) -> Value {
        let mut points: Vec<(usize, f64)> = self.points.kept().map(|(epoch, y)| (epoch, *y)).collect();
        points.extend(self.points.last().map(|(epoch, y)| (epoch, *y)));
        points.dedup();
        json!({ "what": self.what, "values": points.iter().map(|(_, y)| y).collect::<Vec<_>>() })
    }
}

/// When files were changed last, and how long they are: a run that has the same is not read again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    files: [Option<(u64, SystemTime)>; 6],
    running: bool,
}

impl Stamp {
    fn of(run: &Path) -> Self {
        let seen = |name: &str| {
            let found = std::fs::metadata(run.join(name)).ok()?;
            Some((found.len(), found.modified().unwrap_or(SystemTime::UNIX_EPOCH)))
        };
        let files = [
            seen("config.toml"),
            seen("metrics.jsonl"),
            seen("timing.jsonl"),
            seen("checkpoint/model.safetensors"),
            seen("checkpoint/state.json"),
            seen("summary.json"),
        ];
        Stamp { running: files[5].is_none() && Overview::is_running(run), files }
    }
}

impl Runs {
    pub(crate) fn new(place: Place) -> Self {
        Runs { place, known: Mutex::default() }
    }

    /// `runs?after=NAME`: the rows that come after a run in the list, the first ones without a name; `next` is the name to go on
    /// with, if there are more. Whoever asks on for a run that is gone has to begin anew.
    pub(crate) fn list(&self, after: Option<&str>) -> Answer {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.look(known);
        let from = match after {
            None => 0,
            Some(name) => {
                let at = known.order.iter().position(|run| name_of(&known.root, run) == name);
                at.ok_or_else(|| Failure::gone(format!("there is no run `{name}` any more")))? + 1
            }
        };
        let end = from + if from == 0 { FIRST } else { ROWS };
        while known.unread.front().is_some_and(|(place, _)| *place < end) {
            known = self.read_some(known);
        }
        if known.groups_version == 0 {
            self.group(&mut known);
        }
        let shown = &known.order[from.min(known.order.len())..end.min(known.order.len())];
        let next = shown.last().filter(|_| end < known.order.len()).map(|run| name_of(&known.root, run));
        Ok(json!({
            "version": known.version,
            "rows": shown.iter().filter_map(|run| Some(&known.rows.get(run)?.json)).collect::<Vec<_>>(),
            "groups": known.groups,
            "runs": known.order.len(),
            "left_out": known.total - known.order.len(),
            "next": next,
        }))
    }

    /// Reads everything, a few runs at a time, while others may ask.
    pub(crate) fn read_ahead(&self) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.look(known));
        loop {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.unread.is_empty() {
                return;
            }
            drop(self.read_some(known));
            // The lock is not fair: whoever waits for it gets it in this time.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The version now, and the rows that are newer than one; nothing where there are none.
    pub(crate) fn news(&self, since: u64) -> (u64, Option<String>) {
        let known = self.all();
        let version = known.version;
        if version <= since {
            return (version, None);
        }
        let rows: Vec<&Value> =
            known.rows.values().filter(|row| row.version > since).map(|row| &row.json).collect();
        let gone: Vec<&str> = known
            .gone
            .iter()
            .filter(|(_, version)| *version > since)
            .map(|(name, _)| name.as_str())
            .collect();
        if rows.len() > ROWS || gone.len() > ROWS {
            // The page asks for the list again.
            return (version, Some(json!({ "version": version, "all": true }).to_string()));
        }
        let mut news = json!({ "version": version, "rows": rows, "gone": gone });
        if known.groups_version > since {
            news["groups"] = known.groups.clone().into();
        }
        (version, Some(news.to_string()))
    }

    /// The rows of the runs in a folder, in natural order, at most a number of them.
    pub(crate) fn members(&self, folder: &Path, most: usize) -> Vec<Value> {
        let known = self.all();
        let mut inside: Vec<&Row> =
            known.rows.iter().filter(|(run, _)| run.parent() == Some(folder)).map(|(_, row)| row).collect();
        inside.sort_by(|a, b| natural(&a.entry.path.to_string_lossy(), &b.entry.path.to_string_lossy()));
        inside.iter().take(most).map(|row| row.json.clone()).collect()
    }

    /// Everything that is in the folder now.
    fn all(&self) -> MutexGuard<'_, Known> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = self.look(known);
        while !known.unread.is_empty() {
            known = self.read_some(known);
        }
        known
    }

    /// Looks which runs have changed, if what the last look found was read.
    fn look<'a>(&self, mut known: MutexGuard<'a, Known>) -> MutexGuard<'a, Known> {
        if !known.unread.is_empty() || known.looked.is_some_and(|looked| looked.elapsed() < FRESH) {
            return known;
        }
        let root = self.place.runs();
        let mut found = root.as_ref().and_then(|root| runs_in(root).ok()).unwrap_or_default();
        known.total = found.len();
        found.truncate(MOST);
        let stamps: Vec<Stamp> = found.par_iter().map(|run| Stamp::of(run)).collect();
        let changed: VecDeque<(usize, Stamp)> = found
            .iter()
            .zip(stamps)
            .enumerate()
            .filter(|(_, (run, stamp))| known.rows.get(*run).is_none_or(|row| row.stamp != *stamp))
            .map(|(place, (_, stamp))| (place, stamp))
            .collect();
        let there: BTreeSet<&PathBuf> = found.iter().collect();
        let gone: Vec<PathBuf> = known.rows.keys().filter(|run| !there.contains(run)).cloned().collect();
        known.root = root.unwrap_or_default();
        let reported = groups_of(&known.root, &found).iter().filter_map(|group| group.stamp).max();
        known.order = found;
        let nothing_new = changed.is_empty() && gone.is_empty() && reported == known.reported;
        if !nothing_new {
            known.reported = reported;
            known.version += 1;
            let version = known.version;
            for run in &gone {
                known.rows.remove(run);
                let name = name_of(&known.root, run);
                known.gone.push((name, version));
            }
            // A page that missed more than this asks for the whole list anyway.
            let excess = known.gone.len().saturating_sub(2 * ROWS);
            known.gone.drain(..excess);
            known.unread = changed;
            if known.unread.is_empty() {
                self.group(&mut known);
            }
        }
        known.looked = Some(Instant::now());
        known
    }

    /// Reads the next runs that have changed, and after the last one what groups there are.
    fn read_some<'a>(&self, mut known: MutexGuard<'a, Known>) -> MutexGuard<'a, Known> {
        let version = known.version;
        let count = known.unread.len().min(AT_A_TIME);
        let next: Vec<(usize, Stamp)> = known.unread.drain(..count).collect();
        let next: Vec<(PathBuf, Stamp, Option<Follower<Spark>>)> = next
            .into_iter()
            .map(|(place, stamp)| {
                let run = known.order[place].clone();
                let follower = known.rows.get_mut(&run).and_then(|row| row.follower.take());
                (run, stamp, follower)
            })
            .collect();
        let root = known.root.clone();
        let read: Vec<(PathBuf, Row)> = next
            .into_par_iter()
            .map(|(run, stamp, follower)| {
                let row = self.read(&root, &run, stamp, version, follower);
                (run, row)
            })
            .collect();
        known.rows.extend(read);
        if known.unread.is_empty() {
            self.group(&mut known);
            // Reading takes longer than looking.
            known.looked = Some(Instant::now());
        }
        known
    }

    /// Finds out which runs belong together.
    fn group(&self, known: &mut Known) {
        // The report of a protocol is read too: it must not be a link that leads outside.
        let closed: BTreeSet<&Path> = known
            .order
            .iter()
            .filter_map(|run| run.parent())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter(|folder| self.place.sound(folder).is_ok())
            .collect();
        let entries: Vec<Entry> = known
            .order
            .iter()
            .filter(|run| run.parent().is_some_and(|folder| closed.contains(folder)))
            .filter_map(|run| Some(known.rows.get(run)?.entry.clone()))
            .collect();
        let mut rows = group_rows(&known.root, entries, &groups_of(&known.root, &known.order));
        rows.truncate(GROUPS);
        if rows != known.groups || known.groups_version == 0 {
            (known.groups, known.groups_version) = (rows, known.version);
        }
    }

    fn read(
        &self,
        root: &Path,
        run: &Path,
        stamp: Stamp,
        version: u64,
        follower: Option<Follower<Spark>>,
    ) -> Row {
        let mut follower = follower.unwrap_or_else(|| Follower::new(run, Spark::default()));
        let looked = match self.place.sound(run) {
            Ok(()) => follower.look(),
            Err(failure) => Err(ppgn_train::Error::Run { path: run.to_path_buf(), message: failure.message }),
        };
        let data = looked.as_ref().ok().and_then(|overview| data_name(root, &overview.settings));
        let mut entry = Entry::new(run.to_path_buf(), looked);
        entry.settings = Value::Null;
        let name = name_of(root, run);
        let json = json!({
            "run": name,
            "data": data,
            "result": entry.result,
            "rank": entry.rank,
            "state": entry.state.as_ref().ok(),
            "error": entry.state.as_ref().err(),
            "fields": fields(&entry, &name),
            "spark": follower.kept().to_json(),
        });
        let follower = stamp.running.then_some(follower);
        Row { stamp, version, entry, json, follower }
    }
}

/// A name by which the page finds the data of a run: as it was given; for the path of a file, that below the folder of the runs or
/// else the dataset's own.
fn data_name(root: &Path, settings: &Settings) -> Option<String> {
    let data = &settings.trained()?.data;
    let path = Path::new(data);
    Some(match (path.is_absolute(), path.strip_prefix(root)) {
        (false, _) => data.clone(),
        (true, Ok(below)) => below.display().to_string(),
        (true, Err(_)) => settings.dataset.clone(),
    })
}

fn fields(entry: &Entry, name: &str) -> Value {
    let mut fields = entry.fields.clone();
    fields["run"] = name.into();
    fields
}

/// A folder whose runs belong together.
struct Reported {
    folder: PathBuf,
    kind: &'static str,
    stamp: Option<SystemTime>,
}

/// The folders of runs that have the result of a protocol in them.
fn groups_of(root: &Path, runs: &[PathBuf]) -> Vec<Reported> {
    let folders: BTreeSet<&Path> =
        runs.iter().filter_map(|run| run.parent()).filter(|folder| folder.starts_with(root)).collect();
    let of = |folder: &Path, kind: &'static str, file: &str| {
        let found = std::fs::symlink_metadata(folder.join(file)).ok().filter(|found| found.is_file())?;
        Some(Reported { folder: folder.to_path_buf(), kind, stamp: found.modified().ok() })
    };
    folders
        .into_iter()
        .filter_map(|folder| {
            of(folder, "cv", "cv.json")
                .or_else(|| of(folder, "seeds", "seeds.json"))
                .or_else(|| of(folder, "search", "search.json"))
        })
        .collect()
}

/// A row per cross-validation, begun or finished, and per finished search.
fn group_rows(root: &Path, entries: Vec<Entry>, groups: &[Reported]) -> Vec<Value> {
    // The members themselves are the rows whose folder it is.
    let members = |folder: &Path| entries.iter().filter(|entry| entry.path.parent() == Some(folder)).count();
    let mut rows = Vec::new();
    for group in groups.iter().filter(|group| group.kind == "search") {
        let name = name_of(root, &group.folder);
        let first = entries.iter().find(|entry| entry.path.parent() == Some(&group.folder));
        let dataset = first.and_then(|entry| entry.fields.get("dataset").cloned());
        let members = members(&group.folder);
        let fields = json!({ "run": name, "state": "finished", "dataset": dataset, "trials": members });
        rows.push(json!({ "run": name, "kind": "search", "members": members, "fields": fields }));
    }
    for entry in &folded(entries.clone()) {
        let kind = match (entry.is_group(Group::Folds), entry.is_group(Group::Seeds)) {
            (true, _) => "cv",
            (_, true) => "seeds",
            _ => continue,
        };
        let (name, members) = (name_of(root, &entry.path), members(&entry.path));
        // The average over several cross-validations has no runs of its own.
        if members == 0 {
            continue;
        }
        rows.push(json!({
            "run": name,
            "kind": kind,
            "members": members,
            "result": entry.result,
            "rank": entry.rank,
            "state": entry.state.as_ref().ok(),
            "fields": fields(entry, &name),
        }));
    }
    rows
}
