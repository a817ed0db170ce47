//! `ppgn predict`: the predictions of a trained network, one row per graph.

mod pairs;

use super::data::DATA_HELP;
use super::folder::writable;
use super::input::InputArgs;
use super::load::load_all;
use super::output::{self, by_target, counted};
use super::session::MemoryArgs;
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::graph::file::write_whole;
use ppgn::train::metrics::multi_label;
use ppgn::train::{Goal, Prediction, Predictor, Settings};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// `ppgn predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// The graphs, with the features of those that the run was trained on
    data: String,
    /// Write the rows to FILE: .csv, or .jsonl (JSON Lines) [default: print them as CSV]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// The raw outputs of the network instead of probabilities or values
    #[arg(long)]
    scores: bool,
    /// Take graphs 2p and 2p+1 as pairs: how many a compiled network distinguishes
    #[arg(long, conflicts_with_all = ["out", "scores"])]
    pairs: bool,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print one JSON object, and rows to --out only
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn predict`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let format = args.out.as_deref().map_or(Ok(Format::Csv), format)?;
    args.out.as_deref().map_or(Ok(()), |out| writable(out, args.force))?;
    let predictor = Predictor::open(&args.memory.session(), &args.run)?;
    output::warn(predictor.warnings());
    let (_, dataset) = load_all(&args.data, &args.input)?;
    if args.pairs {
        return pairs::run(args, &predictor, &dataset);
    }
    let start = Instant::now();
    let rows = rows(&predictor, &dataset, args.scores)?;
    let seconds = start.elapsed().as_secs_f64();
    let text = || format.text(&rows, predictor.settings());
    match &args.out {
        Some(path) => {
            write_whole(path, text().as_bytes())?;
        }
        None if !args.json => output::print(&text())?,
        None => {}
    }
    let quality = quality(predictor.settings(), &dataset, &rows);
    if args.json {
        let mut object = json!({
            "run": output::path(&args.run),
            "data": dataset.name(),
            "graphs": dataset.len(),
            "out": args.out.as_deref().map(output::path),
            "seconds": seconds,
        });
        if let Some((key, value)) = quality {
            object[key] = value;
        }
        output::json(&object)?;
    } else {
        let wrote =
            args.out.as_ref().map(|path| format!(", written to {}", path.display())).unwrap_or_default();
        let quality = quality.map(|(key, value)| format!(", {key} {value}")).unwrap_or_default();
        eprintln!("{}{wrote}{quality} ({seconds:.2} s)", counted(dataset.len(), "graph", "graphs"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A row of the result.
enum Row {
    Scores(Vec<f64>),
    Said(Prediction),
}

fn rows(predictor: &Predictor, dataset: &Dataset, scores: bool) -> Result<Vec<Row>> {
    Ok(match scores {
        true => predictor.scores(dataset)?.into_iter().map(Row::Scores).collect(),
        false => predictor.predict(dataset)?.into_iter().map(Row::Said).collect(),
    })
}

/// How right the rows are, where the data knows better.
fn quality(
    settings: &Settings,
    dataset: &Dataset,
    rows: &[Row],
) -> Option<(&'static str, serde_json::Value)> {
    match &settings.goal {
        Goal::Classes(_) if dataset.has_classes() => {
            let (mut right, mut known) = (0, 0);
            for (i, row) in rows.iter().enumerate() {
                let Row::Said(Prediction::Class { class, .. }) = row else { return None };
                let Some(label) = dataset.record(i).label else { continue };
                known += 1;
                right += usize::from(label == *class);
            }
            (known > 0).then(|| ("accuracy", (right as f64 / known as f64).into()))
        }
        Goal::Targets(targets) => {
            let known = &dataset.header().targets;
            let columns: Option<Vec<usize>> =
                targets.iter().map(|t| known.iter().position(|k| k.name == t.name)).collect();
            let columns = columns?;
            let mut errors = vec![(0.0, 0usize); columns.len()];
            for (i, row) in rows.iter().enumerate() {
                let Row::Said(Prediction::Values(values)) = row else { return None };
                let truth = dataset.targets(i);
                for (((error, known), &c), value) in errors.iter_mut().zip(&columns).zip(values) {
                    if !truth[c].is_nan() {
                        *error += (value - truth[c]).abs();
                        *known += 1;
                    }
                }
            }
            // A target that no graph knows has no error.
            let errors: Vec<f64> = errors.iter().map(|(error, known)| error / *known as f64).collect();
            if errors.iter().any(|e| e.is_nan()) {
                return None;
            }
            let names: Vec<String> = targets.iter().map(|t| t.name.clone()).collect();
            Some(("mae", by_target(&names, &errors)))
        }
        Goal::Labels(labels) => {
            let known = &dataset.header().targets;
            let columns: Option<Vec<usize>> =
                labels.iter().map(|t| known.iter().position(|k| k.name == t.name)).collect();
            let columns = columns?;
            let (mut truth, mut probabilities) = (Vec::new(), Vec::new());
            for (i, row) in rows.iter().enumerate() {
                let Row::Said(Prediction::Labels(row)) = row else { return None };
                truth.extend(columns.iter().map(|&c| dataset.targets(i)[c]));
                probabilities.extend_from_slice(row);
            }
            multi_label(&truth, &probabilities, labels.len()).mean.accuracy.map(|a| ("accuracy", a.into()))
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Jsonl,
}

fn format(path: &Path) -> Result<Format> {
    let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("csv") => Ok(Format::Csv),
        Some("jsonl") => Ok(Format::Jsonl),
        _ => Err(wrong(format!("{}: predictions are written as .csv or .jsonl", path.display()))),
    }
}

impl Format {
    fn text(self, rows: &[Row], settings: &Settings) -> String {
        let mut text = String::new();
        if let Format::Csv = self {
            text = head(settings, matches!(rows.first(), Some(Row::Scores(_))));
        }
        for (index, row) in rows.iter().enumerate() {
            let _ = match self {
                Format::Csv => writeln!(text, "{index},{}", csv(row)),
                Format::Jsonl => writeln!(text, "{}", jsonl(index, row)),
            };
        }
        text
    }
}

fn jsonl(index: usize, row: &Row) -> serde_json::Value {
    match row {
        Row::Scores(scores) => json!({ "index": index, "scores": scores }),
        Row::Said(Prediction::Class { class, probabilities }) => {
            json!({ "index": index, "class": class, "probabilities": probabilities })
        }
        Row::Said(Prediction::Labels(probabilities)) => {
            json!({ "index": index, "probabilities": probabilities })
        }
        Row::Said(Prediction::Values(values)) => json!({ "index": index, "values": values }),
    }
}

fn csv(row: &Row) -> String {
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    match row {
        Row::Scores(numbers)
        | Row::Said(Prediction::Values(numbers))
        | Row::Said(Prediction::Labels(numbers)) => list(numbers),
        Row::Said(Prediction::Class { class, probabilities }) => format!("{class},{}", list(probabilities)),
    }
}

/// The head line of a CSV file.
fn head(settings: &Settings, scores: bool) -> String {
    let quoted = |name: &str| match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    };
    let prefix = if scores { "score" } else { "probability" };
    let mut columns = vec!["index".to_string()];
    match &settings.goal {
        Goal::Classes(classes) => {
            columns.extend((!scores).then(|| "class".to_string()));
            columns.extend(classes.iter().map(|class| format!("{prefix} {class}")));
        }
        Goal::Labels(labels) => {
            columns.extend(labels.iter().map(|t| quoted(&format!("{prefix} {}", t.name))));
        }
        Goal::Targets(targets) => {
            let prefix = if scores { "score " } else { "" };
            columns.extend(targets.iter().map(|t| quoted(&format!("{prefix}{}", t.name))));
        }
    }
    columns.join(",") + "\n"
}
