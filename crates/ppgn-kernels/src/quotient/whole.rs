//! A graph's whole product: its matrices are assembled from the rows of their colours, one cache line of channels at a
//! time, and multiplied as on the dense space; then the required entries are extracted.

use super::{ColourMatrix, Own, Share};
use crate::large::{Source, Write};
use crate::linear::add_to;
use crate::planes::{Part, add_scaled};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd};
use crate::strips::{self, Put, Side};
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
        let (n, matrix) = self.colours.matrix_of(self.own.graph);
        let factor = S::splat(T::rounded(self.colours.factors[self.own.graph]));
        let (planes, size) = (strips::planes::<T, S>(), strips::plane::<T, S>(n));
        let mut scratch = Buffer::<T>::dirty(self.workspace, 3 * planes * size);
        let (a, rest) = scratch.split_at_mut(planes * size);
        let (b, out) = rest.split_at_mut(planes * size);
        for part in self.part.cut(planes * S::LANES) {
            let (y1, y2) = (Numbers { y: self.y1, part, matrix, n }, Numbers { y: self.y2, part, matrix, n });
            // SAFETY: slices have been checked to hold the numbers of all pairs.
            unsafe {
                strips::pack::<T, S>(Side::Left, n, part, |i, j| y1.at(i, j), a);
                strips::pack::<T, S>(Side::Right, n, part, |k, j| y2.at(j, k), b);
            }
            for (p, from) in (0..part.width).step_by(S::LANES).enumerate() {
                let some = S::LANES.min(part.width - from);
                let out = &mut out[..size];
                strips::multiply::<T, S>(n, &a[p * size..], &b[p * size..], &mut Apart { n, out });
                for &(row, place) in &self.own.rows {
                    let at = place as usize * S::LANES;
                    // SAFETY: a place is below n * n. Each row belongs to one graph, and only this task writes these
                    // channels of it.
                    unsafe {
                        let w = S::load(out[at..at + S::LANES].as_ptr());
                        let to = self.w.pointer(part.at(row as usize) + from, some);
                        let w = S::multiply_add(w, factor, S::splat(T::default()));
                        strips::write::<T, S>(to, w, some);
                    }
                }
            }
        }
    }
}

/// Some channels of the pairs of a graph, each with the numbers of its colour.
#[derive(Clone, Copy)]
struct Numbers<'a, T> {
    y: &'a [T],
    part: Part,
    matrix: &'a [u32],
    n: usize,
}

impl<T> Numbers<'_, T> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *const T {
        self.y[self.part.at(self.matrix[i * self.n + j] as usize)..][..self.part.width].as_ptr()
    }
}

/// A product of n by n vectors, row by row.
struct Apart<'a, T> {
    n: usize,
    out: &'a mut [T],
}

impl<T: Real, S: Simd<T>> Put<T, S> for Apart<'_, T> {
    #[inline(always)]
    fn put(&mut self, i: usize, k: usize, v: S::V) {
        let at = (i * self.n + k) * S::LANES;
        // SAFETY: there is room for a vector.
        unsafe { S::store(self.out[at..at + S::LANES].as_mut_ptr(), v) };
    }
}

/// Adds a product to the rows of its pairs.
struct Add<'a, 's, T> {
    n: usize,
    part: Part,
    matrix: &'a [u32],
    /// The first channel in the part, and their number.
    channels: (usize, usize),
    to: &'a Shared<'s, T>,
}

impl<T: Real, S: Simd<T>> Put<T, S> for Add<'_, '_, T> {
    #[inline(always)]
    fn put(&mut self, i: usize, k: usize, v: S::V) {
        let (from, some) = self.channels;
        let row = self.matrix[i * self.n + k] as usize;
        let to = self.to.pointer(self.part.at(row) + from, some);
        // SAFETY: only one task accesses these channels.
        unsafe {
            let sum = S::multiply_add(v, S::splat(T::rounded(1.0)), strips::read::<T, S>(to, some));
            strips::write::<T, S>(to, sum, some);
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
        let (n, matrix) = colours.matrix_of(own.graph);
        let factor = T::rounded(colours.factors[own.graph]);
        let (planes, size) = (strips::planes::<T, S>(), strips::plane::<T, S>(n));
        let mut scratch = Buffer::<T>::dirty(workspace, 3 * planes * size);
        let (a, rest) = scratch.split_at_mut(planes * size);
        let (b, d) = rest.split_at_mut(planes * size);
        for part in part.cut(planes * S::LANES) {
            let [y1, y2] = y.map(|y| Numbers { y, part, matrix, n });
            // The gradients of the pairs, row by row.
            let d = &mut d[..n * n * part.width];
            d.fill(T::default());
            for &(row, place) in &own.rows {
                // Two rows may share a tuple: their contributions are added.
                let to = &mut d[place as usize * part.width..][..part.width];
                let from = &dw[part.at(row as usize)..][..part.width];
                for (to, from) in to.chunks_mut(S::LANES).zip(from.chunks(S::LANES)) {
                    add_scaled::<T, S>(to, from, factor);
                }
            }
            let of = |i: usize, k: usize| d[(i * n + k) * part.width..][..part.width].as_ptr();
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            // SAFETY: slices have been checked to hold the numbers of all pairs.
            unsafe {
                strips::pack::<T, S>(Side::Left, n, part, &of, a);
                strips::pack::<T, S>(Side::Right, n, part, |j, k| y2.at(j, k), b);
            }
            add::<T, S>((n, matrix, part), [a, b], to[0]);
            // SAFETY: as above.
            unsafe {
                strips::pack::<T, S>(Side::Left, n, part, |j, i| y1.at(i, j), a);
                strips::pack::<T, S>(Side::Right, n, part, |k, i| of(i, k), b);
            }
            add::<T, S>((n, matrix, part), [a, b], to[1]);
        }
    }
}

/// Adds the product of every plane to the rows of its pairs.
#[inline(always)]
fn add<T: Real, S: Simd<T>>((n, matrix, part): (usize, &[u32], Part), [a, b]: [&[T]; 2], to: &Shared<'_, T>) {
    let size = strips::plane::<T, S>(n);
    for (p, from) in (0..part.width).step_by(S::LANES).enumerate() {
        let channels = (from, S::LANES.min(part.width - from));
        let mut add = Add { n, part, matrix, channels, to };
        strips::multiply::<T, S>(n, &a[p * size..], &b[p * size..], &mut add);
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
