//! One step of training: forward and backward pass on a batch, then the optimiser.

use crate::data::Prepared;
use crate::error::Result;
use crate::run::arrays;
use crate::settings::Training;
use ppgn_nn::{Adam, Average, Batch, Dropout, Matrix, Ppgn, Values, clip};

/// The optimiser of a run, before its first step.
pub(crate) fn optimiser(training: &Training, network: &Ppgn) -> Result<Adam> {
    let adam = Adam::new(&arrays(network)?);
    Ok(Adam { weight_decay: training.weight_decay, ..adam })
}

/// A network that is being trained.
pub(crate) struct Stepper<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) training: &'a Training,
    pub(crate) network: &'a mut Ppgn,
    pub(crate) adam: &'a mut Adam,
    /// The averaged weights, if they are asked for.
    pub(crate) average: Option<&'a mut Average>,
    /// The learning rate.
    pub(crate) rate: f64,
    /// The seed of dropout, and the epoch.
    pub(crate) seed: u64,
    pub(crate) epoch: usize,
    /// For the gradients, used again from step to step.
    pub(crate) memory: Vec<Values>,
}

impl Stepper<'_> {
    /// Trains on one batch of these graphs, the step of this number in the epoch, and gives its loss and scores; nothing, and no change, where the loss or its
    /// gradient is not finite.
    pub(crate) fn step(
        &mut self,
        number: usize,
        batch: &Batch,
        chosen: &[u32],
    ) -> Result<Option<(f64, Matrix)>> {
        let memory = std::mem::take(&mut self.memory);
        let loss = |scores: &Matrix| self.prepared.loss(scores, chosen);
        let (seed, epoch, step) = (self.seed, self.epoch as u64, number as u64);
        let probability = self.training.dropout;
        let dropout = Dropout { probability, seed, epoch, step, graphs: chosen };
        let dropout = Some(dropout).filter(|_| probability > 0.0);
        let mut step = self.network.backward_dropped(memory, batch, dropout, loss)?;
        if !step.loss.is_finite() || !step.gradients.iter().all(Values::is_finite) {
            return Ok(None);
        }
        if self.training.clip > 0.0 && !clip(&mut step.gradients, self.training.clip).is_finite() {
            return Ok(None);
        }
        self.network.update(|parameters| {
            self.adam.step(parameters, &step.gradients, self.rate)?;
            self.average.as_mut().map_or(Ok(()), |average| average.update(parameters, self.adam.steps))
        })?;
        self.memory = step.gradients;
        Ok(Some((step.loss, step.scores)))
    }
}
