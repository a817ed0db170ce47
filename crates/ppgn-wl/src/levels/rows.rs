//! Level 0 of the levels: classes of input rows that are equal bit for bit.
//!
//! There is a row per tuple and rows may be wide, so they are never all kept: a graph's rows are computed, sorted into
//! classes and dropped, and only those whose hash occurs in several graphs are computed again to be compared.

use super::LevelsError;
use crate::tuples::classify::{Entry, Keys, Place, Work, classify, sorted};
use crate::tuples::colouring::{Context, Found, merge};
use crate::tuples::hash::{mix, odd};
use crate::{Error, Test};
use ppgn_graph::Float;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The given rows of a set of graphs, made when they are needed.
pub(super) struct Inputs<'a, F> {
    /// The length of the tuples.
    pub(super) k: usize,
    pub(super) nodes: &'a [usize],
    pub(super) channels: usize,
    /// The rows of a graph.
    pub(super) rows: &'a F,
    pub(super) context: Context<'a>,
    /// The memory that may be taken, in bytes.
    pub(super) limit: Option<u64>,
}

impl<T: Float, E: Send, F: Fn(usize) -> Result<Vec<T>, E> + Sync> Inputs<'_, F> {
    /// Level 0: for every graph, the class of equal rows of every tuple, numbered by (hash, content).
    pub(super) fn colours(&self) -> Result<Vec<Vec<u32>>, LevelsError<E>> {
        let interrupt = self.context.interrupt;
        let mut graphs: Vec<Found> = (0..self.nodes.len())
            .into_par_iter()
            .map(|graph| self.classes(graph))
            .collect::<Result<_, LevelsError<E>>>()?;
        let work = Work { interrupt, parallel: true };
        let mut merged = merge(&graphs, work)?;
        let store = self.shared(&graphs, &merged)?;
        let starts = classify(&store, &mut merged, work)?;
        let mut numbers: Vec<Vec<u32>> = graphs.iter().map(|g| vec![0; g.len()]).collect();
        for (class, bounds) in starts.windows(2).enumerate() {
            for Entry { place, .. } in &merged[bounds[0] as usize..bounds[1] as usize] {
                numbers[place.graph as usize][place.item as usize] = class as u32;
            }
        }
        graphs.par_iter_mut().zip(numbers).for_each(|(found, numbers)| {
            found.class.iter_mut().for_each(|c| *c = numbers[*c as usize]);
        });
        Ok(graphs.into_iter().map(|g| g.class).collect())
    }

    /// n^k, which [`size`](crate::tuples::size) has seen to be small enough.
    fn tuples(&self, graph: usize) -> usize {
        (0..self.k).fold(1, |product: usize, _| product.saturating_mul(self.nodes[graph]))
    }

    fn rows_of(&self, graph: usize) -> Result<Rows<T>, LevelsError<E>> {
        let values = (self.rows)(graph).map_err(|source| LevelsError::Rows { graph, source })?;
        let expected = self.tuples(graph).saturating_mul(self.channels);
        match values.len() == expected {
            true => Ok(Rows { values, channels: self.channels }),
            false => Err(Error::Rows { graph, found: values.len(), expected }.into()),
        }
    }

    /// The classes of equal rows of one graph.
    fn classes(&self, graph: usize) -> Result<Found, LevelsError<E>> {
        let work = Work { interrupt: self.context.interrupt, parallel: false };
        work.interrupt.check()?;
        let rows = self.rows_of(graph)?;
        let tuples = self.tuples(graph);
        let mut hashes = vec![0; tuples];
        work.each(hashes.chunks_mut(STRETCH).enumerate(), |(stretch, out)| {
            out.iter_mut().zip(stretch * STRETCH..).for_each(|(hash, tuple)| *hash = rows.hash(tuple));
            Ok(())
        })?;
        let entry = |tuple: usize| Entry {
            hash: self.context.hashing.finish(hashes[tuple], 0, 0),
            place: Place { graph: graph as u32, item: tuple as u32 },
        };
        let mut entries = sorted(|| (0..tuples).map(entry), tuples, work)?;
        let starts = classify(&rows, &mut entries, work)?;
        Ok(Found::new(&entries, &starts, tuples, work)?)
    }

    /// The rows that must be compared across graphs: one for each class whose hash occurs in several. Their graphs'
    /// rows are made a second time for this, so that rows that occur once are never kept.
    fn shared(&self, graphs: &[Found], merged: &[Entry]) -> Result<Shared<T>, LevelsError<E>> {
        let mut slots: Vec<Vec<u32>> = graphs.iter().map(|g| vec![ALONE; g.len()]).collect();
        let mut count = 0u64;
        for run in merged.chunk_by(|a, b| a.hash == b.hash).filter(|run| run.len() > 1) {
            run.iter().for_each(|e| slots[e.place.graph as usize][e.place.item as usize] = SHARED);
            count += run.len() as u64;
        }
        let need = count.saturating_mul((self.channels * size_of::<T>()) as u64);
        if let Some(limit) = self.limit.filter(|&limit| need > limit) {
            return Err(Error::Memory { test: Test::fwl(self.k)?, need, limit }.into());
        }
        let copy = |(graph, slots): (usize, &mut Vec<u32>)| {
            self.context.interrupt.check()?;
            let mut kept = Rows { values: Vec::new(), channels: self.channels };
            if slots.contains(&SHARED) {
                let rows = self.rows_of(graph)?;
                let shared = slots.iter_mut().zip(0..).filter(|(slot, _)| **slot == SHARED);
                for (next, (slot, class)) in shared.enumerate() {
                    kept.values.extend_from_slice(rows.row(graphs[graph].first(class) as usize));
                    *slot = next as u32;
                }
            }
            Ok(kept)
        };
        let rows = slots.par_iter_mut().enumerate().map(copy).collect::<Result<_, LevelsError<E>>>()?;
        Ok(Shared { slots, rows })
    }
}

/// The number of rows that are hashed between two checks of the interrupt.
const STRETCH: usize = 1 << 14;

/// Where the row of a class is kept, before it is known; and that it isn't.
const SHARED: u32 = u32::MAX - 1;
const ALONE: u32 = u32::MAX;

/// Rows one after another.
struct Rows<T> {
    values: Vec<T>,
    channels: usize,
}

impl<T: Float> Rows<T> {
    fn row(&self, at: usize) -> &[T] {
        &self.values[at * self.channels..(at + 1) * self.channels]
    }

    fn hash(&self, at: usize) -> u64 {
        let terms = self.row(at).iter().enumerate().map(|(c, x)| mix(x.bits()).wrapping_mul(odd(c)));
        terms.fold(0, u64::wrapping_add)
    }
}

fn equal<T: Float>(a: &[T], b: &[T]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.bits() == y.bits())
}

fn order<T: Float>(a: &[T], b: &[T]) -> Ordering {
    a.iter().map(|x| x.bits()).cmp(b.iter().map(|x| x.bits()))
}

/// The rows of one graph.
impl<T: Float> Keys for Rows<T> {
    type Probe = usize;

    fn probe(&self) -> usize {
        0
    }

    fn load(&self, probe: &mut usize, place: Place) {
        *probe = place.item as usize;
    }

    fn equals(&self, probe: &mut usize, place: Place) -> bool {
        equal(self.row(*probe), self.row(place.item as usize))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        order(self.row(a.item as usize), self.row(b.item as usize))
    }
}

/// Rows of several graphs, found by graph and class.
struct Shared<T> {
    /// For every graph, the place of each class among its rows.
    slots: Vec<Vec<u32>>,
    rows: Vec<Rows<T>>,
}

impl<T: Float> Shared<T> {
    fn row(&self, class: Place) -> &[T] {
        let slot = self.slots[class.graph as usize][class.item as usize];
        self.rows[class.graph as usize].row(slot as usize)
    }
}

impl<T: Float> Keys for Shared<T> {
    type Probe = Place;

    fn probe(&self) -> Place {
        Place { graph: 0, item: 0 }
    }

    fn load(&self, probe: &mut Place, class: Place) {
        *probe = class;
    }

    fn equals(&self, probe: &mut Place, class: Place) -> bool {
        equal(self.row(*probe), self.row(class))
    }

    fn compare(&self, a: Place, b: Place) -> Ordering {
        order(self.row(a), self.row(b))
    }
}
