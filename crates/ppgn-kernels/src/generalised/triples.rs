//! The generalised product over triples, order 3, and its gradients.
//!
//! All four have one form: `out[p,q,r] = factor * sum over m of F(p,q,m) * G(m,q,r) * H(p,m,r)` in every channel, with
//! the three factors at places that are linear in the indices. Computed entry by entry, a term loads three vectors for
//! three operations. A tile of 2 by 2 entries (p, q) shares G and H, and with registers for two or three r at a time also
//! F: it loads two thirds of a vector per two instructions. Its sums stay in registers. A task has a few p, so that each G
//! is read from the cache for all but the first. Every sum runs over m in order.

use super::Square;
use crate::product::within;
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{EachVector, Kernel, Lanes, Simd, dispatch, each_vector};
use crate::workspace::Workspace;
use rayon::prelude::*;

/// A factor: its numbers, and how far apart the rows of neighbouring indices are.
#[derive(Clone, Copy)]
struct Factor<'a, T> {
    numbers: &'a [T],
    strides: [usize; 3],
}

/// Which indices of a triple `[a,b,c]` the three indices of a factor are.
type Places = [usize; 3];

/// The factors F(p,q,m), G(m,q,r) and H(p,m,r), each with the positions of its indices, in that order.
type Form<'a, T> = [(&'a [T], Places); 3];

/// W from Y1, Y2 and Y3: see [`super::generalised_product`].
pub(super) fn product<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    [y1, y2, y3]: [&[T]; 3],
    w: &mut [T],
) {
    // W[p,q,r] = sum over m of Y3[p,q,m] * Y1[m,q,r] * Y2[p,m,r].
    let form = [(y3, [0, 1, 2]), (y1, [0, 1, 2]), (y2, [0, 1, 2])];
    compute(workspace, graphs, channels, form, None, w);
}

/// The gradients of Y1, Y2 and Y3: see [`super::generalised_product_backward`].
pub(super) fn product_backward<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    dw: &[T],
    [y1, y2, y3]: [&[T]; 3],
    [d1, d2, d3]: [&mut [T]; 3],
    relu: bool,
) {
    let [m1, m2, m3] = [y1, y2, y3].map(|y| relu.then_some(y));
    // dY1[p,q,r] = sum over m of Y3[m,q,p] * dW[m,q,r] * Y2[m,p,r].
    let form = [(y3, [2, 1, 0]), (dw, [0, 1, 2]), (y2, [1, 0, 2])];
    compute(workspace, graphs, channels, form, m1, d1);
    // dY2[p,q,r] = sum over m of Y3[p,m,q] * Y1[q,m,r] * dW[p,m,r].
    let form = [(y3, [0, 2, 1]), (y1, [1, 0, 2]), (dw, [0, 1, 2])];
    compute(workspace, graphs, channels, form, m2, d2);
    // dY3[p,q,r] = sum over m of dW[p,q,m] * Y1[r,q,m] * Y2[p,r,m].
    let form = [(dw, [0, 1, 2]), (y1, [2, 1, 0]), (y2, [0, 2, 1])];
    compute(workspace, graphs, channels, form, m3, d3);
}

/// Computes a form for all graphs; where `mask`, the output of a ReLU, is not above 0, the result is 0.
fn compute<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    form: Form<'_, T>,
    mask: Option<&[T]>,
    out: &mut [T],
) {
    within(graphs, 3, channels, out.len());
    assert!(form.iter().all(|(numbers, _)| numbers.len() == out.len()));
    assert!(mask.is_none_or(|mask| mask.len() == out.len()));
    if channels == 0 {
        return;
    }
    let shared = Shared::new(out);
    let tasks: Vec<(&Square, usize)> =
        graphs.iter().flat_map(|graph| (0..graph.nodes).step_by(ROWS).map(move |p| (graph, p))).collect();
    tasks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(|(graph, p)| {
        let n = graph.nodes;
        let (start, length) = (graph.start * channels, n * n * n * channels);
        // Position k of index i: the index counts n^(2 - k) rows.
        let strides = |places: Places| places.map(|place| [n * n, n, 1][place] * channels);
        let task = Task {
            n,
            channels,
            p,
            factors: form.map(|(numbers, places)| Factor {
                numbers: part(numbers, start, length),
                strides: strides(places),
            }),
            by: T::rounded(graph.factor),
            mask: mask.map(|mask| part(mask, start, length)),
            out: &shared,
            start,
        };
        dispatch(task);
    });
}

fn part<T>(numbers: &[T], start: usize, length: usize) -> &[T] {
    &numbers[start..start + length]
}

/// Entries p and q of a tile.
const TILE: usize = 2;

/// The most p of a task.
const ROWS: usize = 4;

/// The results for p and those after it.
struct Task<'a, 's, T> {
    n: usize,
    channels: usize,
    p: usize,
    factors: [Factor<'a, T>; 3],
    by: T,
    mask: Option<&'a [T]>,
    out: &'a Shared<'s, T>,
    start: usize,
}

impl<T: Real> Kernel<T> for Task<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        each_vector::<T, S>(0, self.channels, &mut self);
    }
}

impl<T: Real> EachVector<T> for Task<'_, '_, T> {
    /// The factors at q serve all p of the task, those at p all q, while they are in the cache.
    #[inline(always)]
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, c: usize, lanes: Lanes<T, S>) {
        let (n, end) = (self.n, (self.p + ROWS).min(self.n));
        for q in (0..n).step_by(TILE) {
            for p in (self.p..end).step_by(TILE) {
                match (p + TILE <= end, q + TILE <= n) {
                    (true, true) => self.line::<S, 2, 2, WHOLE>(p, q, c, lanes),
                    (true, false) => self.line::<S, 2, 1, WHOLE>(p, q, c, lanes),
                    (false, true) => self.line::<S, 1, 2, WHOLE>(p, q, c, lanes),
                    (false, false) => self.line::<S, 1, 1, WHOLE>(p, q, c, lanes),
                }
            }
        }
    }
}

impl<T: Real> Task<'_, '_, T> {
    /// The offsets of the first terms of F, G and H, and the distances to the next terms.
    #[inline(always)]
    fn places(&self, p: usize, q: usize, r: usize, c: usize) -> [(usize, usize); 3] {
        let [f, g, h] = self.factors.map(|factor| factor.strides);
        [(p * f[0] + q * f[1] + c, f[2]), (q * g[1] + r * g[2] + c, g[0]), (p * h[0] + r * h[2] + c, h[1])]
    }

    /// The offset of an entry of the result.
    #[inline(always)]
    fn at(&self, p: usize, q: usize, r: usize, c: usize) -> usize {
        ((p * self.n + q) * self.n + r) * self.channels + c
    }

    /// One vector of channels of A by B lines of entries.
    #[inline(always)]
    fn line<S: Simd<T>, const A: usize, const B: usize, const WHOLE: bool>(
        &self,
        p: usize,
        q: usize,
        c: usize,
        lanes: Lanes<T, S>,
    ) {
        let mut r = 0;
        while r < self.n {
            r += match self.n - r {
                3.. if S::TALL => self.tile::<S, A, B, 3, WHOLE>(p, q, r, c, lanes),
                2.. => self.tile::<S, A, B, 2, WHOLE>(p, q, r, c, lanes),
                _ => self.tile::<S, A, B, 1, WHOLE>(p, q, r, c, lanes),
            };
        }
    }

    /// One vector of channels of A by B by C entries; returns C.
    #[inline(always)]
    fn tile<S: Simd<T>, const A: usize, const B: usize, const C: usize, const WHOLE: bool>(
        &self,
        p: usize,
        q: usize,
        r: usize,
        c: usize,
        lanes: Lanes<T, S>,
    ) -> usize {
        let width = lanes.width;
        let last = self.n - 1;
        let [f, g, h] = self.factors;
        // The last number that each factor is read at.
        for (factor, (first, step)) in
            self.factors.iter().zip(self.places(p + A - 1, q + B - 1, r + C - 1, c))
        {
            assert!(first + last * step + width <= factor.numbers.len());
        }
        let [f0, g0, h0] = self.places(p, q, r, c);
        let mut sums = [[[S::splat(T::default()); C]; B]; A];
        // SAFETY: no offset exceeds those checked above.
        unsafe {
            let load =
                |factor: Factor<'_, T>, place: usize| lanes.load::<WHOLE>(factor.numbers.as_ptr().add(place));
            for m in 0..self.n {
                let right: [[S::V; C]; B] = std::array::from_fn(|y| {
                    std::array::from_fn(|z| load(g, g0.0 + y * g.strides[1] + z * g.strides[2] + m * g0.1))
                });
                for (x, sums) in sums.iter_mut().enumerate() {
                    let left: [S::V; C] = std::array::from_fn(|z| {
                        load(h, h0.0 + x * h.strides[0] + z * h.strides[2] + m * h0.1)
                    });
                    for (y, sums) in sums.iter_mut().enumerate() {
                        let row = load(f, f0.0 + x * f.strides[0] + y * f.strides[1] + m * f0.1);
                        for (z, sum) in sums.iter_mut().enumerate() {
                            let product = S::multiply_add(left[z], right[y][z], S::splat(T::default()));
                            *sum = S::multiply_add(row, product, *sum);
                        }
                    }
                }
            }
        }
        for (place, sum) in sums.as_flattened().as_flattened().iter().enumerate() {
            let (x, y, z) = (place / C / B, place / C % B, place % C);
            let at = self.at(p + x, q + y, r + z, c);
            let mut sum = S::multiply_add(*sum, S::splat(self.by), S::splat(T::default()));
            if let Some(mask) = self.mask {
                // SAFETY: the slice has all numbers of the vector.
                sum = S::mask(sum, unsafe { lanes.load::<WHOLE>(mask[at..at + width].as_ptr()) });
            }
            // SAFETY: only this task writes the entries of p; the slice has all numbers of the vector.
            unsafe { lanes.store::<WHOLE>(self.out.part(self.start + at, width).as_mut_ptr(), sum) };
        }
        C
    }
}
