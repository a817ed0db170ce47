//! Pooling, from pairs to graphs: the maximum, the sum or the mean over a graph's diagonal, and over the rest; for k-tuples, over
//! each of their [patterns].
//!
//! Where several pairs attain a maximum, its gradient is split evenly among them. The forward pass records all of them,
//! so the backward pass updates a few numbers per graph instead of scanning all rows.

use crate::planes::Part;
use crate::pool_pairs::maxima;
use crate::product::{Square, within};
use crate::real::Real;
use crate::shared::numbers;
use crate::simd::{Kernel, Simd, dispatch};
use crate::tuples::{Patterns, patterns};
use rayon::prelude::*;

/// The number of tuples of a graph that share a row and a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The row.
    pub row: u32,
    /// The pattern: for pairs, 0 for (i, i) and 1 otherwise.
    pub pattern: u32,
    /// The number of tuples.
    pub count: u32,
}

/// The rows to pool.
#[derive(Debug, Clone, Copy)]
pub enum Pools<'a> {
    /// The dense space: all tuples of every graph, one row each. The result of graph g goes to row `place[g]`.
    Dense {
        /// The order k of the tuples.
        order: usize,
        /// The graphs, in the order of their rows.
        graphs: &'a [Square],
        /// The row of each graph's result.
        place: &'a [usize],
    },
    /// The quotient space: the colours of every graph, with their counts.
    Quotient {
        /// The order k of the tuples.
        order: usize,
        /// The counts, graph after graph.
        counts: &'a [Count],
        /// The start of each graph's counts, and the end of the last one's.
        offsets: &'a [usize],
    },
}

impl Pools<'_> {
    fn graphs(&self) -> usize {
        match self {
            Pools::Dense { graphs, .. } => graphs.len(),
            Pools::Quotient { offsets, .. } => offsets.len() - 1,
        }
    }

    fn place(&self, graph: usize) -> usize {
        match self {
            Pools::Dense { place, .. } => place[graph],
            Pools::Quotient { .. } => graph,
        }
    }

    /// The number of patterns, each pooled separately.
    fn patterns(&self) -> usize {
        let (Pools::Dense { order, .. } | Pools::Quotient { order, .. }) = self;
        patterns(*order)
    }

    /// Checks that all rows, patterns and results are within bounds, and returns the width of a result.
    fn check(&self, channels: usize, x: usize, to: usize) -> usize {
        let width = numbers(self.patterns(), channels);
        match self {
            Pools::Dense { order, graphs, place } => {
                within(graphs, *order, channels, x);
                assert!(place.len() == graphs.len() && place.iter().all(|&place| place < graphs.len()));
            }
            Pools::Quotient { counts, offsets, .. } => {
                assert!(
                    !offsets.is_empty() && offsets.is_sorted() && offsets[offsets.len() - 1] <= counts.len()
                );
                let (rows, patterns) = (x.checked_div(channels).unwrap_or(0), self.patterns());
                let is_there = |c: &Count| (c.row as usize) < rows && (c.pattern as usize) < patterns;
                assert!(counts.iter().all(is_there), "a count of a row or a pattern that is not there");
            }
        }
        assert_eq!(to, numbers(self.graphs(), width));
        width
    }

    /// Visits every row of a graph.
    #[inline(always)]
    fn each(&self, graph: usize, mut visitor: impl Visitor) {
        match self {
            Pools::Dense { order: 2, graphs, .. } => {
                let Square { start, nodes, .. } = graphs[graph];
                let mut diagonal = 0;
                for place in 0..nodes * nodes {
                    let pattern = usize::from(place != diagonal);
                    diagonal += (1 - pattern) * (nodes + 1);
                    visitor.row(start + place, pattern, 1);
                }
            }
            Pools::Dense { order, graphs, .. } => {
                let Square { start, nodes, .. } = graphs[graph];
                Patterns::new(*order).each(nodes, |place, pattern| visitor.row(start + place, pattern, 1));
            }
            Pools::Quotient { counts, offsets, .. } => {
                for count in &counts[offsets[graph]..offsets[graph + 1]] {
                    visitor.row(count.row as usize, count.pattern as usize, count.count);
                }
            }
        }
    }
}

/// Gets every row of a graph: its index, its pattern, and the number of tuples it represents. (Not a closure in kernels:
/// one with several call sites is not inlined, and only inlined code is compiled for the level.)
trait Visitor {
    fn row(&mut self, row: usize, pattern: usize, count: u32);
}

impl<F: FnMut(usize, usize, u32)> Visitor for F {
    #[inline(always)]
    fn row(&mut self, row: usize, pattern: usize, count: u32) {
        self(row, pattern, count);
    }
}

/// A row that attains a maximum: (row, channel across all patterns, share of the gradient).
pub(crate) type Tie<T> = (u32, u32, T);

/// The rows that attained the maxima: lists of them, each with its graph.
#[derive(Debug, Clone, Default)]
pub struct Ties<T> {
    lists: Vec<(usize, Vec<Tie<T>>)>,
}

/// Maxima per graph: of the diagonal, then of the rest (in general, one per pattern in order); 0 for a pattern without
/// tuples. `ties` says whether to record the rows that attain them.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - `to`: `[graphs, patterns * channels]`
///
/// # Complexity
/// O(rows * channels).
pub fn pool_max<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T], ties: bool) -> Ties<T> {
    T::pool_max(pools, channels, x, to, ties)
}

pub(crate) fn pool_max_generic<T: Real>(
    pools: Pools<'_>,
    channels: usize,
    x: &[T],
    to: &mut [T],
    ties: bool,
) -> Ties<T> {
    let width = pools.check(channels, x.len(), to.len());
    // Few graphs are divided by channels, into whole cache lines.
    let few = pools.graphs() < TASKS * rayon::current_num_threads();
    let step = if few { LINE } else { channels.max(1) };
    let parts = |graph: usize| Part::all(channels).cut(step).map(move |part| (graph, part));
    let tasks: Vec<(usize, Part)> = (0..pools.graphs()).flat_map(parts).collect();
    let mut pooled: Vec<(Vec<T>, Vec<Tie<T>>)> = Vec::new();
    tasks
        .par_iter()
        .with_max_len(1)
        .map(|&(graph, part)| dispatch(Maximum { pools, graph, part, x, ties }))
        .collect_into_vec(&mut pooled);
    let mut tied = Ties { lists: Vec::with_capacity(pooled.len()) };
    for ((graph, part), (maxima, ties)) in tasks.into_iter().zip(pooled) {
        let to = &mut to[pools.place(graph) * width..][..width];
        for (to, maxima) in to.chunks_exact_mut(channels).zip(maxima.chunks_exact(part.width)) {
            to[part.from..][..part.width].copy_from_slice(maxima);
        }
        tied.lists.push((graph, ties));
    }
    tied
}

/// Channels of two cache lines, and the tasks per thread below which graphs are divided.
const LINE: usize = 32;
const TASKS: usize = 4;

/// Channels tested together.
const GROUP: usize = 32;

/// The maxima of some channels of a graph, pattern by pattern, and the rows that attain them.
struct Maximum<'a, T> {
    pools: Pools<'a>,
    graph: usize,
    part: Part,
    x: &'a [T],
    ties: bool,
}

impl<T: Real> Kernel<T> for Maximum<'_, T> {
    type Output = (Vec<T>, Vec<Tie<T>>);

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> Self::Output {
        let Maximum { pools, graph, part, x, ties } = self;
        if let Pools::Dense { order: 2, graphs, .. } = pools
            && let Some(found) = maxima::<T, S>(graphs[graph], part, x, ties)
        {
            return found;
        }
        let (patterns, width) = (pools.patterns(), part.width);
        let mut highest =
            Highest { x, part, maxima: vec![T::LOWEST; patterns * width], seen: vec![false; patterns] };
        pools.each(graph, &mut highest);
        let Highest { mut maxima, seen, .. } = highest;
        for pattern in (0..patterns).filter(|&pattern| !seen[pattern]) {
            maxima[pattern * width..][..width].fill(T::default());
        }
        let mut tied = Vec::new();
        if ties {
            let mut found = Tied { x, part, maxima: &maxima, tuples: vec![0; patterns * width], tied };
            pools.each(graph, &mut found);
            let tuples = found.tuples;
            tied = found.tied;
            for (_, place, share) in &mut tied {
                let (pattern, channel) = (*place as usize / width, *place as usize % width);
                *share = *share / T::rounded(f64::from(tuples[*place as usize]));
                *place = (pattern * part.channels + part.from + channel) as u32;
            }
        }
        (maxima, tied)
    }
}

/// Finds the maxima.
struct Highest<'a, T> {
    x: &'a [T],
    part: Part,
    maxima: Vec<T>,
    seen: Vec<bool>,
}

impl<T: Real> Visitor for &mut Highest<'_, T> {
    #[inline(always)]
    fn row(&mut self, row: usize, pattern: usize, _count: u32) {
        let width = self.part.width;
        let row = &self.x[self.part.at(row)..][..width];
        self.seen[pattern] = true;
        // NaN wins, so that it is noticed.
        self.maxima[pattern * width..][..width]
            .iter_mut()
            .zip(row)
            .for_each(|(m, &x)| *m = if (*m >= x) | m.is_nan() { *m } else { x });
    }
}

/// Finds the rows that attain the maxima; their shares are counts at first, their channels those of the part.
struct Tied<'a, T> {
    x: &'a [T],
    part: Part,
    maxima: &'a [T],
    tuples: Vec<u32>,
    tied: Vec<Tie<T>>,
}

impl<T: Real> Visitor for &mut Tied<'_, T> {
    #[inline(always)]
    fn row(&mut self, number: usize, pattern: usize, count: u32) {
        let width = self.part.width;
        let row = &self.x[self.part.at(number)..][..width];
        let from = pattern * width;
        // Most rows attain few maxima: test a group of channels at a time for any.
        let some = self.maxima[from..from + width].chunks(GROUP).zip(row.chunks(GROUP));
        for (group, (m, x)) in some.enumerate() {
            if !m.iter().zip(x).fold(false, |any, (m, x)| any | (m == x)) {
                continue;
            }
            for c in (0..m.len()).filter(|&c| m[c] == x[c]) {
                let place = from + group * GROUP + c;
                self.tuples[place] += count;
                self.tied.push((number as u32, place as u32, T::rounded(f64::from(count))));
            }
        }
    }
}

/// Adds the gradient of [`pool_max`] to that of its rows.
///
/// # Shapes
/// - `d`: `[graphs, patterns * channels]`
/// - `dx`: `[rows, channels]`, which is added to
pub fn pool_max_backward<T: Real>(pools: Pools<'_>, channels: usize, ties: &Ties<T>, d: &[T], dx: &mut [T]) {
    T::pool_max_backward(pools, channels, ties, d, dx)
}

pub(crate) fn pool_max_backward_generic<T: Real>(
    pools: Pools<'_>,
    channels: usize,
    ties: &Ties<T>,
    d: &[T],
    dx: &mut [T],
) {
    let width = pools.check(channels, dx.len(), d.len());
    for (graph, ties) in &ties.lists {
        let d = &d[pools.place(*graph) * width..][..width];
        for &(row, place, share) in ties {
            let channel = place as usize % channels;
            dx[row as usize * channels + channel] += share * d[place as usize];
        }
    }
}

/// Sums per graph: of the diagonal, then of the rest (in general, one per pattern in order).
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - `to`: `[graphs, patterns * channels]`
///
/// # Complexity
/// O(rows * channels).
pub fn pool_sum<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T]) {
    T::pool_sum(pools, channels, x, to)
}

pub(crate) fn pool_sum_generic<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T]) {
    let width = pools.check(channels, x.len(), to.len());
    let mut sums: Vec<Vec<T>> = Vec::new();
    (0..pools.graphs())
        .into_par_iter()
        .map(|graph| {
            let mut sums = vec![T::default(); width];
            pools.each(graph, |row, pattern, count| {
                let count = T::rounded(f64::from(count));
                sums[pattern * channels..][..channels]
                    .iter_mut()
                    .zip(&x[row * channels..][..channels])
                    .for_each(|(s, &x)| *s += count * x);
            });
            sums
        })
        .collect_into_vec(&mut sums);
    for (graph, sums) in sums.into_iter().enumerate() {
        to[pools.place(graph) * width..][..width].copy_from_slice(&sums);
    }
}

/// Adds the gradient of [`pool_sum`] to that of its rows.
///
/// # Shapes
/// - `d`: `[graphs, patterns * channels]`
/// - `dx`: `[rows, channels]`, which is added to
pub fn pool_sum_backward<T: Real>(pools: Pools<'_>, channels: usize, d: &[T], dx: &mut [T]) {
    T::pool_sum_backward(pools, channels, d, dx)
}

pub(crate) fn pool_sum_backward_generic<T: Real>(pools: Pools<'_>, channels: usize, d: &[T], dx: &mut [T]) {
    let width = pools.check(channels, dx.len(), d.len());
    for graph in 0..pools.graphs() {
        let d = &d[pools.place(graph) * width..][..width];
        pools.each(graph, |row, pattern, count| {
            let row = &mut dx[row * channels..][..channels];
            let count = T::rounded(f64::from(count));
            row.iter_mut().zip(&d[pattern * channels..]).for_each(|(x, &d)| *x += count * d);
        });
    }
}

/// Means per graph: over the diagonal, then over the rest (in general, one per pattern in order); 0 for a pattern without
/// tuples. Sums are accumulated in f64, so that the order of a graph's nodes hardly shows in the mean.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - `to`: `[graphs, patterns * channels]`
///
/// # Complexity
/// O(rows * channels).
pub fn pool_mean<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T]) {
    T::pool_mean(pools, channels, x, to)
}

pub(crate) fn pool_mean_generic<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T]) {
    let width = pools.check(channels, x.len(), to.len());
    let mut means: Vec<Vec<f64>> = Vec::new();
    (0..pools.graphs())
        .into_par_iter()
        .map(|graph| dispatch(Mean { pools, graph, channels, x }))
        .collect_into_vec(&mut means);
    for (graph, means) in means.into_iter().enumerate() {
        let to = &mut to[pools.place(graph) * width..][..width];
        to.iter_mut().zip(means).for_each(|(to, mean)| *to = T::rounded(mean));
    }
}

struct Mean<'a, T> {
    pools: Pools<'a>,
    graph: usize,
    channels: usize,
    x: &'a [T],
}

impl<T: Real> Kernel<T> for Mean<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> Vec<f64> {
        let Mean { pools, graph, channels, x } = self;
        let mut sums = vec![0.0; pools.patterns() * channels];
        pools.each(graph, |row, pattern, count| {
            let count = f64::from(count);
            sums[pattern * channels..][..channels]
                .iter_mut()
                .zip(&x[row * channels..][..channels])
                .for_each(|(s, x)| *s += count * x.wide());
        });
        let shares = pools.shares(graph);
        for (sums, share) in sums.chunks_exact_mut(channels.max(1)).zip(shares) {
            sums.iter_mut().for_each(|s| *s *= share);
        }
        sums
    }
}

impl Pools<'_> {
    /// For every pattern, 1 / the number of a graph's tuples of that pattern; 0 if there are none.
    fn shares(&self, graph: usize) -> Vec<f64> {
        let mut tuples = vec![0u64; self.patterns()];
        self.each(graph, |_, pattern, count| tuples[pattern] += u64::from(count));
        tuples.into_iter().map(|n| if n == 0 { 0.0 } else { 1.0 / n as f64 }).collect()
    }
}

/// Adds the gradient of [`pool_mean`] to that of its rows.
///
/// # Shapes
/// - `d`: `[graphs, patterns * channels]`
/// - `dx`: `[rows, channels]`, which is added to
pub fn pool_mean_backward<T: Real>(pools: Pools<'_>, channels: usize, d: &[T], dx: &mut [T]) {
    T::pool_mean_backward(pools, channels, d, dx)
}

pub(crate) fn pool_mean_backward_generic<T: Real>(pools: Pools<'_>, channels: usize, d: &[T], dx: &mut [T]) {
    let width = pools.check(channels, dx.len(), d.len());
    for graph in 0..pools.graphs() {
        let d = &d[pools.place(graph) * width..][..width];
        let shares = pools.shares(graph);
        pools.each(graph, |row, pattern, count| {
            let row = &mut dx[row * channels..][..channels];
            let share = T::rounded(f64::from(count) * shares[pattern]);
            row.iter_mut().zip(&d[pattern * channels..]).for_each(|(x, &d)| *x += share * d);
        });
    }
}
