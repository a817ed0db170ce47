//! The generalised product on the quotient space: one row for all tuples that k-FWL has not distinguished.
//!
//! As for pairs ([`crate::quotient`]), the row of a colour is computed for one tuple of that colour. It combines the
//! rows, one level below, of the tuples in which j replaces one of its nodes. Gradients are added to rows that many
//! tuples share, so tasks are divided by channels: every sum has a fixed order.

use super::{add, scale};
use crate::mlp::mask;
use crate::quotient::{ColourMatrix, Example};
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::tuples::steps;
use crate::workspace::Workspace;
use rayon::prelude::*;

/// Channels per task on the quotient space: a multiple of a cache line, so that tasks share none.
const WIDTH: usize = 32;

/// For one example, the rows below of the k factors at node j.
struct Terms<'a> {
    matrix: &'a [u32],
    places: Vec<(usize, usize)>,
}

impl<'a> Terms<'a> {
    fn new(colours: &ColourMatrix<'a>, example: Example, order: usize) -> Self {
        let (graph, mut places) = (example.graph as usize, Vec::new());
        steps(example.place as usize, colours.nodes[graph], order, &mut places);
        Terms { matrix: &colours.matrix[colours.offsets[graph]..], places }
    }

    #[inline(always)]
    fn row(&self, q: usize, j: usize) -> usize {
        let (first, step) = self.places[q];
        self.matrix[first + j * step] as usize
    }
}

/// W from Y1, ..., Yk: one row per colour.
///
/// # Shapes
/// - `ys`, each: `[below, channels]`
/// - `w`: `[examples, channels]`
///
/// # Complexity
/// O(examples * n * k * channels).
pub(crate) fn quotient_generalised<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    ys: &[&[T]],
    w: &mut [T],
) {
    colours.check(ys.len());
    assert!(ys.iter().all(|y| y.len() == numbers(colours.below, channels)));
    assert_eq!(w.len(), numbers(colours.examples.len(), channels));
    w.par_chunks_mut(channels.max(1)).zip(colours.examples).filter(|_| !workspace.is_stopped()).for_each(
        |(w, &example)| {
            dispatch(Gather { colours, example, ys, w });
        },
    );
}

struct Gather<'a, T> {
    colours: ColourMatrix<'a>,
    example: Example,
    ys: &'a [&'a [T]],
    w: &'a mut [T],
}

impl<T: Real> Kernel<T> for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Gather { colours, example, ys, w } = self;
        let (graph, channels) = (example.graph as usize, w.len());
        let terms = Terms::new(&colours, example, ys.len());
        let mut rows = ys.to_vec();
        w.fill(T::default());
        for j in 0..colours.nodes[graph] {
            for (q, (row, y)) in rows.iter_mut().zip(ys).enumerate() {
                *row = &y[terms.row(q, j) * channels..][..channels];
            }
            add(w, rows[0], &rows[1..], 0);
        }
        scale(w, colours.factors[graph]);
    }
}

/// The gradients of Y1, ..., Yk; with `relu`, each 0 where its Y is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, channels]`
/// - `ys` and `ds`, each: `[below, channels]`; `ds` are overwritten
///
/// # Complexity
/// O(examples * n * k * channels).
pub(crate) fn quotient_generalised_backward<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    dw: &[T],
    ys: &[&[T]],
    ds: &mut [&mut [T]],
    relu: bool,
) {
    colours.check(ys.len());
    let below = numbers(colours.below, channels);
    assert!(ys.len() == ds.len() && ys.iter().all(|y| y.len() == below));
    assert!(ds.iter().all(|d| d.len() == below) && dw.len() == numbers(colours.examples.len(), channels));
    ds.iter_mut().for_each(|d| d.fill(T::default()));
    let shared: Vec<Shared<'_, T>> = ds.iter_mut().map(|d| Shared::new(d)).collect();
    (0..channels.div_ceil(WIDTH)).into_par_iter().for_each(|group| {
        let from = group * WIDTH;
        let width = WIDTH.min(channels - from);
        dispatch(Scatter { workspace, colours, channels, from, width, dw, ys, ds: &shared });
    });
    drop(shared);
    if relu {
        ds.iter_mut().zip(ys).for_each(|(d, y)| mask(d, y));
    }
}

struct Scatter<'a, T> {
    workspace: &'a Workspace,
    colours: ColourMatrix<'a>,
    channels: usize,
    from: usize,
    width: usize,
    dw: &'a [T],
    ys: &'a [&'a [T]],
    ds: &'a [Shared<'a, T>],
}

impl<T: Real> Kernel<T> for Scatter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Scatter { workspace, colours, channels, from, width, dw, ys, ds } = self;
        let at = |row: usize| row * channels + from;
        // The product of dW and all factors before each one, and that of all factors after it.
        let mut before = vec![[T::default(); WIDTH]; ys.len() + 1];
        for (row, &example) in colours.examples.iter().enumerate() {
            if workspace.is_stopped() {
                return;
            }
            let graph = example.graph as usize;
            let factor = T::rounded(colours.factors[graph]);
            before[0].iter_mut().zip(&dw[at(row)..][..width]).for_each(|(b, &d)| *b = d * factor);
            let terms = Terms::new(&colours, example, ys.len());
            for j in 0..colours.nodes[graph] {
                for (q, y) in ys.iter().enumerate() {
                    let y = &y[at(terms.row(q, j))..][..width];
                    let (left, right) = before.split_at_mut(q + 1);
                    let both = right[0].iter_mut().zip(&left[q]).zip(y);
                    both.for_each(|((next, &b), &y)| *next = b * y);
                }
                let mut after = [T::rounded(1.0); WIDTH];
                for (q, y) in ys.iter().enumerate().rev() {
                    let place = at(terms.row(q, j));
                    // SAFETY: only this task writes these channels, and each factor has a separate slice.
                    let d = unsafe { ds[q].part(place, width) };
                    let both = before[q].iter().zip(after.iter_mut()).zip(&y[place..][..width]);
                    for (d, ((&b, a), &y)) in d.iter_mut().zip(both) {
                        *d += b * *a;
                        *a *= y;
                    }
                }
            }
        }
    }
}
