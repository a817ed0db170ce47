//! What is measured: anything that maps graphs to vectors, and our networks as one such thing.
//!
//! The protocols see two traits. A [`Subject`] makes untrained [`Instance`]s; an instance computes outputs and, for
//! `rpc`, takes a step of training. [`Network`] implements them for the networks of this crate; the Python package
//! implements them for any callable.

use super::loss::cosine_loss;
use super::suite::Suite;
use crate::error::{Error, Fits, Result};
use crate::memory::{Footprint, Pass};
use crate::preset::Preset;
use crate::session::Session;
use crate::settings::Overrides;
use ppgn_graph::encode::{Encoder, Encoding};
use ppgn_graph::{Graph, Schema};
use ppgn_nn::{
    Adam, Batch, ColouringOptions, Colours, Evaluated, Matrix, Ppgn, PpgnConfig, Precision, SpaceChoice,
    Values,
};

/// Outputs per graph of the networks that are measured, as in BREC.
pub const OUTPUTS: usize = 16;

/// The weight decay of `rpc`, which Adam adds to the gradient.
const WEIGHT_DECAY: f64 = 1e-4;

/// Something to be measured.
pub trait Subject: Sync {
    /// The names of its variants, the one that `rpc` trains first: for networks, their precisions.
    fn variants(&self) -> Vec<String>;

    /// An untrained instance with weights drawn from this seed.
    fn fresh<'a>(&'a self, session: &Session, seed: u64, variant: usize) -> Result<Box<dyn Instance + 'a>>;

    /// The rounds of the bounding test that it can follow: the blocks of a network. `None` if that is not known.
    fn depth(&self) -> Option<usize>;
}

/// A network at work.
pub trait Instance {
    /// The outputs of these graphs, `[graphs, width]` row-major. The width is the same in every call.
    fn outputs(&mut self, graphs: &[Graph]) -> Result<Vec<f64>>;

    /// One step of training with this learning rate on a batch whose graphs 2i and 2i+1 are to be distinguished; the
    /// loss before the step.
    fn step(&mut self, graphs: &[Graph], rate: f64) -> Result<f64>;
}

/// Our networks.
#[derive(Debug, Clone)]
pub struct Network {
    config: PpgnConfig,
    encoder: Encoder,
    precision: Precision,
    space: SpaceChoice,
}

impl Network {
    /// The network of a preset with these overrides, for the graphs of a suite, with 16 outputs. `auto` means the dense
    /// space, on which copies differ by rounding as the protocols suppose.
    pub fn new(preset: &str, overrides: &Overrides, suite: &Suite) -> Result<Self> {
        let graphs: Vec<Graph> = suite.graphs().cloned().collect();
        let schema = Schema::of(&graphs)?;
        let Preset { encoding, network, training } =
            overrides.apply(Preset::fitted(preset, &suite.name, &schema)?);
        let encoder = encoding.encoder(&schema)?;
        let config = PpgnConfig { inputs: encoder.channels().len(), outputs: OUTPUTS, ..network };
        config.validate()?;
        config.runs_on(training.space)?;
        let space = if training.space == SpaceChoice::Auto { SpaceChoice::Dense } else { training.space };
        Ok(Network { config, encoder, precision: training.precision, space })
    }

    /// Its configuration.
    pub fn config(&self) -> &PpgnConfig {
        &self.config
    }

    /// How graphs are encoded.
    pub fn encoding(&self) -> Encoding {
        self.encoder.encoding()
    }

    /// The precision of `rpc`.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The space it computes on.
    pub fn space(&self) -> SpaceChoice {
        self.space
    }

    /// Refuses what would need more memory than the session may take: `jobs` batches at once of the largest graph. The
    /// quotient space is admitted by the limit of its colouring.
    pub fn admit(&self, session: &Session, suite: &Suite, trains: bool, jobs: usize) -> Result<()> {
        let nodes = suite.graphs().map(Graph::nodes).max().unwrap_or(0);
        if self.space != SpaceChoice::Dense {
            return Ok(());
        }
        let (pass, graphs) = if trains { (Pass::Training, super::BATCH) } else { (Pass::Prediction, 1) };
        let precision = if trains { self.precision } else { Precision::F64 };
        let footprint = Footprint::new(&session.clone().with_threads(1)?, &self.config, precision);
        let need = footprint.bytes(pass, &footprint.dense(std::iter::repeat_n(nodes, graphs)));
        let together = need.saturating_mul(jobs as u64);
        match session.memory() {
            Some(limit) if together > limit => {
                let fits = Fits::Jobs((limit / need.max(1)) as usize);
                Err(Error::Memory { need: together, limit, graphs: jobs, nodes, fits })
            }
            _ => Ok(()),
        }
    }
}

impl Subject for Network {
    fn variants(&self) -> Vec<String> {
        let other = if self.precision == Precision::F32 { Precision::F64 } else { Precision::F32 };
        [self.precision, other].map(|precision| precision.name().to_string()).into()
    }

    fn fresh<'a>(&'a self, session: &Session, seed: u64, variant: usize) -> Result<Box<dyn Instance + 'a>> {
        let precision = self.variants()[variant].parse()?;
        let network = self.config.init(seed, precision)?.with_workspace(session.workspace());
        let parameters: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
        let adam = Adam::new(&parameters);
        Ok(Box::new(Running { of: self, session: session.clone(), network, adam, memory: Vec::new() }))
    }

    fn depth(&self) -> Option<usize> {
        Some(self.config.blocks.len())
    }
}

/// A network with its optimiser.
struct Running<'a> {
    of: &'a Network,
    session: Session,
    network: Ppgn,
    adam: Adam,
    memory: Vec<Values>,
}

impl Running<'_> {
    fn batch(&self, graphs: &[Graph]) -> Result<Batch> {
        let Network { config, encoder, space, .. } = self.of;
        let precision = self.network.precision();
        if *space == SpaceChoice::Quotient {
            let (max_memory, interrupt) = (self.session.memory(), self.session.interrupt().clone());
            let options = ColouringOptions { max_memory, interrupt, ..ColouringOptions::default() };
            let colours = Colours::of(config, encoder, graphs, precision, &options)?;
            return Ok(Batch::quotient(&colours, &(0..graphs.len()).collect::<Vec<_>>())?);
        }
        let graphs: Vec<&Graph> = graphs.iter().collect();
        Ok(Batch::of(config, encoder, &graphs, precision)?)
    }

    /// As many of these graphs at a time as fit into the caches well; a large graph goes alone.
    fn chunk(&self, graphs: &[Graph]) -> usize {
        let nodes = graphs.iter().map(Graph::nodes).max().unwrap_or(1).max(1);
        let rows = nodes.saturating_pow(self.of.config.order.max(2) as u32);
        (ROWS / rows).clamp(1, super::BATCH)
    }
}

/// Rows of a forward pass.
const ROWS: usize = 1 << 16;

impl Instance for Running<'_> {
    fn outputs(&mut self, graphs: &[Graph]) -> Result<Vec<f64>> {
        let mut outputs = Vec::with_capacity(graphs.len() * OUTPUTS);
        for part in graphs.chunks(self.chunk(graphs)) {
            outputs.extend(self.network.forward(&self.batch(part)?)?.to_f64());
        }
        match outputs.iter().position(|x| !x.is_finite()) {
            None => Ok(outputs),
            Some(place) => Err(Error::NoPrediction {
                dataset: "the copies".into(),
                graph: place / OUTPUTS,
                what: "scores",
            }),
        }
    }

    fn step(&mut self, graphs: &[Graph], rate: f64) -> Result<f64> {
        let batch = self.batch(graphs)?;
        let memory = std::mem::take(&mut self.memory);
        let mut step = self.network.backward_in(memory, &batch, |scores: &Matrix| {
            let (value, gradient) = cosine_loss(scores.columns(), &scores.to_f64());
            let gradient = Values::from_f64(scores.precision(), &gradient);
            Ok(Evaluated { value, gradient: Matrix::new(scores.rows(), scores.columns(), gradient)? })
        })?;
        let adam = &mut self.adam;
        self.network.update(|parameters| {
            decayed(&mut step.gradients, parameters, WEIGHT_DECAY);
            adam.step(parameters, &step.gradients, rate)
        })?;
        self.memory = step.gradients;
        Ok(step.loss)
    }
}

/// Weight decay as `torch.optim.Adam` has it: `g <- g + decay * p`, before the moments. (AdamW, which training uses, keeps
/// it out of them.)
pub(super) fn decayed(gradients: &mut [Values], parameters: &[Values], decay: f64) {
    for (g, p) in gradients.iter_mut().zip(parameters) {
        match (g, p) {
            (Values::F32(g), Values::F32(p)) => {
                g.iter_mut().zip(p).for_each(|(g, p)| *g += decay as f32 * p);
            }
            (Values::F64(g), Values::F64(p)) => g.iter_mut().zip(p).for_each(|(g, p)| *g += decay * p),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// torch.optim.Adam(lr=0.01, weight_decay=0.1) on sum(p^4 / 4 - p), p = (2, -0.5, 0), five steps.
    #[test]
    fn weight_decay_is_that_of_pytorchs_adam() {
        let golden = super::super::golden();
        let wanted = golden["adam"].as_array().unwrap();
        let mut p = [Values::F64(vec![2.0, -0.5, 0.0])];
        let mut adam = Adam::new(&p);
        for _ in 0..5 {
            let gradient = p[0].to_f64().iter().map(|x| x.powi(3) - 1.0).collect();
            let mut gradients = [Values::F64(gradient)];
            decayed(&mut gradients, &p, 0.1);
            adam.step(&mut p, &gradients, 0.01).unwrap();
        }
        for (got, wanted) in p[0].to_f64().iter().zip(wanted) {
            assert!((got - wanted.as_f64().unwrap()).abs() < 1e-14, "{got} {wanted}");
        }
    }
}
