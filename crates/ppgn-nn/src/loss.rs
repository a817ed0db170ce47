//! The training objective, *summed* over the batch as the paper's authors do, with its gradient with respect to the
//! scores.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::precision::{Number, Values, each};
use ppgn_kernels::loss::{self, Weights};

/// A loss of the scores of a batch, together with the classes, labels or targets.
///
/// These equal PyTorch's `cross_entropy`, `binary_cross_entropy_with_logits`, `l1_loss` and `mse_loss` with
/// `reduction="sum"`, including their weights.
///
/// ```
/// use ppgn_nn::{Loss, Matrix, Values};
/// let scores = Matrix::new(2, 2, Values::F64(vec![0.0, 0.0, 1000.0, 0.0]))?;
/// let loss = Loss::cross_entropy(&[1, 1]).of(&scores)?;
/// assert!((loss.value - (1000.0 + 2f64.ln())).abs() < 1e-12);
/// assert_eq!(loss.gradient.to_f64(), [0.5, -0.5, 1.0, -1.0]);
///
/// // The first target is missing.
/// let scores = Matrix::new(2, 1, Values::F64(vec![3.0, 5.0]))?;
/// let loss = Loss::squared_error(&[f64::NAN, 4.0]).present(&[false, true]).of(&scores)?;
/// assert_eq!((loss.value, loss.gradient.to_f64()), (1.0, vec![0.0, 2.0]));
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Loss<'a> {
    against: Against<'a>,
    weights: Weights<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Against<'a> {
    Classes(&'a [usize]),
    Labels(&'a [f64]),
    Absolute(&'a [f64]),
    Squared(&'a [f64]),
}

/// A loss and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The loss.
    pub value: f64,
    /// Its gradient with respect to the scores, in their shape.
    pub gradient: Matrix,
}

/// A loss as plain matrices, `[rows, outputs]` each and row-major, for devices that compute it by themselves: every term of the
/// loss is a function of one row of scores s, weighted. What is missing has the weight 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Terms {
    /// `- sum of weights * log softmax(s)`: the weight of a row stands at its class.
    CrossEntropy {
        /// The weights.
        weights: Vec<f64>,
    },
    /// `sum of positive * log(1 + exp(-s)) + negative * log(1 + exp(s))`.
    Binary {
        /// The weights of the label 1, times it.
        positive: Vec<f64>,
        /// The weights of the label 0, times what the label lacks of 1.
        negative: Vec<f64>,
    },
    /// `sum of weights * |s - targets|`.
    Absolute {
        /// The weights.
        weights: Vec<f64>,
        /// The targets, 0 where one is missing.
        targets: Vec<f64>,
    },
    /// `sum of weights * (s - targets)^2`.
    Squared {
        /// The weights.
        weights: Vec<f64>,
        /// The targets, 0 where one is missing.
        targets: Vec<f64>,
    },
}

impl<'a> Loss<'a> {
    /// The loss of this many rows of scores as plain matrices.
    ///
    /// ```
    /// use ppgn_nn::{Loss, Terms};
    /// let loss = Loss::cross_entropy(&[1, 0]).graph_weights(&[1.0, 2.0]);
    /// assert_eq!(loss.terms(2, 2)?, Terms::CrossEntropy { weights: vec![0.0, 1.0, 2.0, 0.0] });
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn terms(&self, rows: usize, outputs: usize) -> Result<Terms> {
        self.check(rows, outputs)?;
        let Weights { graphs, columns, positive, present } = self.weights;
        let one = |weights: Option<&[f64]>, at: usize| weights.map_or(1.0, |weights| weights[at]);
        let is_present = |place: usize| present.is_none_or(|present| present[place]);
        // By place: the weight, and the value it is of.
        let each = |values: &[f64]| -> (Vec<f64>, Vec<f64>) {
            let at = |(place, &value): (usize, &f64)| match is_present(place) {
                true => (one(graphs, place / outputs) * one(columns, place % outputs), value),
                false => (0.0, 0.0),
            };
            values.iter().enumerate().map(at).unzip()
        };
        Ok(match self.against {
            Against::Classes(classes) => {
                let mut weights = vec![0.0; rows * outputs];
                for (row, &class) in classes.iter().enumerate().filter(|(row, _)| is_present(*row)) {
                    weights[row * outputs + class] = one(graphs, row) * one(columns, class);
                }
                Terms::CrossEntropy { weights }
            }
            Against::Labels(labels) => {
                let (weights, labels) = each(labels);
                let both = weights.iter().zip(&labels).enumerate().map(|(place, (weight, label))| {
                    (weight * label * one(positive, place % outputs), weight * (1.0 - label))
                });
                let (positive, negative) = both.unzip();
                Terms::Binary { positive, negative }
            }
            Against::Absolute(targets) => {
                let (weights, targets) = each(targets);
                Terms::Absolute { weights, targets }
            }
            Against::Squared(targets) => {
                let (weights, targets) = each(targets);
                Terms::Squared { weights, targets }
            }
        })
    }

    fn new(against: Against<'a>) -> Self {
        Loss { against, weights: Weights::default() }
    }

    /// Cross entropy, `- sum over g of log softmax(scores[g])[classes[g]]`.
    pub fn cross_entropy(classes: &'a [usize]) -> Self {
        Self::new(Against::Classes(classes))
    }

    /// Binary cross entropy for several labels per graph, `[graphs, outputs]` row-major, each from 0 to 1:
    /// `- sum over g and t of y log p + (1 - y) log (1 - p)` with `p = 1 / (1 + exp(-score))`.
    pub fn binary_cross_entropy(labels: &'a [f64]) -> Self {
        Self::new(Against::Labels(labels))
    }

    /// Absolute error, `sum over g and t of |scores[g,t] - targets[g,t]|`; its derivative is taken as 0 where the two
    /// are equal.
    pub fn absolute_error(targets: &'a [f64]) -> Self {
        Self::new(Against::Absolute(targets))
    }

    /// Squared error, `sum over g and t of (scores[g,t] - targets[g,t])^2`.
    pub fn squared_error(targets: &'a [f64]) -> Self {
        Self::new(Against::Squared(targets))
    }

    /// Weights the graphs, one weight per graph.
    pub fn graph_weights(mut self, weights: &'a [f64]) -> Self {
        self.weights.graphs = Some(weights);
        self
    }

    /// Weights the columns: classes for cross entropy, labels or targets otherwise.
    pub fn column_weights(mut self, weights: &'a [f64]) -> Self {
        self.weights.columns = Some(weights);
        self
    }

    /// Weights the positive labels of binary cross entropy, one weight per label.
    pub fn positive_weights(mut self, weights: &'a [f64]) -> Self {
        self.weights.positive = Some(weights);
        self
    }

    /// Marks which values are present: one flag per graph for cross entropy, one per graph and output otherwise. A
    /// missing value contributes neither loss nor gradient, whatever its placeholder.
    pub fn present(mut self, present: &'a [bool]) -> Self {
        self.weights.present = Some(present);
        self
    }

    /// The loss of these scores, `[graphs, outputs]`.
    pub fn of(&self, scores: &Matrix) -> Result<Evaluated> {
        self.check(scores.rows(), scores.columns())?;
        let outputs = scores.columns();
        let weights = &self.weights;
        let (value, gradient): (f64, Values) = each!(scores.values(), scores => {
            let (value, gradient) = match self.against {
                Against::Classes(classes) => loss::cross_entropy(outputs, scores, classes, weights),
                Against::Labels(labels) => loss::binary_cross_entropy(outputs, scores, labels, weights),
                Against::Absolute(targets) => loss::absolute_error(outputs, scores, targets, weights),
                Against::Squared(targets) => loss::squared_error(outputs, scores, targets, weights),
            };
            (value, Number::values(gradient))
        });
        Ok(Evaluated { value, gradient: Matrix::new(scores.rows(), outputs, gradient)? })
    }

    fn check(&self, graphs: usize, outputs: usize) -> Result<()> {
        let present = |place: usize| self.weights.present.is_none_or(|p| p.get(place) == Some(&true));
        let values = match self.against {
            Against::Classes(classes) => {
                length("classes", classes.len(), graphs)?;
                let wrong = |(graph, &class): (usize, &usize)| present(graph) && class >= outputs;
                if let Some(graph) = classes.iter().enumerate().position(wrong) {
                    return Err(Error::call(format!(
                        "graph {graph} of the batch has class {}, but the network has {outputs} outputs",
                        classes[graph]
                    )));
                }
                graphs
            }
            Against::Labels(targets) | Against::Absolute(targets) | Against::Squared(targets) => {
                length("targets", targets.len(), graphs * outputs)?;
                graphs * outputs
            }
        };
        let Weights { graphs: of_graphs, columns, positive, present } = self.weights;
        length("graph weights", of_graphs.map_or(graphs, <[f64]>::len), graphs)?;
        length("column weights", columns.map_or(outputs, <[f64]>::len), outputs)?;
        length("weights of positive labels", positive.map_or(outputs, <[f64]>::len), outputs)?;
        length("mask entries", present.map_or(values, <[bool]>::len), values)
    }
}

fn length(what: &str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::call(format!("expected {expected} {what}, found {found}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The losses written out from their terms.
    #[test]
    fn terms_are_those_of_the_loss() {
        let scores: Vec<f64> = vec![0.3, -1.2, 2.0, 0.0, 0.7, -0.4];
        let matrix = Matrix::new(2, 3, Values::F64(scores.clone())).unwrap();
        let of = |loss: Loss<'_>| (loss.of(&matrix).unwrap().value, loss.terms(2, 3).unwrap());
        let (graphs, columns, positive) = ([0.5, 2.0], [1.0, 0.25, 3.0], [2.0, 1.0, 0.5]);
        let present = [true, false, true, true, true, false];
        let softplus = |x: f64| x.exp().ln_1p();
        let loss = Loss::cross_entropy(&[2, 9])
            .graph_weights(&graphs)
            .column_weights(&columns)
            .present(&[true, false]);
        let (value, terms) = of(loss);
        let Terms::CrossEntropy { weights } = terms else { panic!("{terms:?}") };
        let sum = |row: usize| scores[3 * row..][..3].iter().map(|s| s.exp()).sum::<f64>().ln();
        let found: f64 = weights.iter().enumerate().map(|(at, w)| w * (sum(at / 3) - scores[at])).sum();
        assert!((value - found).abs() < 1e-12);
        let labels = [1.0, 0.0, 0.3, 1.0, 1.0, f64::NAN];
        let loss = Loss::binary_cross_entropy(&labels).graph_weights(&graphs).column_weights(&columns);
        let (value, terms) = of(loss.positive_weights(&positive).present(&present));
        let Terms::Binary { positive, negative } = terms else { panic!("{terms:?}") };
        let both = positive.iter().zip(&negative).zip(&scores);
        let found: f64 = both.map(|((p, n), &s)| p * softplus(-s) + n * softplus(s)).sum();
        assert!((value - found).abs() < 1e-12);
        for square in [false, true] {
            let loss = if square { Loss::squared_error(&labels) } else { Loss::absolute_error(&labels) };
            let (value, terms) = of(loss.graph_weights(&graphs).present(&present));
            let (Terms::Absolute { weights, targets } | Terms::Squared { weights, targets }) = terms else {
                panic!("{terms:?}")
            };
            let term = |d: f64| if square { d * d } else { d.abs() };
            let all = weights.iter().zip(&targets).zip(&scores);
            assert!((value - all.map(|((w, t), s)| w * term(s - t)).sum::<f64>()).abs() < 1e-12);
        }
        assert!(Loss::cross_entropy(&[0]).terms(2, 3).unwrap_err().is_call());
    }

    #[test]
    fn invalid_arguments_are_errors() {
        let scores = Matrix::new(2, 3, Values::F32(vec![0.0; 6])).unwrap();
        let message = |loss: Loss<'_>| {
            let error = loss.of(&scores).unwrap_err();
            assert!(error.is_call());
            error.to_string()
        };
        assert!(message(Loss::cross_entropy(&[0])).contains("2 classes, found 1"));
        assert!(message(Loss::cross_entropy(&[0, 3])).contains("graph 1 of the batch has class 3"));
        assert!(message(Loss::absolute_error(&[0.0; 5])).contains("6 targets, found 5"));
        assert!(message(Loss::cross_entropy(&[0, 0]).graph_weights(&[1.0])).contains("graph weights"));
        assert!(message(Loss::cross_entropy(&[0, 0]).column_weights(&[1.0])).contains("3 column weights"));
        assert!(message(Loss::squared_error(&[0.0; 6]).present(&[true; 2])).contains("mask"));
        assert!(Loss::cross_entropy(&[0, 3]).present(&[true, false]).of(&scores).is_ok());
    }
}
