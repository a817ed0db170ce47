//! A dataset made ready for training: encoder, split, space, classes, standardised targets.

mod goal;
mod loss;

pub use goal::{Goal, Scaling};

use crate::error::{Error, Result};
use crate::labelling::Labelling;
use crate::memory::Guard;
use crate::session::Session;
use crate::settings::{Origin, SampleWeights, Settings};
use crate::space::{Choosing, Chosen};
use ppgn_graph::encode::Encoder;
use ppgn_graph::random::Stream;
use ppgn_graph::split::Split;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{Batch, Colours, Layout, Level, PpgnConfig, Precision, flops};

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

/// The cost of every graph of a dataset, forward and backward.
fn costs(network: &PpgnConfig, dataset: &Dataset, colours: Option<&Colours>) -> Vec<f64> {
    let Some(colours) = colours else { return dense_costs(network, dataset) };
    let blocks = network.descriptions();
    let cost = |(g, graph): (usize, &Graph)| {
        let rows = colours.rows(g);
        flops(&blocks, [graph.nodes(), colours.terms(g)], |level| rows[level.min(rows.len() - 1)])
    };
    dataset.graphs().iter().enumerate().map(cost).collect()
}

/// The same on the dense space.
pub(crate) fn dense_costs(network: &PpgnConfig, dataset: &Dataset) -> Vec<f64> {
    let blocks = network.descriptions();
    let cost = |graph: &Graph| {
        let nodes = graph.nodes();
        flops(&blocks, [nodes; 2], |_| nodes.saturating_pow(network.order as u32))
    };
    dataset.graphs().iter().map(cost).collect()
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
    /// What the elements of every graph add to each target; nothing where that is not subtracted.
    reference: Vec<Vec<f64>>,
    /// What is known of graphs, nodes or pairs; of targets, what is left without the reference.
    pub(crate) labelling: Labelling,
    /// For regression, the standardised targets; for labels, 0 or 1; row after row of the labelling, NaN where one is missing.
    targets: Vec<f64>,
    /// The weights of classes, or of positive labels; nothing where all count the same.
    weights: Vec<f64>,
    sample_weights: SampleWeights,
    precision: Precision,
    /// What the rows of a batch are, and why.
    pub(crate) space: Chosen,
    /// The cost of every graph, forward and backward.
    pub(crate) costs: Vec<f64>,
    /// The number of the network's parameters.
    pub(crate) parameters: usize,
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
        let digest = settings.content(&trained.digest);
        let dataset = &settings.taken(dataset)?;
        let split = trained.split(dataset, settings.training.seed)?;
        let encoder = settings.encoding.encoder(&settings.schema)?;
        representable(&encoder, dataset, settings.training.precision)?;
        let space = Choosing {
            choice: settings.training.space,
            config: &settings.network,
            encoder: &encoder,
            dataset,
            digest: &digest,
            precision: settings.training.precision,
            session,
        }
        .choose()?;
        let (network, precision) = (&settings.network, settings.training.precision);
        let mut labelling = Labelling::new(dataset, network.level, &settings.goal, &settings.class_names)?;
        let reference = settings.reference.of(dataset);
        labelling.subtract(&reference);
        let memory = Guard::new(session, network, precision, dataset, space.colours.as_deref()).training(
            &settings.training,
            &split,
            settings.drawn_from(),
        )?;
        let costs = costs(network, dataset, space.colours.as_deref());
        let mut prepared = Prepared {
            dataset: dataset.clone(),
            costs,
            parameters: Layout::new(network).len(),
            space,
            encoder,
            network: settings.network.clone(),
            split,
            goal: settings.goal.clone(),
            scaling: settings.scaling.clone(),
            targets: Vec::new(),
            weights: Vec::new(),
            reference,
            labelling,
            sample_weights: trained.sample_weights.clone(),
            precision,
            memory,
        };
        let (goal, train) = (&settings.goal, &prepared.split.train);
        let labelling = &prepared.labelling;
        let weights =
            goal.weights(settings.training.class_weights, labelling, train, &trained.sample_weights)?;
        if let Goal::Targets(_) | Goal::Labels(_) = goal {
            let standardised = |(i, &y): (usize, &f64)| match prepared.scaling.get(i) {
                Some(s) => (y - s.mean) / s.deviation,
                None => y,
            };
            let rows = (0..labelling.len()).flat_map(|row| labelling.values(row).iter().enumerate());
            prepared.targets = rows.map(standardised).collect();
        }
        prepared.weights = weights;
        Ok(prepared)
    }

    /// For regression, the mean absolute error of the baseline that predicts the training mean (and the reference, if there is
    /// one), per target, in its unit.
    pub(crate) fn error_of_the_mean(&self, graphs: &[u32]) -> Vec<f64> {
        let all = self.standardised(graphs);
        let error = |(t, scaling): (usize, &Scaling)| {
            let known = || all.iter().skip(t).step_by(self.scaling.len()).filter(|y| !y.is_nan());
            known().map(|y| y.abs() * scaling.deviation).sum::<f64>() / known().count().max(1) as f64
        };
        self.scaling.iter().enumerate().map(error).collect()
    }

    /// The network that the batches are for.
    pub(crate) fn network(&self) -> &PpgnConfig {
        &self.network
    }

    /// The precision of the batches.
    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// These graphs as a batch.
    pub(crate) fn batch(&self, graphs: &[u32]) -> Result<Batch> {
        if let Some(colours) = &self.space.colours {
            let graphs: Vec<usize> = graphs.iter().map(|&g| g as usize).collect();
            return Ok(Batch::quotient_for(self.network.level, colours, &graphs)?);
        }
        let graphs: Vec<&Graph> = graphs.iter().map(|&g| self.dataset.graph(g as usize)).collect();
        Ok(Batch::of(&self.network, &self.encoder, &graphs, self.precision)?)
    }

    /// The rows of a batch of these graphs at so many levels, from the first.
    pub(crate) fn rows_of_levels(&self, graphs: &[u32], levels: usize) -> Result<Vec<usize>> {
        if self.space.colours.is_some() {
            let batch = self.batch(graphs)?;
            return Ok((0..levels).map(|level| batch.space().rows(level)).collect());
        }
        let rows = |&graph: &u32| self.dataset.graph(graph as usize).nodes().pow(self.network.order as u32);
        Ok(vec![graphs.iter().map(rows).sum(); levels])
    }

    /// A loss that was summed over what is known of these graphs, as a mean: over the sum of the sample weights.
    pub(crate) fn mean_loss(&self, sum: f64, graphs: &[u32]) -> f64 {
        let n: f64 = self.labelling.weighted(graphs, &self.sample_weights).map(|(w, _)| w).sum();
        sum / if n > 0.0 { n } else { 1.0 }
    }

    /// The classes of the rows of these graphs, where they are known. Nothing for targets and labels.
    pub(crate) fn classes(&self, graphs: &[u32]) -> Vec<Option<usize>> {
        match &self.goal {
            Goal::Classes(_) => self.labelling.rows_of(graphs).map(|row| self.labelling.class(row)).collect(),
            _ => Vec::new(),
        }
    }

    /// The standardised targets of the rows of these graphs, or their labels, row after row; NaN where one is missing. Nothing
    /// for classes.
    pub(crate) fn standardised(&self, graphs: &[u32]) -> Vec<f64> {
        let width = if let Goal::Classes(_) = &self.goal { 0 } else { self.goal.outputs() };
        let rows = self.labelling.rows_of(graphs);
        rows.flat_map(|row| self.targets[row * width..][..width].iter().copied()).collect()
    }

    /// What was subtracted from the targets of the rows of these graphs, row after row and in their own units; 0 where nothing
    /// was.
    pub(crate) fn reference(&self, graphs: &[u32]) -> Vec<f64> {
        let width = self.goal.outputs();
        let of = |&g: &u32| match self.reference.get(g as usize) {
            Some(reference) => reference.repeat(self.labelling.rows(g).len()),
            None => vec![0.0; self.labelling.rows(g).len() * width],
        };
        graphs.iter().flat_map(of).collect()
    }

    /// The number of rows of these graphs.
    pub(crate) fn rows(&self, graphs: &[u32]) -> usize {
        graphs.iter().map(|&g| self.labelling.rows(g).len()).sum()
    }

    /// The scores of the rows of these graphs, among those of all their items.
    pub(crate) fn of_rows(&self, graphs: &[u32], scores: Vec<f64>) -> Vec<f64> {
        if self.network.level == Level::Graph {
            return scores;
        }
        let width = self.goal.outputs();
        let places = self.labelling.places_in(&self.dataset, graphs);
        places.iter().flat_map(|&place| &scores[place * width..][..width]).copied().collect()
    }
}
