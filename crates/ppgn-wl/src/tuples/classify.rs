//! Exact classes of equal keys: hashes find candidates, keys decide.
//!
//! Entries are sorted by hash. Within a run of equal hashes every key is compared with that of the run's first entry;
//! where one differs, the run falls into several classes, which are then ordered by their keys. So classes come in
//! the order of (hash, key), which is a property of the keys and of nothing else.

use crate::pace::Pace;
use crate::{Error, Interrupt};
use rayon::prelude::*;
use std::cmp::Ordering;

/// An item of a graph: a tuple, or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) graph: u32,
    pub(crate) item: u32,
}

/// An item with the hash of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    pub(crate) place: Place,
}

/// Keys that can be compared, the many with the one.
pub(crate) trait Keys: Sync {
    /// One key, laid out for comparisons; a thread has its own.
    type Probe: Send;

    /// An empty probe.
    fn probe(&self) -> Self::Probe;

    /// Puts the key of an item into the probe.
    fn load(&self, probe: &mut Self::Probe, place: Place);

    /// Whether the item's key is the one in the probe.
    fn equals(&self, probe: &mut Self::Probe, place: Place) -> bool;

    /// The order of two keys, by content. Needed only where hashes collide.
    fn compare(&self, a: Place, b: Place) -> Ordering;
}

/// How a piece of work is to be done.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) interrupt: &'a Interrupt,
    /// Whether to spread it over threads: not where many such pieces run at once.
    pub(crate) parallel: bool,
}

impl Work<'_> {
    /// Does this for every item, asking before each whether to stop.
    pub(crate) fn each<T: Send>(
        &self,
        items: impl IntoIterator<Item = T>,
        f: impl Fn(T) -> Result<(), Error> + Sync + Send,
    ) -> Result<(), Error> {
        let one = |item| self.interrupt.check().and_then(|()| f(item));
        match self.parallel {
            true => items.into_iter().collect::<Vec<T>>().into_par_iter().try_for_each(one),
            false => items.into_iter().try_for_each(one),
        }
    }
}

/// The approximate number of entries in a bucket: few enough to be sorted in milliseconds.
const BUCKET: usize = 1 << 15;

/// Entries in the order of (hash, place), of which there are at most `most`; the iterator is run twice. The high bits
/// of the hashes give buckets, which are sorted one by one, so that this can be parallel and be stopped.
pub(crate) fn sorted<I: Iterator<Item = Entry>>(
    entries: impl Fn() -> I,
    most: usize,
    work: Work,
) -> Result<Vec<Entry>, Error> {
    if most <= BUCKET {
        let mut all: Vec<Entry> = entries().collect();
        all.sort_unstable();
        return Ok(all);
    }
    let bits = (most / BUCKET).ilog2() + 1;
    let bucket = |e: &Entry| (e.hash >> (64 - bits)) as usize;
    let mut ends = vec![0usize; 1 << bits];
    let mut pace = Pace::new(work.interrupt);
    for e in entries() {
        pace.spend(1)?;
        ends[bucket(&e)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        // First the beginning of each bucket; filling it moves it to the end.
        total += std::mem::replace(end, total);
    }
    let nothing = Entry { hash: 0, place: Place { graph: 0, item: 0 } };
    let mut all = vec![nothing; total];
    for e in entries() {
        pace.spend(1)?;
        let slot = &mut ends[bucket(&e)];
        all[*slot] = e;
        *slot += 1;
    }
    let mut buckets = Vec::with_capacity(ends.len());
    let (mut rest, mut start) = (&mut all[..], 0);
    for end in ends {
        let (bucket, later) = rest.split_at_mut(end - start);
        buckets.push(bucket);
        (rest, start) = (later, end);
    }
    work.each(buckets, |bucket| {
        bucket.sort_unstable();
        Ok(())
    })?;
    Ok(all)
}

/// The number of entries compared between two checks of the interrupt.
const STRETCH: usize = 256;

/// The classes of these entries, which are sorted: class c is `entries[starts[c]..starts[c + 1]]`, its first entry has
/// its lowest place, and the last start is the number of entries. Entries of one hash are put in the order of their
/// classes. O(1) comparisons per entry where hashes do not collide.
pub(crate) fn classify<K: Keys>(keys: &K, entries: &mut [Entry], work: Work) -> Result<Vec<u32>, Error> {
    let stretches = entries.len().div_ceil(STRETCH);
    let strangers: Vec<u32> = match work.parallel {
        false => strangers(keys, entries, 0..entries.len(), work)?,
        true => (0..stretches)
            .into_par_iter()
            .map(|s| strangers(keys, entries, s * STRETCH..entries.len().min((s + 1) * STRETCH), work))
            .try_reduce(Vec::new, |mut a, b| {
                a.extend(b);
                Ok(a)
            })?,
    };
    let mut starts = Vec::new();
    let (mut start, mut next) = (0, 0);
    while start < entries.len() {
        let hash = entries[start].hash;
        let end = start + entries[start..].iter().take_while(|e| e.hash == hash).count();
        starts.push(start as u32);
        if strangers.get(next).is_some_and(|&s| (s as usize) < end) {
            next += strangers[next..].iter().take_while(|&&s| (s as usize) < end).count();
            starts.pop();
            divide(keys, &mut entries[start..end], start as u32, &mut starts, work)?;
        }
        start = end;
    }
    starts.push(entries.len() as u32);
    Ok(starts)
}

/// The entries in this range whose key is not that of the first entry with their hash, ascending.
fn strangers<K: Keys>(
    keys: &K,
    entries: &[Entry],
    range: std::ops::Range<usize>,
    work: Work,
) -> Result<Vec<u32>, Error> {
    let mut found = Vec::new();
    let mut probe = keys.probe();
    let mut loaded = None;
    for at in range.start.max(1)..range.end {
        if at % STRETCH == 0 {
            work.interrupt.check()?;
        }
        let Entry { hash, place } = entries[at];
        if entries[at - 1].hash != hash {
            continue;
        }
        if loaded != Some(hash) {
            let first = entries[..at].partition_point(|e| e.hash < hash);
            keys.load(&mut probe, entries[first].place);
            loaded = Some(hash);
        }
        if !keys.equals(&mut probe, place) {
            found.push(at as u32);
        }
    }
    Ok(found)
}

/// Puts a run of entries with one hash but several keys in the order of their keys, and notes where each key begins.
fn divide<K: Keys>(
    keys: &K,
    run: &mut [Entry],
    offset: u32,
    starts: &mut Vec<u32>,
    work: Work,
) -> Result<(), Error> {
    let mut rest = run.to_vec();
    let mut probe = keys.probe();
    let mut classes: Vec<Vec<Entry>> = Vec::new();
    while let Some(first) = rest.first() {
        keys.load(&mut probe, first.place);
        let (mut same, mut other) = (Vec::new(), Vec::new());
        for (i, &e) in rest.iter().enumerate() {
            if i % STRETCH == 0 {
                work.interrupt.check()?;
            }
            if keys.equals(&mut probe, e.place) { same.push(e) } else { other.push(e) }
        }
        classes.push(same);
        rest = other;
    }
    classes.sort_by(|a, b| keys.compare(a[0].place, b[0].place));
    let mut at = 0;
    for class in classes {
        starts.push(offset + at as u32);
        run[at..at + class.len()].copy_from_slice(&class);
        at += class.len();
    }
    Ok(())
}
