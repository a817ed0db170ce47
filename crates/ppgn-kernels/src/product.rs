//! The channelwise matrix product over graphs of mixed sizes, on the dense space.
//!
//! `W[i,k,c] = factor * sum over j of Y1[i,j,c] * Y2[j,k,c]`: in every channel a product of n by n matrices, and both
//! of its gradients are such products again. Channels are contiguous, so a vector holds several channels of one pair,
//! and the product is a matrix product whose entries are vectors: no transposes. A task processes some channels of one
//! graph, a cache line of them at a time: it packs both sides ([`crate::strips`]), multiplies them in tiles of 6 by 4
//! entries, or 3 by 3 where registers are few, and writes each tile to its rows.

use crate::large::{self, Source, Write};
use crate::planes::Part;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::strips::{self, Put, Side};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;
use std::ops::Range;

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
        let n = self.graph.nodes;
        let (planes, size) = (strips::planes::<T, S>(), strips::plane::<T, S>(n));
        let mut scratch = Buffer::<T>::dirty(self.workspace, 2 * planes * size);
        let (a, b) = scratch.split_at_mut(planes * size);
        for part in self.part.cut(planes * S::LANES) {
            // A part of a large graph takes a good part of a second.
            if self.workspace.is_stopped() {
                return;
            }
            let rows = PairRows { graph: self.graph, part };
            let (y1, y2) = (&self.y1[rows.range()], &self.y2[rows.range()]);
            // SAFETY: the range has the rows of all pairs.
            unsafe {
                strips::pack::<T, S>(Side::Left, n, part, |i, j| y1.as_ptr().add(rows.at(i, j)), a);
                strips::pack::<T, S>(Side::Right, n, part, |k, j| y2.as_ptr().add(rows.at(j, k)), b);
            }
            rows.multiply::<T, S>([a, b], self.w, Write::Set);
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
        let n = self.graph.nodes;
        let (planes, size) = (strips::planes::<T, S>(), strips::plane::<T, S>(n));
        let mut scratch = Buffer::<T>::dirty(self.workspace, 3 * planes * size);
        let (a, rest) = scratch.split_at_mut(planes * size);
        let (b, left) = rest.split_at_mut(planes * size);
        for part in self.part.cut(planes * S::LANES) {
            if self.workspace.is_stopped() {
                return;
            }
            let rows = PairRows { graph: self.graph, part };
            let range = rows.range();
            let (dw, y1, y2) = (
                &self.dw[range.clone()],
                self.y1.pointer(range.start, range.len()),
                self.y2.pointer(range.start, range.len()),
            );
            // dY1 = dW Y2^T and dY2 = Y1^T dW. Y1 is packed before its gradient overwrites it.
            // SAFETY: the range has the rows of all pairs, and only this task accesses these channels of them.
            unsafe {
                strips::pack::<T, S>(Side::Left, n, part, |j, i| y1.cast_const().add(rows.at(i, j)), left);
                strips::pack::<T, S>(Side::Left, n, part, |i, k| dw.as_ptr().add(rows.at(i, k)), a);
                strips::pack::<T, S>(Side::Right, n, part, |j, k| y2.cast_const().add(rows.at(j, k)), b);
            }
            rows.multiply::<T, S>([a, b], self.y1, self.write);
            // SAFETY: as above.
            unsafe { strips::pack::<T, S>(Side::Right, n, part, |k, i| dw.as_ptr().add(rows.at(i, k)), b) };
            rows.multiply::<T, S>([left, b], self.y2, self.write);
        }
    }
}

/// Some channels of the pairs of a graph.
#[derive(Clone, Copy)]
struct PairRows {
    graph: Square,
    part: Part,
}

impl PairRows {
    /// From the first number of the first pair to the last of the last.
    #[inline(always)]
    fn range(&self) -> Range<usize> {
        let start = self.part.at(self.graph.start);
        let last = self.graph.rows().saturating_sub(1) * self.part.channels + self.part.width;
        start..start + if self.graph.nodes == 0 { 0 } else { last }
    }

    /// Where the numbers of pair (i, j) begin within the range.
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> usize {
        (i * self.graph.nodes + j) * self.part.channels
    }

    /// Multiplies every plane, and writes the products to these channels.
    #[inline(always)]
    fn multiply<T: Real, S: Simd<T>>(&self, [a, b]: [&[T]; 2], to: &Shared<'_, T>, write: Write) {
        let (n, size) = (self.graph.nodes, strips::plane::<T, S>(self.graph.nodes));
        let range = self.range();
        let first = to.pointer(range.start, range.len());
        let factor = S::splat(T::rounded(self.graph.factor));
        for (p, from) in (0..self.part.width).step_by(S::LANES).enumerate() {
            let some = S::LANES.min(self.part.width - from);
            // SAFETY: within the range that was checked.
            let first = unsafe { first.add(from) };
            let mut out = Out { rows: *self, first, some, factor, write };
            strips::multiply::<T, S>(n, &a[p * size..], &b[p * size..], &mut out);
        }
    }
}

/// Writes a product to the pairs' channels from `first` on; only the task that made it accesses them.
struct Out<T, V> {
    rows: PairRows,
    first: *mut T,
    some: usize,
    factor: V,
    write: Write,
}

impl<T: Real, S: Simd<T>> Put<T, S> for Out<T, S::V> {
    #[inline(always)]
    fn put(&mut self, i: usize, k: usize, v: S::V) {
        let v = S::multiply_add(v, self.factor, S::splat(T::default()));
        // SAFETY: `multiply` has checked the range of all pairs, and both places are below n.
        unsafe {
            let to = self.first.add(self.rows.at(i, k));
            let v = match self.write {
                Write::Set => v,
                Write::Masked => S::mask(v, strips::read::<T, S>(to, self.some)),
            };
            strips::write::<T, S>(to, v, self.some);
        }
    }
}
