//! A graph's whole product: its matrices are put together from the rows of their colours, a cache line of channels at a time,
//! multiplied as on the dense space, and what is wanted is taken out.

use super::{Colours, Own, Share};
use crate::planes::{Grid, PLANES, Part, add_scaled, copy, scale};
use crate::product::{Entries, multiply};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd};
use crate::workspace::{Buffer, Workspace};

/// Some channels of a graph's rows of W.
pub(super) struct Forward<'a, T> {
    pub(super) workspace: &'a Workspace,
    pub(super) colours: Colours<'a>,
    pub(super) own: &'a Own,
    pub(super) part: Part,
    pub(super) y1: &'a [T],
    pub(super) y2: &'a [T],
    pub(super) w: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let (grid, matrix) = self.colours.grid::<T, S>(self.own.graph);
        let row = |place: usize| matrix[place] as usize;
        let factor = T::rounded(self.colours.factors[self.own.graph]);
        let mut scratch = Buffer::<T>::dirty(self.workspace, 3 * PLANES * grid.size);
        let (a, rest) = scratch.split_at_mut(PLANES * grid.size);
        let (b, out) = rest.split_at_mut(PLANES * grid.size);
        for part in self.part.cut(PLANES * S::LANES) {
            for (y, to) in [(self.y1, &mut *a), (self.y2, &mut *b)] {
                grid.gather::<T, S>(part, row, to, |at, to| copy::<T, S>(to, &y[at..at + to.len()]));
            }
            multiply::<T, S>(grid, Entries::plain(a, grid), Entries::plain(b, grid), out);
            for &(row, place) in &self.own.rows {
                grid.entry::<T, S>(part, row as usize, place as usize, |to, at, width| {
                    // SAFETY: a row has one place, and this task alone has these channels of it.
                    let to = unsafe { self.w.part(to, width) };
                    scale::<T, S>(to, &out[at..at + width], factor);
                });
            }
        }
    }
}

/// A graph's share of the gradients.
pub(super) struct Backward<'a, T>(pub(super) Share<'a, T>);

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Share { workspace, colours, own, part, dw, y, d: to } = self.0;
        let (grid, matrix) = colours.grid::<T, S>(own.graph);
        let row = |place: usize| matrix[place] as usize;
        let factor = T::rounded(colours.factors[own.graph]);
        let mut scratch = Buffer::<T>::dirty(workspace, 4 * PLANES * grid.size);
        let (a, rest) = scratch.split_at_mut(PLANES * grid.size);
        let (b, rest) = rest.split_at_mut(PLANES * grid.size);
        let (d, out) = rest.split_at_mut(PLANES * grid.size);
        for part in part.cut(PLANES * S::LANES) {
            for (y, to) in y.into_iter().zip([&mut *a, &mut *b]) {
                grid.gather::<T, S>(part, row, to, |at, to| copy::<T, S>(to, &y[at..at + to.len()]));
            }
            d.fill(T::default());
            for &(row, place) in &own.rows {
                grid.entry::<T, S>(part, row as usize, place as usize, |from, at, width| {
                    // Two rows may have one place: what comes to it is added.
                    add_scaled::<T, S>(&mut d[at..at + width], &dw[from..from + width], factor);
                });
            }
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            multiply::<T, S>(grid, Entries::plain(d, grid), Entries::transposed(b, grid), out);
            add::<T, S>(grid, part, matrix, out, to[0]);
            multiply::<T, S>(grid, Entries::transposed(a, grid), Entries::plain(d, grid), out);
            add::<T, S>(grid, part, matrix, out, to[1]);
        }
    }
}

/// Adds what came out for every pair to its row. (No closure: one that is called twice is not inlined, and then it is not
/// compiled for the level.)
#[inline(always)]
fn add<T: Real, S: Simd<T>>(grid: Grid, part: Part, matrix: &[u32], out: &[T], to: &Shared<'_, T>) {
    let one = T::rounded(1.0);
    grid.scatter::<T, S>(
        part,
        |place| matrix[place] as usize,
        out,
        |at, numbers| {
            // SAFETY: one task alone touches these channels.
            add_scaled::<T, S>(unsafe { to.part(at, numbers.len()) }, numbers, one);
        },
    );
}

impl<'a> Colours<'a> {
    /// A graph's matrices, and the row below of every pair.
    fn grid<T: Real, S: Simd<T>>(&self, graph: usize) -> (Grid, &'a [u32]) {
        let n = self.nodes[graph];
        (Grid::new::<T, S>(n), &self.matrix[self.offsets[graph]..][..n * n])
    }
}
