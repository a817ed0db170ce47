//! How much every graph counts, as scikit-learn's `sample_weight`: a weight of 2 is a graph that is there twice, one of 0 a
//! graph that is not there.
//!
//! Weights multiply the terms of the loss, the training loss as well as those of the other sets, and the mean loss is over
//! their sum. The mean and deviation of targets and the frequencies of balanced classes count with them, so that both follow
//! from the same data. Graphs of weight 0 are in no set. Metrics count every graph of a set once.

use crate::error::{Error, Result};
use ppgn_graph::split::Split;
use serde::{Deserialize, Serialize};

/// The weights of the graphs of a dataset, in its order.
///
/// ```
/// use ppgn_train::SampleWeights;
/// let weights = SampleWeights::new(vec![1.0, 2.0, 0.5])?;
/// assert_eq!((weights.of(1), weights.sum(&[0, 1, 2])), (2.0, 3.5));
/// // Graphs that all count the same have no weights: the sum of the loss is the same bits.
/// assert_eq!(SampleWeights::new(vec![1.0; 3])?, SampleWeights::default());
/// assert!(SampleWeights::new(vec![1.0, -1.0]).unwrap_err().to_string().contains("graph 1"));
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SampleWeights(Vec<f64>);

impl SampleWeights {
    /// One weight per graph: finite, and not negative. If all are 1 there are none.
    pub fn new(weights: Vec<f64>) -> Result<Self> {
        if let Some(graph) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            let weight = weights[graph];
            return Err(Error::settings(format!(
                "graph {graph} has the sample weight {weight}: weights are finite and not negative"
            )));
        }
        match weights.iter().all(|&w| w == 1.0) {
            true => Ok(SampleWeights::default()),
            false => Ok(SampleWeights(weights)),
        }
    }

    /// Whether all graphs count the same.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The weight of a graph.
    pub fn of(&self, graph: u32) -> f64 {
        self.0.get(graph as usize).copied().unwrap_or(1.0)
    }

    /// The sum of the weights of these graphs; their number where all count the same.
    pub fn sum(&self, graphs: &[u32]) -> f64 {
        graphs.iter().map(|&g| self.of(g)).sum()
    }

    /// A split of a dataset without the graphs of weight 0. An error where that leaves nothing of a set, or where there is not
    /// one weight per graph of the dataset.
    pub(crate) fn counted(&self, split: Split, graphs: usize) -> Result<Split> {
        if self.is_none() {
            return Ok(split);
        }
        if self.0.len() != graphs {
            let n = self.0.len();
            return Err(Error::settings(format!("there are {n} sample weights for {graphs} graphs")));
        }
        // Of a file that was written by hand.
        SampleWeights::new(self.0.clone())?;
        let of = |set: &str, graphs: Vec<u32>| {
            let counted: Vec<u32> = graphs.iter().copied().filter(|&g| self.of(g) > 0.0).collect();
            match counted.is_empty() && !graphs.is_empty() {
                true => Err(Error::settings(format!("all graphs of the {set} set have the sample weight 0"))),
                false => Ok(counted),
            }
        };
        Ok(Split {
            train: of("training", split.train)?,
            validation: of("validation", split.validation)?,
            test: of("test", split.test)?,
        })
    }
}

/// How many there are and their sum, for people.
impl std::fmt::Display for SampleWeights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} weights, sum {}", self.0.len(), self.0.iter().sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_that_count_nothing_are_in_no_set() {
        let weights = SampleWeights::new(vec![0.0, 2.0, 1.0, 0.0, 3.0]).unwrap();
        let split = |train: &[u32], test: &[u32]| Split {
            train: train.to_vec(),
            validation: Vec::new(),
            test: test.to_vec(),
        };
        let counted = weights.counted(split(&[4, 0, 1], &[2, 3]), 5).unwrap();
        assert_eq!((counted.train, counted.validation, counted.test), (vec![4, 1], vec![], vec![2]));
        let error = weights.counted(split(&[1], &[0, 3]), 5).unwrap_err().to_string();
        assert_eq!(error, "all graphs of the test set have the sample weight 0");
        let error = weights.counted(split(&[1], &[]), 4).unwrap_err().to_string();
        assert_eq!(error, "there are 5 sample weights for 4 graphs");
        for wrong in [f64::NAN, f64::INFINITY, -0.5] {
            assert!(SampleWeights::new(vec![1.0, wrong]).unwrap_err().is_call());
        }
    }
}
