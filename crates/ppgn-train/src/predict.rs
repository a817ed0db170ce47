//! A trained run at work: classes, probabilities or values for new graphs, and their embeddings.

use crate::data::{Goal, no_empty_graph};
use crate::error::{Error, Result};
use crate::memory::check_prediction;
use crate::metrics::argmax;
use crate::run::{Run, exists, read_settings};
use crate::session::Session;
use crate::settings::Settings;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{Batch, ColouringOptions, Colours, Matrix, Ppgn, SpaceChoice};
use std::path::Path;

/// The prediction for a graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Prediction {
    /// A class, by its original label, and the probability of every class.
    Class {
        /// The most probable class.
        class: i64,
        /// In the order of the run's classes.
        probabilities: Vec<f64>,
    },
    /// The targets' values, in their own units.
    Values(Vec<f64>),
}

/// The best network of a run, with everything that it takes to use it.
#[derive(Debug)]
pub struct Predictor {
    session: Session,
    settings: Settings,
    encoder: Encoder,
    network: Ppgn,
}

impl Predictor {
    /// Opens a run that has finished at least one epoch.
    pub fn open(session: &Session, run: impl AsRef<Path>) -> Result<Self> {
        let run = run.as_ref();
        let settings = read_settings(run)?;
        let model = Run::best_model(run);
        if !exists(&model)? {
            return Err(Error::NoNetwork { path: run.to_path_buf() });
        }
        let network = Ppgn::load(&model)?.with_workspace(session.workspace());
        if *network.config() != settings.network || network.precision() != settings.training.precision {
            return Err(Error::Run {
                path: model,
                message: "not the network of the run's config.toml".into(),
            });
        }
        let encoder = settings.encoding.encoder(&settings.schema)?;
        Ok(Predictor { session: session.clone(), settings, encoder, network })
    }

    /// What the run is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The raw outputs of every graph, in order.
    pub fn scores(&self, dataset: &Dataset) -> Result<Vec<Vec<f64>>> {
        self.rows(dataset, |batch| self.network.forward(batch))
    }

    /// The pooled features of every graph, in order.
    pub fn embed(&self, dataset: &Dataset) -> Result<Vec<Vec<f64>>> {
        self.rows(dataset, |batch| self.network.embed(batch))
    }

    /// The prediction for every graph, in order.
    pub fn predict(&self, dataset: &Dataset) -> Result<Vec<Prediction>> {
        Ok(self.scores(dataset)?.iter().map(|scores| self.interpret(scores)).collect())
    }

    fn rows(
        &self,
        dataset: &Dataset,
        compute: impl Fn(&Batch) -> ppgn_nn::Result<Matrix> + Sync,
    ) -> Result<Vec<Vec<f64>>> {
        self.fits(dataset)?;
        let training = &self.settings.training;
        if training.space != SpaceChoice::Quotient {
            check_prediction(
                &self.session,
                &self.settings.network,
                training.precision,
                dataset,
                training.batch,
            )?;
        }
        self.session.install(|| {
            let mut rows = Vec::with_capacity(dataset.len());
            for graphs in dataset.graphs().chunks(self.settings.training.batch) {
                self.session.check()?;
                let output = compute(&self.batch(graphs)?)?;
                let width = output.columns();
                rows.extend(output.to_f64().chunks(width).map(<[f64]>::to_vec));
            }
            Ok(rows)
        })
    }

    /// Whether all graphs have the features of those that the run was trained on; what is wrong otherwise.
    fn fits(&self, dataset: &Dataset) -> Result<()> {
        for (number, graph) in dataset.graphs().iter().enumerate() {
            self.settings.schema.check(graph).map_err(|message| {
                ppgn_graph::Error::unfit(format!(
                    "graph {number} of {} does not fit the dataset that the run was trained on ({}): {message}",
                    dataset.name(),
                    self.settings.dataset,
                ))
            })?;
        }
        no_empty_graph(dataset)
    }

    /// These graphs as a batch. They are seen once here: colouring them is done only where it was asked for by name.
    fn batch(&self, graphs: &[Graph]) -> Result<Batch> {
        let precision = self.settings.training.precision;
        let network = &self.settings.network;
        match self.settings.training.space {
            SpaceChoice::Quotient => {
                let interrupt = self.session.interrupt().clone();
                let max_memory = self.session.memory();
                let options = ColouringOptions { max_memory, interrupt, ..ColouringOptions::default() };
                let colours = Colours::of(network, &self.encoder, graphs, precision, &options)?;
                Ok(Batch::quotient(&colours, &(0..graphs.len()).collect::<Vec<_>>())?)
            }
            SpaceChoice::Auto | SpaceChoice::Dense => {
                let graphs: Vec<&Graph> = graphs.iter().collect();
                Ok(Batch::of(network, &self.encoder, &graphs, precision)?)
            }
        }
    }

    fn interpret(&self, scores: &[f64]) -> Prediction {
        match &self.settings.goal {
            Goal::Classes(classes) => {
                Prediction::Class { class: classes[argmax(scores)], probabilities: softmax(scores) }
            }
            Goal::Targets(_) => Prediction::Values(
                scores.iter().zip(&self.settings.scaling).map(|(x, s)| x * s.deviation + s.mean).collect(),
            ),
        }
    }
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    let total: f64 = exponentials.iter().sum();
    exponentials.iter().map(|e| e / total).collect()
}
