//! The sums over one index from the proof of Theorem 1, which make networks as powerful as k-WL.
//!
//! `W[i] = factor * (L1(Y)[i], ..., Lk(Y)[i])` with `Lq(Y)[i1..ik] = sum over j of Y[i1..i(q-1),j,i(q+1)..ik]`: one
//! operation of the linear equivariant basis per position. Each is its own transpose, so the gradient of Y is the sum
//! over q of Lq applied to the q-th part of the gradient of W.

use crate::mlp::mask;
use crate::product::{Square, within};
use crate::quotient::ColourMatrix;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::tuples::steps;
use rayon::prelude::*;

/// W from Y on the dense space: one row per tuple.
///
/// # Shapes
/// - `y`: `[rows, channels]`, including the n^k rows of every graph
/// - `w`: `[rows, order * channels]`
///
/// # Complexity
/// O(sum of n^k * k * channels).
pub(crate) fn index_sums<T: Real>(graphs: &[Square], order: usize, channels: usize, y: &[T], w: &mut [T]) {
    assert_eq!(w.len(), numbers(y.len(), order));
    within(graphs, order, channels, y.len());
    for graph in graphs.iter().filter(|graph| graph.nodes > 0 && channels > 0) {
        let places = graph.places(order);
        let sums: Vec<Vec<T>> =
            places.par_iter().map(|place| place.sums(y, channels, 0, channels, graph.factor)).collect();
        let rows = graph.nodes.pow(order as u32);
        let w = &mut w[graph.start * order * channels..][..rows * order * channels];
        w.par_chunks_mut(order * channels).enumerate().for_each(|(row, w)| {
            for ((w, place), sums) in w.chunks_exact_mut(channels).zip(&places).zip(&sums) {
                w.copy_from_slice(&sums[place.without(row) * channels..][..channels]);
            }
        });
    }
}

/// The gradient of Y; with `relu`, 0 where Y is not above 0.
///
/// # Shapes
/// - `dw`: `[rows, order * channels]`
/// - `y`, `d`: `[rows, channels]`; `d` is overwritten in the rows of every graph
///
/// # Complexity
/// O(sum of n^k * k * channels).
pub(crate) fn index_sums_backward<T: Real>(
    graphs: &[Square],
    order: usize,
    channels: usize,
    dw: &[T],
    y: &[T],
    d: &mut [T],
    relu: bool,
) {
    assert!(dw.len() == numbers(y.len(), order) && d.len() == y.len());
    within(graphs, order, channels, y.len());
    for graph in graphs.iter().filter(|graph| graph.nodes > 0 && channels > 0) {
        let places = graph.places(order);
        let sums: Vec<Vec<T>> = places
            .par_iter()
            .enumerate()
            .map(|(q, place)| place.sums(dw, order * channels, q * channels, channels, graph.factor))
            .collect();
        let part = graph.start * channels..(graph.start + graph.nodes.pow(order as u32)) * channels;
        let rows = d[part.clone()].par_chunks_mut(channels).zip(y[part].par_chunks(channels));
        rows.enumerate().for_each(|(row, (d, y))| {
            d.fill(T::default());
            for (place, sums) in places.iter().zip(&sums) {
                let sums = &sums[place.without(row) * channels..][..channels];
                d.iter_mut().zip(sums).for_each(|(d, &s)| *d += s);
            }
            let open = |y: T| !relu || y > T::default();
            d.iter_mut().zip(y).for_each(|(d, &y)| *d = if open(y) { *d } else { T::default() });
        });
    }
}

/// One position in the tuples of a graph.
struct Place {
    start: usize,
    nodes: usize,
    /// Number of choices for the nodes after the position.
    step: usize,
    /// Number of choices for the nodes before it.
    before: usize,
}

impl Square {
    fn places(&self, order: usize) -> Vec<Place> {
        let power = |p: usize| self.nodes.pow(p as u32);
        let place = |q: usize| Place {
            start: self.start,
            nodes: self.nodes,
            step: power(order - 1 - q),
            before: power(q),
        };
        (0..order).map(place).collect()
    }
}

impl Place {
    /// The index of a tuple with this position removed.
    #[inline(always)]
    fn without(&self, tuple: usize) -> usize {
        tuple / (self.step * self.nodes) * self.step + tuple % self.step
    }

    /// The sums of a range of channels over the node at this position, `[n^(k-1), width]`.
    fn sums<T: Real>(&self, x: &[T], channels: usize, from: usize, width: usize, factor: f64) -> Vec<T> {
        let mut sums = vec![T::default(); self.before * self.step * width];
        let rows = self.before * self.nodes * self.step;
        let x = x[self.start * channels..][..rows * channels].chunks_exact(channels);
        for (row, x) in x.enumerate() {
            let sum = &mut sums[self.without(row) * width..][..width];
            sum.iter_mut().zip(&x[from..from + width]).for_each(|(s, &x)| *s += x);
        }
        let factor = T::rounded(factor);
        sums.iter_mut().for_each(|s| *s *= factor);
        sums
    }
}

/// W from Y on the quotient space: one row per colour.
///
/// # Shapes
/// - `y`: `[below, channels]`
/// - `w`: `[examples, order * channels]`
///
/// # Complexity
/// O(examples * n * k * channels).
pub(crate) fn quotient_sums<T: Real>(
    colours: ColourMatrix<'_>,
    order: usize,
    channels: usize,
    y: &[T],
    w: &mut [T],
) {
    colours.check(order);
    assert_eq!(y.len(), numbers(colours.below, channels));
    assert_eq!(w.len(), numbers(numbers(colours.examples.len(), order), channels));
    w.par_chunks_mut((order * channels).max(1)).zip(colours.examples).for_each(|(w, example)| {
        let graph = example.graph as usize;
        let factor = T::rounded(colours.factors[graph]);
        let mut places = Vec::new();
        steps(example.place as usize, colours.nodes[graph], order, &mut places);
        w.fill(T::default());
        for (w, &(first, step)) in w.chunks_exact_mut(channels).zip(&places) {
            for j in 0..colours.nodes[graph] {
                let row = colours.matrix[colours.offsets[graph] + first + j * step] as usize;
                w.iter_mut().zip(&y[row * channels..][..channels]).for_each(|(w, &y)| *w += y);
            }
            w.iter_mut().for_each(|w| *w *= factor);
        }
    });
}

/// The gradient of Y; with `relu`, 0 where Y is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, order * channels]`
/// - `y`, `d`: `[below, channels]`; `d` is overwritten
///
/// # Complexity
/// O(examples * n * k * channels).
pub(crate) fn quotient_sums_backward<T: Real>(
    colours: ColourMatrix<'_>,
    order: usize,
    channels: usize,
    dw: &[T],
    y: &[T],
    d: &mut [T],
    relu: bool,
) {
    colours.check(order);
    assert!(y.len() == numbers(colours.below, channels) && d.len() == y.len());
    assert_eq!(dw.len(), numbers(numbers(colours.examples.len(), order), channels));
    const WIDTH: usize = 32;
    d.fill(T::default());
    let shared = Shared::new(d);
    (0..channels.div_ceil(WIDTH)).into_par_iter().for_each(|group| {
        let from = group * WIDTH;
        let width = WIDTH.min(channels - from);
        let mut places = Vec::new();
        for (example, dw) in colours.examples.iter().zip(dw.chunks_exact(order * channels)) {
            let graph = example.graph as usize;
            let factor = T::rounded(colours.factors[graph]);
            steps(example.place as usize, colours.nodes[graph], order, &mut places);
            for (dw, &(first, step)) in dw.chunks_exact(channels).zip(&places) {
                for j in 0..colours.nodes[graph] {
                    let row = colours.matrix[colours.offsets[graph] + first + j * step] as usize;
                    // SAFETY: only this task writes these channels.
                    let d = unsafe { shared.part(row * channels + from, width) };
                    d.iter_mut().zip(&dw[from..from + width]).for_each(|(d, &dw)| *d += dw * factor);
                }
            }
        }
    });
    if relu {
        mask(d, y);
    }
}
