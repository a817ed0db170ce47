//! The exponential moving average of a network's weights, which is often better than the last of them: late in training the
//! weights move around a point, and the average is closer to it.

use crate::error::{Error, Result};
use crate::precision::Values;

/// The average of the weights of a training, updated after every step.
///
/// After step t, with weights w: `a <- a + (1 - d_t) (w - a)`, `d_t = min(decay, (1 + t) / (10 + t))`. The ramp lets the
/// average follow the first steps closely, so that it does not hang on to the random weights that training began with.
///
/// ```
/// use ppgn_nn::{Average, Values};
/// let mut average = Average::new(0.999, &[Values::F64(vec![0.0])]);
/// average.update(&[Values::F64(vec![1.0])], 1)?;
/// assert!((average.weights[0].to_f64()[0] - 9.0 / 11.0).abs() < 1e-15);    // d_1 = 2 / 11
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// The decay d.
    pub decay: f64,
    /// The averaged weights, one entry per parameter array.
    pub weights: Vec<Values>,
}

impl Average {
    /// The average before the first step: the weights themselves.
    pub fn new(decay: f64, weights: &[Values]) -> Self {
        Average { decay, weights: weights.to_vec() }
    }

    /// Takes in the weights after step `step`, counted from 1. O(parameters).
    pub fn update(&mut self, weights: &[Values], step: u64) -> Result<()> {
        let step = step as f64;
        let share = 1.0 - self.decay.min((1.0 + step) / (10.0 + step));
        if weights.len() != self.weights.len() {
            return Err(mismatch());
        }
        for (average, now) in self.weights.iter_mut().zip(weights) {
            match (average, now) {
                (Values::F32(a), Values::F32(w)) if a.len() == w.len() => {
                    let share = share as f32;
                    a.iter_mut().zip(w).for_each(|(a, w)| *a += share * (w - *a));
                }
                (Values::F64(a), Values::F64(w)) if a.len() == w.len() => {
                    a.iter_mut().zip(w).for_each(|(a, w)| *a += share * (w - *a));
                }
                _ => return Err(mismatch()),
            }
        }
        Ok(())
    }
}

fn mismatch() -> Error {
    Error::call("the averaged weights do not match the parameters in number, length or precision")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursion written out as a weighted sum of all weights so far.
    #[test]
    fn it_is_the_weighted_sum() {
        let weights: Vec<f64> = (0..40).map(|t| (t as f64 * 0.7).sin()).collect();
        let decay = 0.6;
        let mut average = Average::new(decay, &[Values::F64(vec![weights[0]])]);
        for (t, &w) in weights.iter().enumerate().skip(1) {
            average.update(&[Values::F64(vec![w])], t as u64).unwrap();
        }
        let d = |t: usize| decay.min((1.0 + t as f64) / (10.0 + t as f64));
        let kept = |from: usize| (from + 1..weights.len()).map(d).product::<f64>();
        let sum: f64 = (1..weights.len()).map(|t| (1.0 - d(t)) * kept(t) * weights[t]).sum();
        let expected = sum + kept(0) * weights[0];
        assert!((average.weights[0].to_f64()[0] - expected).abs() < 1e-14);
    }

    #[test]
    fn mismatched_arrays_are_errors() {
        let mut average = Average::new(0.9, &[Values::F32(vec![1.0])]);
        for weights in [vec![], vec![Values::F32(vec![])], vec![Values::F64(vec![1.0])]] {
            assert!(average.update(&weights, 1).unwrap_err().is_call());
        }
    }
}
