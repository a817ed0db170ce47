//! Times an epoch of training on a dataset, with the same batches and steps as the training loop.

use super::usage::peak_rss_mb;
use crate::batches::batches;
use crate::data::{Prepared, limited};
use crate::error::{Error, NotFinite, Result};
use crate::remote::{Now, Remote};
use crate::session::Session;
use crate::settings::{Division, Overrides, Request, Settings};
use crate::share::parts;
use crate::step::{Memory, Stepper, optimiser};
use ppgn_graph::Dataset;
use serde::Serialize;
use std::time::Instant;

/// What is timed.
#[derive(Debug, Clone, Default)]
pub struct EpochWork<'a> {
    /// The preset that the settings start from, such as `paper-1`.
    pub preset: &'a str,
    /// What is different from it.
    pub overrides: Overrides,
    /// The number of graphs to draw by the seed; all if `None`.
    pub limit: Option<usize>,
    /// The batches, as lists of graph indices; drawn as for training if `None`.
    pub batches: Option<Vec<Vec<u32>>>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpochFigures {
    /// The dataset's name.
    pub dataset: String,
    /// `dense` or `quotient`.
    pub space: &'static str,
    /// The device that trained; `null` for the CPU engine.
    pub device: Option<String>,
    /// Number of threads.
    pub threads: usize,
    /// Graphs of the epoch.
    pub graphs: usize,
    /// Steps of the epoch.
    pub batches: usize,
    /// Ordered pairs of nodes of all graphs.
    pub pairs: usize,
    /// Rows of all batches per level, from the input to the last block's output.
    pub rows: Vec<usize>,
    /// Seconds of the epoch: building the batches from the prepared data, and training on them.
    pub epoch_s: f64,
    /// Seconds of preparation before the first epoch: encoding checks and colouring.
    pub prepare_s: f64,
    /// The loss, summed over the epoch.
    pub loss: f64,
    /// Peak resident memory, in MiB.
    pub peak_rss_mb: Option<f64>,
}

/// Times one epoch of training on all graphs, after one warm-up step. `watcher` gets the number of graphs done and of all
/// graphs, and returns `false` to stop.
pub fn epoch(
    session: &Session,
    dataset: &Dataset,
    work: &EpochWork<'_>,
    watcher: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<EpochFigures> {
    session.install(|| measure(session, dataset, work, watcher))
}

fn measure(
    session: &Session,
    dataset: &Dataset,
    work: &EpochWork<'_>,
    watcher: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<EpochFigures> {
    let (dataset, given) = match &work.batches {
        Some(given) => {
            let (dataset, given) = named(dataset, given)?;
            (dataset, Some(given))
        }
        None => (limited(dataset, work.limit, work.overrides.seed.unwrap_or(0))?, None),
    };
    let settings = Settings::resolve(&Request {
        limit: work.limit,
        preset: work.preset,
        overrides: work.overrides.clone(),
        division: Division::Shares([1.0, 0.0, 0.0]),
        ..Request::new(dataset.name(), &dataset)
    })?;
    let start = Instant::now();
    let prepared = Prepared::new(session, &settings, &dataset)?;
    let prepare_s = start.elapsed().as_secs_f64();

    let training = &settings.training;
    let batches = given.unwrap_or_else(|| {
        batches(&dataset, &prepared.split.train, training.batch, training.batching, settings.drawn_from(), 1)
    });
    let network = settings.network.init(settings.drawn_from(), training.precision)?;
    let mut network = network.with_workspace(session.workspace());
    let mut adam = optimiser(training, &network)?;
    let Some(first) = batches.first() else {
        return Err(Error::settings("there are no batches to train on"));
    };
    let remote = Remote::train(session, &prepared, &network, &adam, None)?;
    let (rate, seed, epoch) = (training.rate, settings.drawn_from(), 1);
    let (network, adam, memory) = (&mut network, &mut adam, Memory::default());
    let mut stepper = Stepper {
        prepared: &prepared,
        training,
        network,
        adam,
        average: None,
        rate,
        seed,
        epoch,
        memory,
        team: None,
    };
    let mut train = |number: usize, chosen: &[u32]| -> Result<f64> {
        let not_finite = NotFinite { epoch: 1, evaluation: false, batch: Some((number, chosen.to_vec())) };
        if let Some(remote) = &remote {
            let now = Now { prepared: &prepared, training, seed, epoch, number, rate };
            let step = remote.step(now, chosen)?;
            return step.map(|(loss, _)| loss).ok_or(Error::NotFinite(not_finite));
        }
        let step = stepper.step(number, chosen)?;
        step.map(|(loss, _)| loss).ok_or(Error::NotFinite(not_finite))
    };
    train(1, first)?;

    let (mut loss, mut graphs) = (0.0, 0);
    let start = Instant::now();
    for (number, chosen) in batches.iter().enumerate() {
        loss += train(number + 1, chosen)?;
        graphs += chosen.len();
        if !watcher(graphs, dataset.len()) {
            return Err(Error::Interrupted);
        }
    }
    let epoch_s = start.elapsed().as_secs_f64();
    let mut rows = vec![0; settings.network.blocks.len() + 1];
    let at_once = |chosen: &Vec<u32>| match &remote {
        None => parts(&prepared, chosen, 0),
        Some(_) => vec![chosen.clone()],
    };
    for part in batches.iter().flat_map(at_once) {
        let own = prepared.rows_of_levels(&part, rows.len())?;
        rows.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    let pairs = batches.iter().flatten().map(|&g| dataset.graph(g as usize).nodes().pow(2)).sum();
    Ok(EpochFigures {
        dataset: dataset.name().to_string(),
        space: if prepared.space.colours.is_some() { "quotient" } else { "dense" },
        device: session.device().map(|device| device.name()),
        threads: rayon::current_num_threads(),
        graphs,
        batches: batches.len(),
        pairs,
        rows,
        epoch_s,
        prepare_s,
        loss,
        peak_rss_mb: peak_rss_mb(),
    })
}

/// The graphs that occur in the batches, each once, and the batches by their new indices.
fn named(dataset: &Dataset, batches: &[Vec<u32>]) -> Result<(Dataset, Vec<Vec<u32>>)> {
    if batches.is_empty() || batches.iter().any(Vec::is_empty) {
        return Err(Error::settings(
            "a file of batches has at least one batch, and a batch at least one graph",
        ));
    }
    let mut chosen = batches.concat();
    chosen.sort_unstable();
    chosen.dedup();
    if let Some(&beyond) = chosen.last().filter(|&&g| g as usize >= dataset.len()) {
        return Err(Error::settings(format!(
            "the batches name graph {beyond}, but {} has {} graphs, counted from 0",
            dataset.name(),
            dataset.len()
        )));
    }
    let place = |g: &u32| chosen.partition_point(|c| c < g) as u32;
    let renumbered = batches.iter().map(|batch| batch.iter().map(place).collect()).collect();
    Ok((dataset.subset(&chosen)?, renumbered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::generate::generate;

    #[test]
    fn batches_by_number() {
        let csl = generate("csl").unwrap();
        let (some, batches) = named(&csl, &[vec![7, 3], vec![140]]).unwrap();
        assert_eq!((some.len(), batches), (3, vec![vec![1, 0], vec![2]]));
        assert!(named(&csl, &[vec![150]]).unwrap_err().is_call());
        assert!(named(&csl, &[vec![]]).unwrap_err().is_call());
    }
}
