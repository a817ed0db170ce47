//! The figures of predictions for a dataset that knows better: probabilities of classes, or values in the targets' own units.

use super::{ClassMetrics, Measured, Part, classification, regression};
use crate::data::{Goal, columns};
use crate::settings::Settings;
use ppgn_graph::Dataset;

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
        Goal::Targets(targets) => {
            let columns = columns(dataset, targets).ok()?;
            let truth = |g: u32| columns.iter().map(move |&c| dataset.targets(g as usize)[c]);
            let truth: Vec<f64> = graphs.iter().flat_map(|&g| truth(g)).collect();
            let found = regression(&truth, numbers, targets.len());
            let losses = found.iter().zip(&settings.scaling);
            let loss = losses.map(|(m, s)| m.mae.unwrap_or(0.0) / s.deviation).sum();
            found.iter().any(|m| m.mae.is_some()).then(|| (Part::of_values(loss, &found), Vec::new()))
        }
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
