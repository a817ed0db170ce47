//! Matrices packed for the registers.

use crate::real::Real;
use crate::shared::{Shared, numbers as count};
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::{Buffer, Workspace};

/// A matrix within a slice: entry (k, j) at `k * down + j * right`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, T> {
    pub(crate) numbers: &'a [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) down: usize,
    pub(crate) right: usize,
}

impl<'a, T> View<'a, T> {
    /// Columns `from..from + columns` of a row-major matrix with `width` columns.
    pub(crate) fn part(numbers: &'a [T], rows: usize, width: usize, from: usize, columns: usize) -> Self {
        assert!(from.checked_add(columns).is_some_and(|end| end <= width));
        assert!(numbers.len() >= count(rows, width));
        let numbers = if rows == 0 { numbers } else { &numbers[from..] };
        View { numbers, rows, columns, down: width, right: 1 }
    }

    /// The transpose of the matrix.
    pub(crate) fn transposed(self) -> Self {
        View { rows: self.columns, columns: self.rows, down: self.right, right: self.down, ..self }
    }
}

/// A matrix `[depth, columns]` in panels of NR columns, each `[depth, NR]`, the last padded with zeros.
#[derive(Debug)]
pub(crate) struct Panels<T: Real> {
    pub(super) numbers: Buffer<T>,
    pub(crate) depth: usize,
    pub(super) columns: usize,
}

impl<T: Real> Panels<T> {
    /// Packs a matrix. O(depth * columns).
    pub(crate) fn new(workspace: &Workspace, matrix: View<'_, T>) -> Self {
        dispatch(Pack { workspace, matrix })
    }

    /// Panels `[depth, columns]` with unspecified values, to be written through [`shared`](Self::shared).
    pub(crate) fn dirty(workspace: &Workspace, depth: usize, columns: usize) -> Self {
        let width = dispatch::<T, _>(Width);
        Panels {
            numbers: Buffer::dirty(workspace, count(depth, columns.next_multiple_of(width))),
            depth,
            columns,
        }
    }

    /// The numbers of all panels: entry (k, j) is number `j % NR` of line k of panel `j / NR`.
    pub(crate) fn shared(&mut self) -> Shared<'_, T> {
        Shared::new(&mut self.numbers)
    }
}

/// The width of a panel at the current level.
struct Width;

impl<T: Real> Kernel<T> for Width {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> usize {
        S::NR
    }
}

struct Pack<'a, T> {
    workspace: &'a Workspace,
    matrix: View<'a, T>,
}

impl<T: Real> Kernel<T> for Pack<'_, T> {
    type Output = Panels<T>;

    #[inline(always)]
    fn run<S: Simd<T>>(self) -> Panels<T> {
        let View { numbers, rows, columns, down, right } = self.matrix;
        let mut packed = Buffer::dirty(self.workspace, count(rows, columns.next_multiple_of(S::NR)));
        for (panel, to) in packed.chunks_exact_mut((rows * S::NR).max(1)).enumerate() {
            let from = panel * S::NR;
            let width = S::NR.min(columns - from);
            if width < S::NR {
                to.fill(T::default());
            }
            if right == 1 {
                for (k, line) in to.chunks_exact_mut(S::NR).enumerate() {
                    let from = &numbers[k * down + from..];
                    // A full line has a length known at compile time.
                    match width == S::NR {
                        true => line.copy_from_slice(&from[..S::NR]),
                        false => line[..width].copy_from_slice(&from[..width]),
                    }
                }
            } else {
                // A transposed matrix: its columns are contiguous, and several are written at once.
                assert_eq!(down, 1);
                let column = |j: usize| numbers[(from + j) * right..][..rows].iter();
                let some = width / 4 * 4;
                for j in (0..some).step_by(4) {
                    let (a, b, c, d) = (column(j), column(j + 1), column(j + 2), column(j + 3));
                    for (((line, a), b), (c, d)) in to.chunks_exact_mut(S::NR).zip(a).zip(b).zip(c.zip(d)) {
                        line[j..j + 4].copy_from_slice(&[*a, *b, *c, *d]);
                    }
                }
                for j in some..width {
                    to.chunks_exact_mut(S::NR).zip(column(j)).for_each(|(line, &x)| line[j] = x);
                }
            }
        }
        Panels { numbers: packed, depth: rows, columns }
    }
}
