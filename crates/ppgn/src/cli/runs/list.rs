//! The list of runs: a table for people, a CSV table, or one JSON object.

use super::find::runs_in;
use super::fit::{Column, fitted, width};
use super::query::{Condition, chosen};
use crate::cli::output;
use anyhow::Result;
use ppgn::train::listing::{Entry, Group, folded, plain};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The list.
#[derive(Debug, clap::Args)]
#[group(id = "list")]
pub(super) struct Args {
    /// The folder to search, with its subfolders
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// Sort by `result` (the best first), or by a field of --json such as rate, seconds or accuracy; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only runs with KEY=VALUE; also !=, <, <=, >, >= and ~ (contains); repeated for several conditions
    #[arg(long, value_name = "CONDITION")]
    filter: Vec<Condition>,
    /// One row per run also where runs are the folds of a cross-validation or one training with several seeds
    #[arg(long)]
    all: bool,
    /// Print a CSV table with all fields, one row per run
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Lists the runs of a folder.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let entries: Vec<Entry> = runs_in(&args.dir)?.into_iter().map(Entry::of).collect();
    let nothing = entries.is_empty();
    let pick = |entries| chosen(entries, &args.filter, args.sort.as_deref());
    let text = match (args.json, args.csv || args.all) {
        (true, _) => {
            let groups = folded(runs_in(&args.dir)?.into_iter().map(Entry::of).collect());
            let of = |kind: Group| -> Vec<Value> {
                groups.iter().filter(|entry| entry.is_group(kind)).map(|group| group.fields.clone()).collect()
            };
            let runs: Vec<Value> = pick(entries)?.into_iter().map(|entry| entry.fields).collect();
            return output::json(&json!({
                "dir": output::path(&args.dir),
                "runs": runs,
                "cross_validations": of(Group::Folds),
                "several_seeds": of(Group::Seeds),
            }))
            .map(|()| ExitCode::SUCCESS);
        }
        (false, _) if args.csv => csv(&pick(entries)?),
        (false, _) if nothing => format!("no runs in {}\n", args.dir.display()),
        (false, all) => {
            let rows = pick(if all { entries } else { folded(entries) })?;
            match rows.is_empty() {
                true => "no run meets the conditions\n".to_string(),
                false => to_text(&rows, &args.dir, width()),
            }
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(rows: &[Entry], dir: &Path, width: usize) -> String {
    let sound: Vec<&Entry> = rows.iter().filter(|row| row.state.is_ok()).collect();
    let damaged = rows.iter().filter_map(|row| row.state.as_ref().err());
    let damaged: String = damaged.map(|error| format!("  damaged: {error}\n")).collect();
    if sound.is_empty() {
        return damaged;
    }
    let column = |head, spare, cell: &dyn Fn(&Entry) -> String| {
        let cells = sound.iter().map(|row| cell(row)).collect();
        Column { head, cells, spare }
    };
    let trained = |row: &Entry, key: &str| match row.fields["division"].is_null() {
        true => "-".to_string(),
        false => row.text(key),
    };
    let or_dash = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
    let columns = |name: &dyn Fn(&Entry) -> String| {
        vec![
            column("run", 0, name),
            column("dataset", 3, &|row| row.text("dataset")),
            column("preset", 7, &|row| row.text("preset")),
            column("seed", 4, &|row| trained(row, "seed")),
            column("blocks", 8, &|row| row.text("blocks")),
            column("division", 5, &|row| row.text("division")),
            column("epochs", 6, &|row| trained(row, "epochs")),
            column("state", 1, &|row| row.state.clone().unwrap_or_default()),
            column("best", 2, &|row| row.text("best_epoch")),
            column("result", 0, &|row| or_dash(&row.result)),
        ]
    };
    let whole = fitted(columns(&|row| row.path.display().to_string()), width);
    let squeezed = ["all: ", "not shown ", "…"].iter().any(|sign| whole.contains(sign));
    // The folder's own name is in every row: it goes above the table before anything else is left out.
    let long = dir.display().to_string().chars().count() > 12;
    match squeezed && long {
        false => whole + &damaged,
        true => {
            let inside = |row: &Entry| match row.path.strip_prefix(dir) {
                Ok(inner) if inner != Path::new("") => inner.display().to_string(),
                _ => row.path.display().to_string(),
            };
            format!("in {}:\n{}{damaged}", dir.display(), fitted(columns(&inside), width))
        }
    }
}

/// One row per run, with the union of all fields as columns.
fn csv(entries: &[Entry]) -> String {
    let mut names: Vec<String> = Vec::new();
    let rows: Vec<Vec<(String, String)>> = entries.iter().map(|entry| flat(&entry.fields)).collect();
    for name in rows.iter().flatten().map(|(name, _)| name) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let mut text = line(names.iter().map(String::as_str));
    for row in &rows {
        let cell = |name: &String| row.iter().find(|(n, _)| n == name).map_or("", |(_, cell)| cell.as_str());
        text += &line(names.iter().map(cell));
    }
    text
}

/// The fields of an object with a name each: `mae.mu`.
fn flat(fields: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            Value::Object(inner) => {
                all.extend(inner.iter().map(|(key, value)| (format!("{name}.{key}"), plain(value))));
            }
            value => all.push((name.clone(), plain(value))),
        }
    }
    all
}

/// A line of CSV.
pub(super) fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &str| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
