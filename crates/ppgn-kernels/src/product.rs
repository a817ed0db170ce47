//! The channelwise matrix product over graphs of mixed sizes, on the dense space.
//!
//! `W[i,k,c] = factor * sum over j of Y1[i,j,c] * Y2[j,k,c]`: in every channel a product of n by n matrices, and both
//! of its gradients are such products again. Channels are contiguous, so a vector holds several channels of one pair,
//! and the product is a matrix product whose entries are vectors: no transposes. A task processes some channels of one
//! graph: it gathers them ([`crate::planes`]) and multiplies in tiles of 3 by 3 entries, within blocks that fit the
//! cache.

use crate::large::{self, Source, Write};
use crate::planes::{Grid, PLANES, Part, copy, replace, scale};
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// One graph of a batch: its n*n rows (n^k for k-tuples) start at `start`, and its product is multiplied by `factor`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square {
    /// Its first row.
    pub start: usize,
    /// Its number of nodes.
    pub nodes: usize,
    /// The factor applied to W.
    pub factor: f64,
}

impl Square {
    pub(crate) fn rows(&self) -> usize {
        self.nodes * self.nodes
    }
}

/// Side length of a block, in entries.
const BLOCK: usize = 48;

/// Channels per task: whole cache lines, so that tasks share none; fewer where there would be fewer than this many
/// tasks per thread. (Tasks do not affect any sum.)
const CHANNELS: usize = 64;
const TASKS: usize = 4;

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`, `w`: `[rows, channels]`, including the rows of every graph
///
/// # Complexity
/// O(sum of n^3 * channels).
pub(crate) fn product<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    y1: &[T],
    y2: &[T],
    w: &mut [T],
) {
    check(graphs, channels, w.len(), &[y1.len(), y2.len()]);
    let w = Shared::new(w);
    tasks(graphs, channels).filter(|_| !workspace.is_stopped()).for_each(
        |(graph, part)| match large::is_large(graph.nodes) {
            true => large_forward(workspace, graph, part, [y1, y2], &w),
            false => dispatch(Forward { workspace, graph, part, y1, y2, w: &w }),
        },
    );
}

/// Overwrites Y1 and Y2 with their gradients. With `relu`, each is already 0 where Y1 (or Y2) is not above 0: the
/// derivative of the ReLU that produced it.
///
/// # Shapes
/// - `dw`, `y1`, `y2`: `[rows, channels]`
///
/// # Complexity
/// O(sum of n^3 * channels).
pub(crate) fn product_backward<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    dw: &[T],
    y1: &mut [T],
    y2: &mut [T],
    relu: bool,
) {
    check(graphs, channels, dw.len(), &[y1.len(), y2.len()]);
    let (y1, y2) = (Shared::new(y1), Shared::new(y2));
    let write = if relu { Write::Masked } else { Write::Set };
    tasks(graphs, channels).filter(|_| !workspace.is_stopped()).for_each(
        |(graph, part)| match large::is_large(graph.nodes) {
            true => large_backward(workspace, graph, part, dw, [&y1, &y2], write),
            false => dispatch(Backward { workspace, graph, part, dw, y1: &y1, y2: &y2, write }),
        },
    );
}

fn check(graphs: &[Square], channels: usize, length: usize, others: &[usize]) {
    assert!(others.iter().all(|&other| other == length));
    within(graphs, 2, channels, length);
}

/// Holds the n^order rows of every graph within a slice, one graph after another.
///
/// # Panics
/// If they are not.
pub(crate) fn within(graphs: &[Square], order: usize, channels: usize, length: usize) {
    let mut next = 0;
    for graph in graphs {
        assert!(graph.start >= next, "graphs are in order and do not overlap");
        let rows = u32::try_from(order).ok().and_then(|order| graph.nodes.checked_pow(order));
        let end = rows.and_then(|rows| graph.start.checked_add(rows));
        next = end.expect("the number of rows fits in usize");
    }
    assert!(numbers(next, channels) <= length, "graphs have more rows than there are");
}

/// Every combination of a graph and a group of channels.
fn tasks(graphs: &[Square], channels: usize) -> impl ParallelIterator<Item = (Square, Part)> {
    let few = graphs.len() * channels.div_ceil(CHANNELS) < TASKS * rayon::current_num_threads();
    let width = |nodes| match few || large::is_large(nodes) {
        true => large::CHANNELS,
        false => CHANNELS,
    };
    let parts = |graph: Square| Part::all(channels).cut(width(graph.nodes)).map(move |part| (graph, part));
    let all: Vec<_> = graphs.iter().flat_map(|&graph| parts(graph)).collect();
    all.into_par_iter().with_max_len(1)
}

/// Some channels of a large graph's W.
fn large_forward<T: Real>(
    workspace: &Workspace,
    graph: Square,
    part: Part,
    [y1, y2]: [&[T]; 2],
    w: &Shared<'_, T>,
) {
    let (n, channels) = (graph.nodes, part.width);
    let at = |i: usize, j: usize| part.at(graph.start + i * n + j);
    let right = Source { n, channels, pair: |i, j| &y2[at(i, j)..][..channels] }.pack(workspace);
    let left = Source { n, channels, pair: |i, j| &y1[at(i, j)..][..channels] };
    // SAFETY: only this task writes these channels of this graph.
    unsafe { left.multiply(workspace, &right, w, at, T::rounded(graph.factor), Write::Set) };
}

/// Some channels of the gradients of a large graph, written over Y1 and Y2.
fn large_backward<T: Real>(
    workspace: &Workspace,
    graph: Square,
    part: Part,
    dw: &[T],
    [y1, y2]: [&Shared<'_, T>; 2],
    write: Write,
) {
    let (n, channels) = (graph.nodes, part.width);
    let factor = T::rounded(graph.factor);
    let at = |i: usize, j: usize| part.at(graph.start + i * n + j);
    let d = Source { n, channels, pair: |i, k| &dw[at(i, k)..][..channels] };
    // SAFETY: only this task accesses these channels of this graph. Y2 is packed before it is overwritten; Y1 is
    // overwritten last, by tasks that do not read it.
    unsafe {
        let right = Source { n, channels, pair: |k, j| &*y2.part(at(j, k), channels) }.pack(workspace);
        // dY2 = Y1^T dW and dY1 = dW Y2^T.
        let left = Source { n, channels, pair: |j, i| &*y1.part(at(i, j), channels) };
        left.multiply(workspace, &d.pack(workspace), y2, at, factor, write);
        d.multiply(workspace, &right, y1, at, factor, write);
    }
}

struct Forward<'a, T> {
    workspace: &'a Workspace,
    graph: Square,
    part: Part,
    y1: &'a [T],
    y2: &'a [T],
    w: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let grid = Grid::new::<T, S>(self.graph.nodes);
        let row = |place: usize| self.graph.start + place;
        let factor = T::rounded(self.graph.factor);
        let mut scratch = Buffer::<T>::dirty(self.workspace, 3 * PLANES * grid.size);
        let (a, rest) = scratch.split_at_mut(PLANES * grid.size);
        let (b, out) = rest.split_at_mut(PLANES * grid.size);
        for part in self.part.cut(PLANES * S::LANES) {
            // A part of a large graph takes a good part of a second.
            if self.workspace.is_stopped() {
                return;
            }
            for (y, to) in [(self.y1, &mut *a), (self.y2, &mut *b)] {
                grid.gather::<T, S>(part, row, to, |at, to| copy::<T, S>(to, &y[at..at + to.len()]));
            }
            let out = &mut out[..part.width.div_ceil(S::LANES) * grid.size];
            multiply::<T, S>(grid, Entries::plain(a, grid), Entries::plain(b, grid), out);
            grid.scatter::<T, S>(part, row, out, |at, numbers| {
                // SAFETY: only this task writes these channels of this graph.
                let to = unsafe { self.w.part(at, numbers.len()) };
                scale::<T, S>(to, numbers, factor);
            });
        }
    }
}

struct Backward<'a, T> {
    workspace: &'a Workspace,
    graph: Square,
    part: Part,
    dw: &'a [T],
    y1: &'a Shared<'a, T>,
    y2: &'a Shared<'a, T>,
    write: Write,
}

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let grid = Grid::new::<T, S>(self.graph.nodes);
        let row = |place: usize| self.graph.start + place;
        let factor = T::rounded(self.graph.factor);
        let mut scratch = Buffer::<T>::dirty(self.workspace, 4 * PLANES * grid.size);
        let (a, rest) = scratch.split_at_mut(PLANES * grid.size);
        let (b, rest) = rest.split_at_mut(PLANES * grid.size);
        let (d, out) = rest.split_at_mut(PLANES * grid.size);
        for part in self.part.cut(PLANES * S::LANES) {
            if self.workspace.is_stopped() {
                return;
            }
            for (y, to) in [(self.y1, &mut *a), (self.y2, &mut *b)] {
                // SAFETY: only this task accesses these channels of this graph.
                grid.gather::<T, S>(part, row, to, |at, to| {
                    copy::<T, S>(to, unsafe { y.part(at, to.len()) });
                });
            }
            grid.gather::<T, S>(part, row, d, |at, to| {
                scale::<T, S>(to, &self.dw[at..at + to.len()], factor);
            });
            let out = &mut out[..part.width.div_ceil(S::LANES) * grid.size];
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            multiply::<T, S>(grid, Entries::plain(d, grid), Entries::transposed(b, grid), out);
            grid.scatter::<T, S>(part, row, out, |at, numbers| {
                overwrite::<T, S>(self.y1, at, numbers, self.write);
            });
            multiply::<T, S>(grid, Entries::transposed(a, grid), Entries::plain(d, grid), out);
            grid.scatter::<T, S>(part, row, out, |at, numbers| {
                overwrite::<T, S>(self.y2, at, numbers, self.write);
            });
        }
    }
}

/// Overwrites a factor with its gradient.
#[inline(always)]
fn overwrite<T: Real, S: Simd<T>>(y: &Shared<'_, T>, at: usize, numbers: &[T], write: Write) {
    // SAFETY: only this task accesses these channels of this graph.
    let to = unsafe { y.part(at, numbers.len()) };
    match write {
        Write::Set => copy::<T, S>(to, numbers),
        Write::Masked => replace::<T, S>(to, numbers),
    }
}

/// Planes of matrices of vectors: entry (i, j) is vector `i * down + j * right`.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a, T> {
    at: &'a [T],
    down: usize,
    right: usize,
}

impl<'a, T> Entries<'a, T> {
    /// The matrices as stored.
    pub(crate) fn plain(at: &'a [T], grid: Grid) -> Self {
        Entries { at, down: grid.side, right: 1 }
    }

    /// The transposed matrices.
    pub(crate) fn transposed(at: &'a [T], grid: Grid) -> Self {
        Entries { at, down: 1, right: grid.side }
    }

    #[inline(always)]
    fn plane(self, p: usize, size: usize) -> Self {
        Entries { at: &self.at[p * size..][..size], ..self }
    }
}

/// `out = a b` in every plane of `out`.
#[inline(always)]
pub(crate) fn multiply<T: Real, S: Simd<T>>(grid: Grid, a: Entries<'_, T>, b: Entries<'_, T>, out: &mut [T]) {
    for (p, out) in out.chunks_exact_mut(grid.size.max(1)).enumerate() {
        matrix::<T, S>(grid.n, a.plane(p, grid.size), b.plane(p, grid.size), out);
    }
}

/// `out = a b`, n by n; the rows of `out` are `n | 1` entries apart.
#[inline(always)]
fn matrix<T: Real, S: Simd<T>>(n: usize, a: Entries<'_, T>, b: Entries<'_, T>, out: &mut [T]) {
    for ks in (0..n).step_by(BLOCK) {
        for js in (0..n).step_by(BLOCK) {
            let (ke, je) = ((ks + BLOCK).min(n), (js + BLOCK).min(n));
            let mut i = 0;
            while i < n {
                let mut k = ks;
                let tall = i + 3 <= n;
                while k < ke {
                    let wide = k + 3 <= ke;
                    match (tall, wide) {
                        (true, true) => tile::<T, S, 3, 3>(n, a, b, out, i, k, js, je),
                        (true, false) => tile::<T, S, 3, 1>(n, a, b, out, i, k, js, je),
                        (false, true) => tile::<T, S, 1, 3>(n, a, b, out, i, k, js, je),
                        (false, false) => tile::<T, S, 1, 1>(n, a, b, out, i, k, js, je),
                    }
                    k += if wide { 3 } else { 1 };
                }
                i += if tall { 3 } else { 1 };
            }
        }
    }
}

/// Entries (i.., k..) of the product, summed over j from `js` to `je`; the sums start at zero if `js` is 0 and continue
/// otherwise.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "an inner loop")]
fn tile<T: Real, S: Simd<T>, const A: usize, const B: usize>(
    n: usize,
    a: Entries<'_, T>,
    b: Entries<'_, T>,
    out: &mut [T],
    i: usize,
    k: usize,
    js: usize,
    je: usize,
) {
    let last =
        |e: Entries<'_, T>, row: usize, column: usize| (row * e.down + column * e.right + 1) * S::LANES;
    assert!(last(a, i + A - 1, je - 1) <= a.at.len() && last(b, je - 1, k + B - 1) <= b.at.len());
    assert!(((i + A - 1) * (n | 1) + k + B) * S::LANES <= out.len());
    let mut sums = [[S::splat(T::default()); B]; A];
    // SAFETY: no offset exceeds those checked above.
    unsafe {
        let place = |x: usize, y: usize| ((i + x) * (n | 1) + k + y) * S::LANES;
        if js > 0 {
            for (x, sums) in sums.iter_mut().enumerate() {
                for (y, sum) in sums.iter_mut().enumerate() {
                    *sum = S::load(out.as_ptr().add(place(x, y)));
                }
            }
        }
        for j in js..je {
            let mut line = [S::splat(T::default()); B];
            for (y, v) in line.iter_mut().enumerate() {
                *v = S::load(b.at.as_ptr().add((j * b.down + (k + y) * b.right) * S::LANES));
            }
            for (x, sums) in sums.iter_mut().enumerate() {
                let v = S::load(a.at.as_ptr().add(((i + x) * a.down + j * a.right) * S::LANES));
                for (sum, &w) in sums.iter_mut().zip(&line) {
                    *sum = S::multiply_add(v, w, *sum);
                }
            }
        }
        for (x, sums) in sums.iter().enumerate() {
            for (y, &sum) in sums.iter().enumerate() {
                S::store(out.as_mut_ptr().add(place(x, y)), sum);
            }
        }
    }
}
