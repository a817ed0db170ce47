//! The origin of a run's network: training, a checkpoint of other software, or the theorem compiler.

use super::{Division, SampleWeights};
use crate::compiled::Compilation;
use crate::error::Result;
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;
use std::collections::BTreeMap;

/// Where the network of a run comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// It is trained here.
    Trained(Trained),
    /// It was trained elsewhere.
    Imported,
    /// It was compiled from a test.
    Compiled(Compilation),
}

/// What a run is trained on, and from which preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The name of the data, as it was given.
    pub data: String,
    /// How it was read, where that is not the default: names and values for who resumes the run.
    pub read: BTreeMap<String, String>,
    /// A digest of the dataset's content: a run can be resumed on the same data only.
    pub digest: String,
    /// The number of graphs that the seed drew from it, if not all were taken.
    pub limit: Option<usize>,
    /// The preset that the settings started from.
    pub preset: String,
    /// How the data is split.
    pub division: Division,
    /// How much every graph counts.
    pub sample_weights: SampleWeights,
}

impl Trained {
    /// The split of the data.
    pub fn split(&self, dataset: &Dataset, seed: u64) -> Result<Split> {
        self.sample_weights.counted(self.division.of(dataset, seed)?, dataset.len())
    }
}
