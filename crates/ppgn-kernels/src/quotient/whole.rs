//! A graph's whole product: its matrices are put together from the rows of their colours, a cache line of channels at a time,
//! multiplied as on the dense space, and what is wanted is taken out.

use super::{Colours, Own, Part};
use crate::buffer::Buffer;
use crate::product::{Entries, multiply};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd};

/// Vectors of channels that are put together at once.
const PLANES: usize = 2;

/// Some channels of a graph's rows of W.
pub(super) struct Forward<'a, T> {
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
        let graph = Graph::new::<T, S>(&self.colours, self.own.graph);
        let Graph { n, side, size, .. } = graph;
        let factor = T::rounded(self.colours.factors[self.own.graph]);
        let mut scratch = Buffer::<T>::dirty((2 * PLANES + 1) * size);
        let (a, rest) = scratch.split_at_mut(PLANES * size);
        let (b, out) = rest.split_at_mut(PLANES * size);
        for part in self.part.cut(PLANES * S::LANES) {
            graph.lift::<T, S>(part, self.y1, a);
            graph.lift::<T, S>(part, self.y2, b);
            let planes = a.chunks_exact(size).zip(b.chunks_exact(size)).zip(part.cut(S::LANES));
            for ((a, b), part) in planes {
                multiply::<T, S>(n, Entries::plain(a, side), Entries::plain(b, side), out);
                for &(row, place) in &self.own.rows {
                    let from = &out[graph.at(place) * S::LANES..][..part.width];
                    // SAFETY: a row has one place, and this task alone has these channels of it.
                    let to = unsafe { self.w.part(part.at(row as usize), part.width) };
                    to.iter_mut().zip(from).for_each(|(to, &x)| *to = x * factor);
                }
            }
        }
    }
}

/// What a graph's rows add to some channels of the gradients.
pub(super) struct Backward<'a, T> {
    pub(super) colours: Colours<'a>,
    pub(super) own: &'a Own,
    pub(super) part: Part,
    pub(super) dw: &'a [T],
    pub(super) y: [&'a [T]; 2],
    pub(super) d: [&'a Shared<'a, T>; 2],
}

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let graph = Graph::new::<T, S>(&self.colours, self.own.graph);
        let Graph { n, side, size, .. } = graph;
        let factor = T::rounded(self.colours.factors[self.own.graph]);
        let mut scratch = Buffer::<T>::dirty((4 * PLANES) * size);
        let (a, rest) = scratch.split_at_mut(PLANES * size);
        let (b, rest) = rest.split_at_mut(PLANES * size);
        let (d, out) = rest.split_at_mut(PLANES * size);
        for part in self.part.cut(PLANES * S::LANES) {
            graph.lift::<T, S>(part, self.y[0], a);
            graph.lift::<T, S>(part, self.y[1], b);
            d.fill(T::default());
            for &(row, place) in &self.own.rows {
                for (d, part) in d.chunks_exact_mut(size).zip(part.cut(S::LANES)) {
                    let from = &self.dw[part.at(row as usize)..][..part.width];
                    // Two rows may have one place: what comes to it is added.
                    let to = &mut d[graph.at(place) * S::LANES..][..part.width];
                    to.iter_mut().zip(from).for_each(|(to, &x)| *to += x * factor);
                }
            }
            // dY1 = dW Y2^T and dY2 = Y1^T dW.
            for (p, out) in out.chunks_exact_mut(size).enumerate() {
                let (d, b) = (&d[p * size..][..size], &b[p * size..][..size]);
                multiply::<T, S>(n, Entries::plain(d, side), Entries::transposed(b, side), out);
            }
            graph.add::<T, S>(part, out, self.d[0]);
            for (p, out) in out.chunks_exact_mut(size).enumerate() {
                let (d, a) = (&d[p * size..][..size], &a[p * size..][..size]);
                multiply::<T, S>(n, Entries::transposed(a, side), Entries::plain(d, side), out);
            }
            graph.add::<T, S>(part, out, self.d[1]);
        }
    }
}

/// A graph's pairs as a matrix of vectors: entry (i, j) at vector `i * side + j`.
struct Graph<'a> {
    n: usize,
    side: usize,
    /// Numbers of a plane: a matrix of vectors.
    size: usize,
    /// The row below of every pair.
    matrix: &'a [u32],
}

impl<'a> Graph<'a> {
    fn new<T: Real, S: Simd<T>>(colours: &Colours<'a>, graph: usize) -> Self {
        let n = colours.nodes[graph];
        let side = n | 1;
        let matrix = &colours.matrix[colours.offsets[graph]..][..n * n];
        Graph { n, side, size: n * side * S::LANES, matrix }
    }

    /// The vector of a place.
    #[inline(always)]
    fn at(&self, place: u32) -> usize {
        place as usize / self.n * self.side + place as usize % self.n
    }

    /// Puts the rows of all pairs together: planes of one vector each, what is beyond the part 0.
    #[inline(always)]
    fn lift<T: Real, S: Simd<T>>(&self, part: Part, y: &[T], to: &mut [T]) {
        let width = PLANES * S::LANES;
        if part.width < width {
            to.fill(T::default());
        }
        for (i, row) in self.matrix.chunks_exact(self.n).enumerate() {
            for (j, &row) in row.iter().enumerate() {
                let at = (i * self.side + j) * S::LANES;
                let from = &y[part.at(row as usize)..][..part.width];
                // A whole vector has a length that the compiler knows.
                if part.width == width {
                    for (p, from) in from.chunks_exact(S::LANES).enumerate() {
                        to[p * self.size + at..][..S::LANES].copy_from_slice(from);
                    }
                } else {
                    for (p, from) in from.chunks(S::LANES).enumerate() {
                        to[p * self.size + at..][..from.len()].copy_from_slice(from);
                    }
                }
            }
        }
    }

    /// Adds every pair's entry to its row.
    #[inline(always)]
    fn add<T: Real, S: Simd<T>>(&self, part: Part, from: &[T], d: &Shared<'_, T>) {
        let width = PLANES * S::LANES;
        for (i, row) in self.matrix.chunks_exact(self.n).enumerate() {
            for (j, &row) in row.iter().enumerate() {
                let at = (i * self.side + j) * S::LANES;
                // SAFETY: one task alone touches these channels.
                let to = unsafe { d.part(part.at(row as usize), part.width) };
                if part.width == width {
                    for (p, to) in to.chunks_exact_mut(S::LANES).enumerate() {
                        let from = &from[p * self.size + at..][..S::LANES];
                        to.iter_mut().zip(from).for_each(|(to, &x)| *to += x);
                    }
                } else {
                    for (p, to) in to.chunks_mut(S::LANES).enumerate() {
                        let from = &from[p * self.size + at..][..to.len()];
                        to.iter_mut().zip(from).for_each(|(to, &x)| *to += x);
                    }
                }
            }
        }
    }
}
