//! A trained run at work: classes, probabilities or values for new graphs, and their embeddings.

use crate::data::Goal;
use crate::metrics::argmax;
use crate::run::{Run, read_settings};
use crate::settings::Settings;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Error, Graph, Result};
use ppgn_nn::{Batch, Colours, Device, Ppgn, SpaceChoice, Values};
use std::path::Path;

/// What a run says of a graph.
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
    settings: Settings,
    encoder: Encoder,
    network: Ppgn,
}

impl Predictor {
    /// Opens a run that has finished at least one epoch.
    pub fn open(run: impl AsRef<Path>) -> Result<Self> {
        let run = run.as_ref();
        let settings = read_settings(run)?;
        let model = Run::best_model(run);
        if !model.exists() {
            return Err(Error::call(format!("{} has not finished an epoch yet", run.display())));
        }
        let network = Ppgn::load(&model, &Device::default())?;
        if *network.config() != settings.network || network.precision() != settings.training.precision {
            return Err(Error::unfit(format!("{} is not the network of its config.toml", model.display())));
        }
        let encoder = settings.encoding.encoder(&settings.schema)?;
        Ok(Predictor { settings, encoder, network })
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

    /// What the run says of every graph, in order.
    pub fn predict(&self, dataset: &Dataset) -> Result<Vec<Prediction>> {
        Ok(self.scores(dataset)?.iter().map(|scores| self.interpret(scores)).collect())
    }

    fn rows(
        &self,
        dataset: &Dataset,
        compute: impl Fn(&Batch) -> Result<ppgn_nn::Tensor<2>>,
    ) -> Result<Vec<Vec<f64>>> {
        let mut rows = Vec::with_capacity(dataset.len());
        for (b, graphs) in dataset.graphs().chunks(self.settings.training.batch).enumerate() {
            let first = b * self.settings.training.batch;
            for (i, graph) in graphs.iter().enumerate() {
                self.settings.schema.check(graph).map_err(|m| {
                    Error::unfit(format!(
                        "graph {} of {} is not of the shape that the run was trained on ({}): {}",
                        first + i,
                        dataset.name(),
                        self.settings.dataset,
                        // A schema speaks of its own dataset, and that is the run's here.
                        m.replace("the dataset", "the run's data")
                    ))
                })?;
                if graph.nodes() == 0 {
                    return Err(Error::unfit(format!(
                        "graph {} of {} has no nodes",
                        first + i,
                        dataset.name()
                    )));
                }
            }
            let output = compute(&self.batch(graphs)?)?;
            let width = output.dims()[1];
            rows.extend(Values::of(output)?.to_f64().chunks(width).map(<[f64]>::to_vec));
        }
        Ok(rows)
    }

    /// These graphs as a batch. They are seen once here: colouring them is done only where it was asked for by name.
    fn batch(&self, graphs: &[Graph]) -> Result<Batch> {
        let (precision, device) = (self.settings.training.precision, self.network.device());
        match self.settings.training.space {
            SpaceChoice::Quotient => {
                let network = &self.settings.network;
                let colours = Colours::of(network, &self.encoder, graphs, precision, &Default::default())?;
                Batch::quotient(&colours, &(0..graphs.len()).collect::<Vec<_>>(), device)
            }
            SpaceChoice::Auto | SpaceChoice::Dense => {
                let graphs: Vec<&Graph> = graphs.iter().collect();
                Batch::of(&self.settings.network, &self.encoder, &graphs, precision, device)
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
