//! `ppgn runs compare`: what differs between runs, their figures side by side, and their curves on one page.

use super::find::{named, runs_in};
use super::fit::{middle_out, width};
use super::list::line;
use super::show::{figures, shown};
use crate::cli::output::{self, table};
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::file::write_whole;
use ppgn::graph::text::escaped;
use ppgn::graph::text::natural;
use ppgn::train::listing::plain;
use ppgn::train::{Compared, compare_page, differences, html_list, html_table};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a page of ours has in it.
const OURS: &str = "content=\"ppgn runs compare\"";

/// `ppgn runs compare`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The runs, or folders of `ppgn cv`: paths, or names in `runs`
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The page with their curves; one that this command has written is replaced
    #[arg(long, value_name = "FILE", default_value = "compare.html")]
    out: PathBuf,
    /// Overwrite any other file
    #[arg(long)]
    force: bool,
    /// Print the tables as CSV, one row per run
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Compares runs.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    replaceable(&args.out, args.force)?;
    let runs = args.runs.iter().map(|path| opened(&named(path))).collect::<Result<Vec<_>>>()?;
    let settings: Vec<_> = runs.iter().map(|run| &run.settings).collect();
    let differ = differences(&settings)?;
    let names: Vec<String> = runs.iter().map(|run| run.path.display().to_string()).collect();
    let letters: Vec<String> = (0..runs.len()).map(letter).collect();
    let settings = settings_table(&differ, &letters);
    let figures = figures_table(&runs, &letters);
    let labels: Vec<String> =
        letters.iter().zip(&names).map(|(letter, name)| format!("{letter}  {name}")).collect();
    write_whole(&args.out, page(&runs, &letters, &names, &settings, &figures).as_bytes())?;
    if args.json {
        let runs: Vec<Value> = runs.iter().map(to_json).collect();
        let differ: Map<String, Value> =
            differ.into_iter().map(|(name, values)| (name, json!(values))).collect();
        output::json(&json!({ "runs": runs, "differences": differ, "page": output::path(&args.out) }))?;
    } else if args.csv {
        output::print(&csv(&names, &settings, &figures))?;
    } else {
        let mut text = labels.iter().map(|label| format!("  {}\n", escaped(label))).collect::<String>();
        text += &match settings.len() {
            1 => "\nno setting differs\n".to_string(),
            _ => format!("\nsettings that differ\n{}", narrow(&settings)),
        };
        text += &format!("\nfigures at the best epoch\n{}", narrow(&figures));
        text += &format!("\nthe curves are in {}\n", args.out.display());
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An error where a file would be overwritten that is not a page of this command.
fn replaceable(file: &Path, force: bool) -> Result<()> {
    let ours = || std::fs::read_to_string(file).is_ok_and(|text| text.contains(OURS));
    match force || !file.try_exists()? || ours() {
        true => Ok(()),
        false => Err(wrong(format!("{} already exists; --force overwrites it", file.display()))),
    }
}

/// A run, or a folder with the folds of a cross-validation or the runs of several seeds.
fn opened(path: &Path) -> Result<Compared> {
    let is_fold = |run: &PathBuf| {
        let name = run.file_name().and_then(|name| name.to_str());
        run.parent() == Some(path)
            && name.is_some_and(|name| name.starts_with("fold-") || name.starts_with("seed-"))
    };
    if path.join("config.toml").exists() || !path.is_dir() {
        return Ok(Compared::run(path)?);
    }
    let mut folds: Vec<PathBuf> = runs_in(path)?.into_iter().filter(is_fold).collect();
    folds.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    match folds.is_empty() {
        true => Ok(Compared::run(path)?),
        false => Ok(Compared::folds(path, &folds)?),
    }
}

/// A, B, ... Z, 27, 28, ...
fn letter(number: usize) -> String {
    match u8::try_from(number) {
        Ok(n @ 0..=25) => char::from(b'A' + n).to_string(),
        _ => (number + 1).to_string(),
    }
}

fn settings_table(differ: &[(String, Vec<Option<Value>>)], letters: &[String]) -> Vec<Vec<String>> {
    let head = std::iter::once("setting".to_string()).chain(letters.iter().cloned()).collect();
    let cell = |value: &Option<Value>| value.as_ref().map_or("-".to_string(), plain);
    let row = |(name, values): &(String, Vec<Option<Value>>)| {
        std::iter::once(name.clone()).chain(values.iter().map(cell)).collect()
    };
    std::iter::once(head).chain(differ.iter().map(row)).collect()
}

/// Rows of figures, one column per run.
fn figures_table(runs: &[Compared], letters: &[String]) -> Vec<Vec<String>> {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut put = |name: &str, run: usize, cell: String| {
        let at = rows.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            rows.push((name.to_string(), vec!["-".to_string(); runs.len()]));
            rows.len() - 1
        });
        rows[at].1[run] = cell;
    };
    for (i, run) in runs.iter().enumerate() {
        put("epochs done", i, run.epochs.len().to_string());
        put("best epoch", i, run.best.map_or("-".into(), |best| best.to_string()));
        for (set, part) in run.best_epoch().map(sets).unwrap_or_default() {
            for (name, value) in figures(&run.settings, part) {
                put(&format!("{set} {name}"), i, shown(&name, value));
            }
        }
        put("seconds", i, format!("{:.1}", run.seconds));
    }
    let head = std::iter::once("figure".to_string()).chain(letters.iter().cloned()).collect();
    let rows = rows.into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect());
    std::iter::once(head).chain(rows).collect()
}

/// The sets of an epoch with their names, the one that is reported first.
pub(super) fn sets(epoch: &ppgn::train::Epoch) -> Vec<(&'static str, &ppgn::train::Part)> {
    let test = epoch.test.as_ref().map(|part| ("test", part));
    let validation = epoch.validation.as_ref().map(|part| ("validation", part));
    test.into_iter().chain(validation).chain([("training", &epoch.train)]).collect()
}

/// The table with cells short enough for the terminal.
fn narrow(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(1, Vec::len);
    let first = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0).min(40);
    let room = (width().saturating_sub(first + 2) / (columns - 1).max(1)).saturating_sub(3).max(6);
    let cells = rows.iter().map(|row| {
        let short =
            |(i, cell): (usize, &String)| middle_out(&escaped(cell), if i == 0 { first } else { room });
        row.iter().enumerate().map(short).collect()
    });
    table(&cells.collect::<Vec<Vec<String>>>())
}

/// Values that are too long for a table, such as digests, without their middle.
fn shortened(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| middle_out(cell, 28)).collect()).collect()
}

fn page(
    runs: &[Compared],
    letters: &[String],
    names: &[String],
    settings: &[Vec<String>],
    figures: &[Vec<String>],
) -> String {
    let mut head = html_list(letters.iter().zip(names).map(|(letter, name)| format!("{letter}: {name}")));
    head += "<h2>Settings that differ</h2>\n";
    head += &match settings.len() {
        1 => "<p>None.</p>\n".to_string(),
        _ => html_table(&shortened(settings)),
    };
    head += "<h2>Figures at the best epoch</h2>\n";
    head += &html_table(figures);
    // Names of runs are long; where all differ in their last part, that is enough beside a curve.
    let last: Vec<String> =
        names.iter().map(|name| name.rsplit('/').next().unwrap_or(name).to_string()).collect();
    let labels: Vec<String> =
        letters.iter().zip(last).map(|(letter, name)| format!("{letter} {name}")).collect();
    compare_page(runs, &labels, &head)
}

fn to_json(run: &Compared) -> Value {
    let mut object = json!({
        "run": output::path(&run.path),
        "epochs_done": run.epochs.len(),
        "best_epoch": run.best,
        "seconds": run.seconds,
        "folds": run.folds,
    });
    if let Some(best) = run.best_epoch() {
        object["best"] = serde_json::to_value(best).unwrap_or_default();
    }
    object
}

/// One row per run: its name, the settings that differ, the figures.
fn csv(names: &[String], settings: &[Vec<String>], figures: &[Vec<String>]) -> String {
    let rows: Vec<&Vec<String>> = settings[1..].iter().chain(&figures[1..]).collect();
    let mut text = line(std::iter::once("run").chain(rows.iter().map(|row| row[0].as_str())));
    for (i, name) in names.iter().enumerate() {
        text += &line(std::iter::once(name.as_str()).chain(rows.iter().map(|row| row[i + 1].as_str())));
    }
    text
}
