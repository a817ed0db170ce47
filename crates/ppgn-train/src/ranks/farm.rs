//! Jobs for whoever is free: every rank takes the next one when it has finished one, rank 0 too.
//!
//! Rank 0 answers the others on a thread of its own while it computes. What a job gives travels back as bytes, with the request
//! for the next one; when all jobs are done, every rank has all results.

use super::Ranks;
use super::link::Channel;
use crate::error::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

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

/// What a job tells rank 0 while it is done, on whichever rank: its number, and any bytes; whether to go on. With no bytes it
/// tells nothing and only asks.
pub(crate) type Hear<'a> = dyn Fn(usize, &[u8]) -> bool + Sync + 'a;

/// How a rank does one job: `None` where it was stopped. What it tells goes to rank 0.
type Do<'a> = dyn Fn(usize, &Hear<'_>) -> Result<Option<Vec<u8>>> + Sync + 'a;

/// Jobs 0 to `count - 1`.
#[derive(Clone, Copy)]
pub(crate) struct Jobs<'a> {
    pub(crate) count: usize,
    /// How many every rank does side by side.
    pub(crate) at_once: usize,
    pub(crate) work: &'a Do<'a>,
    /// Is called on rank 0, and says whether to go on.
    pub(crate) hear: &'a Hear<'a>,
}

impl Ranks {
    /// Does jobs, and gives all results on every rank, in order; `None` if a rank was stopped.
    pub(crate) fn farm(&self, jobs: Jobs<'_>) -> Result<Option<Vec<Vec<u8>>>> {
        let results = match self.leads() {
            true => self.lead(jobs)?,
            false => {
                self.serve(jobs)?;
                None
            }
        };
        Ok(unpacked(&self.from_first(|| packed(results.as_deref()))?))
    }

    /// Computes bytes for items 0 to `items - 1`, one at a time on whichever rank is free, and gives them on rank 0, in order;
    /// `None` on the others. `done` is called on rank 0 after each item.
    pub fn share_out(
        &self,
        items: usize,
        compute: impl Fn(usize) -> Result<Vec<u8>> + Sync,
        done: impl Fn(usize) + Sync,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let work = |item: usize, tell: &Hear<'_>| {
            let result = compute(item)?;
            tell(item, b"done");
            Ok(Some(result))
        };
        let hear = |item: usize, _: &[u8]| {
            done(item);
            true
        };
        let jobs = Jobs { count: items, at_once: 1, work: &work, hear: &hear };
        let results = match self.leads() {
            // Nothing stops it but an error.
            true => Some(self.lead(jobs)?.ok_or(Error::Interrupted)?),
            false => {
                self.serve(jobs)?;
                None
            }
        };
        // Nobody leaves while another still asks.
        self.from_first(Vec::new)?;
        Ok(results)
    }

    /// What rank 0 does: its own jobs, and answers to the others.
    fn lead(&self, Jobs { count, at_once, work, hear }: Jobs<'_>) -> Result<Option<Vec<Vec<u8>>>> {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results: Mutex<Vec<Option<Vec<u8>>>> = Mutex::new(vec![None; count]);
        let keep = |job: usize, result: Vec<u8>| {
            if let Some(place) = results.lock().unwrap_or_else(|e| e.into_inner()).get_mut(job) {
                *place = Some(result);
            }
        };
        let take = || {
            let stopped = stop.load(Ordering::Relaxed);
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&job| !stopped && job < count)
        };
        // The others hear of it once, within their jobs.
        let end = || {
            if !stop.swap(true, Ordering::Relaxed) {
                (1..self.size()).for_each(|to| self.link.send(to, Channel::STOP, Vec::new()));
            }
        };
        let told = |job: usize, note: &[u8]| {
            if !note.is_empty() && !hear(job, note) {
                end();
            }
            !stop.load(Ordering::Relaxed)
        };
        let own = || -> Result<()> {
            while let Some(job) = take() {
                match work(job, &told) {
                    Ok(Some(result)) => keep(job, result),
                    ended => {
                        end();
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
                let (from, message) = self.link.receive(None, Channel::FREE).inspect_err(|_| end())?;
                let odd = || Error::Rank { rank: from, message: "it said what cannot be read".into() };
                match Free::from_bytes(&message).ok_or_else(odd)? {
                    Free::Note(job, note) => {
                        told(job, &note);
                        continue;
                    }
                    Free::Done(job, result) => keep(job, result),
                    Free::Ask => {}
                    Free::Stopped(why) => {
                        end();
                        failed = failed.or(why.map(|message| Error::Rank { rank: from, message }));
                    }
                }
                let job = take();
                open -= usize::from(job.is_none());
                let job = job.map_or_else(Vec::new, |job| (job as u64).to_le_bytes().to_vec());
                self.link.send(from, Channel::JOB, job);
                self.link.flush();
            }
            failed.map_or(Ok(()), Err)
        };
        side_by_side(at_once, &own, &answer)?;
        let results = results.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(results.into_iter().collect())
    }

    /// What the other ranks do: jobs, one after the other, until there are none. The results are on rank 0.
    fn serve(&self, Jobs { at_once, work, .. }: Jobs<'_>) -> Result<()> {
        let say = |said: &Free| self.link.send(0, Channel::FREE, said.to_bytes());
        let stop = AtomicBool::new(false);
        let told = |job: usize, note: &[u8]| {
            if !note.is_empty() {
                say(&Free::Note(job, note.to_vec()));
            }
            if !matches!(self.link.look(Some(0), Channel::STOP), Ok(None)) {
                stop.store(true, Ordering::Relaxed);
            }
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
        side_by_side(at_once, &own, &|| Ok(()))
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
        // The scope waits for all of them; the first error is given.
        let joined = |t: ScopedJoinHandle<'_, Result<()>>| {
            t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().try_for_each(joined)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farmed(
        size: usize,
        count: usize,
        work: &Do<'_>,
        hear: &Hear<'_>,
    ) -> Vec<Result<Option<Vec<Vec<u8>>>>> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = Ranks::in_process(size)
                .into_iter()
                .map(|ranks| {
                    scope.spawn(move || {
                        let result = ranks.farm(Jobs { count, at_once: 2, work, hear });
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
            Ok(tell(job, b"so far").then(Vec::new))
        };
        assert!(
            farmed(3, 200, &tells, &|job, _| job < 7).into_iter().all(|result| result.unwrap().is_none())
        );
        assert!(count.into_inner() < 100);
    }

    #[test]
    fn long_jobs_hear_of_an_error_elsewhere() {
        let asked = AtomicUsize::new(0);
        let work = |job: usize, tell: &Hear<'_>| match job {
            0 => Err(Error::Incomplete("no fold".into())),
            _ => {
                while tell(job, &[]) {
                    asked.fetch_add(1, Ordering::Relaxed);
                    std::thread::yield_now();
                }
                Ok(None)
            }
        };
        let results = farmed(3, 6, &work, &|_, _| true);
        assert!(results[0].as_ref().unwrap_err().to_string().contains("no fold"));
    }

    #[test]
    fn items_come_back_in_order_on_rank_0() {
        let done = AtomicUsize::new(0);
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = Ranks::in_process(3)
                .into_iter()
                .map(|ranks| {
                    let count = |_: usize| {
                        done.fetch_add(1, Ordering::Relaxed);
                    };
                    scope.spawn(move || {
                        let found = ranks.share_out(9, |item| Ok(vec![item as u8]), count).unwrap();
                        ranks.leave(None);
                        found
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(results[0], Some((0..9).map(|item| vec![item]).collect()));
        assert_eq!((&results[1], &results[2], done.into_inner()), (&None, &None, 9));
    }
}
