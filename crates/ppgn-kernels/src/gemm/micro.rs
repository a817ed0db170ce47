//! The innermost loop: a tile of the result in registers.

use crate::real::Real;
use crate::simd::{MAX_NR, MR, Simd};

/// A tile of M rows by two vectors.
pub(super) type Tile<V, const M: usize> = [[V; 2]; M];

/// The number of lines from which a hand-written loop is faster than the compiler's.
const LONG: usize = 64;

/// `tile[i][j] += sum over p < depth of a[i * row + p * step] * b[p * NR + j]`.
///
/// # Safety
/// `a` must be readable at `i * row + p * step` and `b` at `p * NR + j` for all `i < M`, `j < NR`, `p < depth`.
#[inline(always)]
pub(super) unsafe fn accumulate<T: Real, S: Simd<T>, const M: usize>(
    tile: &mut Tile<S::V, M>,
    depth: usize,
    a: *const T,
    row: usize,
    step: usize,
    b: *const T,
) {
    // If the SIMD level has a hand-written loop, use it; the remaining lines follow here.
    let (mut sums, mut done) = (*tile, 0);
    if M == MR && depth >= LONG {
        let mut spilled = sums;
        // SAFETY: the tile has MR rows, and the caller guarantees the rest.
        unsafe {
            if step == 1 {
                done = S::add_rows(spilled.as_mut_ptr(), depth, a, row, b);
            } else if (row, step) == (1, MR) {
                done = S::add_panel(spilled.as_mut_ptr(), depth, a, b);
            }
        }
        sums = spilled;
    }
    for p in done..depth {
        // SAFETY: within the bounds the caller guarantees.
        let line = unsafe { [S::load(b.add(p * S::NR)), S::load(b.add(p * S::NR + S::LANES))] };
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            let x = S::splat(unsafe { *a.add(i * row + p * step) });
            *sum = [S::multiply_add(x, line[0], sum[0]), S::multiply_add(x, line[1], sum[1])];
        }
    }
    *tile = sums;
}

/// The same for the first vector of every row alone: the last columns of a matrix often fill no more.
///
/// # Safety
/// As for [`accumulate`].
#[inline(always)]
pub(super) unsafe fn accumulate_half<T: Real, S: Simd<T>, const M: usize>(
    tile: &mut Tile<S::V, M>,
    depth: usize,
    a: *const T,
    row: usize,
    step: usize,
    b: *const T,
) {
    let mut sums = tile.map(|row| row[0]);
    for p in 0..depth {
        // SAFETY: within the bounds the caller guarantees.
        let line = unsafe { S::load(b.add(p * S::NR)) };
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            let x = S::splat(unsafe { *a.add(i * row + p * step) });
            *sum = S::multiply_add(x, line, *sum);
        }
    }
    tile.iter_mut().zip(sums).for_each(|(row, sum)| row[0] = sum);
}

/// The numbers of a tile; only the first NR of each row are valid.
#[inline(always)]
pub(super) fn spill<T: Real, S: Simd<T>, const M: usize>(tile: &Tile<S::V, M>) -> [[T; MAX_NR]; M] {
    let mut numbers = [[T::default(); MAX_NR]; M];
    for (line, v) in numbers.iter_mut().zip(tile) {
        // SAFETY: a line has room for two vectors of the largest size.
        unsafe {
            S::store(line.as_mut_ptr(), v[0]);
            S::store(line.as_mut_ptr().add(S::LANES), v[1]);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, dispatch};

    /// A tile of MR rows by NR columns that starts at one, accumulated over `depth` lines.
    struct Tiles {
        depth: usize,
        panel: bool,
    }

    /// Small integers, so that sums are exact.
    fn number<T: Real>(n: usize) -> T {
        T::rounded((n * 7 % 11) as f64 - 5.0)
    }

    impl<T: Real> Kernel<T> for Tiles {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd<T>>(self) {
            let depth = self.depth;
            // The row stride is larger than the number of lines summed over.
            let (row, step) = if self.panel { (1, MR) } else { (depth + 3, 1) };
            let a: Vec<T> = (0..MR * (depth + 3)).map(number).collect();
            let b: Vec<T> = (0..depth * S::NR).map(|n| number(n + 3)).collect();
            let mut tile = [[S::splat(T::rounded(1.0)); 2]; MR];
            // SAFETY: `a` has MR rows of `depth` lines in either layout, and `b` has `depth` lines.
            unsafe { accumulate::<T, S, MR>(&mut tile, depth, a.as_ptr(), row, step, b.as_ptr()) };
            for (i, line) in spill::<T, S, MR>(&tile).iter().enumerate() {
                for (j, &sum) in line[..S::NR].iter().enumerate() {
                    let terms = (0..depth).map(|p| a[i * row + p * step] * b[p * S::NR + j]);
                    let expected = terms.fold(T::rounded(1.0), |sum, term| sum + term);
                    assert!(sum == expected, "({i}, {j}) of {depth} lines: {sum:?}, not {expected:?}");
                }
            }
        }
    }

    #[test]
    fn tiles_match_the_definition_for_every_depth_and_layout() {
        for depth in (0..14).chain([LONG - 1, LONG, LONG + 3]) {
            for panel in [false, true] {
                dispatch::<f32, _>(Tiles { depth, panel });
                dispatch::<f64, _>(Tiles { depth, panel });
            }
        }
    }
}
