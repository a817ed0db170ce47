//! `ppgn search`: a grid search on one fixed split, by default over the paper's grid.

use super::{WorkArgs, duration, shown, stopped};
use crate::cli::data::DATA_HELP;
use crate::cli::folder::folder;
use crate::cli::input::InputArgs;
use crate::cli::metrics::figure;
use crate::cli::output::{self, short};
use crate::cli::settings::SettingsArgs;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::train::metrics::Metric;
use ppgn::train::protocol::{Grid, Search, SearchReport, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
A grid is a TOML file with a list of values for any settings except the seed:
  rate = [1e-3, 3e-4]
  blocks = [[32, 32, 32], [64, 64, 64]]
  norm = [\"none\", \"rms\"]
Every combination is a run. For classification a tenth of the graphs, drawn by the seed, is held out; for
regression the split is 80/10/10 and the validation set counts. Trials are ranked by the metric of --select, by
default the accuracy, for regression the loss, on the held-out graphs at the best epoch.";

/// `ppgn search`.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{HELP}\n\n{DATA_HELP}"))]
pub(crate) struct Args {
    /// The dataset
    data: String,
    /// File with the values to try [default: the paper's rates 5e-5 1e-4 5e-4 1e-3 and decays 0.5 0.75 1]
    #[arg(long, value_name = "FILE.toml")]
    grid: Option<PathBuf>,
    /// The folder for the runs; finished runs in it are not repeated, those of fewer epochs are extended [default: runs/search-DATASET-PRESET-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn search`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let start = Instant::now();
    let chosen = args.settings.chosen()?;
    if chosen.division.is_some() {
        return Err(wrong("search has a split of its own: remove fold, holdout and split from the file"));
    }
    let grid = args.grid.as_deref().map_or_else(|| Ok(Grid::paper()), read_grid)?;
    let data = chosen.load(&args.work.session()?, &args.data, &args.input)?;
    let request = chosen.request(&data);
    let seed = chosen.seed(data.dataset.name())?.to_string();
    let out =
        args.out.clone().unwrap_or_else(|| folder(&["search", data.dataset.name(), request.preset, &seed]));
    let search = Search::new(&request, &grid, &out)?;
    let board = args.work.board(search.jobs(), "trials")?;
    let report = search
        .run(&data.session, &data.dataset, args.work.workers(), &|job, notice| board.watch(job, notice));
    board.end();
    let Some(report) = report? else { return Ok(stopped(&out)) };
    if !data.session.leads() {
        return Ok(ExitCode::SUCCESS);
    }
    let seconds = start.elapsed().as_secs_f64();
    shown(&report, args.work.json, seconds, &out, || to_text(&report, &grid, seconds, &out))
}

fn read_grid(path: &Path) -> Result<Grid> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => wrong(format!("{}: there is no such file", path.display())),
        _ => Error::io(path, e).into(),
    })?;
    Ok(Grid::from_toml(&text, &path.display().to_string())?)
}

fn to_text(report: &SearchReport, grid: &Grid, seconds: f64, out: &Path) -> Result<String> {
    let names: Vec<&str> = grid.names().collect();
    let metric = Metric::ALL.into_iter().find(|m| m.field() == report.metric).unwrap_or_default();
    let mut head = vec!["rank".to_string()];
    head.extend(names.iter().map(|name| name.to_string()));
    head.push(match metric {
        Metric::Accuracy => "accuracy %".into(),
        Metric::Loss => "error".into(),
        metric => metric.title().into(),
    });
    head.extend(["loss", "epoch"].map(String::from));
    let mut rows = vec![head];
    for trial in &report.trials {
        let mut row = vec![trial.rank.to_string()];
        row.extend(
            names.iter().map(|name| trial.settings.get(*name).map_or_else(String::new, ToString::to_string)),
        );
        row.extend(figures(trial, metric));
        rows.push(row);
    }
    let best = match &report.best {
        Some(best) => format!("The best settings, as a file for --config:\n\n{}", toml::to_string(best)?),
        None => "No trial's loss stayed finite: smaller learning rates may help.\n".to_string(),
    };
    let held_out = if report.targets.is_empty() { "a held-out tenth" } else { "the validation set" };
    Ok(format!(
        "{}, ranked by {} on {held_out}, seed {}\n{}{best}\n{}; the runs and search.json are in {}\n",
        report.dataset,
        metric.title(),
        report.seed,
        output::table(&rows),
        duration(seconds),
        out.display()
    ))
}

fn figures(trial: &Trial, metric: Metric) -> [String; 3] {
    let Some(part) = &trial.held_out else { return ["not finite", "", ""].map(String::from) };
    let figure = match (metric, part.mae.as_slice()) {
        (Metric::Accuracy, _) => part.accuracy.map_or("-".into(), |share| format!("{:.2}", share * 100.0)),
        (Metric::Loss, [mae]) => short(*mae),
        (Metric::Loss, maes) if maes.len() > 1 => format!("{} targets", maes.len()),
        (metric, _) => figure(metric, metric.value(part)),
    };
    [figure, short(part.loss), trial.best_epoch.map_or_else(String::new, |e| e.to_string())]
}
