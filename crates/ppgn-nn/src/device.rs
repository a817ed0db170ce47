//! What a device must be able to do for networks to be trained and run on it, instead of on the CPU engine.
//!
//! A device keeps the weights, the optimiser's state and, where they fit, the rows of a dataset. What goes there in a step is
//! which graphs it is of and what is known of them; what comes back are their scores, which the loss and the metrics are made
//! of. Devices that share a step also exchange its gradient, through their hosts. The crate `ppgn-burn` implements this for
//! GPUs; a training loop needs no more than this file.

use crate::adam::Adam;
use crate::average::Average;
use crate::batch::Batch;
use crate::config::PpgnConfig;
use crate::dropout::Dropout;
use crate::error::Result;
use crate::loss::Terms;
use crate::matrix::Matrix;
use crate::network::Ppgn;
use crate::precision::{Precision, Values};
use std::fmt;

/// A device that networks can be loaded to.
pub trait Accelerator: fmt::Debug + Send + Sync {
    /// Its name, for people: `NVIDIA GeForce RTX 4090 (wgpu, Vulkan)`.
    fn name(&self) -> String;

    /// Whether it computes with its own hardware; false where it is software that runs on the CPU.
    fn is_hardware(&self) -> bool;

    /// An error if a network of this configuration cannot run there on graphs with these numbers of nodes together: because
    /// the device does not have the precision, or because a tensor would be larger than the device allows.
    fn check(&self, config: &PpgnConfig, precision: Precision, nodes: &[usize]) -> Result<()>;

    /// A copy of a network there. An error if the device does not have the network's precision or cannot run its model.
    fn load(&self, network: &Ppgn) -> Result<Box<dyn OnDevice>>;
}

/// The graphs of a batch, as a device takes them.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Their numbers in the dataset, if they have any: by them the device finds what it holds.
    pub graphs: &'a [u32],
    /// The batch; not needed if the device [holds](OnDevice::holds) these graphs.
    pub batch: Option<&'a Batch>,
    /// Whether the same batch comes again, so that it is worth keeping.
    pub again: bool,
}

/// A forward and a backward pass on a batch.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// The batch.
    pub input: Input<'a>,
    /// What is known of it.
    pub terms: &'a Terms,
    /// What is dropped, if anything.
    pub dropout: Option<Dropout<'a>>,
}

/// What comes back of the passes.
#[derive(Debug, Clone)]
pub struct Passed {
    /// The scores, as of [`Ppgn::forward`].
    pub scores: Matrix,
    /// The gradient of the loss, one entry per array of the layout.
    pub gradients: Vec<Values>,
}

/// A step of training.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// Its passes.
    pub pass: Pass<'a>,
    /// The learning rate.
    pub rate: f64,
    /// The largest norm of the gradient; 0 for none.
    pub clip: f64,
}

/// What comes back of a step.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// The scores before the step, as of [`Ppgn::forward`].
    pub scores: Matrix,
    /// The sum of the squares of the gradient, before it is clipped.
    pub squares: f64,
}

/// The state of a training, as checkpoints have it.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The weights, one entry per array of the layout.
    pub weights: Vec<Values>,
    /// The optimiser.
    pub adam: Adam,
    /// The averaged weights, if they are kept.
    pub average: Option<Average>,
}

/// A network on a device.
pub trait OnDevice: Send {
    /// Offers the dense rows of all graphs of a dataset, graph by graph, with their numbers of nodes; the device takes them if
    /// they fit, and says whether it did. `rows` is called once per graph, in order.
    fn hold(&mut self, nodes: &[usize], rows: &mut dyn FnMut(usize) -> Result<Batch>) -> Result<bool>;

    /// Whether it can make the batch of these graphs by itself.
    fn holds(&self, graphs: &[u32]) -> bool;

    /// Takes over a training: the optimiser, and the averaged weights if there are any.
    fn begin(&mut self, adam: &Adam, average: Option<&Average>) -> Result<()>;

    /// One step of training, for a device that trains alone: the gradient stays there. If the sum of its squares is not
    /// finite, the weights are lost.
    fn step(&mut self, step: &Training<'_>) -> Result<Stepped>;

    /// The first half of a step that several devices share: the gradient of this one's part of the batch. Nothing changes.
    fn gradients(&mut self, pass: &Pass<'_>) -> Result<Passed>;

    /// The second half: the optimiser's step along a gradient, which may be the sum of several, with this learning rate.
    fn apply(&mut self, gradients: &[Values], rate: f64) -> Result<()>;

    /// The state of the training.
    fn state(&self) -> Result<Trained>;

    /// The scores of a batch: see [`Ppgn::forward`]; with the averaged weights if `averaged`.
    fn forward(&mut self, input: &Input<'_>, averaged: bool) -> Result<Matrix>;

    /// The pooled features of a batch: see [`Ppgn::embed`].
    fn embed(&mut self, batch: &Batch) -> Result<Matrix>;

    /// What was sent to the device and came back since the last call, one line per kind, for people.
    fn transfers(&self) -> String;
}
