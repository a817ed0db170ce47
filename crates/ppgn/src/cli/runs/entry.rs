//! A run, or the runs of a cross-validation or of several seeds together, as one entry of a list: the fields of `ppgn runs
//! --json`.

use super::find::natural;
use super::group::{Group, group};
use crate::cli::output::{self, by_target};
use ppgn::train::{Error, Goal, Overview, Status, headline, mean_error};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One line of the list.
pub(super) struct Entry {
    /// Its folder.
    pub(super) path: PathBuf,
    /// The fields.
    pub(super) fields: Value,
    /// All settings, nested as in `config.toml`.
    pub(super) settings: Value,
    /// What its result is for people; empty if there is none yet.
    pub(super) result: String,
    /// The number that its result is sorted by: lower is better.
    pub(super) rank: Option<f64>,
    /// Its state for people, or why it cannot be read.
    pub(super) state: Result<String, String>,
    /// What it is one of, if its folder is called accordingly.
    pub(super) member: Option<Group>,
}

impl Entry {
    /// Looks at a run folder.
    pub(super) fn of(path: PathBuf) -> Self {
        let looked = Overview::of(&path);
        let fields = to_json(&path, &looked);
        let run = match looked {
            Ok(run) => run,
            Err(error) => {
                let (settings, state) = (Value::Null, Err(error.to_string()));
                return Entry {
                    path,
                    fields,
                    settings,
                    result: String::new(),
                    rank: None,
                    state,
                    member: None,
                };
            }
        };
        let state = match run.status {
            Status::Stopped => format!("stopped at {}", run.epochs),
            Status::Running => format!("running, {} done", run.epochs),
            status => status.name().to_string(),
        };
        let best = run.best.as_ref().map(|best| best.reported());
        let result = best.map(|(part, figures)| format!("{part} {}", headline(&run.settings, figures)));
        let rank = best.map(|(_, part)| {
            let error = mean_error(&run.settings, part).unwrap_or(part.loss);
            part.accuracy.map_or(error, |accuracy| -accuracy)
        });
        let division = run.settings.trained().map(|trained| &trained.division);
        Entry {
            member: Group::of_member(&path, division, run.settings.training.seed),
            settings: serde_json::to_value(&run.settings).unwrap_or_default(),
            result: result.unwrap_or_default(),
            state: Ok(state),
            path,
            fields,
            rank,
        }
    }

    /// A field by its name, or by names with dots between them; else a setting by its name in `config.toml`.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        find_in(&self.fields, key).or_else(|| find_in(&self.settings, key))
    }

    /// A field as text; `-` where it has none.
    pub(super) fn text(&self, key: &str) -> String {
        match self.fields.get(key) {
            None | Some(Value::Null) => "-".into(),
            Some(value) => plain(value),
        }
    }

    /// Whether it is several runs.
    pub(super) fn is_group(&self, kind: Group) -> bool {
        self.fields.get(kind.members()).is_some()
    }
}

fn find_in<'a>(root: &'a Value, key: &str) -> Option<&'a Value> {
    // A whole name first: names of targets may have dots.
    root.get(key).or_else(|| key.split('.').try_fold(root, |at, name| at.get(name)))
}

/// A value as a cell of a table.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Entries in which the folds of a cross-validation (`fold-1`, `fold-2` ... of one folder) are one, and so are the runs of
/// several seeds (`seed-0`, `seed-1` ...).
pub(super) fn folded(entries: Vec<Entry>) -> Vec<Entry> {
    let mut rows: Vec<Entry> = Vec::new();
    let mut rest = entries.into_iter().peekable();
    while let Some(entry) = rest.next() {
        let (Some(kind), Some(folder)) = (entry.member, entry.path.parent().map(Path::to_path_buf)) else {
            rows.push(entry);
            continue;
        };
        let mut members = vec![entry];
        while let Some(next) = rest.next_if(|next| next.path.parent() == Some(&folder)) {
            match next.member == Some(kind) {
                true => members.push(next),
                // A damaged one has a line of its own.
                false => rows.push(next),
            }
        }
        members.sort_by(|a, b| natural(&a.path.to_string_lossy(), &b.path.to_string_lossy()));
        rows.push(group(kind, folder, members));
    }
    rows
}

fn to_json(path: &Path, run: &Result<Overview, Error>) -> Value {
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            return json!({ "run": output::path(path), "state": "damaged", "error": error.to_string() });
        }
    };
    let s = &run.settings;
    let mut object = json!({
        "run": output::path(path),
        "state": run.status.name(),
        "dataset": s.dataset,
        "preset": s.preset(),
        "division": s.trained().map(|trained| trained.division.to_string()),
        "limit": s.trained().and_then(|trained| trained.limit),
        "seed": s.training.seed,
        "epochs": s.training.epochs,
        "epochs_done": run.epochs,
        "batch": s.training.batch,
        "rate": s.training.rate,
        "decay": s.training.decay,
        "precision": s.training.precision.name(),
        "encoding": s.encoding.kind.name(),
        "blocks": s.network.blocks.iter().map(|b| b.width).collect::<Vec<_>>(),
        "depth": s.network.depth,
        "seconds": run.seconds,
    });
    if let Some(best) = &run.best {
        let (part, figures) = best.reported();
        object["best_epoch"] = best.epoch.into();
        object["part"] = part.into();
        object["loss"] = figures.loss.into();
        match (&s.goal, figures.accuracy) {
            (Goal::Targets(targets), _) => {
                let names: Vec<String> = targets.iter().map(|t| t.name.clone()).collect();
                object["mae"] = by_target(&names, &figures.mae);
            }
            (Goal::Classes(_) | Goal::Labels(_), accuracy) => object["accuracy"] = accuracy.into(),
        }
    }
    object
}
