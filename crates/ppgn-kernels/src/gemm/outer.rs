//! The gradient of a matrix: `C += A^T B`, summed over rows.
//!
//! Rows come in slabs. Whoever has a slab's rows in its cache packs them ([`Slabs::fill`]), and when all slabs of a
//! stretch are packed the tiles of C are summed over them, each tile by one thread and in the order of the rows: the
//! sums are the same whatever the number of threads.

use super::micro::{accumulate, spill};
use crate::buffer::Buffer;
use crate::real::Real;
use crate::simd::{Kernel, MR, Simd, dispatch};
use rayon::prelude::*;

/// Rows of a stretch, `[rows, width]`, packed slab by slab for one side of [`outer`].
#[derive(Debug)]
pub(crate) struct Slabs<T: Real> {
    numbers: Buffer<T>,
    side: Side,
    rows: usize,
    width: usize,
    /// Rows of a slab; the last one may have less.
    slab: usize,
}

/// Which operand the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A, whose width is the rows of C.
    Left,
    /// B, whose width is the columns of C.
    Right,
}

impl<T: Real> Slabs<T> {
    /// Room for stretches of so many rows at most.
    pub(crate) fn new(side: Side, rows: usize, width: usize, slab: usize) -> Self {
        let numbers = Buffer::dirty(rows * width.next_multiple_of(unit::<T>(side)));
        Slabs { numbers, side, rows, width, slab }
    }

    /// Makes it a stretch of so many rows, not more than there is room for.
    pub(crate) fn set_rows(&mut self, rows: usize) {
        assert!(rows * self.width.next_multiple_of(unit::<T>(self.side)) <= self.numbers.len());
        self.rows = rows;
    }

    /// The room of every slab, to be filled by [`fill`].
    pub(crate) fn slabs(&mut self) -> impl Iterator<Item = Slab<'_, T>> {
        let (side, width) = (self.side, self.width);
        let padded = width.next_multiple_of(unit::<T>(side));
        let used = &mut self.numbers[..self.rows * padded];
        used.chunks_mut((self.slab * padded).max(1)).map(move |numbers| Slab { numbers, side, width })
    }
}

/// The room of one slab.
pub(crate) struct Slab<'a, T> {
    numbers: &'a mut [T],
    side: Side,
    width: usize,
}

impl<T: Real> Slab<'_, T> {
    /// Packs `[rows, width]`.
    pub(crate) fn fill(self, rows: &[T]) {
        let padded = self.width.next_multiple_of(unit::<T>(self.side));
        assert_eq!(rows.len() * padded, self.numbers.len() * self.width);
        dispatch(Fill { slab: self, rows });
    }
}

/// MR or NR.
fn unit<T: Real>(side: Side) -> usize {
    struct Unit(Side);
    impl<T> Kernel<T> for Unit {
        type Output = usize;

        #[inline(always)]
        fn run<S: Simd<T>>(self) -> usize {
            match self.0 {
                Side::Left => MR,
                Side::Right => S::NR,
            }
        }
    }
    dispatch::<T, _>(Unit(side))
}

struct Fill<'a, T> {
    slab: Slab<'a, T>,
    rows: &'a [T],
}

impl<T: Real> Kernel<T> for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        match self.slab.side {
            Side::Left => self.pack(MR),
            Side::Right => self.pack(S::NR),
        }
    }
}

impl<T: Real> Fill<'_, T> {
    #[inline(always)]
    fn pack(self, n: usize) {
        let Fill { slab: Slab { numbers, width, .. }, rows } = self;
        if width == 0 {
            return;
        }
        let count = rows.len() / width;
        for (from, panel) in (0..width).step_by(n).zip(numbers.chunks_exact_mut((count * n).max(1))) {
            let some = n.min(width - from);
            for (line, row) in panel.chunks_exact_mut(n).zip(rows.chunks_exact(width)) {
                if some == n {
                    line.copy_from_slice(&row[from..from + n]);
                } else {
                    line[..some].copy_from_slice(&row[from..]);
                    line[some..].fill(T::default());
                }
            }
        }
    }
}

/// `C += A^T B`, with C some columns of a row-major matrix.
pub(crate) struct Product<'a, T: Real> {
    /// `[rows, height]`.
    pub(crate) a: &'a Slabs<T>,
    /// `[rows, width]`.
    pub(crate) b: &'a Slabs<T>,
    /// `[height, stride]`, of which columns `from..from + width` are C.
    pub(crate) c: &'a mut [T],
    /// The width of the whole matrix.
    pub(crate) stride: usize,
    /// The first column of C.
    pub(crate) from: usize,
}

/// Adds products to their matrices, all of them side by side.
///
/// # Complexity
/// O(rows * height * width) each.
pub(crate) fn outer<T: Real>(products: Vec<Product<'_, T>>) {
    // A multiple of every MR there is.
    const ROWS: usize = 48;
    let mut tasks = Vec::new();
    for Product { a, b, c, stride, from } in products {
        assert_eq!((a.side, b.side), (Side::Left, Side::Right));
        assert_eq!((a.rows, a.slab), (b.rows, b.slab));
        assert!(from + b.width <= stride && c.len() == a.width * stride);
        if a.rows > 0 && !c.is_empty() {
            let parts = c.chunks_mut(ROWS * stride).enumerate();
            tasks.extend(parts.map(|(n, c)| Outer { a, b, c, stride, from, row: n * ROWS }));
        }
    }
    tasks.into_par_iter().for_each(dispatch);
}

struct Outer<'a, T: Real> {
    a: &'a Slabs<T>,
    b: &'a Slabs<T>,
    c: &'a mut [T],
    stride: usize,
    from: usize,
    /// The first row of C.
    row: usize,
}

/// Rows that are summed at once: a panel of each side fits the first cache with them.
const DEPTH: usize = 256;

impl<T: Real> Kernel<T> for Outer<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let at_once = (DEPTH / self.a.slab.max(1)).max(1) * self.a.slab;
        for start in (0..self.a.rows).step_by(at_once) {
            let end = (start + at_once).min(self.a.rows);
            for right in (0..self.b.width).step_by(S::NR) {
                for down in (0..self.c.len() / self.stride).step_by(MR) {
                    self.tile::<S>(start, end, down, right);
                }
            }
        }
    }
}

impl<T: Real> Outer<'_, T> {
    /// Adds rows `start..end` to the tile at (down, right).
    #[inline(always)]
    fn tile<S: Simd<T>>(&mut self, start: usize, end: usize, down: usize, right: usize) {
        let Outer { a, b, ref mut c, stride, from, row } = *self;
        let (wide_a, wide_b) = (a.width.next_multiple_of(MR), b.width.next_multiple_of(S::NR));
        let mut tile = [[S::splat(T::default()); 2]; MR];
        let mut slab = start;
        while slab < end {
            let depth = a.slab.min(a.rows - slab);
            let left = &a.numbers[slab * wide_a + (row + down) * depth..][..MR * depth];
            let other = &b.numbers[slab * wide_b + right * depth..][..S::NR * depth];
            // SAFETY: `left` holds a panel of `depth` lines of MR, `other` one of NR.
            unsafe { accumulate::<T, S, MR>(&mut tile, depth, left.as_ptr(), 1, MR, other.as_ptr()) };
            slab += depth;
        }
        let some = S::NR.min(b.width - right);
        let lines = c[down * stride..].chunks_mut(stride).map(|line| &mut line[from + right..][..some]);
        if some == S::NR {
            for (to, line) in lines.zip(tile) {
                for (v, sum) in line.into_iter().enumerate() {
                    // SAFETY: the line has room for two vectors.
                    unsafe {
                        let to = to.as_mut_ptr().add(v * S::LANES);
                        S::store(to, S::multiply_add(S::splat(T::rounded(1.0)), sum, S::load(to)));
                    }
                }
            }
        } else {
            for (to, line) in lines.zip(spill::<T, S, MR>(&tile)) {
                to.iter_mut().zip(line).for_each(|(to, x)| *to += x);
            }
        }
    }
}
