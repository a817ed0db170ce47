//! `ppgn runs show`: everything about one run.

use super::compare::sets;
use super::find::{named, runs_in};
use crate::cli::metrics;
use crate::cli::output::{self, bytes, facts, short, table};
use anyhow::Result;
use ppgn::graph::text::escaped;
use ppgn::train::listing::{Entry, folded, plain};
use ppgn::train::{Epoch, Overview, Part, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `ppgn runs show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run, or a folder of `cv` or of several seeds: a path, or a name in `runs`
    run: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The files of a run that may be large, or that people open.
const FILES: [&str; 8] = [
    "config.toml",
    "split.csv",
    "metrics.jsonl",
    "checkpoint/model.safetensors",
    "checkpoint/state.json",
    "best/model.safetensors",
    "summary.json",
    "report.html",
];

/// Shows a run.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let path = named(&args.run);
    if !path.join("config.toml").exists()
        && let Some(text) = group(&path, args.json)?
    {
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let run = Overview::of(&path)?;
    let entry = Entry::of(path.clone());
    let files = files(&path);
    if args.json {
        let mut object = entry.fields.clone();
        object["settings"] = entry.settings.clone();
        if let Some(sets) = run.summary.as_ref().and_then(|summary| summary.sets.as_ref()) {
            object["sets"] = json!(sets);
        }
        object["best"] =
            run.best.as_ref().and_then(|best| serde_json::to_value(best).ok()).unwrap_or_default();
        object["files"] = files.iter().map(|(name, size)| (name.to_string(), Value::from(*size))).collect();
        output::json(&json!(object))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut about = vec![
        ("run", path.display().to_string()),
        ("state", entry.state.clone().unwrap_or_default()),
        ("dataset", run.settings.dataset.clone()),
        ("preset", run.settings.preset().to_string()),
    ];
    if let Some(trained) = run.settings.trained() {
        about.push(("data", trained.data.clone()));
        about.push(("division", entry.text("division")));
        let (done, of) = (run.epochs, run.settings.training.epochs);
        about.push(("epochs", format!("{done} of {of}, {:.1} s", run.seconds)));
    }
    if let Some(best) = &run.best {
        about.push(("best epoch", best.epoch.to_string()));
        about.push(("result", entry.result.clone()));
    }
    let mut text =
        facts(&about.iter().map(|(name, fact)| (*name, escaped(fact).into_owned())).collect::<Vec<_>>());
    let sets = run.summary.as_ref().and_then(|summary| summary.sets.as_ref());
    let classes = run.settings.class_titles();
    text += &match (sets, &run.best) {
        (Some(sets), _) if !classes.is_empty() => {
            let confusion = metrics::confusion(sets, &classes);
            format!("\nmetrics at the best epoch\n{}{confusion}", metrics::table(sets, &classes))
        }
        (_, Some(best)) => format!("\nfigures at the best epoch\n{}", figures_by_set(&run.settings, best)),
        (_, None) => String::new(),
    };
    let mut settings = Vec::new();
    for section in ["training", "encoding", "network"] {
        for (name, value) in entry.settings[section].as_object().into_iter().flatten() {
            settings.push((format!("{section}.{name}"), short_json(value)));
        }
    }
    let settings: Vec<(&str, String)> =
        settings.iter().map(|(name, fact)| (name.as_str(), fact.clone())).collect();
    text += &format!("\nsettings\n{}", facts(&settings));
    let sizes: Vec<Vec<String>> =
        files.iter().map(|(name, size)| vec![name.to_string(), bytes(*size)]).collect();
    text += &format!("\nfiles\n{}", table(&sizes));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The folds of a cross-validation, or the runs of several seeds: what they gave together, and each.
fn group(path: &Path, as_json: bool) -> Result<Option<String>> {
    if !path.is_dir() {
        return Ok(None);
    }
    let entries = || -> Result<Vec<Entry>> {
        let inside = runs_in(path)?.into_iter().filter(|run| run.parent() == Some(path));
        Ok(inside.map(Entry::of).collect())
    };
    let Some(whole) = folded(entries()?).into_iter().find(|entry| entry.path == path) else {
        return Ok(None);
    };
    let members = entries()?;
    if as_json {
        let mut object = whole.fields.clone();
        object["settings"] = whole.settings.clone();
        object["runs"] = members.iter().map(|run| run.fields.clone()).collect();
        return Ok(Some(format!("{object}\n")));
    }
    let about = ["dataset", "preset", "division"].map(|name| (name, escaped(&whole.text(name)).into_owned()));
    let mut facts_of = vec![("runs", path.display().to_string())];
    facts_of.push(("state", whole.state.clone().unwrap_or_default()));
    facts_of.extend(about);
    facts_of.push(("result", if whole.result.is_empty() { "-".into() } else { whole.result.clone() }));
    let name = |run: &Entry| run.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut rows = vec![["run", "state", "best epoch", "result"].map(String::from).to_vec()];
    rows.extend(members.iter().map(|run| {
        let state = run.state.clone().unwrap_or_else(|_| "damaged".into());
        vec![name(run).unwrap_or_default(), state, run.text("best_epoch"), run.result.clone()]
    }));
    Ok(Some(format!("{}\n{}", facts(&facts_of), table(&rows))))
}

fn files(path: &Path) -> Vec<(&'static str, u64)> {
    let size = |name: &&'static str| Some((*name, std::fs::metadata(path.join(name)).ok()?.len()));
    FILES.iter().filter_map(size).collect()
}

/// A setting on one line.
fn short_json(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
        }
        Value::Object(_) => value.to_string(),
        other => plain(other),
    }
}

/// One row per metric, one column per set.
fn figures_by_set(settings: &Settings, epoch: &Epoch) -> String {
    let sets = sets(epoch);
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (i, (_, part)) in sets.iter().enumerate() {
        for (name, value) in figures(settings, part) {
            let at = rows.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                rows.push((name.clone(), vec!["-".to_string(); sets.len()]));
                rows.len() - 1
            });
            rows[at].1[i] = shown(&name, value);
        }
    }
    let head = std::iter::once(String::new()).chain(sets.iter().map(|(name, _)| name.to_string())).collect();
    let rows = rows.into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect());
    table(&std::iter::once(head).chain(rows).collect::<Vec<Vec<String>>>())
}

/// The figures of a set by the names that people read.
pub(super) fn figures(settings: &Settings, part: &Part) -> Vec<(String, f64)> {
    let all = ppgn::train::figures(settings, part).into_iter();
    all.map(|(name, x)| (name.replace(['_', '/'], " "), x)).collect()
}

/// A figure for people: shares in percent.
pub(super) fn shown(name: &str, value: f64) -> String {
    match name.ends_with("accuracy") {
        true => format!("{:.1} %", value * 100.0),
        false => short(value),
    }
}
