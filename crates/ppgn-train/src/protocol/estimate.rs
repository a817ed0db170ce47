//! Estimates how long a protocol will take, from one epoch of its first run.

use super::jobs::{Job, Workers};
use crate::error::Result;
use crate::run::read_timing;
use crate::session::Session;
use crate::trainer::{Event, train};
use ppgn_graph::Dataset;
use std::time::{Duration, Instant};

/// An epoch that takes longer is extrapolated from the graphs trained by then: nobody waits hours for an estimate.
const PATIENCE: Duration = Duration::from_secs(60);

/// The remaining seconds of jobs on one dataset, and the seconds per epoch; `None` if it was stopped.
///
/// The time of an epoch is known from runs that were started. Otherwise the first epoch of the first missing job is
/// trained, in its own run folder, so that nothing is wasted: `seconds = epoch * epochs left / jobs at a time`. After a
/// minute it stops, and extrapolates from the graphs trained so far.
pub fn estimate(
    session: &Session,
    jobs: &[Job],
    dataset: &Dataset,
    workers: Workers,
) -> Result<Option<Estimate>> {
    let mut left = jobs.iter().map(Job::epochs_left).collect::<Result<Vec<usize>>>()?;
    if left.iter().all(|&n| n == 0) {
        return Ok(Some(Estimate { epoch: 0.0, seconds: 0.0, work: 0.0 }));
    }
    let timed: Vec<f64> = jobs.iter().flat_map(|job| read_timing(&job.path)).collect();
    let epoch = match timed.len() {
        0 => {
            let first = left.iter().position(|&n| n > 0).unwrap_or(0);
            let session = session.clone().with_threads(workers.threads)?;
            let measured = measure(&session, &jobs[first], dataset).map_err(|e| jobs[first].failed(e));
            let Some(epoch) = measured? else { return Ok(None) };
            left[first] = jobs[first].epochs_left()?;
            epoch
        }
        n => timed.iter().sum::<f64>() / n as f64,
    };
    let at_a_time = workers.jobs.min(left.iter().filter(|&&n| n > 0).count()).max(1);
    // No job can take less than its own epochs, however many workers there are.
    let most = left.iter().max().copied().unwrap_or(0) as f64;
    let all = left.iter().sum::<usize>() as f64;
    let shared = all / at_a_time as f64;
    Ok(Some(Estimate { epoch, seconds: epoch * shared.max(most), work: epoch * all }))
}

/// The estimated time of some jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds per epoch of one run; 0 if nothing is left to train.
    pub epoch: f64,
    /// Remaining seconds of all jobs.
    pub seconds: f64,
    /// The same if they were trained one after another.
    pub work: f64,
}

/// Trains the first epoch of a job, or a minute of it.
fn measure(session: &Session, job: &Job, dataset: &Dataset) -> Result<Option<f64>> {
    let run = job.open()?;
    let mut start = Instant::now();
    let mut seconds = None;
    let mut watch = |event: Event<'_>| {
        match event {
            Event::Epoch { seconds: all, .. } => seconds = Some(all),
            Event::Step { graphs, of, .. } if start.elapsed() > PATIENCE && graphs > 0 => {
                seconds = Some(start.elapsed().as_secs_f64() * of as f64 / graphs as f64);
            }
            Event::Step { .. } | Event::Warning(_) => {}
            // Graphs are coloured once for all jobs.
            Event::Ready { .. } => start = Instant::now(),
        }
        seconds.is_none()
    };
    train(session, &run, dataset, &mut watch)?;
    Ok(seconds)
}
