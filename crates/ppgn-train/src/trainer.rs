//! The training loop: batches, steps, and after every epoch an evaluation and a checkpoint.

use crate::batches::batches;
use crate::data::{Goal, Prepared};
use crate::error::{Error, NotFinite, Result};
use crate::metrics::{Best, Epoch, Last, Part, Sets, Sums};
use crate::ranks::{Ranks, Team};
use crate::remote::{Evaluated, Now, Remote, Scores, check_shares};
use crate::report;
use crate::run::{History, Restored, Run, State, Summary, Warning, arrays, read_best, read_state};
use crate::session::Session;
use crate::settings::Settings;
use crate::space::Chosen;
use crate::step::{Stepper, optimiser};
use ppgn_graph::Dataset;
use ppgn_graph::split::to_csv;
use ppgn_nn::{Adam, Average, Ppgn, SpaceChoice};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What happens during training, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something about a run that is resumed, before its data is prepared.
    Warning(&'a Warning),
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

/// Hears of every [`Event`], and returns `false` to stop after the running step.
pub type Watcher<'a> = dyn FnMut(Event<'_>) -> bool + Send + 'a;

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
/// The run's files are verified before anything is computed or changed ([`Run::verify`]).
/// A loss that is not finite ends it with [`Error::NotFinite`]; the last checkpoint stays. The session's interrupt ends it
/// within a moment, the watcher after the running step.
///
/// Where the session has several [ranks](crate::ranks), this is for rank 0; the others [`follow`].
pub fn train(session: &Session, run: &Run, dataset: &Dataset, watcher: &mut Watcher<'_>) -> Result<Outcome> {
    let restored = run.restore()?;
    let mut go_on = true;
    for warning in restored.iter().flat_map(|restored| &restored.warnings) {
        go_on &= watcher(Event::Warning(warning));
    }
    if let Some(warning) = run.settings().reference_warning(dataset) {
        go_on &= watcher(Event::Warning(&warning));
    }
    if !go_on {
        return stopped(run);
    }
    if let Some(ranks) = session.ranks() {
        ranks.decided(|| run.settings().clone())?;
    }
    // On the caller's thread, which may wait for colours that another run is finding; a thread of a pool may not.
    let prepared = match Prepared::new(session, run.settings(), dataset) {
        // Stopped while the data was prepared: that is not a failure.
        Err(_) if session.check().is_err() => {
            return stopped(run);
        }
        prepared => prepared?,
    };
    if let Some(ranks) = session.ranks() {
        ranks.decided(|| prepared.space.colours.is_some())?;
    }
    run.write_split(&to_csv(&prepared.split, dataset))?;
    let outcome = session.install(|| {
        let mut watcher = |event: Event<'_>| watcher(event) && session.check().is_ok();
        epochs(session, run, &prepared, restored, &mut watcher)
    });
    match outcome {
        // Within a step, which is discarded.
        Err(Error::Interrupted) => stopped(run),
        // Those that share the work were interrupted at the same time.
        Err(Error::Rank { .. }) if session.check().is_err() => stopped(run),
        outcome => outcome,
    }
}

/// Takes part in the training of rank 0, as one of the other ranks, until it ends. Nothing is written.
///
/// The settings, the space and the state are those of rank 0; the data must be the same.
pub fn follow(session: &Session, dataset: &Dataset) -> Result<()> {
    let Some(ranks) = session.ranks() else {
        return Err(Error::settings("there are no other ranks to train with"));
    };
    if ranks.leads() {
        return Err(Error::settings("rank 0 trains, the others follow"));
    }
    let mut settings: Settings = ranks.decided_elsewhere()?;
    settings.validate()?;
    let prepared = Prepared::new(session, &settings, dataset)?;
    let quotient: bool = ranks.decided_elsewhere()?;
    // What `auto` takes may depend on the memory of a machine.
    let prepared = match prepared.space.colours.is_some() == quotient {
        true => prepared,
        false => {
            settings.training.space = if quotient { SpaceChoice::Quotient } else { SpaceChoice::Dense };
            Prepared::new(session, &settings, dataset)?
        }
    };
    session.install(|| -> Result<()> {
        let mut learner = Learner::new(&settings)?;
        learner.network = learner.network.with_workspace(session.workspace());
        learner.synchronise(ranks)?;
        let team = Team::start(ranks, &prepared)?;
        let team = Some(&team);
        learner.send(session, &prepared, settings.training.batch, team)?;
        while let Order::Epoch { number, rate } = ranks.decided_elsewhere()? {
            let mut watcher = |_: Event<'_>| session.check().is_ok();
            if one_epoch(&settings, &prepared, &mut learner, number, rate, team, &mut watcher)?.is_none() {
                return Err(Error::Interrupted);
            }
            learner.evaluate(session, &settings, &prepared, team)?;
        }
        Ok(())
    })
}

/// What rank 0 tells the others to do next.
#[derive(Serialize, Deserialize)]
enum Order {
    /// To train this epoch with this rate, and to evaluate.
    Epoch { number: usize, rate: f64 },
    /// Nothing more.
    End,
}

/// What a training changes.
struct Learner {
    network: Ppgn,
    adam: Adam,
    /// The averaged weights, if they are asked for.
    average: Option<Average>,
    /// The same on a device, which trains then.
    remote: Option<Remote>,
}

impl Learner {
    /// Before the first step.
    fn new(settings: &Settings) -> Result<Self> {
        let network = settings.network.init(settings.drawn_from(), settings.training.precision)?;
        let adam = optimiser(&settings.training, &network)?;
        let average = (settings.training.ema > 0.0)
            .then(|| arrays(&network).map(|weights| Average::new(settings.training.ema, &weights)))
            .transpose()?;
        Ok(Learner { network, adam, average, remote: None })
    }

    /// Makes all ranks start from the state of rank 0.
    fn synchronise(&mut self, ranks: &Ranks) -> Result<()> {
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
    fn send(
        &mut self,
        session: &Session,
        prepared: &Prepared,
        batch: usize,
        team: Option<&Team>,
    ) -> Result<()> {
        if let Some(team) = team {
            check_shares(session, prepared, batch, team)?;
        }
        self.remote = Remote::train(session, prepared, &self.network, &self.adam, self.average.as_ref())?;
        Ok(())
    }

    /// Fetches the state of the training from the device, if there is one.
    fn fetch(&mut self) -> Result<()> {
        match &self.remote {
            Some(remote) => remote.fetch(&mut self.network, &mut self.adam, self.average.as_mut()),
            None => Ok(()),
        }
    }

    /// The figures of an epoch on the validation and the test set: of the network that stands for it, which is given too
    /// if it is not the last one, and then of the last one.
    fn evaluate(
        &self,
        session: &Session,
        settings: &Settings,
        prepared: &Prepared,
        team: Option<&Team>,
    ) -> Result<Evaluation> {
        let averaged = self
            .average
            .as_ref()
            .map(|average| Ppgn::new(settings.network.clone(), average.weights.clone()))
            .transpose()?
            .map(|network| network.with_workspace(session.workspace()));
        let figures = |network: &Ppgn, averaged: bool| -> Result<Last> {
            let there = self.remote.as_ref().map(|remote| Evaluated { remote, averaged });
            let network = there.as_ref().map_or(network as &dyn Scores, |there| there);
            let of = |graphs: &[u32]| evaluate(prepared, network, graphs, settings.training.batch, team);
            Ok(Last { validation: of(&prepared.split.validation)?, test: of(&prepared.split.test)? })
        };
        let stands = figures(averaged.as_ref().unwrap_or(&self.network), averaged.is_some())?;
        let last = averaged.is_some().then(|| figures(&self.network, false)).transpose()?;
        Ok(Evaluation { averaged, stands, last })
    }
}

/// What is measured after an epoch.
struct Evaluation {
    /// The averaged network, if there is one.
    averaged: Option<Ppgn>,
    /// The figures of the network that stands for the epoch: the averaged one, or the last.
    stands: Last,
    /// Those of the last one, if it is another.
    last: Option<Last>,
}

/// The outcome of a run that was stopped: its last checkpoint.
fn stopped(run: &Run) -> Result<Outcome> {
    let epochs = read_state(run.path())?.map_or(0, |state| state.epoch);
    Ok(Outcome::Stopped { epochs })
}

/// All epochs that are left, and the summary.
fn epochs(
    session: &Session,
    run: &Run,
    prepared: &Prepared,
    restored: Option<Restored>,
    watcher: &mut Watcher<'_>,
) -> Result<Outcome> {
    let settings = run.settings();
    let go_on = watcher(Event::Ready { space: &prepared.space });
    let restored = match restored {
        Some(restored) => restored,
        None => {
            let Learner { network, adam, average, .. } = Learner::new(settings)?;
            let state = State { epoch: 0, steps: 0, best: None, digests: None };
            let (history, warnings) = (History::new(), Vec::new());
            Restored { network, adam, average, state, history, best_is_ahead: false, warnings }
        }
    };
    let Restored { network, adam, average, mut state, mut history, mut best_is_ahead, .. } = restored;
    if !go_on {
        return Ok(Outcome::Stopped { epochs: state.epoch });
    }
    let network = network.with_workspace(session.workspace());
    let mut learner = Learner { network, adam, average, remote: None };
    let team = session.ranks().map(|ranks| {
        learner.synchronise(ranks)?;
        Team::start(ranks, prepared)
    });
    let team = team.transpose()?;
    let team = team.as_ref();
    run.cut_metrics(state.epoch)?;
    learner.send(session, prepared, settings.training.batch, team)?;
    let metric = settings.training.select.metric;
    // The best epoch before any is 0, and so is the state's.
    let is_over = |state: &State| {
        settings.training.is_over(state.epoch, state.best.as_ref().map_or(0, |best| best.epoch))
    };
    while !is_over(&state) {
        let start = Instant::now();
        let number = state.epoch + 1;
        let losses: Vec<f64> = history.epochs.iter().map(Epoch::watched_loss).collect();
        let rate = settings.training.rate_of(number, &losses);
        if let Some(ranks) = session.ranks() {
            ranks.decided(|| Order::Epoch { number, rate })?;
        }
        let Some(train) = one_epoch(settings, prepared, &mut learner, number, rate, team, watcher)? else {
            return Ok(Outcome::Stopped { epochs: state.epoch });
        };
        learner.fetch()?;
        let Evaluation { averaged, stands, last } = learner.evaluate(session, settings, prepared, team)?;
        let Learner { network, adam, average, .. } = &learner;
        // The network that stands for the epoch.
        let chosen = averaged.as_ref().unwrap_or(network);
        let epoch =
            Epoch { epoch: number, rate, train, validation: stands.validation, test: stands.test, last };
        if !epoch.is_finite() {
            let parts = [&prepared.split.validation, &prepared.split.test];
            let batch = first_not_finite(prepared, chosen, parts, settings.training.batch)?;
            return Err(Error::NotFinite(NotFinite { epoch: number, evaluation: true, batch }));
        }
        let score = epoch.score(metric);
        let best = state.best.as_ref().and_then(|best| history.epochs.get(best.epoch.checked_sub(1)?));
        let is_best = best.is_none_or(|best| epoch.is_better_than(best, metric));
        let (line, digests) = run.line(&mut history, &epoch)?;
        if is_best {
            run.keep_best(chosen, number, &digests)?;
            state.best = Some(Best { epoch: number, score });
        } else if best_is_ahead {
            return Err(overtaken(run, number, &state));
        }
        best_is_ahead = false;
        state = State { epoch: number, steps: adam.steps, best: state.best, digests: Some(digests) };
        let seconds = start.elapsed().as_secs_f64();
        // First the metrics, then the checkpoint: what is beyond a checkpoint is cut off on resume.
        run.record(&line, number, seconds)?;
        run.checkpoint(network, adam, average.as_ref(), &state)?;
        let best = state.best.clone().unwrap_or(Best { epoch: number, score });
        let go_on = watcher(Event::Epoch { epoch: &epoch, best: &best, seconds });
        if !go_on && !is_over(&state) {
            return Ok(Outcome::Stopped { epochs: state.epoch });
        }
    }
    if let Some(ranks) = session.ranks() {
        ranks.decided(|| Order::End)?;
    }
    if best_is_ahead {
        return Err(overtaken(run, state.epoch + 1, &state));
    }
    let metrics = &history.epochs;
    let summary = summarise(session, run, prepared, metrics, &state)?;
    // The summary says that a run is finished, so it comes last.
    report::write(run, &summary, metrics, &parity(session, run, prepared)?)?;
    run.finish(&summary)?;
    Ok(Outcome::Finished(Box::new(summary)))
}

/// The error where the best network on the disk is of an epoch that was not finished, and that was not the best when it was
/// computed again: on another machine, or with fewer epochs. The network that the checkpoint names is lost then.
fn overtaken(run: &Run, epoch: usize, state: &State) -> Error {
    let best = state.best.as_ref().map_or(0, |best| best.epoch);
    let message = format!(
        "it is of epoch {epoch}, which was interrupted on another machine or with more epochs, and here epoch {best} is the best; \
         resume the run where it was interrupted, or train a new one"
    );
    Error::Run { path: Run::best_model(run.path()), message }
}

/// Trains one epoch; nothing if the watcher stopped it. Among several ranks the figures are those of rank 0.
fn one_epoch(
    settings: &Settings,
    prepared: &Prepared,
    learner: &mut Learner,
    epoch: usize,
    rate: f64,
    team: Option<&Team>,
    watcher: &mut Watcher<'_>,
) -> Result<Option<Part>> {
    let (training, seed) = (&settings.training, settings.drawn_from());
    let order =
        batches(&prepared.dataset, &prepared.split.train, training.batch, training.batching, seed, epoch);
    let Learner { network, adam, average, remote } = learner;
    let remote = remote.as_ref();
    let (average, memory) = (average.as_mut(), Vec::new());
    let mut stepper = Stepper { prepared, training, network, adam, average, rate, seed, epoch, memory, team };
    let (mut losses, mut scores) = (Vec::new(), Vec::new());
    let mut graphs = 0;
    for (number, chosen) in order.iter().enumerate() {
        let share = team.map(|team| team.share(chosen));
        let share = share.as_ref().unwrap_or(chosen);
        let now = Now { prepared, training, seed, epoch, number, rate };
        let stepped = match (remote, team) {
            (Some(remote), None) => remote.step(now, chosen)?,
            (Some(remote), Some(team)) => remote.step_together(now, team, share)?,
            (None, _) => {
                let batch = (!share.is_empty()).then(|| prepared.batch(share)).transpose()?;
                stepper.step(number, batch.as_ref(), share)?
            }
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

/// The figures of a part of the data, without training on it. Among several ranks they are those of rank 0.
fn evaluate(
    prepared: &Prepared,
    network: &dyn Scores,
    graphs: &[u32],
    batch: usize,
    team: Option<&Team>,
) -> Result<Option<Part>> {
    match (graphs.is_empty(), team) {
        (true, _) => Ok(None),
        (false, None) => Ok(Some(predicted(prepared, network, graphs, batch)?.finish(prepared))),
        (false, Some(team)) => {
            let (mut loss, mut scores) = (0.0, Vec::new());
            for chosen in team.share(graphs).chunks(batch.max(1)) {
                let found = loss_of(prepared, network, chosen)?;
                loss += found.0;
                scores.extend(found.1);
            }
            let width = prepared.goal.outputs();
            let gathered = team.gather(&[graphs.to_vec()], loss, scores, |g| prepared.rows(&[g]) * width)?;
            Ok(gathered.map(|(loss, scores)| {
                let mut sums = Sums::new();
                scores.iter().for_each(|scores| sums.add(graphs, loss, scores));
                sums.finish(prepared)
            }))
        }
    }
}

/// The losses and scores of a part of the data.
fn predicted(prepared: &Prepared, network: &dyn Scores, graphs: &[u32], batch: usize) -> Result<Sums> {
    let mut sums = Sums::new();
    for chosen in graphs.chunks(batch.max(1)) {
        let (loss, scores) = loss_of(prepared, network, chosen)?;
        sums.add(chosen, loss, &scores);
    }
    Ok(sums)
}

/// The loss and the scores of a batch.
fn loss_of(prepared: &Prepared, network: &dyn Scores, chosen: &[u32]) -> Result<(f64, Vec<f64>)> {
    let scores = network.scores(prepared, chosen)?;
    let loss = prepared.loss(&scores, chosen)?.value;
    Ok((loss, prepared.of_rows(chosen, scores.to_f64())))
}

/// The first batch of these parts, counted from 1, whose loss is not finite, and its graphs; nothing where only the
/// sum of all is not.
fn first_not_finite(
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

/// For regression, the truth and the prediction of the best network for all that is known of the set that is reported, target by
/// target.
fn parity(session: &Session, run: &Run, prepared: &Prepared) -> Result<Vec<Vec<(f64, f64)>>> {
    let Goal::Targets(targets) = &prepared.goal else { return Ok(Vec::new()) };
    let settings = run.settings();
    let split = &prepared.split;
    let reported = [&split.test, &split.validation, &split.train].into_iter().find(|part| !part.is_empty());
    let Some(graphs) = reported else { return Ok(Vec::new()) };
    let network = read_best(run.path(), settings)?.network.with_workspace(session.workspace());
    let remote = Remote::load(session, &network)?;
    let there = remote.as_ref().map(|remote| Evaluated { remote, averaged: false });
    let network = there.as_ref().map_or(&network as &dyn Scores, |there| there);
    let predicted = predicted(prepared, network, graphs, settings.training.batch)?;
    let truth = prepared.standardised(graphs);
    let reference = prepared.reference(graphs);
    let of_target = |t: usize| {
        let in_unit = |x: f64| x * prepared.scaling[t].deviation + prepared.scaling[t].mean;
        let pairs = truth.iter().zip(predicted.scores()).zip(&reference).skip(t).step_by(targets.len());
        pairs.map(|((truth, score), part)| (in_unit(*truth) + part, in_unit(*score) + part)).collect()
    };
    Ok((0..targets.len()).map(of_target).collect())
}

fn summarise(
    session: &Session,
    run: &Run,
    prepared: &Prepared,
    metrics: &[Epoch],
    state: &State,
) -> Result<Summary> {
    let settings = run.settings();
    let best_epoch = state.best.as_ref().map_or(state.epoch, |best| best.epoch);
    let (Some(best), Some(last)) = (metrics.get(best_epoch - 1), metrics.last()) else {
        return Err(Error::Run { path: run.path().to_path_buf(), message: "it has no metrics".into() });
    };
    let split = &prepared.split;
    let reported = [&split.test, &split.validation, &split.train].into_iter().find(|part| !part.is_empty());
    let (classes, targets) = match &prepared.goal {
        Goal::Classes(classes) => (classes.clone(), Vec::new()),
        Goal::Targets(targets) | Goal::Labels(targets) => {
            (Vec::new(), targets.iter().map(|t| t.name.clone()).collect())
        }
    };
    let network = read_best(run.path(), settings)?.network.with_workspace(session.workspace());
    let remote = Remote::load(session, &network)?;
    let there = remote.as_ref().map(|remote| Evaluated { remote, averaged: false });
    let network = there.as_ref().map_or(&network as &dyn Scores, |there| there);
    let sets = Sets::measure(prepared, network, |network, graphs| {
        predicted(prepared, network, graphs, settings.training.batch)
    })?;
    Ok(Summary {
        dataset: settings.dataset.clone(),
        preset: settings.preset().to_string(),
        epochs: state.epoch,
        seed: settings.training.seed,
        stopped_early: state.epoch < settings.training.epochs,
        best_epoch,
        best: best.clone(),
        train_loss: last.train.loss,
        targets,
        scaling: prepared.scaling.clone(),
        mae_of_mean: reported.map(|part| prepared.error_of_the_mean(part)).unwrap_or_default(),
        select: settings.training.select,
        classes,
        sets: Some(sets),
    })
}
