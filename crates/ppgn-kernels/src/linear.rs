//! Linear layers on rows, and their way back: gradients of weights are summed over stretches of rows.
//!
//! When the chunks of a stretch are through, tiles of the weights' gradients are summed over it, so no thread has a copy of
//! its own and the sums do not depend on the number of threads.

use crate::gemm::{End, Panels, Product, Side, Slab, Slabs, Start, View, outer, rows};
use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// `Y = X A^T + b`.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a, T> {
    /// A, `[outputs, inputs]`, row-major.
    pub weight: &'a [T],
    /// b, `[outputs]`.
    pub bias: &'a [T],
    /// Width of X.
    pub inputs: usize,
    /// Width of Y.
    pub outputs: usize,
}

impl<'a, T: Real> Layer<'a, T> {
    /// A layer from a flat array that holds its weight and then its bias, and the rest of the array.
    ///
    /// # Panics
    /// If the array is too short.
    pub fn cut(flat: &'a [T], inputs: usize, outputs: usize) -> (Self, &'a [T]) {
        let (weight, rest) = flat.split_at(inputs * outputs);
        let (bias, rest) = rest.split_at(outputs);
        (Layer { weight, bias, inputs, outputs }, rest)
    }

    /// How many numbers it has in a flat array.
    pub(crate) fn len(&self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// What multiplies inputs `from..from + width` on the way forward: `[width, outputs]`.
    pub(crate) fn forward_panels(&self, from: usize, width: usize) -> Panels<T> {
        Panels::new(View::part(self.weight, self.outputs, self.inputs, from, width).transposed())
    }

    /// What multiplies a gradient on the way back to inputs `from..from + width`: `[outputs, width]`.
    pub(crate) fn backward_panels(&self, from: usize, width: usize) -> Panels<T> {
        Panels::new(View::part(self.weight, self.outputs, self.inputs, from, width))
    }
}

/// Chunks of a stretch.
pub(crate) const STRETCH: usize = 4;

/// Rows of a chunk: as many as fit the cache with their layers, and few enough that threads have some each. It depends
/// on the number of rows alone.
pub(crate) fn chunk_rows(rows: usize) -> usize {
    rows.div_ceil(8).next_multiple_of(crate::simd::MR).clamp(24, 126)
}

/// One of the inputs that a linear layer has side by side.
pub(crate) struct Joined<'a, T> {
    pub(crate) input: Input<'a, T>,
    /// Its width.
    pub(crate) width: usize,
    /// Its first column in the layer's weights.
    pub(crate) from: usize,
    /// What takes a gradient back to it.
    pub(crate) back: &'a Panels<T>,
}

/// The way back through a linear layer of some inputs: `C += D^T X` in each one's columns of the layer's weights, and its
/// gradient `D A` where that goes to. Gives the sums of D's columns.
///
/// # Shapes
/// - `d`: `[rows, outputs]`
/// - `weights`: `[outputs, stride]`
pub(crate) fn linear_backward<T: Real>(
    d: &[T],
    outputs: usize,
    mut inputs: Vec<Joined<'_, T>>,
    (weights, stride): (&mut [T], usize),
) -> Vec<T> {
    let count = d.len() / outputs.max(1);
    let chunk = chunk_rows(count);
    let stretch = chunk * STRETCH;
    let room = |side, width| Slabs::new(side, stretch.min(count), width, chunk);
    let mut left = room(Side::Left, outputs);
    let mut right: Vec<Slabs<T>> = inputs.iter().map(|input| room(Side::Right, input.width)).collect();
    let mut total = vec![T::default(); outputs];
    for start in (0..count).step_by(stretch) {
        let end = (start + stretch).min(count);
        left.set_rows(end - start);
        let d = d[start * outputs..end * outputs].chunks(chunk * outputs);
        let mut tasks: Vec<_> =
            d.zip(left.slabs()).map(|(d, slab)| (d, slab, Vec::with_capacity(inputs.len()))).collect();
        for (input, right) in inputs.iter_mut().zip(&mut right) {
            right.set_rows(end - start);
            let (width, back) = (input.width, input.back);
            let part = start * width..end * width;
            let rows = input.input.chunks(part, (chunk * width).max(1));
            for ((task, rows), slab) in tasks.iter_mut().zip(rows).zip(right.slabs()) {
                task.2.push((rows, slab, back));
            }
        }
        let sums: Vec<Vec<T>> = tasks
            .into_par_iter()
            .map(|(d, slab, parts)| {
                slab.fill(d);
                for (input, slab, back) in parts {
                    input.backward(d, back, slab);
                }
                column_sums(d, outputs)
            })
            .collect();
        sums.iter().for_each(|sum| add_to(&mut total, sum));
        for (input, right) in inputs.iter().zip(&right) {
            outer(vec![Product { a: &left, b: right, c: weights, stride, from: input.from }]);
        }
    }
    total
}

/// The input of a linear layer, and where its gradient goes.
pub(crate) enum Input<'a, T> {
    /// The gradient is added to another array, if any.
    Apart(&'a [T], Option<&'a mut [T]>),
    /// The gradient takes the input's place.
    InPlace(&'a mut [T]),
}

impl<T: Real> Input<'_, T> {
    /// A part of it, in chunks.
    fn chunks(&mut self, part: std::ops::Range<usize>, chunk: usize) -> Vec<Input<'_, T>> {
        match self {
            Input::Apart(x, dx) => {
                let mut dx = dx.as_mut().map(|dx| dx[part.clone()].chunks_mut(chunk));
                let x = x[part].chunks(chunk);
                x.map(|x| Input::Apart(x, dx.as_mut().and_then(Iterator::next))).collect()
            }
            Input::InPlace(x) => x[part].chunks_mut(chunk).map(Input::InPlace).collect(),
        }
    }

    /// Fills the slab with the input, and makes its gradient.
    fn backward(self, d: &[T], back: &Panels<T>, slab: Slab<'_, T>) {
        match self {
            Input::Apart(x, dx) => {
                slab.fill(x);
                if let Some(dx) = dx {
                    rows(d, back, dx, Start::There, End::Keep);
                }
            }
            Input::InPlace(x) => {
                slab.fill(x);
                rows(d, back, x, Start::Zero, End::Keep);
            }
        }
    }
}

/// The sums of columns of `[rows, width]`.
pub(crate) fn column_sums<T: Real>(x: &[T], width: usize) -> Vec<T> {
    struct Sums<'a, T>(&'a [T], usize);
    impl<T: Real> Kernel<T> for Sums<'_, T> {
        type Output = Vec<T>;

        #[inline(always)]
        fn run<S: Simd<T>>(self) -> Vec<T> {
            let mut sums = vec![T::default(); self.1];
            for row in self.0.chunks_exact(self.1.max(1)) {
                sums.iter_mut().zip(row).for_each(|(s, &x)| *s += x);
            }
            sums
        }
    }
    dispatch(Sums(x, width))
}

pub(crate) fn add_to<T: Real>(total: &mut [T], more: &[T]) {
    total.iter_mut().zip(more).for_each(|(t, &m)| *t += m);
}
