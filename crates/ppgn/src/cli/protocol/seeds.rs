//! `ppgn train --seeds`: one training with several seeds, mean and deviation of every metric, and averaged predictions.

use super::board::Board;
use super::{duration, shown, stopped};
use crate::cli::load::Data;
use crate::cli::log::LogArgs;
use crate::cli::metrics::figure;
use crate::cli::output::{self, short};
use crate::cli::predict::rows::{Format, Given, Rows};
use anyhow::Result;
use ppgn::graph::file::write_whole;
use ppgn::graph::split::part_names;
use ppgn::train::metrics::{Measured, Metric};
use ppgn::train::protocol::{Seeds, SeedsReport, Spread, Spreads, Workers};
use ppgn::train::{Request, Truth};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// How the runs are executed and shown.
pub(crate) struct How {
    pub(crate) workers: Workers,
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    pub(crate) log: LogArgs,
}

/// Trains with these seeds in the folder `out`, or goes on with what is there.
pub(crate) fn run(
    request: &Request<'_>,
    data: &Data,
    seeds: &[u64],
    out: &Path,
    how: &How,
) -> Result<ExitCode> {
    let start = Instant::now();
    let seeds = Seeds::new(request, seeds, out)?;
    let board = Board::new(seeds.jobs(), "seeds", how.quiet, how.log.logs())?;
    let ended = seeds.run(&data.session, &data.dataset, how.workers, &|job, notice| board.watch(job, notice));
    board.end();
    let Some((report, predictions)) = ended? else { return Ok(stopped(out)) };
    if !data.session.leads() {
        return Ok(ExitCode::SUCCESS);
    }
    let settings = &seeds.jobs()[0].settings;
    let positions: Vec<u32> = (0..data.dataset.len() as u32).collect();
    let parts = part_names(seeds.split(), data.dataset.len());
    let rows = Rows {
        settings,
        dataset: &data.dataset,
        truth: &Truth::of(settings, &data.dataset)?,
        positions: &positions,
        parts: Some(&parts),
        given: &Given::Predictions(predictions),
    };
    write_whole(&out.join("predictions.csv"), rows.text(Format::Csv).as_bytes())?;
    let seconds = start.elapsed().as_secs_f64();
    shown(&report, how.json, seconds, out, || Ok(to_text(&report, seconds, out)))
}

/// `0.8830 ± 0.0210`, in percent for shares.
fn spread(metric: Metric, spread: Option<Spread>) -> String {
    match spread {
        None => "-".into(),
        Some(Spread { mean, std }) if metric.is_share() => {
            super::cv::percent(mean * 100.0, std.map(|s| s * 100.0)) + " %"
        }
        Some(Spread { mean, std }) => {
            std.map_or_else(|| format!("{mean:.4}"), |std| format!("{mean:.4} ± {std:.4}"))
        }
    }
}

/// Mean and deviation of a target's error.
fn error(spread: Option<Spread>) -> String {
    match spread {
        None => "-".into(),
        Some(Spread { mean, std: None }) => short(mean),
        Some(Spread { mean, std: Some(std) }) => format!("{} ± {}", short(mean), short(std)),
    }
}

fn to_text(report: &SeedsReport, seconds: f64, out: &Path) -> String {
    let reported = [
        ("test", &report.sets.test, &report.ensemble.test),
        ("validation", &report.sets.validation, &report.ensemble.validation),
        ("training", &report.sets.train, &report.ensemble.train),
    ];
    let found = reported
        .into_iter()
        .find_map(|(name, sets, ensemble)| Some((name, sets.as_ref()?, ensemble.as_ref()?)));
    let mut text = String::new();
    if let Some((name, sets, ensemble)) = found {
        text = format!(
            "{}: {} seeds on the {name} set ({}), each at its best epoch; averaged is the mean of their predictions\n{}",
            report.dataset,
            report.seeds.len(),
            ensemble.size(),
            figures(sets, ensemble)
        );
    }
    text + &format!(
        "{} ({} of training); the runs, seeds.json and predictions.csv are in {}, `ppgn predict {} DATA` averages them\n",
        duration(seconds),
        duration(report.seconds_training),
        out.display(),
        out.display()
    )
}

fn figures(sets: &Spreads, ensemble: &Measured) -> String {
    let head = |what: &str, base: &str| {
        vec![what.to_string(), "mean ± deviation".into(), "averaged".into(), base.into()]
    };
    if sets.targets.is_empty() {
        let mut rows = vec![head("metric", "baseline (majority class)")];
        for metric in Metric::CLASSES {
            let [averaged, base] =
                [&ensemble.metrics, &ensemble.baseline].map(|part| figure(metric, metric.value(part)));
            rows.push(vec![metric.title().to_string(), spread(metric, sets.get(metric)), averaged, base]);
        }
        return output::table(&rows);
    }
    let mut rows = vec![head("target", "baseline (predict the mean)")];
    let known = |values: &[Option<f64>], t: usize| values.get(t).copied().flatten().map_or("-".into(), short);
    for (t, target) in sets.targets.iter().enumerate() {
        let mae = |values: &[f64]| values.get(t).filter(|x| !x.is_nan()).map_or("-".into(), |x| short(*x));
        let (found, base) = (&ensemble.metrics, &ensemble.baseline);
        let unit = if target.unit.is_empty() { String::new() } else { format!(" ({})", target.unit) };
        rows.push(vec![
            format!("{}: error{unit}", target.name),
            error(target.mae),
            mae(&found.mae),
            mae(&base.mae),
        ]);
        rows.push(vec![
            format!("{}: RMSE{unit}", target.name),
            error(target.rmse),
            known(&found.rmse, t),
            known(&base.rmse, t),
        ]);
        rows.push(vec![
            format!("{}: R2", target.name),
            error(target.r2),
            known(&found.r2, t),
            known(&base.r2, t),
        ]);
    }
    output::table(&rows)
}

/// All figures of several runs as a table, beside those of the baseline.
pub(super) fn table(sets: &Spreads, baseline: Option<&Spreads>) -> String {
    let mut rows = vec![vec!["metric".to_string(), "mean ± deviation".into(), "baseline".into()]];
    if sets.targets.is_empty() {
        for metric in Metric::CLASSES {
            let base = spread(metric, baseline.and_then(|b| b.get(metric)));
            rows.push(vec![metric.title().to_string(), spread(metric, sets.get(metric)), base]);
        }
    }
    for (t, target) in sets.targets.iter().enumerate() {
        let base = baseline.and_then(|b| b.targets.get(t));
        let unit = if target.unit.is_empty() { String::new() } else { format!(" ({})", target.unit) };
        let row = |name: String, of: Option<Spread>, base: Option<Spread>| vec![name, error(of), error(base)];
        rows.push(row(format!("{}: error{unit}", target.name), target.mae, base.and_then(|b| b.mae)));
        rows.push(row(format!("{}: RMSE{unit}", target.name), target.rmse, base.and_then(|b| b.rmse)));
        rows.push(row(format!("{}: R2", target.name), target.r2, base.and_then(|b| b.r2)));
    }
    output::table(&rows)
}
