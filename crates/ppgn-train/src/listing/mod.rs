//! The runs of a folder as a list: a run, or the folds of a cross-validation together, is one entry with the fields of
//! `ppgn runs --json`. The command line prints it, the local page shows it.

mod find;

pub use find::runs_in;

use crate::data::Goal;
use crate::error::Error;
use crate::headline::{headline, mean_error};
use crate::overview::{Overview, Status};
use crate::settings::Division;
use crate::settings::text::short;
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
    /// Whether it is a fold of a cross-validation.
    fold: bool,
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
                    fold: false,
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
            fold: matches!(
                division,
                Some(Division::Fold(_) | Division::Dealt { .. } | Division::Nested { .. })
            ),
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

    /// Whether it is a cross-validation, not a run.
    pub fn is_group(&self) -> bool {
        self.fields.get("folds").is_some()
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

/// Entries in which the folds of a cross-validation (`fold-1`, `fold-2` ... of one folder) are one.
pub fn folded(entries: Vec<Entry>) -> Vec<Entry> {
    let mut rows: Vec<Entry> = Vec::new();
    let mut rest = entries.into_iter().peekable();
    while let Some(entry) = rest.next() {
        let Some(folder) = entry.folder_of_folds() else {
            rows.push(entry);
            continue;
        };
        let mut folds = vec![entry];
        while let Some(next) = rest.next_if(|next| next.path.parent() == Some(&folder)) {
            match next.folder_of_folds() {
                Some(_) => folds.push(next),
                // A damaged fold has a line of its own.
                None => rows.push(next),
            }
        }
        rows.push(group(folder, folds));
    }
    rows
}

impl Entry {
    /// The folder of the cross-validation that it is a fold of.
    pub fn folder_of_folds(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?.to_str()?;
        let number = name.strip_prefix("fold-")?;
        let is_fold = self.fold && number.parse::<usize>().is_ok();
        is_fold.then(|| self.path.parent().map(Path::to_path_buf))?
    }
}

/// The folds of one cross-validation.
fn group(folder: PathBuf, mut folds: Vec<Entry>) -> Entry {
    folds.sort_by(|a, b| natural(&a.path.to_string_lossy(), &b.path.to_string_lossy()));
    let report = std::fs::read(folder.join("cv.json")).ok();
    let report: Value = report.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let count = |state: &str| folds.iter().filter(|fold| fold.fields["state"] == state).count();
    let (finished, running) = (count("finished"), count("running"));
    // A report is of all its folds: one that was begun since is not in it.
    let whole = finished == folds.len() && report["folds"].as_array().is_some_and(|of| of.len() == finished);
    let (name, state) = match (whole, running) {
        (true, _) => ("finished", "finished".to_string()),
        (false, 0) => ("stopped", format!("{finished} folds finished")),
        (false, _) => ("running", format!("{finished} folds finished")),
    };
    let mut fields = folds[0].fields.clone();
    for own in ["best_epoch", "part", "loss", "accuracy", "mae", "epochs_done"] {
        fields.as_object_mut().map(|fields| fields.remove(own));
    }
    fields["run"] = folder.display().to_string().into();
    fields["state"] = name.into();
    fields["division"] = format!("{} folds", folds.len()).into();
    fields["folds"] = folds.len().into();
    fields["folds_finished"] = finished.into();
    fields["seconds"] = folds.iter().filter_map(|fold| fold.fields["seconds"].as_f64()).sum::<f64>().into();
    let (mut result, mut rank) = (String::new(), None);
    if let (true, Some(mean)) = (whole, report["accuracy_mean"].as_f64()) {
        let deviation = report["accuracy_std"].as_f64();
        fields["best_epoch"] = report["epoch"].clone();
        fields["part"] = "test".into();
        fields["accuracy"] = mean.into();
        fields["accuracy_std"] = deviation.into();
        let spread = deviation.map(|s| format!(" ± {:.1}", s * 100.0)).unwrap_or_default();
        result = format!("test {:.1}{spread} %", mean * 100.0);
        rank = Some(-mean);
    }
    // Regression: the mean of the metric that selects the epoch.
    let at_best = || report["curve_mean"].get(report["epoch"].as_u64()?.checked_sub(1)? as usize)?.as_f64();
    if let (true, Some(mean), Some(metric)) = (whole && rank.is_none(), at_best(), report["metric"].as_str())
    {
        fields["best_epoch"] = report["epoch"].clone();
        fields["part"] = "test".into();
        fields[metric] = mean.into();
        result = format!("test {} {}", metric.replace('_', " "), short(mean));
        rank = Some(mean);
    }
    let settings = folds.swap_remove(0).settings;
    Entry { path: folder, fields, settings, result, rank, state: Ok(state), fold: false }
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
