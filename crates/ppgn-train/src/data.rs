//! What a run predicts, and its dataset made ready: encoder, classes, standardised targets.

use crate::error::{Error, Result};
use crate::memory::Guard;
use crate::session::Session;
use crate::settings::{Origin, SampleWeights, Settings};
use crate::space::{Choosing, Chosen};
use ppgn_graph::encode::Encoder;
use ppgn_graph::random::Stream;
use ppgn_graph::split::Split;
use ppgn_graph::{Dataset, Graph, Target};
use ppgn_nn::{Batch, Evaluated, Loss, Matrix, PpgnConfig, Precision};
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
        let header = dataset.header();
        if targets.is_empty() {
            return match (&header.classes, header.targets.is_empty()) {
                (Some(classes), _) => Ok(Goal::Classes(classes.clone())),
                (None, false) => Ok(Goal::Targets(header.targets.clone())),
                (None, true) => Err(Error::settings(format!(
                    "{} has neither classes nor regression targets: there is nothing to learn",
                    header.name
                ))),
            };
        }
        if targets.iter().any(|t| t == "all") && !header.targets.is_empty() {
            return Ok(Goal::Targets(header.targets.clone()));
        }
        let find = |name: &String| {
            header.targets.iter().find(|t| t.name.eq_ignore_ascii_case(name)).cloned().ok_or_else(|| {
                let names: Vec<&str> = header.targets.iter().map(|t| t.name.as_str()).collect();
                let known = if names.is_empty() {
                    "it has none".into()
                } else {
                    format!("it has {}", names.join(", "))
                };
                Error::settings(format!("{} has no target `{name}`; {known}", header.name))
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

/// Mean and deviation of a target over the training graphs that have it: networks learn `(y - mean) / deviation`.
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
        let Goal::Targets(targets) = self else { return Ok(Vec::new()) };
        let scaling = |c: usize| {
            let values = || {
                let all = graphs.iter().map(|&g| (weights.of(g), dataset.targets(g as usize)[c]));
                all.filter(|(_, y)| !y.is_nan())
            };
            let n = values().map(|(w, _)| w).sum::<f64>();
            let n = if n > 0.0 { n } else { 1.0 };
            let mean = values().map(|(w, y)| w * y).sum::<f64>() / n;
            let deviation = (values().map(|(w, y)| w * ((y - mean) * (y - mean))).sum::<f64>() / n).sqrt();
            Scaling { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
        };
        Ok(columns(dataset, targets)?.into_iter().map(scaling).collect())
    }
}

/// Where these targets are among the dataset's.
pub(crate) fn columns(dataset: &Dataset, targets: &[Target]) -> Result<Vec<usize>> {
    let header = dataset.header();
    let column = |t: &Target| {
        let place = header.targets.iter().position(|h| h.name == t.name);
        place.ok_or_else(|| Error::settings(format!("{} has no target `{}`", header.name, t.name)))
    };
    targets.iter().map(column).collect()
}

/// `limit` graphs of a dataset, drawn by the seed and in the dataset's order; all of it where there is no limit, or one
/// that it does not reach. A subset has no given folds.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_train::limited;
/// let csl = generate("csl")?;
/// let some = limited(&csl, Some(20), 7)?;
/// assert_eq!((some.len(), some.digest()), (20, limited(&csl, Some(20), 7)?.digest()));
/// assert_eq!(limited(&csl, Some(1000), 7)?.len(), 150);
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn limited(dataset: &Dataset, limit: Option<usize>, seed: u64) -> Result<Dataset> {
    match limit {
        Some(0) => Err(Error::settings("a limit of 0 graphs leaves nothing to learn from")),
        Some(limit) if limit < dataset.len() => {
            let mut drawn = Stream::new(seed, "limit", &[]).permutation(dataset.len());
            drawn.truncate(limit);
            drawn.sort_unstable();
            Ok(dataset.subset(&drawn)?)
        }
        _ => Ok(dataset.clone()),
    }
}

/// An error where a graph has no nodes: there is nothing to pool.
pub(crate) fn no_empty_graph(dataset: &Dataset) -> Result<()> {
    match dataset.graphs().iter().position(|graph| graph.nodes() == 0) {
        None => Ok(()),
        Some(graph) => {
            let name = dataset.name();
            Err(ppgn_graph::Error::unfit(format!(
                "graph {graph} of {name} has no nodes: there is nothing to pool"
            ))
            .into())
        }
    }
}

/// An error where a graph has a number that is not finite in the precision of the rows.
pub(crate) fn representable(encoder: &Encoder, dataset: &Dataset, precision: Precision) -> Result<()> {
    Ok(match precision {
        Precision::F32 => encoder.check::<f32>(dataset.graphs()),
        Precision::F64 => encoder.check::<f64>(dataset.graphs()),
    }?)
}

/// A loss in which every graph counts as much as its weight, if there are weights.
fn counted<'a>(loss: Loss<'a>, weights: &'a Option<Vec<f64>>) -> Loss<'a> {
    match weights {
        Some(weights) => loss.graph_weights(weights),
        None => loss,
    }
}

/// A dataset ready for training.
pub struct Prepared {
    pub(crate) dataset: Dataset,
    pub(crate) encoder: Encoder,
    /// What the batches are for.
    network: PpgnConfig,
    pub(crate) split: Split,
    pub(crate) goal: Goal,
    /// For regression, one per target; else nothing.
    pub(crate) scaling: Vec<Scaling>,
    /// For regression, the standardised targets; for labels, 0 or 1; graph after graph, NaN where one is missing.
    targets: Vec<f64>,
    /// The weights of classes, or of positive labels; nothing where all count the same.
    weights: Vec<f64>,
    sample_weights: SampleWeights,
    precision: Precision,
    /// What the rows of a batch are, and why.
    pub(crate) space: Chosen,
    /// The bytes that training takes at most, by an estimate.
    pub(crate) memory: u64,
}

impl Prepared {
    /// The dataset of a run, checked to be the one that its settings name.
    pub fn new(session: &Session, settings: &Settings, dataset: &Dataset) -> Result<Self> {
        let trained = match &settings.origin {
            Origin::Trained(trained) => trained,
            Origin::Imported => return Err(Error::NothingToTrain { how: "imported" }),
            Origin::Compiled(_) => return Err(Error::NothingToTrain { how: "compiled" }),
        };
        if dataset.digest() != trained.digest {
            return Err(Error::OtherData { data: trained.data.clone() });
        }
        no_empty_graph(dataset)?;
        let split = trained.split(dataset, settings.training.seed)?;
        let encoder = settings.encoding.encoder(&settings.schema)?;
        representable(&encoder, dataset, settings.training.precision)?;
        let space = Choosing {
            choice: settings.training.space,
            config: &settings.network,
            encoder: &encoder,
            dataset,
            digest: &trained.digest,
            precision: settings.training.precision,
            session,
        }
        .choose()?;
        let (network, precision) = (&settings.network, settings.training.precision);
        let memory = Guard::new(session, network, precision, dataset, space.colours.as_deref()).training(
            &settings.training,
            &split,
            settings.drawn_from(),
        )?;
        let mut prepared = Prepared {
            dataset: dataset.clone(),
            space,
            encoder,
            network: settings.network.clone(),
            split,
            goal: settings.goal.clone(),
            scaling: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
            sample_weights: trained.sample_weights.clone(),
            precision,
            memory,
        };
        let (goal, train) = (&settings.goal, &prepared.split.train);
        prepared.weights =
            goal.weights(settings.training.class_weights, dataset, train, &trained.sample_weights)?;
        if let Goal::Targets(targets) | Goal::Labels(targets) = goal {
            prepared.standardise(targets, &settings.scaling)?;
        }
        Ok(prepared)
    }

    fn standardise(&mut self, targets: &[Target], scaling: &[Scaling]) -> Result<()> {
        let columns = columns(&self.dataset, targets)?;
        self.scaling = scaling.to_vec();
        for g in 0..self.dataset.len() {
            let row = self.dataset.targets(g);
            let standardised = |(i, &c): (usize, &usize)| match self.scaling.get(i) {
                Some(s) => (row[c] - s.mean) / s.deviation,
                None => row[c],
            };
            self.targets.extend(columns.iter().enumerate().map(standardised));
        }
        Ok(())
    }

    /// For regression, the mean absolute error of the baseline that predicts the training mean, per target, in its unit.
    pub(crate) fn error_of_the_mean(&self, graphs: &[u32]) -> Vec<f64> {
        let all = self.standardised(graphs);
        let error = |(t, scaling): (usize, &Scaling)| {
            let known = || all.iter().skip(t).step_by(self.scaling.len()).filter(|y| !y.is_nan());
            known().map(|y| y.abs() * scaling.deviation).sum::<f64>() / known().count().max(1) as f64
        };
        self.scaling.iter().enumerate().map(error).collect()
    }

    /// These graphs as a batch.
    pub(crate) fn batch(&self, graphs: &[u32]) -> Result<Batch> {
        if let Some(colours) = &self.space.colours {
            let graphs: Vec<usize> = graphs.iter().map(|&g| g as usize).collect();
            return Ok(Batch::quotient(colours, &graphs)?);
        }
        let graphs: Vec<&Graph> = graphs.iter().map(|&g| self.dataset.graph(g as usize)).collect();
        Ok(Batch::of(&self.network, &self.encoder, &graphs, self.precision)?)
    }

    /// A loss that was summed over these graphs, per graph: over the sum of the sample weights.
    pub(crate) fn mean_loss(&self, sum: f64, graphs: &[u32]) -> f64 {
        let n = self.sample_weights.sum(graphs);
        sum / if n > 0.0 { n } else { 1.0 }
    }

    /// The loss of scores for these graphs, summed.
    pub(crate) fn loss(&self, scores: &Matrix, graphs: &[u32]) -> ppgn_nn::Result<Evaluated> {
        let samples = (!self.sample_weights.is_none()).then(|| self.sample_weights.list(graphs));
        if let Goal::Classes(_) = &self.goal {
            let classes = self.classes(graphs);
            let present: Vec<bool> = classes.iter().map(Option::is_some).collect();
            let classes: Vec<usize> = classes.into_iter().map(Option::unwrap_or_default).collect();
            let loss = counted(Loss::cross_entropy(&classes), &samples).present(&present);
            return match self.weights.is_empty() {
                true => loss.of(scores),
                false => loss.column_weights(&self.weights).of(scores),
            };
        }
        let values = self.standardised(graphs);
        let present: Vec<bool> = values.iter().map(|y| !y.is_nan()).collect();
        match &self.goal {
            Goal::Labels(_) => {
                let loss = counted(Loss::binary_cross_entropy(&values), &samples).present(&present);
                match self.weights.is_empty() {
                    true => loss.of(scores),
                    false => loss.positive_weights(&self.weights).of(scores),
                }
            }
            _ => counted(Loss::absolute_error(&values), &samples).present(&present).of(scores),
        }
    }

    /// The classes of these graphs, where they are known.
    pub(crate) fn classes(&self, graphs: &[u32]) -> Vec<Option<usize>> {
        graphs.iter().map(|&g| self.dataset.class(g as usize)).collect()
    }

    /// The standardised targets of these graphs, or their labels, graph after graph; NaN where one is missing. Nothing for
    /// classes.
    pub(crate) fn standardised(&self, graphs: &[u32]) -> Vec<f64> {
        let width = if let Goal::Classes(_) = &self.goal { 0 } else { self.goal.outputs() };
        graphs.iter().flat_map(|&g| self.targets[g as usize * width..][..width].to_vec()).collect()
    }
}
