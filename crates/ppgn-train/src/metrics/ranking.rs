//! How well scores rank the positive above the negative: ROC AUC and average precision.

/// The area under the ROC curve: the probability that a random positive has a higher score than a random negative, ties
/// counting one half. Nothing where positives or negatives are missing, or where a score is not a number.
///
/// `sum over positives i and negatives j of [s_i > s_j] + [s_i = s_j] / 2, / (P N)`, counted in whole numbers, so the order of
/// the graphs does not matter. The same as scikit-learn's `roc_auc_score`. O(n log n).
///
/// ```
/// use ppgn_train::metrics::roc_auc;
/// assert_eq!(roc_auc(&[false, true, false, true], &[0.1, 0.4, 0.4, 0.8]), Some(0.875));
/// assert_eq!(roc_auc(&[true, true], &[0.1, 0.4]), None);
/// ```
pub fn roc_auc(truth: &[bool], scores: &[f64]) -> Option<f64> {
    if scores.iter().any(|s| s.is_nan()) {
        return None;
    }
    let (mut above, mut twice) = (0u128, 0u128);
    for tied in Ties::of(truth, scores) {
        // Positives above this group beat all its negatives; those within it share.
        twice += tied.negatives * (2 * above + tied.positives);
        above += tied.positives;
    }
    let positives = above;
    let negatives = truth.len() as u128 - positives;
    (positives > 0 && negatives > 0).then(|| twice as f64 / (2 * positives * negatives) as f64)
}

/// The average precision: `sum over thresholds t of (R_t - R_t-1) P_t`, from the highest score to the lowest, graphs with equal
/// scores together. Nothing where there is no positive, or where a score is not a number. The same as scikit-learn's `average_precision_score`. O(n log n).
///
/// ```
/// use ppgn_train::metrics::average_precision;
/// let ap = average_precision(&[false, false, true, true], &[0.1, 0.4, 0.35, 0.8]).unwrap();
/// assert!((ap - 5.0 / 6.0).abs() < 1e-15);
/// ```
pub fn average_precision(truth: &[bool], scores: &[f64]) -> Option<f64> {
    if scores.iter().any(|s| s.is_nan()) {
        return None;
    }
    let positives = truth.iter().filter(|&&t| t).count() as f64;
    let (mut hits, mut seen, mut sum) = (0u128, 0u128, 0.0);
    for tied in Ties::of(truth, scores) {
        hits += tied.positives;
        seen += tied.positives + tied.negatives;
        sum += tied.positives as f64 * (hits as f64 / seen as f64);
    }
    (positives > 0.0).then(|| sum / positives)
}

/// Positives and negatives that have the same score.
struct Tied {
    positives: u128,
    negatives: u128,
}

/// Groups of equal scores, from the highest to the lowest.
struct Ties<'a> {
    truth: &'a [bool],
    scores: &'a [f64],
    order: std::vec::IntoIter<usize>,
}

impl<'a> Ties<'a> {
    fn of(truth: &'a [bool], scores: &'a [f64]) -> Self {
        let mut order: Vec<usize> = (0..truth.len().min(scores.len())).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        Ties { truth, scores, order: order.into_iter() }
    }
}

impl Iterator for Ties<'_> {
    type Item = Tied;

    fn next(&mut self) -> Option<Tied> {
        let score = self.scores[*self.order.as_slice().first()?];
        let mut tied = Tied { positives: 0, negatives: 0 };
        // -0 and 0 are next to each other in the order, and equal.
        while let Some(&i) = self.order.as_slice().first()
            && self.scores[i] == score
        {
            match self.truth[i] {
                true => tied.positives += 1,
                false => tied.negatives += 1,
            }
            self.order.next();
        }
        Some(tied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definitions, pair by pair and threshold by threshold.
    fn naive(truth: &[bool], scores: &[f64]) -> (Option<f64>, Option<f64>) {
        let of = |class: bool| (0..truth.len()).filter(move |&i| truth[i] == class);
        let (p, n) = (of(true).count(), of(false).count());
        let mut area = 0.0;
        for (i, j) in of(true).flat_map(|i| of(false).map(move |j| (i, j))) {
            area += f64::from(scores[i] > scores[j]) + f64::from(scores[i] == scores[j]) / 2.0;
        }
        let mut thresholds = scores.to_vec();
        thresholds.sort_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let (mut ap, mut recall) = (0.0, 0.0);
        for t in thresholds {
            let hits = of(true).filter(|&i| scores[i] >= t).count() as f64;
            let seen = scores.iter().filter(|&&s| s >= t).count() as f64;
            ap += (hits / p as f64 - recall) * hits / seen;
            recall = hits / p as f64;
        }
        ((p * n > 0).then(|| area / (p * n) as f64), (p > 0).then_some(ap))
    }

    proptest! {
        #[test]
        fn rankings_are_what_their_definitions_say(
            rows in prop::collection::vec((any::<bool>(), 0u8..6), 0..40)
        ) {
            let truth: Vec<bool> = rows.iter().map(|r| r.0).collect();
            let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.1) / 7.0).collect();
            let (area, ap) = naive(&truth, &scores);
            let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            prop_assert!(close(roc_auc(&truth, &scores), area));
            prop_assert!(close(average_precision(&truth, &scores), ap));
        }
    }

    #[test]
    fn a_score_that_is_not_a_number_ranks_nothing() {
        assert_eq!(roc_auc(&[true, false], &[f64::NAN, 0.0]), None);
        assert_eq!(average_precision(&[true, false], &[0.0, f64::NAN]), None);
    }

    #[test]
    fn zeros_of_both_signs_are_tied() {
        assert_eq!(roc_auc(&[true, false], &[0.0, -0.0]), Some(0.5));
    }
}
