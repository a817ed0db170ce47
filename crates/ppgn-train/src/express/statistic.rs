//! Hotelling's statistic as BREC uses it: is the mean of some vectors zero, measured by their own spread?
//!
//! Everything is in f64, whatever the precision of the outputs was: the covariance of differences that are rounding
//! noise squares numbers around 1e-7.

/// The statistic of one set of differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hotelling {
    /// T2 = m' pinv(S) m.
    pub t2: f64,
    /// Whether S was zero, and S + 1e-7 I took its place.
    pub regularised: bool,
}

/// What is added to the diagonal of a covariance that is zero.
const RIDGE: f64 = 1e-7;

/// T2 = m' pinv(S) m of differences D, one row each: m is their mean, S their unbiased covariance.
///
/// This is BREC's statistic, without Hotelling's factor, the number of rows. pinv drops the eigenvalues of S below
/// `columns * 2^-52` of the largest, as `torch.linalg.pinv` does. Where all rows are equal to the bit, S is zero and
/// says nothing about the mean; then S + 1e-7 I takes its place. Fewer than two rows, or a number that is not finite,
/// give T2 = 0.
///
/// # Shapes
/// - `differences`: `[rows, columns]`, row-major
///
/// # Complexity
/// O(rows columns^2 + columns^3).
///
/// ```
/// use ppgn_train::express::hotelling;
/// // Four differences with mean (2, 0); the covariance is diag(2/3, 2/3).
/// let t2 = hotelling(2, &[3.0, 0.0, 1.0, 0.0, 2.0, 1.0, 2.0, -1.0]).t2;
/// assert!((t2 - 6.0).abs() < 1e-12);
/// let equal = hotelling(2, &[1.0, 0.0, 1.0, 0.0]);
/// assert!(equal.regularised && (equal.t2 - 1e7).abs() < 1e-6);
/// ```
pub fn hotelling(columns: usize, differences: &[f64]) -> Hotelling {
    let none = Hotelling { t2: 0.0, regularised: false };
    let rows: Vec<&[f64]> = differences.chunks_exact(columns.max(1)).collect();
    if rows.len() < 2 || differences.iter().any(|x| !x.is_finite()) {
        return none;
    }
    // Relative to the first row, so that the mean of equal rows is that row to the bit.
    let mean: Vec<f64> = (0..columns)
        .map(|c| rows[0][c] + rows.iter().map(|row| row[c] - rows[0][c]).sum::<f64>() / rows.len() as f64)
        .collect();
    let mut covariance = vec![0.0; columns * columns];
    for row in &rows {
        for a in 0..columns {
            for b in 0..columns {
                covariance[a * columns + b] += (row[a] - mean[a]) * (row[b] - mean[b]);
            }
        }
    }
    covariance.iter_mut().for_each(|x| *x /= (rows.len() - 1) as f64);
    if covariance.iter().all(|&x| x == 0.0) {
        let t2 = mean.iter().map(|m| m * m).sum::<f64>() / RIDGE;
        return Hotelling { t2, regularised: true };
    }
    let (values, vectors) = eigen(columns, covariance);
    let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let least = largest * columns as f64 * f64::EPSILON;
    let mut t2 = 0.0;
    for (k, &value) in values.iter().enumerate().filter(|(_, x)| x.abs() > least) {
        let along: f64 = (0..columns).map(|i| vectors[i * columns + k] * mean[i]).sum();
        t2 += along * along / value;
    }
    Hotelling { t2: if t2.is_finite() { t2 } else { 0.0 }, ..none }
}

/// Eigenvalues, and eigenvectors as columns, of a symmetric matrix: Jacobi's rotations, which find small eigenvalues to
/// high relative accuracy. O(n^3) per sweep, and a few sweeps.
fn eigen(n: usize, mut a: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    for _ in 0..SWEEPS {
        let off: f64 = (0..n * n).filter(|i| i / n != i % n).map(|i| a[i] * a[i]).sum();
        let diagonal: f64 = (0..n).map(|i| a[i * n + i] * a[i * n + i]).sum();
        if off <= diagonal * 1e-40 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(n, &mut a, &mut vectors, p, q);
            }
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), vectors)
}

/// More sweeps than any matrix has needed.
const SWEEPS: usize = 60;

/// The rotation in the plane of p and q that makes `a[p, q]` zero.
fn rotate(n: usize, a: &mut [f64], vectors: &mut [f64], p: usize, q: usize) {
    let off = a[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..n {
        let (kp, kq) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * kp - s * kq, s * kp + c * kq);
    }
    for k in 0..n {
        let (pk, qk) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * pk - s * qk, s * pk + c * qk);
        let (kp, kq) = (vectors[k * n + p], vectors[k * n + q]);
        (vectors[k * n + p], vectors[k * n + q]) = (c * kp - s * kq, s * kp + c * kq);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::random::Stream;

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let (n, mut random) = (7, Stream::new(1, "eigen", &[]));
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let x = random.uniform(-1.0, 1.0) * 10f64.powi(-(i as i32));
                (a[i * n + j], a[j * n + i]) = (x, x);
            }
        }
        let (values, vectors) = eigen(n, a.clone());
        for i in 0..n {
            for j in 0..n {
                let entry = |f: fn(f64) -> f64| -> f64 {
                    (0..n).map(|k| vectors[i * n + k] * f(values[k]) * vectors[j * n + k]).sum()
                };
                assert!((entry(|x| x) - a[i * n + j]).abs() < 1e-14);
                assert!((entry(|_| 1.0) - f64::from(i == j)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_statistic_is_pytorchs() {
        for case in super::super::golden()["statistic"].as_array().unwrap() {
            let (columns, differences) = super::super::flat(&case["differences"]);
            let (got, wanted) = (hotelling(columns, &differences), case["t2"].as_f64().unwrap());
            assert!((got.t2 - wanted).abs() <= 1e-9 * wanted, "{got:?} {wanted}");
            assert!(!got.regularised);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_zero() {
        assert_eq!(hotelling(2, &[]).t2, 0.0);
        assert_eq!(hotelling(2, &[1.0, 2.0]).t2, 0.0);
        assert_eq!(hotelling(1, &[1.0, f64::NAN]).t2, 0.0);
        assert_eq!(hotelling(2, &[0.0; 8]), Hotelling { t2: 0.0, regularised: true });
        assert_eq!(hotelling(0, &[]).t2, 0.0);
    }

    /// 32 equal rows of a number whose multiples round.
    #[test]
    fn equal_rows_have_no_spread() {
        let row = [0.1, 1.0 / 3.0, -7.3];
        let equal = hotelling(3, &row.repeat(32));
        assert!(equal.regularised);
    }
}
