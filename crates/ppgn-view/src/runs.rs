//! The list of runs: a row per run and per cross-validation or search, read again only where files have changed.

use crate::answer::name_of;
use crate::place::Place;
use ppgn_graph::text::natural;
use ppgn_train::listing::{Entry, Group, folded, runs_in};
use ppgn_train::metrics::Epoch;
use ppgn_train::{Overview, Settings};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Points of a sparkline, at most.
const POINTS: usize = 40;

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
    rows: BTreeMap<PathBuf, Row>,
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

    /// All rows.
    pub(crate) fn list(&self) -> Value {
        let known = self.look();
        json!({
            "version": known.version,
            "rows": known.rows.values().map(|row| &row.json).collect::<Vec<_>>(),
            "groups": known.groups,
        })
    }

    /// The rows that are newer than a version, and the version now; nothing where there are none.
    pub(crate) fn news(&self, since: u64) -> Option<(u64, String)> {
        let known = self.look();
        if known.version <= since {
            return None;
        }
        let rows: Vec<&Value> =
            known.rows.values().filter(|row| row.version > since).map(|row| &row.json).collect();
        let gone: Vec<&str> = known
            .gone
            .iter()
            .filter(|(_, version)| *version > since)
            .map(|(name, _)| name.as_str())
            .collect();
        let mut news = json!({ "version": known.version, "rows": rows, "gone": gone });
        if known.groups_version > since {
            news["groups"] = known.groups.clone().into();
        }
        Some((known.version, news.to_string()))
    }

    /// The rows of the runs in a folder, in natural order.
    pub(crate) fn members(&self, folder: &Path) -> Vec<Value> {
        let known = self.look();
        let mut inside: Vec<&Row> =
            known.rows.iter().filter(|(run, _)| run.parent() == Some(folder)).map(|(_, row)| row).collect();
        inside.sort_by(|a, b| natural(&a.entry.path.to_string_lossy(), &b.entry.path.to_string_lossy()));
        inside.iter().map(|row| row.json.clone()).collect()
    }

    /// Looks at the folder, and reads what is new.
    fn look(&self) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let root = self.place.runs();
        let found = root.as_ref().and_then(|root| runs_in(root).ok()).unwrap_or_default();
        let root = root.unwrap_or_default();
        let stamps: Vec<Stamp> = found.par_iter().map(|run| Stamp::of(run)).collect();
        let changed: Vec<(&PathBuf, &Stamp)> = found
            .iter()
            .zip(&stamps)
            .filter(|(run, stamp)| known.rows.get(*run).is_none_or(|row| row.stamp != **stamp))
            .collect();
        let there: BTreeSet<&PathBuf> = found.iter().collect();
        let gone: Vec<PathBuf> = known.rows.keys().filter(|run| !there.contains(run)).cloned().collect();
        let groups = groups_of(&root, &found);
        let reported = groups.iter().filter_map(|group| group.stamp).max();
        if changed.is_empty() && gone.is_empty() && reported == known.reported {
            return known;
        }
        known.reported = reported;
        let version = known.version + 1;
        let read: Vec<(PathBuf, Row)> = changed
            .into_par_iter()
            .map(|(run, stamp)| {
                let (entry, json) = self.read(&root, run);
                (run.clone(), Row { stamp: stamp.clone(), version, entry, json })
            })
            .collect();
        known.rows.extend(read);
        for run in gone {
            known.rows.remove(&run);
            known.gone.push((name_of(&root, &run), version));
        }
        // A page that missed more than this asks for the whole list anyway.
        let excess = known.gone.len().saturating_sub(1000);
        known.gone.drain(..excess);
        // The report of a protocol is read too: it must not be a link that leads outside.
        let closed: BTreeSet<&Path> = found
            .iter()
            .filter_map(|run| run.parent())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter(|folder| self.place.sound(folder).is_ok())
            .collect();
        let entries: Vec<Entry> = found
            .iter()
            .filter(|run| run.parent().is_some_and(|folder| closed.contains(folder)))
            .filter_map(|run| Some(known.rows.get(run)?.entry.clone()))
            .collect();
        let rows = group_rows(&root, entries, &groups);
        if rows != known.groups {
            (known.groups, known.groups_version) = (rows, version);
        }
        known.version = version;
        known
    }

    fn read(&self, root: &Path, run: &Path) -> (Entry, Value) {
        let looked = match self.place.sound(run) {
            Ok(()) => Overview::with_epochs(run),
            Err(failure) => Err(ppgn_train::Error::Run { path: run.to_path_buf(), message: failure.message }),
        };
        let (looked, epochs) = match looked {
            Ok((overview, epochs)) => (Ok(overview), epochs),
            Err(error) => (Err(error), Vec::new()),
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
            "spark": spark(&epochs),
        });
        (entry, json)
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

/// What the best epoch is selected by, epoch by epoch: the accuracy where there is one, else the loss. Of many epochs, some
/// at equal distances and the last.
fn spark(epochs: &[Epoch]) -> Value {
    let value = |epoch: &Epoch| {
        let part = epoch.selected_on();
        part.accuracy.unwrap_or(part.loss)
    };
    let step = epochs.len().div_ceil(POINTS).max(1);
    let mut values: Vec<f64> = epochs.iter().step_by(step).map(value).collect();
    if let Some(last) = epochs.last().filter(|_| epochs.len() % step != 1 && step > 1) {
        values.push(value(last));
    }
    let what = match epochs.first().map(|epoch| epoch.selected_on().accuracy.is_some()) {
        Some(true) => "accuracy",
        _ => "loss",
    };
    json!({ "what": what, "values": values })
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
    let members = |folder: &Path| -> Vec<String> {
        let inside = entries.iter().filter(|entry| entry.path.parent() == Some(folder));
        inside.map(|entry| name_of(root, &entry.path)).collect()
    };
    let mut rows = Vec::new();
    for group in groups.iter().filter(|group| group.kind == "search") {
        let name = name_of(root, &group.folder);
        let first = entries.iter().find(|entry| entry.path.parent() == Some(&group.folder));
        let dataset = first.and_then(|entry| entry.fields.get("dataset").cloned());
        let members = members(&group.folder);
        let fields = json!({ "run": name, "state": "finished", "dataset": dataset, "trials": members.len() });
        rows.push(json!({ "run": name, "kind": "search", "members": members, "fields": fields }));
    }
    for entry in &folded(entries.clone()) {
        let kind = match (entry.is_group(Group::Folds), entry.is_group(Group::Seeds)) {
            (true, _) => "cv",
            (_, true) => "seeds",
            _ => continue,
        };
        let name = name_of(root, &entry.path);
        rows.push(json!({
            "run": name,
            "kind": kind,
            "members": members(&entry.path),
            "result": entry.result,
            "rank": entry.rank,
            "state": entry.state.as_ref().ok(),
            "fields": fields(entry, &name),
        }));
    }
    rows
}
