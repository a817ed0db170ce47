//! `ppgn cv`: the protocol of the paper's Table 1 on any dataset with classes.

use super::{WorkArgs, duration, shown, stopped};
use crate::cli::data::DATA_HELP;
use crate::cli::folder::folder;
use crate::cli::input::InputArgs;
use crate::cli::output;
use crate::cli::settings::SettingsArgs;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::train::protocol::{Cv, CvReport, fold_numbers};
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
    /// The folder for the runs; finished runs in it are not repeated [default: runs/cv-DATASET-PRESET-SEED]
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
        return Err(wrong("cv splits the data into folds: remove fold, holdout and split from the file"));
    }
    let folds = args.folds.as_deref().map(fold_numbers).transpose()?.unwrap_or_default();
    let data = chosen.load(&args.work.session(), &args.data, &args.input)?;
    let request = chosen.request(&data);
    let seed = chosen.seed(data.dataset.name())?.to_string();
    let out = args.out.clone().unwrap_or_else(|| folder(&["cv", data.dataset.name(), request.preset, &seed]));
    let cv = Cv::new(&request, &folds, &out)?;
    let board = args.work.board(cv.jobs(), "folds")?;
    let report =
        cv.run(&data.session, &data.dataset, args.work.workers(), &|job, notice| board.watch(job, notice));
    board.end();
    let Some(report) = report? else { return Ok(stopped(&out)) };
    let seconds = start.elapsed().as_secs_f64();
    shown(&report, args.work.json, seconds, &out, || Ok(to_text(&report, seconds, &out)))
}

/// `88.30 ± 5.10`, or without the deviation if there is none.
pub(super) fn percent(mean: f64, deviation: Option<f64>) -> String {
    deviation.map_or_else(|| format!("{mean:.2}"), |s| format!("{mean:.2} ± {s:.2}"))
}

fn to_text(report: &CvReport, seconds: f64, out: &Path) -> String {
    let at_best = |curve: &Vec<f64>| curve.get(report.epoch - 1).copied().unwrap_or(0.0) * 100.0;
    let mut rows =
        vec![vec!["fold".to_string(), format!("at epoch {}", report.epoch), "its own best".into()]];
    for (fold, curve) in report.folds.iter().zip(&report.curves) {
        let own = curve.iter().copied().fold(0.0, f64::max) * 100.0;
        rows.push(vec![fold.to_string(), format!("{:.2}", at_best(curve)), format!("{own:.2}")]);
    }
    format!(
        "{}{}: accuracy {} % over {} {} folds at epoch {} of {}, the best of their mean curve\n\
         {} ({} of training); the runs and cv.json are in {}\n",
        output::table(&rows),
        report.dataset,
        percent(report.accuracy_mean * 100.0, report.accuracy_std.map(|s| s * 100.0)),
        report.folds.len(),
        if report.folds_are == "given" { "given" } else { "random" },
        report.epoch,
        report.epochs,
        duration(seconds),
        duration(report.seconds_training),
        out.display()
    )
}
