//! One round of any refinement on tuples, and the forest of colours that rounds grow.
//!
//! A [`Rule`] says what a tuple's key is. A round finds the classes of equal keys within each graph, then holds one
//! tuple of each such class against those of the other graphs, and numbers what it found as
//! [`Refinement`](crate::Refinement) describes.
//!
//! A round leaves out what it can't split: tuples that are alone with their colour, and tuples whose key has no colour
//! that was split in the round before. The key of such a tuple is what it was, and so is that of every other tuple of
//! its colour, since the two had equal keys then.

use super::classify::{Entry, Keys, Place, Work, classify, sorted};
use super::hash::Hashing;
use crate::pace::Pace;
use crate::{Error, Interrupt};
use rayon::prelude::*;
use std::cmp::Ordering;

/// The colours of the tuples of a set of graphs, and where they came from.
pub(crate) struct Colouring {
    /// The length of the tuples.
    k: usize,
    /// The nodes of every graph.
    pub(crate) nodes: Vec<usize>,
    /// For every graph, the colour of every tuple.
    pub(crate) colours: Vec<Vec<u32>>,
    /// How many colours there were after round 0, 1, ...
    pub(crate) counts: Vec<u32>,
    /// The parent of every colour; those of round 0 have themselves.
    pub(crate) parents: Vec<u32>,
    /// How many tuples have each colour.
    sizes: Vec<u32>,
    /// Whether each colour is part of one that the last round split. In round 0 all are new.
    split: Vec<bool>,
}

/// How a round is run.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) hashing: Hashing,
}

/// What the key of a tuple is. Keys of different parents differ.
pub(crate) trait Rule: Keys + Sized {
    /// For every tuple of a graph that is `busy`, a hash of its key, less the parent's part.
    fn hashes(&self, graph: usize, busy: &Busy, work: Work) -> Result<Vec<u64>, Error>;

    /// The steps that a round takes for a graph, roughly.
    fn steps(&self, graph: usize) -> u64;

    /// The classes of entries that are all of one graph, as [`classify`] gives them.
    fn classify(&self, _graph: usize, entries: &mut [Entry], work: Work) -> Result<Vec<u32>, Error> {
        classify(self, entries, work)
    }
}

/// The tuples of a graph that a round may separate from others of their colour.
pub(crate) struct Busy(Vec<bool>);

impl Busy {
    /// Whether this tuple is one.
    #[inline]
    pub(crate) fn tuple(&self, tuple: usize) -> bool {
        self.0[tuple]
    }

    /// Whether any of these is one.
    pub(crate) fn any(&self, tuples: std::ops::Range<usize>) -> bool {
        self.0[tuples].contains(&true)
    }
}

/// What a round found, not yet applied.
pub(crate) struct Outcome {
    graphs: Vec<Found>,
    /// The new colour of every class of every graph, and where each graph's begin.
    numbers: Vec<u32>,
    offsets: Vec<usize>,
    parents: Vec<u32>,
    /// The sizes of the new colours, and of those that they were split from: (colour, size).
    sizes: Vec<(u32, u32)>,
}

/// The classes of one graph.
#[derive(Default)]
pub(crate) struct Found {
    /// The class of every tuple, or [`IDLE`].
    pub(crate) class: Vec<u32>,
    /// The hash of every class and its first tuple.
    entries: Vec<Entry>,
    sizes: Vec<u32>,
}

/// The class of a tuple that the round leaves out.
const IDLE: u32 = u32::MAX;

impl Found {
    /// What [`classify`] found among these entries of a graph with this number of tuples.
    pub(crate) fn new(entries: &[Entry], starts: &[u32], tuples: usize, work: Work) -> Result<Self, Error> {
        let (classes, mut pace) = (starts.len() - 1, Pace::new(work.interrupt));
        let mut found = Found {
            class: vec![IDLE; tuples],
            entries: Vec::with_capacity(classes),
            sizes: Vec::with_capacity(classes),
        };
        for (class, bounds) in starts.windows(2).enumerate() {
            let members = &entries[bounds[0] as usize..bounds[1] as usize];
            for e in members {
                pace.spend(1)?;
                found.class[e.place.item as usize] = class as u32;
            }
            found.entries.push(members[0]);
            found.sizes.push(members.len() as u32);
        }
        Ok(found)
    }

    /// The number of classes.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The first tuple of a class.
    pub(crate) fn first(&self, class: u32) -> u32 {
        self.entries[class as usize].place.item
    }
}

/// The classes of all graphs as items: every class of a graph is its first tuple.
pub(crate) struct Representatives<'a, K> {
    pub(crate) keys: &'a K,
    pub(crate) graphs: &'a [Found],
}

impl<K> Representatives<'_, K> {
    fn tuple(&self, class: Place) -> Place {
        Place { graph: class.graph, item: self.graphs[class.graph as usize].first(class.item) }
    }
}

impl<K: Keys> Keys for Representatives<'_, K> {
    type Probe = K::Probe;

    fn probe(&self) -> K::Probe {
        self.keys.probe()
    }

    fn load(&self, probe: &mut K::Probe, class: Place) {
        self.keys.load(probe, self.tuple(class));
    }

    fn equals(&self, probe: &mut K::Probe, class: Place) -> bool {
        self.keys.equals(probe, self.tuple(class))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        self.keys.compare(self.tuple(a), self.tuple(b))
    }
}

/// An entry for every class of every graph, sorted.
pub(crate) fn merge(graphs: &[Found], work: Work) -> Result<Vec<Entry>, Error> {
    let all = || {
        graphs.iter().enumerate().flat_map(|(graph, found)| {
            found.entries.iter().enumerate().map(move |(class, e)| Entry {
                hash: e.hash,
                place: Place { graph: graph as u32, item: class as u32 },
            })
        })
    };
    sorted(all, graphs.iter().map(Found::len).sum(), work)
}

/// A graph with at least this many steps is spread over all threads.
const LARGE: u64 = 1 << 25;

impl Colouring {
    /// The colouring of round 0, its colours numbered from 0 without gaps.
    pub(crate) fn new(k: usize, nodes: Vec<usize>, colours: Vec<Vec<u32>>) -> Self {
        let count = colours.iter().flatten().max().map_or(0, |&c| c + 1);
        let mut sizes = vec![0; count as usize];
        colours.iter().flatten().for_each(|&c| sizes[c as usize] += 1);
        debug_assert!(sizes.iter().all(|&s| s > 0));
        let (parents, split) = ((0..count).collect(), vec![true; count as usize]);
        Colouring { k, nodes, colours, counts: vec![count], parents, sizes, split }
    }

    /// Whether every tuple has its own colour.
    pub(crate) fn is_discrete(&self) -> bool {
        self.sizes.iter().all(|&s| s == 1)
    }

    /// The colour of a tuple.
    #[inline]
    pub(crate) fn at(&self, place: Place) -> u32 {
        self.colours[place.graph as usize][place.item as usize]
    }

    /// What a round with this rule, whose keys are those of this colouring, would change.
    pub(crate) fn round(&self, rule: &impl Rule, context: Context) -> Result<Outcome, Error> {
        let graphs = self.classes_by_graph(rule, context)?;
        let work = Work { interrupt: context.interrupt, parallel: true };
        let mut merged = merge(&graphs, work)?;
        let starts = classify(&Representatives { keys: rule, graphs: &graphs }, &mut merged, work)?;
        self.number(graphs, merged, starts, work)
    }

    /// Applies what a round found, and says whether it split anything.
    pub(crate) fn apply(&mut self, outcome: Outcome) -> bool {
        if !outcome.splits() {
            return false;
        }
        self.colours.par_iter_mut().zip(&outcome.graphs).zip(&outcome.offsets).for_each(
            |((colours, found), &offset)| {
                let busy = colours.iter_mut().zip(&found.class).filter(|(_, class)| **class != IDLE);
                busy.for_each(|(colour, &class)| *colour = outcome.numbers[offset + class as usize]);
            },
        );
        self.parents.reserve_exact(outcome.parents.len());
        self.parents.extend(outcome.parents);
        self.sizes.reserve_exact(self.parents.len() - self.sizes.len());
        self.sizes.resize(self.parents.len(), 0);
        self.split = vec![false; self.parents.len()];
        for &(colour, size) in &outcome.sizes {
            self.sizes[colour as usize] = size;
            self.split[colour as usize] = true;
        }
        self.counts.push(self.parents.len() as u32);
        true
    }

    /// The tuples of a graph that matter for the next round, if there are any. O(k n^k).
    fn busy(&self, graph: usize, work: Work) -> Result<Option<Busy>, Error> {
        let (n, colours) = (self.nodes[graph], &self.colours[graph]);
        let split: Vec<bool> = colours.iter().map(|&c| self.split[c as usize]).collect();
        if !split.contains(&true) {
            return Ok(None);
        }
        let mut busy = vec![false; colours.len()];
        let mut step = 1;
        for _ in 0..self.k {
            work.interrupt.check()?;
            // Tuples that differ in one place at most are a step apart, and each has the others in its key.
            let mut any = vec![false; step];
            for (busy, split) in busy.chunks_exact_mut(step * n).zip(split.chunks_exact(step * n)) {
                any.fill(false);
                for split in split.chunks_exact(step) {
                    any.iter_mut().zip(split).for_each(|(any, split)| *any |= split);
                }
                for busy in busy.chunks_exact_mut(step) {
                    busy.iter_mut().zip(&any).for_each(|(busy, any)| *busy |= any);
                }
            }
            step *= n;
        }
        work.interrupt.check()?;
        busy.iter_mut().zip(colours).for_each(|(busy, &c)| *busy &= self.sizes[c as usize] > 1);
        Ok(busy.contains(&true).then_some(Busy(busy)))
    }

    /// The classes within each graph: large graphs one after another, then the small ones side by side.
    fn classes_by_graph(&self, rule: &impl Rule, context: Context) -> Result<Vec<Found>, Error> {
        let find = |graph: usize, parallel: bool| {
            context.interrupt.check()?;
            self.classes_of(graph, rule, context, parallel)
        };
        let is_large = |graph: usize| rule.steps(graph) >= LARGE;
        let mut found: Vec<Found> = (0..self.nodes.len())
            .map(|g| if is_large(g) { find(g, true) } else { Ok(Found::default()) })
            .collect::<Result<_, Error>>()?;
        found.par_iter_mut().enumerate().filter(|(g, _)| !is_large(*g)).try_for_each(|(g, slot)| {
            *slot = find(g, false)?;
            Ok(())
        })?;
        Ok(found)
    }

    fn classes_of(
        &self,
        graph: usize,
        rule: &impl Rule,
        context: Context,
        parallel: bool,
    ) -> Result<Found, Error> {
        let work = Work { interrupt: context.interrupt, parallel };
        let (colours, nodes) = (&self.colours[graph], self.nodes[graph]);
        let Some(busy) = self.busy(graph, work)? else { return Ok(Found::default()) };
        let hashes = rule.hashes(graph, &busy, work)?;
        let entry = |tuple: usize| Entry {
            hash: context.hashing.finish(hashes[tuple], colours[tuple], nodes),
            place: Place { graph: graph as u32, item: tuple as u32 },
        };
        let mut entries =
            sorted(|| (0..colours.len()).filter(|&t| busy.tuple(t)).map(entry), colours.len(), work)?;
        drop(hashes);
        let starts = rule.classify(graph, &mut entries, work)?;
        Found::new(&entries, &starts, colours.len(), work)
    }

    /// Numbers the classes of all graphs together, as given by `merged` and `starts`.
    fn number(
        &self,
        graphs: Vec<Found>,
        merged: Vec<Entry>,
        starts: Vec<u32>,
        work: Work,
    ) -> Result<Outcome, Error> {
        let mut offsets = vec![0];
        offsets.extend(graphs.iter().scan(0, |sum, g| {
            *sum += g.len();
            Some(*sum)
        }));
        // First the class of every graph's class, then its colour.
        let mut numbers = vec![0u32; merged.len()];
        let mut pace = Pace::new(work.interrupt);
        for (class, bounds) in starts.windows(2).enumerate() {
            pace.spend(1)?;
            for Entry { place, .. } in &merged[bounds[0] as usize..bounds[1] as usize] {
                numbers[offsets[place.graph as usize] + place.item as usize] = class as u32;
            }
        }
        let classes = starts.len() - 1;
        drop((merged, starts));
        work.interrupt.check()?;
        let (mut parents, mut sizes) = (vec![0u32; classes], vec![0u32; classes]);
        for (graph, found) in graphs.iter().enumerate() {
            let numbers = &numbers[offsets[graph]..offsets[graph + 1]];
            for ((&class, entry), &size) in numbers.iter().zip(&found.entries).zip(&found.sizes) {
                parents[class as usize] = self.at(entry.place);
                sizes[class as usize] += size;
            }
        }
        // Classes come in the order of (hash, key); this puts them in that of (parent, hash, key).
        let mut order: Vec<(u32, u32)> = parents.into_iter().zip(0..).collect();
        order.par_sort_unstable();
        work.interrupt.check()?;
        let families = || order.chunk_by(|a, b| a.0 == b.0);
        let split: usize = families().filter(|f| f.len() > 1).map(<[_]>::len).sum();
        let born = classes - families().count();
        let (parents, grown) = (Vec::with_capacity(born), Vec::with_capacity(split));
        let mut outcome = Outcome { graphs, offsets, numbers, parents, sizes: grown };
        let mut colours = vec![0u32; classes];
        for siblings in families() {
            let first = (self.parents.len() + outcome.parents.len()) as u32;
            outcome.split(siblings, &sizes, first, &mut colours);
        }
        outcome.numbers.par_iter_mut().for_each(|number| *number = colours[*number as usize]);
        Ok(outcome)
    }
}

impl Outcome {
    /// Whether the round splits anything.
    pub(crate) fn splits(&self) -> bool {
        !self.parents.is_empty()
    }

    /// Gives the classes of one parent, (parent, class) in the order of their keys, their colours: the largest keeps
    /// the parent's, the others get the numbers from `next` on.
    fn split(&mut self, siblings: &[(u32, u32)], sizes: &[u32], mut next: u32, colours: &mut [u32]) {
        let size = |class: u32| sizes[class as usize];
        let most = siblings.iter().map(|&(_, class)| size(class)).max();
        let largest = siblings.iter().position(|&(_, class)| Some(size(class)) == most);
        for (i, &(parent, class)) in siblings.iter().enumerate() {
            colours[class as usize] = parent;
            if Some(i) != largest {
                colours[class as usize] = next;
                self.parents.push(parent);
                next += 1;
            }
            if siblings.len() > 1 {
                self.sizes.push((colours[class as usize], size(class)));
            }
        }
    }
}
