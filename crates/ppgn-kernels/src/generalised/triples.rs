//! The generalised product over triples, order 3, and its gradients.
//!
//! All four have one form: `out[p,q,r] = factor * sum over m of F(p,q,m) * G(m,q,r) * H(p,m,r)` in every channel, with
//! the three factors at places that are linear in the indices. Computed entry by entry, a term loads three vectors for
//! three operations. A tile of 2 by 2 entries (p, q) shares G and H and loads two; its sums stay in registers. Every
//! sum runs over m in order.

use super::Square;
use crate::product::within;
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, dispatch};
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
        graphs.iter().flat_map(|graph| (0..graph.nodes).step_by(TILE).map(move |p| (graph, p))).collect();
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

/// The results for p and, if there is one, p + 1.
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
    fn run<S: Simd<T>>(self) {
        let tall = self.p + TILE <= self.n;
        let mut q = 0;
        while q < self.n {
            let wide = q + TILE <= self.n;
            for r in 0..self.n {
                let whole = self.channels / S::LANES * S::LANES;
                for c in (0..whole).step_by(S::LANES) {
                    match (tall, wide) {
                        (true, true) => self.tile::<S, 2, 2>(q, r, c),
                        (true, false) => self.tile::<S, 2, 1>(q, r, c),
                        (false, true) => self.tile::<S, 1, 2>(q, r, c),
                        (false, false) => self.tile::<S, 1, 1>(q, r, c),
                    }
                }
                for c in whole..self.channels {
                    self.single(q, r, c, if wide { TILE } else { 1 });
                }
            }
            q += if wide { TILE } else { 1 };
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

    /// One vector of channels of A by B entries.
    #[inline(always)]
    fn tile<S: Simd<T>, const A: usize, const B: usize>(&self, q: usize, r: usize, c: usize) {
        let (p, last) = (self.p, self.n - 1);
        let [f, g, h] = self.factors;
        // The last number that each factor is read at.
        for (factor, (first, step)) in self.factors.iter().zip(self.places(p + A - 1, q + B - 1, r, c)) {
            assert!(first + last * step + S::LANES <= factor.numbers.len());
        }
        let [f0, g0, h0] = self.places(p, q, r, c);
        let mut sums = [[S::splat(T::default()); B]; A];
        // SAFETY: no offset exceeds those checked above.
        unsafe {
            for m in 0..self.n {
                let mut right = [S::splat(T::default()); B];
                for (y, v) in right.iter_mut().enumerate() {
                    *v = S::load(g.numbers.as_ptr().add(g0.0 + y * g.strides[1] + m * g0.1));
                }
                for (x, sums) in sums.iter_mut().enumerate() {
                    let left = S::load(h.numbers.as_ptr().add(h0.0 + x * h.strides[0] + m * h0.1));
                    for (y, sum) in sums.iter_mut().enumerate() {
                        let place = f0.0 + x * f.strides[0] + y * f.strides[1] + m * f0.1;
                        let row = S::load(f.numbers.as_ptr().add(place));
                        let product = S::multiply_add(left, right[y], S::splat(T::default()));
                        *sum = S::multiply_add(row, product, *sum);
                    }
                }
            }
        }
        for (x, sums) in sums.into_iter().enumerate() {
            for (y, sum) in sums.into_iter().enumerate() {
                let at = self.at(p + x, q + y, r, c);
                let mut sum = S::multiply_add(sum, S::splat(self.by), S::splat(T::default()));
                if let Some(mask) = self.mask {
                    // SAFETY: the slice has the length of a vector.
                    sum = S::mask(sum, unsafe { S::load(mask[at..at + S::LANES].as_ptr()) });
                }
                // SAFETY: only this task writes the entries of p; the slice has the length of a vector.
                unsafe { S::store(self.out.part(self.start + at, S::LANES).as_mut_ptr(), sum) };
            }
        }
    }

    /// One channel of the entries of p and of `some` q.
    #[inline(always)]
    fn single(&self, q: usize, r: usize, c: usize, some: usize) {
        for p in self.p..(self.p + TILE).min(self.n) {
            for q in q..q + some {
                let [f, g, h] = self.places(p, q, r, c);
                let [ff, gg, hh] = self.factors.map(|factor| factor.numbers);
                let term = |m: usize| ff[f.0 + m * f.1] * gg[g.0 + m * g.1] * hh[h.0 + m * h.1];
                let sum = (0..self.n).fold(T::default(), |sum, m| sum + term(m)) * self.by;
                let at = self.at(p, q, r, c);
                let open = self.mask.is_none_or(|mask| mask[at] > T::default());
                // SAFETY: only this task writes the entries of p.
                let to = unsafe { self.out.part(self.start + at, 1) };
                to[0] = if open { sum } else { T::default() };
            }
        }
    }
}
