//! The gradient of a matrix: `C += A^T B`, summed over rows.
//!
//! Rows come in slabs. Whoever has a slab's rows in its cache packs them ([`Slabs::fill`]), and when all slabs of a
//! stretch are packed the tiles of C are summed over them, each tile by one thread and in the order of the rows: the
//! sums are the same whatever the number of threads.

use super::micro::{accumulate, spill};
use crate::real::Real;
use crate::simd::{Kernel, MR, Simd, dispatch};
use rayon::prelude::*;

/// Rows of a stretch, `[rows, width]`, packed slab by slab for one side of [`outer`].
#[derive(Debug, Default)]
pub(crate) struct Slabs<T> {
    numbers: Vec<T>,
    side: Side,
    rows: usize,
    width: usize,
    /// Rows of a slab; the last one may have less.
    slab: usize,
}

/// Which operand the rows are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A, whose width is the rows of C.
    #[default]
    Left,
    /// B, whose width is the columns of C.
    Right,
}

impl<T: Real> Slabs<T> {
    /// Room for a stretch of rows.
    pub(crate) fn resize(&mut self, side: Side, rows: usize, width: usize, slab: usize) {
        (self.side, self.rows, self.width, self.slab) = (side, rows, width, slab);
        let length = rows * width.next_multiple_of(unit::<T>(side));
        if self.numbers.len() < length {
            self.numbers.resize(length, T::default());
        }
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

/// `C += A^T B` for the columns `from..` of a row-major C that is `stride` wide.
///
/// # Shapes
/// - `a`: `[rows, height]`, `b`: `[rows, width]`, packed
/// - `c`: `[height, stride]`, of which columns `from..from + width` are written
pub(crate) fn outer<T: Real>(a: &Slabs<T>, b: &Slabs<T>, c: &mut [T], stride: usize, from: usize) {
    assert_eq!((a.side, b.side), (Side::Left, Side::Right));
    assert_eq!((a.rows, a.slab), (b.rows, b.slab));
    assert!(from + b.width <= stride && c.len() == a.width * stride);
    if a.rows == 0 || c.is_empty() {
        return;
    }
    // A multiple of every MR there is.
    const ROWS: usize = 48;
    c.par_chunks_mut(ROWS * stride).enumerate().for_each(|(n, c)| {
        dispatch(Outer { a, b, c, stride, from, row: n * ROWS });
    });
}

struct Outer<'a, T> {
    a: &'a Slabs<T>,
    b: &'a Slabs<T>,
    c: &'a mut [T],
    stride: usize,
    from: usize,
    /// The first row of C.
    row: usize,
}

impl<T: Real> Kernel<T> for Outer<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Outer { a, b, c, stride, from, row } = self;
        let height = c.len() / stride;
        let (wide_a, wide_b) = (a.width.next_multiple_of(MR), b.width.next_multiple_of(S::NR));
        for right in (0..b.width).step_by(S::NR) {
            for down in (0..height).step_by(MR) {
                let mut tile = [[S::splat(T::default()); 2]; MR];
                let mut start = 0;
                while start < a.rows {
                    let depth = a.slab.min(a.rows - start);
                    let left = &a.numbers[start * wide_a + (row + down) * depth..][..MR * depth];
                    let other = &b.numbers[start * wide_b + right * depth..][..S::NR * depth];
                    // SAFETY: `left` holds a panel of `depth` lines of MR, `other` one of NR.
                    unsafe { accumulate::<T, S, MR>(&mut tile, depth, left.as_ptr(), 1, MR, other.as_ptr()) };
                    start += depth;
                }
                let some = S::NR.min(b.width - right);
                for (i, line) in spill::<T, S, MR>(&tile).iter().enumerate().take(height - down) {
                    let to = &mut c[(down + i) * stride + from + right..][..some];
                    to.iter_mut().zip(line).for_each(|(to, &x)| *to += x);
                }
            }
        }
    }
}
