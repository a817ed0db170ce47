//! The settings of a run: the content of `config.toml`, and how a preset, overrides and data are resolved to it.

mod division;
mod file;
mod gain;
mod origin;
mod overrides;
mod ranges;
mod sample_weights;
mod schedule;
mod taken;
pub mod text;
mod training;

pub use division::{Division, Listing};
pub use gain::Gain;
pub use origin::{Origin, Trained};
pub use overrides::{Overrides, Setting};
pub use ranges::Ranges;
pub use sample_weights::SampleWeights;
pub use schedule::Schedule;
pub use taken::Learned;
pub use training::Training;

use crate::data::{Goal, Scaling};
use crate::error::{Error, Result};
use crate::labelling::{Labelling, Offer};
use crate::metrics::selectable;
use crate::objective::Task;
use crate::preset::Preset;
use crate::reference::{Reference, References};
use file::ConfigFile;
use ppgn_graph::encode::Encoding;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Schema};
use ppgn_nn::{Level, PpgnConfig, Precision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All settings of a run: the content of `config.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "ConfigFile", from = "ConfigFile")]
pub struct Settings {
    /// The dataset's name; for an imported network without data, the name of its file.
    pub dataset: String,
    /// Where the network comes from.
    pub origin: Origin,
    /// How the network is trained.
    pub training: Training,
    /// How graphs are encoded.
    pub encoding: Encoding,
    /// The network.
    pub network: PpgnConfig,
    /// What is predicted.
    pub goal: Goal,
    /// The features of the training data, by which new data is encoded.
    pub schema: Schema,
    /// For regression, mean and standard deviation of each target over the training set.
    pub scaling: Vec<Scaling>,
    /// What the elements of the training set add to each target, where that was fitted; `scaling` is of the rest.
    pub reference: Reference,
    /// The names of the classes, in their order, where the data calls them by name.
    pub class_names: Vec<String>,
    /// The columns of nodes, or of edges, that are learned and so are no inputs.
    pub columns: Vec<String>,
    /// With outputs per pair, the pairs that were learned.
    pub pairs: Learned,
}

/// A requested run: data, a preset and overrides. [`Settings::resolve`] resolves it.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_train::{Overrides, Request, Settings};
/// let csl = generate("csl")?;
/// let request = Request { overrides: Overrides { epochs: Some(3), ..Overrides::default() }, ..Request::new("csl", &csl) };
/// let settings = Settings::resolve(&request)?;
/// assert_eq!((settings.training.epochs, settings.preset()), (3, "small"));
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The name of the data, by which a resumed run finds it.
    pub data: &'a str,
    /// The data.
    pub dataset: &'a Dataset,
    /// How the data was read, where that is not the default: names and values for who resumes the run.
    pub read: BTreeMap<String, String>,
    /// The number of graphs that were drawn, if not all were taken.
    pub limit: Option<usize>,
    /// The preset.
    pub preset: &'a str,
    /// Settings that differ from the preset.
    pub overrides: Overrides,
    /// How the data is split.
    pub division: Division,
    /// How much every graph counts.
    pub sample_weights: SampleWeights,
    /// The targets by name; empty means all.
    pub targets: Vec<String>,
    /// What is to be learned.
    pub task: Task,
}

impl<'a> Request<'a> {
    /// The preset `small` on all of this data, split 80/10/10.
    pub fn new(data: &'a str, dataset: &'a Dataset) -> Self {
        Request {
            data,
            dataset,
            read: BTreeMap::new(),
            limit: None,
            preset: "small",
            overrides: Overrides::default(),
            division: Division::Shares([0.8, 0.1, 0.1]),
            sample_weights: SampleWeights::default(),
            targets: Vec::new(),
            task: Task::Auto,
        }
    }

    /// What is to be learned.
    pub fn goal(&self) -> Result<Goal> {
        let level = self.overrides.level.unwrap_or_default();
        let (dataset, columns) = self.taken(level)?;
        self.goal_of(&dataset, level, &columns)
    }

    /// The data without the columns that are to be learned, and those columns.
    fn taken(&self, level: Level) -> Result<(Dataset, Vec<String>)> {
        let columns = taken::columns(self.dataset, level, &self.targets)?;
        let numbers = taken::as_numbers(self.task);
        Ok((taken::take(self.dataset, level, &columns, numbers)?, columns))
    }

    fn goal_of(&self, dataset: &Dataset, level: Level, columns: &[String]) -> Result<Goal> {
        let offer = Offer::of(dataset, level);
        // A column of classes is named like a target.
        let targets = if !columns.is_empty() && offer.classes.is_some() { &[] } else { &self.targets[..] };
        Goal::pick(&offer, targets, self.task)
    }
}

/// A network that was trained elsewhere, and what is needed to use it.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The name of its dataset, or of its file.
    pub dataset: String,
    /// The precision of its weights.
    pub precision: Precision,
    /// How graphs are encoded.
    pub encoding: Encoding,
    /// The network.
    pub network: PpgnConfig,
    /// What its outputs predict.
    pub goal: Goal,
    /// The features of its data.
    pub schema: Schema,
    /// For regression, mean and standard deviation of each target.
    pub scaling: Vec<Scaling>,
}

impl Settings {
    /// Resolves preset, overrides and data to the settings of a run, and checks them.
    pub fn resolve(request: &Request<'_>) -> Result<Self> {
        let Request { data, dataset, read, limit, preset, overrides, .. } = request;
        let level = overrides.apply(Preset::new(preset, dataset.name())?).network.level;
        let digest = dataset.digest();
        let (dataset, columns) = request.taken(level)?;
        let dataset = &dataset;
        let Preset { encoding, network, training } =
            overrides.apply(Preset::fitted(preset, dataset.name(), dataset.schema())?);
        training.validate()?;
        let goal = request.goal_of(dataset, level, &columns)?;
        let encoder = encoding.encoder(dataset.schema())?;
        let network = PpgnConfig { inputs: encoder.channels().len(), outputs: goal.outputs(), ..network };
        network.validate()?;
        network.runs_on(training.space)?;
        let trained = Trained {
            data: data.to_string(),
            read: read.clone(),
            digest,
            limit: *limit,
            preset: preset.to_string(),
            division: request.division.clone(),
            sample_weights: request.sample_weights.clone(),
        };
        let split = trained.split(dataset, training.seed)?;
        let class_names = match &goal {
            Goal::Classes(_) => Offer::of(dataset, level).class_names.to_vec(),
            _ => Vec::new(),
        };
        let mut labelling = Labelling::new(dataset, level, &goal, &class_names)?;
        selectable(training.select, &goal, &labelling, &split)?;
        goal.check(dataset, &labelling, &split)?;
        goal.weights(training.class_weights, &labelling, &split.train, &trained.sample_weights)?;
        if training.patience > 0 && split.validation.is_empty() {
            return Err(Error::NoValidation);
        }
        let pairs = Learned::of(dataset, &labelling);
        let weights = &trained.sample_weights;
        let reference = match training.reference {
            References::None => Reference::default(),
            References::Atoms => Reference::fit(dataset, &goal, &labelling, &split.train, weights)?,
        };
        labelling.subtract(&reference.of(dataset));
        Ok(Settings {
            scaling: goal.scaling_of(&labelling, &split.train, weights),
            reference,
            dataset: dataset.name().to_string(),
            origin: Origin::Trained(trained),
            training,
            encoding,
            network,
            schema: dataset.schema().clone(),
            class_names,
            columns,
            pairs,
            goal,
        })
    }

    /// The settings of a network that was trained elsewhere.
    pub fn imported(imported: Imported) -> Result<Self> {
        Self::not_trained(Origin::Imported, imported)
    }

    /// The settings of an existing network.
    pub(crate) fn not_trained(origin: Origin, imported: Imported) -> Result<Self> {
        let Imported { dataset, precision, encoding, network, goal, schema, scaling } = imported;
        let training = Training { precision, ..Training::default() };
        let settings = Settings {
            dataset,
            origin,
            training,
            encoding,
            network,
            goal,
            schema,
            scaling,
            reference: Reference::default(),
            class_names: Vec::new(),
            columns: Vec::new(),
            pairs: Learned::default(),
        };
        settings.validate()?;
        Ok(settings)
    }

    /// What the classes are called, in their order: their names where the data has names, else their labels. Nothing where no
    /// classes are predicted.
    pub fn class_titles(&self) -> Vec<String> {
        match &self.goal {
            Goal::Classes(classes) if self.class_names.len() == classes.len() => self.class_names.clone(),
            Goal::Classes(classes) => classes.iter().map(i64::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// What the run is trained on, if it is trained here.
    pub fn trained(&self) -> Option<&Trained> {
        match &self.origin {
            Origin::Trained(trained) => Some(trained),
            Origin::Imported | Origin::Compiled(_) => None,
        }
    }

    /// The preset; `import` or `compile` for a network that was not trained here.
    pub fn preset(&self) -> &str {
        self.origin.preset()
    }

    /// The seed of weights and batches: a function of the run's seed and, for a fold, of the fold. So folds start from
    /// different weights, and their mean says something about the network rather than about one draw of its weights.
    pub(crate) fn drawn_from(&self) -> u64 {
        match self.trained().and_then(|trained| trained.division.fold()) {
            Some(fold) => Stream::new(self.training.seed, "fold", &[fold as u64]).bits(),
            None => self.training.seed,
        }
    }

    /// Checks that the settings are consistent with each other.
    pub(crate) fn validate(&self) -> Result<()> {
        self.training.validate()?;
        self.network.validate()?;
        self.network.runs_on(self.training.space)?;
        let columns = self.schema.node_labels.iter().chain(&self.schema.edge_labels);
        for column in columns {
            if !column.values().is_sorted_by(|a, b| a < b) {
                let name = column.name();
                return Err(Error::settings(format!("the labels of column `{name}` are not in order")));
            }
        }
        let channels = self.encoding.encoder(&self.schema)?.channels().len();
        if channels != self.network.inputs {
            return Err(Error::settings(format!(
                "the network takes {} channels, but the encoding `{}` of its data has {channels}",
                self.network.inputs,
                self.encoding.kind.name()
            )));
        }
        let outputs = self.goal.outputs();
        if outputs != self.network.outputs {
            return Err(Error::settings(format!(
                "the network has {} outputs, but there are {outputs} classes or targets",
                self.network.outputs
            )));
        }
        let Reference { elements, energies } = &self.reference;
        let rows = if elements.is_empty() { 0 } else { self.scaling.len() };
        let fits = |row: &Vec<f64>| row.len() == elements.len() && row.iter().all(|x| x.is_finite());
        if energies.len() != rows && !elements.is_empty() || !energies.iter().all(fits) {
            return Err(Error::settings(
                "there must be one reference energy per target and element, all finite",
            ));
        }
        match (&self.goal, self.scaling.len()) {
            (Goal::Classes(_) | Goal::Labels(_), 0) => Ok(()),
            (Goal::Targets(targets), n) if n == targets.len() => Ok(()),
            (_, n) => Err(Error::settings(format!(
                "there must be one scaling per regression target, and there are {n}"
            ))),
        }
    }

    /// The text of `config.toml`.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::settings(format!("the settings cannot be written: {e}")))
    }
}
