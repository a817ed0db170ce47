//! The format of `config.toml`: one flat list of keys for every kind of run, which stays stable for other readers.
//!
//! A run that was not trained has no data, preset or division; its file has the placeholder values below.

use super::{Division, Learned, Origin, SampleWeights, Settings, Trained, Training};
use crate::compiled::Compilation;
use crate::data::{Goal, Scaling};
use crate::reference::Reference;
use ppgn_graph::Schema;
use ppgn_graph::encode::Encoding;
use ppgn_nn::PpgnConfig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The preset of an imported run.
const IMPORT: &str = "import";

/// The preset of a compiled run.
const COMPILE: &str = "compile";

/// The content of `config.toml`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    data: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    read: BTreeMap<String, String>,
    dataset: String,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    limit: Option<usize>,
    preset: String,
    division: Division,
    #[serde(skip_serializing_if = "SampleWeights::is_none", default)]
    sample_weights: SampleWeights,
    training: Training,
    encoding: Encoding,
    network: PpgnConfig,
    goal: Goal,
    schema: Schema,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    scaling: Vec<Scaling>,
    #[serde(skip_serializing_if = "Reference::is_none", default)]
    reference: Reference,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    class_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    columns: Vec<String>,
    #[serde(skip_serializing_if = "Learned::is_all", default)]
    pairs: Learned,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    compilation: Option<Compilation>,
}

impl Origin {
    /// The preset, or its placeholder in files and lists: `import` or `compile`.
    pub(super) fn preset(&self) -> &str {
        match self {
            Origin::Trained(trained) => &trained.preset,
            Origin::Imported => IMPORT,
            Origin::Compiled(_) => COMPILE,
        }
    }
}

impl From<Settings> for ConfigFile {
    fn from(settings: Settings) -> Self {
        let Settings {
            dataset,
            origin,
            training,
            encoding,
            network,
            goal,
            schema,
            scaling,
            reference,
            class_names,
            columns,
            pairs,
        } = settings;
        let preset = origin.preset().to_string();
        let none = || Trained {
            data: String::new(),
            read: BTreeMap::new(),
            digest: String::new(),
            limit: None,
            preset,
            division: Division::Shares([1.0, 0.0, 0.0]),
            sample_weights: SampleWeights::default(),
        };
        let (trained, compilation) = match origin {
            Origin::Trained(trained) => (trained, None),
            Origin::Imported => (none(), None),
            Origin::Compiled(compilation) => (none(), Some(compilation)),
        };
        let Trained { data, read, digest, limit, preset, division, sample_weights } = trained;
        ConfigFile {
            data,
            read,
            dataset,
            digest,
            limit,
            preset,
            division,
            sample_weights,
            training,
            encoding,
            network,
            goal,
            schema,
            scaling,
            reference,
            class_names,
            columns,
            pairs,
            compilation,
        }
    }
}

impl From<ConfigFile> for Settings {
    fn from(file: ConfigFile) -> Self {
        let ConfigFile { data, read, digest, limit, preset, division, sample_weights, compilation, .. } =
            file;
        let origin = match compilation {
            Some(compilation) => Origin::Compiled(compilation),
            None if preset == IMPORT && data.is_empty() => Origin::Imported,
            None => Origin::Trained(Trained { data, read, digest, limit, preset, division, sample_weights }),
        };
        let ConfigFile { dataset, training, encoding, network, goal, schema, scaling, .. } = file;
        let ConfigFile { reference, class_names, columns, pairs, .. } = file;
        Settings {
            dataset,
            origin,
            training,
            encoding,
            network,
            goal,
            schema,
            scaling,
            reference,
            class_names,
            columns,
            pairs,
        }
    }
}
