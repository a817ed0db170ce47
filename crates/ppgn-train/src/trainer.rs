//! The loop: batches, steps, an evaluation and a checkpoint an epoch.

use crate::batches::batches;
use crate::data::{Goal, Prepared};
use crate::metrics::{Best, Epoch, Part, Sums};
use crate::report;
use crate::run::{Run, State, Summary, arrays};
use crate::space::interrupted;
use ppgn_graph::{Dataset, Error, Result};
use ppgn_nn::{Adam, Batch, Chosen, Device, Ppgn, Values};
use std::time::Instant;

/// What happens during training, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The data is ready, before the first step.
    Ready {
        /// The space that it is trained on, and why.
        space: &'a Chosen,
    },
    /// A batch of the running epoch was trained on.
    Step {
        /// The epoch, from 1.
        epoch: usize,
        /// Graphs trained on in this epoch so far.
        graphs: usize,
        /// Graphs of an epoch.
        of: usize,
    },
    /// An epoch is over, and its checkpoint written.
    Epoch {
        /// Its figures.
        epoch: &'a Epoch,
        /// The best epoch so far.
        best: &'a Best,
        /// What it took.
        seconds: f64,
    },
}

/// Told of every [`Event`]; says `false` to stop after the running step.
pub type Watcher<'a> = dyn FnMut(Event<'_>) -> bool + 'a;

/// How training ended.
#[derive(Debug)]
pub enum Outcome {
    /// All epochs are done.
    Finished(Box<Summary>),
    /// It was asked to stop; the last finished epoch is the state.
    Stopped {
        /// Epochs finished.
        epochs: usize,
    },
}

/// Trains a run to its end, from its last checkpoint if it has one.
///
/// A loss that is no finite number ends it with an error that names the epoch, the batch and its graphs; the last
/// checkpoint stays.
pub fn train(run: &Run, dataset: &Dataset, watcher: &mut Watcher<'_>) -> Result<Outcome> {
    match attempt(run, dataset, watcher)? {
        Attempt::Ended(outcome) => Ok(outcome),
        Attempt::Diverged(error) => Err(error),
    }
}

/// How training ended, where numbers that are no longer finite are a result too: a search goes on after them.
pub(crate) enum Attempt {
    Ended(Outcome),
    Diverged(Error),
}

/// [`train`], with a loss that is no finite number told apart from everything else that can go wrong.
pub(crate) fn attempt(run: &Run, dataset: &Dataset, watcher: &mut Watcher<'_>) -> Result<Attempt> {
    let settings = run.settings();
    let device = Device::default();
    let prepared = match Prepared::new(settings, dataset) {
        // Stopped while the data was made ready: that is no failure.
        Err(_) if interrupted() => {
            let epochs = run.restore(&device)?.map_or(0, |(_, _, state)| state.epoch);
            return Ok(Attempt::Ended(Outcome::Stopped { epochs }));
        }
        prepared => prepared?,
    };
    let go_on = watcher(Event::Ready { space: &prepared.space });
    let (mut network, mut adam, mut state) = match run.restore(&device)? {
        Some(restored) => restored,
        None => {
            let network =
                settings.network.init(&device, settings.drawn_from(), settings.training.precision)?;
            let adam = Adam::new(&arrays(&network)?);
            (network, adam, State { epoch: 0, steps: 0, best: None })
        }
    };
    if !go_on {
        return Ok(Attempt::Ended(Outcome::Stopped { epochs: state.epoch }));
    }
    let mut metrics = run.cut_metrics(state.epoch)?;
    while state.epoch < settings.training.epochs {
        let start = Instant::now();
        let number = state.epoch + 1;
        let rate = settings.training.rate_of(number);
        let train = match one_epoch(run, &prepared, &mut network, &mut adam, number, watcher)? {
            Pass::Whole(train) => train,
            Pass::Stopped => return Ok(Attempt::Ended(Outcome::Stopped { epochs: state.epoch })),
            Pass::Diverged(error) => return Ok(Attempt::Diverged(error)),
        };
        let evaluate = |graphs: &[u32]| evaluate(&prepared, &network, graphs, settings.training.batch);
        let epoch = Epoch {
            epoch: number,
            rate,
            train,
            validation: evaluate(&prepared.split.validation)?,
            test: evaluate(&prepared.split.test)?,
        };
        if !epoch.is_finite() {
            let parts = [&prepared.split.validation, &prepared.split.test];
            let place = first_lost(&prepared, &network, parts, settings.training.batch)?;
            let place = place
                .map_or_else(String::new, |(batch, graphs)| format!(", batch {batch}: graphs {graphs:?}"));
            return Ok(Attempt::Diverged(Error::unfit(format!(
                "the loss of the validation or test part is no finite number after epoch {number}{place}; the last \
                 checkpoint (epoch {}) is kept. A smaller --rate may help",
                state.epoch
            ))));
        }
        let score = epoch.score();
        if state.best.as_ref().is_none_or(|best| score > best.score) {
            run.keep_best(&network)?;
            state.best = Some(Best { epoch: number, score });
        }
        state = State { epoch: number, steps: adam.steps, best: state.best };
        let seconds = start.elapsed().as_secs_f64();
        // First the metrics, then the checkpoint: what is beyond a checkpoint is cut off on resume.
        run.record(&epoch, seconds)?;
        run.checkpoint(&network, &adam, &state)?;
        let best = state.best.clone().unwrap_or(Best { epoch: number, score });
        let go_on = watcher(Event::Epoch { epoch: &epoch, best: &best, seconds });
        metrics.push(epoch);
        if !go_on && state.epoch < settings.training.epochs {
            return Ok(Attempt::Ended(Outcome::Stopped { epochs: state.epoch }));
        }
    }
    let summary = summarise(run, &prepared, &metrics, &state)?;
    // The summary says that a run is finished, so it comes last.
    report::write(run, &summary, &metrics)?;
    run.finish(&summary)?;
    Ok(Attempt::Ended(Outcome::Finished(Box::new(summary))))
}

/// How an epoch of training went.
enum Pass {
    Whole(Part),
    Stopped,
    Diverged(Error),
}

/// Trains one epoch.
fn one_epoch(
    run: &Run,
    prepared: &Prepared,
    network: &mut Ppgn,
    adam: &mut Adam,
    epoch: usize,
    watcher: &mut Watcher<'_>,
) -> Result<Pass> {
    let t = &run.settings().training;
    let rate = t.rate_of(epoch);
    let order = batches(
        &prepared.dataset,
        &prepared.split.train,
        t.batch,
        t.batching,
        run.settings().drawn_from(),
        epoch,
    );
    let mut sums = Sums::new(prepared);
    let mut graphs = 0;
    let mut memory = Vec::new();
    for (number, chosen) in order.iter().enumerate() {
        let batch = prepared.batch(chosen, network.device())?;
        let Some((loss, scores)) = one_step(prepared, network, adam, &batch, chosen, rate, &mut memory)?
        else {
            return Ok(Pass::Diverged(Error::unfit(format!(
                "the loss or its gradient is no finite number in epoch {epoch}, batch {}: graphs {chosen:?}; the last \
                 checkpoint (epoch {}) is kept. A smaller --rate may help",
                number + 1,
                epoch - 1
            ))));
        };
        sums.add(prepared, chosen, loss, &scores.to_f64());
        graphs += chosen.len();
        if !watcher(Event::Step { epoch, graphs, of: prepared.split.train.len() }) {
            return Ok(Pass::Stopped);
        }
    }
    Ok(Pass::Whole(sums.finish(prepared)))
}

/// Trains on one batch and gives its loss and scores; nothing, and no change, where the loss or its gradient is no finite
/// number. `memory` is for the gradients, and is used again from step to step.
pub(crate) fn one_step(
    prepared: &Prepared,
    network: &mut Ppgn,
    adam: &mut Adam,
    batch: &Batch,
    chosen: &[u32],
    rate: f64,
    memory: &mut Vec<Values>,
) -> Result<Option<(f64, Values)>> {
    let step = network.backward_in(std::mem::take(memory), batch, |scores| prepared.loss(scores, chosen))?;
    if !step.loss.is_finite() || !step.gradients.iter().all(Values::is_finite) {
        return Ok(None);
    }
    network.update(|parameters| adam.step(parameters, &step.gradients, rate))?;
    *memory = step.gradients;
    Ok(Some((step.loss, step.scores)))
}

/// The figures of a part of the data, without training on it.
fn evaluate(prepared: &Prepared, network: &Ppgn, graphs: &[u32], batch: usize) -> Result<Option<Part>> {
    if graphs.is_empty() {
        return Ok(None);
    }
    let mut sums = Sums::new(prepared);
    for chosen in graphs.chunks(batch.max(1)) {
        let (loss, scores) = loss_of(prepared, network, chosen)?;
        sums.add(prepared, chosen, loss, &scores);
    }
    Ok(Some(sums.finish(prepared)))
}

/// The loss and the scores of a batch.
fn loss_of(prepared: &Prepared, network: &Ppgn, chosen: &[u32]) -> Result<(f64, Vec<f64>)> {
    let scores = network.forward(&prepared.batch(chosen, network.device())?)?;
    let loss = Values::of(prepared.loss(scores.clone(), chosen)?)?.to_f64().iter().sum();
    Ok((loss, Values::of(scores)?.to_f64()))
}

/// The first batch of these parts, counted from 1, whose loss is no finite number, and its graphs; nothing where only
/// the sum of all is none.
fn first_lost(
    prepared: &Prepared,
    network: &Ppgn,
    parts: [&Vec<u32>; 2],
    batch: usize,
) -> Result<Option<(usize, Vec<u32>)>> {
    let batches = parts.into_iter().flat_map(|graphs| graphs.chunks(batch.max(1)));
    for (number, chosen) in batches.enumerate() {
        if !loss_of(prepared, network, chosen)?.0.is_finite() {
            return Ok(Some((number + 1, chosen.to_vec())));
        }
    }
    Ok(None)
}

fn summarise(run: &Run, prepared: &Prepared, metrics: &[Epoch], state: &State) -> Result<Summary> {
    let settings = run.settings();
    let best_epoch = state.best.as_ref().map_or(state.epoch, |best| best.epoch);
    let (Some(best), Some(last)) = (metrics.get(best_epoch - 1), metrics.last()) else {
        return Err(Error::unfit(format!("{} has no metrics", run.path().display())));
    };
    let split = &prepared.split;
    let reported = [&split.test, &split.validation, &split.train].into_iter().find(|part| !part.is_empty());
    let targets = match &prepared.goal {
        Goal::Classes(_) => Vec::new(),
        Goal::Targets(targets) => targets.iter().map(|t| t.name.clone()).collect(),
    };
    Ok(Summary {
        dataset: settings.dataset.clone(),
        preset: settings.preset.clone(),
        epochs: state.epoch,
        seed: settings.training.seed,
        best_epoch,
        best: best.clone(),
        train_loss: last.train.loss,
        targets,
        scaling: prepared.scaling.clone(),
        mae_of_mean: reported.map(|part| prepared.error_of_the_mean(part)).unwrap_or_default(),
    })
}
