//! The gradient of a matrix: `C += A^T B`, summed over rows.
//!
//! A task takes some rows of C and a part of the rows that are summed over. It packs what it needs of A and B, as many rows
//! at a time as fit the second cache, and goes over its tiles of C with them. Parts depend on the number of rows alone, and
//! their sums are added in order: the bits do not depend on the number of threads.

use super::micro::{accumulate, spill};
use crate::buffer::Buffer;
use crate::real::Real;
use crate::simd::{Kernel, MR, Simd, dispatch};
use rayon::prelude::*;

/// `C += A^T B`, with C some columns of a row-major matrix.
pub(crate) struct Product<'a, T> {
    /// A, `[rows, height]`.
    pub(crate) a: &'a [T],
    /// B, `[rows, width]`.
    pub(crate) b: &'a [T],
    /// Width of B.
    pub(crate) width: usize,
    /// `[height, stride]`, of which columns `from..from + width` are C.
    pub(crate) c: &'a mut [T],
    /// The width of the whole matrix.
    pub(crate) stride: usize,
    /// The first column of C.
    pub(crate) from: usize,
}

/// Rows of C that a task takes: many, for it packs all of B; a multiple of MR.
const HEIGHT: usize = 204;

/// Rows that are packed at a time.
const DEPTH: usize = 128;

/// Rows of a part, at least, and parts at most.
const PART: usize = 4096;
const PARTS: usize = 8;

/// Adds products to their matrices, all of them side by side.
///
/// # Complexity
/// O(rows * height * width) each.
pub(crate) fn outer<T: Real>(products: Vec<Product<'_, T>>) {
    let mut products = products;
    let mut parts: Vec<Vec<Buffer<T>>> = products.iter().map(Product::later_parts).collect();
    let mut tasks = Vec::new();
    for (product, later) in products.iter_mut().zip(&mut parts) {
        product.tasks(later, &mut tasks);
    }
    tasks.into_par_iter().for_each(dispatch);
    for (product, later) in products.iter_mut().zip(&parts) {
        let Product { width, ref mut c, stride, from, .. } = *product;
        for part in later {
            let lines = c.chunks_mut(stride).zip(part.chunks(width));
            lines.for_each(|(c, part)| c[from..].iter_mut().zip(part).for_each(|(c, &x)| *c += x));
        }
    }
}

impl<T: Real> Product<'_, T> {
    fn rows(&self) -> usize {
        self.b.len() / self.width.max(1)
    }

    fn height(&self) -> usize {
        self.c.len() / self.stride.max(1)
    }

    /// Rows of a part.
    fn part(&self) -> usize {
        self.rows().div_ceil(PARTS).max(PART)
    }

    /// Room for the sums of all parts but the first.
    fn later_parts(&self) -> Vec<Buffer<T>> {
        let parts = self.rows().div_ceil(self.part());
        (1..parts).map(|_| Buffer::zeros(self.height() * self.width)).collect()
    }

    fn tasks<'s>(&'s mut self, later: &'s mut [Buffer<T>], tasks: &mut Vec<Outer<'s, T>>) {
        let (rows, part, height) = (self.rows(), self.part(), self.height());
        let Product { a, b, width, ref mut c, stride, from } = *self;
        assert!(from + width <= stride && c.len() == height * stride);
        assert_eq!((a.len(), b.len()), (rows * height, rows * width));
        if rows == 0 {
            return;
        }
        let first = [(&mut **c, stride, from)];
        let sums = first.into_iter().chain(later.iter_mut().map(|part| (&mut part[..], width, 0)));
        for ((c, stride, from), start) in sums.zip((0..rows).step_by(part)) {
            let end = (start + part).min(rows);
            let (a, b) = (&a[start * height..end * height], &b[start * width..end * width]);
            for (n, c) in c.chunks_mut(HEIGHT * stride).enumerate() {
                tasks.push(Outer { a, height, row: n * HEIGHT, b, width, c, stride, from });
            }
        }
    }
}

/// Some rows of C, summed over some rows of A and B.
struct Outer<'a, T> {
    a: &'a [T],
    height: usize,
    /// The first row of C: the first column of A.
    row: usize,
    b: &'a [T],
    width: usize,
    c: &'a mut [T],
    stride: usize,
    from: usize,
}

impl<T: Real> Kernel<T> for Outer<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let here = self.c.len() / self.stride;
        let mut left = Buffer::dirty(DEPTH * here.next_multiple_of(MR));
        let mut right = Buffer::dirty(DEPTH * self.width.next_multiple_of(S::NR));
        let rows = self.a.chunks(DEPTH * self.height).zip(self.b.chunks(DEPTH * self.width));
        for (a, b) in rows {
            let depth = b.len() / self.width;
            pack(a, self.height, self.row, here, &mut left, MR);
            pack(b, self.width, 0, self.width, &mut right, S::NR);
            let (left, right) = (&left[..depth * here.next_multiple_of(MR)], &right[..]);
            for (j, right) in (0..self.width).step_by(S::NR).zip(right.chunks_exact(depth * S::NR)) {
                for (i, left) in (0..here).step_by(MR).zip(left.chunks_exact(depth * MR)) {
                    let mut tile = [[S::splat(T::default()); 2]; MR];
                    // SAFETY: `left` holds a panel of `depth` lines of MR, `right` one of NR.
                    unsafe { accumulate::<T, S, MR>(&mut tile, depth, left.as_ptr(), 1, MR, right.as_ptr()) };
                    self.add::<S>(&tile, i, j);
                }
            }
        }
    }
}

impl<T: Real> Outer<'_, T> {
    /// Adds a tile to C at (i, j).
    #[inline(always)]
    fn add<S: Simd<T>>(&mut self, tile: &[[S::V; 2]; MR], i: usize, j: usize) {
        let (stride, from) = (self.stride, self.from + j);
        let some = S::NR.min(self.width - j);
        let lines = self.c[i * stride..].chunks_mut(stride).map(|line| &mut line[from..][..some]);
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

/// Columns `from..from + some` of `[rows, width]` in panels of n columns, each `[rows, n]`, the last filled up with zeros.
#[inline(always)]
fn pack<T: Real>(x: &[T], width: usize, from: usize, some: usize, to: &mut [T], n: usize) {
    let rows = x.len() / width;
    let whole = some / n;
    for (p, row) in x.chunks_exact(width).enumerate() {
        let row = &row[from..from + some];
        for (panel, piece) in row.chunks_exact(n).enumerate() {
            to[(panel * rows + p) * n..][..n].copy_from_slice(piece);
        }
        if whole * n < some {
            let line = &mut to[(whole * rows + p) * n..][..n];
            line[..some - whole * n].copy_from_slice(&row[whole * n..]);
            line[some - whole * n..].fill(T::default());
        }
    }
}
