//! What training makes small, *summed* over the batch as the paper's authors do.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use ppgn_graph::{Error, Result};

/// Cross entropy, `- sum over g of log softmax(scores[g])[classes[g]]`.
///
/// # Shapes
/// - `scores`: `[graphs, classes]`
/// - result: `[1]`
///
/// ```
/// use ppgn_nn::{Device, Tensor, loss};
/// let scores = Tensor::<2>::from_floats([[0.0, 0.0], [1000.0, 0.0]], &Device::default());
/// let loss: f32 = loss::cross_entropy(scores, &[1, 1])?.into_scalar();
/// assert_eq!(loss, 1000.0 + 2f32.ln());
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn cross_entropy(scores: Tensor<2>, classes: &[usize]) -> Result<Tensor<1>> {
    let [graphs, outputs] = scores.dims();
    if classes.len() != graphs {
        return Err(Error::call(format!("{} classes for {graphs} graphs", classes.len())));
    }
    if let Some(graph) = classes.iter().position(|&class| class >= outputs) {
        return Err(Error::call(format!(
            "graph {graph} of the batch has class {}, the network has {outputs} outputs",
            classes[graph]
        )));
    }
    let classes: Vec<i64> = classes.iter().map(|&class| class as i64).collect();
    let device = scores.device().without_autodiff();
    let classes = Tensor::from_data(TensorData::new(classes, [graphs, 1]), &device); // [graphs, 1]
    let chosen = log_softmax(scores, 1).gather(1, classes); // [graphs, 1]
    Ok(total(chosen.neg()))
}

/// Absolute error, `sum over g and t of |scores[g,t] - targets[g,t]|`; its slope is 0 where the two are equal.
///
/// # Shapes
/// - `scores`: `[graphs, outputs]`
/// - `targets`: as many numbers, row-major
/// - result: `[1]`
///
/// ```
/// use ppgn_nn::{Device, Tensor, loss};
/// let scores = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &Device::default());
/// let loss: f32 = loss::absolute_error(scores, &[1.0, 0.0, 4.0, 4.5])?.into_scalar();
/// assert_eq!(loss, 3.5);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn absolute_error(scores: Tensor<2>, targets: &[f64]) -> Result<Tensor<1>> {
    let [graphs, outputs] = scores.dims();
    if targets.len() != graphs * outputs {
        return Err(Error::call(format!(
            "{} targets for {graphs} graphs with {outputs} outputs each",
            targets.len()
        )));
    }
    let options = (&scores.device().without_autodiff(), scores.dtype());
    let targets = Tensor::from_data(TensorData::new(targets.to_vec(), [graphs, outputs]), options);
    Ok(total((scores - targets).abs()))
}

/// The sum of all numbers, in an order that does not depend on threads (`Tensor::sum` promises none).
fn total(x: Tensor<2>) -> Tensor<1> {
    x.sum_dim(1).sum_dim(0).reshape([1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{DType, Device};

    fn scores(numbers: Vec<f64>, shape: [usize; 2]) -> Tensor<2> {
        let data = TensorData::new(numbers, shape);
        Tensor::from_data(data, (&Device::default().autodiff(), DType::F64)).require_grad()
    }

    #[test]
    fn cross_entropy_has_the_slope_softmax_minus_one() {
        let scores = scores(vec![0.0, 3f64.ln(), 800.0, -800.0], [2, 2]);
        let loss = cross_entropy(scores.clone(), &[0, 1]).unwrap();
        let tape = loss.backward();
        assert!((loss.into_scalar::<f64>() - (4f64.ln() + 1600.0)).abs() < 1e-12);
        let slope: Vec<f64> = scores.grad(&tape).unwrap().try_into_vec_as().unwrap();
        for (got, wanted) in slope.iter().zip([-0.75, 0.75, 1.0, -1.0]) {
            assert!((got - wanted).abs() < 1e-15, "{slope:?}");
        }
    }

    #[test]
    fn absolute_error_is_flat_where_it_is_zero() {
        let scores = scores(vec![1.0, 2.0, 3.0], [3, 1]);
        let loss = absolute_error(scores.clone(), &[1.0, 4.0, 2.5]).unwrap();
        let tape = loss.backward();
        assert_eq!(loss.into_scalar::<f64>(), 2.5);
        let slope: Vec<f64> = scores.grad(&tape).unwrap().try_into_vec_as().unwrap();
        assert_eq!(slope, [0.0, -1.0, 1.0]);
    }
}
