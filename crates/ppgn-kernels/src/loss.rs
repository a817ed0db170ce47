//! Losses and their gradients with respect to the scores, in closed form.
//!
//! All are *summed* over the graphs, as the paper's authors do. Arithmetic is in f64 and in the order of the graphs, so
//! a value does not depend on the number of threads; the gradient is rounded once, to the precision of the scores. They
//! equal PyTorch's `cross_entropy`, `binary_cross_entropy_with_logits`, `l1_loss` and `mse_loss` with
//! `reduction="sum"`.

use crate::real::Real;

/// Weights of the terms of a loss, and a mask. All are optional; a missing weight is 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weights<'a> {
    /// Per graph, `[graphs]`.
    pub graphs: Option<&'a [f64]>,
    /// Per column of the scores, `[outputs]`: per class for cross entropy, per label or target otherwise.
    pub columns: Option<&'a [f64]>,
    /// Of the positive labels in binary cross entropy, `[outputs]`.
    pub positive: Option<&'a [f64]>,
    /// Which values are present: `[graphs]` for cross entropy, `[graphs, outputs]` otherwise. A missing value
    /// contributes neither loss nor gradient, whatever its placeholder.
    pub present: Option<&'a [bool]>,
}

impl Weights<'_> {
    fn graph(&self, graph: usize) -> f64 {
        self.graphs.map_or(1.0, |weights| weights[graph])
    }

    fn column(&self, column: usize) -> f64 {
        self.columns.map_or(1.0, |weights| weights[column])
    }

    fn is_present(&self, place: usize) -> bool {
        self.present.is_none_or(|present| present[place])
    }

    fn check(&self, graphs: usize, outputs: usize, values: usize) {
        assert!(self.graphs.is_none_or(|weights| weights.len() == graphs));
        assert!(self.columns.is_none_or(|weights| weights.len() == outputs));
        assert!(self.positive.is_none_or(|weights| weights.len() == outputs));
        assert!(self.present.is_none_or(|present| present.len() == values));
    }
}

/// Cross entropy, `- sum over g of weight * log softmax(scores[g])[classes[g]]`, and its gradient
/// `weight * (softmax(scores[g]) - onehot(classes[g]))`.
///
/// # Shapes
/// - `scores`, gradient: `[graphs, outputs]`
/// - `classes`: `[graphs]`, below `outputs`
///
/// # Panics
/// If the lengths are inconsistent, or a class that is present is out of range.
pub fn cross_entropy<T: Real>(
    outputs: usize,
    scores: &[T],
    classes: &[usize],
    weights: &Weights<'_>,
) -> (f64, Vec<T>) {
    assert_eq!(scores.len(), classes.len() * outputs);
    weights.check(classes.len(), outputs, classes.len());
    let mut gradient = vec![T::default(); scores.len()];
    let mut total = 0.0;
    let rows = scores.chunks_exact(outputs).zip(gradient.chunks_exact_mut(outputs));
    for (graph, ((row, slope), &class)) in rows.zip(classes).enumerate() {
        if !weights.is_present(graph) {
            continue;
        }
        assert!(class < outputs);
        let weight = weights.graph(graph) * weights.column(class);
        let highest = row.iter().map(|s| s.wide()).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|s| (s.wide() - highest).exp()).sum();
        total += weight * (sum.ln() - (row[class].wide() - highest));
        for (column, (slope, s)) in slope.iter_mut().zip(row).enumerate() {
            let probability = (s.wide() - highest).exp() / sum;
            let target = if column == class { 1.0 } else { 0.0 };
            *slope = T::rounded(weight * (probability - target));
        }
    }
    (total, gradient)
}

/// Binary cross entropy for several labels, `- sum over g and t of weight * (positive * y log p + (1 - y) log (1 - p))`
/// with `p = 1 / (1 + exp(-score))`.
///
/// # Shapes
/// - `scores`, `labels` (from 0 to 1), gradient: `[graphs, outputs]`
///
/// # Panics
/// If the lengths are inconsistent.
pub fn binary_cross_entropy<T: Real>(
    outputs: usize,
    scores: &[T],
    labels: &[f64],
    weights: &Weights<'_>,
) -> (f64, Vec<T>) {
    entry_by_entry(outputs, scores, labels, weights, |column, score, label| {
        let positive = weights.positive.map_or(1.0, |weights| weights[column]);
        // log(1 + exp(-|s|)) is finite for every finite score.
        let rest = (-score.abs()).exp().ln_1p();
        let (log_of_one, log_of_zero) = (rest + (-score).max(0.0), rest + score.max(0.0));
        let probability = 1.0 / (1.0 + (-score).exp());
        let value = positive * label * log_of_one + (1.0 - label) * log_of_zero;
        (value, (1.0 - label) * probability - positive * label * (1.0 - probability))
    })
}

/// Absolute error, `sum over g and t of weight * |score - target|`; its derivative is taken as 0 where the two are
/// equal.
///
/// # Shapes
/// - `scores`, `targets`, gradient: `[graphs, outputs]`
///
/// # Panics
/// If the lengths are inconsistent.
pub fn absolute_error<T: Real>(
    outputs: usize,
    scores: &[T],
    targets: &[f64],
    weights: &Weights<'_>,
) -> (f64, Vec<T>) {
    entry_by_entry(outputs, scores, targets, weights, |_, score, target| {
        let difference = score - target;
        let slope = if difference == 0.0 { 0.0 } else { difference.signum() };
        (difference.abs(), slope)
    })
}

/// Squared error, `sum over g and t of weight * (score - target)^2`.
///
/// # Shapes
/// - `scores`, `targets`, gradient: `[graphs, outputs]`
///
/// # Panics
/// If the lengths are inconsistent.
pub fn squared_error<T: Real>(
    outputs: usize,
    scores: &[T],
    targets: &[f64],
    weights: &Weights<'_>,
) -> (f64, Vec<T>) {
    entry_by_entry(outputs, scores, targets, weights, |_, score, target| {
        let difference = score - target;
        (difference * difference, 2.0 * difference)
    })
}

/// A loss that is a sum over all scores, given the value and derivative of one term.
fn entry_by_entry<T: Real>(
    outputs: usize,
    scores: &[T],
    targets: &[f64],
    weights: &Weights<'_>,
    of: impl Fn(usize, f64, f64) -> (f64, f64),
) -> (f64, Vec<T>) {
    assert_eq!(scores.len(), targets.len());
    let graphs = scores.len() / outputs.max(1);
    weights.check(graphs, outputs, scores.len());
    let mut gradient = vec![T::default(); scores.len()];
    let mut total = 0.0;
    for (place, (score, slope)) in scores.iter().zip(&mut gradient).enumerate() {
        if !weights.is_present(place) {
            continue;
        }
        let (graph, column) = (place / outputs, place % outputs);
        let weight = weights.graph(graph) * weights.column(column);
        let (value, by_score) = of(column, score.wide(), targets[place]);
        total += weight * value;
        *slope = T::rounded(weight * by_score);
    }
    (total, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 6] = [0.3, -1.2, 2.0, 0.0, 0.7, -0.4];

    type LossFn<'a> = &'a dyn Fn(&[f64]) -> (f64, Vec<f64>);

    fn assert_gradients_match_differences(loss: LossFn<'_>) {
        let (_, gradient) = loss(&SCORES);
        for at in 0..SCORES.len() {
            let moved = |by: f64| {
                let mut scores = SCORES;
                scores[at] += by;
                loss(&scores).0
            };
            let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient[at] - expected).abs() < 1e-8, "{at}: {} {expected}", gradient[at]);
        }
    }

    #[test]
    fn gradients_match_finite_differences_with_and_without_weights() {
        let graphs = [0.5, 2.0];
        let columns = [1.0, 0.25, 3.0];
        let positive = [2.0, 1.0, 0.5];
        let present = [true, false, true, true, true, false];
        for weights in [
            Weights::default(),
            Weights { graphs: Some(&graphs), ..Default::default() },
            Weights {
                graphs: Some(&graphs),
                columns: Some(&columns),
                positive: Some(&positive),
                present: Some(&present),
            },
        ] {
            let by_graph = Weights { present: weights.present.map(|p| &p[..2]), ..weights };
            assert_gradients_match_differences(&|s| cross_entropy(3, s, &[2, 0], &by_graph));
            assert_gradients_match_differences(&|s| {
                binary_cross_entropy(3, s, &[1.0, 0.0, 0.3, 1.0, 1.0, 0.0], &weights)
            });
            assert_gradients_match_differences(&|s| {
                absolute_error(3, s, &[1.0, 0.0, 0.3, 1.0, 1.0, 0.1], &weights)
            });
            assert_gradients_match_differences(&|s| {
                squared_error(3, s, &[1.0, 0.0, 0.3, 1.0, 1.0, 0.1], &weights)
            });
        }
    }

    #[test]
    fn large_scores_stay_finite_and_missing_values_are_ignored() {
        let (value, slope) = cross_entropy(2, &[0.0, 0.0, 1000.0, 0.0], &[1, 1], &Weights::default());
        assert!((value - (1000.0 + 2f64.ln())).abs() < 1e-12);
        assert_eq!(slope, [0.5, -0.5, 1.0, -1.0]);
        let (value, slope) = binary_cross_entropy(2, &[800.0, -800.0], &[0.0, 1.0], &Weights::default());
        assert_eq!((value, &slope[..]), (1600.0, &[1.0, -1.0][..]));
        let weights = Weights { present: Some(&[false, true]), ..Default::default() };
        let (value, slope) = absolute_error(1, &[1.0f32, 2.0], &[f64::NAN, 4.0], &weights);
        assert_eq!((value, &slope[..]), (2.0, &[0.0f32, -1.0][..]));
        let (value, slope) = cross_entropy(2, &[0.0f64; 4], &[usize::MAX, 1], &weights);
        assert_eq!((value, &slope[..]), (2f64.ln(), &[0.0, 0.0, 0.5, -0.5][..]));
    }

    #[test]
    fn absolute_error_has_zero_gradient_at_zero() {
        let (value, slope) = absolute_error(1, &[1.0, 2.0, 3.0], &[1.0, 4.0, 2.5], &Weights::default());
        assert_eq!((value, slope), (2.5, vec![0.0, -1.0, 1.0]));
    }

    #[test]
    fn non_finite_scores_give_a_non_finite_loss() {
        for wrong in [f64::NAN, f64::INFINITY] {
            assert!(!cross_entropy(2, &[wrong, 0.0], &[1], &Weights::default()).0.is_finite());
            assert!(!absolute_error(1, &[wrong], &[1.0], &Weights::default()).0.is_finite());
        }
    }
}
