//! Several runs of one network as one predictor: their predictions averaged.

use crate::data::{Goal, limited};
use crate::error::{Error, Result};
use crate::metrics::argmax;
use crate::predict::{Prediction, Predictor};
use crate::run::{Run, Warning};
use crate::session::Session;
use crate::settings::Settings;
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One run, or the runs of several seeds: what predictions are asked of.
#[derive(Debug)]
pub struct Ensemble {
    members: Vec<Predictor>,
    /// What the baseline predicts for every graph, where it is known.
    baseline: Option<Vec<f64>>,
}

/// The part of `seeds.json` that says where the runs are.
#[derive(Deserialize)]
struct SeedsFile {
    runs: Vec<SeedsRun>,
}

#[derive(Deserialize)]
struct SeedsRun {
    run: String,
}

/// The file that lists the runs of several seeds, in the folder that holds them.
pub(crate) const SEEDS: &str = "seeds.json";

impl Ensemble {
    /// Opens a run, or a folder with the runs of several seeds (`seeds.json`).
    pub fn open(session: &Session, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let list = path.join(SEEDS);
        if path.join("config.toml").exists() || !list.exists() {
            return Ensemble::of(session, vec![path.to_path_buf()]);
        }
        let damaged =
            |e: String| Error::Run { path: list.clone(), message: format!("not a list of runs: {e}") };
        let bytes = ppgn_graph::file::read_whole(&list)?;
        let file: SeedsFile = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        let runs = file.runs.iter().map(|run| path.join(&run.run));
        Ensemble::of(session, runs.collect())
    }

    /// The runs in these folders, which must predict the same from the same features.
    pub fn of(session: &Session, runs: Vec<PathBuf>) -> Result<Self> {
        let members: Vec<Predictor> =
            runs.iter().map(|run| Predictor::open(session, run)).collect::<Result<_>>()?;
        let Some(first) = members.first() else {
            return Err(Error::settings("there is no run to predict with"));
        };
        let same = |a: &Settings, b: &Settings| {
            (&a.goal, &a.schema, a.network.level, &a.columns, a.pairs)
                == (&b.goal, &b.schema, b.network.level, &b.columns, b.pairs)
        };
        if let Some(i) = members.iter().position(|m| !same(m.settings(), first.settings())) {
            let message = "it does not predict what the other runs predict".into();
            return Err(Error::Run { path: runs[i].clone(), message });
        }
        let baseline = baseline(&runs[0], first.settings());
        Ok(Ensemble { members, baseline })
    }

    /// The predictors whose predictions are averaged.
    pub fn members(&self) -> &[Predictor] {
        &self.members
    }

    /// What the baseline, which looks at no graph, predicts for every graph: the shares of the classes in the training set, or
    /// the mean of every target over it. `None` where the run is not finished, or was not trained here.
    pub fn baseline(&self) -> Option<&[f64]> {
        self.baseline.as_deref()
    }

    /// The settings of the first run.
    pub fn settings(&self) -> &Settings {
        self.members[0].settings()
    }

    /// What could not be verified about the runs.
    pub fn warnings(&self) -> Vec<Warning> {
        self.members.iter().flat_map(|m| m.warnings().to_vec()).collect()
    }

    /// The prediction for every graph (node, pair), in order: the mean of the members' probabilities, and the most probable class by that
    /// mean; or the mean of their values.
    pub fn predict(&self, dataset: &Dataset) -> Result<Vec<Prediction>> {
        let all: Vec<Vec<Prediction>> =
            self.members.iter().map(|member| member.predict(dataset)).collect::<Result<_>>()?;
        if let [_] = all.as_slice() {
            return Ok(all.into_iter().flatten().collect());
        }
        let mean = |item: usize| {
            let rows: Vec<&[f64]> = all.iter().map(|rows| rows[item].numbers()).collect();
            let n = rows.len() as f64;
            (0..rows[0].len()).map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / n).collect::<Vec<f64>>()
        };
        Ok((0..all[0].len()).map(|item| all[0][item].with(mean(item), &self.settings().goal)).collect())
    }

    /// The dataset that the runs were trained on, if `dataset` is it: all of it, or the graphs that the seed drew. And how
    /// it was split.
    pub fn training_data(&self, dataset: &Dataset) -> Result<Option<(Dataset, Split)>> {
        let settings = self.settings();
        let Some(trained) = settings.trained() else { return Ok(None) };
        let data = limited(dataset, trained.limit, settings.training.seed)?;
        match data.digest() == trained.digest {
            true => {
                let split = trained.split(&data, settings.training.seed)?;
                Ok(Some((data, split)))
            }
            false => Ok(None),
        }
    }
}

fn baseline(run: &Path, settings: &Settings) -> Option<Vec<f64>> {
    settings.trained()?;
    match &settings.goal {
        Goal::Classes(_) => {
            let sets = Run::summary(run).ok()??.sets?;
            let counts: Vec<u64> = sets.train?.confusion.iter().map(|row| row.iter().sum()).collect();
            let all: u64 = counts.iter().sum();
            (all > 0).then(|| counts.iter().map(|&count| count as f64 / all as f64).collect())
        }
        // The summary does not have the shares of labels.
        Goal::Labels(_) => None,
        Goal::Targets(_) => Some(settings.scaling.iter().map(|s| s.mean).collect()),
    }
}

impl Prediction {
    /// The probabilities or values.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Prediction::Class { probabilities, .. } => probabilities,
            Prediction::Values(values) | Prediction::Labels(values) => values,
        }
    }

    /// The prediction with other numbers.
    fn with(&self, numbers: Vec<f64>, goal: &Goal) -> Self {
        match (self, goal) {
            (Prediction::Class { .. }, Goal::Classes(classes)) => {
                Prediction::Class { class: classes[argmax(&numbers)], probabilities: numbers }
            }
            (Prediction::Labels(_), _) => Prediction::Labels(numbers),
            _ => Prediction::Values(numbers),
        }
    }
}
