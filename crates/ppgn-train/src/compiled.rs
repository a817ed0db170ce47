//! Runs of networks that were compiled, not trained: their settings, and the graphs that they distinguish.

use crate::data::{Goal, Scaling};
use crate::error::Result;
use crate::settings::{Imported, Origin, Settings};
use ppgn_graph::{Dataset, Target};
use ppgn_nn::Precision;
use ppgn_nn::compile::{Compiled, Multiset};
use serde::{Deserialize, Serialize};

/// What a network was compiled from, and how to interpret its scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compilation {
    /// The test that the network computes, such as `2-fwl`.
    pub test: String,
    /// Its rounds.
    pub rounds: usize,
    /// How multisets of colours are encoded as vectors.
    pub multiset: Multiset,
    /// The minimum, over all pairs of the compiled graphs that it distinguishes, of the largest difference between their
    /// scores.
    pub margin: f64,
    /// Two graphs are distinguished if a score differs by more than this: half the margin.
    pub threshold: f64,
}

impl Settings {
    /// The settings of a network that was compiled from a dataset. Its outputs are the histogram of the last colours.
    pub fn compiled(test: &str, dataset: &Dataset, compiled: &Compiled) -> Result<Self> {
        let outputs = compiled.config.outputs;
        let names = (0..outputs).map(|i| Target { name: format!("histogram{i}"), unit: String::new() });
        let compilation = Compilation {
            test: test.to_string(),
            rounds: compiled.rounds,
            multiset: compiled.multiset,
            margin: compiled.margin,
            threshold: compiled.threshold(),
        };
        let imported = Imported {
            dataset: dataset.name().to_string(),
            precision: Precision::F64,
            encoding: compiled.encoding,
            network: compiled.config.clone(),
            goal: Goal::Targets(names.collect()),
            schema: dataset.schema().clone(),
            scaling: vec![Scaling { mean: 0.0, deviation: 1.0 }; outputs],
        };
        let mut settings = Settings::not_trained(Origin::Compiled(compilation), imported)?;
        let nodes = dataset.graphs().iter().map(|g| g.nodes()).max().unwrap_or(0);
        settings.training.batch = compiled.batch(nodes);
        Ok(settings)
    }

    /// What the network was compiled from, if it was.
    pub fn compilation(&self) -> Option<&Compilation> {
        match &self.origin {
            Origin::Compiled(compilation) => Some(compilation),
            Origin::Trained(_) | Origin::Imported => None,
        }
    }
}

/// What a compiled network says about graphs 2p and 2p + 1, taken as pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// For every pair, the largest absolute difference of a score.
    pub differences: Vec<f64>,
    /// A pair is distinguished if its difference exceeds this.
    pub threshold: f64,
}

impl Pairs {
    /// The pairs of graphs with these scores, in order; a last graph without a partner is left out.
    ///
    /// ```
    /// use ppgn_train::Pairs;
    /// let pairs = Pairs::of(&[vec![1.0, 5.0], vec![1.0, 2.0], vec![7.0, 0.0], vec![7.0, 0.0]], 0.5);
    /// assert_eq!((pairs.distinguished(), pairs.margin_min()), (vec![0], Some(3.0)));
    /// ```
    pub fn of(scores: &[Vec<f64>], threshold: f64) -> Self {
        let difference =
            |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        Pairs { differences: scores.chunks_exact(2).map(difference).collect(), threshold }
    }

    /// The indices of the distinguished pairs.
    pub fn distinguished(&self) -> Vec<usize> {
        (0..self.differences.len()).filter(|&p| self.differences[p] > self.threshold).collect()
    }

    /// The smallest difference of a distinguished pair, if there is one.
    pub fn margin_min(&self) -> Option<f64> {
        let apart = self.distinguished().into_iter().map(|p| self.differences[p]);
        apart.min_by(f64::total_cmp)
    }
}
