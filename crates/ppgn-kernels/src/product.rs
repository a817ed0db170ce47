//! The channel product over graphs of mixed sizes, every pair a row.
//!
//! `W[i,k,c] = factor * sum over j of Y1[i,j,c] * Y2[j,k,c]`: in every channel a matrix product of n by n matrices, and
//! both of its gradients are such products again. Channels lie side by side, so a vector holds one pair's numbers in
//! several channels, and the product is a matrix product whose entries are vectors: no transposes. A task takes one
//! graph and some channels, copies them together, and multiplies by tiles of 3 by 3 entries within blocks that fit the
//! cache.

use crate::buffer::Buffer;
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// One graph of a batch: its n*n rows (n^k for k-tuples) from `start` on, and what its product is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square {
    /// Its first row.
    pub start: usize,
    /// Its nodes.
    pub nodes: usize,
    /// What W is multiplied by.
    pub factor: f64,
}

impl Square {
    pub(crate) fn rows(&self) -> usize {
        self.nodes * self.nodes
    }
}

/// Entries of a block, along each side.
const BLOCK: usize = 48;

/// Channels of a task: whole cache lines, so that tasks do not share them.
const CHANNELS: usize = 64;

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`, `w`: `[rows, channels]`, and every graph's rows within
///
/// # Complexity
/// O(sum of n^3 * channels).
pub fn product<T: Real>(graphs: &[Square], channels: usize, y1: &[T], y2: &[T], w: &mut [T]) {
    check(graphs, channels, w.len(), &[y1.len(), y2.len()]);
    let w = Shared::new(w);
    tasks(graphs, channels).for_each(|task| dispatch(Forward { task, y1, y2, w: &w }));
}

/// The gradients of Y1 and Y2 in their own places, each already 0 where Y1 (or Y2) is not above 0: the derivative of
/// the ReLU that made them.
///
/// # Shapes
/// - `dw`, `y1`, `y2`: `[rows, channels]`
///
/// # Complexity
/// O(sum of n^3 * channels).
pub fn product_backward<T: Real>(graphs: &[Square], channels: usize, dw: &[T], y1: &mut [T], y2: &mut [T]) {
    check(graphs, channels, dw.len(), &[y1.len(), y2.len()]);
    let (y1, y2) = (Shared::new(y1), Shared::new(y2));
    tasks(graphs, channels).for_each(|task| dispatch(Backward { task, dw, y1: &y1, y2: &y2 }));
}

fn check(graphs: &[Square], channels: usize, length: usize, others: &[usize]) {
    assert!(others.iter().all(|&other| other == length));
    let mut next = 0;
    for graph in graphs {
        assert!(graph.start >= next, "graphs lie one after another");
        next = graph.start + graph.rows();
    }
    assert!(next * channels <= length);
}

/// Every graph with every group of channels.
fn tasks(graphs: &[Square], channels: usize) -> impl ParallelIterator<Item = Place> + use<'_> {
    graphs.par_iter().flat_map(move |&graph| {
        (0..channels.div_ceil(CHANNELS)).into_par_iter().map(move |group| {
            let from = group * CHANNELS;
            Place { graph, channels, from, width: CHANNELS.min(channels - from) }
        })
    })
}

struct Forward<'a, T> {
    task: Place,
    y1: &'a [T],
    y2: &'a [T],
    w: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let n = self.task.graph.nodes;
        let size = n * (n | 1) * S::LANES;
        let mut scratch = Buffer::<T>::dirty(3 * size);
        let (a, rest) = scratch.split_at_mut(size);
        let (b, out) = rest.split_at_mut(size);
        for place in self.task.vectors(S::LANES) {
            place.gather::<T, S>(self.y1, a, 1.0);
            place.gather::<T, S>(self.y2, b, 1.0);
            let side = n | 1;
            multiply::<T, S>(n, Entries::plain(a, side), Entries::plain(b, side), out);
            place.scatter::<T, S>(out, |row, numbers| {
                let factor = T::rounded(self.task.graph.factor);
                // SAFETY: this task alone writes these channels of this graph.
                let to = unsafe { self.w.part(row, numbers.len()) };
                to.iter_mut().zip(numbers).for_each(|(to, &x)| *to = x * factor);
            });
        }
    }
}

struct Backward<'a, T> {
    task: Place,
    dw: &'a [T],
    y1: &'a Shared<'a, T>,
    y2: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let n = self.task.graph.nodes;
        let size = n * (n | 1) * S::LANES;
        let mut scratch = Buffer::<T>::dirty(4 * size);
        let (a, rest) = scratch.split_at_mut(size);
        let (b, rest) = rest.split_at_mut(size);
        let (d, out) = rest.split_at_mut(size);
        for place in self.task.vectors(S::LANES) {
            place.gather_shared::<T, S>(self.y1, a);
            place.gather_shared::<T, S>(self.y2, b);
            place.gather::<T, S>(self.dw, d, self.task.graph.factor);
            let side = n | 1;
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            multiply::<T, S>(n, Entries::plain(d, side), Entries::transposed(b, side), out);
            place.scatter::<T, S>(out, |row, numbers| masked(self.y1, row, numbers));
            multiply::<T, S>(n, Entries::transposed(a, side), Entries::plain(d, side), out);
            place.scatter::<T, S>(out, |row, numbers| masked(self.y2, row, numbers));
        }
    }
}

/// Puts a gradient in the place of what a ReLU gave.
#[inline(always)]
fn masked<T: Real>(y: &Shared<'_, T>, row: usize, numbers: &[T]) {
    // SAFETY: this task alone touches these channels of this graph.
    let to = unsafe { y.part(row, numbers.len()) };
    to.iter_mut().zip(numbers).for_each(|(y, &x)| *y = if *y > T::default() { x } else { T::default() });
}

/// Some channels of one graph: a task's, or a vector's.
#[derive(Clone, Copy)]
struct Place {
    graph: Square,
    /// Of a row.
    channels: usize,
    /// The first one.
    from: usize,
    /// How many.
    width: usize,
}

impl Place {
    /// Its channels, a vector at a time.
    #[inline(always)]
    fn vectors(self, lanes: usize) -> impl Iterator<Item = Place> {
        let end = self.from + self.width;
        (self.from..end).step_by(lanes).map(move |from| Place { from, width: lanes.min(end - from), ..self })
    }

    /// Where pair (i, j)'s channels begin.
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> usize {
        (self.graph.start + i * self.graph.nodes + j) * self.channels + self.from
    }

    /// Copies `factor` times the numbers together: entry (i, j) at vector `i * (n | 1) + j`. The odd side keeps columns
    /// of matrices with a power of two rows from falling into one set of the cache.
    #[inline(always)]
    fn gather<T: Real, S: Simd<T>>(&self, from: &[T], to: &mut [T], factor: f64) {
        let factor = T::rounded(factor);
        self.entries::<T, S>(to, |at, width, to| {
            to[..width].iter_mut().zip(&from[at..at + width]).for_each(|(to, &x)| *to = x * factor);
        });
    }

    #[inline(always)]
    fn gather_shared<T: Real, S: Simd<T>>(&self, from: &Shared<'_, T>, to: &mut [T]) {
        self.entries::<T, S>(to, |at, width, to| {
            // SAFETY: this task alone touches these channels of this graph.
            to[..width].copy_from_slice(unsafe { from.part(at, width) });
        });
    }

    #[inline(always)]
    fn entries<T: Real, S: Simd<T>>(&self, to: &mut [T], copy: impl Fn(usize, usize, &mut [T])) {
        let n = self.graph.nodes;
        for i in 0..n {
            for j in 0..n {
                let to = &mut to[(i * (n | 1) + j) * S::LANES..][..S::LANES];
                // A whole vector has a length that the compiler knows.
                if self.width == S::LANES {
                    copy(self.at(i, j), S::LANES, to);
                } else {
                    copy(self.at(i, j), self.width, to);
                    to[self.width..].fill(T::default());
                }
            }
        }
    }

    #[inline(always)]
    fn scatter<T: Real, S: Simd<T>>(&self, from: &[T], put: impl Fn(usize, &[T])) {
        let n = self.graph.nodes;
        for i in 0..n {
            for j in 0..n {
                let from = &from[(i * (n | 1) + j) * S::LANES..][..S::LANES];
                if self.width == S::LANES {
                    put(self.at(i, j), from)
                } else {
                    put(self.at(i, j), &from[..self.width])
                }
            }
        }
    }
}

/// A matrix of vectors: entry (i, j) at vector `i * down + j * right`.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a, T> {
    at: &'a [T],
    down: usize,
    right: usize,
}

impl<'a, T> Entries<'a, T> {
    /// Rows of `side` vectors.
    pub(crate) fn plain(at: &'a [T], side: usize) -> Self {
        Entries { at, down: side, right: 1 }
    }

    /// The same with rows as columns.
    pub(crate) fn transposed(at: &'a [T], side: usize) -> Self {
        Entries { at, down: 1, right: side }
    }
}

/// `out = a b`, n by n, out's rows `n | 1` apart.
#[inline(always)]
pub(crate) fn multiply<T: Real, S: Simd<T>>(n: usize, a: Entries<'_, T>, b: Entries<'_, T>, out: &mut [T]) {
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

/// Entries (i.., k..) of the product, summed over j from `js` to `je`; from 0 on they begin anew.
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
    // SAFETY: all places are at most the ones just checked.
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
