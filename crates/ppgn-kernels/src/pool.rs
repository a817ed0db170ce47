//! From pairs to a graph: the maximum or the sum over its diagonal, and over the rest.
//!
//! Where several pairs attain a maximum its gradient is split evenly over them, so the forward pass notes all that do:
//! the backward pass then adds to a few numbers a graph instead of going through all rows.

use crate::product::Square;
use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// How many pairs of a graph have a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The row.
    pub row: u32,
    /// Of the pairs (i, i).
    pub diagonal: u32,
    /// Of the others.
    pub rest: u32,
}

/// What is pooled.
#[derive(Debug, Clone, Copy)]
pub enum Pools<'a> {
    /// All pairs of every graph, each a row; results in the order `place` gives: graph g's at row `place[g]`.
    Dense {
        /// The graphs, in the order of their rows.
        graphs: &'a [Square],
        /// Where each one's result goes.
        place: &'a [usize],
    },
    /// The colours of every graph, with their counts.
    Quotient {
        /// Graph after graph.
        counts: &'a [Count],
        /// Where each graph's counts begin, and where the last one's end.
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

    /// Calls with every row of a graph: its number, and how many pairs of the diagonal and of the rest it stands for.
    #[inline(always)]
    fn each(&self, graph: usize, mut call: impl FnMut(usize, u32, u32)) {
        match self {
            Pools::Dense { graphs, .. } => {
                let Square { start, nodes, .. } = graphs[graph];
                for i in 0..nodes {
                    let line = start + i * nodes;
                    (line..line + i).for_each(|row| call(row, 0, 1));
                    call(line + i, 1, 0);
                    (line + i + 1..line + nodes).for_each(|row| call(row, 0, 1));
                }
            }
            Pools::Quotient { counts, offsets } => {
                for count in &counts[offsets[graph]..offsets[graph + 1]] {
                    call(count.row as usize, count.diagonal, count.rest);
                }
            }
        }
    }
}

/// A row that attains a maximum: (row, channel among both parts, share of the gradient).
type Tie<T> = (u32, u32, T);

/// Which rows attained the maxima, graph by graph.
#[derive(Debug, Clone, Default)]
pub struct Ties<T> {
    graphs: Vec<Vec<Tie<T>>>,
}

/// Maxima per graph: the diagonal's, then the rest's; 0 for a part without pairs. The ties are noted if wanted.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - `to`: `[graphs, 2 * channels]`
///
/// # Complexity
/// O(rows * channels).
pub fn pool_max<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T], ties: bool) -> Ties<T> {
    assert_eq!(to.len(), pools.graphs() * 2 * channels);
    let mut pooled: Vec<(Vec<T>, Vec<Tie<T>>)> = Vec::new();
    (0..pools.graphs())
        .into_par_iter()
        .map(|graph| dispatch(Maximum { pools, graph, channels, x, ties }))
        .collect_into_vec(&mut pooled);
    let mut tied = Ties { graphs: Vec::with_capacity(pooled.len()) };
    for (graph, (maxima, ties)) in pooled.into_iter().enumerate() {
        to[pools.place(graph) * 2 * channels..][..2 * channels].copy_from_slice(&maxima);
        tied.graphs.push(ties);
    }
    tied
}

/// Channels that are looked at together.
const GROUP: usize = 32;

struct Maximum<'a, T> {
    pools: Pools<'a>,
    graph: usize,
    channels: usize,
    x: &'a [T],
    ties: bool,
}

impl<T: Real> Kernel<T> for Maximum<'_, T> {
    type Output = (Vec<T>, Vec<Tie<T>>);

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> Self::Output {
        let Maximum { pools, graph, channels, x, ties } = self;
        let mut maxima = vec![T::LOWEST; 2 * channels];
        let mut seen = [false; 2];
        pools.each(graph, |row, diagonal, rest| {
            let row = &x[row * channels..][..channels];
            for part in
                [diagonal, rest].iter().enumerate().filter(|(_, pairs)| **pairs > 0).map(|(part, _)| part)
            {
                seen[part] = true;
                // What is no number wins, so that it is seen.
                maxima[part * channels..][..channels]
                    .iter_mut()
                    .zip(row)
                    .for_each(|(m, &x)| *m = if (*m >= x) | m.lost() { *m } else { x });
            }
        });
        for part in (0..2).filter(|&part| !seen[part]) {
            maxima[part * channels..][..channels].fill(T::default());
        }
        let mut tied = Vec::new();
        if ties {
            let mut pairs = vec![0u32; 2 * channels];
            pools.each(graph, |number, diagonal, rest| {
                let row = &x[number * channels..][..channels];
                for (part, count) in [diagonal, rest].into_iter().enumerate().filter(|(_, count)| *count > 0)
                {
                    let from = part * channels;
                    // Most rows attain few maxima: some channels at a time are asked whether there is one.
                    let some = maxima[from..from + channels].chunks(GROUP).zip(row.chunks(GROUP));
                    for (group, (m, x)) in some.enumerate() {
                        if !m.iter().zip(x).fold(false, |any, (m, x)| any | (m == x)) {
                            continue;
                        }
                        for c in (0..m.len()).filter(|&c| m[c] == x[c]) {
                            let place = from + group * GROUP + c;
                            pairs[place] += count;
                            tied.push((number as u32, place as u32, T::rounded(f64::from(count))));
                        }
                    }
                }
            });
            for (_, place, share) in &mut tied {
                *share = *share / T::rounded(f64::from(pairs[*place as usize]));
            }
        }
        (maxima, tied)
    }
}

/// Adds the gradient of [`pool_max`] to that of its rows.
///
/// # Shapes
/// - `d`: `[graphs, 2 * channels]`
/// - `dx`: `[rows, channels]`, which is added to
pub fn pool_max_backward<T: Real>(pools: Pools<'_>, channels: usize, ties: &Ties<T>, d: &[T], dx: &mut [T]) {
    for (graph, ties) in ties.graphs.iter().enumerate() {
        let d = &d[pools.place(graph) * 2 * channels..][..2 * channels];
        for &(row, place, share) in ties {
            let channel = place as usize % channels;
            dx[row as usize * channels + channel] += share * d[place as usize];
        }
    }
}

/// Sums per graph: the diagonal's, then the rest's.
///
/// # Shapes
/// - `x`: `[rows, channels]`
/// - `to`: `[graphs, 2 * channels]`
///
/// # Complexity
/// O(rows * channels).
pub fn pool_sum<T: Real>(pools: Pools<'_>, channels: usize, x: &[T], to: &mut [T]) {
    assert_eq!(to.len(), pools.graphs() * 2 * channels);
    let mut sums: Vec<Vec<T>> = Vec::new();
    (0..pools.graphs())
        .into_par_iter()
        .map(|graph| {
            let mut sums = vec![T::default(); 2 * channels];
            pools.each(graph, |row, diagonal, rest| {
                let row = &x[row * channels..][..channels];
                for (part, count) in [diagonal, rest].into_iter().enumerate().filter(|(_, count)| *count > 0)
                {
                    let count = T::rounded(f64::from(count));
                    sums[part * channels..][..channels]
                        .iter_mut()
                        .zip(row)
                        .for_each(|(s, &x)| *s += count * x);
                }
            });
            sums
        })
        .collect_into_vec(&mut sums);
    for (graph, sums) in sums.into_iter().enumerate() {
        to[pools.place(graph) * 2 * channels..][..2 * channels].copy_from_slice(&sums);
    }
}

/// Adds the gradient of [`pool_sum`] to that of its rows.
///
/// # Shapes
/// - `d`: `[graphs, 2 * channels]`
/// - `dx`: `[rows, channels]`, which is added to
pub fn pool_sum_backward<T: Real>(pools: Pools<'_>, channels: usize, d: &[T], dx: &mut [T]) {
    for graph in 0..pools.graphs() {
        let d = &d[pools.place(graph) * 2 * channels..][..2 * channels];
        pools.each(graph, |row, diagonal, rest| {
            let row = &mut dx[row * channels..][..channels];
            for (part, count) in [diagonal, rest].into_iter().enumerate().filter(|(_, count)| *count > 0) {
                let count = T::rounded(f64::from(count));
                row.iter_mut().zip(&d[part * channels..]).for_each(|(x, &d)| *x += count * d);
            }
        });
    }
}
