//! Cross-validation: one run per fold, by the protocol of the paper's Table 1 (ten folds, their test curves averaged, the best
//! epoch of the average), and by the fair one of Errica et al. 2020, where the test sets have no say in the epoch.

use super::curve::{Averaged, average};
use super::jobs::{Finished, Job, JobWatcher, Workers, all_finished, run_jobs};
use super::numbers::numbers;
use super::spread::{Spread, Spreads};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::metrics::{Metric, Part};
use crate::run::write_json;
use crate::session::Session;
use crate::settings::{Division, Request, Settings};
use ppgn_graph::Dataset;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The number of random folds of data that has none of its own.
pub const RANDOM_FOLDS: usize = 10;

/// The share of the training folds that selects the epoch in the fair protocol.
pub const VALIDATION: f64 = 0.1;

/// A cross-validation: one run per fold.
#[derive(Debug, Clone)]
pub struct Cv {
    folder: PathBuf,
    folds: Vec<usize>,
    jobs: Vec<Job>,
}

/// The result of a cross-validation: the content of `cv.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CvReport {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// The seed.
    pub seed: u64,
    /// Epochs of every fold.
    pub epochs: usize,
    /// The numbers of the folds.
    pub folds: Vec<usize>,
    /// `given` with the data, or `dealt`: random, drawn by the seed.
    pub folds_are: &'static str,
    /// The best epoch of the mean curve; `None` where folds stopped early, so that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<usize>,
    /// For classes, the mean accuracy over the folds at that epoch, as a fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_mean: Option<f64>,
    /// The sample standard deviation over the folds at that epoch; `None` for a single fold.
    pub accuracy_std: Option<f64>,
    /// The metric on the test set of each fold, epoch by epoch.
    pub curves: Vec<Vec<f64>>,
    /// Their mean.
    pub curve_mean: Vec<f64>,
    /// Seconds of all epochs of all folds.
    pub seconds_training: f64,
    /// The field of the metric that the curves are of and that selects the epoch: `accuracy`, for regression `loss`.
    pub metric: &'static str,
    /// The figures on the test sets at that epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_epoch: Option<Spreads>,
    /// The figures on the test sets of the baseline, which looks at no graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Spreads>,
    /// The result of the fair protocol, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<Fair>,
}

/// The result of the fair protocol: in every fold the epoch is selected on a part of the training folds, and the test set is
/// measured once, at that epoch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fair {
    /// The share of the training folds that selects the epoch.
    pub validation: f64,
    /// The epoch of each fold.
    pub epochs: Vec<usize>,
    /// The metric on the test set of each fold at its epoch; `None` where it is undefined.
    pub folds: Vec<Option<f64>>,
    /// Its mean over the folds; `None` where it is undefined in one.
    pub mean: Option<f64>,
    /// Its sample standard deviation over the folds; `None` for a single fold.
    pub std: Option<f64>,
    /// All figures on the test sets at these epochs.
    pub figures: Spreads,
    /// The metric on the part of each fold's training graphs that selected its epoch, at that epoch: what settings may be
    /// chosen by.
    pub inner: Vec<Option<f64>>,
    /// Its mean over the folds; `None` where it is undefined in one.
    pub inner_mean: Option<f64>,
}

impl Cv {
    /// One run per fold in `folder`: `fold-1` and so on. The folds are those given with the data, else [`RANDOM_FOLDS`]
    /// random ones. `folds` selects some by number; empty means all. The request's division is ignored. Where the best epoch is
    /// to be selected on a validation set, that is a part of the training folds.
    pub fn new(request: &Request<'_>, folds: &[usize], folder: impl AsRef<Path>) -> Result<Self> {
        let (folder, dataset) = (folder.as_ref().to_path_buf(), request.dataset);
        let given = dataset.folds().len();
        let of = if given > 0 { given } else { RANDOM_FOLDS };
        let folds: Vec<usize> = if folds.is_empty() { (1..=of).collect() } else { folds.to_vec() };
        if let Some(fold) = folds.iter().find(|fold| !(1..=of).contains(*fold)) {
            let name = dataset.name();
            return Err(Error::settings(format!("{name} has no fold {fold}: its folds are 1 to {of}")));
        }
        let fair = request.overrides.select.is_some_and(|select| select.validation);
        let job = |&fold: &usize| {
            let dealt = (given == 0).then_some(of);
            let division = match (fair, dealt) {
                (true, of) => Division::Nested { fold, of, validation: VALIDATION },
                (false, None) => Division::Fold(fold),
                (false, Some(of)) => Division::Dealt { fold, of },
            };
            let path = folder.join(format!("fold-{fold}"));
            let settings = Settings::resolve(&Request { division, ..request.clone() })?;
            Ok(Job { name: format!("fold {fold}"), path, settings })
        };
        let jobs = folds.iter().map(job).collect::<Result<_>>()?;
        Ok(Cv { folder, folds, jobs })
    }

    /// Its runs.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Runs what is missing, writes `cv.json` to the folder and returns the result; `None` if it was stopped.
    pub fn run(
        &self,
        session: &Session,
        dataset: &Dataset,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<CvReport>> {
        let Some(ended) = run_jobs(session, &self.jobs, dataset, workers, watcher)? else { return Ok(None) };
        let report = self.report(&all_finished(&self.jobs, ended)?)?;
        if session.leads() {
            write_json(&self.folder.join("cv.json"), &report)?;
        }
        Ok(Some(report))
    }

    fn report(&self, finished: &[Finished]) -> Result<CvReport> {
        let Some(first) = self.jobs.first() else {
            return Err(Error::settings("there is no fold to average over"));
        };
        let settings = &first.settings;
        let goal = &settings.goal;
        let metric = settings.training.select.metric.resolved(goal);
        let division = settings.trained().map(|trained| &trained.division);
        let mut curves = Vec::new();
        for (job, fold) in self.jobs.iter().zip(finished) {
            curves.push(curve(job, fold, metric)?);
        }
        let averaged = averaged(&curves, metric);
        // The test sets at one epoch of all folds.
        let at = |epoch: usize| -> Option<Vec<&Part>> {
            finished.iter().map(|fold| fold.epochs.get(epoch - 1)?.test.as_ref()).collect()
        };
        let at_epoch = averaged.as_ref().and_then(|a| at(a.epoch)).map(|parts| Spreads::of(goal, &parts));
        let accuracy = at_epoch.as_ref().and_then(|figures| figures.get(Metric::Accuracy));
        let baseline: Option<Vec<&Part>> =
            finished.iter().map(|fold| Some(&fold.summary.sets.as_ref()?.test.as_ref()?.baseline)).collect();
        Ok(CvReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset().to_string(),
            seed: settings.training.seed,
            epochs: settings.training.epochs,
            folds: self.folds.clone(),
            folds_are: match division {
                Some(Division::Fold(_) | Division::Nested { of: None, .. }) => "given",
                _ => "dealt",
            },
            epoch: averaged.as_ref().map(|a| a.epoch),
            accuracy_mean: accuracy.map(|a| a.mean),
            accuracy_std: accuracy.and_then(|a| a.std),
            curves,
            curve_mean: averaged.map(|a| a.curve).unwrap_or_default(),
            seconds_training: finished.iter().map(|fold| fold.seconds).sum(),
            metric: metric.field(),
            at_epoch,
            baseline: baseline.map(|parts| Spreads::of(goal, &parts)),
            fair: match division {
                Some(Division::Nested { validation, .. }) => Some(fair(finished, goal, metric, *validation)?),
                _ => None,
            },
        })
    }
}

/// The metric on the test set of a fold, epoch by epoch; it ends early where it is undefined.
fn curve(job: &Job, fold: &Finished, metric: Metric) -> Result<Vec<f64>> {
    let mut curve = Vec::with_capacity(fold.epochs.len());
    for epoch in &fold.epochs {
        let Some(part) = &epoch.test else {
            let path = job.path.join("metrics.jsonl");
            return Err(Error::Run { path, message: "an epoch has no test set".into() });
        };
        match metric.value(part) {
            Some(value) => curve.push(value),
            None => break,
        }
    }
    Ok(curve)
}

/// The tables' average of curves, and their best epoch; nothing where they end at different epochs.
fn averaged(curves: &[Vec<f64>], metric: Metric) -> Option<Averaged> {
    if metric.is_gain() {
        return average(curves);
    }
    // Of a loss the lowest is best.
    let negated: Vec<Vec<f64>> = curves.iter().map(|curve| curve.iter().map(|x| -x).collect()).collect();
    let Averaged { epoch, mean, deviation, curve } = average(&negated)?;
    Some(Averaged { epoch, mean: -mean, deviation, curve: curve.iter().map(|x| -x).collect() })
}

/// The fair protocol's result: every fold at its own epoch.
fn fair(finished: &[Finished], goal: &Goal, metric: Metric, validation: f64) -> Result<Fair> {
    let parts: Option<Vec<&Part>> = finished.iter().map(|fold| fold.summary.best.test.as_ref()).collect();
    let parts = parts.ok_or_else(|| Error::Incomplete("a fold has no test set".into()))?;
    let folds: Vec<Option<f64>> = parts.iter().map(|part| metric.value(part)).collect();
    let spread = Spread::of(folds.iter().copied());
    let inner = |fold: &Finished| fold.summary.best.validation.as_ref().and_then(|part| metric.value(part));
    let inner: Vec<Option<f64>> = finished.iter().map(inner).collect();
    Ok(Fair {
        validation,
        epochs: finished.iter().map(|fold| fold.summary.best_epoch).collect(),
        folds,
        mean: spread.map(|s| s.mean),
        std: spread.and_then(|s| s.std),
        figures: Spreads::of(goal, &parts),
        inner_mean: Spread::of(inner.iter().copied()).map(|s| s.mean),
        inner,
    })
}

/// Parses fold numbers: `1-10`, `3`, `1,3,5`, `1-3,7`. Each once, in ascending order.
///
/// ```
/// use ppgn_train::protocol::fold_numbers;
/// assert_eq!(fold_numbers("7,1-3")?, [1, 2, 3, 7]);
/// assert!(fold_numbers("3-1").unwrap_err().is_call());
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn fold_numbers(text: &str) -> Result<Vec<usize>> {
    let folds = numbers(text, 1..=100_000).map(|folds| folds.iter().map(|&fold| fold as usize).collect());
    folds.ok_or_else(|| Error::settings(format!("`{text}` is not a list of folds: write 1-10, or 1,3,5")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_as_people_write_them() {
        assert_eq!(fold_numbers("1-10").unwrap(), (1..=10).collect::<Vec<_>>());
        assert_eq!(fold_numbers(" 5 , 3,5").unwrap(), [3, 5]);
        for wrong in ["", "0", "a", "1-", "-2", "1,,2", "2-1", "1-999999999999"] {
            assert!(fold_numbers(wrong).unwrap_err().is_call(), "{wrong}");
        }
    }
}
