//! The protocol of the paper's Table 1: ten folds, their curves averaged, the best epoch of the average.

use crate::curve::average;
use crate::data::Goal;
use crate::jobs::{Ended, Job, JobWatcher, Workers, named, run_jobs};
use crate::run::write_json;
use crate::settings::{Division, Overrides, Settings};
use ppgn_graph::{Dataset, Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What the runs of a protocol have in common.
#[derive(Debug, Clone)]
pub struct Template<'a> {
    /// What stands for the data.
    pub data: &'a str,
    /// The data.
    pub dataset: &'a Dataset,
    /// How many graphs were drawn from the whole, where not all were taken.
    pub limit: Option<usize>,
    /// The preset.
    pub preset: &'a str,
    /// What is different from it.
    pub overrides: &'a Overrides,
    /// For regression, the targets.
    pub targets: &'a [String],
}

impl Template<'_> {
    /// The settings of one run.
    pub fn settings(&self, division: Division) -> Result<Settings> {
        let Template { data, dataset, limit, preset, overrides, targets } = self;
        Settings::resolve(data, dataset, *limit, preset, overrides, division, targets)
    }
}

/// How many folds are dealt out where the data brings none along.
pub const DEALT: usize = 10;

/// A cross-validation: a run a fold.
#[derive(Debug, Clone)]
pub struct Cv {
    folder: PathBuf,
    folds: Vec<usize>,
    jobs: Vec<Job>,
}

/// What a cross-validation gave.
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
    /// The folds' numbers.
    pub folds: Vec<usize>,
    /// `given` with the data, or `dealt` by the seed.
    pub folds_are: &'static str,
    /// The best epoch of the mean curve.
    pub epoch: usize,
    /// The mean over the folds at that epoch, as a share.
    pub accuracy_mean: f64,
    /// The sample deviation over the folds at that epoch; one fold has none.
    pub accuracy_std: Option<f64>,
    /// Every fold's accuracy on its test part, epoch by epoch.
    pub curves: Vec<Vec<f64>>,
    /// Their mean.
    pub curve_mean: Vec<f64>,
    /// What the epochs of all folds took together.
    pub seconds_training: f64,
}

impl Cv {
    /// The folds of this dataset in `folder`, `fold-1` and so on: those that the data brings along, else [`DEALT`]
    /// dealt out by the seed. `folds` names some of them by number; nothing means all.
    pub fn new(template: &Template<'_>, folds: &[usize], folder: impl AsRef<Path>) -> Result<Self> {
        let (folder, dataset) = (folder.as_ref().to_path_buf(), template.dataset);
        let given = dataset.folds().len();
        let of = if given > 0 { given } else { DEALT };
        let folds: Vec<usize> = if folds.is_empty() { (1..=of).collect() } else { folds.to_vec() };
        if let Some(fold) = folds.iter().find(|fold| !(1..=of).contains(*fold)) {
            return Err(Error::call(format!(
                "{} has no fold {fold}: its folds are 1 to {of}",
                dataset.name()
            )));
        }
        if let Goal::Targets(_) = Goal::of(dataset, template.targets)? {
            return Err(Error::call(format!(
                "{} has numbers to predict, and this protocol is of accuracies: `ppgn train --split 80/10/10` is the \
                 paper's way with numbers",
                dataset.name()
            )));
        }
        let job = |&fold: &usize| {
            let division = if given > 0 { Division::Fold(fold) } else { Division::Dealt { fold, of } };
            let path = folder.join(format!("fold-{fold}"));
            Ok(Job { name: format!("fold {fold}"), path, settings: template.settings(division)? })
        };
        let jobs = folds.iter().map(job).collect::<Result<_>>()?;
        Ok(Cv { folder, folds, jobs })
    }

    /// Its runs.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Runs what is missing, writes `cv.json` into the folder and says what came out; `None` if it was asked to stop.
    pub fn run(
        &self,
        dataset: &Dataset,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<CvReport>> {
        let Some(ended) = run_jobs(&self.jobs, dataset, workers, watcher)? else { return Ok(None) };
        let report = self.report(ended)?;
        write_json(&self.folder.join("cv.json"), &report)?;
        Ok(Some(report))
    }

    fn report(&self, ended: Vec<Ended>) -> Result<CvReport> {
        let (mut curves, mut seconds_training) = (Vec::new(), 0.0);
        for (job, ended) in self.jobs.iter().zip(ended) {
            let finished = match ended {
                Ended::Finished(finished) => finished,
                Ended::Diverged(error) => return Err(named(job, error)),
            };
            seconds_training += finished.seconds;
            let curve: Option<Vec<f64>> =
                finished.epochs.iter().map(|e| e.test.as_ref().and_then(|part| part.accuracy)).collect();
            let whole = curve.filter(|c| c.len() == job.settings.training.epochs);
            curves.push(whole.ok_or_else(|| {
                let file = job.path.join("metrics.jsonl");
                Error::unfit(format!("{} has not an accuracy for every epoch", file.display()))
            })?);
        }
        let (Some(averaged), Some(first)) = (average(&curves), self.jobs.first()) else {
            return Err(Error::call("there is no fold to average over"));
        };
        let settings = &first.settings;
        Ok(CvReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset.clone(),
            seed: settings.training.seed,
            epochs: settings.training.epochs,
            folds: self.folds.clone(),
            folds_are: if matches!(settings.division, Division::Fold(_)) { "given" } else { "dealt" },
            epoch: averaged.epoch,
            accuracy_mean: averaged.mean,
            accuracy_std: averaged.deviation,
            curves,
            curve_mean: averaged.curve,
            seconds_training,
        })
    }
}

/// Fold numbers as people write them: `1-10`, `3`, `1,3,5`, `1-3,7`. Each once, in ascending order.
///
/// ```
/// use ppgn_train::fold_numbers;
/// assert_eq!(fold_numbers("7,1-3")?, [1, 2, 3, 7]);
/// assert!(fold_numbers("3-1").unwrap_err().is_call());
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn fold_numbers(text: &str) -> Result<Vec<usize>> {
    let wrong = || Error::call(format!("`{text}` is not a list of folds: write 1-10, or 1,3,5"));
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
