//! `ppgn cv`: the protocol of the paper's Table 1 on any dataset, and the fair one beside it.

use super::{WorkArgs, duration, shown, stopped};
use crate::cli::data::DATA_HELP;
use crate::cli::folder::folder;
use crate::cli::input::InputArgs;
use crate::cli::output;
use crate::cli::settings::SettingsArgs;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::train::metrics::Metric;
use ppgn::train::protocol::{Alone, Cv, CvReport, fold_numbers, seed_numbers};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// `ppgn cv`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The dataset
    data: String,
    /// Run only these folds, such as 1-5 or 1,3,5 [default: all; ten random folds if the data has none of its own]
    #[arg(long, value_name = "FOLDS")]
    folds: Option<String>,
    /// Train a network with each of these seeds in every fold, such as 0-2, on the split of the first, and measure the average
    /// of their predictions (each alone is reported too)
    #[arg(long, value_name = "SEEDS", conflicts_with_all = ["seed", "limit"])]
    seeds: Option<String>,
    /// The folder for the runs; finished runs in it are not repeated, those of fewer epochs are extended [default: runs/cv-DATASET-PRESET-SEED, or
    /// ...-seeds-SEEDS]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn cv`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let start = Instant::now();
    let chosen = args.settings.chosen()?;
    if chosen.division.is_some() {
        return Err(wrong(
            "cv splits the data into folds: remove fold, holdout and the splits from the file",
        ));
    }
    let seeds = args.seeds.as_deref().map(seed_numbers).transpose()?.unwrap_or_default();
    if !seeds.is_empty() && (chosen.limit.is_some() || chosen.overrides.seed.is_some()) {
        return Err(wrong("--seeds cannot be used with a limit or a seed in the file"));
    }
    let folds = args.folds.as_deref().map(fold_numbers).transpose()?.unwrap_or_default();
    let data = chosen.load(&args.work.session()?, &args.data, &args.input)?;
    let request = chosen.request(&data);
    let seed = match &args.seeds {
        Some(seeds) => format!("seeds-{}", seeds.trim()),
        None => chosen.seed(data.dataset.name())?.to_string(),
    };
    let out = args.out.clone().unwrap_or_else(|| folder(&["cv", data.dataset.name(), request.preset, &seed]));
    let cv = Cv::of_seeds(&request, &folds, &seeds, &out)?;
    let board = args.work.board(cv.jobs(), if seeds.is_empty() { "folds" } else { "runs" })?;
    let report =
        cv.run(&data.session, &data.dataset, args.work.workers(), &|job, notice| board.watch(job, notice));
    board.end();
    let Some(report) = report? else { return Ok(stopped(&out)) };
    if !data.session.leads() {
        return Ok(ExitCode::SUCCESS);
    }
    let seconds = start.elapsed().as_secs_f64();
    shown(&report, args.work.json, seconds, &out, || Ok(to_text(&report, seconds, &out)))
}

/// `88.30 ± 5.10`, or without the deviation if there is none.
pub(super) fn percent(mean: f64, deviation: Option<f64>) -> String {
    deviation.map_or_else(|| format!("{mean:.2}"), |s| format!("{mean:.2} ± {s:.2}"))
}

fn to_text(report: &CvReport, seconds: f64, out: &Path) -> String {
    let metric = Metric::ALL.into_iter().find(|m| m.field() == report.metric).unwrap_or_default();
    let shown = |x: f64| match metric.is_share() {
        true => format!("{:.2}", x * 100.0),
        false => output::short(x),
    };
    let both = |mean: f64, std: Option<f64>| match metric.is_share() {
        true => percent(mean * 100.0, std.map(|s| s * 100.0)) + " %",
        false => std.map_or_else(|| shown(mean), |std| format!("{} ± {}", shown(mean), shown(std))),
    };
    let mut head = vec!["fold".to_string()];
    head.extend(report.epoch.map(|epoch| format!("at epoch {epoch}")));
    head.push("its own best".into());
    head.extend(report.fair.as_ref().map(|_| "fair (epoch)".to_string()));
    let mut rows = vec![head];
    for (i, (fold, curve)) in report.folds.iter().zip(&report.curves).enumerate() {
        let better = |a: f64, b: f64| if metric.is_gain() { a.max(b) } else { a.min(b) };
        let own = curve.iter().copied().reduce(better);
        let mut row = vec![fold.to_string()];
        row.extend(report.epoch.map(|epoch| curve.get(epoch - 1).map_or("-".into(), |&x| shown(x))));
        row.push(own.map_or("-".into(), shown));
        if let Some(fair) = &report.fair {
            row.push(format!("{} ({})", fair.folds[i].map_or("-".into(), shown), fair.epochs[i]));
        }
        rows.push(row);
    }
    let (folds, kind) = (report.folds.len(), if report.folds_are == "given" { "given" } else { "random" });
    let (dataset, title) = (&report.dataset, metric.title());
    let mut text = output::table(&rows);
    if let Some(fair) = &report.fair {
        text += &super::seeds::table(&fair.figures, report.baseline.as_ref());
        let mean = fair.mean.map_or("undefined".into(), |mean| both(mean, fair.std));
        let _ = writeln!(
            text,
            "{dataset}: {title} {mean} over {folds} {kind} folds, each at the epoch selected on {} % of its training set",
            fair.validation * 100.0
        );
    } else if let Some(figures) = &report.at_epoch {
        text += &super::seeds::table(figures, report.baseline.as_ref());
    }
    let spread = report.at_epoch.as_ref().and_then(|figures| figures.get(metric));
    if let (Some(epoch), Some(spread)) = (report.epoch, spread) {
        let figure = both(spread.mean, spread.std);
        let _ = match report.fair.is_some() {
            true => writeln!(
                text,
                "by the tables' protocol (the best epoch of the mean test curve, optimistic): {figure} at epoch {epoch}"
            ),
            false => writeln!(
                text,
                "{dataset}: {title} {figure} over {folds} {kind} folds at epoch {epoch} of {}, the best of their mean curve",
                report.epochs
            ),
        };
    }
    if !report.alone.is_empty() {
        let of = |alone: &Alone| {
            let figure = |mean: Option<f64>| mean.map_or("undefined".into(), shown);
            let fair = report.fair.as_ref().map(|_| format!(" (fair {})", figure(alone.fair)));
            format!("{}{}", figure(alone.mean), fair.unwrap_or_default())
        };
        let each: Vec<String> = report.alone.iter().map(of).collect();
        let seeds: Vec<String> = report.seeds.iter().map(u64::to_string).collect();
        let _ = writeln!(
            text,
            "these are the averaged predictions of the networks of seeds {}; alone they have {}",
            seeds.join(", "),
            each.join(", ")
        );
    }
    let _ = writeln!(
        text,
        "{} ({} of training); the runs and cv.json are in {}",
        duration(seconds),
        duration(report.seconds_training),
        out.display()
    );
    text
}
