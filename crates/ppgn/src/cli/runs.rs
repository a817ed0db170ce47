//! `ppgn runs`: lists the runs in a folder with their settings, state and best results.

use super::output::{self, by_target};
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Error as GraphError;
use ppgn::train::{Error, Goal, Overview, Status, Trained};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `ppgn runs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to search, with its subfolders
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How deep subfolders are searched.
const DEPTH: usize = 5;

/// Runs `ppgn runs`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !args.dir.is_dir() {
        let dir = args.dir.display();
        return Err(wrong(format!("{dir} is not a folder; `ppgn train` makes runs in `runs`")));
    }
    let mut paths = Vec::new();
    find(&args.dir, DEPTH, &mut paths)?;
    let runs: Vec<(PathBuf, Result<Overview, Error>)> =
        paths.into_iter().map(|path| (path.clone(), Overview::of(path))).collect();
    match args.json {
        true => {
            let runs: Vec<Value> = runs.iter().map(|(path, run)| to_json(path, run)).collect();
            output::json(&json!({ "dir": output::path(&args.dir), "runs": runs }))?;
        }
        false if runs.is_empty() => output::print(&format!("no runs in {}\n", args.dir.display()))?,
        false => output::print(&to_text(&runs))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The run folders at or below a folder, by name. Folders inside a run are not searched.
fn find(dir: &Path, depth: usize, runs: &mut Vec<PathBuf>) -> Result<()> {
    if dir.join("config.toml").exists() {
        runs.push(dir.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let mut inner = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| GraphError::io(dir, e))? {
        let entry = entry.map_err(|e| GraphError::io(dir, e))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|t| t.is_dir()) {
            inner.push(entry.path());
        }
    }
    inner.sort();
    // A subfolder that cannot be read hides only its own runs.
    inner.iter().for_each(|dir| find(dir, depth - 1, runs).unwrap_or_default());
    Ok(())
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

fn to_text(runs: &[(PathBuf, Result<Overview, Error>)]) -> String {
    let head =
        ["run", "dataset", "preset", "seed", "blocks", "division", "epochs", "state", "best", "result"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let mut damaged = String::new();
    for (path, run) in runs {
        let path = path.display().to_string();
        match run {
            Ok(run) => rows.push(row(path, run)),
            Err(error) => damaged += &format!("  damaged: {error}\n"),
        }
    }
    match rows.len() {
        1 => damaged,
        _ => output::table(&rows) + &damaged,
    }
}

fn row(path: String, run: &Overview) -> Vec<String> {
    let s = &run.settings;
    let blocks: Vec<String> = s.network.blocks.iter().map(|b| b.width.to_string()).collect();
    let state = match run.status {
        Status::Stopped => format!("stopped at {}", run.epochs),
        Status::Running => format!("running, {} done", run.epochs),
        status => status.name().to_string(),
    };
    let (best, figure) = match &run.best {
        None => ("-".into(), "-".into()),
        Some(best) => {
            let (part, figures) = best.reported();
            let figure = match (figures.accuracy, figures.mae.as_slice()) {
                (Some(accuracy), _) => format!("{part} {:.1} %", accuracy * 100.0),
                (None, [mae]) => format!("{part} error {}", output::short(*mae)),
                (None, _) => format!("{part} loss {}", output::short(figures.loss)),
            };
            (best.epoch.to_string(), figure)
        }
    };
    let known = |text: &dyn Fn(&Trained) -> String| s.trained().map_or("-".to_string(), text);
    vec![
        path,
        s.dataset.clone(),
        s.preset().to_string(),
        known(&|_| s.training.seed.to_string()),
        blocks.join(","),
        known(&|trained| trained.division.to_string()),
        known(&|_| s.training.epochs.to_string()),
        state,
        best,
        figure,
    ]
}
