//! The epochs of a run, as rank 0 or a process that is alone trains them: each ends with its metrics, the best network and a
//! checkpoint on the disk, in an order from which a run that was killed at any moment goes on.

use super::evaluate::first_not_finite;
use super::follow::Order;
use super::learner::{Evaluation, Given, Learner};
use super::{Event, Outcome, Watcher, ending};
use crate::data::Prepared;
use crate::error::{Error, NotFinite, Result};
use crate::metrics::{Best, Epoch, Predictions};
use crate::ranks::Team;
use crate::run::{History, Restored, Run, State};
use crate::session::Session;
use std::time::Instant;

/// All epochs that are left, and the summary.
pub(super) fn epochs(
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
            let Learner { network, adam, average, .. } = Learner::new(session, settings)?;
            let state = State { epoch: 0, steps: 0, best: None, digests: None };
            let (history, warnings) = (History::new(), Vec::new());
            Restored { network, adam, average, state, history, best_is_ahead: false, warnings }
        }
    };
    let Restored { network, adam, average, mut state, mut history, mut best_is_ahead, .. } = restored;
    if !go_on {
        return Ok(Outcome::Stopped { epochs: state.epoch });
    }
    let mut learner = Learner::resumed(session, network, adam, average);
    let team = session.ranks().map(|ranks| {
        learner.synchronise(ranks)?;
        Team::start(ranks, prepared)
    });
    let team = team.transpose()?;
    let given = Given { session, settings, prepared, team: team.as_ref() };
    run.cut_metrics(state.epoch)?;
    learner.send(&given)?;
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
        let Some(train) = learner.epoch(&given, number, rate, watcher)? else {
            return Ok(Outcome::Stopped { epochs: state.epoch });
        };
        learner.fetch()?;
        let Evaluation { averaged, stands, last, predictions } = learner.evaluate(&given)?;
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
        if let Some(predictions) = predictions {
            run.record_predictions(&Predictions { epoch: number, ..predictions })?;
        }
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
    let summary = ending::finish(session, run, prepared, &history.epochs, &state)?;
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
