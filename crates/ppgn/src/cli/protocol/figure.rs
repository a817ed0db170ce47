//! `ppgn reproduce figure`: the paper's inset figure, four models on one split.

use super::reproduce::{Common, Order, Part, permission};
use super::{duration, shown, stopped};
use crate::cli::load::Data;
use crate::cli::output;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::nn::Model;
use ppgn::train::protocol::{Figure, FigurePart, FigureReport, TrainedPart, Workers};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
Four models with blocks of 32, 64 and 256 channels, depth 2 and suffix ii: mp (the paper's matrix product), mp+lin (and the
full basis of linear equivariant layers), lin (that basis alone) and mlp (each pair on its own). Each is trained on nine
tenths of the graphs and validated on the rest, with the split of `ppgn search`. Without --rate each model takes the best of
the learning rates 5e-5, 1e-4, 5e-4 and 1e-3, found with the first seed. figure.svg, figure.csv and figure.json are in the
folder, next to the runs.";

/// `ppgn reproduce figure`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The dataset, with classes
    #[arg(long, value_name = "DATA", default_value = "NCI1")]
    data: String,
    /// Number of seeds that the curves are averaged over: --seed and those after it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: u16,
    /// Learning rate of all models, instead of a search
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    rate: Option<f64>,
    #[command(flatten)]
    common: Common,
}

/// Runs `ppgn reproduce figure`.
pub(super) fn figure(args: &Args) -> Result<ExitCode> {
    let start = Instant::now();
    let common = &args.common;
    let data = common.load(&common.work.session()?, &args.data)?;
    let last = common.seed.checked_add(u64::from(args.seeds) - 1);
    let last = last.ok_or_else(|| wrong("the last seed is beyond 2^64 - 1"))?;
    let figure = Figure {
        data: &data.spec,
        dataset: &data.dataset,
        limit: common.limit,
        epochs: common.epochs,
        seeds: (common.seed..=last).collect(),
        rate: args.rate,
        folder: common.folder().join("figure").join(data.dataset.name()),
    };
    let workers = common.work.workers();
    let parts = figure.first()?;
    if let Some(code) = permission(&known(&parts, &figure, &data), Order::Together, workers, common)? {
        return Ok(code);
    }
    let Some(mut trained) = train(&figure, &data, parts, workers, common)? else {
        return Ok(stopped(&common.folder()));
    };
    let Some(rest) = train(&figure, &data, figure.rest(&trained)?, workers, common)? else {
        return Ok(stopped(&common.folder()));
    };
    trained.extend(rest);
    let report = figure.finish(&trained)?;
    let seconds = start.elapsed().as_secs_f64();
    shown(&report, common.work.json, seconds, &figure.folder, || {
        Ok(format!("{}{}", to_text(&report, seconds, &figure.folder), common.reservation()))
    })
}

/// The runs that can be planned before any is trained, one part per model.
fn known<'a>(parts: &[FigurePart], figure: &Figure<'_>, data: &'a Data) -> Vec<Part<'a>> {
    let later = if figure.rate.is_some() { 0 } else { figure.seeds.len() - 1 };
    let part = |model: Model| Part {
        name: model.name().to_string(),
        data,
        jobs: parts.iter().filter(|p| p.model() == model).flat_map(FigurePart::jobs).cloned().collect(),
        later,
    };
    Model::FIGURE.map(part).into()
}

fn train(
    figure: &Figure<'_>,
    data: &Data,
    parts: Vec<FigurePart>,
    workers: Workers,
    common: &Common,
) -> Result<Option<Vec<TrainedPart>>> {
    if parts.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let jobs: Vec<_> = parts.iter().flat_map(FigurePart::jobs).cloned().collect();
    let board = common.work.board(&jobs, "runs")?;
    let trained = figure.train(&data.session, parts, workers, &|job, notice| board.watch(job, notice));
    board.end();
    Ok(trained?)
}

fn to_text(report: &FigureReport, seconds: f64, out: &Path) -> String {
    let head = ["model", "parameters", "rate", "s/epoch", "training %", "validation %", "epoch"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for curves in &report.models {
        let Some(first) = curves.runs.first() else { continue };
        let runs = (curves.runs.len() * report.epochs.max(1)) as f64;
        rows.push(vec![
            curves.model.to_string(),
            first.parameters.to_string(),
            first.rate.to_string(),
            format!("{:.2}", curves.runs.iter().map(|run| run.seconds).sum::<f64>() / runs),
            format!("{:.2}", 100.0 * curves.training_best),
            format!("{:.2}", 100.0 * curves.validation_best),
            format!("{}/{}", curves.validation_epoch, report.epochs),
        ]);
    }
    let holds =
        |what: &str, so: bool| format!("{what}: {}.\n", if so { "yes, as the paper says" } else { "no" });
    format!(
        "{}, {} graphs: maxima of the training and validation curves, mean over {}\n{}{}{}\
         {}; figure.svg, figure.csv and the runs are in {}\n",
        report.dataset,
        report.graphs,
        output::counted(report.seeds.len(), "seed", "seeds"),
        output::table(&rows),
        holds("The MLP fits worst", report.mlp_fits_worst),
        holds("mp's validation accuracy is at least lin's", report.mp_at_least_lin),
        duration(seconds),
        out.display()
    )
}
