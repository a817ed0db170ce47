//! The result of a finished run, for people and for scripts.

use crate::cli::metrics;
use crate::cli::output::{self, by_target, counted};
use anyhow::Result;
use ppgn::train::{Goal, Overview, Part, Run, Summary};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn finished(run: &Run, summary: &Summary, as_json: bool) -> Result<ExitCode> {
    let seconds = Overview::of(run.path())?.seconds;
    match as_json {
        true => output::json(&to_json(run, summary, seconds))?,
        false => output::print(&to_text(run, summary, seconds))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(run: &Run, summary: &Summary, seconds: f64) -> Value {
    let (part, best) = summary.best.reported();
    let mut object = json!({
        "dataset": summary.dataset,
        "preset": summary.preset,
        "epochs": summary.epochs,
        "seed": summary.seed,
        "train_loss": summary.train_loss,
        "best_epoch": summary.best_epoch,
        "part": part,
        "loss": best.loss,
        "finished": true,
        "stopped_early": summary.stopped_early,
        "seconds": seconds,
        "run": output::path(run.path()),
    });
    if let Some(accuracy) = best.accuracy {
        object["accuracy"] = accuracy.into();
    }
    if !best.mae.is_empty() {
        object["mae"] = by_target(&summary.targets, &best.mae);
        object["mae_of_mean"] = by_target(&summary.targets, &summary.mae_of_mean);
    }
    if let Some(sets) = &summary.sets {
        object["select"] = summary.select.to_string().into();
        object["sets"] = json!(sets);
    }
    object
}

fn to_text(run: &Run, summary: &Summary, seconds: f64) -> String {
    let settings = run.settings();
    let (part, best) = summary.best.reported();
    let mut text = String::new();
    let selected = match settings.trained().is_some_and(|trained| trained.division.has_validation()) {
        true => String::new(),
        false => format!(", selected on the {part} set (optimistic)"),
    };
    let early = if summary.stopped_early { " (stopped early)" } else { "" };
    let of = summary.epochs;
    let when = format!("at epoch {} of {of}{early}{selected}; {seconds:.1} s", summary.best_epoch);
    match (&settings.goal, best.accuracy) {
        (Goal::Classes(classes), accuracy) => {
            let accuracy = accuracy.unwrap_or(0.0);
            let _ = writeln!(text, "{}: {part} accuracy {:.1} % {when}", summary.dataset, accuracy * 100.0);
            if let Some(sets) = &summary.sets {
                text += &metrics::table(sets, &settings.class_titles());
            }
            if settings.trained().is_some_and(|trained| trained.data == "csl") {
                text += &lesson(classes.len(), accuracy);
            }
        }
        (Goal::Labels(labels), accuracy) => {
            let accuracy = accuracy.unwrap_or(0.0) * 100.0;
            let of = counted(labels.len(), "label", "labels");
            let _ = writeln!(text, "{}: {part} accuracy of {of} {accuracy:.1} % {when}", summary.dataset);
            if let Some(sets) = &summary.sets {
                text += &metrics::table(sets, &settings.class_titles());
            }
        }
        (Goal::Targets(targets), _) => {
            let _ = writeln!(
                text,
                "{}: mean absolute {part} error of {} {when}",
                summary.dataset,
                counted(targets.len(), "target", "targets")
            );
            let sets = summary.sets.as_ref().and_then(|sets| sets.named().last());
            text += &match sets {
                Some((_, set)) => metrics::of_targets(targets, &set.metrics, &set.baseline),
                // A run of an earlier version knows the mean absolute errors only.
                None => {
                    let baseline = Part { mae: summary.mae_of_mean.clone(), ..Part::default() };
                    metrics::of_targets(targets, best, &baseline)
                }
            };
        }
    }
    let path = run.path().display();
    let _ = writeln!(
        text,
        "The run is in {path}: report.html has its curves, `ppgn predict {path} DATA` uses it."
    );
    text
}

/// What the demo on the built-in dataset shows.
fn lesson(classes: usize, accuracy: f64) -> String {
    let chance = 100.0 / classes as f64;
    let mut text = format!(
        "The {classes} classes are graphs that no message-passing network can distinguish: for one, {chance:.0} % is chance.\n"
    );
    if accuracy == 1.0 {
        text += "This network distinguished all of them.\n";
    }
    text
}
