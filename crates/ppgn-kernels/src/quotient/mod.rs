//! The channelwise matrix product on the quotient space: one row for all pairs that 2-FWL has not distinguished.
//!
//! The row of a colour is computed for one pair (i, k) of that colour,
//! `W[r] = factor * sum over j of Y1[c(i,j)] * Y2[c(j,k)]`, where c(i,j) is the row of pair (i,j) one level below. If a
//! graph contributes few rows, they are computed one by one ([`rows`]); if it contributes many, the whole matrix
//! product is cheaper ([`whole`]), because each number read then serves many sums. The gradients are added to rows that
//! graphs share, so tasks are divided by channels rather than by graphs: every sum has a fixed order, whatever the
//! number of threads.

mod rows;
#[cfg(test)]
mod sweep;
mod whole;

use crate::large;
use crate::planes::Part;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::Workspace;
use rayon::prelude::*;

/// A tuple of nodes of one graph of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The graph's index in the batch.
    pub graph: u32,
    /// The tuple's index in its graph: `i * n + k` for (i, k), and likewise for longer tuples.
    pub place: u32,
}

/// What a product needs to compute the rows of one level from those of the level below: the row below of every tuple,
/// one matrix per graph, and an example tuple for every row of this level.
#[derive(Debug, Clone, Copy)]
pub struct ColourMatrix<'a> {
    /// Number of rows on the level below.
    pub below: usize,
    /// For each row of this level, a tuple that has it.
    pub examples: &'a [Example],
    /// Number of nodes of each graph.
    pub nodes: &'a [usize],
    /// The factor applied to each graph's product.
    pub factors: &'a [f64],
    /// Where each graph's tuples begin in `matrix`.
    pub offsets: &'a [usize],
    /// For every tuple its row on the level below, graph after graph, row-major.
    pub matrix: &'a [u32],
}

impl ColourMatrix<'_> {
    /// Asserts that every index read later is within bounds, for tuples of this order.
    pub(crate) fn check(&self, order: usize) {
        // A maximum, unlike `all`, is computed with vectors.
        assert!(
            self.matrix.is_empty()
                || (self.matrix.iter().fold(0, |m, &row| m.max(row)) as usize) < self.below
        );
        let order = u32::try_from(order).expect("tuples have a length that can be counted");
        for example in self.examples {
            let tuples = self.nodes[example.graph as usize].checked_pow(order);
            let tuples = tuples.expect("the number of tuples fits in usize");
            assert!((example.place as usize) < tuples);
            let end = self.offsets[example.graph as usize].checked_add(tuples);
            assert!(end.is_some_and(|end| end <= self.matrix.len()));
        }
    }

    /// The rows c(i,j) and c(j,k) for all j, in order.
    #[inline(always)]
    fn terms(&self, graph: usize, place: u32) -> impl Iterator<Item = (usize, usize)> {
        let n = self.nodes[graph];
        let matrix = &self.matrix[self.offsets[graph]..][..n * n];
        let (i, k) = (place as usize / n, place as usize % n);
        let left = &matrix[i * n..][..n];
        let right = matrix[k..].iter().step_by(n);
        left.iter().zip(right).map(|(&l, &r)| (l as usize, r as usize))
    }
}

/// The rows computed for one graph: each with its index and that of its tuple.
struct Own {
    graph: usize,
    rows: Vec<(u32, u32)>,
}

impl Own {
    /// Whether computing all entries of the product is cheaper than computing the required ones. A term of a single sum
    /// costs about ten times as much as one within a tile (measured by profiling NCI1), and assembling the matrices
    /// costs a few terms per pair.
    fn is_whole(&self, colours: &ColourMatrix<'_>) -> bool {
        Own::whole_is_cheaper(colours.nodes[self.graph], self.rows.len())
    }

    fn whole_is_cheaper(n: usize, rows: usize) -> bool {
        8 * rows > n * (n + 32)
    }

    /// Whether the whole product is that of a large graph.
    fn is_large(&self, colours: &ColourMatrix<'_>) -> bool {
        large::is_large(colours.nodes[self.graph])
    }
}

/// The rows of every graph that has any.
fn by_graph(colours: &ColourMatrix<'_>) -> Vec<Own> {
    let mut all: Vec<Own> = (0..colours.nodes.len()).map(|graph| Own { graph, rows: Vec::new() }).collect();
    for (row, example) in colours.examples.iter().enumerate() {
        all[example.graph as usize].rows.push((row as u32, example.place));
    }
    all.retain(|own| !own.rows.is_empty());
    all
}

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`: `[below, channels]`
/// - `w`: `[examples, channels]`
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is cheaper.
pub(crate) fn quotient_product<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    y1: &[T],
    y2: &[T],
    w: &mut [T],
) {
    colours.check(2);
    assert_eq!([y1.len(), y2.len()], [numbers(colours.below, channels); 2]);
    assert_eq!(w.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours);
    let w = Shared::new(w);
    let few = all.len() * channels.div_ceil(FORWARD) < TASKS * rayon::current_num_threads();
    let tasks: Vec<Task<'_>> = all.iter().flat_map(|own| own.tasks(&colours, channels, few)).collect();
    tasks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(|task| match task {
        Task::Rows(graph, rows) => dispatch(rows::Forward { colours, graph, rows, channels, y1, y2, w: &w }),
        Task::Whole(own, part) => {
            let task = whole::Forward { workspace, colours, own, part, y1, y2, w: &w };
            if own.is_large(&colours) { task.large() } else { dispatch(task) }
        }
    });
}

/// A task of the forward pass.
enum Task<'a> {
    /// Some rows of a graph, all channels.
    Rows(usize, &'a [(u32, u32)]),
    /// All rows of a graph, some channels.
    Whole(&'a Own, Part),
}

impl Own {
    fn tasks(&self, colours: &ColourMatrix<'_>, channels: usize, few: bool) -> Vec<Task<'_>> {
        let width = if few || self.is_large(colours) { large::CHANNELS } else { FORWARD };
        match self.is_whole(colours) {
            true => Part::all(channels).cut(width).map(|part| Task::Whole(self, part)).collect(),
            false => self.rows.chunks(32).map(|rows| Task::Rows(self.graph, rows)).collect(),
        }
    }
}

/// The gradients of Y1 and Y2; with `relu`, each 0 where Y1 (or Y2) is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, channels]`
/// - `y1`, `y2`, `d1`, `d2`: `[below, channels]`; the last two are overwritten
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is cheaper.
pub(crate) fn quotient_product_backward<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    dw: &[T],
    [y1, y2]: [&[T]; 2],
    [d1, d2]: [&mut [T]; 2],
    relu: bool,
) {
    colours.check(2);
    let below = numbers(colours.below, channels);
    assert_eq!([y1.len(), y2.len(), d1.len(), d2.len()], [below; 4]);
    assert_eq!(dw.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours);
    let (d1, d2) = (Shared::new(d1), Shared::new(d2));
    let few = channels.div_ceil(BACKWARD) < TASKS * rayon::current_num_threads();
    let width = if few { large::CHANNELS } else { BACKWARD };
    let parts: Vec<Part> = Part::all(channels).cut(width).collect();
    parts.into_par_iter().with_max_len(1).for_each(|part| {
        let d = [&d1, &d2];
        dispatch(Clear { rows: colours.below, part, d, y: None });
        for own in &all {
            if workspace.is_stopped() {
                return;
            }
            let share = Share { workspace, colours, own, part, dw, y: [y1, y2], d };
            match own.is_whole(&colours) {
                true if own.is_large(&colours) => whole::Backward(share).large(),
                true => dispatch(whole::Backward(share)),
                false => dispatch(rows::Backward(share)),
            }
        }
        if relu {
            dispatch(Clear { rows: colours.below, part, d, y: Some([y1, y2]) });
        }
    });
}

/// The contribution of a graph's rows to some channels of the gradients.
struct Share<'a, T> {
    workspace: &'a Workspace,
    colours: ColourMatrix<'a>,
    own: &'a Own,
    part: Part,
    dw: &'a [T],
    y: [&'a [T]; 2],
    d: [&'a Shared<'a, T>; 2],
}

/// Channels per task: whole cache lines, so that tasks share none; fewer where there would be fewer than this many
/// tasks per thread. (Tasks do not affect any sum.)
const FORWARD: usize = 64;
const BACKWARD: usize = 32;
const TASKS: usize = 4;

/// Sets a range of channels of all rows to 0; or, given the output of a ReLU, only where that is 0.
struct Clear<'a, T> {
    rows: usize,
    part: Part,
    d: [&'a Shared<'a, T>; 2],
    y: Option<[&'a [T]; 2]>,
}

impl<T: Real> Kernel<T> for Clear<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let zero = S::splat(T::default());
        for at in (0..self.rows).map(|row| self.part.at(row)) {
            for (n, d) in self.d.into_iter().enumerate() {
                // SAFETY: only one task accesses these channels.
                let d = unsafe { d.part(at, self.part.width) };
                let y = self.y.map(|y| &y[n][at..at + self.part.width]);
                let whole = d.len() / S::LANES * S::LANES;
                for c in (0..whole).step_by(S::LANES) {
                    // SAFETY: both have the part's width.
                    unsafe {
                        let to = d.as_mut_ptr().add(c);
                        S::store(to, y.map_or(zero, |y| S::mask(S::load(to), S::load(y.as_ptr().add(c)))));
                    }
                }
                for c in whole..d.len() {
                    d[c] = if y.is_some_and(|y| y[c] > T::default()) { d[c] } else { T::default() };
                }
            }
        }
    }
}
