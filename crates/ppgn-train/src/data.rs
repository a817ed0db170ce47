//! What a run predicts, and its dataset made ready: encoder, classes, standardised targets.

use crate::error::{Error, Result};
use crate::labelling::{Labelling, Offer, noun};
use crate::memory::Guard;
use crate::session::Session;
use crate::settings::{Origin, SampleWeights, Settings};
use crate::space::{Choosing, Chosen};
use ppgn_graph::encode::Encoder;
use ppgn_graph::random::Stream;
use ppgn_graph::split::Split;
use ppgn_graph::{Dataset, Graph, Target};
use ppgn_nn::{Batch, Evaluated, Level, Loss, Matrix, PpgnConfig, Precision, Terms};
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

/// What a loss compares scores with, row by row.
pub(crate) struct KnownRows {
    /// The classes, where they are known; nothing for targets.
    classes: Vec<Option<usize>>,
    /// The targets or labels, NaN where one is not known; nothing for classes.
    values: Vec<f64>,
    /// How much each row counts, where that differs.
    samples: Option<Vec<f64>>,
}

impl KnownRows {
    /// The same among `items` rows, row i at `places[i]`; nothing is known of the others.
    fn among(self, places: &[usize], items: usize, width: usize) -> Self {
        let mut classes = vec![None; if width == 0 { items } else { 0 }];
        places.iter().zip(self.classes).for_each(|(&place, class)| classes[place] = class);
        let mut values = vec![f64::NAN; items * width];
        for (&place, row) in places.iter().zip(self.values.chunks_exact(width.max(1))) {
            values[place * width..][..width].copy_from_slice(row);
        }
        let spread = |weights: Vec<f64>| {
            let mut all = vec![1.0; items];
            places.iter().zip(weights).for_each(|(&place, weight)| all[place] = weight);
            all
        };
        KnownRows { classes, values, samples: self.samples.map(spread) }
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
        let mut prepared = Prepared {
            dataset: dataset.clone(),
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

    /// What is known of these graphs, row by row.
    pub(crate) fn known(&self, graphs: &[u32]) -> KnownRows {
        let weights = || self.labelling.weighted(graphs, &self.sample_weights).map(|(w, _)| w).collect();
        KnownRows {
            classes: self.classes(graphs),
            values: self.standardised(graphs),
            samples: (!self.sample_weights.is_none()).then(weights),
        }
    }

    /// The loss of scores for these graphs, or for all their nodes or pairs, summed over what is known of them.
    pub(crate) fn loss(&self, scores: &Matrix, graphs: &[u32]) -> ppgn_nn::Result<Evaluated> {
        self.loss_of(scores, self.placed(graphs, scores.rows()))
    }

    /// The loss of these graphs as plain matrices, for a device.
    pub(crate) fn terms(&self, graphs: &[u32]) -> ppgn_nn::Result<Terms> {
        let nodes = |&graph: &u32| self.dataset.graph(graph as usize).nodes();
        let items: usize = graphs.iter().map(|graph| self.network.level.items(nodes(graph))).sum();
        self.with_loss(self.placed(graphs, items), |loss| loss.terms(items, self.network.outputs))
    }

    /// What is known of these graphs, among all of their items.
    fn placed(&self, graphs: &[u32], items: usize) -> KnownRows {
        let known = self.known(graphs);
        if self.network.level == Level::Graph {
            return known;
        }
        // What is known stands among what is not.
        let places = self.labelling.places_in(&self.dataset, graphs);
        let width = if let Goal::Classes(_) = &self.goal { 0 } else { self.goal.outputs() };
        known.among(&places, items, width)
    }

    /// The loss of scores against what is known of each row.
    pub(crate) fn loss_of(&self, scores: &Matrix, known: KnownRows) -> ppgn_nn::Result<Evaluated> {
        self.with_loss(known, |loss| loss.of(scores))
    }

    /// Does something with the loss against what is known of each row.
    fn with_loss<T>(&self, known: KnownRows, work: impl FnOnce(Loss<'_>) -> T) -> T {
        let KnownRows { classes, values, samples } = known;
        if let Goal::Classes(_) = &self.goal {
            let present: Vec<bool> = classes.iter().map(Option::is_some).collect();
            let classes: Vec<usize> = classes.into_iter().map(Option::unwrap_or_default).collect();
            let loss = counted(Loss::cross_entropy(&classes), &samples).present(&present);
            return match self.weights.is_empty() {
                true => work(loss),
                false => work(loss.column_weights(&self.weights)),
            };
        }
        let present: Vec<bool> = values.iter().map(|y| !y.is_nan()).collect();
        match &self.goal {
            Goal::Labels(_) => {
                let loss = counted(Loss::binary_cross_entropy(&values), &samples).present(&present);
                match self.weights.is_empty() {
                    true => work(loss),
                    false => work(loss.positive_weights(&self.weights)),
                }
            }
            _ => work(counted(Loss::absolute_error(&values), &samples).present(&present)),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Division, Overrides, Request};
    use ppgn_graph::generate::generate;
    use ppgn_nn::{BlockConfig, SpaceChoice, Values};

    /// The whole path at the level of nodes and of pairs: what is known is found among the scores, and the gradient of the loss
    /// with respect to parameters is that of finite differences, on both spaces.
    #[test]
    fn gradients_per_node_and_pair_match_finite_differences() {
        for (spec, level) in
            [("short-cycles:n=6,count=12", Level::Node), ("distances:n=5,count=12", Level::Pair)]
        {
            let data = generate(spec).unwrap();
            for space in [SpaceChoice::Dense, SpaceChoice::Quotient] {
                let overrides = Overrides {
                    level: Some(level),
                    space: Some(space),
                    precision: Some(Precision::F64),
                    blocks: Some(vec![BlockConfig::new(4); 2]),
                    ..Overrides::default()
                };
                let request =
                    Request { overrides, division: Division::Holdout(0.5), ..Request::new("d", &data) };
                let settings = Settings::resolve(&request).unwrap();
                let prepared = Prepared::new(&Session::default(), &settings, &data).unwrap();
                let mut network = settings.network.init(3, Precision::F64).unwrap();
                let chosen = [7, 2, 5];
                let batch = prepared.batch(&chosen).unwrap();
                // Biases of 0 would put rows of zeros on the kink of a ReLU.
                let mut random = Stream::new(1, "places", &[]);
                let arrays = network.parameters().unwrap().into_iter().map(|(_, values)| {
                    Values::F64(values.to_f64().iter().map(|x| x + random.uniform(-0.2, 0.2)).collect())
                });
                let arrays: Vec<Values> = arrays.collect();
                network.set_parameters(arrays.clone()).unwrap();
                let loss = |scores: &Matrix| prepared.loss(scores, &chosen);
                let step = network.backward(&batch, loss).unwrap();
                for _ in 0..40 {
                    let a = random.below(arrays.len());
                    let at = random.below(arrays[a].to_f64().len());
                    let analytic = step.gradients[a].to_f64()[at];
                    let mut moved = |by: f64| {
                        let mut arrays = arrays.clone();
                        if let Values::F64(v) = &mut arrays[a] {
                            v[at] += by;
                        }
                        network.set_parameters(arrays).unwrap();
                        loss(&network.forward(&batch).unwrap()).unwrap().value
                    };
                    // A step may cross a kink of a ReLU, or of the absolute error; the best match has not.
                    let off =
                        [1e-5, 1e-6, 1e-7].map(|h| ((moved(h) - moved(-h)) / (2.0 * h) - analytic).abs());
                    let close = |off: &f64| *off < 1e-5 * analytic.abs().max(1.0);
                    assert!(off.iter().any(close), "{spec} {space:?} {a}[{at}]: {analytic} {off:?}");
                }
            }
        }
    }
}
