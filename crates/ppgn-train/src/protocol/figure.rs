//! The paper's inset figure, "Equivariant layer evaluation": four models trained on one split, their training and
//! validation accuracy by epoch.
//!
//! The authors published no code for it. What the paper specifies is followed to the letter: blocks of 32, 64 and 256
//! channels, depth 2, the learning rate searched "as above" (the four rates of the tables' grid), decay 0.75 every 20
//! epochs. What it leaves open is as in its first network: suffix ii, batches of 5 graphs of one size, the authors'
//! encoding and epochs. Everything consists of searches, hence of run folders, and resumes.

use super::curve::average;
use super::jobs::{Job, JobWatcher, Workers, run_jobs};
use super::search::{Grid, Search, SearchReport};
use crate::chart::{Axis, Chart, Curve, Look, Panel, Scale};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::metrics::Epoch;
use crate::run::{read_metrics, write_json};
use crate::session::Session;
use crate::settings::{Overrides, Request};
use ppgn_graph::Dataset;
use ppgn_graph::file::write_whole;
use ppgn_nn::{BlockConfig, Layout, Model, SuffixKind};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The preset for what the paper's paragraph leaves open.
const PRESET: &str = "paper-1";

/// The rates of the paper's grid.
const RATES: [f64; 4] = [5e-5, 1e-4, 5e-4, 1e-3];

/// What to train.
#[derive(Debug, Clone)]
pub struct Figure<'a> {
    /// The name of the data.
    pub data: &'a str,
    /// The data; its graphs have classes.
    pub dataset: &'a Dataset,
    /// The number of graphs that were drawn, if not all were taken.
    pub limit: Option<usize>,
    /// Epochs of every run; the authors' for the dataset if `None`.
    pub epochs: Option<usize>,
    /// The seeds, at least one. Each draws a split, the same for all models, and weights and batches.
    pub seeds: Vec<u64>,
    /// The learning rate of all models; searched with the first seed if `None`.
    pub rate: Option<f64>,
    /// The folder of all runs: `MODEL/seed-S/rate=R`.
    pub folder: PathBuf,
}

/// A model's runs with one seed.
#[derive(Debug, Clone)]
pub struct FigurePart {
    model: Model,
    seed: u64,
    search: Search,
}

impl FigurePart {
    /// The model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Its runs, one per rate.
    pub fn jobs(&self) -> &[Job] {
        self.search.jobs()
    }
}

/// A part whose runs are finished.
#[derive(Debug, Clone)]
pub struct TrainedPart {
    part: FigurePart,
    report: SearchReport,
}

impl TrainedPart {
    /// The best rate.
    fn rate(&self) -> Result<f64> {
        let best = self.report.best.as_ref().and_then(|best| best.get("rate"));
        best.and_then(toml::Value::as_float).ok_or_else(|| {
            let why = self.report.trials.iter().find_map(|t| t.diverged.as_deref()).unwrap_or_default();
            let (model, seed) = (self.part.model.name(), self.part.seed);
            Error::Incomplete(format!("{model}, seed {seed}: no run stayed finite. {why}"))
        })
    }

    /// The run at that rate.
    fn curves(&self) -> Result<RunCurves> {
        let rate = self.rate()?;
        let (Some(trial), Some(job)) = (self.report.trials.first(), self.part.jobs().first()) else {
            return Err(Error::Incomplete("a search without runs".into()));
        };
        let epochs = read_metrics(&trial.run, job.settings.training.epochs)?;
        let of = |share: &dyn Fn(&Epoch) -> Option<f64>| -> Result<Vec<f64>> {
            let curve: Option<Vec<f64>> = epochs.iter().map(share).collect();
            let whole = curve.filter(|c| c.len() == job.settings.training.epochs);
            whole.ok_or_else(|| {
                let path = trial.run.join("metrics.jsonl");
                Error::Run { path, message: "an epoch has no accuracy".into() }
            })
        };
        Ok(RunCurves {
            seed: self.part.seed,
            rate,
            run: trial.run.clone(),
            parameters: Layout::new(&job.settings.network).len(),
            seconds: trial.seconds,
            training: of(&|epoch| epoch.train.accuracy)?,
            validation: of(&|epoch| epoch.test.as_ref().and_then(|part| part.accuracy))?,
        })
    }
}

impl Figure<'_> {
    fn part(&self, model: Model, seed: u64, rates: &[f64]) -> Result<FigurePart> {
        let overrides = Overrides {
            epochs: self.epochs,
            seed: Some(seed),
            model: Some(model),
            blocks: Some([32, 64, 256].map(BlockConfig::new).to_vec()),
            depth: Some(2),
            suffix: Some(SuffixKind::Ii),
            batch: Some(5),
            decay: Some(0.75),
            decay_every: Some(20),
            ..Overrides::default()
        };
        let request =
            Request { limit: self.limit, preset: PRESET, overrides, ..Request::new(self.data, self.dataset) };
        let folder = self.folder.join(model.name()).join(format!("seed-{seed}"));
        let search = Search::new(&request, &Grid::rates(rates), folder)?;
        Ok(FigurePart { model, seed, search: search.called(model.name()) })
    }

    /// The runs that can be planned before any is trained: all if the rate is given, else those of the first seed.
    pub fn first(&self) -> Result<Vec<FigurePart>> {
        let Some((&first, others)) = self.seeds.split_first() else {
            return Err(Error::settings("the figure needs at least one seed"));
        };
        if let Goal::Targets(_) = Goal::of(self.dataset, &[])? {
            let dataset = self.dataset.name().to_string();
            return Err(Error::NeedsClasses { dataset, protocol: "the figure" });
        }
        let mut parts = Vec::new();
        for model in Model::FIGURE {
            match self.rate {
                None => parts.push(self.part(model, first, &RATES)?),
                Some(rate) => {
                    for seed in std::iter::once(&first).chain(others) {
                        parts.push(self.part(model, *seed, &[rate])?);
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Trains what is missing of some parts; `None` if it was stopped.
    pub fn train(
        &self,
        session: &Session,
        parts: Vec<FigurePart>,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<Vec<TrainedPart>>> {
        let jobs: Vec<Job> = parts.iter().flat_map(|part| part.jobs()).cloned().collect();
        let Some(ended) = run_jobs(session, &jobs, self.dataset, workers, watcher)? else { return Ok(None) };
        let mut ended = ended.into_iter();
        let trained = |part: FigurePart| {
            let own = ended.by_ref().take(part.jobs().len()).collect();
            Ok(TrainedPart { report: part.search.ended(session, own)?, part })
        };
        parts.into_iter().map(trained).collect::<Result<_>>().map(Some)
    }

    /// The runs after the first ones: those of the other seeds at the best rates, if any.
    pub fn rest(&self, first: &[TrainedPart]) -> Result<Vec<FigurePart>> {
        let seeds = if self.rate.is_some() { &[][..] } else { self.seeds.get(1..).unwrap_or_default() };
        let mut parts = Vec::new();
        for trained in first {
            let rate = trained.rate()?;
            for &seed in seeds {
                parts.push(self.part(trained.part.model, seed, &[rate])?);
            }
        }
        Ok(parts)
    }

    /// The report of all trained parts; writes `figure.csv`, `figure.svg` and `figure.json` to the folder.
    pub fn finish(&self, trained: &[TrainedPart]) -> Result<FigureReport> {
        let report = self.report(trained)?;
        report.write(&self.folder)?;
        Ok(report)
    }

    fn report(&self, trained: &[TrainedPart]) -> Result<FigureReport> {
        let mut models = Vec::new();
        for model in Model::FIGURE {
            let of_model = trained.iter().filter(|t| t.part.model == model);
            models.push(Curves::of(model, of_model.map(TrainedPart::curves).collect::<Result<_>>()?)?);
        }
        let first = trained.first().and_then(|t| t.part.jobs().first());
        let epochs = first.map_or(0, |job| job.settings.training.epochs);
        let highest = |i: usize| models[i].training_best;
        let [mp, _, lin, mlp] = [0, 1, 2, 3];
        let mlp_fits_worst = (0..mlp).all(|i| highest(mlp) < highest(i));
        let mp_at_least_lin = models[mp].validation_best >= models[lin].validation_best;
        Ok(FigureReport {
            dataset: self.dataset.name().to_string(),
            graphs: self.dataset.len(),
            epochs,
            seeds: self.seeds.clone(),
            rate: self.rate,
            mlp_fits_worst,
            mp_at_least_lin,
            models,
        })
    }
}

/// A model's run with one seed, at its best rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunCurves {
    /// The seed.
    pub seed: u64,
    /// The learning rate.
    pub rate: f64,
    /// Its folder.
    pub run: PathBuf,
    /// Parameters of the network.
    pub parameters: usize,
    /// Seconds of all its epochs.
    pub seconds: f64,
    /// Training accuracy as a fraction, epoch by epoch, measured during the epoch.
    pub training: Vec<f64>,
    /// Validation accuracy as a fraction, epoch by epoch.
    pub validation: Vec<f64>,
}

/// The curves of a model: its runs, and their mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// Its name.
    pub model: &'static str,
    /// One run per seed.
    pub runs: Vec<RunCurves>,
    /// The mean of the training curves.
    pub training: Vec<f64>,
    /// The mean of the validation curves.
    pub validation: Vec<f64>,
    /// The maximum of the mean training curve.
    pub training_best: f64,
    /// The maximum of the mean validation curve.
    pub validation_best: f64,
    /// The epoch of that maximum.
    pub validation_epoch: usize,
}

impl Curves {
    fn of(model: Model, runs: Vec<RunCurves>) -> Result<Self> {
        let mean = |of: &dyn Fn(&RunCurves) -> &Vec<f64>| {
            let curves: Vec<Vec<f64>> = runs.iter().map(|run| of(run).clone()).collect();
            average(&curves).ok_or_else(|| Error::Incomplete(format!("{} has no curve", model.name())))
        };
        let (training, validation) = (mean(&|run| &run.training)?, mean(&|run| &run.validation)?);
        Ok(Curves {
            model: model.name(),
            training_best: training.mean,
            training: training.curve,
            validation_best: validation.mean,
            validation_epoch: validation.epoch,
            validation: validation.curve,
            runs,
        })
    }
}

/// The result of the figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureReport {
    /// The dataset's name.
    pub dataset: String,
    /// Number of graphs used.
    pub graphs: usize,
    /// Epochs of every run.
    pub epochs: usize,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The learning rate, if it was given.
    pub rate: Option<f64>,
    /// Whether the highest training accuracy of `mlp` is below that of every other model, as the paper says.
    pub mlp_fits_worst: bool,
    /// Whether the best validation accuracy of `mp` is at least that of `lin`, as the paper says.
    pub mp_at_least_lin: bool,
    /// The four models, in the order of [`Model::FIGURE`].
    pub models: Vec<Curves>,
}

impl FigureReport {
    fn write(&self, folder: &Path) -> Result<()> {
        write_whole(&folder.join("figure.csv"), self.csv().as_bytes())?;
        write_whole(&folder.join("figure.svg"), self.chart().svg().as_bytes())?;
        write_json(&folder.join("figure.json"), self)
    }

    /// One line per model, seed and epoch, and lines of means if there are several seeds.
    fn csv(&self) -> String {
        let mut csv = "model,rate,seed,epoch,training_accuracy,validation_accuracy\n".to_string();
        let mut lines = |model: &str, rate: &str, seed: &str, training: &[f64], validation: &[f64]| {
            for (e, (t, v)) in training.iter().zip(validation).enumerate() {
                let _ = writeln!(csv, "{model},{rate},{seed},{},{t},{v}", e + 1);
            }
        };
        for curves in &self.models {
            for run in &curves.runs {
                let (rate, seed) = (run.rate.to_string(), run.seed.to_string());
                lines(curves.model, &rate, &seed, &run.training, &run.validation);
            }
            if let [first, _, ..] = curves.runs.as_slice() {
                let rate = first.rate.to_string();
                lines(curves.model, &rate, "mean", &curves.training, &curves.validation);
            }
        }
        csv
    }

    fn chart(&self) -> Chart {
        let by_epoch = |curve: &[f64]| curve.iter().enumerate().map(|(e, x)| (e as f64 + 1.0, *x)).collect();
        let panel = |title: &str, of: &dyn Fn(&Curves) -> &[f64]| {
            let curves = self.models.iter().map(|m| Curve::line(m.model, by_epoch(of(m))));
            let up = Axis::new("accuracy", Scale::Percent);
            Panel::by_epoch(format!("{}, {title} set", self.dataset), up, curves.collect())
        };
        let (training, validation) =
            (panel("training", &|m| &m.training), panel("validation", &|m| &m.validation));
        Chart::on_one_scale(Look::File, &mut [training, validation])
    }
}
