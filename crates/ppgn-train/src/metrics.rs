//! What is measured after every epoch: one line of `metrics.jsonl`.
//!
//! Nothing here depends on the clock, the path or the host, so the metrics of a run are the same bytes whether it was
//! interrupted or not; times go to `timing.jsonl`.

use crate::data::{Goal, Prepared};
use serde::{Deserialize, Serialize};

/// The metrics of one set of graphs: training, validation or test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The mean loss per graph (for regression summed over the standardised targets).
    pub loss: f64,
    /// For classification, the accuracy, as a fraction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accuracy: Option<f64>,
    /// For regression, the mean absolute error of each target, in its own unit.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mae: Vec<f64>,
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
    fn selected_on(&self) -> &Part {
        self.validation.as_ref().or(self.test.as_ref()).unwrap_or(&self.train)
    }

    /// The accuracy on the set that the best epoch is selected on or, for regression, the negative loss: higher is better.
    pub fn score(&self) -> f64 {
        let part = self.selected_on();
        part.accuracy.unwrap_or(-part.loss)
    }

    /// The loss that a schedule watches: of the validation set, else of the training set. The test set has no say in how a
    /// network is trained.
    pub(crate) fn watched_loss(&self) -> f64 {
        self.validation.as_ref().unwrap_or(&self.train).loss
    }

    /// Whether it is better than an earlier epoch: a higher [score](Self::score), or the same score with a lower loss.
    pub fn is_better_than(&self, earlier: &Epoch) -> bool {
        let (score, best) = (self.score(), earlier.score());
        score > best || score == best && self.selected_on().loss < earlier.selected_on().loss
    }

    /// Whether all losses and errors are finite: JSON has no other numbers.
    pub(crate) fn is_finite(&self) -> bool {
        [Some(&self.train), self.validation.as_ref(), self.test.as_ref()]
            .into_iter()
            .flatten()
            .all(|part| part.loss.is_finite() && part.mae.iter().all(|e| e.is_finite()))
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

/// Accumulates the metrics of a set, batch by batch, in order.
pub(crate) struct Sums {
    graphs: usize,
    loss: f64,
    right: usize,
    errors: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        Sums { graphs: 0, loss: 0.0, right: 0, errors: vec![0.0; prepared.scaling.len()] }
    }

    /// A batch: its summed loss and its scores.
    pub(crate) fn add(&mut self, prepared: &Prepared, graphs: &[u32], loss: f64, scores: &[f64]) {
        self.graphs += graphs.len();
        self.loss += loss;
        let outputs = prepared.goal.outputs();
        match &prepared.goal {
            Goal::Classes(_) => {
                let classes = prepared.classes(graphs);
                self.right +=
                    scores.chunks(outputs).zip(classes).filter(|(row, class)| argmax(row) == *class).count();
            }
            Goal::Targets(_) => {
                let wanted = prepared.standardised(graphs);
                for (i, (score, wanted)) in scores.iter().zip(wanted).enumerate() {
                    let t = i % outputs;
                    self.errors[t] += (score - wanted).abs() * prepared.scaling[t].deviation;
                }
            }
        }
    }

    pub(crate) fn finish(self, prepared: &Prepared) -> Part {
        let n = self.graphs.max(1) as f64;
        Part {
            loss: self.loss / n,
            accuracy: matches!(prepared.goal, Goal::Classes(_)).then_some(self.right as f64 / n),
            mae: self.errors.iter().map(|e| e / n).collect(),
        }
    }
}

/// The index of the largest number; the first one in case of a tie.
pub(crate) fn argmax(row: &[f64]) -> usize {
    let mut best = 0;
    for (i, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = i;
        }
    }
    best
}
