//! The counting tasks: one network per substructure learns to count it, and its error stands beside published ones.
//!
//! As in Huang et al., *Boosting the cycle counting power of graph neural networks with I2-GNNs* (ICLR 2023): random graphs,
//! split 30/20/50, and the mean absolute error divided by the deviation of the target, so that 1 is about what the mean of
//! the target gets. Runs are folders like any other, so everything resumes.

use crate::error::{Error, Result};
use crate::protocol::{Ended, Job, JobWatcher, Workers, run_jobs};
use crate::session::Session;
use crate::settings::{Division, Request, Settings};
use ppgn_graph::substructures::SUBSTRUCTURES;
use ppgn_graph::{Dataset, Item};
use ppgn_nn::Level;
use serde::Serialize;
use std::path::Path;

/// The shares of training, validation and test.
pub const COUNTING_SPLIT: [f64; 3] = [0.3, 0.2, 0.5];

/// Published errors, per node, in the order of [`SUBSTRUCTURES`]: Huang et al. 2023, Tables 2 and 3.
/// docs/expressiveness.md says which were compared with a second source, and which targets differ from ours.
pub const PUBLISHED: [(&str, [f64; 7]); 6] = [
    ("MPNN", [0.3515, 0.3631, 0.3114, 0.2742, 0.2088, 0.1555, 0.1645]),
    ("ID-GNN", [0.0006, 0.1053, 0.0454, 0.0022, 0.0490, 0.0495, 0.0026]),
    ("NGNN", [0.0003, 0.1044, 0.0392, 0.0013, 0.0402, 0.0439, 0.0045]),
    ("GIN-AK+", [0.0004, 0.0043, 0.0112, 0.0041, 0.0133, 0.0238, 0.0049]),
    ("PPGN", [0.0003, 0.0026, 0.0015, 0.0009, 0.0036, 0.0071, 0.1646]),
    ("I2-GNN", [0.0003, 0.0011, 0.0010, 0.0016, 0.0028, 0.0082, 0.0003]),
];

/// The error of one network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counted {
    /// The substructure.
    pub name: String,
    /// The mean absolute error on the test set, divided by the deviation of the target over all graphs, or all their nodes.
    pub error: f64,
    /// The same of the mean of the training set.
    pub baseline: f64,
    /// The deviation of the target.
    pub deviation: f64,
    /// The epoch that was chosen by the validation set.
    pub best_epoch: usize,
    /// Seconds of all its epochs.
    pub seconds: f64,
}

/// The runs of a counting task, one per target.
pub fn counting_jobs(request: &Request<'_>, out: &Path) -> Result<Vec<Job>> {
    let names: Vec<String> = match request.targets.is_empty() {
        true => SUBSTRUCTURES.map(String::from).to_vec(),
        false => request.targets.clone(),
    };
    let job = |name: String| {
        let division = Division::Shares(COUNTING_SPLIT);
        let settings =
            Settings::resolve(&Request { targets: vec![name.clone()], division, ..request.clone() })?;
        Ok(Job { path: out.join(&name), name, settings })
    };
    names.into_iter().map(job).collect()
}

/// Trains what is missing, and measures; `None` if it was stopped.
pub fn counting(
    session: &Session,
    jobs: &[Job],
    dataset: &Dataset,
    workers: Workers,
    watcher: &JobWatcher<'_>,
) -> Result<Option<Vec<Counted>>> {
    let Some(ended) = run_jobs(session, jobs, dataset, workers, watcher)? else { return Ok(None) };
    let mut counted = Vec::new();
    for (job, ended) in jobs.iter().zip(ended) {
        let finished = match ended {
            Ended::Finished(finished) => finished,
            Ended::Diverged(error) => return Err(error),
        };
        let none = || Error::Incomplete(format!("{} has no figures of a test set", job.path.display()));
        let test = finished.summary.sets.as_ref().and_then(|sets| sets.test.as_ref()).ok_or_else(none)?;
        let deviation = deviation(dataset, job.settings.network.level, &job.name)?;
        let [error, baseline] = [&test.metrics, &test.baseline]
            .map(|part| part.mae.first().copied().unwrap_or(f64::NAN) / deviation);
        let best_epoch = finished.summary.best_epoch;
        counted.push(Counted {
            name: job.name.clone(),
            error,
            baseline,
            deviation,
            best_epoch,
            seconds: finished.seconds,
        });
    }
    Ok(Some(counted))
}

/// The deviation of a target over all graphs, or over all their nodes.
fn deviation(dataset: &Dataset, level: Level, name: &str) -> Result<f64> {
    let targets = match level {
        Level::Node => &dataset.learnable(Item::Node).targets,
        _ => &dataset.header().targets,
    };
    let column = targets.iter().position(|known| known.name == name);
    let column =
        column.ok_or_else(|| Error::settings(format!("{} has no target `{name}`", dataset.name())))?;
    let of = |i: usize| match level {
        Level::Node => {
            let known = dataset.known(Item::Node, i);
            (0..known.len()).map(|u| known.values(u)[column]).collect()
        }
        _ => vec![dataset.targets(i)[column]],
    };
    let values: Vec<f64> = (0..dataset.len()).flat_map(of).collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len().max(1) as f64;
    match variance > 0.0 {
        true => Ok(variance.sqrt()),
        false => Err(Error::settings(format!(
            "the target `{name}` is the same everywhere: there is nothing to learn"
        ))),
    }
}
