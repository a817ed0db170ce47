//! Metrics of regression, one per target.

use super::mean;

/// How good predicted values of a target are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ValueMetrics {
    /// The mean absolute error; nothing where no value is known.
    pub mae: Option<f64>,
    /// The root of the mean squared error; nothing where no value is known.
    pub rmse: Option<f64>,
    /// `1 - sum (y - p)^2 / sum (y - mean y)^2`; nothing for fewer than two known values. Where all values are equal, 1 if they
    /// were predicted exactly, else 0.
    pub r2: Option<f64>,
}

/// The metrics of each target; `truth` and `predicted` are `[graphs, targets]` row-major. A truth of NaN is unknown, and does
/// not count.
///
/// They equal scikit-learn's `mean_absolute_error`, `root_mean_squared_error` and `r2_score` on the known values.
/// O(n t).
///
/// ```
/// use ppgn_train::metrics::regression;
/// let m = regression(&[3.0, -0.5, 2.0, 7.0, f64::NAN], &[2.5, 0.0, 2.0, 8.0, 9.0], 1)[0];
/// assert_eq!((m.mae, m.rmse), (Some(0.5), Some(0.375f64.sqrt())));
/// assert!((m.r2.unwrap() - 0.948_608_137).abs() < 1e-9);
/// ```
pub fn regression(truth: &[f64], predicted: &[f64], targets: usize) -> Vec<ValueMetrics> {
    let one = |target: usize| {
        let rows = truth.chunks_exact(targets).zip(predicted.chunks_exact(targets));
        let known: Vec<(f64, f64)> =
            rows.map(|(y, p)| (y[target], p[target])).filter(|(y, _)| !y.is_nan()).collect();
        let over = |term: &dyn Fn(f64, f64) -> f64| mean(known.iter().map(|&(y, p)| Some(term(y, p))));
        let squared = over(&|y, p| (y - p) * (y - p));
        let middle = over(&|y, _| y).unwrap_or(0.0);
        let spread = over(&|y, _| (y - middle) * (y - middle)).filter(|_| known.len() > 1);
        let r2 = squared.zip(spread).map(|(error, spread)| match (error == 0.0, spread == 0.0) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => 1.0 - error / spread,
        });
        ValueMetrics { mae: over(&|y, p| (y - p).abs()), rmse: squared.map(f64::sqrt), r2 }
    };
    (0..targets).map(one).collect()
}
