//! Runs side by side: the settings in which they differ, and their curves on one page.

use crate::chart::{Axis, Chart, Curve, Look, Panel, Scale};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::metrics::{Epoch, Part};
use crate::overview::Overview;
use crate::report::Page;
use crate::settings::{Division, Origin, SampleWeights, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A run, or the folds of a cross-validation as one: the mean of their curves.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Its folder.
    pub path: PathBuf,
    /// Its settings; for a cross-validation those of the first fold.
    pub settings: Settings,
    /// Its epochs so far.
    pub epochs: Vec<Epoch>,
    /// The best of them, counted from 1: for a cross-validation the best of the mean curve.
    pub best: Option<usize>,
    /// Seconds of all epochs.
    pub seconds: f64,
    /// The number of folds, where it is a cross-validation.
    pub folds: Option<usize>,
}

impl Compared {
    /// Reads a run.
    pub fn run(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let (run, epochs) = Overview::with_epochs(&path)?;
        let best = run.best.map(|best| best.epoch);
        Ok(Compared { path, settings: run.settings, epochs, best, seconds: run.seconds, folds: None })
    }

    /// The folds of a cross-validation, as far as all of them are trained. At least one.
    pub fn folds(path: impl AsRef<Path>, folds: &[PathBuf]) -> Result<Self> {
        let runs = folds.iter().map(Compared::run).collect::<Result<Vec<_>>>()?;
        let Some(first) = runs.first() else {
            return Err(Error::NotARun { path: path.as_ref().to_path_buf() });
        };
        let shortest = runs.iter().map(|run| run.epochs.len()).min().unwrap_or(0);
        let epochs: Vec<Epoch> =
            (0..shortest).map(|e| mean(&runs.iter().map(|run| &run.epochs[e]).collect::<Vec<_>>())).collect();
        let metric = first.settings.training.select.metric;
        let best =
            (0..epochs.len()).reduce(|best, e| match epochs[e].is_better_than(&epochs[best], metric) {
                true => e,
                false => best,
            });
        Ok(Compared {
            path: path.as_ref().to_path_buf(),
            settings: first.settings.clone(),
            best: best.map(|e| e + 1),
            seconds: runs.iter().map(|run| run.seconds).sum(),
            folds: Some(runs.len()),
            epochs,
        })
    }

    /// The figures of its best epoch.
    pub fn best_epoch(&self) -> Option<&Epoch> {
        self.epochs.get(self.best?.checked_sub(1)?)
    }
}

/// The mean of the same epoch of several runs: losses, accuracies and errors.
fn mean(epochs: &[&Epoch]) -> Epoch {
    let part = |of: &dyn Fn(&Epoch) -> Option<&Part>| -> Option<Part> {
        let parts: Option<Vec<&Part>> = epochs.iter().map(|epoch| of(epoch)).collect();
        let parts = parts?;
        let n = parts.len() as f64;
        let accuracy: Option<Vec<f64>> = parts.iter().map(|part| part.accuracy).collect();
        let targets = parts.iter().map(|part| part.mae.len()).min().unwrap_or(0);
        Some(Part {
            loss: parts.iter().map(|part| part.loss).sum::<f64>() / n,
            accuracy: accuracy.map(|all| all.iter().sum::<f64>() / n),
            mae: (0..targets).map(|t| parts.iter().map(|part| part.mae[t]).sum::<f64>() / n).collect(),
            ..Part::default()
        })
    };
    Epoch {
        train: part(&|e| Some(&e.train)).unwrap_or_default(),
        validation: part(&|e| e.validation.as_ref()),
        test: part(&|e| e.test.as_ref()),
        last: None,
        ..epochs[0].clone()
    }
}

/// The settings in which runs differ: names as in `config.toml` with dots, and the value of each run, or nothing where it has
/// none. Left out is what follows from others: the scaling of targets, the paths of equal data, the number of a fold.
pub fn differences(runs: &[&Settings]) -> Result<Vec<(String, Vec<Option<Value>>)>> {
    let tables = runs.iter().map(|settings| flat_settings(settings)).collect::<Result<Vec<_>>>()?;
    let same_data = tables.windows(2).all(|pair| pair[0].get("digest") == pair[1].get("digest"));
    let mut names: Vec<&String> = tables.iter().flat_map(|table| table.keys()).collect();
    names.sort();
    names.dedup();
    let left_out = |name: &str| {
        name.starts_with("scaling") || name.starts_with("reference") || name == "data" && same_data
    };
    let differ = names.into_iter().filter(|name| !left_out(name)).filter_map(|name| {
        let values: Vec<Option<Value>> = tables.iter().map(|table| table.get(name).cloned()).collect();
        let same = values.windows(2).all(|pair| pair[0] == pair[1]);
        // A list with one number per graph is shown by its sum.
        let shown = |value: Value| match serde_json::from_value::<SampleWeights>(value.clone()) {
            Ok(weights) if name == "sample_weights" => Value::from(weights.to_string()),
            _ => value,
        };
        (!same).then(|| (name.clone(), values.into_iter().map(|value| value.map(shown)).collect()))
    });
    Ok(differ.collect())
}

/// Settings by their names with dots between them. The number of a fold is 1 in all of them, so that folds of one
/// cross-validation have the same.
pub fn flat_settings(settings: &Settings) -> Result<BTreeMap<String, Value>> {
    let mut settings = settings.clone();
    if let Origin::Trained(trained) = &mut settings.origin
        && let Division::Fold(fold) | Division::Dealt { fold, .. } | Division::Nested { fold, .. } =
            &mut trained.division
    {
        *fold = 1;
    }
    let value = serde_json::to_value(settings)
        .map_err(|e| Error::settings(format!("the settings cannot be written: {e}")))?;
    let mut table = BTreeMap::new();
    flatten(String::new(), value, &mut table);
    Ok(table)
}

/// Numbers, texts and lists by the path to them.
pub(crate) fn flatten(name: String, value: Value, table: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let inner = if name.is_empty() { key } else { format!("{name}.{key}") };
                flatten(inner, value, table);
            }
        }
        Value::Null => {}
        value => {
            table.insert(name, value);
        }
    }
}

/// A set by its name.
type Set = (&'static str, fn(&Epoch) -> Option<&Part>);

const SETS: [Set; 3] = [
    ("validation", |e| e.validation.as_ref()),
    ("test", |e| e.test.as_ref()),
    ("training", |e| Some(&e.train)),
];

/// A page with the curves of runs over each other. `names` are their names on it; `head` is HTML between title and curves.
pub fn compare_page(runs: &[Compared], names: &[String], head: &str) -> String {
    let mut page = Page::new("Runs compared", "ppgn runs compare");
    page.push(head);
    page.heading("Curves");
    page.push("<div class=charts>\n");
    let mut draw =
        |title: String, scale: Scale, axis: &str, value: &dyn Fn(&Compared, &Epoch) -> Option<f64>| {
            let curve = |(run, name): (&Compared, &String)| {
                let points = run.epochs.iter().filter_map(|e| Some((e.epoch as f64, value(run, e)?)));
                Curve::line(name.clone(), points.collect())
            };
            let curves: Vec<Curve<'_>> = runs.iter().zip(names).map(curve).collect();
            if curves.iter().any(|curve| !curve.points.is_empty()) {
                let panel = Panel::by_epoch(title, Axis::new(axis, scale), curves);
                page.push(&Chart::new(Look::Page, &[panel]).svg());
            }
        };
    for (set, part) in SETS {
        draw(format!("Accuracy, {set}"), Scale::Percent, "accuracy", &|_, e| part(e)?.accuracy);
        for (name, unit) in targets(runs) {
            let axis = if unit.is_empty() {
                "mean absolute error".into()
            } else {
                format!("mean absolute error, {unit}")
            };
            draw(format!("{name}, {set}"), Scale::Linear, &axis, &|run, e| {
                error_of(&run.settings, part(e)?, &name)
            });
        }
    }
    for (set, part) in SETS {
        draw(format!("Loss, {set}"), Scale::Linear, "loss per graph", &|_, e| Some(part(e)?.loss));
    }
    page.push("</div>\n");
    page.end()
}

/// The targets of all runs, with their units.
fn targets(runs: &[Compared]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for run in runs {
        let Goal::Targets(targets) = &run.settings.goal else { continue };
        for target in targets {
            if !all.iter().any(|(name, _)| *name == target.name) {
                all.push((target.name.clone(), target.unit.clone()));
            }
        }
    }
    all
}

fn error_of(settings: &Settings, part: &Part, name: &str) -> Option<f64> {
    let Goal::Targets(targets) = &settings.goal else { return None };
    part.mae.get(targets.iter().position(|target| target.name == name)?).copied()
}
