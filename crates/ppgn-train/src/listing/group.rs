//! Runs that belong together, as one entry: the folds of a cross-validation, or a training with several seeds.

use super::Entry;
use crate::settings::Division;
use crate::settings::text::short;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What runs of one folder are together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The folds of `ppgn cv`.
    Folds,
    /// The seeds of `ppgn train --seeds`.
    Seeds,
}

impl Group {
    /// What a run is one of, by the name of its folder and its settings.
    pub(super) fn of_member(path: &Path, division: Option<&Division>, seed: u64) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
        match division? {
            Division::Fold(_) | Division::Dealt { .. } | Division::Nested { .. }
                if number("fold-").is_some() =>
            {
                Some(Group::Folds)
            }
            division if number("seed-") == Some(seed) => {
                // A folder that someone called so has neither the report nor a split that was drawn for all seeds.
                let drawn =
                    matches!(division, Division::Listed(listing) if listing.from.contains(" by seed "));
                let reported = || path.parent().is_some_and(|folder| folder.join("seeds.json").exists());
                (drawn || reported()).then_some(Group::Seeds)
            }
            _ => None,
        }
    }

    /// The field that counts its runs, and the list of them in its report.
    pub fn members(self) -> &'static str {
        match self {
            Group::Folds => "folds",
            Group::Seeds => "seeds",
        }
    }

    fn report(self) -> &'static str {
        match self {
            Group::Folds => "cv.json",
            Group::Seeds => "seeds.json",
        }
    }
}

/// A mean over the runs of a group, and its deviation.
struct Mean {
    metric: String,
    part: String,
    mean: f64,
    deviation: Option<f64>,
}

/// The runs of one group, in natural order.
pub(super) fn group(kind: Group, folder: PathBuf, mut runs: Vec<Entry>) -> Entry {
    let members = kind.members();
    let report = read(&folder, kind);
    let count = |state: &str| runs.iter().filter(|run| run.fields["state"] == state).count();
    let (finished, running) = (count("finished"), count("running"));
    // A report is of all its runs: one that was begun since is not in it.
    let whole = finished == runs.len() && report[members].as_array().is_some_and(|of| of.len() == finished);
    let (name, state) = match (whole, running) {
        (true, _) => ("finished", "finished".to_string()),
        (false, 0) => ("stopped", format!("{finished} {members} finished")),
        (false, _) => ("running", format!("{finished} {members} finished")),
    };
    let mut fields = common(&runs[0]);
    fields["run"] = folder.display().to_string().into();
    fields["state"] = name.into();
    fields["division"] = match (kind, fields["division"].as_str()) {
        (Group::Seeds, Some(division)) => {
            let split = division.split(" by seed ").next().unwrap_or(division);
            format!("{split}, {} seeds", runs.len()).into()
        }
        _ => format!("{} {members}", runs.len()).into(),
    };
    if kind == Group::Seeds {
        fields["seed"] = runs.iter().map(|run| run.fields["seed"].clone()).collect();
    }
    fields[members] = runs.len().into();
    fields[format!("{members}_finished")] = finished.into();
    fields["seconds"] = runs.iter().filter_map(|run| run.fields["seconds"].as_f64()).sum::<f64>().into();
    let mean = match kind {
        Group::Folds => of_folds(&report),
        Group::Seeds => of_seeds(&report),
    };
    let mean = mean.filter(|_| whole);
    if mean.is_some() && kind == Group::Folds {
        fields["best_epoch"] = report["epoch"].clone();
    }
    let (result, rank) = mean.map(|mean| mean.tell(&mut fields)).unwrap_or_default();
    let settings = runs.swap_remove(0).settings;
    Entry { path: folder, fields, settings, result, rank, state: Ok(state), member: None }
}

/// The report of a group; `null` where it cannot be read.
fn read(folder: &Path, kind: Group) -> Value {
    let report = std::fs::read(folder.join(kind.report())).ok();
    report.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The fields that runs of a group have in common with one of them.
fn common(run: &Entry) -> Value {
    let mut fields = run.fields.clone();
    for own in ["best_epoch", "part", "loss", "accuracy", "accuracy_std", "mae", "epochs_done"] {
        fields.as_object_mut().map(|fields| fields.remove(own));
    }
    fields
}

impl Mean {
    /// Adds it to the fields; returns it for people, and the number that it is sorted by.
    fn tell(self, fields: &mut Value) -> (String, Option<f64>) {
        let Mean { metric, part, mean, deviation } = self;
        fields["part"] = part.as_str().into();
        fields[metric.as_str()] = mean.into();
        fields[format!("{metric}_std")] = deviation.into();
        match metric.as_str() {
            "accuracy" => {
                let spread = deviation.map(|s| format!(" ± {:.1}", s * 100.0)).unwrap_or_default();
                (format!("{part} {:.1}{spread} %", mean * 100.0), Some(-mean))
            }
            metric => {
                let spread = deviation.map(|s| format!(" ± {}", short(s))).unwrap_or_default();
                let title = metric.replace('_', " ");
                (format!("{part} {title} {}{spread}", short(mean)), Some(mean))
            }
        }
    }
}

/// The averaged predictions of cross-validations in the folders `seed-0`, `seed-1` ... of one, as `ppgn cv --seeds` reports
/// them there; `None` where it has not, or where a seed is not finished or has other folds than the report.
pub(super) fn averaged(seeds: &[Entry]) -> Option<Entry> {
    let folder = seeds.first()?.path.parent()?;
    let report = read(folder, Group::Folds);
    let listed = report["seeds"].as_array()?;
    let of = |seed: &Value| seeds.iter().find(|entry| entry.path == folder.join(format!("seed-{seed}")));
    let members: Vec<&Entry> = listed.iter().map(of).collect::<Option<_>>()?;
    let first = members.first()?;
    let folds = report["folds"].as_array()?.len();
    let current = |entry: &&Entry| {
        let fields = &entry.fields;
        fields["state"] == "finished" && fields["folds"] == folds && fields["epochs"] == report["epochs"]
    };
    if !members.iter().all(current) {
        return None;
    }
    let mut fields = common(first);
    fields["run"] = folder.display().to_string().into();
    fields["seed"] = listed.clone().into();
    fields["seconds"] =
        members.iter().filter_map(|entry| entry.fields["seconds"].as_f64()).sum::<f64>().into();
    fields["best_epoch"] = report["epoch"].clone();
    let (result, rank) = of_folds(&report).map(|mean| mean.tell(&mut fields)).unwrap_or_default();
    let (settings, state) = (first.settings.clone(), first.state.clone());
    Some(Entry { path: folder.to_path_buf(), fields, settings, result, rank, state, member: None })
}

/// The accuracy of a cross-validation; for regression the mean of the metric that selects the epoch.
fn of_folds(report: &Value) -> Option<Mean> {
    let part = "test".to_string();
    if let Some(mean) = report["accuracy_mean"].as_f64() {
        let deviation = report["accuracy_std"].as_f64();
        return Some(Mean { metric: "accuracy".into(), part, mean, deviation });
    }
    let epoch = report["epoch"].as_u64()?.checked_sub(1)? as usize;
    let mean = report["curve_mean"].get(epoch)?.as_f64()?;
    Some(Mean { metric: report["metric"].as_str()?.into(), part, mean, deviation: None })
}

/// The accuracy over seeds on the set that is reported; for regression the mean absolute error.
fn of_seeds(report: &Value) -> Option<Mean> {
    let named = [("test", "test"), ("validation", "validation"), ("train", "training")];
    let (set, part) = named.into_iter().find(|(set, _)| !report["sets"][set].is_null())?;
    let metrics = &report["sets"][set]["metrics"];
    let metric = ["accuracy", "mae", "loss"].into_iter().find(|metric| metrics[metric]["mean"].is_f64())?;
    let mean = metrics[metric]["mean"].as_f64()?;
    Some(Mean { metric: metric.into(), part: part.into(), mean, deviation: metrics[metric]["std"].as_f64() })
}
