//! What is measured after every epoch: one line of `metrics.jsonl`.
//!
//! Nothing here depends on the clock, the path or the host, so the metrics of a run are the same bytes whether it was
//! interrupted or not; times go to `timing.jsonl`.

use super::{ClassMetrics, Metric, ValueMetrics, classification, multi_label, regression};
use crate::data::{Goal, Prepared};
use serde::{Deserialize, Deserializer, Serialize};

/// A figure that may not apply (`None`, left out of files), or may be undefined (`Some(None)`, null in files).
type Figure = Option<Option<f64>>;

/// The metrics of one set of graphs: training, validation or test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The mean loss per graph, node or pair (for regression summed over the standardised targets).
    pub loss: f64,
    /// For classification, the accuracy, as a fraction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accuracy: Option<f64>,
    /// For regression, the mean absolute error of each target, in its own unit; NaN (null in files) where no value is known.
    #[serde(skip_serializing_if = "Vec::is_empty", default, deserialize_with = "known")]
    pub mae: Vec<f64>,
    /// For classification, the mean recall of the classes that occur.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub balanced_accuracy: Option<f64>,
    /// For classification, the mean F1 of the classes that occur or are predicted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub macro_f1: Option<f64>,
    /// For classification, the area under the ROC curve; undefined where a class does not occur.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "present")]
    pub roc_auc: Figure,
    /// For classification, the average precision; undefined where a class that counts does not occur.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "present")]
    pub average_precision: Figure,
    /// For classification, the mean of `-ln p` of the graphs' classes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub log_loss: Option<f64>,
    /// For classification, the Brier score.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub brier: Option<f64>,
    /// For regression, the root mean squared error of each target, in its own unit.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rmse: Vec<Option<f64>>,
    /// For regression, the coefficient of determination of each target; undefined for fewer than two graphs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub r2: Vec<Option<f64>>,
}

/// Null as an undefined figure, where serde would read that there is none.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Figure, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Errors, where null is one of a target without known values.
fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let errors: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(errors.into_iter().map(|error| error.unwrap_or(f64::NAN)).collect())
}

impl Part {
    /// The figures of classes, with the loss that was trained on.
    pub fn of_classes(loss: f64, metrics: &ClassMetrics) -> Self {
        Part {
            loss,
            accuracy: metrics.accuracy,
            balanced_accuracy: metrics.balanced_accuracy,
            macro_f1: metrics.macro_f1,
            roc_auc: Some(metrics.roc_auc),
            average_precision: Some(metrics.average_precision),
            log_loss: metrics.log_loss,
            brier: metrics.brier,
            ..Part::default()
        }
    }

    /// The metric with the sign that makes higher better; for one that is undefined, the negative loss.
    fn score(&self, metric: Metric) -> f64 {
        metric.score(self).unwrap_or(-self.loss)
    }

    /// Whether it is better than an earlier one: a higher score, or the same score with a lower loss.
    pub(crate) fn is_better_than(&self, earlier: &Part, metric: Metric) -> bool {
        let (score, best) = (self.score(metric), earlier.score(metric));
        score > best || score == best && self.loss < earlier.loss
    }

    /// The figures of targets, with the loss that was trained on.
    pub fn of_values(loss: f64, metrics: &[ValueMetrics]) -> Self {
        Part {
            loss,
            mae: metrics.iter().map(|m| m.mae.unwrap_or(f64::NAN)).collect(),
            rmse: metrics.iter().map(|m| m.rmse).collect(),
            r2: metrics.iter().map(|m| m.r2).collect(),
            ..Part::default()
        }
    }
}

/// The metrics of an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Epoch {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// Its learning rate.
    pub rate: f64,
    /// The training set, measured during the epoch.
    pub train: Part,
    /// The validation set, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Part>,
    /// The test set, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test: Option<Part>,
    /// Where these two are of averaged weights, the same of the last weights.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<Last>,
}

/// The predictions after an epoch, for an average over several runs: one line of `predictions.jsonl`. Probabilities, or values
/// in the targets' own units, row by row of what is known of the graphs of a set, in their order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predictions {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// For the validation set; none without one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub validation: Vec<f64>,
    /// For the test set; none without one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub test: Vec<f64>,
}

/// The figures of an epoch's last weights, where others stand for the epoch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Last {
    /// The validation set, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Part>,
    /// The test set, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test: Option<Part>,
}

/// The best epoch so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The epoch.
    pub epoch: usize,
    /// The score that it was selected by: higher is better.
    pub score: f64,
}

impl Epoch {
    /// The set that the best epoch is selected on: validation, else test, else training.
    pub fn selected_on(&self) -> &Part {
        self.validation.as_ref().or(self.test.as_ref()).unwrap_or(&self.train)
    }

    /// The metric on the set that the best epoch is selected on, with the sign that makes higher better; for one that is
    /// undefined there, the negative loss.
    pub fn score(&self, metric: Metric) -> f64 {
        self.selected_on().score(metric)
    }

    /// The loss that a schedule watches: of the validation set, else of the training set. The test set has no say in how a
    /// network is trained.
    pub(crate) fn watched_loss(&self) -> f64 {
        self.validation.as_ref().unwrap_or(&self.train).loss
    }

    /// Whether it is better than an earlier epoch: a higher [score](Self::score), or the same score with a lower loss.
    pub fn is_better_than(&self, earlier: &Epoch, metric: Metric) -> bool {
        self.selected_on().is_better_than(earlier.selected_on(), metric)
    }

    /// Whether all losses and errors are finite: JSON has no other numbers. An error that nothing is known of does not count.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |part: &Part| {
            let errors = part.mae.iter().filter(|e| !e.is_nan()).chain(part.rmse.iter().flatten());
            part.loss.is_finite() && errors.copied().all(f64::is_finite)
        };
        let last = self.last.iter().flat_map(|last| [last.validation.as_ref(), last.test.as_ref()]);
        [Some(&self.train), self.validation.as_ref(), self.test.as_ref()]
            .into_iter()
            .chain(last)
            .flatten()
            .all(finite)
    }

    /// The set that is reported, with its name: test, else validation, else training.
    pub fn reported(&self) -> (&'static str, &Part) {
        match (&self.test, &self.validation) {
            (Some(test), _) => ("test", test),
            (None, Some(validation)) => ("validation", validation),
            (None, None) => ("training", &self.train),
        }
    }
}

/// Collects the predictions for a set, batch by batch, in order.
pub(crate) struct Sums {
    graphs: Vec<u32>,
    loss: f64,
    scores: Vec<f64>,
}

impl Sums {
    pub(crate) fn new() -> Self {
        Sums { graphs: Vec::new(), loss: 0.0, scores: Vec::new() }
    }

    /// A batch: its summed loss, and the scores of the rows that count.
    pub(crate) fn add(&mut self, graphs: &[u32], loss: f64, scores: &[f64]) {
        self.graphs.extend_from_slice(graphs);
        self.loss += loss;
        self.scores.extend_from_slice(scores);
    }

    /// Its scores, row by row.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The predictions behind these scores: probabilities, or values in the targets' own units; row by row.
    pub(crate) fn predictions(&self, prepared: &Prepared) -> Vec<f64> {
        match &prepared.goal {
            Goal::Classes(classes) => self.scores.chunks(classes.len()).flat_map(softmax).collect(),
            Goal::Labels(_) => self.scores.iter().map(|&score| sigmoid(score)).collect(),
            Goal::Targets(_) => {
                let scaling = prepared.scaling.iter().cycle();
                let values = self.scores.iter().zip(scaling).map(|(x, s)| x * s.deviation + s.mean);
                values.zip(prepared.reference(&self.graphs)).map(|(value, part)| value + part).collect()
            }
        }
    }

    /// The figures of the set.
    pub(crate) fn finish(self, prepared: &Prepared) -> Part {
        self.figures(prepared).0
    }

    /// The figures of the set and, for classes, the confusion matrix.
    pub(crate) fn figures(self, prepared: &Prepared) -> (Part, Vec<Vec<u64>>) {
        let loss = prepared.mean_loss(self.loss, &self.graphs);
        figures(prepared, &self.graphs, loss, &self.scores)
    }
}

/// The figures of scores for the rows of these graphs, as the network puts them out, and for classes the confusion matrix.
pub(crate) fn figures(
    prepared: &Prepared,
    graphs: &[u32],
    loss: f64,
    scores: &[f64],
) -> (Part, Vec<Vec<u64>>) {
    match &prepared.goal {
        Goal::Classes(classes) => {
            let truth = prepared.classes(graphs);
            let probabilities: Vec<f64> = scores.chunks(classes.len()).flat_map(softmax).collect();
            let metrics = classification(&truth, &probabilities, classes.len());
            (Part::of_classes(loss, &metrics), metrics.confusion)
        }
        Goal::Labels(labels) => {
            let probabilities: Vec<f64> = scores.iter().map(|&score| sigmoid(score)).collect();
            let metrics = multi_label(&prepared.standardised(graphs), &probabilities, labels.len());
            (Part::of_classes(loss, &metrics.mean), Vec::new())
        }
        Goal::Targets(targets) => {
            // With the reference, which is a part of both: the variance that R2 compares with is that of the targets.
            let reference = prepared.reference(graphs);
            let deviation = |i: usize| prepared.scaling[i % targets.len()].deviation;
            let whole = |numbers: &[f64]| -> Vec<f64> {
                let both = numbers.iter().zip(&reference).enumerate();
                both.map(|(i, (x, part))| x + part / deviation(i)).collect()
            };
            let mut metrics =
                regression(&whole(&prepared.standardised(graphs)), &whole(scores), targets.len());
            for (metrics, scaling) in metrics.iter_mut().zip(&prepared.scaling) {
                // Errors in the target's own unit.
                metrics.mae = metrics.mae.map(|e| e * scaling.deviation);
                metrics.rmse = metrics.rmse.map(|e| e * scaling.deviation);
            }
            (Part::of_values(loss, &metrics), Vec::new())
        }
    }
}

/// The probability of a label's score: `1 / (1 + exp(-s))`.
pub(crate) fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// The probabilities of scores: `exp(s_c) / sum over d of exp(s_d)`.
pub(crate) fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    let total: f64 = exponentials.iter().sum();
    exponentials.iter().map(|e| e / total).collect()
}
