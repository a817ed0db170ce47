//! The gradient of a matrix: `C += A^T B`, summed over rows.
//!
//! A task computes some rows of C for a part of the rows summed over. It packs the slices of A and B it needs, as many
//! rows at a time as fit the L2 cache, and updates its tiles of C with them. How rows are divided into parts depends
//! only on their number, and the partial sums are added in order: the result is bitwise independent of the number of
//! threads. Tasks are scheduled in order, large ones first.

use super::micro::{accumulate, spill};
use crate::linear::add_to;
use crate::real::Real;
use crate::simd::{Kernel, MR, Simd, dispatch};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// `C += A^T (B1, B2, ...)`, with a range of columns of C for each B, and optionally the column sums of A.
pub(crate) struct Product<'a, T> {
    /// A, `[rows, height]`.
    pub(crate) a: &'a [T],
    /// B1, B2, ...
    pub(crate) bs: Vec<Columns<'a, T>>,
    /// C, `[height, stride]`.
    pub(crate) c: &'a mut [T],
    /// The row length of C.
    pub(crate) stride: usize,
    /// Where the column sums of A are added, `[height]`.
    pub(crate) sums: Option<&'a mut [T]>,
}

/// A right-hand side, and its columns of C.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a, T> {
    /// B, `[rows, width]`.
    pub(crate) b: &'a [T],
    /// Its width.
    pub(crate) width: usize,
    /// The first column of C.
    pub(crate) from: usize,
}

/// Rows of C per task, multiples of MR. Every task packs all of B, so tasks are large as long as there are enough of
/// them for all threads; the last ones are small, so that no thread waits long for another.
const MANY: usize = 408;
const SOME: usize = 204;
const FEW: usize = 102;

/// Multiplications below which a single thread is faster: waking another takes some microseconds.
const SMALL: usize = 1 << 19;

/// Rows packed at a time.
const DEPTH: usize = 252;

/// The maximum number of rows per part; exceeded only once there are `PARTS` parts.
const PART: usize = 4096;
const PARTS: usize = 8;

/// Computes several products in parallel, each added to its own matrix.
///
/// # Complexity
/// O(rows * height * width) each.
pub(crate) fn outer<T: Real>(workspace: &Workspace, products: Vec<Product<'_, T>>) {
    let mut products = products;
    let mut parts: Vec<Vec<Buffer<T>>> =
        products.iter().map(|product| product.later_parts(workspace)).collect();
    // How the rows of C are divided among tasks does not affect any sum, so it may depend on the number of threads.
    let count = parts.iter().map(|later| later.len() + 1).sum::<usize>();
    let height = if count >= 2 * rayon::current_num_threads() { MANY } else { SOME };
    let work: usize = products.iter().map(|p| p.rows() * p.height() * p.width()).sum();
    let (mut tasks, mut small) = (Vec::new(), Vec::new());
    for (product, later) in products.iter_mut().zip(&mut parts) {
        let mut wholes = product.tasks(workspace, later);
        let last = wholes.pop();
        tasks.extend(wholes.into_iter().flat_map(|whole| whole.cut(height)));
        if let Some((first, rest)) = last.map(|last| last.split(SOME)) {
            tasks.push(first);
            small.extend(rest.into_iter().flat_map(|rest| rest.cut(FEW)));
        }
    }
    let all = tasks.into_iter().chain(small);
    match work < SMALL {
        true => all.for_each(dispatch),
        false => all.par_bridge().for_each(dispatch),
    }
    for (product, later) in products.iter_mut().zip(&parts) {
        product.add(later);
    }
}

impl<T: Real> Product<'_, T> {
    fn rows(&self) -> usize {
        self.bs.first().map_or(0, |columns| columns.b.len() / columns.width.max(1))
    }

    fn height(&self) -> usize {
        self.c.len() / self.stride.max(1)
    }

    /// The number of columns of C that are updated.
    fn width(&self) -> usize {
        self.bs.iter().map(|columns| columns.width).sum()
    }

    /// Rows per part: equal for all parts except the last.
    fn part(&self) -> usize {
        let parts = self.rows().div_ceil(PART).clamp(1, PARTS);
        self.rows().div_ceil(parts).max(1)
    }

    /// Buffers for all parts except the first: the update of C with its columns side by side, followed by the sums.
    fn later_parts(&self, workspace: &Workspace) -> Vec<Buffer<T>> {
        let parts = self.rows().div_ceil(self.part());
        (1..parts).map(|_| Buffer::dirty(workspace, self.height() * (self.width() + 1))).collect()
    }

    /// Adds the later parts, in order.
    fn add(&mut self, parts: &[Buffer<T>]) {
        if parts.is_empty() {
            return;
        }
        let (height, width) = (self.height(), self.width());
        let bs = &self.bs;
        self.c.par_chunks_mut(self.stride.max(1)).with_min_len(32).enumerate().for_each(|(row, c)| {
            for part in parts {
                let mut rest = &part[row * width..][..width];
                for columns in bs {
                    let (own, next) = rest.split_at(columns.width);
                    add_to(&mut c[columns.from..][..columns.width], own);
                    rest = next;
                }
            }
        });
        if let Some(sums) = self.sums.as_deref_mut() {
            parts.iter().for_each(|part| add_to(sums, &part[height * width..]));
        }
    }

    /// One task per part.
    fn tasks<'s>(&'s mut self, workspace: &'s Workspace, later: &'s mut [Buffer<T>]) -> Vec<Outer<'s, T>> {
        let (rows, part, height, width) = (self.rows(), self.part(), self.height(), self.width());
        let Product { a, ref bs, ref mut c, stride, ref mut sums } = *self;
        assert_eq!((a.len(), c.len()), (rows * height, height * stride));
        assert!(bs.iter().all(|columns| columns.b.len() == rows * columns.width));
        assert!(bs.iter().all(|columns| columns.from + columns.width <= stride));
        assert!(sums.as_ref().is_none_or(|sums| sums.len() == height));
        let with_sums = sums.is_some();
        let mut side_by_side = bs.clone();
        side_by_side.iter_mut().fold(0, |from, columns| {
            columns.from = from;
            from + columns.width
        });
        let first = [(false, &mut **c, stride, bs.clone(), sums.as_deref_mut())];
        let rest = later.iter_mut().map(|part| {
            let (c, sums) = part.split_at_mut(height * width);
            (true, c, width, side_by_side.clone(), with_sums.then_some(sums))
        });
        let parts = first.into_iter().chain(rest).zip((0..rows).step_by(part));
        let task = |((fresh, c, stride, bs, sums), start): ((_, _, _, Vec<Columns<'s, T>>, _), usize)| {
            let end = (start + part).min(rows);
            let a = &a[start * height..end * height];
            let of_part = |columns: &Columns<'s, T>| {
                let Columns { b, width, from } = *columns;
                Columns { b: &b[start * width..end * width], width, from }
            };
            Outer {
                workspace,
                a,
                height,
                row: 0,
                bs: bs.iter().map(of_part).collect(),
                c,
                stride,
                sums,
                fresh,
            }
        };
        parts.map(task).collect()
    }
}

/// The product for some rows of C and some rows of A and B.
struct Outer<'a, T> {
    workspace: &'a Workspace,
    a: &'a [T],
    height: usize,
    /// The first row of C, which is the first column of A.
    row: usize,
    bs: Vec<Columns<'a, T>>,
    c: &'a mut [T],
    stride: usize,
    sums: Option<&'a mut [T]>,
    /// Whether C and the sums are still uninitialised.
    fresh: bool,
}

impl<T: Real> Kernel<T> for Outer<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        if self.workspace.is_stopped() {
            return;
        }
        if self.fresh {
            self.c.fill(T::default());
            self.sums.iter_mut().for_each(|sums| sums.fill(T::default()));
        }
        let here = self.c.len() / self.stride;
        let depth = DEPTH.min(self.a.len() / self.height);
        let widest = self.bs.iter().map(|columns| columns.width).max().unwrap_or(0);
        let mut left = Buffer::dirty(self.workspace, depth * here.next_multiple_of(MR));
        let mut right = Buffer::dirty(self.workspace, depth * widest.next_multiple_of(S::NR));
        for (n, a) in self.a.chunks(DEPTH * self.height).enumerate() {
            let depth = a.len() / self.height;
            pack(a, self.height, self.row, here, &mut left, MR);
            if let Some(sums) = &mut self.sums {
                a.chunks_exact(self.height).for_each(|row| add_to(sums, &row[self.row..][..here]));
            }
            let left = &left[..depth * here.next_multiple_of(MR)];
            for at in 0..self.bs.len() {
                let Columns { b, width, from } = self.bs[at];
                pack(&b[n * DEPTH * width..][..depth * width], width, 0, width, &mut right, S::NR);
                for (j, right) in (0..width).step_by(S::NR).zip(right.chunks_exact(depth * S::NR)) {
                    for (i, left) in (0..here).step_by(MR).zip(left.chunks_exact(depth * MR)) {
                        let mut tile = [[S::splat(T::default()); 2]; MR];
                        // SAFETY: `left` holds a panel of `depth` lines of MR numbers, `right` one of NR.
                        unsafe {
                            accumulate::<T, S, MR>(&mut tile, depth, left.as_ptr(), 1, MR, right.as_ptr());
                        }
                        self.add::<S>(&tile, i, from + j, S::NR.min(width - j));
                    }
                }
            }
        }
    }
}

impl<T: Real> Outer<'_, T> {
    /// Splits off the first rows of C; also returns the remaining ones, if any.
    fn split(self, rows: usize) -> (Self, Option<Self>) {
        if self.c.len() <= rows * self.stride {
            return (self, None);
        }
        let (c, others) = self.c.split_at_mut(rows * self.stride);
        let (sums, of_others) = self.sums.map(|sums| sums.split_at_mut(rows)).unzip();
        let rest = Outer { row: self.row + rows, bs: self.bs.clone(), c: others, sums: of_others, ..self };
        (Outer { c, sums, ..self }, Some(rest))
    }

    /// Splits into tasks of this many rows of C each.
    fn cut(self, rows: usize) -> Vec<Self> {
        let mut tasks = Vec::new();
        let mut rest = Some(self);
        while let Some((first, others)) = rest.map(|rest| rest.split(rows)) {
            tasks.push(first);
            rest = others;
        }
        tasks
    }

    /// Adds the first columns of a tile to C at (i, j).
    #[inline(always)]
    fn add<S: Simd<T>>(&mut self, tile: &[[S::V; 2]; MR], i: usize, j: usize, some: usize) {
        let stride = self.stride;
        let lines = self.c[i * stride..].chunks_mut(stride).map(|line| &mut line[j..][..some]);
        if some == S::NR {
            let one = S::splat(T::rounded(1.0));
            for (to, line) in lines.zip(tile) {
                for (v, &sum) in line.iter().enumerate() {
                    // SAFETY: the line has room for two vectors.
                    unsafe {
                        let to = to.as_mut_ptr().add(v * S::LANES);
                        S::store(to, S::multiply_add(one, sum, S::load(to)));
                    }
                }
            }
        } else {
            for (to, line) in lines.zip(spill::<T, S, MR>(tile)) {
                to.iter_mut().zip(line).for_each(|(to, x)| *to += x);
            }
        }
    }
}

/// Rows copied to one panel before moving to the next, so that a panel's lines are written while they are in the cache.
const RUN: usize = 8;

/// Packs columns `from..from + some` of `[rows, width]` into panels of n columns, each `[rows, n]`, the last padded
/// with zeros.
#[inline(always)]
fn pack<T: Real>(x: &[T], width: usize, from: usize, some: usize, to: &mut [T], n: usize) {
    let rows = x.len() / width;
    for (run, x) in x.chunks(RUN * width).enumerate() {
        for at in (0..some).step_by(n) {
            let here = n.min(some - at);
            let to = &mut to[at * rows + run * RUN * n..];
            for (row, to) in x.chunks_exact(width).zip(to.chunks_exact_mut(n)) {
                let row = &row[from + at..][..here];
                // A full line has a length known at compile time.
                if here == n {
                    to.copy_from_slice(&row[..n]);
                } else {
                    to[..here].copy_from_slice(row);
                    to[here..].fill(T::default());
                }
            }
        }
    }
}
