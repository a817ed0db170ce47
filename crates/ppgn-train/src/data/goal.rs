//! What a run predicts: classes, labels or targets, and how targets are standardised.

use crate::error::{Error, Result};
use crate::labelling::{Labelling, Offer, noun};
use crate::settings::SampleWeights;
use ppgn_graph::{Dataset, Target};
use ppgn_nn::Level;
use serde::{Deserialize, Serialize};

/// What is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Goal {
    /// Classes, by their original labels.
    Classes(Vec<i64>),
    /// Regression: the chosen targets.
    Targets(Vec<Target>),
    /// Multi-label classification: the chosen targets, each 0 or 1.
    Labels(Vec<Target>),
}

impl Goal {
    /// The goal of a dataset: its classes, or the named targets (`all` or none named: all of them).
    pub fn of(dataset: &Dataset, targets: &[String]) -> Result<Self> {
        Goal::among(&Offer::of(dataset, Level::Graph), targets)
    }

    /// The same of what there is to learn at some level.
    pub(crate) fn among(offer: &Offer<'_>, targets: &[String]) -> Result<Self> {
        let per =
            if offer.level == Level::Graph { String::new() } else { format!(" per {}", noun(offer.level)) };
        if targets.is_empty() {
            return match (offer.classes, offer.targets.is_empty()) {
                (Some(classes), _) => Ok(Goal::Classes(classes.to_vec())),
                (None, false) => Ok(Goal::Targets(offer.targets.to_vec())),
                (None, true) => Err(Error::settings(format!(
                    "{} has neither classes nor regression targets{per}: there is nothing to learn",
                    offer.name
                ))),
            };
        }
        if targets.iter().any(|t| t == "all") && !offer.targets.is_empty() {
            return Ok(Goal::Targets(offer.targets.to_vec()));
        }
        let find = |name: &String| {
            offer.targets.iter().find(|t| t.name.eq_ignore_ascii_case(name)).cloned().ok_or_else(|| {
                let names: Vec<&str> = offer.targets.iter().map(|t| t.name.as_str()).collect();
                let known = if names.is_empty() {
                    "it has none".into()
                } else {
                    format!("it has {}", names.join(", "))
                };
                Error::settings(format!("{} has no target `{name}`{per}; {known}", offer.name))
            })
        };
        Ok(Goal::Targets(targets.iter().map(find).collect::<Result<_>>()?))
    }

    /// The outputs of a network with this goal.
    pub fn outputs(&self) -> usize {
        match self {
            Goal::Classes(classes) => classes.len(),
            Goal::Targets(targets) | Goal::Labels(targets) => targets.len(),
        }
    }

    /// Whether graphs are to be put into classes, one or several each.
    pub fn is_classification(&self) -> bool {
        !matches!(self, Goal::Targets(_))
    }
}

/// Mean and deviation of a target over what has it of the training graphs: networks learn `(y - mean) / deviation`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// The mean.
    pub mean: f64,
    /// The deviation (of the whole, not of a sample), or 1 where all are equal.
    pub deviation: f64,
}

impl Goal {
    /// Mean and deviation of the goal's targets over these graphs, where they have a value and as much as each counts; nothing
    /// for classes and labels.
    pub fn scaling(
        &self,
        dataset: &Dataset,
        graphs: &[u32],
        weights: &SampleWeights,
    ) -> Result<Vec<Scaling>> {
        match self {
            Goal::Targets(_) => {
                let labelling = Labelling::new(dataset, Level::Graph, self, &[])?;
                Ok(self.scaling_of(&labelling, graphs, weights))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The same over the items of these graphs, which count as much as their graph.
    pub(crate) fn scaling_of(
        &self,
        labelling: &Labelling,
        graphs: &[u32],
        weights: &SampleWeights,
    ) -> Vec<Scaling> {
        let Goal::Targets(targets) = self else { return Vec::new() };
        let scaling = |c: usize| {
            let values = || {
                let all = labelling.weighted(graphs, weights).map(|(w, row)| (w, labelling.values(row)[c]));
                all.filter(|(_, y)| !y.is_nan())
            };
            let n = values().map(|(w, _)| w).sum::<f64>();
            let n = if n > 0.0 { n } else { 1.0 };
            let mean = values().map(|(w, y)| w * y).sum::<f64>() / n;
            let deviation = (values().map(|(w, y)| w * ((y - mean) * (y - mean))).sum::<f64>() / n).sqrt();
            Scaling { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
        };
        (0..targets.len()).map(scaling).collect()
    }
}
