//! The gradient of a small matrix from a few rows: `C += A^T B` with both sides read in place.
//!
//! [`outer`](super::outer) packs both sides, which pays where each packed number is used hundreds of times. A narrow
//! layer uses it a few times, and its rows are in the cache already because the same chunk is passed back through the
//! layer next. So here nothing is packed but the last columns of B, where they do not fill a vector.

use super::micro::{Tile, spill};
use crate::linear::add_to;
use crate::real::Real;
use crate::shared::numbers;
use crate::simd::{Kernel, Simd, dispatch};

/// The most rows at a time.
pub(crate) const ROWS: usize = 64;

/// The largest number of lanes.
const LANES: usize = 16;

/// Columns `from..from + width` of C, `[height, stride]`.
pub(crate) struct Target<'a, T> {
    pub(crate) c: &'a mut [T],
    pub(crate) stride: usize,
    pub(crate) from: usize,
}

/// `C[i, from + j] += sum over rows p of A[p, i] * B[p, j]`, and optionally the column sums of A added to `sums`.
///
/// # Shapes
/// - `a`: `[rows, height]`, `b`: `[rows, width]`, at most [`ROWS`] rows
/// - `sums`: `[height]`
///
/// # Complexity
/// O(rows * height * width).
pub(crate) fn short<T: Real>(
    (a, height): (&[T], usize),
    (b, width): (&[T], usize),
    to: Target<'_, T>,
    sums: Option<&mut [T]>,
) {
    let rows = a.len() / height.max(1);
    assert!(rows <= ROWS && (a.len(), b.len()) == (numbers(rows, height), numbers(rows, width)));
    assert!(to.from.checked_add(width).is_some_and(|end| end <= to.stride));
    assert_eq!(to.c.len(), numbers(height, to.stride));
    assert!(sums.as_ref().is_none_or(|sums| sums.len() == height));
    if rows > 0 {
        dispatch(Short { a, height, b, width, rows, to, sums });
    }
}

struct Short<'a, T> {
    a: &'a [T],
    height: usize,
    b: &'a [T],
    width: usize,
    rows: usize,
    to: Target<'a, T>,
    sums: Option<&'a mut [T]>,
}

impl<T: Real> Kernel<T> for Short<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let (b, width, rows) = (self.b, self.width, self.rows);
        self.column_sums::<S>();
        let mut j = 0;
        while j + S::NR <= width {
            self.columns::<S, 2>(&b[j..], width, j, S::NR);
            j += S::NR;
        }
        if j + S::LANES <= width {
            self.columns::<S, 1>(&b[j..], width, j, S::LANES);
            j += S::LANES;
        }
        if j < width {
            let mut padded = [T::default(); ROWS * LANES];
            for (to, row) in padded.chunks_exact_mut(S::LANES).zip(b.chunks_exact(width)) {
                to[..width - j].copy_from_slice(&row[j..]);
            }
            self.columns::<S, 1>(&padded[..rows * S::LANES], S::LANES, j, width - j);
        }
    }
}

impl<T: Real> Short<'_, T> {
    /// Adds the column sums of A, a vector at a time.
    #[inline(always)]
    fn column_sums<S: Simd<T>>(&mut self) {
        let (a, height) = (self.a, self.height);
        let Some(sums) = self.sums.as_deref_mut() else { return };
        let whole = height / S::LANES * S::LANES;
        let one = S::splat(T::rounded(1.0));
        for i in (0..whole).step_by(S::LANES) {
            let to = &mut sums[i..i + S::LANES];
            // SAFETY: every row has a vector at i, and so has `to`.
            unsafe {
                let add = |sum, row: &[T]| S::multiply_add(one, S::load(row[i..i + S::LANES].as_ptr()), sum);
                let sum = a.chunks_exact(height).fold(S::load(to.as_ptr()), add);
                S::store(to.as_mut_ptr(), sum);
            }
        }
        for row in a.chunks_exact(height).filter(|_| whole < height) {
            add_to(&mut sums[whole..], &row[whole..]);
        }
    }

    /// The columns from j on that are the V vectors at the start of every row of `b`; `some` of their numbers count.
    #[inline(always)]
    fn columns<S: Simd<T>, const V: usize>(&mut self, b: &[T], width: usize, j: usize, some: usize) {
        let mut i = 0;
        while i < self.height {
            i += match self.height - i {
                8.. if S::TALL => self.tile::<S, 8, V>(b, width, i, j, some),
                6.. if !S::TALL => self.tile::<S, 6, V>(b, width, i, j, some),
                4.. => self.tile::<S, 4, V>(b, width, i, j, some),
                2.. => self.tile::<S, 2, V>(b, width, i, j, some),
                _ => self.tile::<S, 1, V>(b, width, i, j, some),
            };
        }
    }

    /// M rows of C from i on; returns M.
    #[inline(always)]
    fn tile<S: Simd<T>, const M: usize, const V: usize>(
        &mut self,
        b: &[T],
        width: usize,
        i: usize,
        j: usize,
        some: usize,
    ) -> usize {
        let (a, height, rows) = (self.a, self.height, self.rows);
        assert!((rows - 1) * height + i + M <= a.len() && (rows - 1) * width + V * S::LANES <= b.len());
        let mut sums = [[S::splat(T::default()); V]; M];
        for p in 0..rows {
            // SAFETY: no offset exceeds those checked above.
            unsafe {
                let line: [S::V; V] =
                    std::array::from_fn(|v| S::load(b.as_ptr().add(p * width + v * S::LANES)));
                for (x, sums) in sums.iter_mut().enumerate() {
                    let a = S::splat(*a.as_ptr().add(p * height + i + x));
                    for (sum, &line) in sums.iter_mut().zip(&line) {
                        *sum = S::multiply_add(a, line, *sum);
                    }
                }
            }
        }
        let Target { c, stride, from } = &mut self.to;
        let lines = c[i * *stride..].chunks_mut(*stride).map(|line| &mut line[*from + j..][..some]);
        if some == V * S::LANES {
            let one = S::splat(T::rounded(1.0));
            for (to, sums) in lines.zip(&sums) {
                for (v, &sum) in sums.iter().enumerate() {
                    // SAFETY: the line has room for V vectors.
                    unsafe {
                        let to = to.as_mut_ptr().add(v * S::LANES);
                        S::store(to, S::multiply_add(one, sum, S::load(to)));
                    }
                }
            }
        } else {
            let zero = S::splat(T::default());
            let tile: Tile<S::V, M> = sums.map(|sums| [sums[0], zero]);
            for (to, line) in lines.zip(spill::<T, S, M>(&tile)) {
                add_to(to, &line[..to.len()]);
            }
        }
        M
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_rows_match_the_definition() {
        let number = |n: usize| ((n * 7) % 11) as f64 - 5.0;
        for rows in [0, 1, 5, ROWS] {
            for (height, width) in [(1, 1), (3, 19), (32, 32), (7, 64), (15, 40), (9, 5)] {
                let a: Vec<f64> = (0..rows * height).map(number).collect();
                let b: Vec<f64> = (0..rows * width).map(|n| number(n + 3)).collect();
                let (stride, from) = (width + 5, 2);
                let mut c = vec![1.0; height * stride];
                let mut sums = vec![2.0; height];
                let to = Target { c: &mut c, stride, from };
                short((&a[..], height), (&b[..], width), to, Some(&mut sums));
                for i in 0..height {
                    let of = |p: usize| a[p * height + i];
                    assert_eq!(sums[i], 2.0 + (0..rows).map(of).sum::<f64>());
                    for j in 0..stride {
                        let inside = (from..from + width).contains(&j);
                        let term = |p: usize| if inside { of(p) * b[p * width + j - from] } else { 0.0 };
                        let expected = 1.0 + (0..rows).map(term).sum::<f64>();
                        assert_eq!(c[i * stride + j], expected, "{rows} {height} {width} ({i}, {j})");
                    }
                }
            }
        }
    }
}
