//! The innermost loop: a tile of the result in registers.

use crate::real::Real;
use crate::simd::{MOST, MR, Simd};

/// A tile of M rows by two vectors.
pub(super) type Tile<V, const M: usize> = [[V; 2]; M];

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
    // What the level has a loop of its own for is done by that; the lines that it leaves follow here.
    let mut done = 0;
    if M == MR && step == 1 {
        // SAFETY: the tile has MR rows, and the rest is as the caller vouches for.
        done = unsafe { S::add_rows(tile.as_mut_ptr(), depth, a, row, b) };
    } else if M == MR && (row, step) == (1, MR) {
        // SAFETY: as above.
        done = unsafe { S::add_panel(tile.as_mut_ptr(), depth, a, b) };
    }
    let mut sums = *tile;
    for p in done..depth {
        // SAFETY: within what the caller vouches for.
        let line = unsafe { [S::load(b.add(p * S::NR)), S::load(b.add(p * S::NR + S::LANES))] };
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            let x = S::splat(unsafe { *a.add(i * row + p * step) });
            *sum = [S::multiply_add(x, line[0], sum[0]), S::multiply_add(x, line[1], sum[1])];
        }
    }
    *tile = sums;
}

/// The numbers of a tile, of which the first NR of each row count.
#[inline(always)]
pub(super) fn spill<T: Real, S: Simd<T>, const M: usize>(tile: &Tile<S::V, M>) -> [[T; MOST]; M] {
    let mut numbers = [[T::default(); MOST]; M];
    for (line, v) in numbers.iter_mut().zip(tile) {
        // SAFETY: a line has room for the two widest vectors.
        unsafe {
            S::store(line.as_mut_ptr(), v[0]);
            S::store(line.as_mut_ptr().add(S::LANES), v[1]);
        }
    }
    numbers
}
