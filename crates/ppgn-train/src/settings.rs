//! Everything that makes a run what it is: what `config.toml` holds, and how a preset, a file and the command line
//! come together in it.

use crate::batches::Batching;
use crate::compiled::Compilation;
use crate::data::{Goal, Scaling};
use crate::preset::Preset;
use ppgn_graph::encode::Encoding;
use ppgn_graph::random::Stream;
use ppgn_graph::split::{self, Split};
use ppgn_graph::{Dataset, Error, Result, Schema};
use ppgn_nn::{
    BlockConfig, M3, M4, Model, Norm, Pooling, PpgnConfig, Precision, Scale, SpaceChoice, SuffixKind,
};
use serde::{Deserialize, Serialize};

/// How a network is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// How often the training graphs are gone through.
    pub epochs: usize,
    /// Graphs in a batch, at most.
    pub batch: usize,
    /// Which graphs go together.
    pub batching: Batching,
    /// Adam's learning rate in the first epochs.
    pub rate: f64,
    /// What the rate is multiplied by, every `decay_every` epochs.
    pub decay: f64,
    /// How many epochs a rate lasts.
    pub decay_every: usize,
    /// What initial weights and batches are drawn from.
    pub seed: u64,
    /// The precision of everything.
    pub precision: Precision,
    /// What the rows of a batch are.
    #[serde(default)]
    pub space: SpaceChoice,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs: 100,
            batch: 16,
            batching: Batching::Mixed,
            rate: 1e-3,
            decay: 0.75,
            decay_every: 20,
            seed: 0,
            precision: Precision::F32,
            space: SpaceChoice::Auto,
        }
    }
}

impl Training {
    /// The learning rate of an epoch, counted from 1: `rate * decay^floor((epoch - 1) / decay_every)`.
    ///
    /// ```
    /// use ppgn_train::Training;
    /// let t = Training { rate: 0.1, decay: 0.5, decay_every: 20, ..Training::default() };
    /// assert_eq!((t.rate_of(1), t.rate_of(20), t.rate_of(21), t.rate_of(41)), (0.1, 0.1, 0.05, 0.025));
    /// ```
    pub fn rate_of(&self, epoch: usize) -> f64 {
        let steps = epoch.saturating_sub(1) / self.decay_every.max(1);
        (0..steps).fold(self.rate, |rate, _| rate * self.decay)
    }

    fn validate(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::call(what.to_string()));
        match self {
            t if t.epochs == 0 => wrong("training takes at least one epoch"),
            t if t.batch == 0 => wrong("a batch has at least one graph"),
            t if !(t.rate > 0.0 && t.rate.is_finite()) => wrong("the learning rate is a number above 0"),
            t if !(t.decay > 0.0 && t.decay <= 1.0) => wrong("the decay is a number above 0 and at most 1"),
            t if t.decay_every == 0 => wrong("the rate decays after at least one epoch"),
            _ => Ok(()),
        }
    }
}

/// What stands in the place of a preset where a network was imported.
const IMPORT: &str = "import";

/// How the data is divided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Division {
    /// The given fold of this number, from 1: its training and its test part.
    Fold(usize),
    /// One of so many folds dealt out by the seed, the classes spread evenly: for data that brings no folds along.
    Dealt {
        /// Its number, from 1.
        fold: usize,
        /// How many folds there are.
        of: usize,
    },
    /// A random part of this share to test on, the classes spread evenly.
    Holdout(f64),
    /// Training, validation and test parts of these shares, the classes spread evenly.
    Shares([f64; 3]),
}

impl Division {
    /// The division of a dataset.
    pub fn of(self, dataset: &Dataset, seed: u64) -> Result<Split> {
        let split = match self {
            Division::Fold(number) => split::given_fold(dataset, number)?,
            Division::Dealt { fold, of } => dealt_fold(dataset, fold, of, seed)?,
            Division::Holdout(share) => split::holdout(dataset, share, seed, true)?,
            Division::Shares(shares) => split::three_way(dataset, shares, seed, true)?,
        };
        match split.train.is_empty() {
            true => Err(Error::call(format!("of {} graphs none is left to train on", dataset.len()))),
            false => Ok(split),
        }
    }
}

fn dealt_fold(dataset: &Dataset, fold: usize, of: usize, seed: u64) -> Result<Split> {
    let mut folds = split::stratified_folds(dataset, of, seed)?;
    match fold.checked_sub(1).filter(|&i| i < folds.len()) {
        Some(i) => Ok(folds.swap_remove(i)),
        None => Err(Error::call(format!("{} has no fold {fold}: its folds are 1 to {of}", dataset.name()))),
    }
}

/// A run, said completely: the content of `config.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What stands for the data, as it was named.
    pub data: String,
    /// The dataset's name.
    pub dataset: String,
    /// A digest of the dataset's content: a run is resumed on the same data only.
    pub digest: String,
    /// Only so many graphs of it, drawn by the seed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<usize>,
    /// The preset it started from.
    pub preset: String,
    /// How the data is divided.
    pub division: Division,
    /// How the network is trained.
    pub training: Training,
    /// How graphs become rows.
    pub encoding: Encoding,
    /// The network.
    pub network: PpgnConfig,
    /// What is predicted.
    pub goal: Goal,
    /// The features of the data that it was trained on: new data is encoded by them.
    pub schema: Schema,
    /// For regression, mean and deviation of every target over the training part.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scaling: Vec<Scaling>,
    /// For a network that was compiled: from what, and how its scores are to be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub compilation: Option<Compilation>,
}

/// What a file or the command line says differently from the preset. What is left out stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "each field is the setting of its name in Training, PpgnConfig or Encoding")]
pub struct Overrides {
    pub epochs: Option<usize>,
    pub batch: Option<usize>,
    pub batching: Option<Batching>,
    pub rate: Option<f64>,
    pub decay: Option<f64>,
    pub decay_every: Option<usize>,
    pub seed: Option<u64>,
    pub precision: Option<Precision>,
    pub space: Option<SpaceChoice>,
    pub encoding: Option<Encoding>,
    pub order: Option<usize>,
    pub blocks: Option<Vec<BlockConfig>>,
    pub model: Option<Model>,
    pub depth: Option<usize>,
    pub m3: Option<M3>,
    pub m4: Option<M4>,
    pub suffix: Option<SuffixKind>,
    pub suffix_hidden: Option<Vec<usize>>,
    pub pooling: Option<Pooling>,
    pub scale: Option<Scale>,
    pub norm: Option<Norm>,
    pub residual: Option<bool>,
}

impl Overrides {
    /// Overrides from the text of a TOML file.
    pub fn from_toml(text: &str, file: &str) -> Result<Self> {
        toml::from_str(text).map_err(|e| Error::call(format!("{file}: {e}")))
    }

    /// These, and where they are silent the others.
    pub fn or(self, other: Overrides) -> Overrides {
        macro_rules! first {
            ($($field:ident),* $(,)?) => { Overrides { $($field: self.$field.or(other.$field)),* } };
        }
        first!(
            epochs,
            batch,
            batching,
            rate,
            decay,
            decay_every,
            seed,
            precision,
            space,
            encoding,
            order,
            blocks,
            model,
            depth,
            m3,
            m4,
            suffix,
            suffix_hidden,
            pooling,
            scale,
            norm,
            residual,
        )
    }

    /// A preset with these settings instead of its own.
    pub fn apply(&self, preset: Preset) -> Preset {
        macro_rules! set {
            ($into:expr, $($field:ident),* $(,)?) => {
                $(if let Some(value) = self.$field.clone() { $into.$field = value; })*
            };
        }
        let mut preset = preset;
        set!(preset.training, epochs, batch, batching, rate, decay, decay_every, seed, precision, space);
        set!(
            preset.network,
            order,
            model,
            blocks,
            depth,
            m3,
            m4,
            suffix,
            suffix_hidden,
            pooling,
            scale,
            norm,
            residual
        );
        set!(preset, encoding);
        preset
    }
}

impl Settings {
    /// The settings of a run on this dataset: preset, overrides and data put together and checked.
    pub fn resolve(
        data: &str,
        dataset: &Dataset,
        limit: Option<usize>,
        preset: &str,
        overrides: &Overrides,
        division: Division,
        targets: &[String],
    ) -> Result<Self> {
        let Preset { encoding, network, training } =
            overrides.apply(Preset::new(preset, dataset.name())?.fitted(dataset.schema()));
        training.validate()?;
        let goal = Goal::of(dataset, targets)?;
        let encoder = encoding.encoder(dataset.schema())?;
        let network = PpgnConfig { inputs: encoder.channels().len(), outputs: goal.outputs(), ..network };
        network.validate()?;
        network.runs_on(training.space)?;
        let split = division.of(dataset, training.seed)?;
        Ok(Settings {
            scaling: goal.scaling(dataset, &split.train)?,
            data: data.to_string(),
            dataset: dataset.name().to_string(),
            digest: dataset.digest(),
            limit,
            preset: preset.to_string(),
            division,
            training,
            encoding,
            network,
            goal,
            schema: dataset.schema().clone(),
            compilation: None,
        })
    }

    /// What weights and batches are drawn from: the seed, and in a fold the fold too. So the folds of a protocol start
    /// from different weights, and their mean says something about the network rather than about one draw of it.
    pub(crate) fn drawn_from(&self) -> u64 {
        match self.division {
            Division::Fold(fold) | Division::Dealt { fold, .. } => {
                Stream::new(self.training.seed, "fold", &[fold as u64]).bits()
            }
            Division::Holdout(_) | Division::Shares(_) => self.training.seed,
        }
    }

    /// The settings of a network that was trained elsewhere: what it takes to use it, and no data.
    pub fn imported(
        source: &str,
        precision: Precision,
        encoding: Encoding,
        network: PpgnConfig,
        goal: Goal,
        schema: Schema,
        scaling: Vec<Scaling>,
    ) -> Result<Self> {
        let settings = Settings {
            data: String::new(),
            dataset: source.to_string(),
            digest: String::new(),
            limit: None,
            preset: IMPORT.to_string(),
            division: Division::Shares([1.0, 0.0, 0.0]),
            training: Training { precision, ..Training::default() },
            encoding,
            network,
            goal,
            schema,
            scaling,
            compilation: None,
        };
        settings.validate()?;
        Ok(settings)
    }

    /// Whether the network was trained elsewhere, or compiled.
    pub fn is_imported(&self) -> bool {
        self.data.is_empty() && (self.preset == IMPORT || self.compilation.is_some())
    }

    /// Whether the parts fit each other; what is wrong otherwise.
    pub(crate) fn validate(&self) -> Result<()> {
        self.training.validate()?;
        self.network.validate()?;
        self.network.runs_on(self.training.space)?;
        let columns = self.schema.node_labels.iter().chain(&self.schema.edge_labels);
        for column in columns {
            if !column.values().is_sorted_by(|a, b| a < b) {
                return Err(Error::call(format!(
                    "the labels of column `{}` are not in order",
                    column.name()
                )));
            }
        }
        let channels = self.encoding.encoder(&self.schema)?.channels().len();
        if channels != self.network.inputs {
            return Err(Error::call(format!(
                "the network takes {} channels, but the encoding `{}` of its data has {channels}",
                self.network.inputs,
                self.encoding.kind.name()
            )));
        }
        let outputs = self.goal.outputs();
        if outputs != self.network.outputs {
            return Err(Error::call(format!(
                "the network has {} outputs, but there are {outputs} classes or targets",
                self.network.outputs
            )));
        }
        match (&self.goal, self.scaling.len()) {
            (Goal::Classes(_), 0) => Ok(()),
            (Goal::Targets(targets), n) if n == targets.len() => Ok(()),
            (_, n) => Err(Error::call(format!("{n} scalings do not fit the goal"))),
        }
    }

    /// The text of `config.toml`.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::unfit(format!("the settings cannot be written: {e}")))
    }
}
