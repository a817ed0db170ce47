//! One training with several seeds: what the draw of the weights and batches is worth, and the mean of what they predict.

use super::jobs::{Job, JobWatcher, Workers, all_finished, run_jobs};
use super::numbers::numbers;
use super::spread::Spreads;
use crate::ensemble::{Ensemble, SEEDS};
use crate::error::{Error, Result};
use crate::items::Truth;
use crate::metrics::{Measured, Part, Sets};
use crate::predict::Prediction;
use crate::run::{Summary, write_json};
use crate::session::Session;
use crate::settings::{Division, Request, Settings};
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Several runs that differ in their seed only.
#[derive(Debug, Clone)]
pub struct Seeds {
    folder: PathBuf,
    seeds: Vec<u64>,
    split: Split,
    jobs: Vec<Job>,
}

/// The result of several seeds: the content of `seeds.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedsReport {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The most epochs of every run.
    pub epochs: usize,
    /// What the best epochs were selected by.
    pub select: String,
    /// The runs.
    pub runs: Vec<SeedRun>,
    /// Mean and deviation over the runs on every set.
    pub sets: SeedSets,
    /// The figures of the averaged predictions on every set, beside the baseline.
    pub ensemble: Sets,
    /// Seconds of all epochs of all runs.
    pub seconds_training: f64,
}

/// A run of [`Seeds`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedRun {
    /// Its seed.
    pub seed: u64,
    /// Its folder, within that of all.
    pub run: String,
    /// Its best epoch.
    pub best_epoch: usize,
}

/// Mean and deviation over the runs, set by set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedSets {
    /// The training set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<Spreads>,
    /// The validation set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Spreads>,
    /// The test set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Spreads>,
}

impl Seeds {
    /// One run per seed in `folder`: `seed-0` and so on. All have the split that the first seed draws, so the runs differ in
    /// their weights and batches only, and each graph is in the same set in all of them.
    pub fn new(request: &Request<'_>, seeds: &[u64], folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        let Some(&first) = seeds.first() else { return Err(Error::settings("there is no seed")) };
        if request.limit.is_some() {
            return Err(Error::settings(
                "several seeds need all graphs of the data: each seed would draw others",
            ));
        }
        let drawn = request.division.of(request.dataset, first)?;
        let split = request.sample_weights.counted(drawn, request.dataset.len())?;
        let division = match &request.division {
            division @ (Division::Fold(_) | Division::Listed(_)) => division.clone(),
            drawn => Division::listed(format!("{drawn} by seed {first}"), &split),
        };
        let job = |&seed: &u64| {
            let mut request = Request { division: division.clone(), ..request.clone() };
            request.overrides.seed = Some(seed);
            let settings = Settings::resolve(&request)?;
            Ok(Job { name: format!("seed {seed}"), path: folder.join(run_name(seed)), settings })
        };
        let jobs = seeds.iter().map(job).collect::<Result<_>>()?;
        Ok(Seeds { folder, seeds: seeds.to_vec(), split, jobs })
    }

    /// The split that all runs have.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// Its runs.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Runs what is missing, averages the predictions, writes `seeds.json` to the folder and returns the result with the
    /// averaged prediction for every graph (node, pair); `None` if it was stopped.
    pub fn run(
        &self,
        session: &Session,
        dataset: &Dataset,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<(SeedsReport, Vec<Prediction>)>> {
        let Some(ended) = run_jobs(session, &self.jobs, dataset, workers, watcher)? else { return Ok(None) };
        let finished = all_finished(&self.jobs, ended)?;
        let seconds_training = finished.iter().map(|run| run.seconds).sum();
        let summaries: Vec<Summary> = finished.into_iter().map(|run| run.summary).collect();
        let paths = self.jobs.iter().map(|job| job.path.clone()).collect();
        let predictions = match Ensemble::of(session, paths)?.predict(dataset) {
            Err(Error::Interrupted) => return Ok(None),
            predictions => predictions?,
        };
        let report = self.report(dataset, &summaries, &predictions, seconds_training)?;
        if session.leads() {
            write_json(&self.folder.join(SEEDS), &report)?;
        }
        Ok(Some((report, predictions)))
    }

    fn report(
        &self,
        dataset: &Dataset,
        summaries: &[Summary],
        predictions: &[Prediction],
        seconds_training: f64,
    ) -> Result<SeedsReport> {
        let settings = &self.jobs[0].settings;
        let over = |of: fn(&Sets) -> &Option<Measured>| {
            let parts: Option<Vec<&Part>> = summaries
                .iter()
                .map(|s| s.sets.as_ref().and_then(|sets| of(sets).as_ref()).map(|set| &set.metrics))
                .collect();
            parts.map(|parts| Spreads::of(&settings.goal, &parts))
        };
        let truth = Truth::of(settings, dataset)?;
        let row = truth.baseline(&self.split.train);
        let numbers = |item: usize| predictions[item].numbers();
        let measured = |graphs: &[u32]| truth.beside_baseline(graphs, numbers, &row);
        let runs = self.seeds.iter().zip(summaries);
        Ok(SeedsReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset().to_string(),
            seeds: self.seeds.clone(),
            epochs: settings.training.epochs,
            select: settings.training.select.to_string(),
            runs: runs
                .map(|(&seed, s)| SeedRun { seed, run: run_name(seed), best_epoch: s.best_epoch })
                .collect(),
            sets: SeedSets {
                train: over(|sets| &sets.train),
                validation: over(|sets| &sets.validation),
                test: over(|sets| &sets.test),
            },
            ensemble: Sets {
                train: measured(&self.split.train),
                validation: measured(&self.split.validation),
                test: measured(&self.split.test),
            },
            seconds_training,
        })
    }
}

/// The folder of a seed's run.
fn run_name(seed: u64) -> String {
    format!("seed-{seed}")
}

/// Parses seeds: `0-4`, `7`, `0,2,5`. Each once, in ascending order.
///
/// ```
/// use ppgn_train::protocol::seed_numbers;
/// assert_eq!(seed_numbers("0-2,7")?, [0, 1, 2, 7]);
/// assert!(seed_numbers("4-1").unwrap_err().is_call());
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn seed_numbers(text: &str) -> Result<Vec<u64>> {
    numbers(text, 0..=u64::MAX)
        .ok_or_else(|| Error::settings(format!("`{text}` is not a list of seeds: write 0-4, or 0,2,5")))
}
