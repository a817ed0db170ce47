//! Runs a protocol over a suite: pairs side by side on all cores, each on one thread, resumable pair by pair.

use super::bound;
use super::collection::{Collected, collect};
use super::report::Report;
use super::store::{Record, Store};
use super::subject::Subject;
use super::suite::{Pairing, Suite};
use super::trial::{Place, trial};
use crate::error::{Error, Result};
use crate::ranks::{Hear, Jobs, Ranks, understood};
use crate::session::Session;
use ppgn_wl::Test;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// When a pair counts as distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// BREC's reliable paired comparisons.
    Rpc,
    /// Untrained weights.
    Random,
    /// The test that bounds the network.
    Exact,
}

impl Protocol {
    /// Its name: `rpc`, `random` or `exact`.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Rpc => "rpc",
            Protocol::Random => "random",
            Protocol::Exact => "exact",
        }
    }
}

impl std::str::FromStr for Protocol {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = [Protocol::Rpc, Protocol::Random, Protocol::Exact].into_iter().find(|p| p.name() == name);
        found.ok_or_else(|| {
            Error::settings(format!("`{name}` is not a protocol; choose rpc, random or exact"))
        })
    }
}

/// What to run.
pub struct Lab<'a> {
    /// The pairs.
    pub suite: &'a Suite,
    /// The protocol.
    pub protocol: Protocol,
    /// The test that bounds the subject.
    pub bound: Test,
    /// What is measured; `exact` needs nothing.
    pub subject: Option<&'a dyn Subject>,
    /// The seeds of weights and copies.
    pub seeds: Vec<u64>,
    /// All other settings, for the report and for who resumes.
    pub settings: Value,
    /// Pairs side by side. Default: one per core.
    pub jobs: usize,
    /// The folder in which results are kept, pair by pair.
    pub out: Option<PathBuf>,
}

/// A pair is done.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Pairs that are done.
    pub done: usize,
    /// All pairs.
    pub pairs: usize,
}

impl<'a> Lab<'a> {
    /// The exact bound of a suite; with a subject, what it distinguishes with seed 0.
    pub fn new(suite: &'a Suite, protocol: Protocol, bound: Test) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let (subject, settings, out) = (None, Value::Null, None);
        Lab { suite, protocol, bound, subject, seeds: vec![0], settings, jobs, out }
    }

    /// Runs what is missing and reports on everything. Stops with [`Error::Interrupted`]; what was finished is kept in the
    /// folder, and the next call goes on from there.
    ///
    /// # Complexity
    /// For every pair, the exact test, and for every seed the protocol: `rpc` is at most 20 epochs over 64 graphs and
    /// 128 forward passes, `random` 16 forward passes per variant.
    pub fn run(&self, session: &Session, watch: &(dyn Fn(Progress) + Sync)) -> Result<Report> {
        let start = Instant::now();
        self.check()?;
        // Rank 0 makes the folder, before another looks for it.
        let store = match session.ranks() {
            None => Store::open(self)?,
            Some(ranks) if ranks.leads() => {
                let store = Store::open(self)?;
                ranks.decided(|| ())?;
                store
            }
            Some(ranks) => {
                ranks.decided(|| ())?;
                Store::open(self)?
            }
        };
        let listed = self.suite.categories.iter().enumerate();
        let units: Vec<(usize, usize)> =
            listed.flat_map(|(c, category)| (0..category.pairs().len()).map(move |p| (c, p))).collect();
        let records = self.side_by_side(session, &store, &units, watch)?;
        let mut collected: Vec<(usize, Collected)> = Vec::new();
        for (c, category) in self.suite.categories.iter().enumerate() {
            if category.pairing == Pairing::Collection {
                collected.push((c, collect(self, session, &store, category)?));
            }
        }
        let report = Report::new(self, &units, &records, collected, start.elapsed().as_secs_f64());
        if session.leads() {
            store.finish(&report)?;
        }
        Ok(report)
    }

    fn check(&self) -> Result<()> {
        if self.protocol != Protocol::Exact && self.subject.is_none() {
            return Err(Error::settings(
                "there is nothing to measure: only the protocol `exact` needs no network",
            ));
        }
        if self.protocol != Protocol::Exact && self.seeds.is_empty() {
            return Err(Error::settings("there must be at least one seed"));
        }
        let many = |c: &&super::Category| c.pairing == Pairing::Collection && self.protocol == Protocol::Rpc;
        match self.suite.categories.iter().find(many) {
            Some(category) => Err(Error::settings(format!(
                "{} has {} pairs, too many to train a network for each; use the protocol `random` or `exact`",
                category.name,
                category.len()
            ))),
            None => Ok(()),
        }
    }

    /// The records of all units, in order. Workers take them in order; the first error stops the others.
    fn side_by_side(
        &self,
        session: &Session,
        store: &Store,
        units: &[(usize, usize)],
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Record>> {
        let (next, done, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        if let Some(ranks) = session.ranks() {
            return self.on_ranks(session, ranks, store, units, watch);
        }
        let results: Vec<Mutex<Option<Result<Record>>>> = units.iter().map(|_| Mutex::new(None)).collect();
        let jobs = self.jobs.clamp(1, units.len().max(1));
        let work = || -> Result<()> {
            let session = match jobs {
                1 => session.clone(),
                _ => session.clone().with_threads(1)?,
            };
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(c, p)) = units.get(i).filter(|_| !stop.load(Ordering::Relaxed)) else {
                    return Ok(());
                };
                let result = session.install(|| self.unit(&session, store, c, p));
                stop.fetch_or(result.is_err(), Ordering::Relaxed);
                *results[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
                watch(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, pairs: units.len() });
            }
        };
        match jobs {
            // On the caller's thread: a subject may be bound to it.
            1 => work()?,
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
                threads.into_iter().try_for_each(|t| match t.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
            })?,
        }
        let mut records = Vec::with_capacity(units.len());
        let mut unfinished = false;
        for (result, &(c, p)) in results.into_iter().zip(units) {
            match result.into_inner().unwrap_or_else(|e| e.into_inner()) {
                Some(Ok(record)) => records.push(record),
                Some(Err(Error::Interrupted)) | None => unfinished = true,
                Some(Err(_)) if session.check().is_err() => unfinished = true,
                Some(Err(error)) => return Err(self.failed(c, p, error)),
            }
        }
        if unfinished { Err(Error::Interrupted) } else { Ok(records) }
    }

    /// The same among several ranks, each of which takes a pair when it is free.
    fn on_ranks(
        &self,
        session: &Session,
        ranks: &Ranks,
        store: &Store,
        units: &[(usize, usize)],
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Record>> {
        let done = AtomicUsize::new(0);
        let alone = session.clone().with_ranks(None);
        let work = |i: usize, tell: &Hear<'_>| -> Result<Option<Vec<u8>>> {
            let (session, (c, p)) = (alone.clone().with_threads(1)?, units[i]);
            let record = match session.install(|| self.unit(&session, store, c, p)) {
                Err(_) if session.check().is_err() => return Ok(None),
                record => record.map_err(|error| self.failed(c, p, error))?,
            };
            tell(i, &[]);
            Ok(Some(serde_json::to_vec(&record).unwrap_or_default()))
        };
        let hear = |_: usize, _: &[u8]| {
            watch(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, pairs: units.len() });
            session.check().is_ok()
        };
        let jobs = Jobs { count: units.len(), at_once: self.jobs.max(1), work: &work, hear: &hear };
        let records = ranks.farm(jobs)?.ok_or(Error::Interrupted)?;
        records.iter().map(|record| understood(record)).collect()
    }

    /// The error of a pair with its name.
    fn failed(&self, c: usize, p: usize, error: Error) -> Error {
        let name = format!("pair {p} of {}", self.suite.categories[c].name);
        Error::Job { name, source: Box::new(error) }
    }

    /// One pair: its bound, then seed after seed, each kept as soon as it is there.
    fn unit(&self, session: &Session, store: &Store, c: usize, p: usize) -> Result<Record> {
        let category = &self.suite.categories[c];
        let pair = category.pairs()[p].map(|g| &category.graphs[g]);
        let mut record = match store.read(category, p)? {
            Some(record) => record,
            None => {
                session.check()?;
                let rounds = bound::rounds(session, self.bound, pair)?;
                Record { category: category.name.clone(), pair: p, rounds, trials: Vec::new() }
            }
        };
        if let Some(subject) = self.subject.filter(|_| self.protocol != Protocol::Exact) {
            for &seed in &self.seeds {
                if record.trials.iter().any(|t| t.seed == seed) {
                    continue;
                }
                session.check()?;
                let place = Place { category: &category.name, pair: p, seed };
                let trains = self.protocol == Protocol::Rpc;
                record.trials.push(trial(session, subject, pair, place, trains)?);
                store.write(category, &record)?;
            }
        } else {
            store.write(category, &record)?;
        }
        record.trials.retain(|t| self.seeds.contains(&t.seed));
        Ok(record)
    }
}
