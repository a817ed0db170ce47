//! One step of training on the CPU engine: forward and backward pass on a batch, then the optimiser.
//!
//! The passes are made [half by half](crate::share), which makes the sum of the gradients the same on several ranks.

use crate::data::Prepared;
use crate::error::Result;
use crate::ranks::Team;
use crate::run::arrays;
use crate::settings::Training;
use crate::share::{Halves, halves};
use ppgn_nn::{Adam, Average, Dropout, Matrix, Ppgn, Values, clip};
use std::sync::{Mutex, PoisonError};

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
    /// The ranks that share the step, if there are several.
    pub(crate) team: Option<&'a Team>,
    /// For gradients, used again from step to step.
    pub(crate) memory: Memory,
}

/// As many gradients as are kept for their memory: a rank whose shares are empty takes none.
const MEMORIES: usize = 16;

/// The memory of gradients that are not needed any more.
#[derive(Default)]
pub(crate) struct Memory(Mutex<Vec<Vec<Values>>>);

impl Memory {
    fn take(&self) -> Vec<Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, gradients: Vec<Values>) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() < MEMORIES {
            memory.push(gradients);
        }
    }
}

/// Takes the gradient of an array of the layout, by its number, when it is complete.
type Ready<'a> = &'a mut (dyn FnMut(usize, Values) + Send);

impl Stepper<'_> {
    /// Trains on one batch of these graphs, the step of this number in the epoch, and gives its loss and scores; nothing, and no
    /// change, where the loss or its gradient is not finite. Among several ranks the graphs are this rank's share of the batch,
    /// which may be empty, and the loss is that of all.
    pub(crate) fn step(&mut self, number: usize, chosen: &[u32]) -> Result<Option<(f64, Vec<f64>)>> {
        let work = Work {
            prepared: self.prepared,
            network: self.network,
            probability: self.training.dropout,
            at: (self.seed, self.epoch as u64, number as u64),
            memory: &self.memory,
        };
        let mut step = match self.team {
            None => work.passes(chosen, 0)?,
            Some(team) => work.together(team, chosen)?,
        };
        if !clipped(self.training, step.loss, &mut step.gradients) {
            return Ok(None);
        }
        self.network.update(|parameters| {
            self.adam.step(parameters, &step.gradients, self.rate)?;
            self.average.as_mut().map_or(Ok(()), |average| average.update(parameters, self.adam.steps))
        })?;
        self.memory.give(step.gradients);
        Ok(Some((step.loss, step.scores)))
    }
}

/// The forward and backward passes of a step.
struct Work<'a> {
    prepared: &'a Prepared,
    network: &'a Ppgn,
    /// Of dropout, with its seed, the epoch and the step.
    probability: f64,
    at: (u64, u64, u64),
    memory: &'a Memory,
}

impl Work<'_> {
    /// The passes on what so many halvings have left of a batch: on its halves side by side, and so on.
    fn passes(&self, chosen: &[u32], halvings: u32) -> Result<Passes> {
        let Some(halves) = halves(self.prepared, chosen, halvings) else { return self.at_once(chosen, None) };
        let of_half = |half: usize| self.passes(&halves.graphs[half], halvings + 1);
        let (first, second) = rayon::join(|| of_half(0), || of_half(1));
        let (mut first, second) = (first?, second?);
        first.gradients.iter_mut().zip(&second.gradients).for_each(|(sum, other)| sum.add(other));
        self.memory.give(second.gradients);
        let scores = self.in_order(chosen, &halves, [&first.scores, &second.scores]);
        Ok(Passes { loss: first.loss + second.loss, scores, gradients: first.gradients })
    }

    /// The same, handing out each sum of gradients when it is complete: while the last part is still under way.
    fn passes_each(&self, chosen: &[u32], halvings: u32, ready: Ready<'_>) -> Result<Passes> {
        let Some(halves) = halves(self.prepared, chosen, halvings) else {
            return self.at_once(chosen, Some(ready));
        };
        let first = self.passes(&halves.graphs[0], halvings + 1)?;
        let second = self.passes_each(&halves.graphs[1], halvings + 1, &mut |array, mut gradient| {
            gradient.add(&first.gradients[array]);
            ready(array, gradient);
        })?;
        let scores = self.in_order(chosen, &halves, [&first.scores, &second.scores]);
        self.memory.give(first.gradients);
        Ok(Passes { loss: first.loss + second.loss, scores, gradients: Vec::new() })
    }

    /// The scores of both halves, in the order of the graphs.
    fn in_order(&self, chosen: &[u32], halves: &Halves, scores: [&[f64]; 2]) -> Vec<f64> {
        let width = self.prepared.goal.outputs();
        let mut of_graphs: Vec<&[f64]> = vec![&[]; chosen.len()];
        for (places, mut scores) in halves.places.iter().zip(scores) {
            for &place in places {
                let rest;
                (of_graphs[place], rest) = scores.split_at(self.prepared.rows(&[chosen[place]]) * width);
                scores = rest;
            }
        }
        of_graphs.concat()
    }

    /// The forward and the backward pass on these graphs together; with `ready`, the gradients are handed out as they are
    /// complete.
    fn at_once(&self, chosen: &[u32], ready: Option<Ready<'_>>) -> Result<Passes> {
        let batch = self.prepared.batch(chosen)?;
        let loss = |scores: &Matrix| self.prepared.loss(scores, chosen);
        let (probability, (seed, epoch, step)) = (self.probability, self.at);
        let dropout = Dropout { probability, seed, epoch, step, graphs: chosen };
        let dropout = Some(dropout).filter(|_| probability > 0.0);
        let memory = self.memory.take();
        let step = match ready {
            None => self.network.backward_dropped(memory, &batch, dropout, loss)?,
            Some(ready) => self.network.backward_each(memory, &batch, dropout, loss, ready)?,
        };
        let scores = self.prepared.of_rows(chosen, step.scores.to_f64());
        Ok(Passes { loss: step.loss, scores, gradients: step.gradients })
    }

    /// The passes on this rank's share, and the gradients and the loss of all ranks. The gradient of a block is on its way to the
    /// others while those of the blocks before it are computed.
    fn together(&self, team: &Team, share: &[u32]) -> Result<Passes> {
        if share.is_empty() {
            team.submit_nothing();
            let (gradients, loss) = team.summed()?;
            return Ok(Passes { loss, scores: Vec::new(), gradients });
        }
        let mut first = None;
        let own = self.passes_each(share, team.halvings(), &mut |array, gradient| match array {
            // The last of all takes the loss along.
            0 => first = Some(gradient),
            _ => team.submit(gradient, None),
        })?;
        if let Some(gradient) = first {
            team.submit(gradient, Some(own.loss));
        }
        let (gradients, loss) = team.summed()?;
        Ok(Passes { loss, scores: own.scores, gradients })
    }
}

/// What the passes of a step give.
struct Passes {
    loss: f64,
    /// The scores of what counts, row by row.
    scores: Vec<f64>,
    gradients: Vec<Values>,
}
