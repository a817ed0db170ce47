//! The figures of the best network of a finished run, set by set, each beside its baseline.

use super::{Metric, Part, Sums, figures, prior};
use crate::data::{Goal, Prepared};
use crate::error::{Error, Result};
use crate::labelling::{Labelling, noun};
use ppgn_graph::split::Split;
use ppgn_nn::{Level, Matrix, Values};
use serde::{Deserialize, Serialize};

/// What the best network gives on one set of graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The number of graphs.
    pub graphs: usize,
    /// With outputs per node, the number of nodes of which something is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nodes: Option<usize>,
    /// With outputs per pair, the number of pairs of which something is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pairs: Option<usize>,
    /// Its figures.
    pub metrics: Part,
    /// The figures of the baseline, which looks at no graph: it predicts the shares of the classes in the training set (so the
    /// majority class), or the mean of every target over the training set.
    pub baseline: Part,
    /// For classification, the number of graphs by class (row) and predicted class (column).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub confusion: Vec<Vec<u64>>,
}

/// What the best network gives on every set that the run has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sets {
    /// The training set, measured with the weights of the best epoch, unlike in the line of that epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub train: Option<Measured>,
    /// The validation set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub validation: Option<Measured>,
    /// The test set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub test: Option<Measured>,
}

impl Measured {
    /// The figures of a set of graphs with this many rows.
    pub(crate) fn new(
        level: Level,
        (graphs, rows): (usize, usize),
        metrics: Part,
        baseline: Part,
        confusion: Vec<Vec<u64>>,
    ) -> Self {
        let of = |wanted| (level == wanted).then_some(rows);
        Measured { graphs, nodes: of(Level::Node), pairs: of(Level::Pair), metrics, baseline, confusion }
    }

    /// How large the set is, in words: `20 graphs`, `20 graphs, 180 nodes`.
    pub fn size(&self) -> String {
        let counted = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let items = self.nodes.or(self.pairs).map(|n| format!(", {}", counted(n, self.item())));
        counted(self.graphs, "graph") + &items.unwrap_or_default()
    }

    /// What has classes or targets: `graph`, `node` or `pair`.
    pub fn item(&self) -> &'static str {
        match (self.nodes, self.pairs) {
            (Some(_), _) => "node",
            (_, Some(_)) => "pair",
            _ => "graph",
        }
    }

    /// The classes, by their place among the run's, that no graph of the set has.
    pub fn absent(&self) -> Vec<usize> {
        let of = |row: &Vec<u64>| row.iter().sum::<u64>();
        (0..self.confusion.len()).filter(|&class| of(&self.confusion[class]) == 0).collect()
    }
}

impl Sets {
    /// The sets that there are, with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Measured)> {
        let all = [("training", &self.train), ("validation", &self.validation), ("test", &self.test)];
        all.into_iter().filter_map(|(name, set)| set.as_ref().map(|set| (name, set)))
    }

    /// Measures a network on all sets. `evaluate` gives its loss and scores on a set.
    pub(crate) fn measure(prepared: &Prepared, evaluate: impl Fn(&[u32]) -> Result<Sums>) -> Result<Self> {
        let one = |graphs: &[u32]| -> Result<Option<Measured>> {
            if graphs.is_empty() {
                return Ok(None);
            }
            let (metrics, confusion) = evaluate(graphs)?.figures(prepared);
            let baseline = baseline(prepared, graphs)?;
            let size = (graphs.len(), prepared.rows(graphs));
            Ok(Some(Measured::new(prepared.labelling.level, size, metrics, baseline, confusion)))
        };
        let Split { train, validation, test } = &prepared.split;
        Ok(Sets { train: one(train)?, validation: one(validation)?, test: one(test)? })
    }
}

/// The figures of the baseline on a set.
fn baseline(prepared: &Prepared, graphs: &[u32]) -> Result<Part> {
    let row: Vec<f64> = match &prepared.goal {
        Goal::Classes(classes) => {
            let train = prepared.classes(&prepared.split.train);
            // A class without a training graph has the smallest probability that has a logarithm.
            prior(&train, classes.len()).iter().map(|p| p.max(f64::EPSILON).ln()).collect()
        }
        // The share of every label, as the score that has this probability.
        Goal::Labels(labels) => {
            let train = prepared.standardised(&prepared.split.train);
            let score = |label: usize| {
                let known = || train.iter().skip(label).step_by(labels.len()).filter(|y| !y.is_nan());
                let share = known().sum::<f64>() / known().count().max(1) as f64;
                let share = share.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
                (share / (1.0 - share)).ln()
            };
            (0..labels.len()).map(score).collect()
        }
        // Targets are standardised by the training set: their mean is 0.
        Goal::Targets(targets) => vec![0.0; targets.len()],
    };
    let rows = prepared.rows(graphs);
    let scores = row.repeat(rows);
    let matrix = Matrix::new(rows, row.len(), Values::F64(scores.clone()))?;
    let loss = prepared.loss_of(&matrix, prepared.known(graphs))?;
    let loss = prepared.mean_loss(loss.value, graphs);
    Ok(figures(prepared, graphs, loss, &scores).0)
}

/// An error where the best epoch cannot be selected by a metric: it is not one of the goal's, or it is undefined on the set
/// that the epoch is selected on.
pub(crate) fn selectable(
    select: super::Selection,
    goal: &Goal,
    labelling: &Labelling,
    split: &Split,
) -> Result<()> {
    let (name, graphs) = match (&split.validation[..], &split.test[..]) {
        ([], []) => ("training", &split.train),
        ([], _) => ("test", &split.test),
        _ => ("validation", &split.validation),
    };
    if select.validation && name != "validation" {
        return Err(Error::settings(
            "the best epoch is to be selected on a validation set, and the split has none",
        ));
    }
    let metric = select.metric;
    if !matches!(metric, Metric::Auto | Metric::Loss) && !Metric::of(goal).contains(&metric) {
        let what = if goal.is_classification() { "classes" } else { "regression" };
        let names: Vec<&str> = Metric::of(goal).iter().map(|metric| metric.name()).collect();
        return Err(Error::settings(format!(
            "{} is no metric of {what}; there are {} and loss",
            metric.title(),
            names.join(", ")
        )));
    }
    let why = match (metric, goal) {
        (Metric::RocAuc | Metric::AveragePrecision, Goal::Classes(classes)) => {
            let occurs =
                |class: usize| labelling.rows_of(graphs).any(|row| labelling.class(row) == Some(class));
            // Of two classes, the average precision is that of the second.
            let first = usize::from(metric == Metric::AveragePrecision && classes.len() == 2);
            let absent = (first..classes.len()).find(|&class| !occurs(class));
            absent.map(|class| format!("class {} does not occur in it", classes[class]))
        }
        (Metric::RocAuc | Metric::AveragePrecision, Goal::Labels(labels)) => {
            // The mean is over the labels for which it is defined: there must be one.
            let defined = |c: usize| {
                let has = |y: f64| labelling.rows_of(graphs).any(|row| labelling.values(row)[c] == y);
                has(1.0) && (has(0.0) || metric == Metric::AveragePrecision)
            };
            let none = "no label is both present and absent in it";
            (!(0..labels.len()).any(defined)).then(|| none.to_string())
        }
        (Metric::R2, _) if labelling.rows_of(graphs).nth(1).is_none() => {
            Some(format!("it has a single {}", noun(labelling.level)))
        }
        _ => None,
    };
    match why {
        None => Ok(()),
        Some(why) => Err(Error::settings(format!(
            "the best epoch cannot be selected by {} on the {name} set: {why}",
            metric.title()
        ))),
    }
}
