//! The optimiser: Adam over plain slices, in one pass; with weight decay it is AdamW.
//!
//! PyTorch's formula, in the precision of the run (Kingma and Ba, 2015; Loshchilov and Hutter, 2019):
//!
//! ```text
//! m <- beta1 * m + (1 - beta1) * g          v <- beta2 * v + (1 - beta2) * g^2
//! p <- (1 - rate * decay) * p - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
//! ```
//!
//! [`clip`] bounds the norm of the gradients before the step.

use crate::error::{Error, Result};
use crate::precision::{Precision, Values, each};
use ppgn_kernels::{AdamStep, adam};

/// Adam with its state: the step count and two moments per parameter, as plain vectors.
///
/// ```
/// use ppgn_nn::{Adam, Values};
/// let mut parameters = [Values::F64(vec![1.0, 2.0])];
/// let mut adam = Adam::new(&parameters);
/// adam.step(&mut parameters, &[Values::F64(vec![0.5, -8.0])], 0.1)?;
/// let moved = parameters[0].to_f64();
/// assert!((moved[0] - 0.9).abs() < 1e-8 && (moved[1] - 2.1).abs() < 1e-8);    // the first step is the rate
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// Decay of the first moment: 0.9.
    pub beta1: f64,
    /// Decay of the second moment: 0.999.
    pub beta2: f64,
    /// Added to the square root of the second moment: 1e-8.
    pub epsilon: f64,
    /// Weight decay coefficient, decoupled from the gradient as in AdamW: 0, none.
    pub weight_decay: f64,
    /// Steps taken.
    pub steps: u64,
    /// The first moments, one entry per parameter array.
    pub first: Vec<Values>,
    /// The second moments, one entry per parameter array.
    pub second: Vec<Values>,
}

impl Adam {
    /// Adam before its first step on these parameters.
    pub fn new(parameters: &[Values]) -> Self {
        let zeros: Vec<Values> = parameters.iter().map(|p| Values::zeros(p.precision(), p.len())).collect();
        let (first, second) = (zeros.clone(), zeros);
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0, steps: 0, first, second }
    }

    /// One step with this learning rate. O(parameters), one pass.
    pub fn step(&mut self, parameters: &mut [Values], gradients: &[Values], rate: f64) -> Result<()> {
        self.check(parameters, gradients)?;
        let steps = self.steps.checked_add(1);
        self.steps =
            steps.ok_or_else(|| Error::call(format!("a step count of {} is too large", self.steps)))?;
        // In f64: beta2^t stays close to 1 for many steps.
        let power = |beta: f64| 1.0 - beta.powf(self.steps as f64);
        let step = AdamStep {
            beta1: self.beta1,
            beta2: self.beta2,
            rate: rate / power(self.beta1),
            root: power(self.beta2).sqrt(),
            epsilon: self.epsilon,
            keep: 1.0 - rate * self.weight_decay,
        };
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((p, g), (m, v)) in parameters.iter_mut().zip(gradients).zip(moments) {
            match (p, g, m, v) {
                (Values::F32(p), Values::F32(g), Values::F32(m), Values::F32(v)) => adam(step, p, g, m, v),
                (Values::F64(p), Values::F64(g), Values::F64(m), Values::F64(v)) => adam(step, p, g, m, v),
                _ => unreachable!("checked to have the same precision"),
            }
        }
        Ok(())
    }

    fn check(&self, parameters: &[Values], gradients: &[Values]) -> Result<()> {
        let form = |arrays: &[Values]| -> Vec<(Precision, usize)> {
            arrays.iter().map(|a| (a.precision(), a.len())).collect()
        };
        let expected = form(parameters);
        for (what, arrays) in
            [("gradients", gradients), ("first moments", &self.first), ("second moments", &self.second)]
        {
            if form(arrays) != expected {
                return Err(Error::call(format!(
                    "the {what} do not match the parameters in number, length or precision"
                )));
            }
        }
        Ok(())
    }
}

/// Clips the gradient norm: the norm is computed over all gradients together, as if they were concatenated into one
/// vector, and if it is above `max_norm`, all are multiplied by `max_norm / (norm + 1e-6)`. Returns the norm before it.
///
/// PyTorch's `clip_grad_norm_`, with the norm in f64. A norm that is not finite leaves the gradients as they are.
///
/// ```
/// use ppgn_nn::{Values, clip};
/// let mut gradients = [Values::F64(vec![3.0]), Values::F64(vec![0.0, -4.0])];
/// assert_eq!(clip(&mut gradients, 10.0), 5.0);
/// assert_eq!(clip(&mut gradients, 1.0), 5.0);
/// assert!((gradients[0].to_f64()[0] - 0.6).abs() < 1e-6);
/// ```
pub fn clip(gradients: &mut [Values], max_norm: f64) -> f64 {
    let squares: f64 = gradients.iter().map(|g| each!(g, g => ppgn_kernels::sum_of_squares(g))).sum();
    let norm = squares.sqrt();
    let factor = max_norm / (norm + 1e-6);
    if norm.is_finite() && factor < 1.0 {
        gradients.iter_mut().for_each(|g| each!(g, g => ppgn_kernels::multiply_by(g, factor)));
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_match_pytorch() {
        // torch.optim.Adam(lr=0.01) in float64 on sum(p^4 / 4 - p), p = (2, -0.5, 0), five steps.
        let mut p = [Values::F64(vec![2.0, -0.5, 0.0])];
        let mut adam = Adam::new(&p);
        for _ in 0..5 {
            let gradient = p[0].to_f64().iter().map(|x| x.powi(3) - 1.0).collect();
            adam.step(&mut p, &[Values::F64(gradient)], 0.01).unwrap();
        }
        for (got, expected) in p[0].to_f64().iter().zip(PYTORCH) {
            assert!((got - expected).abs() < 1e-14, "{got} {expected}");
        }
    }
    const PYTORCH: [f64; 3] = [1.9500812915738566, -0.45002814774042704, 0.049999951808364314];

    #[test]
    fn mismatched_arrays_are_errors() {
        let mut p = [Values::F32(vec![1.0])];
        let mut adam = Adam::new(&p);
        for gradients in [vec![], vec![Values::F32(vec![])], vec![Values::F64(vec![1.0])]] {
            assert!(adam.step(&mut p, &gradients, 0.1).unwrap_err().is_call());
        }
        assert_eq!(adam.steps, 0);
    }
}
