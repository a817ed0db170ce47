//! The protocol of the paper's Table 1: ten folds, their curves averaged, the best epoch of the average.

use super::curve::average;
use super::jobs::{Ended, Job, JobWatcher, Workers, run_jobs};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::run::write_json;
use crate::session::Session;
use crate::settings::{Division, Request, Settings};
use ppgn_graph::Dataset;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The number of random folds of data that has none of its own.
pub const RANDOM_FOLDS: usize = 10;

/// A cross-validation: one run per fold.
#[derive(Debug, Clone)]
pub struct Cv {
    folder: PathBuf,
    folds: Vec<usize>,
    jobs: Vec<Job>,
}

/// The result of a cross-validation.
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
    /// The best epoch of the mean curve.
    pub epoch: usize,
    /// The mean accuracy over the folds at that epoch, as a fraction.
    pub accuracy_mean: f64,
    /// The sample standard deviation over the folds at that epoch; `None` for a single fold.
    pub accuracy_std: Option<f64>,
    /// The test accuracy of each fold, epoch by epoch.
    pub curves: Vec<Vec<f64>>,
    /// Their mean.
    pub curve_mean: Vec<f64>,
    /// Seconds of all epochs of all folds.
    pub seconds_training: f64,
}

impl Cv {
    /// One run per fold in `folder`: `fold-1` and so on. The folds are those given with the data, else [`RANDOM_FOLDS`]
    /// random ones. `folds` selects some by number; empty means all. The request's division is ignored.
    pub fn new(request: &Request<'_>, folds: &[usize], folder: impl AsRef<Path>) -> Result<Self> {
        let (folder, dataset) = (folder.as_ref().to_path_buf(), request.dataset);
        let given = dataset.folds().len();
        let of = if given > 0 { given } else { RANDOM_FOLDS };
        let folds: Vec<usize> = if folds.is_empty() { (1..=of).collect() } else { folds.to_vec() };
        if let Some(fold) = folds.iter().find(|fold| !(1..=of).contains(*fold)) {
            let name = dataset.name();
            return Err(Error::settings(format!("{name} has no fold {fold}: its folds are 1 to {of}")));
        }
        if let Goal::Targets(_) = request.goal()? {
            let dataset = dataset.name().to_string();
            return Err(Error::NeedsClasses { dataset, protocol: "cross-validation" });
        }
        let job = |&fold: &usize| {
            let division = if given > 0 { Division::Fold(fold) } else { Division::Dealt { fold, of } };
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
        let report = self.report(ended)?;
        write_json(&self.folder.join("cv.json"), &report)?;
        Ok(Some(report))
    }

    fn report(&self, ended: Vec<Ended>) -> Result<CvReport> {
        let (mut curves, mut seconds_training) = (Vec::new(), 0.0);
        for (job, ended) in self.jobs.iter().zip(ended) {
            let finished = match ended {
                Ended::Finished(finished) => finished,
                Ended::Diverged(error) => return Err(job.failed(error)),
            };
            seconds_training += finished.seconds;
            let curve: Option<Vec<f64>> =
                finished.epochs.iter().map(|e| e.test.as_ref().and_then(|part| part.accuracy)).collect();
            let whole = curve.filter(|c| c.len() == job.settings.training.epochs);
            curves.push(whole.ok_or_else(|| {
                let path = job.path.join("metrics.jsonl");
                Error::Run { path, message: "an epoch has no accuracy".into() }
            })?);
        }
        let (Some(averaged), Some(first)) = (average(&curves), self.jobs.first()) else {
            return Err(Error::settings("there is no fold to average over"));
        };
        let settings = &first.settings;
        Ok(CvReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset().to_string(),
            seed: settings.training.seed,
            epochs: settings.training.epochs,
            folds: self.folds.clone(),
            folds_are: if settings.trained().is_some_and(|t| matches!(t.division, Division::Fold(_))) {
                "given"
            } else {
                "dealt"
            },
            epoch: averaged.epoch,
            accuracy_mean: averaged.mean,
            accuracy_std: averaged.deviation,
            curves,
            curve_mean: averaged.curve,
            seconds_training,
        })
    }
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
    let wrong = || Error::settings(format!("`{text}` is not a list of folds: write 1-10, or 1,3,5"));
    let number =
        |t: &str| t.trim().parse::<usize>().ok().filter(|n| (1..=100_000).contains(n)).ok_or_else(wrong);
    let mut folds = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first {
            return Err(wrong());
        }
        folds.extend(first..=last);
    }
    folds.sort_unstable();
    folds.dedup();
    Ok(folds)
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
