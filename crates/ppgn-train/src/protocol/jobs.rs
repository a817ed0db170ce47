//! Many runs side by side: what the protocols are made of.
//!
//! A [`Job`] is a run folder that is to be there, finished. What is finished already is read, what was begun is resumed,
//! and what is there with other settings is an error before anything starts. Workers take jobs in order; each has a
//! thread pool of its own and of fixed size, so that what a run gives does not depend on how many run beside it.

use crate::error::{Error, Fits, Result};
use crate::memory::check_memory;
use crate::metrics::Epoch;
use crate::run::{Run, Summary, exists, read_metrics, read_settings, read_state, read_timing};
use crate::session::Session;
use crate::settings::{Origin, Settings, Trained};
use crate::trainer::{Event, Outcome, train};
use ppgn_graph::Dataset;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A run that is to be there, finished.
#[derive(Debug, Clone)]
pub struct Job {
    /// What people call it: `fold 3`.
    pub name: String,
    /// Its run folder.
    pub path: PathBuf,
    /// What it is.
    pub settings: Settings,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is there yet.
    Missing,
    /// It has finished this number of epochs, and is to be resumed.
    Begun(usize),
    /// It is done.
    Finished,
}

impl Job {
    /// How far it is. A run of other settings in its place is a wrong call that names the first difference.
    pub fn standing(&self) -> Result<Standing> {
        if !exists(&self.path)? {
            return Ok(Standing::Missing);
        }
        let there = read_settings(&self.path)?;
        if let Some(difference) = difference(&there, &self.settings)? {
            return Err(Error::OtherSettings { path: self.path.clone(), difference });
        }
        match Run::summary(&self.path)? {
            Some(_) => Ok(Standing::Finished),
            None => {
                let done = read_state(&self.path)?.map_or(0, |state| state.epoch);
                Ok(Standing::Begun(done.min(self.settings.training.epochs)))
            }
        }
    }

    /// Epochs that are still to be trained.
    pub fn epochs_left(&self) -> Result<usize> {
        let epochs = self.settings.training.epochs;
        Ok(match self.standing()? {
            Standing::Missing => epochs,
            Standing::Begun(done) => epochs - done,
            Standing::Finished => 0,
        })
    }

    /// The error with the job's name before it, where it does not name a file of it.
    pub(crate) fn failed(&self, error: Error) -> Error {
        match error {
            Error::Settings(_)
            | Error::NotFinite(_)
            | Error::OtherData { .. }
            | Error::Memory { .. }
            | Error::Network(_)
            | Error::Wl(_) => Error::Job { name: self.name.clone(), source: Box::new(error) },
            other => other,
        }
    }

    /// The run, made or opened.
    pub(crate) fn open(&self) -> Result<Run> {
        match self.standing()? {
            Standing::Missing => match Run::create(&self.path, self.settings.clone()) {
                // Another process has just made it, and is training in it.
                Err(Error::Exists { .. }) => Run::open(&self.path),
                made => made,
            },
            Standing::Begun(_) | Standing::Finished => Run::open(&self.path),
        }
    }
}

/// The first setting in which two runs differ, with both values. The name of the data does not count: its content does.
fn difference(there: &Settings, here: &Settings) -> Result<Option<String>> {
    if let (Some(there), Some(here)) = (there.trained(), here.trained())
        && there.digest != here.digest
    {
        return Ok(Some(format!("the data is not the same ({} there, {} here)", there.data, here.data)));
    }
    let table = |settings: &Settings| {
        let mut settings = settings.clone();
        if let Origin::Trained(Trained { data, .. }) = &mut settings.origin {
            data.clear();
        }
        // As JSON, which has all numbers that a seed can be.
        serde_json::to_value(settings)
            .map_err(|e| Error::settings(format!("the settings cannot be written: {e}")))
    };
    Ok(first_difference("", Some(&table(there)?), Some(&table(here)?)))
}

fn first_difference(key: &str, there: Option<&Value>, here: Option<&Value>) -> Option<String> {
    match (there, here) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let inner = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            names.into_iter().find_map(|name| first_difference(&inner(name), a.get(name), b.get(name)))
        }
        (a, b) if a == b => None,
        (a, b) => {
            let shown = |v: Option<&Value>| v.map_or("not set".to_string(), Value::to_string);
            Some(format!("{key} is {} there and {} here", shown(a), shown(b)))
        }
    }
}

/// The number of runs side by side, and the number of threads of each.
///
/// The bits of a run may depend on its threads, never on the jobs beside it. So the default of `threads` is a function
/// of the machine alone: a tenth of its cores (the protocols have ten folds), at least one. One thread per run is what
/// networks of this size use best; the cores are kept busy by as many jobs as fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    /// Runs side by side.
    pub jobs: usize,
    /// Threads of each.
    pub threads: usize,
}

impl Workers {
    /// These numbers of jobs and threads, where they are given.
    ///
    /// ```
    /// use ppgn_train::protocol::Workers;
    /// let w = Workers::new(Some(3), Some(2));
    /// assert_eq!((w.jobs, w.threads), (3, 2));
    /// assert!(Workers::new(None, None).jobs >= 1);
    /// ```
    pub fn new(jobs: Option<usize>, threads: Option<usize>) -> Self {
        let cores = cores();
        let threads = threads.unwrap_or(cores / 10).max(1);
        Workers { jobs: jobs.unwrap_or(cores / threads).max(1), threads }
    }

    /// For runs that go one after another: all cores for each, unless said otherwise.
    pub fn one_by_one(jobs: Option<usize>, threads: Option<usize>) -> Self {
        let jobs = jobs.unwrap_or(1).max(1);
        Workers { jobs, threads: threads.unwrap_or(cores() / jobs).max(1) }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// What happens to a job, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// A worker took it; this number of its epochs was done before.
    Began(usize),
    /// It is being trained.
    Training(Event<'a>),
    /// It is finished.
    Finished(&'a Summary),
    /// Its numbers were no longer finite.
    Diverged(&'a Error),
}

/// Hears of every [`Notice`], from the threads of all workers; returns `false` to stop everything after the running steps.
pub type JobWatcher<'a> = dyn Fn(&Job, Notice<'_>) -> bool + Sync + 'a;

/// A finished run, read.
#[derive(Debug, Clone)]
pub struct Finished {
    /// What it gave.
    pub summary: Summary,
    /// All its epochs.
    pub epochs: Vec<Epoch>,
    /// What its epochs took.
    pub seconds: f64,
}

impl Finished {
    fn read(path: &Path, summary: Summary) -> Result<Self> {
        let epochs = read_metrics(path, summary.epochs)?;
        Ok(Finished { summary, epochs, seconds: read_timing(path).iter().sum() })
    }
}

/// How a job ended.
#[derive(Debug)]
pub enum Ended {
    /// All its epochs are done.
    Finished(Box<Finished>),
    /// Its loss was not finite; the error says where.
    Diverged(Error),
}

/// Whether all jobs can be run: no other run is in their places, and the memory is there for as many as run at once.
fn check_jobs(session: &Session, jobs: &[Job], dataset: &Dataset, workers: Workers) -> Result<()> {
    let one = session.clone().with_threads(workers.threads)?;
    let mut needs = Vec::new();
    for job in jobs {
        if job.standing()? != Standing::Finished {
            needs.push(check_memory(&one, &job.settings, dataset).map_err(|e| job.failed(e))?);
        }
    }
    let Some((limit, &need)) = session.memory().zip(needs.iter().max()) else { return Ok(()) };
    let at_once = workers.jobs.min(needs.len());
    let together = need.saturating_mul(at_once as u64);
    if together <= limit {
        return Ok(());
    }
    let nodes = dataset.graphs().iter().map(|graph| graph.nodes()).max().unwrap_or(0);
    let fits = Fits::Jobs((limit / need.max(1)) as usize);
    Err(Error::Memory { need: together, limit, graphs: at_once, nodes, fits })
}

/// Runs what is missing of some jobs, all on one dataset; `None` if it was asked to stop.
///
/// Every job is looked at before the first starts. The first error stops the others after their running steps; what they
/// have finished stays, and the next call goes on from there.
pub fn run_jobs(
    session: &Session,
    jobs: &[Job],
    dataset: &Dataset,
    workers: Workers,
    watcher: &JobWatcher<'_>,
) -> Result<Option<Vec<Ended>>> {
    match check_jobs(session, jobs, dataset, workers) {
        Err(_) if session.check().is_err() => return Ok(None),
        checked => checked?,
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<Option<Ended>>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let work = || -> Result<()> {
        let session = session.clone().with_threads(workers.threads)?;
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i).filter(|_| !stop.load(Ordering::Relaxed)) else { return Ok(()) };
            let result = run_job(&session, job, dataset, watcher, &stop);
            if !matches!(result, Ok(Some(_))) {
                stop.store(true, Ordering::Relaxed);
            }
            *results[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.jobs.min(jobs.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| match t.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let (mut ended, mut stopped) = (Vec::with_capacity(jobs.len()), false);
    for (job, result) in jobs.iter().zip(results) {
        match result.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(Ok(Some(end))) => ended.push(end),
            Some(Err(error)) => return Err(job.failed(error)),
            Some(Ok(None)) | None => stopped = true,
        }
    }
    Ok((!stopped).then_some(ended))
}

fn run_job(
    session: &Session,
    job: &Job,
    dataset: &Dataset,
    watcher: &JobWatcher<'_>,
    stop: &AtomicBool,
) -> Result<Option<Ended>> {
    let standing = job.standing()?;
    if standing == Standing::Finished
        && let Some(summary) = Run::summary(&job.path)?
    {
        let go_on = watcher(job, Notice::Finished(&summary));
        let finished = Finished::read(&job.path, summary)?;
        stop.fetch_or(!go_on, Ordering::Relaxed);
        return Ok(Some(Ended::Finished(Box::new(finished))));
    }
    let run = job.open()?;
    let done = if let Standing::Begun(epochs) = standing { epochs } else { 0 };
    if !watcher(job, Notice::Began(done)) {
        return Ok(None);
    }
    let mut each = |event: Event<'_>| watcher(job, Notice::Training(event)) && !stop.load(Ordering::Relaxed);
    match train(session, &run, dataset, &mut each) {
        Ok(Outcome::Stopped { .. }) => Ok(None),
        Ok(Outcome::Finished(summary)) => {
            watcher(job, Notice::Finished(&summary));
            Ok(Some(Ended::Finished(Box::new(Finished::read(run.path(), *summary)?))))
        }
        Err(error @ Error::NotFinite(_)) => {
            watcher(job, Notice::Diverged(&error));
            Ok(Some(Ended::Diverged(error)))
        }
        Err(error) => Err(error),
    }
}
