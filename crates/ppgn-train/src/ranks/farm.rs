//! Jobs for whoever is free: every rank takes the next one when it has finished one, rank 0 too.
//!
//! Rank 0 answers the others on a thread of its own while it computes. What a job gives travels back as bytes, with the request
//! for the next one; when all jobs are done, every rank has all results.

use super::Ranks;
use super::link::Channel;
use super::team::understood;
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a rank says to rank 0.
enum Free {
    /// It wants a job.
    Ask,
    /// It has finished this one, with this result.
    Done(usize, Vec<u8>),
    /// It was stopped, or something went wrong.
    Stopped(Option<String>),
    /// Something to tell while it works.
    Note(usize, Vec<u8>),
}

impl Free {
    /// A letter, the number of a job, and any bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let (letter, job, rest): (u8, usize, &[u8]) = match self {
            Free::Ask => (b'a', 0, &[]),
            Free::Done(job, result) => (b'd', *job, result),
            Free::Stopped(None) => (b's', 0, &[]),
            Free::Stopped(Some(why)) => (b'f', 0, why.as_bytes()),
            Free::Note(job, note) => (b'n', *job, note),
        };
        [&[letter], &(job as u64).to_le_bytes()[..], rest].concat()
    }

    fn from_bytes(message: &[u8]) -> Option<Free> {
        let (&letter, rest) = message.split_first()?;
        let (job, rest) = rest.split_first_chunk()?;
        let job = u64::from_le_bytes(*job) as usize;
        Some(match letter {
            b'a' => Free::Ask,
            b'd' => Free::Done(job, rest.to_vec()),
            b's' => Free::Stopped(None),
            b'f' => Free::Stopped(Some(String::from_utf8_lossy(rest).into())),
            b'n' => Free::Note(job, rest.to_vec()),
            _ => return None,
        })
    }
}

/// All results as one message, or that there are none.
fn packed(results: Option<&[Vec<u8>]>) -> Vec<u8> {
    let Some(results) = results else { return Vec::new() };
    let mut message = vec![1];
    for result in results {
        message.extend((result.len() as u64).to_le_bytes());
        message.extend(result);
    }
    message
}

fn unpacked(message: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (_, mut rest) = message.split_first()?;
    let mut results = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (result, after) = after.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        results.push(result.to_vec());
        rest = after;
    }
    Some(results)
}

/// What a job tells rank 0 while it is done, on whichever rank: its number, and any bytes.
pub(crate) type Hear<'a> = dyn Fn(usize, &[u8]) -> bool + Sync + 'a;

/// How a rank does one job: `None` where it was stopped. What it tells goes to rank 0.
pub(crate) type Do<'a> = dyn Fn(usize, &Hear<'_>) -> Result<Option<Vec<u8>>> + Sync + 'a;

impl Ranks {
    /// Does jobs 0 to `jobs - 1`, `at_once` side by side on every rank, and gives all results on every rank, in order; `None` if a
    /// rank was stopped. `hear` is called on rank 0 and says whether to go on.
    pub(crate) fn farm(
        &self,
        jobs: usize,
        at_once: usize,
        work: &Do<'_>,
        hear: &Hear<'_>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let results = match self.leads() {
            true => self.lead(jobs, at_once, work, hear)?,
            false => self.serve(at_once, work)?,
        };
        Ok(unpacked(&self.from_first(|| packed(results.as_deref()))?))
    }

    /// Computes something for items 0 to `items - 1`, one at a time on whichever rank is free, and gives all results on every rank,
    /// in order. `done` is called on rank 0 after each.
    pub fn share_out<T: Serialize + DeserializeOwned>(
        &self,
        items: usize,
        compute: impl Fn(usize) -> Result<T> + Sync,
        done: impl Fn() + Sync,
    ) -> Result<Vec<T>> {
        let work = |item: usize, tell: &Hear<'_>| {
            let result = serde_json::to_vec(&compute(item)?).unwrap_or_default();
            tell(item, &[]);
            Ok(Some(result))
        };
        let hear = |_: usize, _: &[u8]| {
            done();
            true
        };
        // Nothing stops it but an error.
        let results = self.farm(items, 1, &work, &hear)?.ok_or(Error::Interrupted)?;
        results.iter().map(|result| understood(result)).collect()
    }

    fn lead(
        &self,
        jobs: usize,
        at_once: usize,
        work: &Do<'_>,
        hear: &Hear<'_>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results: Mutex<Vec<Option<Vec<u8>>>> = Mutex::new(vec![None; jobs]);
        let keep = |job: usize, result: Vec<u8>| {
            if let Some(place) = results.lock().unwrap_or_else(|e| e.into_inner()).get_mut(job) {
                *place = Some(result);
            }
        };
        let take = || {
            let stopped = stop.load(Ordering::Relaxed);
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&job| !stopped && job < jobs)
        };
        let told = |job: usize, note: &[u8]| {
            let go_on = hear(job, note) && !stop.load(Ordering::Relaxed);
            stop.fetch_or(!go_on, Ordering::Relaxed);
            go_on
        };
        let own = || -> Result<()> {
            while let Some(job) = take() {
                match work(job, &told) {
                    Ok(Some(result)) => keep(job, result),
                    ended => {
                        stop.store(true, Ordering::Relaxed);
                        return ended.map(|_| ());
                    }
                }
            }
            Ok(())
        };
        // Answers the others until each has been told that there is nothing left.
        let answer = || -> Result<()> {
            let mut failed = None;
            let mut open = (self.size() - 1) * at_once;
            while open > 0 {
                let (from, message) = self.link.receive(None, Channel::FREE).inspect_err(|_| {
                    stop.store(true, Ordering::Relaxed);
                })?;
                let odd = || Error::Rank { rank: from, message: "it said what cannot be read".into() };
                match Free::from_bytes(&message).ok_or_else(odd)? {
                    Free::Note(job, note) => {
                        told(job, &note);
                        continue;
                    }
                    Free::Done(job, result) => keep(job, result),
                    Free::Ask => {}
                    Free::Stopped(why) => {
                        stop.store(true, Ordering::Relaxed);
                        failed = failed.or(why.map(|message| Error::Rank { rank: from, message }));
                    }
                }
                let job = take();
                open -= usize::from(job.is_none());
                let job = job.map_or_else(Vec::new, |job| (job as u64).to_le_bytes().to_vec());
                self.link.send(from, Channel::JOB, job);
            }
            failed.map_or(Ok(()), Err)
        };
        side_by_side(at_once, &own, &answer)?;
        let results = results.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(results.into_iter().collect())
    }

    /// The same on the other ranks. Their result is that of rank 0.
    fn serve(&self, at_once: usize, work: &Do<'_>) -> Result<Option<Vec<Vec<u8>>>> {
        let say = |said: &Free| self.link.send(0, Channel::FREE, said.to_bytes());
        let stop = AtomicBool::new(false);
        let told = |job: usize, note: &[u8]| {
            say(&Free::Note(job, note.to_vec()));
            !stop.load(Ordering::Relaxed)
        };
        let own = || -> Result<()> {
            let mut said = Free::Ask;
            loop {
                say(&said);
                let (_, answer) = self.link.receive(Some(0), Channel::JOB).inspect_err(|_| {
                    stop.store(true, Ordering::Relaxed);
                })?;
                let Ok(job) = <[u8; 8]>::try_from(answer.as_slice()) else { return Ok(()) };
                let job = u64::from_le_bytes(job) as usize;
                said = match work(job, &told) {
                    Ok(Some(result)) => Free::Done(job, result),
                    Ok(None) => Free::Stopped(None),
                    Err(error) => Free::Stopped(Some(error.to_string())),
                };
            }
        };
        side_by_side(at_once, &own, &|| Ok(())).map(|()| None)
    }
}

/// Runs `own` on this many threads, and `answer` on another.
fn side_by_side(
    at_once: usize,
    own: &(dyn Fn() -> Result<()> + Sync),
    answer: &(dyn Fn() -> Result<()> + Sync),
) -> Result<()> {
    std::thread::scope(|scope| {
        let mut threads: Vec<_> = (0..at_once).map(|_| scope.spawn(own)).collect();
        threads.push(scope.spawn(answer));
        threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold(Ok(()), |all, one| all.and(one))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farmed(size: usize, jobs: usize, work: &Do<'_>, hear: &Hear<'_>) -> Vec<Result<Option<Vec<Vec<u8>>>>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = Ranks::in_process(size)
                .into_iter()
                .map(|ranks| {
                    scope.spawn(move || {
                        let result = ranks.farm(jobs, 2, work, hear);
                        ranks.leave(None);
                        result
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    }

    #[test]
    fn every_job_is_done_once_and_everyone_has_the_results() {
        for (size, jobs) in [(1, 5), (3, 0), (3, 2), (4, 40)] {
            let (done, notes) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |job: usize, tell: &Hear<'_>| {
                done.fetch_add(1, Ordering::Relaxed);
                assert!(tell(job, b"halfway"));
                Ok(Some(format!("job {job}").into_bytes()))
            };
            let hear = |_: usize, note: &[u8]| {
                notes.fetch_add(usize::from(note == b"halfway"), Ordering::Relaxed);
                true
            };
            for result in farmed(size, jobs, &work, &hear) {
                let expected: Vec<Vec<u8>> = (0..jobs).map(|job| format!("job {job}").into_bytes()).collect();
                assert_eq!(result.unwrap(), Some(expected));
            }
            assert_eq!((done.into_inner(), notes.into_inner()), (jobs, jobs));
        }
    }

    #[test]
    fn a_job_that_fails_or_is_stopped_ends_all() {
        let fails = |job: usize, _: &Hear<'_>| match job {
            7 => Err(Error::Incomplete("no fold".into())),
            _ => Ok(Some(Vec::new())),
        };
        let results = farmed(3, 200, &fails, &|_, _| true);
        assert!(results[0].as_ref().unwrap_err().to_string().contains("no fold"));
        assert!(results[1].is_err() && results[2].is_err(), "rank 0 has left");
        let stops = |job: usize, _: &Hear<'_>| Ok((job < 7).then(Vec::new));
        assert!(farmed(3, 200, &stops, &|_, _| true).into_iter().all(|result| result.unwrap().is_none()));
        let count = AtomicUsize::new(0);
        let tells = |job: usize, tell: &Hear<'_>| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(tell(job, b"").then(Vec::new))
        };
        assert!(
            farmed(3, 200, &tells, &|job, _| job < 7).into_iter().all(|result| result.unwrap().is_none())
        );
        assert!(count.into_inner() < 100);
    }
}
