//! The channel product over colours: one row for all pairs that 2-FWL has not told apart.
//!
//! The row of a colour is computed for one pair (i, k) that has it, `W[r] = factor * sum over j of Y1[c(i,j)] *
//! Y2[c(j,k)]`, with c(i,j) the row of pair (i,j) one level below. Rows are read where they lie, some channels at a
//! time so that the tables stay in the cache. The gradients add to many rows, so tasks share out channels, not rows:
//! every sum has one order, whatever the number of threads.

use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// A tuple of nodes of a graph of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The graph.
    pub graph: u32,
    /// Where the tuple stands among those of its graph: (i, k) at `i * n + k`, and so on for longer ones.
    pub place: u32,
}

/// What makes the rows of one level from those of the level below.
#[derive(Debug, Clone, Copy)]
pub struct Colours<'a> {
    /// Rows of the level below.
    pub below: usize,
    /// A tuple that has each row of this level.
    pub examples: &'a [Example],
    /// Nodes of every graph.
    pub nodes: &'a [usize],
    /// What every graph's product is multiplied by.
    pub factors: &'a [f64],
    /// Where every graph's tuples begin in `matrix`.
    pub offsets: &'a [usize],
    /// The row below of every tuple, graph after graph, row-major.
    pub matrix: &'a [u32],
}

impl Colours<'_> {
    /// Holds everything that is read later within its bounds, for tuples of so many nodes.
    pub(crate) fn check(&self, order: usize) {
        assert!(self.matrix.iter().all(|&row| (row as usize) < self.below));
        for example in self.examples {
            let tuples = self.nodes[example.graph as usize].pow(order as u32);
            assert!((example.place as usize) < tuples);
            assert!(self.offsets[example.graph as usize] + tuples <= self.matrix.len());
        }
    }

    /// The rows of c(i,j) and of c(j,k) for all j, in order.
    #[inline(always)]
    fn terms(&self, example: Example) -> impl Iterator<Item = (usize, usize)> {
        let graph = example.graph as usize;
        let n = self.nodes[graph];
        let matrix = &self.matrix[self.offsets[graph]..][..n * n];
        let (i, k) = (example.place as usize / n, example.place as usize % n);
        let left = &matrix[i * n..][..n];
        let right = matrix[k..].iter().step_by(n);
        left.iter().zip(right).map(|(&l, &r)| (l as usize, r as usize))
    }
}

/// Vectors of channels that are summed at once.
const VECTORS: usize = 4;

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`: `[below, channels]`
/// - `w`: `[examples, channels]`
///
/// # Complexity
/// O(examples * n * channels).
pub fn quotient_product<T: Real>(colours: Colours<'_>, channels: usize, y1: &[T], y2: &[T], w: &mut [T]) {
    colours.check(2);
    assert_eq!((y1.len(), y2.len()), (colours.below * channels, colours.below * channels));
    assert_eq!(w.len(), colours.examples.len() * channels);
    if channels == 0 {
        return;
    }
    let rows = 32;
    w.par_chunks_mut(rows * channels).zip(colours.examples.par_chunks(rows)).for_each(|(w, examples)| {
        dispatch(Forward { colours, examples, channels, y1, y2, w });
    });
}

struct Forward<'a, T> {
    colours: Colours<'a>,
    examples: &'a [Example],
    channels: usize,
    y1: &'a [T],
    y2: &'a [T],
    w: &'a mut [T],
}

impl<T: Real> Kernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let step = VECTORS * S::LANES;
        let whole = self.channels / step * step;
        for (row, &example) in self.examples.iter().enumerate() {
            let factor = T::rounded(self.colours.factors[example.graph as usize]);
            for from in (0..whole).step_by(step) {
                self.vectors::<S>(row, example, factor, from);
            }
            if whole < self.channels {
                self.rest(row, example, factor, whole);
            }
        }
    }
}

impl<T: Real> Forward<'_, T> {
    #[inline(always)]
    fn vectors<S: Simd<T>>(&mut self, row: usize, example: Example, factor: T, from: usize) {
        let mut sums = [S::splat(T::default()); VECTORS];
        for (l, r) in self.colours.terms(example) {
            let a = &self.y1[l * self.channels + from..][..VECTORS * S::LANES];
            let b = &self.y2[r * self.channels + from..][..VECTORS * S::LANES];
            for (v, sum) in sums.iter_mut().enumerate() {
                // SAFETY: both slices hold that many vectors.
                *sum = unsafe {
                    let at = v * S::LANES;
                    S::multiply_add(S::load(a.as_ptr().add(at)), S::load(b.as_ptr().add(at)), *sum)
                };
            }
        }
        let to = &mut self.w[row * self.channels + from..][..VECTORS * S::LANES];
        for (v, &sum) in sums.iter().enumerate() {
            // SAFETY: `to` has room for that many vectors.
            unsafe { S::store(to.as_mut_ptr().add(v * S::LANES), sum) };
        }
        to.iter_mut().for_each(|x| *x *= factor);
    }

    #[inline(always)]
    fn rest(&mut self, row: usize, example: Example, factor: T, from: usize) {
        let channels = self.channels;
        let to = &mut self.w[row * channels + from..(row + 1) * channels];
        to.fill(T::default());
        for (l, r) in self.colours.terms(example) {
            let a = &self.y1[l * channels + from..(l + 1) * channels];
            let b = &self.y2[r * channels + from..(r + 1) * channels];
            to.iter_mut().zip(a).zip(b).for_each(|((to, &a), &b)| *to += a * b);
        }
        to.iter_mut().for_each(|x| *x *= factor);
    }
}

/// The gradients of Y1 and Y2, each 0 where Y1 (or Y2) is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, channels]`
/// - `y1`, `y2`, `d1`, `d2`: `[below, channels]`; the last two are written whole
///
/// # Complexity
/// O(examples * n * channels).
pub fn quotient_product_backward<T: Real>(
    colours: Colours<'_>,
    channels: usize,
    dw: &[T],
    [y1, y2]: [&[T]; 2],
    [d1, d2]: [&mut [T]; 2],
) {
    colours.check(2);
    let below = colours.below * channels;
    assert_eq!([y1.len(), y2.len(), d1.len(), d2.len()], [below; 4]);
    assert_eq!(dw.len(), colours.examples.len() * channels);
    let (d1, d2) = (Shared::new(d1), Shared::new(d2));
    // Cache lines are whole numbers of these, so tasks do not share them.
    const WIDTH: usize = 32;
    (0..channels.div_ceil(WIDTH)).into_par_iter().for_each(|group| {
        let from = group * WIDTH;
        let width = WIDTH.min(channels - from);
        dispatch(Backward { colours, channels, from, width, dw, y1, y2, d1: &d1, d2: &d2 });
    });
}

struct Backward<'a, T> {
    colours: Colours<'a>,
    channels: usize,
    from: usize,
    width: usize,
    dw: &'a [T],
    y1: &'a [T],
    y2: &'a [T],
    d1: &'a Shared<'a, T>,
    d2: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        // Known lengths let the compiler unroll.
        match self.width {
            32 => self.go(32),
            16 => self.go(16),
            width => self.go(width),
        }
    }
}

impl<T: Real> Backward<'_, T> {
    #[inline(always)]
    fn go(&self, width: usize) {
        let at = |row: usize| row * self.channels + self.from;
        for row in 0..self.colours.below {
            // SAFETY: this task alone writes these channels.
            unsafe {
                self.d1.part(at(row), width).fill(T::default());
                self.d2.part(at(row), width).fill(T::default());
            }
        }
        let mut scaled = [T::default(); 32];
        for (row, &example) in self.colours.examples.iter().enumerate() {
            let factor = T::rounded(self.colours.factors[example.graph as usize]);
            let scaled = &mut scaled[..width];
            scaled.iter_mut().zip(&self.dw[at(row)..][..width]).for_each(|(s, &d)| *s = d * factor);
            for (l, r) in self.colours.terms(example) {
                let (a, b) = (&self.y1[at(l)..][..width], &self.y2[at(r)..][..width]);
                // SAFETY: as above; the two are parts of different slices.
                let (da, db) = unsafe { (self.d1.part(at(l), width), self.d2.part(at(r), width)) };
                for c in 0..width {
                    da[c] += scaled[c] * b[c];
                    db[c] += scaled[c] * a[c];
                }
            }
        }
        for row in 0..self.colours.below {
            for (d, y) in [(self.d1, self.y1), (self.d2, self.y2)] {
                // SAFETY: as above.
                let d = unsafe { d.part(at(row), width) };
                for (d, &y) in d.iter_mut().zip(&y[at(row)..][..width]) {
                    *d = if y > T::default() { *d } else { T::default() };
                }
            }
        }
    }
}
