//! Metrics of several labels per graph, each present or absent (multi-label classification).

use super::classes::{ClassMetrics, classification};

/// How good predicted probabilities of labels are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelMetrics {
    /// The mean of each metric over the labels for which it is defined; no confusion matrix.
    pub mean: ClassMetrics,
    /// The metrics of each label as a problem of two classes: absent, present. [`macro_f1`](ClassMetrics::macro_f1) is that of
    /// the presence.
    pub labels: Vec<ClassMetrics>,
}

/// The metrics of `probabilities`, `[graphs, labels]` row-major, of graphs with these labels: 1 for present, 0 for absent, NaN
/// for unknown, which does not count.
///
/// A label is predicted where its probability is above 1/2. Where no value is unknown, the means equal scikit-learn's
/// `f1_score`, `roc_auc_score` and `average_precision_score` with `average="macro"` over the labels for which they are defined
/// (the convention of the Open Graph Benchmark), and the accuracy is `1 - hamming_loss`. O(n l log n).
///
/// ```
/// use ppgn_train::metrics::multi_label;
/// let truth = [1.0, 0.0, 0.0, f64::NAN, 1.0, 1.0];
/// let m = multi_label(&truth, &[0.9, 0.2, 0.4, 0.3, 0.3, 0.7], 2);
/// assert_eq!(m.labels[0].roc_auc, Some(0.5));
/// assert_eq!(m.mean.roc_auc, Some(0.75));
/// assert_eq!(m.labels[1].accuracy, Some(1.0));
/// ```
pub fn multi_label(truth: &[f64], probabilities: &[f64], labels: usize) -> LabelMetrics {
    let one = |label: usize| {
        let column =
            |values: &[f64]| -> Vec<f64> { values.chunks_exact(labels).map(|row| row[label]).collect() };
        let known = |y: f64| (!y.is_nan()).then_some(usize::from(y > 0.5));
        let truth: Vec<Option<usize>> = column(truth).into_iter().map(known).collect();
        let rows: Vec<f64> = column(probabilities).into_iter().flat_map(|p| [1.0 - p, p]).collect();
        let metrics = classification(&truth, &rows, 2);
        ClassMetrics { macro_f1: presence(&metrics.confusion), ..metrics }
    };
    let labels: Vec<ClassMetrics> = (0..labels).map(one).collect();
    let mean = |of: fn(&ClassMetrics) -> Option<f64>| super::mean(labels.iter().filter_map(of).map(Some));
    let mean = ClassMetrics {
        accuracy: mean(|m| m.accuracy),
        balanced_accuracy: mean(|m| m.balanced_accuracy),
        macro_f1: mean(|m| m.macro_f1),
        roc_auc: mean(|m| m.roc_auc),
        average_precision: mean(|m| m.average_precision),
        log_loss: mean(|m| m.log_loss),
        brier: mean(|m| m.brier),
        confusion: Vec::new(),
    };
    LabelMetrics { mean, labels }
}

/// F1 of a label: `2 tp / (2 tp + fp + fn)`, 0 where it neither occurs nor is predicted.
fn presence(confusion: &[Vec<u64>]) -> Option<f64> {
    let (missed, wrong, right) = (confusion[1][0], confusion[0][1], confusion[1][1]);
    let graphs = confusion.iter().flatten().sum::<u64>();
    let all = 2 * right + missed + wrong;
    (graphs > 0).then(|| if all == 0 { 0.0 } else { 2.0 * right as f64 / all as f64 })
}
