//! What `rpc` trains on: the cosine embedding loss of batch-normalised outputs, and its gradient.
//!
//! The batch norm has no parameters. Without it all outputs of an untrained network point in nearly the same
//! direction: the cosine starts at 1, its gradient is rounding noise that Adam takes at full rate, and training destroys
//! what untrained weights separate. It acts on outputs of graphs, after pooling, so the quotient space stays exact.

/// Outputs with mean 0 and variance 1 in every column over the batch, `(x - mean) / deviation`, with the biased
/// deviation, as PyTorch's `BatchNorm1d(affine=False, eps=0)` in training. A column whose entries are all equal would be
/// 0/0; it becomes 0.
///
/// # Shapes
/// - `outputs` and result: `[rows, columns]`, row-major
///
/// ```
/// use ppgn_train::express::normalised;
/// assert_eq!(normalised(2, &[1.0, 5.0, 3.0, 5.0]), [-1.0, 0.0, 1.0, 0.0]);
/// ```
pub fn normalised(columns: usize, outputs: &[f64]) -> Vec<f64> {
    let mut result = outputs.to_vec();
    for c in 0..columns {
        let (mean, deviation) = moments(columns, outputs, c);
        for x in result.iter_mut().skip(c).step_by(columns) {
            *x = if deviation > 0.0 { (*x - mean) / deviation } else { 0.0 };
        }
    }
    result
}

/// Mean and biased deviation of a column; the deviation of equal entries is exactly 0.
fn moments(columns: usize, outputs: &[f64], c: usize) -> (f64, f64) {
    let column = || outputs.iter().skip(c).step_by(columns);
    let (rows, first) = (column().count().max(1) as f64, column().next().copied().unwrap_or(0.0));
    let mean = first + column().map(|x| x - first).sum::<f64>() / rows;
    let variance = column().map(|x| (x - mean) * (x - mean)).sum::<f64>() / rows;
    (mean, variance.sqrt())
}

/// The loss and its gradient with respect to the outputs before the norm.
///
/// Rows 2i and 2i+1 are the outputs of a pair. With y the [`normalised`] outputs, the loss is PyTorch's
/// `CosineEmbeddingLoss` with target -1 and margin 0: the mean over pairs of `max(0, cos(y[2i], y[2i+1]))`.
///
/// # Shapes
/// - `outputs` and gradient: `[rows, columns]`, row-major
///
/// # Complexity
/// O(rows columns).
///
/// ```
/// use ppgn_train::express::cosine_loss;
/// // Opposite after the norm: nothing to learn.
/// let (loss, gradient) = cosine_loss(2, &[1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((loss, gradient), (0.0, vec![0.0; 4]));
/// ```
pub fn cosine_loss(columns: usize, outputs: &[f64]) -> (f64, Vec<f64>) {
    let y = normalised(columns, outputs);
    let pairs = y.len() / (2 * columns.max(1));
    let (mut loss, mut slope) = (0.0, vec![0.0; y.len()]);
    for pair in 0..pairs {
        let (a, b) = y[2 * pair * columns..][..2 * columns].split_at(columns);
        let (x, y) = (square(a) + EPSILON, square(b) + EPSILON);
        let (root, dot) = ((x * y).sqrt(), a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>());
        let cosine = dot / root;
        if cosine < 0.0 {
            continue;
        }
        loss += cosine / pairs as f64;
        let (da, db) = slope[2 * pair * columns..][..2 * columns].split_at_mut(columns);
        for c in 0..columns {
            da[c] = (b[c] / root - cosine * a[c] / x) / pairs as f64;
            db[c] = (a[c] / root - cosine * b[c] / y) / pairs as f64;
        }
    }
    (loss, through_the_norm(columns, outputs, &y, &slope))
}

/// What PyTorch adds to the squared norms of `cosine_embedding_loss`.
const EPSILON: f64 = 1e-12;

fn square(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum()
}

/// The gradient before the norm from that after it: `(dy - mean(dy) - y mean(dy y)) / deviation`.
fn through_the_norm(columns: usize, outputs: &[f64], y: &[f64], dy: &[f64]) -> Vec<f64> {
    let mut dx = vec![0.0; y.len()];
    for c in 0..columns {
        let (_, deviation) = moments(columns, outputs, c);
        if deviation == 0.0 {
            continue;
        }
        let entries = || (c..y.len()).step_by(columns);
        let rows = entries().count() as f64;
        let mean = entries().map(|i| dy[i]).sum::<f64>() / rows;
        let along = entries().map(|i| dy[i] * y[i]).sum::<f64>() / rows;
        entries().for_each(|i| dx[i] = (dy[i] - mean - y[i] * along) / deviation);
    }
    dx
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::random::Stream;

    fn drawn(rows: usize, columns: usize) -> Vec<f64> {
        let mut random = Stream::new(3, "loss", &[rows as u64]);
        (0..rows * columns).map(|_| random.uniform(-1.0, 1.0)).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        for (rows, columns) in [(4, 3), (16, 5), (16, 16)] {
            let x = drawn(rows, columns);
            let (loss, gradient) = cosine_loss(columns, &x);
            assert!(loss > 0.0);
            for i in 0..x.len() {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    moved[i] += step;
                    cosine_loss(columns, &moved).0
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - gradient[i]).abs() < 1e-7, "{i}: {slope} {}", gradient[i]);
            }
        }
    }

    #[test]
    fn loss_and_gradient_are_pytorchs() {
        for case in super::super::golden()["loss"].as_array().unwrap() {
            let (columns, outputs) = super::super::flat(&case["outputs"]);
            let (loss, gradient) = cosine_loss(columns, &outputs);
            assert!((loss - case["loss"].as_f64().unwrap()).abs() < 1e-12);
            let (_, wanted) = super::super::flat(&case["gradient"]);
            let largest = wanted.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (got, wanted) in gradient.iter().zip(&wanted) {
                assert!((got - wanted).abs() < 1e-10 * largest, "{got} {wanted}");
            }
        }
    }

    #[test]
    fn equal_outputs_have_no_loss_and_no_gradient() {
        let equal = [0.1, 7.0 / 3.0].repeat(16);
        assert_eq!(cosine_loss(2, &equal), (0.0, vec![0.0; 32]));
        // One column that says something among others that do not.
        let one: Vec<f64> = (0..16).flat_map(|i| [0.1, f64::from(i % 2)]).collect();
        let (loss, gradient) = cosine_loss(2, &one);
        assert_eq!(loss, 0.0);
        assert!(gradient.iter().all(|x| *x == 0.0));
    }
}
