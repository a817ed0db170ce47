//! A trained run at work: classes, probabilities or values for new graphs, and their embeddings.

use crate::data::{Goal, no_empty_graph, representable};
use crate::error::{Error, Result};
use crate::items::Items;
use crate::memory::{admit, check_prediction};
use crate::metrics::{argmax, sigmoid, softmax};
use crate::remote::Remote;
use crate::run::{Run, Warning, exists, read_best, read_config, read_state};
use crate::session::Session;
use crate::settings::{Learned, Settings};
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::compile;
use ppgn_nn::{Batch, ColouringOptions, Colours, Level, Matrix, Ppgn, SpaceChoice};
use ppgn_wl::Interrupt;
use std::path::Path;
use std::sync::Arc;

/// The prediction for a graph, a node or a pair of nodes.
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
    /// The probability of every label.
    Labels(Vec<f64>),
}

/// The best network of a run, with everything that it takes to use it.
#[derive(Debug, Clone)]
pub struct Predictor {
    session: Session,
    settings: Settings,
    encoder: Encoder,
    network: Ppgn,
    /// It on the session's device, if there is one.
    remote: Option<Arc<Remote>>,
    warnings: Vec<Warning>,
}

impl Predictor {
    /// Opens a run that has finished at least one epoch. Its network and settings must be as they were written.
    pub fn open(session: &Session, run: impl AsRef<Path>) -> Result<Self> {
        let run = run.as_ref();
        let (settings, digest) = read_config(run)?;
        let model = Run::best_model(run);
        if !exists(&model)? {
            return Err(match read_state(run)? {
                None => Error::NoNetwork { path: run.to_path_buf() },
                Some(_) => {
                    Error::Run { path: model, message: "it is missing; restore it from a copy".into() }
                }
            });
        }
        let best = read_best(run, &settings)?.of_settings(run, &digest)?;
        let network = best.network.with_workspace(session.workspace());
        let encoder = settings.encoding.encoder(&settings.schema)?;
        let warnings = best.warning.into_iter().collect();
        let remote = Remote::load(session, &network)?.map(Arc::new);
        Ok(Predictor { session: session.clone(), settings, encoder, network, remote, warnings })
    }

    /// The same network, stopped by this interrupt instead of the session's: for one call of several. The weights are
    /// copied.
    pub fn stopped_by(&self, interrupt: &Interrupt) -> Self {
        let session = self.session.clone().with_interrupt(interrupt.clone());
        let network = self.network.clone().with_workspace(session.workspace());
        Predictor { session, network, ..self.clone() }
    }

    /// The same with predictions for all pairs of nodes, also those of a kind that was not learned (between nodes without an
    /// edge, say). It changes nothing where graphs or nodes have outputs.
    pub fn for_all_pairs(mut self) -> Self {
        self.settings.pairs = Learned::All;
        self
    }

    /// The network.
    pub fn network(&self) -> &Ppgn {
        &self.network
    }

    /// How graphs become the network's rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// What could not be verified about the run.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What the run is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The raw outputs of every graph, node or pair, in the order of [`Items`]; [`Error::NoPrediction`] where one is not finite.
    pub fn scores(&self, dataset: &Dataset) -> Result<Vec<Vec<f64>>> {
        let (level, pairs) = (self.settings.network.level, self.settings.pairs);
        self.rows(dataset, "scores", level, pairs, |batch| match &self.remote {
            Some(remote) => remote.forward(batch),
            None => self.network.forward(batch),
        })
    }

    /// The pooled features of every graph, in order; [`Error::NoPrediction`] where one is not finite.
    pub fn embed(&self, dataset: &Dataset) -> Result<Vec<Vec<f64>>> {
        self.rows(dataset, "features", Level::Graph, Learned::All, |batch| match &self.remote {
            Some(remote) => remote.embed(batch),
            None => self.network.embed(batch),
        })
    }

    /// The prediction for every graph, node or pair that was learned, in the order of [`Items`].
    pub fn predict(&self, dataset: &Dataset) -> Result<Vec<Prediction>> {
        let mut predictions: Vec<Prediction> =
            self.scores(dataset)?.iter().map(|scores| self.interpret(scores)).collect();
        for (prediction, reference) in predictions.iter_mut().zip(self.settings.references(dataset)?) {
            if let Prediction::Values(values) = prediction {
                values.iter_mut().zip(reference).for_each(|(value, part)| *value += part);
            }
        }
        // Finite scores may have values that are not, in their own units.
        let lost = |prediction: &Prediction| matches!(prediction, Prediction::Values(v) if !all_finite(v));
        match predictions.iter().position(lost) {
            Some(row) => Err(no_prediction(dataset, self.items(dataset)?.graph(row), "values")),
            None => Ok(predictions),
        }
    }

    /// What is predicted for in a dataset.
    pub fn items(&self, dataset: &Dataset) -> Result<Items> {
        let dataset = self.settings.taken(dataset)?;
        Ok(Items::new(&dataset, self.settings.network.level, self.settings.pairs))
    }

    fn rows(
        &self,
        dataset: &Dataset,
        what: &'static str,
        level: Level,
        pairs: Learned,
        compute: impl Fn(&Batch) -> ppgn_nn::Result<Matrix> + Sync,
    ) -> Result<Vec<Vec<f64>>> {
        let taken = self.settings.taken(dataset)?;
        let dataset = &taken.aligned(&self.settings.schema).map_err(|error| self.unfit(dataset, &error))?;
        self.fits(dataset)?;
        let training = &self.settings.training;
        let space = self.space(dataset.graphs());
        if space != SpaceChoice::Quotient {
            check_prediction(
                &self.session,
                &self.settings.network,
                training.precision,
                dataset,
                training.batch,
            )?;
        }
        self.session.install(|| {
            let items = Items::new(dataset, level, pairs);
            self.admit(dataset, &items)?;
            let mut rows = Vec::with_capacity(items.len());
            let mut first = 0;
            for graphs in dataset.graphs().chunks(self.settings.training.batch) {
                self.session.check()?;
                let output = compute(&self.batch(space, graphs)?)?;
                let (width, numbers) = (output.columns(), output.to_f64());
                let mut start = 0;
                for (i, graph) in graphs.iter().enumerate() {
                    for place in items.places(first + i) {
                        let row = &numbers[(start + place) * width..][..width];
                        if !all_finite(row) {
                            return Err(no_prediction(dataset, first + i, what));
                        }
                        rows.push(row.to_vec());
                    }
                    start += level.items(graph.nodes());
                }
                first += graphs.len();
            }
            Ok(rows)
        })
    }

    /// An error if the rows of nodes or pairs would take more memory than there is: numbers, and their text.
    fn admit(&self, dataset: &Dataset, items: &Items) -> Result<()> {
        if items.level() == Level::Graph {
            return Ok(());
        }
        let row = 96.0 + 48.0 * self.settings.network.outputs as f64;
        let largest = dataset.graphs().iter().map(Graph::nodes).max().unwrap_or(0);
        let order = if items.level() == Level::Pair { 2 } else { 1 };
        admit(&self.session, items.len() as f64 * row, dataset.len(), largest, order)
    }

    fn unfit(&self, dataset: &Dataset, what: &dyn std::fmt::Display) -> Error {
        ppgn_graph::Error::unfit(format!(
            "{} does not fit the dataset that the run was trained on ({}): {what}",
            dataset.name(),
            self.settings.dataset,
        ))
        .into()
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
        no_empty_graph(dataset)?;
        representable(&self.encoder, dataset, self.settings.training.precision)
    }

    /// The space to compute on. Graphs are seen once here: colouring them is done only where it was asked for by name, and
    /// for compiled networks, whose hidden layers may have thousands of channels.
    fn space(&self, graphs: &[Graph]) -> SpaceChoice {
        let chosen = self.settings.training.space;
        let compiled = chosen == SpaceChoice::Auto && self.settings.compilation().is_some();
        match compiled && compile::prefers_quotient(&self.settings.network, graphs) {
            true => SpaceChoice::Quotient,
            false => chosen,
        }
    }

    /// These graphs as a batch.
    fn batch(&self, space: SpaceChoice, graphs: &[Graph]) -> Result<Batch> {
        let precision = self.settings.training.precision;
        let network = &self.settings.network;
        match space {
            SpaceChoice::Quotient => {
                let interrupt = self.session.interrupt().clone();
                let max_memory = self.session.memory();
                let options = ColouringOptions { max_memory, interrupt, ..ColouringOptions::default() };
                let colours = Colours::of(network, &self.encoder, graphs, precision, &options)?;
                let all: Vec<usize> = (0..graphs.len()).collect();
                Ok(Batch::quotient_for(network.level, &colours, &all)?)
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
            Goal::Labels(_) => Prediction::Labels(scores.iter().map(|&score| sigmoid(score)).collect()),
            Goal::Targets(_) => Prediction::Values(
                scores.iter().zip(&self.settings.scaling).map(|(x, s)| x * s.deviation + s.mean).collect(),
            ),
        }
    }
}

fn all_finite(row: &[f64]) -> bool {
    row.iter().all(|x| x.is_finite())
}

fn no_prediction(dataset: &Dataset, graph: usize, what: &'static str) -> Error {
    Error::NoPrediction { dataset: dataset.name().to_string(), graph, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::generate::generate;

    /// The two spaces agree to the bit, and which one a compiled network takes depends on its size.
    #[test]
    fn compiled_networks_compute_the_same_on_both_spaces() {
        let data = generate("cfi:base=grid2x3").unwrap();
        let colours =
            ppgn_wl::refine(data.graphs(), ppgn_wl::Test::fwl(2).unwrap(), &Default::default()).unwrap();
        let compiled =
            compile::compile(data.graphs(), data.schema(), &colours, &compile::Options::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("net");
        let settings = Settings::compiled("2-fwl", &data, &compiled).unwrap();
        Run::import(&out, settings, &compiled.network().unwrap()).unwrap();
        let predictor = Predictor::open(&Session::default(), &out).unwrap();
        for space in [SpaceChoice::Auto, SpaceChoice::Dense, SpaceChoice::Quotient] {
            let mut other = predictor.clone();
            other.settings.training.space = space;
            assert_eq!(other.scores(&data).unwrap(), compiled.scores, "{space:?}");
        }
        assert_eq!(predictor.space(data.graphs()), SpaceChoice::Auto);
        let hidden: usize = compiled.config.blocks.iter().flat_map(|b| b.hidden.iter().flatten()).sum();
        let many = 10_000_000_000 / (hidden * data.graph(0).nodes().pow(2)) + 1;
        assert_eq!(predictor.space(&vec![data.graph(0).clone(); many]), SpaceChoice::Quotient);
    }
}
