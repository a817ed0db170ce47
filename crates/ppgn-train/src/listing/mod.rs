//! The runs of a folder as a list: a run, or the runs of a cross-validation or of several seeds together, is one entry with the
//! fields of `ppgn runs --json`. The command line prints it, the local page shows it.

mod find;
mod group;

pub use find::runs_in;
pub use group::Group;

use crate::data::Goal;
use crate::error::Error;
use crate::headline::{headline, mean_error};
use crate::overview::{Overview, Status};
use group::{averaged, group};
use ppgn_graph::text::natural;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One line of the list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its folder.
    pub path: PathBuf,
    /// The fields.
    pub fields: Value,
    /// All settings, nested as in `config.toml`.
    pub settings: Value,
    /// What its result is for people; empty if there is none yet.
    pub result: String,
    /// The number that its result is sorted by: lower is better.
    pub rank: Option<f64>,
    /// Its state for people, or why it cannot be read.
    pub state: Result<String, String>,
    /// What it is one of, if its folder is called accordingly.
    pub member: Option<Group>,
}

impl Entry {
    /// Looks at a run folder.
    pub fn of(path: PathBuf) -> Self {
        let looked = Overview::of(&path);
        Entry::new(path, looked)
    }

    /// What was seen of a run folder.
    pub fn new(path: PathBuf, looked: Result<Overview, Error>) -> Self {
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
    pub fn get(&self, key: &str) -> Option<&Value> {
        find_in(&self.fields, key).or_else(|| find_in(&self.settings, key))
    }

    /// A field as text; `-` where it has none.
    pub fn text(&self, key: &str) -> String {
        match self.fields.get(key) {
            None | Some(Value::Null) => "-".into(),
            Some(value) => plain(value),
        }
    }

    /// Whether it is several runs.
    pub fn is_group(&self, kind: Group) -> bool {
        self.fields.get(kind.members()).is_some()
    }
}

fn find_in<'a>(root: &'a Value, key: &str) -> Option<&'a Value> {
    // A whole name first: names of targets may have dots.
    root.get(key).or_else(|| key.split('.').try_fold(root, |at, name| at.get(name)))
}

/// A value as a cell of a table.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Entries in which the folds of a cross-validation (`fold-1`, `fold-2` ... of one folder) are one, and so are the runs of
/// several seeds (`seed-0`, `seed-1` ...). Cross-validations with several seeds follow the entry of their averaged predictions.
pub fn folded(entries: Vec<Entry>) -> Vec<Entry> {
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
    let beside = |a: &Entry, b: &Entry| a.path.parent() == b.path.parent();
    let with_average =
        |run: &[Entry]| averaged(run).into_iter().chain(run.iter().cloned()).collect::<Vec<_>>();
    rows.chunk_by(beside).flat_map(with_average).collect()
}

fn to_json(path: &Path, run: &Result<Overview, Error>) -> Value {
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            return json!({ "run": path.display().to_string(), "state": "damaged", "error": error.to_string() });
        }
    };
    let s = &run.settings;
    let mut object = json!({
        "run": path.display().to_string(),
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
                let errors = names.into_iter().zip(figures.mae.iter().map(|error| Value::from(*error)));
                object["mae"] = Value::Object(errors.collect());
            }
            (Goal::Classes(_) | Goal::Labels(_), accuracy) => object["accuracy"] = accuracy.into(),
        }
    }
    object
}
