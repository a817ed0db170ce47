//! The generalised product on the quotient space: one row for all tuples that k-FWL has not distinguished.
//!
//! As for pairs ([`crate::quotient`]), the row of a colour is computed for one tuple of that colour. It combines the
//! rows, one level below, of the tuples in which j replaces one of its nodes, a vector of channels at a time. Gradients
//! are added to rows that many tuples share, so tasks are divided by factors and by channels: every sum has a fixed order.

use crate::mlp::mask;
use crate::quotient::{ColourMatrix, Example};
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{EachVector, Kernel, Lanes, Simd, dispatch, each_vector};
use crate::tuples::steps;
use crate::workspace::Workspace;
use rayon::prelude::*;

/// Channels per task on the quotient space: a multiple of a cache line, so that tasks share none.
const WIDTH: usize = 16;

/// For one example, the rows below of the k factors at node j.
struct Terms<'a> {
    matrix: &'a [u32],
    places: Vec<(usize, usize)>,
}

impl<'a> Terms<'a> {
    /// Those of an example; `places` is used again from example to example.
    fn new(
        colours: &ColourMatrix<'a>,
        example: Example,
        order: usize,
        mut places: Vec<(usize, usize)>,
    ) -> Self {
        let graph = example.graph as usize;
        places.clear();
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
    let rows = w.par_chunks_mut((ROWS * channels).max(1)).zip(colours.examples.par_chunks(ROWS));
    rows.filter(|_| !workspace.is_stopped()).for_each(|(w, examples)| {
        dispatch(Gather { colours, examples, channels, ys, w });
    });
}

/// Rows of W per task.
const ROWS: usize = 32;

struct Gather<'a, T> {
    colours: ColourMatrix<'a>,
    examples: &'a [Example],
    channels: usize,
    ys: &'a [&'a [T]],
    w: &'a mut [T],
}

impl<T: Real> Kernel<T> for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let mut places = Vec::new();
        for (&example, w) in self.examples.iter().zip(self.w.chunks_exact_mut(self.channels)) {
            let terms = Terms::new(&self.colours, example, self.ys.len(), places);
            let graph = example.graph as usize;
            let (nodes, by) = (self.colours.nodes[graph], T::rounded(self.colours.factors[graph]));
            each_vector::<T, S>(0, self.channels, &mut Row { terms: &terms, nodes, by, ys: self.ys, w });
            places = terms.places;
        }
    }
}

/// A row of W.
struct Row<'a, T> {
    terms: &'a Terms<'a>,
    nodes: usize,
    by: T,
    ys: &'a [&'a [T]],
    w: &'a mut [T],
}

impl<T: Real> EachVector<T> for Row<'_, T> {
    #[inline(always)]
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<T, S>) {
        let channels = self.w.len();
        let zero = S::splat(T::default());
        let (first, others) = self.ys.split_first().expect("a product has factors");
        let load = |y: &[T], row: usize| {
            let numbers = &y[row * channels + from..][..lanes.width];
            // SAFETY: the slice has all numbers of the vector.
            unsafe { lanes.load::<WHOLE>(numbers.as_ptr()) }
        };
        let mut sum = zero;
        for j in 0..self.nodes {
            let mut product = load(first, self.terms.row(0, j));
            for (q, y) in others.iter().enumerate() {
                let y = load(y, self.terms.row(q + 1, j));
                match q + 1 == others.len() {
                    true => sum = S::multiply_add(product, y, sum),
                    false => product = S::multiply_add(product, y, zero),
                }
            }
        }
        let to = &mut self.w[from..from + lanes.width];
        // SAFETY: the slice has all numbers of the vector.
        unsafe { lanes.store::<WHOLE>(to.as_mut_ptr(), S::multiply_add(sum, S::splat(self.by), zero)) };
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
    let tasks =
        (0..channels.div_ceil(WIDTH)).flat_map(|group| (0..ys.len()).map(move |q| (group * WIDTH, q)));
    let tasks: Vec<(usize, usize)> = tasks.collect();
    tasks.into_par_iter().with_max_len(1).for_each(|(from, q)| {
        let width = WIDTH.min(channels - from);
        dispatch(Scatter { workspace, colours, channels, from, width, dw, ys, q, d: &shared[q] });
    });
    drop(shared);
    if relu {
        ds.iter_mut().zip(ys).for_each(|(d, y)| mask(d, y));
    }
}

/// Some channels of the gradient of the factor at position q.
struct Scatter<'a, T> {
    workspace: &'a Workspace,
    colours: ColourMatrix<'a>,
    channels: usize,
    from: usize,
    width: usize,
    dw: &'a [T],
    ys: &'a [&'a [T]],
    q: usize,
    d: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Scatter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let (from, width) = (self.from, self.width);
        each_vector::<T, S>(from, width, &mut self);
    }
}

impl<T: Real> EachVector<T> for Scatter<'_, T> {
    #[inline(always)]
    fn vector<S: Simd<T>, const WHOLE: bool>(&mut self, from: usize, lanes: Lanes<T, S>) {
        let &mut Scatter { workspace, colours, channels, dw, ys, q, d, .. } = self;
        let zero = S::splat(T::default());
        let load = |y: &[T], row: usize| {
            let numbers = &y[row * channels + from..][..lanes.width];
            // SAFETY: the slice has all numbers of the vector.
            unsafe { lanes.load::<WHOLE>(numbers.as_ptr()) }
        };
        let last = if q + 1 == ys.len() { q - 1 } else { ys.len() - 1 };
        let mut places = Vec::new();
        for (row, &example) in colours.examples.iter().enumerate() {
            if workspace.is_stopped() {
                return;
            }
            let graph = example.graph as usize;
            let by = S::splat(T::rounded(colours.factors[graph]));
            let scaled = S::multiply_add(load(dw, row), by, zero);
            let terms = Terms::new(&colours, example, ys.len(), places);
            for j in 0..colours.nodes[graph] {
                // SAFETY: only this task writes these channels of this factor's gradient.
                let to = unsafe { d.part(terms.row(q, j) * channels + from, lanes.width) }.as_mut_ptr();
                // dW times all factors but this one and the last other, which is multiplied while adding.
                let mut product = scaled;
                for (r, y) in ys.iter().enumerate().filter(|&(r, _)| r != q && r != last) {
                    product = S::multiply_add(product, load(y, terms.row(r, j)), zero);
                }
                let y = load(ys[last], terms.row(last, j));
                // SAFETY: `to` has all numbers of the vector.
                unsafe { lanes.store::<WHOLE>(to, S::multiply_add(product, y, lanes.load::<WHOLE>(to))) };
            }
            places = terms.places;
        }
    }
}
