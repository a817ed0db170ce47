//! Metrics of one class per graph.

use super::{argmax, average_precision, mean, roc_auc};

/// How good predicted probabilities of classes are. Of no graphs at all, everything is undefined.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassMetrics {
    /// The share of graphs whose most probable class is theirs.
    pub accuracy: Option<f64>,
    /// The mean over the classes that occur of the share of their graphs that is right.
    pub balanced_accuracy: Option<f64>,
    /// The mean over the classes that occur or are predicted of `2 tp / (2 tp + fp + fn)`.
    pub macro_f1: Option<f64>,
    /// Of two classes the area under the ROC curve of the second; of more the mean over the classes of each against the rest.
    /// Undefined where a class does not occur, or occurs alone.
    pub roc_auc: Option<f64>,
    /// Of two classes the average precision of the second; of more the mean over the classes. Undefined where a class that
    /// counts does not occur.
    pub average_precision: Option<f64>,
    /// The mean of `-ln p` of the graphs' classes, p kept at least 2.2e-16 from 0 and from 1.
    pub log_loss: Option<f64>,
    /// Of two classes the mean of `(p - y)^2` of the second; of more the mean of the sum over the classes.
    pub brier: Option<f64>,
    /// The number of graphs by class (row) and predicted class (column).
    pub confusion: Vec<Vec<u64>>,
}

/// The metrics of `probabilities`, `[graphs, classes]` row-major, of graphs with these classes; a graph whose class is missing
/// does not count.
///
/// They equal scikit-learn's `accuracy_score`, `balanced_accuracy_score`, `f1_score(average="macro")`,
/// `roc_auc_score(multi_class="ovr", average="macro")`, `average_precision_score`, `log_loss`, `brier_score_loss` and
/// `confusion_matrix`, and are `None` where those are undefined: where they raise, warn that there are no positives, or give
/// NaN. The predicted class is the first of the most probable. O(n c log n).
///
/// ```
/// use ppgn_train::metrics::classification;
/// let m = classification(&[Some(0), Some(1), Some(1), None], &[0.9, 0.1, 0.6, 0.4, 0.2, 0.8, 0.5, 0.5], 2);
/// assert_eq!(m.accuracy, Some(2.0 / 3.0));
/// assert_eq!((m.balanced_accuracy, m.roc_auc), (Some(0.75), Some(1.0)));
/// assert_eq!(m.confusion, [[1, 0], [1, 1]]);
/// ```
pub fn classification(truth: &[Option<usize>], probabilities: &[f64], classes: usize) -> ClassMetrics {
    let known: Vec<(usize, &[f64])> = truth
        .iter()
        .zip(probabilities.chunks_exact(classes.max(1)))
        .filter_map(|(class, row)| class.filter(|&c| c < classes).map(|class| (class, row)))
        .collect();
    let mut confusion = vec![vec![0u64; classes]; classes];
    for &(class, row) in &known {
        confusion[class][argmax(row)] += 1;
    }
    let column = |c: usize| {
        let truth: Vec<bool> = known.iter().map(|&(class, _)| class == c).collect();
        let scores: Vec<f64> = known.iter().map(|(_, row)| row[c]).collect();
        (truth, scores)
    };
    // Of two classes the second is the positive one.
    let columns = if classes == 2 { 1..2 } else { 0..classes };
    let over_columns = |metric: fn(&[bool], &[f64]) -> Option<f64>| {
        mean(columns.clone().map(column).map(|(truth, scores)| metric(&truth, &scores)))
    };
    ClassMetrics {
        accuracy: mean(known.iter().map(|&(class, row)| Some(f64::from(u8::from(argmax(row) == class))))),
        balanced_accuracy: balanced_accuracy(&confusion),
        macro_f1: macro_f1(&confusion),
        roc_auc: over_columns(roc_auc),
        average_precision: over_columns(average_precision),
        log_loss: mean(known.iter().map(|&(class, row)| Some(-clipped(row[class]).ln()))),
        brier: mean(known.iter().map(|&(class, row)| Some(square(class, row)))),
        confusion,
    }
}

/// The mean recall of the classes that occur.
fn balanced_accuracy(confusion: &[Vec<u64>]) -> Option<f64> {
    let occurs = |row: &[u64]| row.iter().sum::<u64>();
    let recalls = confusion.iter().enumerate().filter(|(_, row)| occurs(row) > 0);
    mean(recalls.map(|(class, row)| Some(row[class] as f64 / occurs(row) as f64)))
}

/// The mean F1 of the classes that occur or are predicted.
fn macro_f1(confusion: &[Vec<u64>]) -> Option<f64> {
    let f1 = |class: usize| {
        let occurs: u64 = confusion[class].iter().sum();
        let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
        (occurs + predicted > 0).then(|| 2.0 * confusion[class][class] as f64 / (occurs + predicted) as f64)
    };
    mean((0..confusion.len()).filter_map(f1).map(Some))
}

/// A probability that has a logarithm, as scikit-learn clips it.
pub(super) fn clipped(p: f64) -> f64 {
    p.clamp(f64::EPSILON, 1.0 - f64::EPSILON)
}

/// The squared distance of a row of probabilities from the graph's class, halved for two classes.
fn square(class: usize, row: &[f64]) -> f64 {
    let squares = row.iter().enumerate().map(|(c, p)| (p - f64::from(u8::from(c == class))).powi(2));
    let sum: f64 = squares.sum();
    if row.len() == 2 { sum / 2.0 } else { sum }
}

/// The shares of the classes among these graphs: what a network is worth that looks at no graph. As the probabilities of
/// every graph they are the baseline: its most probable class is the majority class, its ROC AUC is 1/2. The same as
/// scikit-learn's `DummyClassifier(strategy="prior")`.
///
/// ```
/// use ppgn_train::metrics::prior;
/// assert_eq!(prior(&[Some(0), Some(1), Some(0), None, Some(0)], 2), [0.75, 0.25]);
/// ```
pub fn prior(truth: &[Option<usize>], classes: usize) -> Vec<f64> {
    let mut counts = vec![0usize; classes];
    truth.iter().flatten().filter(|&&c| c < classes).for_each(|&c| counts[c] += 1);
    let all = counts.iter().sum::<usize>();
    match all {
        0 => vec![1.0 / classes.max(1) as f64; classes],
        _ => counts.iter().map(|&count| count as f64 / all as f64).collect(),
    }
}
