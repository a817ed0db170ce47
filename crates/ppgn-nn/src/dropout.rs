//! Dropout: during training, some of the features that the suffix sees are zeroed at random.
//!
//! It acts after pooling, one row per graph: on the pooled features of every block that the suffix takes, and on the
//! outputs of the hidden layers of suffix i. With outputs per node or pair, it acts on the features of each node or pair
//! once they are gathered from the rows, one mask each. So a network computes the same on either space. A mask is a
//! function of (seed, epoch, step, graph), the graph by its number in the dataset: nothing is saved, and neither the
//! order of a batch nor the number of threads matters.

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
    /// One per pooled block, `[graphs, features]`; `[nodes or pairs, features]` where those have outputs.
    pub(crate) pooled: Vec<Vec<T>>,
    /// One per hidden layer of suffix i, `[graphs, width]`.
    pub(crate) hidden: Vec<Vec<T>>,
}

impl Dropout<'_> {
    /// What the features of a graph of the batch are multiplied by, in the order in which the network computes them; with
    /// outputs per node or pair, those of its first node or pair, then of the next.
    pub fn mask(&self, graph: usize, features: usize) -> Vec<f64> {
        let indices = [self.epoch, self.step, u64::from(self.graphs[graph])];
        let mut random = Stream::new(self.seed, "dropout", &indices);
        let left = 1.0 / (1.0 - self.probability);
        (0..features).map(|_| if random.unit() < self.probability { 0.0 } else { left }).collect()
    }

    /// What a network of this configuration multiplies by on graphs with these numbers of nodes: its features, one matrix per
    /// block that the suffix reads, and the outputs of the suffix's hidden layers, `[graphs, width]` each (`[nodes or pairs,
    /// width]` where those have outputs).
    pub fn matrices(&self, config: &PpgnConfig, nodes: &[usize]) -> Result<[Vec<Vec<f64>>; 2]> {
        let Masks { pooled, hidden } = self.masks::<f64>(config, &config.widths(), nodes)?;
        Ok([pooled, hidden])
    }

    /// The masks for a network of this configuration, whose layers have these widths before the first block and after
    /// each, on a batch of graphs with these numbers of nodes.
    pub(crate) fn masks<T: Real>(
        &self,
        config: &PpgnConfig,
        widths: &[usize],
        nodes: &[usize],
    ) -> Result<Masks<T>> {
        let graphs = nodes.len();
        if !(0.0..1.0).contains(&self.probability) || graphs != self.graphs.len() {
            return Err(Error::call(format!(
                "dropout needs a probability from 0 to below 1 and {graphs} graphs, not {} and {}",
                self.probability,
                self.graphs.len()
            )));
        }
        let groups = config.groups();
        let (pooled, hidden): (Vec<usize>, &[usize]) = match config.suffix {
            // The map from nodes or pairs to their outputs is linear.
            SuffixKind::I if config.level != Level::Graph => (vec![widths[widths.len() - 1]], &[]),
            SuffixKind::I => (vec![widths[widths.len() - 1] * groups], &config.suffix_hidden),
            SuffixKind::Ii => (widths[1..].iter().map(|w| w * groups).collect(), &[]),
        };
        let items: usize = nodes.iter().map(|&n| config.level.items(n)).sum();
        let mut masks = Masks {
            pooled: pooled.iter().map(|w| Vec::with_capacity(items * w)).collect(),
            hidden: hidden.iter().map(|w| Vec::with_capacity(items * w)).collect(),
        };
        let all: Vec<usize> = pooled.iter().chain(hidden).copied().collect();
        for (graph, &n) in nodes.iter().enumerate() {
            let items = config.level.items(n);
            let mask = self.mask(graph, items * all.iter().sum::<usize>());
            let mut rest = &mask[..];
            for _ in 0..items {
                for (width, into) in all.iter().zip(masks.pooled.iter_mut().chain(&mut masks.hidden)) {
                    let (own, next) = rest.split_at(*width);
                    into.extend(own.iter().map(|&x| T::rounded(x)));
                    rest = next;
                }
            }
        }
        Ok(masks)
    }
}
