//! Many runs side by side: what the protocols consist of.
//!
//! A [`Job`] is a run that should exist and be finished. Finished runs are read, started ones are resumed, those of fewer
//! epochs are extended, and a run with other settings in the same folder is an error before anything starts. Workers take
//! jobs in order; each has a thread pool of its own.

use crate::error::{Error, Fits, NotFinite, Result};
use crate::memory::check_job;
use crate::metrics::{Best, Epoch, Predictions};
use crate::ranks::{Hear, Jobs, Ranks, understood};
use crate::run::{
    Run, Summary, exists, read_metrics, read_predictions, read_settings, read_state, read_timing,
};
use crate::session::Session;
use crate::settings::{Origin, Schedule, Settings, Trained};
use crate::trainer::{Event, Outcome, train};
use ppgn_graph::Dataset;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A run that should exist and be finished.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its name for people: `fold 3`.
    pub name: String,
    /// Its run folder.
    pub path: PathBuf,
    /// Its settings.
    pub settings: Settings,
}

/// The progress of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// There is no run folder yet.
    Missing,
    /// This number of epochs is done; it will be resumed.
    Begun(usize),
    /// All epochs are done.
    Finished,
}

impl Job {
    /// Its progress. A run with other settings in its folder is a wrong call that names the first difference; but one of
    /// fewer epochs has begun.
    pub fn standing(&self) -> Result<Standing> {
        if !exists(&self.path)? {
            return Ok(Standing::Missing);
        }
        let there = read_settings(&self.path)?;
        let (mut here, is_extended) = (self.settings.clone(), self.extends(&there));
        if is_extended {
            here.training.epochs = there.training.epochs;
        }
        if let Some(difference) = difference(&there, &here)? {
            return Err(Error::OtherSettings { path: self.path.clone(), difference });
        }
        match Run::summary(&self.path)? {
            Some(_) if !is_extended => Ok(Standing::Finished),
            _ => {
                let done = read_state(&self.path)?.map_or(0, |state| state.epoch);
                Ok(Standing::Begun(done.min(self.settings.training.epochs)))
            }
        }
    }

    /// Whether it has more epochs than the run that is there, and begins with the same. (The rates of a cosine depend on the
    /// number of epochs from the first one on.)
    fn extends(&self, there: &Settings) -> bool {
        let (there, here) = (&there.training, &self.settings.training);
        here.epochs > there.epochs && here.schedule != Schedule::Cosine
    }

    /// Epochs left to train.
    pub fn epochs_left(&self) -> Result<usize> {
        let epochs = self.settings.training.epochs;
        Ok(match self.standing()? {
            Standing::Missing => epochs,
            Standing::Begun(done) => epochs - done,
            Standing::Finished => 0,
        })
    }

    /// The error with the job's name in front, unless it names one of its files.
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

    /// Creates or opens the run, and extends one of fewer epochs.
    pub(crate) fn open(&self) -> Result<Run> {
        match self.standing()? {
            Standing::Missing => match Run::create(&self.path, self.settings.clone()) {
                // Another process has just created it, and is training in it.
                Err(Error::Exists { .. }) => Run::open(&self.path),
                made => made,
            },
            Standing::Begun(_) | Standing::Finished => {
                let mut run = Run::open(&self.path)?;
                run.extend(self.settings.training.epochs)?;
                Ok(run)
            }
        }
    }
}

/// The first setting in which two runs differ, with both values. Data is compared by content, not by name.
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
        // As JSON, which can represent every seed.
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
/// The result of a run depends on neither. By default a run has a tenth of the cores (the protocols have ten folds), at
/// least one, because networks of this size use a single thread best; the number of jobs keeps all cores busy.
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
        Workers::on(cores(), jobs, threads)
    }

    /// The same where only this number of cores is there to use: some belong to other ranks.
    pub fn on(cores: usize, jobs: Option<usize>, threads: Option<usize>) -> Self {
        let threads = threads.unwrap_or(cores / 10).max(1);
        Workers { jobs: jobs.unwrap_or(cores / threads).max(1), threads }
    }

    /// For runs one after another: all cores for each by default.
    pub fn one_by_one(jobs: Option<usize>, threads: Option<usize>) -> Self {
        Workers::one_by_one_on(cores(), jobs, threads)
    }

    /// The same where only this number of cores is there to use.
    pub fn one_by_one_on(cores: usize, jobs: Option<usize>, threads: Option<usize>) -> Self {
        let jobs = jobs.unwrap_or(1).max(1);
        Workers { jobs, threads: threads.unwrap_or(cores / jobs).max(1) }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// An event of a job.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// A worker started it; this number of epochs was done before.
    Began(usize),
    /// It is being trained.
    Training(Event<'a>),
    /// It is finished.
    Finished(&'a Summary),
    /// Its loss was not finite.
    Diverged(&'a Error),
}

/// Is called with every [`Notice`], from the threads of all workers; returns `false` to stop everything after the
/// current steps.
pub type JobWatcher<'a> = dyn Fn(&Job, Notice<'_>) -> bool + Sync + 'a;

/// The results of a finished run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finished {
    /// Its summary.
    pub summary: Summary,
    /// All its epochs.
    pub epochs: Vec<Epoch>,
    /// Seconds of all its epochs.
    pub seconds: f64,
    /// Its predictions, epoch by epoch, where they are kept.
    pub predictions: Vec<Predictions>,
}

impl Finished {
    fn read(job: &Job, summary: Summary) -> Result<Self> {
        let path = &job.path;
        let epochs = read_metrics(path, summary.epochs)?;
        let kept = job.settings.training.keep_predictions;
        let predictions = if kept { read_predictions(path, summary.epochs)? } else { Vec::new() };
        Ok(Finished { summary, epochs, seconds: read_timing(path).iter().sum(), predictions })
    }
}

/// How a job ended.
#[derive(Debug)]
pub enum Ended {
    /// All its epochs are done.
    Finished(Box<Finished>),
    /// Its loss was not finite; the error says at which epoch and batch.
    Diverged(Error),
}

/// What all jobs gave; the error of the first whose loss was not finite.
pub(super) fn all_finished(jobs: &[Job], ended: Vec<Ended>) -> Result<Vec<Finished>> {
    let one = |(job, ended): (&Job, Ended)| match ended {
        Ended::Finished(finished) => Ok(*finished),
        Ended::Diverged(error) => Err(job.failed(error)),
    };
    jobs.iter().zip(ended).map(one).collect()
}

/// Whether all jobs can be run: no other run is in their places, and the memory is there for as many as run at once.
fn check_jobs(session: &Session, jobs: &[Job], dataset: &Dataset, workers: Workers) -> Result<()> {
    let one = session.clone().with_threads(workers.threads)?;
    let mut needs = Vec::new();
    for job in jobs {
        if job.standing()? != Standing::Finished {
            needs.push(check_job(&one, &job.settings, dataset).map_err(|e| job.failed(e))?);
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

/// Runs what is missing of some jobs, all on one dataset; `None` if it was stopped. Among several ranks each takes a job when
/// it is free, and all have the results; run folders are on a disk that all ranks see.
///
/// Every job is checked before the first one starts. The first error stops the others after their current steps; the
/// next call resumes from there.
pub fn run_jobs(
    session: &Session,
    jobs: &[Job],
    dataset: &Dataset,
    workers: Workers,
    watcher: &JobWatcher<'_>,
) -> Result<Option<Vec<Ended>>> {
    // Rank 0 looks for all, before another can have begun.
    if session.leads() {
        match check_jobs(session, jobs, dataset, workers) {
            Err(_) if session.check().is_err() => return Ok(None),
            checked => checked?,
        }
    }
    if let Some(ranks) = session.ranks() {
        return run_on_ranks(session, ranks, jobs, dataset, workers, watcher);
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

/// What a job on another rank tells rank 0.
#[derive(Serialize, Deserialize)]
enum Told {
    Began(usize),
    Epoch { epoch: Box<Epoch>, best: Best, seconds: f64 },
    Finished(Box<Summary>),
    Diverged(NotFinite),
}

impl Told {
    fn of(notice: &Notice<'_>) -> Option<Self> {
        match notice {
            Notice::Began(epochs) => Some(Told::Began(*epochs)),
            Notice::Training(Event::Epoch { epoch, best, seconds }) => Some(Told::Epoch {
                epoch: Box::new((*epoch).clone()),
                best: (*best).clone(),
                seconds: *seconds,
            }),
            Notice::Finished(summary) => Some(Told::Finished(Box::new((*summary).clone()))),
            Notice::Diverged(Error::NotFinite(place)) => Some(Told::Diverged(place.clone())),
            // Of no interest elsewhere, or too often.
            Notice::Training(_) | Notice::Diverged(_) => None,
        }
    }

    fn hand_on(&self, job: &Job, watcher: &JobWatcher<'_>) -> bool {
        match self {
            Told::Began(epochs) => watcher(job, Notice::Began(*epochs)),
            Told::Epoch { epoch, best, seconds } => {
                watcher(job, Notice::Training(Event::Epoch { epoch, best, seconds: *seconds }))
            }
            Told::Finished(summary) => watcher(job, Notice::Finished(summary)),
            Told::Diverged(place) => watcher(job, Notice::Diverged(&Error::NotFinite(place.clone()))),
        }
    }
}

/// The same among several ranks.
fn run_on_ranks(
    session: &Session,
    ranks: &Ranks,
    jobs: &[Job],
    dataset: &Dataset,
    workers: Workers,
    watcher: &JobWatcher<'_>,
) -> Result<Option<Vec<Ended>>> {
    let alone = session.clone().with_ranks(None);
    let stop = AtomicBool::new(false);
    let work = |i: usize, tell: &Hear<'_>| -> Result<Option<Vec<u8>>> {
        let (job, own) = (&jobs[i], alone.clone().with_threads(workers.threads)?);
        let elsewhere = |_: &Job, notice: Notice<'_>| {
            let told = Told::of(&notice).and_then(|told| serde_json::to_vec(&told).ok());
            tell(i, &told.unwrap_or_default())
        };
        let here = |job: &Job, notice: Notice<'_>| watcher(job, notice) && tell(i, &[]);
        let ended = match ranks.leads() {
            true => run_job(&own, job, dataset, &here, &stop),
            false => run_job(&own, job, dataset, &elsewhere, &stop),
        };
        let result = match ended.map_err(|e| job.failed(e))? {
            Some(Ended::Finished(finished)) => Elsewhere::Finished(finished),
            Some(Ended::Diverged(Error::NotFinite(place))) => Elsewhere::Diverged(place),
            Some(Ended::Diverged(error)) => return Err(job.failed(error)),
            None => return Ok(None),
        };
        Ok(Some(serde_json::to_vec(&result).unwrap_or_default()))
    };
    let hear = |i: usize, told: &[u8]| {
        let told = serde_json::from_slice::<Told>(told);
        let told = jobs.get(i).zip(told.ok());
        told.is_none_or(|(job, told)| told.hand_on(job, watcher)) && session.check().is_ok()
    };
    let farmed = Jobs { count: jobs.len(), at_once: workers.jobs, work: &work, hear: &hear };
    let Some(results) = ranks.farm(farmed)? else { return Ok(None) };
    let ended = |result: &Vec<u8>| {
        Ok(match understood(result)? {
            Elsewhere::Finished(finished) => Ended::Finished(finished),
            Elsewhere::Diverged(place) => Ended::Diverged(Error::NotFinite(place)),
        })
    };
    results.iter().map(ended).collect::<Result<_>>().map(Some)
}

/// How a job on another rank ended. The figures travel, because a file of another machine may take a while to appear here.
#[derive(Serialize, Deserialize)]
enum Elsewhere {
    Finished(Box<Finished>),
    Diverged(NotFinite),
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
        let proceed = watcher(job, Notice::Finished(&summary));
        let finished = Finished::read(job, summary)?;
        stop.fetch_or(!proceed, Ordering::Relaxed);
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
            Ok(Some(Ended::Finished(Box::new(Finished::read(job, *summary)?))))
        }
        Err(error @ Error::NotFinite(_)) => {
            watcher(job, Notice::Diverged(&error));
            Ok(Some(Ended::Diverged(error)))
        }
        Err(error) => Err(error),
    }
}
