//! What a run predicts, and its dataset made ready: encoder, classes, standardised targets.

use crate::error::{Error, Result};
use crate::memory::Guard;
use crate::session::Session;
use crate::settings::{Origin, Settings};
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
            Goal::Targets(targets) => targets.len(),
        }
    }
}

/// Mean and deviation of a target over the training graphs: networks learn `(y - mean) / deviation`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// The mean.
    pub mean: f64,
    /// The deviation (of the whole, not of a sample), or 1 where all are equal.
    pub deviation: f64,
}

impl Goal {
    /// Mean and deviation of the goal's targets over these graphs; nothing for classes.
    pub fn scaling(&self, dataset: &Dataset, graphs: &[u32]) -> Result<Vec<Scaling>> {
        let Goal::Targets(targets) = self else { return Ok(Vec::new()) };
        let n = graphs.len() as f64;
        let scaling = |c: usize| {
            let values = || graphs.iter().map(|&g| dataset.targets(g as usize)[c]);
            let mean = values().sum::<f64>() / n;
            let deviation = (values().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n).sqrt();
            Scaling { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
        };
        Ok(columns(dataset, targets)?.into_iter().map(scaling).collect())
    }
}

/// Where these targets are among the dataset's.
fn columns(dataset: &Dataset, targets: &[Target]) -> Result<Vec<usize>> {
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

/// An error where the goal of a graph is not known: there is nothing to learn from it.
pub(crate) fn all_known(dataset: &Dataset, goal: &Goal) -> Result<()> {
    let unknown = |graph: usize, what: &str| {
        let name = dataset.name();
        Err(ppgn_graph::Error::unfit(format!("graph {graph} of {name} has no {what}")).into())
    };
    match goal {
        Goal::Classes(_) => match dataset.classes().position(|class| class.is_none()) {
            Some(graph) => unknown(graph, "class"),
            None => Ok(()),
        },
        Goal::Targets(targets) => {
            for (target, &c) in targets.iter().zip(&columns(dataset, targets)?) {
                if let Some(graph) = (0..dataset.len()).find(|&g| dataset.targets(g)[c].is_nan()) {
                    return unknown(graph, &format!("value for the target `{}`", target.name));
                }
            }
            Ok(())
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
    /// For regression, the standardised targets, graph after graph.
    targets: Vec<f64>,
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
        let split = trained.division.of(dataset, settings.training.seed)?;
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
            precision,
            memory,
        };
        if let Goal::Targets(targets) = &settings.goal {
            prepared.standardise(targets, &settings.scaling)?;
        }
        Ok(prepared)
    }

    fn standardise(&mut self, targets: &[Target], scaling: &[Scaling]) -> Result<()> {
        let columns = columns(&self.dataset, targets)?;
        self.scaling = scaling.to_vec();
        for g in 0..self.dataset.len() {
            let row = self.dataset.targets(g);
            self.targets
                .extend(columns.iter().zip(&self.scaling).map(|(&c, s)| (row[c] - s.mean) / s.deviation));
        }
        Ok(())
    }

    /// For regression, the mean absolute error of the baseline that predicts the training mean, per target, in its unit.
    pub(crate) fn error_of_the_mean(&self, graphs: &[u32]) -> Vec<f64> {
        let width = self.scaling.len();
        let mut errors = vec![0.0; width];
        for (i, y) in self.standardised(graphs).iter().enumerate() {
            errors[i % width] += y.abs() * self.scaling[i % width].deviation;
        }
        errors.iter().map(|e| e / graphs.len().max(1) as f64).collect()
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

    /// The loss of scores for these graphs, summed.
    pub(crate) fn loss(&self, scores: &Matrix, graphs: &[u32]) -> ppgn_nn::Result<Evaluated> {
        match &self.goal {
            Goal::Classes(_) => Loss::cross_entropy(&self.classes(graphs)).of(scores),
            Goal::Targets(_) => Loss::absolute_error(&self.standardised(graphs)).of(scores),
        }
    }

    /// The classes of these graphs.
    pub(crate) fn classes(&self, graphs: &[u32]) -> Vec<usize> {
        graphs.iter().map(|&g| self.dataset.class(g as usize).expect("checked to be known")).collect()
    }

    /// The standardised targets of these graphs, graph after graph.
    pub(crate) fn standardised(&self, graphs: &[u32]) -> Vec<f64> {
        let width = self.scaling.len();
        graphs.iter().flat_map(|&g| self.targets[g as usize * width..][..width].to_vec()).collect()
    }
}
