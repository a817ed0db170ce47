//! Cross-validation: one run per fold, by the protocol of the paper's Table 1 (ten folds, their test curves averaged, the best
//! epoch of the average), and by the fair one of Errica et al. 2020, where the test sets have no say in the epoch. With several
//! seeds a fold has a network per seed, and what is measured is the average of their predictions.

use super::curve::{Averaged, average};
use super::fold::{Fold, curve};
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

/// A cross-validation: one run per fold, or one per fold and seed.
#[derive(Debug, Clone)]
pub struct Cv {
    folder: PathBuf,
    folds: Vec<usize>,
    /// The seeds whose predictions are averaged; empty where a fold has one run.
    seeds: Vec<u64>,
    /// Seed by seed, fold by fold.
    jobs: Vec<Job>,
}

/// The result of a cross-validation: the content of `cv.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CvReport {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// The seed; of several, the first.
    pub seed: u64,
    /// The seeds of the networks whose predictions are averaged, where there are several: all figures are those of the averaged
    /// predictions then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// The figures of each of these networks on its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<Alone>,
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

/// What a cross-validation gives, and with several seeds what each of them gives on its own.
struct Reports {
    report: CvReport,
    alone: Vec<CvReport>,
}

/// The folder with the runs of a seed, within that of all.
fn seed_folder(seed: u64) -> String {
    format!("seed-{seed}")
}

/// What the networks of one seed give on their own, in a cross-validation that averages over several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alone {
    /// The seed.
    pub seed: u64,
    /// The best epoch of the mean curve; `None` where folds stopped early, so that there is none.
    pub epoch: Option<usize>,
    /// The mean of the metric over the folds at that epoch.
    pub mean: Option<f64>,
    /// The sample standard deviation over the folds; `None` for a single fold.
    pub std: Option<f64>,
    /// The mean by the fair protocol, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<f64>,
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
    /// The metric on that part, fold by fold and epoch by epoch; a fold ends early where it is undefined.
    pub inner_curves: Vec<Vec<f64>>,
}

impl Cv {
    /// One run per fold in `folder`: `fold-1` and so on. The folds are those given with the data, else [`RANDOM_FOLDS`]
    /// random ones. `folds` selects some by number; empty means all. The request's division is ignored. Where the best epoch is
    /// to be selected on a validation set, that is a part of the training folds.
    pub fn new(request: &Request<'_>, folds: &[usize], folder: impl AsRef<Path>) -> Result<Self> {
        Cv::of_seeds(request, folds, &[], folder)
    }

    /// The same with several seeds, which must differ: a run per seed and fold, `seed-0/fold-1` and so on. The runs of a fold
    /// have the split that the first seed draws, and differ in their weights and batches only; their predictions are averaged
    /// epoch by epoch. Without seeds it is [`Cv::new`].
    pub fn of_seeds(
        request: &Request<'_>,
        folds: &[usize],
        seeds: &[u64],
        folder: impl AsRef<Path>,
    ) -> Result<Self> {
        let (folder, dataset) = (folder.as_ref().to_path_buf(), request.dataset);
        let given = dataset.folds().len();
        let of = if given > 0 { given } else { RANDOM_FOLDS };
        let folds: Vec<usize> = if folds.is_empty() { (1..=of).collect() } else { folds.to_vec() };
        if let Some(fold) = folds.iter().find(|fold| !(1..=of).contains(*fold)) {
            let name = dataset.name();
            return Err(Error::settings(format!("{name} has no fold {fold}: its folds are 1 to {of}")));
        }
        if !seeds.is_empty() && request.limit.is_some() {
            return Err(Error::settings(
                "several seeds need all graphs of the data: each seed would draw others",
            ));
        }
        let fair = request.overrides.select.is_some_and(|select| select.validation);
        let job = |seed: Option<u64>, fold: usize| {
            let (dealt, by) = ((given == 0).then_some(of), seeds.first().copied());
            let division = match (fair, dealt) {
                (true, of) => Division::Nested { fold, of, validation: VALIDATION, by },
                (false, None) => Division::Fold(fold),
                (false, Some(of)) => Division::Dealt { fold, of, by },
            };
            let mut request = Request { division, ..request.clone() };
            request.overrides.seed = seed.or(request.overrides.seed);
            let mut settings = Settings::resolve(&request)?;
            settings.training.keep_predictions = seed.is_some();
            let (mut path, mut name) = (folder.clone(), format!("fold {fold}"));
            if let Some(seed) = seed {
                path.push(seed_folder(seed));
                name = format!("seed {seed}, {name}");
            }
            path.push(format!("fold-{fold}"));
            Ok(Job { name, path, settings })
        };
        let of_all = |seed: Option<u64>| folds.iter().map(move |&fold| (seed, fold));
        let every: Vec<_> = match seeds {
            [] => of_all(None).collect(),
            _ => seeds.iter().flat_map(|&seed| of_all(Some(seed))).collect(),
        };
        let jobs = every.into_iter().map(|(seed, fold)| job(seed, fold)).collect::<Result<_>>()?;
        Ok(Cv { folder, folds, seeds: seeds.to_vec(), jobs })
    }

    /// Its runs.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Runs what is missing, writes `cv.json` to the folder (with several seeds also to that of each) and returns the result;
    /// `None` if it was stopped.
    pub fn run(
        &self,
        session: &Session,
        dataset: &Dataset,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<CvReport>> {
        let Some(ended) = run_jobs(session, &self.jobs, dataset, workers, watcher)? else { return Ok(None) };
        let Reports { report, alone } = self.reports(dataset, &all_finished(&self.jobs, ended)?)?;
        if session.leads() {
            for (seed, alone) in self.seeds.iter().zip(&alone) {
                write_json(&self.folder.join(seed_folder(*seed)).join("cv.json"), alone)?;
            }
            write_json(&self.folder.join("cv.json"), &report)?;
        }
        Ok(Some(report))
    }

    fn reports(&self, dataset: &Dataset, finished: &[Finished]) -> Result<Reports> {
        let all: Vec<(&Job, &Finished)> = self.jobs.iter().zip(finished).collect();
        // Seed by seed.
        let rows: Vec<&[(&Job, &Finished)]> = all.chunks(self.folds.len().max(1)).collect();
        let alone = |row: &&[(&Job, &Finished)]| {
            self.of_folds(
                &row.iter().map(|(job, finished)| Fold::of(job, finished)).collect::<Result<Vec<_>>>()?,
            )
        };
        let mut alone: Vec<CvReport> = rows.iter().map(alone).collect::<Result<_>>()?;
        if self.seeds.is_empty() {
            let report = alone.pop().ok_or_else(|| Error::settings("there is no fold to average over"))?;
            return Ok(Reports { report, alone });
        }
        alone.iter_mut().zip(&self.seeds).for_each(|(report, &seed)| report.seed = seed);
        let averaged = |i: usize| {
            let members: Vec<(&Job, &Finished)> = rows.iter().map(|row| row[i]).collect();
            Fold::averaged(&members, dataset)
        };
        let together = (0..self.folds.len()).map(averaged).collect::<Result<Vec<Fold>>>()?;
        let report = CvReport {
            seeds: self.seeds.clone(),
            alone: alone.iter().map(CvReport::alone).collect(),
            ..self.of_folds(&together)?
        };
        Ok(Reports { report, alone })
    }

    fn of_folds(&self, folds: &[Fold]) -> Result<CvReport> {
        let Some(first) = self.jobs.first() else {
            return Err(Error::settings("there is no fold to average over"));
        };
        let settings = &first.settings;
        let goal = &settings.goal;
        let metric = settings.training.select.metric.resolved(goal);
        let division = settings.trained().map(|trained| &trained.division);
        let curves: Vec<Vec<f64>> = folds.iter().map(|fold| curve(&fold.test, metric)).collect();
        let averaged = averaged(&curves, metric);
        // The test sets at one epoch of all folds.
        let at =
            |epoch: usize| folds.iter().map(|fold| fold.test.get(epoch - 1)).collect::<Option<Vec<&Part>>>();
        let at_epoch = averaged.as_ref().and_then(|a| at(a.epoch)).map(|parts| Spreads::of(goal, &parts));
        let accuracy = at_epoch.as_ref().and_then(|figures| figures.get(Metric::Accuracy));
        let baseline: Option<Vec<&Part>> = folds.iter().map(|fold| fold.baseline.as_ref()).collect();
        Ok(CvReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset().to_string(),
            seed: settings.training.seed,
            seeds: Vec::new(),
            alone: Vec::new(),
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
            seconds_training: folds.iter().map(|fold| fold.seconds).sum(),
            metric: metric.field(),
            at_epoch,
            baseline: baseline.map(|parts| Spreads::of(goal, &parts)),
            fair: match division {
                Some(Division::Nested { validation, .. }) => Some(fair(folds, goal, metric, *validation)?),
                _ => None,
            },
        })
    }
}

impl CvReport {
    /// What matters of it where it is one of several.
    fn alone(&self) -> Alone {
        let metric = Metric::ALL.into_iter().find(|metric| metric.field() == self.metric).unwrap_or_default();
        let figure = self.at_epoch.as_ref().and_then(|figures| figures.get(metric));
        Alone {
            seed: self.seed,
            epoch: self.epoch,
            mean: figure.map(|figure| figure.mean),
            std: figure.and_then(|figure| figure.std),
            fair: self.fair.as_ref().and_then(|fair| fair.mean),
        }
    }
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
fn fair(folds: &[Fold], goal: &Goal, metric: Metric, validation: f64) -> Result<Fair> {
    let at = |parts: fn(&Fold) -> &Vec<Part>| {
        folds.iter().map(|fold| parts(fold).get(fold.selected - 1)).collect::<Option<Vec<&Part>>>()
    };
    let incomplete = || Error::Incomplete("a fold has no figures at its epoch".into());
    let (test, inner) =
        (at(|fold| &fold.test).ok_or_else(incomplete)?, at(|fold| &fold.validation).ok_or_else(incomplete)?);
    let values = |parts: &[&Part]| parts.iter().map(|part| metric.value(part)).collect::<Vec<Option<f64>>>();
    let (figures, inner) = (Spreads::of(goal, &test), values(&inner));
    let spread = Spread::of(values(&test));
    Ok(Fair {
        validation,
        epochs: folds.iter().map(|fold| fold.selected).collect(),
        folds: values(&test),
        mean: spread.map(|s| s.mean),
        std: spread.and_then(|s| s.std),
        figures,
        inner_mean: Spread::of(inner.iter().copied()).map(|s| s.mean),
        inner,
        inner_curves: folds.iter().map(|fold| curve(&fold.validation, metric)).collect(),
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
