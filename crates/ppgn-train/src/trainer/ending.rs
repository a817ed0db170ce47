//! The end of a run: what its best network reaches on every set, as summary and report.

use super::evaluate::predicted;
use crate::data::{Goal, Prepared};
use crate::error::{Error, Result};
use crate::metrics::{Epoch, Sets};
use crate::remote::{Evaluated, Remote, Scores};
use crate::report;
use crate::run::{Run, State, Summary, read_best};
use crate::session::Session;

/// Writes the report and the summary of a run whose epochs are done.
pub(super) fn finish(
    session: &Session,
    run: &Run,
    prepared: &Prepared,
    metrics: &[Epoch],
    state: &State,
) -> Result<Summary> {
    let network = read_best(run.path(), run.settings())?.network.with_workspace(session.workspace());
    let remote = Remote::load(session, &network)?;
    let there = remote.as_ref().map(|remote| Evaluated { remote, averaged: false });
    let best = there.as_ref().map_or(&network as &dyn Scores, |there| there);
    let batch = run.settings().training.batch;
    let sets = Sets::measure(prepared, |graphs| predicted(prepared, best, graphs, batch))?;
    let summary = summarise(run, prepared, metrics, state, sets)?;
    // The summary says that a run is finished, so it comes last.
    report::write(run, &summary, metrics, &parity(prepared, best, batch)?)?;
    run.finish(&summary)?;
    Ok(summary)
}

fn summarise(
    run: &Run,
    prepared: &Prepared,
    metrics: &[Epoch],
    state: &State,
    sets: Sets,
) -> Result<Summary> {
    let settings = run.settings();
    let best_epoch = state.best.as_ref().map_or(state.epoch, |best| best.epoch);
    let (Some(best), Some(last)) = (metrics.get(best_epoch - 1), metrics.last()) else {
        return Err(Error::Run { path: run.path().to_path_buf(), message: "it has no metrics".into() });
    };
    let (classes, targets) = match &prepared.goal {
        Goal::Classes(classes) => (classes.clone(), Vec::new()),
        Goal::Targets(targets) | Goal::Labels(targets) => {
            (Vec::new(), targets.iter().map(|t| t.name.clone()).collect())
        }
    };
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
        mae_of_mean: reported(prepared).map(|part| prepared.error_of_the_mean(part)).unwrap_or_default(),
        select: settings.training.select,
        classes,
        sets: Some(sets),
    })
}

/// The set that is reported: the test set, or the next best where there is none.
fn reported(prepared: &Prepared) -> Option<&[u32]> {
    let split = &prepared.split;
    let sets = [&split.test, &split.validation, &split.train];
    sets.into_iter().find(|set| !set.is_empty()).map(Vec::as_slice)
}

/// For regression, the truth and the prediction of the best network for all that is known of the set that is reported, target by
/// target.
fn parity(prepared: &Prepared, best: &dyn Scores, batch: usize) -> Result<Vec<Vec<(f64, f64)>>> {
    let Goal::Targets(targets) = &prepared.goal else { return Ok(Vec::new()) };
    let Some(graphs) = reported(prepared) else { return Ok(Vec::new()) };
    let predicted = predicted(prepared, best, graphs, batch)?;
    let truth = prepared.standardised(graphs);
    let reference = prepared.reference(graphs);
    let of_target = |t: usize| {
        let in_unit = |x: f64| x * prepared.scaling[t].deviation + prepared.scaling[t].mean;
        let pairs = truth.iter().zip(predicted.scores()).zip(&reference).skip(t).step_by(targets.len());
        pairs.map(|((truth, score), part)| (in_unit(*truth) + part, in_unit(*score) + part)).collect()
    };
    Ok((0..targets.len()).map(of_target).collect())
}
