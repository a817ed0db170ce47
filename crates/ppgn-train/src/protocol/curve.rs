//! The averaging of the paper's tables: from one curve per fold to a mean and a standard deviation.

/// Mean and deviation of a set of curves at the best epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Averaged {
    /// The epoch at which the mean curve is highest, counted from 1; the first one in case of a tie.
    pub epoch: usize,
    /// The mean over the curves at that epoch.
    pub mean: f64,
    /// The sample standard deviation (n - 1) over the curves at that epoch; `None` for a single curve.
    pub deviation: Option<f64>,
    /// The mean curve.
    pub curve: Vec<f64>,
}

/// Means that differ by less than this are equal. Sums of the same accuracies in another order differ by about 1e-16;
/// means over folds of n and n + 1 graphs that really differ do so by at least 1 / (10 n (n + 1)).
const EQUAL: f64 = 1e-12;

/// Averages curves epoch by epoch, and takes mean and deviation at the best epoch of the mean curve:
///
/// `m_e = 1/n sum_k c_k(e)`, `e* = first argmax m_e`, `s = sqrt(1/(n-1) sum_k (c_k(e*) - m_e*)^2)`.
///
/// `None` if there is no curve or no epoch, or if curves differ in length. O(curves * epochs).
///
/// ```
/// use ppgn_train::protocol::average;
/// let a = average(&[vec![0.5, 0.75, 0.75], vec![0.25, 0.25, 0.25], vec![0.75, 0.5, 0.5]]).unwrap();
/// assert_eq!((a.epoch, a.mean, a.deviation), (1, 0.5, Some(0.25)));
/// ```
pub fn average(curves: &[Vec<f64>]) -> Option<Averaged> {
    let epochs = curves.first()?.len();
    if epochs == 0 || curves.iter().any(|c| c.len() != epochs) {
        return None;
    }
    let n = curves.len() as f64;
    let curve: Vec<f64> = (0..epochs).map(|e| curves.iter().map(|c| c[e]).sum::<f64>() / n).collect();
    let mut best = 0;
    for (e, mean) in curve.iter().enumerate() {
        if *mean > curve[best] + EQUAL {
            best = e;
        }
    }
    let mean = curve[best];
    let squares: f64 = curves.iter().map(|c| (c[best] - mean) * (c[best] - mean)).sum();
    let deviation = (curves.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    Some(Averaged { epoch: best + 1, mean, deviation, curve })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_sample_deviation_by_hand() {
        // At epoch 2: 0.6, 0.8, 1.0, 0.8; mean 0.8, squares 0.04 + 0 + 0.04 + 0 = 0.08, / 3 = 0.02666.., root 0.16329..
        let curves = [vec![0.9, 0.6], vec![0.5, 0.8], vec![0.5, 1.0], vec![0.9, 0.8]];
        let a = average(&curves).unwrap();
        assert_eq!(a.epoch, 2);
        assert!((a.mean - 0.8).abs() < 1e-15, "{a:?}");
        assert!((a.deviation.unwrap() - 0.163_299_316_185_545_2).abs() < 1e-15, "{a:?}");
        assert!((a.curve[0] - 0.7).abs() < 1e-15);
    }

    #[test]
    fn the_best_epoch_is_of_the_mean_and_not_of_any_fold() {
        // Folds are best at epochs 1 and 3; their mean is best at 2.
        let a = average(&[vec![1.0, 0.9, 0.2], vec![0.2, 0.9, 1.0]]).unwrap();
        assert_eq!((a.epoch, a.deviation), (2, Some(0.0)));
    }

    #[test]
    fn ties_go_to_the_first_epoch_whatever_the_order_of_the_sum() {
        assert_eq!(average(&[vec![0.5, 0.5]]).unwrap().epoch, 1);
        // The same ten accuracies in another order: equal means, though the sums differ in their last bits.
        let first = [0.1, 0.2, 0.3, 0.7, 0.6, 0.9, 0.1, 0.3, 0.2, 0.7];
        let second = [0.1, 0.2, 0.7, 0.3, 0.9, 0.7, 0.1, 0.6, 0.2, 0.3];
        assert_ne!(first.iter().sum::<f64>() / 10.0, second.iter().sum::<f64>() / 10.0);
        for (a, b) in [(first, second), (second, first)] {
            let curves: Vec<Vec<f64>> = a.iter().zip(b).map(|(&a, b)| vec![0.0, a, b]).collect();
            assert_eq!(average(&curves).unwrap().epoch, 2);
        }
    }

    #[test]
    fn one_fold_has_no_deviation_and_nothing_has_no_average() {
        assert_eq!(average(&[vec![0.1, 0.4]]).unwrap().deviation, None);
        assert_eq!(average(&[]), None);
        assert_eq!(average(&[vec![]]), None);
        assert_eq!(average(&[vec![0.1], vec![0.1, 0.2]]), None);
    }
}
