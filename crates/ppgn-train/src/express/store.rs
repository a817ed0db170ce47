//! The folder of a lab: what was run (`express.json`), one file per pair (`pairs/`), the report and its picture. Every file
//! is written whole, so a process that is killed loses no more than the trials it was at.

use super::collection::Collected;
use super::lab::Lab;
use super::picture::picture;
use super::report::Report;
use super::suite::Category;
use super::trial::Trial;
use crate::error::{Error, Result};
use ppgn_graph::Dataset;
use ppgn_graph::file::{read_whole, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is known of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) category: String,
    pub(super) pair: usize,
    /// The round in which the bounding test distinguishes it.
    pub(super) rounds: Option<usize>,
    pub(super) trials: Vec<Trial>,
}

/// The folder, if there is one.
pub(super) struct Store(Option<PathBuf>);

impl Store {
    /// Makes the folder, or checks that what it holds was run with the same settings. More seeds may be added.
    pub(super) fn open(lab: &Lab<'_>) -> Result<Self> {
        let Some(out) = &lab.out else { return Ok(Store(None)) };
        let make = |path: &Path| std::fs::create_dir_all(path).map_err(|e| Error::io(path, e));
        make(out)?;
        make(&out.join("pairs"))?;
        let settings = described(lab)?;
        let file = out.join("express.json");
        match file.exists() {
            true => {
                let there: Value = parsed(&file)?;
                if there != settings {
                    let difference = difference(&there, &settings);
                    return Err(Error::OtherSettings { path: out.clone(), difference });
                }
            }
            false => write_json(&file, &settings)?,
        }
        Ok(Store(Some(out.clone())))
    }

    pub(super) fn read(&self, category: &Category, pair: usize) -> Result<Option<Record>> {
        let Some(file) = self.pair(category, pair).filter(|file| file.exists()) else { return Ok(None) };
        let record: Record = parsed(&file)?;
        match record.category == category.name && record.pair == pair {
            true => Ok(Some(record)),
            false => Err(Error::Run { path: file, message: "it is of another pair; remove it".into() }),
        }
    }

    pub(super) fn write(&self, category: &Category, record: &Record) -> Result<()> {
        match self.pair(category, record.pair) {
            Some(file) => write_json(&file, &serialised(record)?),
            None => Ok(()),
        }
    }

    pub(super) fn read_collected(&self, category: &Category) -> Result<Option<Collected>> {
        let file =
            self.0.as_ref().map(|out| out.join("pairs").join(format!("{}.json", plain(&category.name))));
        file.filter(|file| file.exists()).map(|file| parsed(&file)).transpose()
    }

    pub(super) fn write_collected(&self, category: &Category, collected: &Collected) -> Result<()> {
        match &self.0 {
            Some(out) => {
                let file = out.join("pairs").join(format!("{}.json", plain(&category.name)));
                write_json(&file, &serialised(collected)?)
            }
            None => Ok(()),
        }
    }

    /// Writes `report.json` and `report.svg`.
    pub(super) fn finish(&self, report: &Report) -> Result<()> {
        let Some(out) = &self.0 else { return Ok(()) };
        write_json(&out.join("report.json"), &serialised(report)?)?;
        Ok(write_whole(&out.join("report.svg"), picture(report).as_bytes())?)
    }

    fn pair(&self, category: &Category, pair: usize) -> Option<PathBuf> {
        let name = format!("{}-{pair:04}.json", plain(&category.name));
        self.0.as_ref().map(|out| out.join("pairs").join(name))
    }
}

/// A category's name as part of a file's.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// What must be the same when a folder is used again.
fn described(lab: &Lab<'_>) -> Result<Value> {
    let digest = |category: &Category| -> Result<Value> {
        let graphs = Dataset::builder(&category.name).graphs(category.graphs.clone()).build()?;
        Ok(json!({ "name": category.name, "pairs": category.len(), "digest": graphs.digest() }))
    };
    let categories = lab.suite.categories.iter().map(digest).collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "suite": lab.suite.name,
        "protocol": lab.protocol.name(),
        "test": lab.bound.to_string(),
        "settings": lab.settings,
        "categories": categories,
    }))
}

fn serialised(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::settings(format!("the result cannot be written: {e}")))
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    Ok(write_whole(path, format!("{value:#}\n").as_bytes())?)
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = read_whole(path)?;
    serde_json::from_slice(&bytes).map_err(|e| Error::Run {
        path: path.into(),
        message: format!("{e}; remove the file to have it computed again"),
    })
}

/// The first entry in which two objects differ.
fn difference(there: &Value, here: &Value) -> String {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys());
            let differs = |name: &&String| a.get(*name) != b.get(*name);
            let Some(name) = names.into_iter().find(differs) else { return "it differs".into() };
            match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) if a.is_object() && b.is_object() => difference(a, b),
                (Some(Value::Array(_)), Some(Value::Array(_))) => format!("{name} are not the same"),
                (a, b) => {
                    let shown = |v: Option<&Value>| v.map_or("not set".to_string(), Value::to_string);
                    format!("{name} is {} there and {} here", shown(a), shown(b))
                }
            }
        }
        _ => "it differs".into(),
    }
}
