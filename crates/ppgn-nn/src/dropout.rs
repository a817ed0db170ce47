//! Dropout: during training, some of the features that the suffix sees are zeroed at random.
//!
//! It acts after pooling, one row per graph: on the pooled features of every block that the suffix takes, and on the
//! outputs of the hidden layers of suffix i. So a network computes the same on either space. A mask is a function of
//! (seed, epoch, step, graph), the graph by its number in the dataset: nothing is saved, and neither the order of a
//! batch nor the number of threads matters.

use crate::config::{Level, PpgnConfig, SuffixKind};
use crate::error::{Error, Result};
use ppgn_graph::random::Stream;
use ppgn_kernels::Real;

/// Dropout of one training step, as PyTorch's `Dropout`: with probability p an element is zeroed, and what is left is
/// multiplied by `1 / (1 - p)`.
///
/// ```
/// use ppgn_nn::Dropout;
/// let dropout = Dropout { probability: 0.5, seed: 7, epoch: 1, step: 3, graphs: &[12, 4] };
/// assert_eq!(dropout.mask(0, 8), Dropout { graphs: &[9, 4, 12], ..dropout }.mask(2, 8));
/// assert!(dropout.mask(0, 100).iter().all(|&x| x == 0.0 || x == 2.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout<'a> {
    /// The probability of an element to be zeroed.
    pub probability: f64,
    /// The random seed.
    pub seed: u64,
    /// The epoch.
    pub epoch: u64,
    /// The step of the epoch.
    pub step: u64,
    /// The graphs of the batch, by their numbers in the dataset.
    pub graphs: &'a [u32],
}

/// The masks of a step: what features and hidden layers are multiplied by.
#[derive(Default)]
pub(crate) struct Masks<T> {
    /// One per pooled block, `[graphs, features]`.
    pub(crate) pooled: Vec<Vec<T>>,
    /// One per hidden layer of suffix i, `[graphs, width]`.
    pub(crate) hidden: Vec<Vec<T>>,
}

impl Dropout<'_> {
    /// What the features of a graph of the batch are multiplied by, in the order in which the network computes them.
    pub fn mask(&self, graph: usize, features: usize) -> Vec<f64> {
        let indices = [self.epoch, self.step, u64::from(self.graphs[graph])];
        let mut random = Stream::new(self.seed, "dropout", &indices);
        let left = 1.0 / (1.0 - self.probability);
        (0..features).map(|_| if random.unit() < self.probability { 0.0 } else { left }).collect()
    }

    /// The masks for a network of this configuration, whose layers have these widths before the first block and after
    /// each, on a batch of this many graphs.
    pub(crate) fn masks<T: Real>(
        &self,
        config: &PpgnConfig,
        widths: &[usize],
        graphs: usize,
    ) -> Result<Masks<T>> {
        if !(0.0..1.0).contains(&self.probability) || graphs != self.graphs.len() {
            return Err(Error::call(format!(
                "dropout needs a probability from 0 to below 1 and {graphs} graphs, not {} and {}",
                self.probability,
                self.graphs.len()
            )));
        }
        if config.level != Level::Graph {
            return Err(Error::call(
                "dropout acts on pooled features, and outputs per node or pair have none",
            ));
        }
        let pools = config.pools();
        let (pooled, hidden): (Vec<usize>, &[usize]) = match config.suffix {
            SuffixKind::I => (vec![widths[widths.len() - 1] * pools], &config.suffix_hidden),
            SuffixKind::Ii => (widths[1..].iter().map(|w| w * pools).collect(), &[]),
        };
        let mut masks = Masks {
            pooled: pooled.iter().map(|w| Vec::with_capacity(graphs * w)).collect(),
            hidden: hidden.iter().map(|w| Vec::with_capacity(graphs * w)).collect(),
        };
        let all: Vec<usize> = pooled.iter().chain(hidden).copied().collect();
        for graph in 0..graphs {
            let mask = self.mask(graph, all.iter().sum());
            let mut rest = &mask[..];
            for (width, into) in all.iter().zip(masks.pooled.iter_mut().chain(&mut masks.hidden)) {
                let (own, next) = rest.split_at(*width);
                into.extend(own.iter().map(|&x| T::rounded(x)));
                rest = next;
            }
        }
        Ok(masks)
    }
}
