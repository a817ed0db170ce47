//! A fold of a cross-validation: the figures of one network, epoch by epoch, or of several whose predictions are averaged.
//!
//! Networks that differ in their seed err differently, so the mean of their predictions errs less. It is taken at every
//! epoch until the first of them stopped, so that it has a curve as a single network has.

use super::jobs::{Finished, Job};
use crate::error::{Error, Result};
use crate::items::Truth;
use crate::metrics::{Epoch, Metric, Part, Predictions};
use crate::run::PREDICTIONS;
use crate::settings::Settings;
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;

/// The figures of a fold.
pub(super) struct Fold {
    /// On the test set, epoch by epoch.
    pub(super) test: Vec<Part>,
    /// On the validation set, epoch by epoch; empty without one.
    pub(super) validation: Vec<Part>,
    /// The epoch that was selected, counted from 1.
    pub(super) selected: usize,
    /// Those of the baseline on the test set, where they are known.
    pub(super) baseline: Option<Part>,
    /// Seconds of all epochs.
    pub(super) seconds: f64,
}

impl Fold {
    /// Of one network.
    pub(super) fn of(job: &Job, finished: &Finished) -> Result<Self> {
        let test = || finished.epochs.iter().map(|epoch| epoch.test.clone()).collect::<Option<Vec<Part>>>();
        let no_test = || Error::Run {
            path: job.path.join("metrics.jsonl"),
            message: "an epoch has no test set".into(),
        };
        Ok(Fold {
            test: test().ok_or_else(no_test)?,
            validation: finished.epochs.iter().filter_map(|epoch| epoch.validation.clone()).collect(),
            selected: finished.summary.best_epoch,
            baseline: finished
                .summary
                .sets
                .as_ref()
                .and_then(|sets| Some(sets.test.as_ref()?.baseline.clone())),
            seconds: finished.seconds,
        })
    }

    /// Of several networks with the same split: the mean of their predictions, up to the epoch at which the first of them stopped.
    ///
    /// # Complexity
    /// O(networks * epochs * predictions).
    pub(super) fn averaged(members: &[(&Job, &Finished)], dataset: &Dataset) -> Result<Self> {
        let Some(&(job, first)) = members.first() else {
            return Err(Error::settings("there is no network to average over"));
        };
        let settings = &job.settings;
        let truth = Truth::of(settings, dataset)?;
        let trained = settings.trained().ok_or_else(|| Error::settings("it was not trained here"))?;
        let split = trained.split(dataset, settings.training.seed)?;
        let epochs = members.iter().map(|(_, finished)| finished.epochs.len()).min().unwrap_or(0);
        let (mut test, mut validation) = (Vec::new(), Vec::new());
        for epoch in 0..epochs {
            for member in members {
                agree(member, epoch, &truth, &split)?;
            }
            let mean = |of: fn(&Predictions) -> &Vec<f64>| {
                mean(members.iter().map(|(_, f)| of(&f.predictions[epoch])))
            };
            test.extend(truth.figures_of_known(&split.test, &mean(|p| &p.test)));
            if !split.validation.is_empty() {
                validation.extend(truth.figures_of_known(&split.validation, &mean(|p| &p.validation)));
            }
        }
        let selected = best(if validation.is_empty() { &test } else { &validation }, settings);
        let seconds = members.iter().map(|(_, finished)| finished.seconds).sum();
        Ok(Fold { test, validation, selected, baseline: Fold::of(job, first)?.baseline, seconds })
    }
}

/// The metric epoch by epoch; it ends early where it is undefined.
pub(super) fn curve(parts: &[Part], metric: Metric) -> Vec<f64> {
    parts.iter().map_while(|part| metric.value(part)).collect()
}

/// The mean of rows of numbers, number by number.
fn mean<'a>(rows: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<f64> {
    let count = rows.clone().count() as f64;
    let mut sum: Vec<f64> = Vec::new();
    for row in rows {
        sum.resize(row.len().max(sum.len()), 0.0);
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sum.iter().map(|sum| sum / count).collect()
}

/// The epoch that would be selected by these figures, counted from 1: the first of the best.
fn best(parts: &[Part], settings: &Settings) -> usize {
    let metric = settings.training.select.metric;
    let better = |best: usize, i: usize| if parts[i].is_better_than(&parts[best], metric) { i } else { best };
    (0..parts.len()).fold(0, better) + 1
}

/// Checks that the predictions of a network are those of its metrics.
fn agree((job, finished): &(&Job, &Finished), epoch: usize, truth: &Truth<'_>, split: &Split) -> Result<()> {
    let message = format!(
        "the predictions of epoch {} are not those that its metrics were computed from: they were damaged, or the run was begun \
         without them; remove the run's folder to train it again",
        epoch + 1
    );
    let wrong = || Error::Run { path: job.path.join(PREDICTIONS), message };
    let predictions = finished.predictions.get(epoch);
    let Epoch { validation, test, .. } = &finished.epochs[epoch];
    let sets = [
        (&split.validation, validation, predictions.map(|p| &p.validation)),
        (&split.test, test, predictions.map(|p| &p.test)),
    ];
    let same = sets.into_iter().all(|(graphs, recorded, predicted)| match (recorded, predicted) {
        (None, _) => true,
        (Some(recorded), Some(predicted)) => {
            truth.figures_of_known(graphs, predicted).is_some_and(|part| alike(&part, recorded))
        }
        (Some(_), None) => false,
    });
    if same { Ok(()) } else { Err(wrong()) }
}

/// Whether two figures are of the same predictions, up to the rounding of what they were computed from.
fn alike(a: &Part, b: &Part) -> bool {
    let close =
        |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * (1.0 + a.abs()) || a.is_nan() && b.is_nan();
    let both =
        |a: Option<f64>, b: Option<f64>| a.zip(b).map_or(a.is_none() && b.is_none(), |(a, b)| close(a, b));
    let mae = a.mae.len() == b.mae.len() && a.mae.iter().zip(&b.mae).all(|(&a, &b)| close(a, b));
    mae && both(a.log_loss, b.log_loss) && both(a.brier, b.brier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_each_number() {
        assert_eq!(mean([vec![1.0, 2.0], vec![3.0, 6.0]].iter()), [2.0, 4.0]);
        assert_eq!(mean([vec![0.1, 0.2]].iter()), [0.1, 0.2]);
    }

    #[test]
    fn damaged_predictions_are_not_alike() {
        let part = |log_loss: f64, mae: &[f64]| Part {
            log_loss: Some(log_loss),
            mae: mae.to_vec(),
            ..Part::default()
        };
        assert!(alike(&part(0.5, &[1.0, f64::NAN]), &part(0.5, &[1.0, f64::NAN])));
        assert!(!alike(&part(0.5, &[]), &part(0.501, &[])));
        assert!(!alike(&part(0.5, &[1.0]), &part(0.5, &[1.1])));
        assert!(!alike(&part(0.5, &[1.0]), &part(0.5, &[])));
    }
}
