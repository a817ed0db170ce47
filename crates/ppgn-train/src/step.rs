//! One step of training on the CPU engine: forward and backward pass on a batch, then the optimiser.

use crate::data::Prepared;
use crate::error::Result;
use crate::ranks::Team;
use crate::run::arrays;
use crate::settings::Training;
use ppgn_nn::{Adam, Average, Batch, Dropout, Matrix, Ppgn, Values, clip};

/// The optimiser of a run, before its first step.
pub(crate) fn optimiser(training: &Training, network: &Ppgn) -> Result<Adam> {
    let adam = Adam::new(&arrays(network)?);
    Ok(Adam { weight_decay: training.weight_decay, ..adam })
}

/// Clips the gradient of a step, if that is asked for. Whether the step can be taken: it cannot where the loss or its gradient is
/// not finite.
pub(crate) fn clipped(training: &Training, loss: f64, gradients: &mut [Values]) -> bool {
    loss.is_finite()
        && gradients.iter().all(Values::is_finite)
        && (training.clip <= 0.0 || clip(gradients, training.clip).is_finite())
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
    /// The ranks that share the step, if there are several.
    pub(crate) team: Option<&'a Team>,
}

impl Stepper<'_> {
    /// Trains on one batch of these graphs, the step of this number in the epoch, and gives its loss and scores; nothing, and no change, where the loss or its
    /// gradient is not finite. Among several ranks the graphs are this rank's share of the batch, which may be empty, and the loss
    /// is that of all.
    pub(crate) fn step(
        &mut self,
        number: usize,
        batch: Option<&Batch>,
        chosen: &[u32],
    ) -> Result<Option<(f64, Vec<f64>)>> {
        let memory = std::mem::take(&mut self.memory);
        let mut step = match self.team {
            None => self.passes(number, batch, chosen, memory, None)?,
            Some(team) => self.together(team, number, batch, chosen, memory)?,
        };
        if !clipped(self.training, step.loss, &mut step.gradients) {
            return Ok(None);
        }
        self.network.update(|parameters| {
            self.adam.step(parameters, &step.gradients, self.rate)?;
            self.average.as_mut().map_or(Ok(()), |average| average.update(parameters, self.adam.steps))
        })?;
        self.memory = step.gradients;
        Ok(Some((step.loss, step.scores)))
    }

    /// The forward and the backward pass; with `ready`, the gradients are handed out as they are complete. Without a batch
    /// there is nothing to do.
    fn passes(
        &self,
        number: usize,
        batch: Option<&Batch>,
        chosen: &[u32],
        memory: Vec<Values>,
        ready: Option<&mut (dyn FnMut(usize, Values) + Send)>,
    ) -> Result<Passes> {
        let Some(batch) = batch else { return Ok(Passes::default()) };
        let loss = |scores: &Matrix| self.prepared.loss(scores, chosen);
        let (seed, epoch, step) = (self.seed, self.epoch as u64, number as u64);
        let probability = self.training.dropout;
        let dropout = Dropout { probability, seed, epoch, step, graphs: chosen };
        let dropout = Some(dropout).filter(|_| probability > 0.0);
        let step = match ready {
            None => self.network.backward_dropped(memory, batch, dropout, loss)?,
            Some(ready) => self.network.backward_each(memory, batch, dropout, loss, ready)?,
        };
        let scores = self.prepared.of_rows(chosen, step.scores.to_f64());
        Ok(Passes { loss: step.loss, scores, gradients: step.gradients })
    }

    /// The passes on this rank's share, and the gradients and the loss of all ranks. The gradient of a block is on its way to the
    /// others while those of the blocks before it are computed.
    fn together(
        &self,
        team: &Team,
        number: usize,
        batch: Option<&Batch>,
        chosen: &[u32],
        memory: Vec<Values>,
    ) -> Result<Passes> {
        let mut first = None;
        let ready = &mut |array: usize, gradient: Values| match array {
            // The last of all takes the loss along.
            0 => first = Some(gradient),
            _ => team.submit(gradient, 0.0),
        };
        let own = self.passes(number, batch, chosen, memory, Some(ready))?;
        match first {
            Some(gradient) => team.submit(gradient, own.loss),
            // There was no batch.
            None => team.submit_nothing(),
        }
        let (gradients, loss) = team.summed()?;
        Ok(Passes { loss, scores: own.scores, gradients })
    }
}

/// What the passes of a step give.
#[derive(Default)]
struct Passes {
    loss: f64,
    /// The scores of what counts, row by row.
    scores: Vec<f64>,
    gradients: Vec<Values>,
}
