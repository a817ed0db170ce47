//! Training and evaluation on a device: what the training loop does with it.
//!
//! Weights, optimiser and, on the dense space, the rows of the dataset go there once. A step sends which graphs it is of and what
//! is known of them; the scores come back, and the loss is computed from them as ever. Ranks that share a step have their
//! gradients added up by their hosts. After an epoch the state is fetched for the checkpoint, so a run folder is the same
//! wherever it was trained.

use crate::batches::batches;
use crate::data::{Prepared, dense_costs};
use crate::error::Result;
use crate::ranks::Team;
use crate::session::Session;
use crate::settings::{Settings, Training};
use crate::share::shares;
use crate::step::clipped;
use ppgn_graph::Dataset;
use ppgn_nn::device::{self, Input, OnDevice, Pass};
use ppgn_nn::{Adam, Average, Batch, Dropout, Matrix, Ppgn};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Graphs that are looked at, over all epochs, to find the largest batch.
const DRAWS: usize = 20_000_000;

/// What has scores for graphs of the data: a network here or on a device.
pub(crate) trait Scores: Sync {
    /// The scores of all that these graphs have outputs for.
    fn scores(&self, prepared: &Prepared, chosen: &[u32]) -> Result<Matrix>;
}

impl Scores for Ppgn {
    fn scores(&self, prepared: &Prepared, chosen: &[u32]) -> Result<Matrix> {
        Ok(self.forward(&prepared.batch(chosen)?)?)
    }
}

/// A network on the device of a session.
pub(crate) struct Remote(Mutex<Box<dyn OnDevice>>);

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remote")
    }
}

/// It with its own weights, or the averaged ones.
pub(crate) struct Evaluated<'a> {
    pub(crate) remote: &'a Remote,
    pub(crate) averaged: bool,
}

/// A step of training: which one, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) training: &'a Training,
    pub(crate) seed: u64,
    pub(crate) epoch: usize,
    pub(crate) number: usize,
    pub(crate) rate: f64,
}

impl Remote {
    /// A copy of a network on the session's device; nothing where it has none.
    pub(crate) fn load(session: &Session, network: &Ppgn) -> Result<Option<Self>> {
        let Some(device) = session.device() else { return Ok(None) };
        Ok(Some(Remote(Mutex::new(device.load(network)?))))
    }

    /// The same, ready to be trained on this data.
    pub(crate) fn train(
        session: &Session,
        prepared: &Prepared,
        network: &Ppgn,
        adam: &Adam,
        average: Option<&Average>,
    ) -> Result<Option<Self>> {
        let remote = Remote::load(session, network)?;
        if let Some(remote) = &remote {
            remote.lock().begin(adam, average)?;
            remote.hold(prepared)?;
        }
        Ok(remote)
    }

    /// Offers the rows of the dataset, where these are the rows of batches.
    fn hold(&self, prepared: &Prepared) -> Result<()> {
        if prepared.space.colours.is_some() {
            return Ok(());
        }
        let nodes: Vec<usize> = prepared.dataset.graphs().iter().map(|graph| graph.nodes()).collect();
        // An error of our own, where the device hears of another.
        let mut failed = None;
        let mut rows = |graph: usize| {
            prepared.batch(&[graph as u32]).map_err(|error| {
                let text = error.to_string();
                failed = Some(error);
                ppgn_nn::Error::Unfit(text)
            })
        };
        let held = self.lock().hold(&nodes, &mut rows);
        match (failed, held) {
            (Some(error), Err(_)) => Err(error),
            (_, held) => Ok(held.map(|_| ())?),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn OnDevice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a batch of these graphs, which is made here only if the device cannot.
    fn on<T>(
        &self,
        prepared: &Prepared,
        chosen: &[u32],
        again: bool,
        work: impl FnOnce(&mut dyn OnDevice, Input<'_>) -> ppgn_nn::Result<T>,
    ) -> Result<T> {
        let mut device = self.lock();
        let batch: Option<Batch> = match device.holds(chosen) {
            true => None,
            false => Some(prepared.batch(chosen)?),
        };
        Ok(work(&mut **device, Input { graphs: chosen, batch: batch.as_ref(), again })?)
    }

    /// Trains on one batch of these graphs, and gives its loss and scores; nothing where the loss or its gradient is not finite.
    pub(crate) fn step(&self, now: Now<'_>, chosen: &[u32]) -> Result<Option<(f64, Vec<f64>)>> {
        let (rate, clip) = (now.rate, now.training.clip);
        let stepped =
            self.passes(now, chosen, |device, pass| device.step(&device::Training { pass, rate, clip }))?;
        let (loss, scores) = now.prepared.measured(&stepped.scores, chosen)?;
        Ok((loss.is_finite() && stepped.squares.is_finite()).then_some((loss, scores)))
    }

    /// The same as one of several ranks, each with its share of the batch, which may be empty. The gradients come here, are added
    /// up over the ranks, and their sum goes back. The loss is that of all ranks. Where it or its gradient is not finite, nothing
    /// is changed.
    pub(crate) fn step_together(
        &self,
        now: Now<'_>,
        team: &Team,
        share: &[u32],
    ) -> Result<Option<(f64, Vec<f64>)>> {
        let mut scores = Vec::new();
        if share.is_empty() {
            team.submit_nothing();
        } else {
            let passed = self.passes(now, share, |device, pass| device.gradients(&pass))?;
            let (loss, own) = now.prepared.measured(&passed.scores, share)?;
            team.submit_all(passed.gradients, loss);
            scores = own;
        }
        let (mut gradients, loss) = team.summed()?;
        if !clipped(now.training, loss, &mut gradients) {
            return Ok(None);
        }
        self.lock().apply(&gradients, now.rate)?;
        Ok(Some((loss, scores)))
    }

    /// Does something with the passes of a step on these graphs.
    fn passes<T>(
        &self,
        now: Now<'_>,
        chosen: &[u32],
        work: impl FnOnce(&mut dyn OnDevice, Pass<'_>) -> ppgn_nn::Result<T>,
    ) -> Result<T> {
        let terms = now.prepared.terms(chosen)?;
        let (probability, seed) = (now.training.dropout, now.seed);
        let (epoch, step) = (now.epoch as u64, now.number as u64);
        let dropout = Dropout { probability, seed, epoch, step, graphs: chosen };
        let dropout = Some(dropout).filter(|_| probability > 0.0);
        self.on(now.prepared, chosen, false, |device, input| {
            work(device, Pass { input, terms: &terms, dropout })
        })
    }

    /// The scores of a batch.
    pub(crate) fn forward(&self, batch: &Batch) -> ppgn_nn::Result<Matrix> {
        self.lock().forward(&Input { graphs: &[], batch: Some(batch), again: false }, false)
    }

    /// The pooled features of a batch.
    pub(crate) fn embed(&self, batch: &Batch) -> ppgn_nn::Result<Matrix> {
        self.lock().embed(batch)
    }

    /// Fetches the state of the training.
    pub(crate) fn fetch(
        &self,
        network: &mut Ppgn,
        adam: &mut Adam,
        average: Option<&mut Average>,
    ) -> Result<()> {
        let state = self.lock().state()?;
        network.set_parameters(state.weights)?;
        *adam = state.adam;
        if let (Some(average), Some(fetched)) = (average, state.average) {
            *average = fetched;
        }
        Ok(())
    }
}

impl Scores for Evaluated<'_> {
    fn scores(&self, prepared: &Prepared, chosen: &[u32]) -> Result<Matrix> {
        // Validation and test batches are the same in every epoch.
        let averaged = self.averaged;
        self.remote.on(prepared, chosen, true, |device, input| device.forward(&input, averaged))
    }
}

/// An error if this rank has a device that cannot evaluate its shares of the validation and the test set: before the first step.
/// What [`check`] found holds for rank 0 and the dense space; another rank may have a smaller device, and the quotient space
/// has other shares.
pub(crate) fn check_shares(session: &Session, prepared: &Prepared, batch: usize, team: &Team) -> Result<()> {
    let Some(device) = session.device() else { return Ok(()) };
    for part in [&prepared.split.validation, &prepared.split.test] {
        for graphs in team.share(part).chunks(batch.max(1)) {
            device.check(prepared.network(), prepared.precision(), &nodes(&prepared.dataset, graphs))?;
        }
    }
    Ok(())
}

fn nodes(dataset: &Dataset, graphs: &[u32]) -> Vec<usize> {
    graphs.iter().map(|&graph| dataset.graph(graph as usize).nodes()).collect()
}

/// An error if the session has a device that cannot train with these settings, as one of this number of ranks that share the
/// steps: before a run folder is made.
pub(crate) fn check(session: &Session, settings: &Settings, dataset: &Dataset, ranks: usize) -> Result<()> {
    let (Some(device), Some(trained)) = (session.device(), settings.trained()) else { return Ok(()) };
    let (config, training) = (&settings.network, &settings.training);
    let dataset = &settings.taken(dataset)?;
    let split = trained.split(dataset, training.seed)?;
    let size = training.batch.max(1);
    let costs = dense_costs(config, dataset);
    // What each rank takes of these graphs, at most `size` at once.
    let fits = |graphs: &[u32]| -> Result<()> {
        let costs: Vec<f64> = graphs.iter().map(|&graph| costs[graph as usize]).collect();
        for share in shares(&costs, ranks) {
            let share: Vec<u32> = share.into_iter().map(|place| graphs[place]).collect();
            for at_once in share.chunks(size) {
                device.check(config, training.precision, &nodes(dataset, at_once))?;
            }
        }
        Ok(())
    };
    device.check(config, training.precision, &[])?;
    fits(&split.validation)?;
    fits(&split.test)?;
    // The largest graphs together are as much as any batch can be, but for padding.
    let mut largest = split.train.clone();
    largest.sort_by_key(|&graph| std::cmp::Reverse(dataset.graph(graph as usize).nodes()));
    largest.truncate(size);
    let equal = nodes(dataset, &largest).windows(2).all(|pair| pair[0] == pair[1]);
    if equal && fits(&largest).is_ok() {
        return Ok(());
    }
    let epochs = (DRAWS / split.train.len().max(1)).clamp(1, training.epochs);
    for epoch in 1..=epochs {
        for graphs in batches(dataset, &split.train, size, training.batching, settings.drawn_from(), epoch) {
            fits(&graphs)?;
        }
    }
    Ok(())
}
