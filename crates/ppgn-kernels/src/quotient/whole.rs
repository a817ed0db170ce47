//! A graph's whole product: its matrices are assembled from the rows of their colours, one cache line of channels at a
//! time, and multiplied as on the dense space; then the required entries are extracted.

use super::{ColourMatrix, Own, Share};
use crate::large::{Source, Write};
use crate::linear::add_to;
use crate::planes::{Grid, PLANES, Part, add_scaled, copy, scale};
use crate::product::{Entries, multiply};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd};
use crate::workspace::{Buffer, Workspace};

/// Some channels of a graph's rows of W.
pub(super) struct Forward<'a, T> {
    pub(super) workspace: &'a Workspace,
    pub(super) colours: ColourMatrix<'a>,
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
            let out = &mut out[..part.width.div_ceil(S::LANES) * grid.size];
            multiply::<T, S>(grid, Entries::plain(a, grid), Entries::plain(b, grid), out);
            for &(row, place) in &self.own.rows {
                grid.entry::<T, S>(part, row as usize, place as usize, |to, at, width| {
                    // SAFETY: each row belongs to one graph, and only this task writes these channels of it.
                    let to = unsafe { self.w.part(to, width) };
                    scale::<T, S>(to, &out[at..at + width], factor);
                });
            }
        }
    }
}

impl<T: Real> Forward<'_, T> {
    /// The same for a large graph.
    pub(super) fn large(self) {
        let Forward { workspace, colours, own, part, y1, y2, w } = self;
        let (n, matrix) = colours.matrix_of(own.graph);
        let channels = part.width;
        let at = |i: usize, j: usize| part.at(matrix[i * n + j] as usize);
        let right = Source { n, channels, pair: |i, j| &y2[at(i, j)..][..channels] }.pack(workspace);
        let left = Source { n, channels, pair: |i, j| &y1[at(i, j)..][..channels] };
        let mut out = Buffer::<T>::dirty(workspace, n * n * channels);
        let factor = T::rounded(colours.factors[own.graph]);
        let place = |i: usize, k: usize| (i * n + k) * channels;
        // SAFETY: every pair has a place of its own.
        unsafe { left.multiply(workspace, &right, &Shared::new(&mut out), place, factor, Write::Set) };
        for &(row, place) in &own.rows {
            // SAFETY: each row belongs to one graph, and only this task writes these channels of it.
            let to = unsafe { w.part(part.at(row as usize), channels) };
            to.copy_from_slice(&out[place as usize * channels..][..channels]);
        }
    }
}

/// A graph's contribution to the gradients.
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
                    // Two rows may share a tuple: their contributions are added.
                    add_scaled::<T, S>(&mut d[at..at + width], &dw[from..from + width], factor);
                });
            }
            let out = &mut out[..part.width.div_ceil(S::LANES) * grid.size];
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            multiply::<T, S>(grid, Entries::plain(d, grid), Entries::transposed(b, grid), out);
            add::<T, S>(grid, part, matrix, out, to[0]);
            multiply::<T, S>(grid, Entries::transposed(a, grid), Entries::plain(d, grid), out);
            add::<T, S>(grid, part, matrix, out, to[1]);
        }
    }
}

impl<T: Real> Backward<'_, T> {
    /// The same for a large graph.
    pub(super) fn large(self) {
        let Share { workspace, colours, own, part, dw, y: [y1, y2], d: [d1, d2] } = self.0;
        let (n, matrix) = colours.matrix_of(own.graph);
        let channels = part.width;
        let mut dense = Buffer::<T>::zeros(workspace, n * n * channels);
        for &(row, place) in &own.rows {
            // Two rows may share a tuple: their contributions are added.
            let to = &mut dense[place as usize * channels..][..channels];
            add_to(to, &dw[part.at(row as usize)..][..channels]);
        }
        let at = |i: usize, j: usize| part.at(matrix[i * n + j] as usize);
        let place = |i: usize, k: usize| (i * n + k) * channels;
        let factor = T::rounded(colours.factors[own.graph]);
        let mut out = Buffer::<T>::dirty(workspace, n * n * channels);
        let add = |out: &[T], to: &Shared<'_, T>| {
            for (numbers, &row) in out.chunks_exact(channels).zip(matrix) {
                // SAFETY: only one task accesses these channels.
                add_to(unsafe { to.part(part.at(row as usize), channels) }, numbers);
            }
        };
        // dY1 = dW Y2^T and dY2 = Y1^T dW.
        let d = Source { n, channels, pair: |i, k| &dense[place(i, k)..][..channels] };
        let right = Source { n, channels, pair: |k, j| &y2[at(j, k)..][..channels] }.pack(workspace);
        // SAFETY: every pair has a place of its own.
        unsafe { d.multiply(workspace, &right, &Shared::new(&mut out), place, factor, Write::Set) };
        drop(right);
        add(&out, d1);
        let left = Source { n, channels, pair: |j, i| &y1[at(i, j)..][..channels] };
        let right = d.pack(workspace);
        // SAFETY: as above.
        unsafe { left.multiply(workspace, &right, &Shared::new(&mut out), place, factor, Write::Set) };
        add(&out, d2);
    }
}

/// Adds the result for every pair to its row. (Not a closure: one with two call sites is not inlined, and only inlined
/// code is compiled for the level.)
#[inline(always)]
fn add<T: Real, S: Simd<T>>(grid: Grid, part: Part, matrix: &[u32], out: &[T], to: &Shared<'_, T>) {
    let one = T::rounded(1.0);
    grid.scatter::<T, S>(
        part,
        |place| matrix[place] as usize,
        out,
        |at, numbers| {
            // SAFETY: only one task accesses these channels.
            add_scaled::<T, S>(unsafe { to.part(at, numbers.len()) }, numbers, one);
        },
    );
}

impl<'a> ColourMatrix<'a> {
    /// A graph's grid, and the row below of every pair.
    fn grid<T: Real, S: Simd<T>>(&self, graph: usize) -> (Grid, &'a [u32]) {
        let (n, matrix) = self.matrix_of(graph);
        (Grid::new::<T, S>(n), matrix)
    }

    /// A graph's number of nodes, and the row below of every pair.
    fn matrix_of(&self, graph: usize) -> (usize, &'a [u32]) {
        let n = self.nodes[graph];
        (n, &self.matrix[self.offsets[graph]..][..n * n])
    }
}
