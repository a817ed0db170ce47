//! [`TupleLevels`]: the colours of pairs of nodes, or of longer tuples, that networks run on, level by level.
//!
//! A network of the paper gives equal rows to pairs that 2-FWL, started from the network's own input rows, has not
//! distinguished after one round per block; a network of order k does so for k-tuples and k-FWL. So one row per colour is
//! enough.
//! Level 0 is equality of input rows, bit for bit; level l is the partition after l rounds. Unlike the isomorphism types
//! of `2-fwl`, level 0 knows neither which pairs are (i, i) nor what (k, i) looks like, unless the rows say so.

mod rows;

use crate::tuples::colouring::{Colouring, Context};
use crate::tuples::hash::Hashing;
use crate::tuples::{round, size};
use crate::{Error, Family, Options, Test};
use ppgn_graph::Float;
use rows::Inputs;
use std::borrow::Cow;

/// The colours of all k-tuples of a set of graphs after 0, ..., L rounds of k-FWL on given rows; pairs are k = 2.
///
/// The colours of level l are the numbers 0 to [`count(l)`](Self::count) - 1. They are numbered in the order of their
/// birth: a colour that is split keeps its number for its largest part, so the colours of a level are among those of
/// the next, and one array holds all levels. Pair (i, k) of a graph with n nodes stands at i * n + k, and so on for
/// longer tuples.
///
/// ```
/// use ppgn_wl::{Options, TupleLevels};
/// // A path of three nodes: 1 on the diagonal, 0.5 where there is an edge.
/// let rows = [1.0f32, 0.5, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0];
/// let rows = |_graph| Ok::<_, std::convert::Infallible>(rows.to_vec());
/// let levels = TupleLevels::new(2, &[3], 1, 2, &Options::default(), rows)?;
/// assert_eq!((levels.count(0), levels.count(1), levels.count(2)), (3, 5, 5));
/// let colours = levels.colours(1, 0);
/// assert_eq!(colours[0], colours[8]);     // the pairs (0, 0) and (2, 2): both are ends of the path
/// assert_ne!(colours[0], colours[4]);     // (1, 1) is its middle
/// # Ok::<(), ppgn_wl::LevelsError<std::convert::Infallible>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TupleLevels {
    k: usize,
    depth: usize,
    nodes: Vec<u32>,
    /// Where each graph's tuples begin among `colours`, and their number.
    offsets: Vec<usize>,
    /// The colour of every tuple at the last level.
    colours: Vec<u32>,
    /// How many colours there are at each level that differs from the one below.
    counts: Vec<u32>,
    /// The colour that each was split from; those of level 0 have themselves.
    parents: Vec<u32>,
    /// The first tuple of every colour: its graph and place.
    first: Vec<(u32, u32)>,
    /// For every level of `counts` but the last: what each colour of the last level was there.
    ancestors: Vec<Vec<u32>>,
}

/// Why levels could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelsError<E> {
    /// The colouring was refused or stopped.
    #[error(transparent)]
    Colouring(#[from] Error),
    /// The caller's function failed to make the rows of a graph.
    #[error("graph {graph}: {source}")]
    Rows {
        /// The graph, counted from 0.
        graph: usize,
        /// Its error, as it was returned. It is part of the message, so it is not reported as a source once more.
        r#source: E,
    },
}

impl TupleLevels {
    /// The levels 0 to `depth` of the k-tuples of graphs with these numbers of nodes, for k >= 2. `rows(g)` gives the
    /// rows of graph g: for every tuple, in order, `channels` values. It is called twice for most graphs, from several
    /// threads, and only a few graphs' rows exist at any time; its error comes back with the graph. Of the options, only
    /// the memory limit and the interrupt are used.
    ///
    /// # Complexity
    /// k n^(k+1) steps per graph and level, O(n^k) memory.
    pub fn new<T: Float, E: Send>(
        k: usize,
        nodes: &[usize],
        channels: usize,
        depth: usize,
        options: &Options,
        rows: impl Fn(usize) -> Result<Vec<T>, E> + Sync,
    ) -> Result<Self, LevelsError<E>> {
        let context = Context { interrupt: &options.interrupt, hashing: Hashing::FULL };
        Self::with(k, nodes, channels, depth, options, rows, context)
    }

    fn with<T: Float, E: Send>(
        k: usize,
        nodes: &[usize],
        channels: usize,
        depth: usize,
        options: &Options,
        rows: impl Fn(usize) -> Result<Vec<T>, E> + Sync,
        context: Context,
    ) -> Result<Self, LevelsError<E>> {
        let test = Test::fwl(k.max(2))?;
        let k = test.k();
        size::check_nodes(nodes, test, options)?;
        let limit = options.max_memory;
        let colours = Inputs { k, nodes, channels, rows: &rows, context, limit }.colours()?;
        let mut colouring = Colouring::new(k, nodes.to_vec(), colours);
        for _ in 0..depth {
            let outcome = round(&colouring, Family::Fwl, k, context)?;
            if !colouring.apply(outcome) {
                break;
            }
        }
        Ok(Self::from(k, colouring, depth))
    }

    fn from(k: usize, colouring: Colouring, depth: usize) -> Self {
        let Colouring { nodes, colours, counts, parents, .. } = colouring;
        let mut offsets = vec![0];
        let mut flat = Vec::with_capacity(colours.iter().map(Vec::len).sum());
        let mut first = vec![(u32::MAX, u32::MAX); parents.len()];
        for (graph, colours) in colours.into_iter().enumerate() {
            for (place, &c) in colours.iter().enumerate() {
                let slot = &mut first[c as usize];
                *slot = (*slot).min((graph as u32, place as u32));
            }
            flat.extend(colours);
            offsets.push(flat.len());
        }
        let up_to = |&count: &u32| {
            let mut ancestors: Vec<u32> = Vec::with_capacity(parents.len());
            for (c, &parent) in parents.iter().enumerate() {
                ancestors.push(if (c as u32) < count { c as u32 } else { ancestors[parent as usize] });
            }
            ancestors
        };
        let ancestors = counts[..counts.len() - 1].iter().map(up_to).collect();
        let nodes = nodes.into_iter().map(|n| n as u32).collect();
        TupleLevels { k, depth, nodes, offsets, colours: flat, counts, parents, first, ancestors }
    }

    /// The length of the tuples.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The last level, L.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes of a graph.
    pub fn nodes(&self, graph: usize) -> usize {
        self.nodes[graph] as usize
    }

    /// The number of colours at a level, over all graphs.
    pub fn count(&self, level: usize) -> usize {
        self.counts[self.stage(level)] as usize
    }

    /// Levels beyond the one that split nothing are that level.
    fn stage(&self, level: usize) -> usize {
        level.min(self.counts.len() - 1)
    }

    /// The colour of every tuple of a graph at a level. O(n^k), or nothing for the last one.
    pub fn colours(&self, level: usize, graph: usize) -> Cow<'_, [u32]> {
        let last = &self.colours[self.offsets[graph]..self.offsets[graph + 1]];
        match self.ancestors.get(level) {
            None => Cow::Borrowed(last),
            Some(ancestors) => Cow::Owned(last.iter().map(|&c| ancestors[c as usize]).collect()),
        }
    }

    /// The colour at the level below that a colour of a level was split from, itself if it was not; at level 0 there
    /// is nothing below.
    pub fn parent(&self, level: usize, colour: u32) -> Option<u32> {
        let below = level.checked_sub(1)?;
        Some(if (colour as usize) < self.count(below) { colour } else { self.parents[colour as usize] })
    }

    /// A tuple that has this colour, at every level that has the colour: its graph and its place there. It is the
    /// first that has it at the last level.
    pub fn example(&self, colour: u32) -> (usize, usize) {
        let (graph, place) = self.first[colour as usize];
        (graph as usize, place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::random::Stream;

    #[test]
    fn hashes_decide_nothing() {
        let nodes = [4usize, 5, 4, 6, 1];
        let rows = |graph: usize| {
            // The first and the third graph have the same rows.
            let mut random = Stream::new(graph as u64 % 2 * graph as u64, "rows", &[]);
            let n = nodes[graph];
            Ok::<_, ()>((0..n * n * 2).map(|_| [0.0f64, -0.0, 0.1][random.below(3)]).collect::<Vec<_>>())
        };
        let options = Options::default();
        let with = |bits: u32| {
            let context = Context { interrupt: &options.interrupt, hashing: Hashing::bits(bits) };
            TupleLevels::with(2, &nodes, 2, 2, &options, rows, context).unwrap()
        };
        let full = with(64);
        assert!(full.count(0) <= 9 && full.count(1) > 9);
        for bits in [1, 2, 4] {
            let weak = with(bits);
            for level in 0..=2 {
                assert_eq!(weak.count(level), full.count(level));
                let both: std::collections::BTreeSet<(u32, u32)> = (0..nodes.len())
                    .flat_map(|g| {
                        let (a, b) =
                            (weak.colours(level, g).into_owned(), full.colours(level, g).into_owned());
                        a.into_iter().zip(b)
                    })
                    .collect();
                assert_eq!(both.len(), full.count(level));
            }
        }
    }

    fn zeros<T: Float>(values: usize) -> impl Fn(usize) -> Result<Vec<T>, ()> {
        move |_| Ok(vec![T::default(); values])
    }

    #[test]
    fn rows_must_be_as_many_as_pairs() {
        let of = |channels, values| {
            TupleLevels::new(2, &[2], channels, 1, &Options::default(), zeros::<f32>(values)).map(|_| ())
        };
        let wrong = |found, expected| Err(Error::Rows { graph: 0, found, expected }.into());
        assert_eq!(of(3, 11), wrong(11, 12));
        assert_eq!(of(3, 12), Ok(()));
        assert_eq!(of(usize::MAX, 4), wrong(4, usize::MAX));
    }

    #[test]
    fn an_error_of_the_caller_comes_back_with_its_graph() {
        let rows = |graph: usize| if graph == 1 { Err("no rows") } else { Ok(vec![0f32; 4]) };
        let error = TupleLevels::new(2, &[2, 2], 1, 1, &Options::default(), rows).unwrap_err();
        assert_eq!(error, LevelsError::Rows { graph: 1, source: "no rows" });
        assert_eq!(error.to_string(), "graph 1: no rows");
    }

    #[test]
    fn memory_is_limited() {
        let of = |nodes: &[usize], channels, values, limit| {
            let options = Options { max_memory: Some(limit), ..Options::default() };
            TupleLevels::new(2, nodes, channels, 1, &options, zeros::<f64>(values)).map(|_| ())
        };
        let refused = |result, bytes| matches!(result, Err(LevelsError::Colouring(Error::Memory { need, .. })) if need == bytes);
        // 200 pairs; then one row of each graph that is like the other's.
        assert!(refused(of(&[10, 10], 1000, 100_000, 10_000), 16_000));
        assert_eq!(of(&[10, 10], 1000, 100_000, 16_000), Ok(()));
        assert!(refused(of(&[2, 2], 2000, 8000, 15_000), 32_000));
    }
}
