//! How good predictions are: pure functions of truth and predictions, and what a run records of them after every epoch.
//!
//! [`classification`] is for one class per graph, [`multi_label`] for several yes-or-no labels per graph, [`regression`] for
//! values; [`roc_auc`] and [`average_precision`] are the rankings below them. Each equals scikit-learn's function of the same
//! name on the same predictions. What a set of graphs cannot say, such as a ROC AUC where only one class occurs, is `None`.
//! A [`Metric`] names one of them, to select an epoch by.

mod classes;
mod epoch;
mod labels;
mod measured;
mod metric;
mod ranking;
mod selection;
mod values;

pub use classes::{ClassMetrics, classification, prior};
pub use epoch::{Best, Epoch, Last, Part, Predictions};
pub use labels::{LabelMetrics, multi_label};
pub use measured::{Measured, Sets};
pub use metric::Metric;
pub use ranking::{average_precision, roc_auc};
pub use selection::Selection;
pub use values::{ValueMetrics, regression};

pub(crate) use epoch::{Sums, figures, sigmoid, softmax};
pub(crate) use measured::selectable;

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

/// The mean of these numbers; nothing of none, or where one of them is undefined.
fn mean(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for number in numbers {
        sum += number?;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}
