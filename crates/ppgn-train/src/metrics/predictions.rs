//! The figures of predictions for a dataset that knows better: probabilities of classes, or values in the targets' own units.

use super::{ClassMetrics, Measured, Part, classification, multi_label, prior, regression};
use crate::data::{Goal, columns};
use crate::settings::Settings;
use ppgn_graph::{Dataset, Target};

impl Settings {
    /// The class of a graph by its place among the run's classes: by name where both the run and the data have names, else by
    /// label. `None` where it is not known, or not a class of the run.
    pub fn class_of(&self, dataset: &Dataset, graph: usize) -> Option<usize> {
        let Goal::Classes(classes) = &self.goal else { return None };
        let (header, class) = (dataset.header(), dataset.class(graph)?);
        match header.class_names.get(class) {
            Some(name) if !self.class_names.is_empty() => self.class_names.iter().position(|n| n == name),
            _ => classes.binary_search(header.classes.as_ref()?.get(class)?).ok(),
        }
    }
}

/// The figures of `numbers` (probabilities or values, one row per graph) for these graphs, and for classes the confusion matrix.
///
/// The loss is the log loss or, for regression, the sum over the targets of the mean absolute error in training deviations.
/// Nothing where the data does not have what the run predicts.
pub fn figures_of(
    settings: &Settings,
    dataset: &Dataset,
    graphs: &[u32],
    numbers: &[f64],
) -> Option<(Part, Vec<Vec<u64>>)> {
    match &settings.goal {
        Goal::Classes(classes) => {
            let truth: Vec<Option<usize>> =
                graphs.iter().map(|&g| settings.class_of(dataset, g as usize)).collect();
            truth.iter().any(Option::is_some).then(|| {
                let found: ClassMetrics = classification(&truth, numbers, classes.len());
                (Part::of_classes(found.log_loss.unwrap_or(0.0), &found), found.confusion)
            })
        }
        Goal::Labels(labels) => {
            let found = multi_label(&values(dataset, labels, graphs)?, numbers, labels.len()).mean;
            found.accuracy.map(|_| (Part::of_classes(found.log_loss.unwrap_or(0.0), &found), Vec::new()))
        }
        Goal::Targets(targets) => {
            let truth = values(dataset, targets, graphs)?;
            let found = regression(&truth, numbers, targets.len());
            let losses = found.iter().zip(&settings.scaling);
            let loss = losses.map(|(m, s)| m.mae.unwrap_or(0.0) / s.deviation).sum();
            found.iter().any(|m| m.mae.is_some()).then(|| (Part::of_values(loss, &found), Vec::new()))
        }
    }
}

/// The targets of these graphs, graph after graph, NaN where one is not known; nothing where the data does not have them.
fn values(dataset: &Dataset, targets: &[Target], graphs: &[u32]) -> Option<Vec<f64>> {
    let columns = columns(dataset, targets).ok()?;
    let of = |&g: &u32| columns.iter().map(move |&c| dataset.targets(g as usize)[c]).collect::<Vec<f64>>();
    Some(graphs.iter().flat_map(of).collect())
}

/// What the baseline predicts for every graph, from the goals of the training graphs alone: the shares of the classes or
/// labels among them, or the mean of every target.
pub fn baseline_row(settings: &Settings, dataset: &Dataset, train: &[u32]) -> Vec<f64> {
    match &settings.goal {
        Goal::Classes(classes) => {
            let class = |&g: &u32| settings.class_of(dataset, g as usize);
            prior(&train.iter().map(class).collect::<Vec<_>>(), classes.len())
        }
        Goal::Labels(labels) => {
            let all = values(dataset, labels, train).unwrap_or_default();
            let share = |label: usize| {
                let known = || all.iter().skip(label).step_by(labels.len()).filter(|y| !y.is_nan());
                known().sum::<f64>() / known().count().max(1) as f64
            };
            (0..labels.len()).map(share).collect()
        }
        Goal::Targets(_) => settings.scaling.iter().map(|s| s.mean).collect(),
    }
}

/// The figures of numbers beside those of a baseline, which has the same row for every graph.
pub(crate) fn beside_baseline(
    settings: &Settings,
    dataset: &Dataset,
    graphs: &[u32],
    numbers: &[f64],
    row: &[f64],
) -> Option<Measured> {
    if graphs.is_empty() {
        return None;
    }
    let (metrics, confusion) = figures_of(settings, dataset, graphs, numbers)?;
    let (baseline, _) = figures_of(settings, dataset, graphs, &row.repeat(graphs.len()))?;
    Some(Measured { graphs: graphs.len(), metrics, baseline, confusion })
}
