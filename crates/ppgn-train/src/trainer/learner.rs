//! What is trained, and how: the network with its optimiser, an epoch of steps, and its evaluation. All ranks do this alike.

use super::evaluate::evaluate;
use super::{Event, Watcher};
use crate::batches::batches;
use crate::data::Prepared;
use crate::error::{Error, NotFinite, Result};
use crate::metrics::{Last, Part, Predictions, Sums};
use crate::ranks::{Ranks, Team};
use crate::remote::{Evaluated, Now, Remote, Scores, check_shares};
use crate::run::arrays;
use crate::session::Session;
use crate::settings::Settings;
use crate::step::{Memory, Stepper, optimiser};
use ppgn_nn::{Adam, Average, Ppgn};

/// What a training is given, and does not change.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) session: &'a Session,
    pub(super) settings: &'a Settings,
    pub(super) prepared: &'a Prepared,
    /// The ranks that share its work, if there are several.
    pub(super) team: Option<&'a Team>,
}

/// What a training changes.
pub(super) struct Learner {
    pub(super) network: Ppgn,
    pub(super) adam: Adam,
    /// The averaged weights, if they are asked for.
    pub(super) average: Option<Average>,
    /// The same on a device, which trains then.
    remote: Option<Remote>,
}

impl Learner {
    /// Before the first step.
    pub(super) fn new(session: &Session, settings: &Settings) -> Result<Self> {
        let network = settings.network.init(settings.drawn_from(), settings.training.precision)?;
        let network = network.with_workspace(session.workspace());
        let adam = optimiser(&settings.training, &network)?;
        let average = (settings.training.ema > 0.0)
            .then(|| arrays(&network).map(|weights| Average::new(settings.training.ema, &weights)))
            .transpose()?;
        Ok(Learner { network, adam, average, remote: None })
    }

    /// The same after a checkpoint.
    pub(super) fn resumed(session: &Session, network: Ppgn, adam: Adam, average: Option<Average>) -> Self {
        Learner { network: network.with_workspace(session.workspace()), adam, average, remote: None }
    }

    /// Makes all ranks start from the state of rank 0.
    pub(super) fn synchronise(&mut self, ranks: &Ranks) -> Result<()> {
        let mut weights = arrays(&self.network)?;
        ranks.copied(&mut weights)?;
        self.network.set_parameters(weights)?;
        ranks.copied(&mut self.adam.first)?;
        ranks.copied(&mut self.adam.second)?;
        if let Some(average) = &mut self.average {
            ranks.copied(&mut average.weights)?;
        }
        self.adam.steps = ranks.decided(|| self.adam.steps)?;
        Ok(())
    }

    /// Makes the device of the session train instead, if it has one.
    pub(super) fn send(&mut self, given: &Given<'_>) -> Result<()> {
        let Given { session, settings, prepared, team } = *given;
        if let Some(team) = team {
            check_shares(session, prepared, settings.training.batch, team)?;
        }
        self.remote = Remote::train(session, prepared, &self.network, &self.adam, self.average.as_ref())?;
        Ok(())
    }

    /// Fetches the state of the training from the device, if there is one.
    pub(super) fn fetch(&mut self) -> Result<()> {
        match &self.remote {
            Some(remote) => remote.fetch(&mut self.network, &mut self.adam, self.average.as_mut()),
            None => Ok(()),
        }
    }

    /// Trains one epoch; nothing if the watcher stopped it. Among several ranks the figures are those of rank 0.
    pub(super) fn epoch(
        &mut self,
        given: &Given<'_>,
        epoch: usize,
        rate: f64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<Part>> {
        let Given { settings, prepared, team, .. } = *given;
        let (training, seed) = (&settings.training, settings.drawn_from());
        let order =
            batches(&prepared.dataset, &prepared.split.train, training.batch, training.batching, seed, epoch);
        let Learner { network, adam, average, remote } = self;
        let (average, memory) = (average.as_mut(), Memory::default());
        let mut stepper =
            Stepper { prepared, training, network, adam, average, rate, seed, epoch, memory, team };
        let (mut losses, mut scores) = (Vec::new(), Vec::new());
        let mut graphs = 0;
        for (number, chosen) in order.iter().enumerate() {
            let share = team.map(|team| team.share(chosen));
            let share = share.as_ref().unwrap_or(chosen);
            let now = Now { prepared, training, seed, epoch, number, rate };
            let stepped = match (&*remote, team) {
                (Some(remote), None) => remote.step(now, chosen)?,
                (Some(remote), Some(team)) => remote.step_together(now, team, share)?,
                (None, _) => stepper.step(number, share)?,
            };
            let Some((loss, own)) = stepped else {
                let batch = Some((number + 1, chosen.clone()));
                return Err(Error::NotFinite(NotFinite { epoch, evaluation: false, batch }));
            };
            losses.push(loss);
            scores.push(own);
            graphs += chosen.len();
            if !watcher(Event::Step { epoch, graphs, of: prepared.split.train.len() }) {
                return Ok(None);
            }
        }
        if let Some(team) = team {
            let width = prepared.goal.outputs();
            match team.gather(&order, 0.0, scores.concat(), |g| prepared.rows(&[g]) * width)? {
                Some((_, gathered)) => scores = gathered,
                None => return Ok(Some(Part::default())),
            }
        }
        let mut sums = Sums::new();
        for ((chosen, loss), scores) in order.iter().zip(losses).zip(&scores) {
            sums.add(chosen, loss, scores);
        }
        Ok(Some(sums.finish(prepared)))
    }

    /// The figures of an epoch on the validation and the test set: of the network that stands for it, which is given too
    /// if it is not the last one, and then of the last one.
    pub(super) fn evaluate(&self, given: &Given<'_>) -> Result<Evaluation> {
        let Given { session, settings, prepared, team } = *given;
        let averaged = self
            .average
            .as_ref()
            .map(|average| Ppgn::new(settings.network.clone(), average.weights.clone()))
            .transpose()?
            .map(|network| network.with_workspace(session.workspace()));
        let scores = |network: &Ppgn, averaged: bool| -> Result<[Option<Sums>; 2]> {
            let there = self.remote.as_ref().map(|remote| Evaluated { remote, averaged });
            let network = there.as_ref().map_or(network as &dyn Scores, |there| there);
            let of = |graphs: &[u32]| evaluate(prepared, network, graphs, settings.training.batch, team);
            Ok([of(&prepared.split.validation)?, of(&prepared.split.test)?])
        };
        let figures = |scores: [Option<Sums>; 2]| {
            let [validation, test] = scores.map(|sums| sums.map(|sums| sums.finish(prepared)));
            Last { validation, test }
        };
        let chosen = scores(averaged.as_ref().unwrap_or(&self.network), averaged.is_some())?;
        let predictions = settings.training.keep_predictions.then(|| {
            let of = |sums: &Option<Sums>| {
                sums.as_ref().map(|sums| sums.predictions(prepared)).unwrap_or_default()
            };
            Predictions { epoch: 0, validation: of(&chosen[0]), test: of(&chosen[1]) }
        });
        let last = averaged.is_some().then(|| scores(&self.network, false).map(figures)).transpose()?;
        Ok(Evaluation { averaged, stands: figures(chosen), last, predictions })
    }
}

/// What is measured after an epoch.
pub(super) struct Evaluation {
    /// The averaged network, if there is one.
    pub(super) averaged: Option<Ppgn>,
    /// The figures of the network that stands for the epoch: the averaged one, or the last.
    pub(super) stands: Last,
    /// Those of the last one, if it is another.
    pub(super) last: Option<Last>,
    /// The predictions of the network that stands for the epoch, if they are to be kept; the epoch is not set.
    pub(super) predictions: Option<Predictions>,
}
