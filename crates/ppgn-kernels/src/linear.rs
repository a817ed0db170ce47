//! Linear layers and MLPs on rows: chunks of rows go through all layers of an MLP while they are in the cache.
//!
//! The backward pass keeps nothing of the hidden layers: it computes them again, chunk by chunk. Gradients of weights
//! are summed over stretches of rows: when the chunks of a stretch are through, tiles of the weights' gradients are
//! summed over it, so no thread has a copy of its own and the sums do not depend on the number of threads.

use crate::buffer::Buffer;
use crate::gemm::{End, Panels, Side, Slab, Slabs, Start, View, outer, rows};
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

/// Layers with a ReLU after each.
#[derive(Debug, Clone)]
pub struct Mlp<'a, T> {
    /// First to last.
    pub layers: Vec<Layer<'a, T>>,
}

impl<T: Real> Mlp<'_, T> {
    /// Width of its input.
    pub(crate) fn inputs(&self) -> usize {
        self.layers[0].inputs
    }

    /// Width of its output.
    pub(crate) fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    /// How many numbers it has in a flat array.
    pub(crate) fn len(&self) -> usize {
        self.layers.iter().map(Layer::len).sum()
    }

    /// Numbers a row of all hidden layers.
    fn hidden(&self) -> usize {
        self.layers[..self.layers.len() - 1].iter().map(|layer| layer.outputs).sum()
    }

    pub(crate) fn forward_panels(&self) -> Vec<Panels<T>> {
        self.layers.par_iter().map(|layer| layer.forward_panels(0, layer.inputs)).collect()
    }

    /// The hidden layers of a chunk, one after another in `hidden`, and the output where it is wanted.
    fn chunk(&self, panels: &[Panels<T>], x: &[T], hidden: &mut [T], output: Option<&mut [T]>) {
        let count = x.len() / self.inputs();
        let (mut input, mut rest) = (x, hidden);
        let last = self.layers.len() - 1;
        for (layer, panels) in self.layers[..last].iter().zip(panels) {
            let (to, next) = rest.split_at_mut(count * layer.outputs);
            rows(input, panels, to, Start::Bias(layer.bias), End::Relu);
            (input, rest) = (to, next);
        }
        if let Some(output) = output {
            rows(input, &panels[last], output, Start::Bias(self.layers[last].bias), End::Relu);
        }
    }

    /// The MLP of every row.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - `y`: `[rows, outputs]`
    pub(crate) fn forward(&self, panels: &[Panels<T>], x: &[T], y: &mut [T]) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let count = x.len() / inputs;
        assert_eq!((x.len(), y.len()), (count * inputs, count * outputs));
        let chunk = chunk_rows(count);
        x.par_chunks(chunk * inputs).zip(y.par_chunks_mut(chunk * outputs)).for_each_init(
            || vec![T::default(); chunk * self.hidden()],
            |hidden, (x, y)| self.chunk(panels, x, hidden, Some(y)),
        );
    }

    /// Adds the gradients of the layers to `gradient`, a flat array, and that of the input to `dx` if it is wanted.
    /// `d` is the gradient of the output, already 0 where the last ReLU was.
    ///
    /// # Shapes
    /// - `x`, `dx`: `[rows, inputs]`
    /// - `d`: `[rows, outputs]`
    pub(crate) fn backward(&self, x: &[T], d: &[T], mut dx: Option<&mut [T]>, gradient: &mut [T]) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let count = x.len() / inputs;
        assert_eq!((x.len(), d.len()), (count * inputs, count * outputs));
        let panels = self.forward_panels();
        let back: Vec<Panels<T>> = {
            let first = usize::from(dx.is_none());
            let layers = self.layers.par_iter().enumerate();
            layers
                .map(
                    |(l, layer)| {
                        if l < first { Panels::default() } else { layer.backward_panels(0, layer.inputs) }
                    },
                )
                .collect()
        };
        let chunk = chunk_rows(count);
        let stretch = chunk * STRETCH;
        let mut slabs: Vec<[Slabs<T>; 2]> = self.layers.iter().map(|_| Default::default()).collect();
        let mut biases = vec![Vec::new(); self.layers.len()];
        for start in (0..count).step_by(stretch) {
            let end = (start + stretch).min(count);
            for (slabs, layer) in slabs.iter_mut().zip(&self.layers) {
                slabs[0].resize(Side::Left, end - start, layer.outputs, chunk);
                slabs[1].resize(Side::Right, end - start, layer.inputs, chunk);
            }
            let x = x[start * inputs..end * inputs].chunks(chunk * inputs);
            let d = d[start * outputs..end * outputs].chunks(chunk * outputs);
            let mut dx =
                dx.as_deref_mut().map(|dx| dx[start * inputs..end * inputs].chunks_mut(chunk * inputs));
            let mut tasks: Vec<Task<'_, T>> = x
                .zip(d)
                .map(|(x, d)| Task { x, d, dx: dx.as_mut().and_then(Iterator::next), slabs: Vec::new() })
                .collect();
            for pair in &mut slabs {
                let [left, right] = pair;
                for (task, slabs) in tasks.iter_mut().zip(left.slabs().zip(right.slabs())) {
                    task.slabs.push(slabs);
                }
            }
            let sums: Vec<Vec<Vec<T>>> =
                tasks.into_par_iter().map(|task| self.chunk_backward(&panels, &back, task)).collect();
            for sums in sums {
                for (total, sum) in biases.iter_mut().zip(sums) {
                    add_into(total, &sum);
                }
            }
            let mut rest = &mut *gradient;
            for (layer, [left, right]) in self.layers.iter().zip(&slabs) {
                let (of_layer, next) = rest.split_at_mut(layer.len());
                outer(left, right, &mut of_layer[..layer.inputs * layer.outputs], layer.inputs, 0);
                rest = next;
            }
        }
        let mut rest = gradient;
        for (layer, sum) in self.layers.iter().zip(&biases) {
            let (of_layer, next) = rest.split_at_mut(layer.len());
            add_to(&mut of_layer[layer.inputs * layer.outputs..], sum);
            rest = next;
        }
    }

    /// One chunk's way back; gives the gradient of every bias.
    fn chunk_backward(&self, panels: &[Panels<T>], back: &[Panels<T>], task: Task<'_, T>) -> Vec<Vec<T>> {
        let Task { x, d, dx, slabs } = task;
        let count = x.len() / self.inputs();
        let mut scratch = Buffer::<T>::dirty(2 * count * self.hidden());
        let (hidden, mut gradients) = scratch.split_at_mut(count * self.hidden());
        self.chunk(panels, x, hidden, None);
        let mut inputs = vec![x];
        let mut rest = &*hidden;
        for layer in &self.layers[..self.layers.len() - 1] {
            let (part, next) = rest.split_at(count * layer.outputs);
            inputs.push(part);
            rest = next;
        }
        let mut biases = vec![Vec::new(); self.layers.len()];
        let mut d = d;
        for (l, (layer, (left, right))) in self.layers.iter().zip(slabs).enumerate().rev() {
            biases[l] = column_sums(d, layer.outputs);
            left.fill(d);
            right.fill(inputs[l]);
            if l > 0 {
                let (to, next) = gradients.split_at_mut(count * layer.inputs);
                rows(d, &back[l], to, Start::Zero, End::Mask(inputs[l]));
                (d, gradients) = (to, next);
            }
        }
        if let Some(dx) = dx {
            rows(d, &back[0], dx, Start::There, End::Keep);
        }
        biases
    }
}

/// A chunk of rows on its way back.
struct Task<'a, T> {
    x: &'a [T],
    d: &'a [T],
    dx: Option<&'a mut [T]>,
    slabs: Vec<(Slab<'a, T>, Slab<'a, T>)>,
}

/// Chunks of a stretch.
const STRETCH: usize = 4;

/// Rows of a chunk: as many as fit the cache with their layers, and few enough that threads have some each. It depends
/// on the number of rows alone.
pub(crate) fn chunk_rows(rows: usize) -> usize {
    rows.div_ceil(8).next_multiple_of(crate::simd::MR).clamp(24, 126)
}

/// The gradient of a part of a linear layer: `C += D^T X` in columns `from..` of the layer's weights, and `X`'s
/// gradient `D A` in `back`'s form where it goes to.
///
/// # Shapes
/// - `d`: `[rows, outputs]`
/// - `weights`: `[outputs, stride]`
pub(crate) fn linear_backward<T: Real>(
    d: &[T],
    outputs: usize,
    input: Input<'_, T>,
    width: usize,
    back: Option<&Panels<T>>,
    (weights, stride, from): (&mut [T], usize, usize),
) {
    let count = d.len() / outputs.max(1);
    let chunk = chunk_rows(count);
    let stretch = chunk * STRETCH;
    let [mut left, mut right] = [Slabs::default(), Slabs::default()];
    let mut input = input;
    for start in (0..count).step_by(stretch) {
        let end = (start + stretch).min(count);
        left.resize(Side::Left, end - start, outputs, chunk);
        right.resize(Side::Right, end - start, width, chunk);
        let d = d[start * outputs..end * outputs].par_chunks(chunk * outputs);
        let rooms: Vec<_> = left.slabs().zip(right.slabs()).collect();
        let part = start * width..end * width;
        match &mut input {
            Input::Apart(x, None) => {
                let x = x[part].par_chunks(chunk * width);
                d.zip(x).zip(rooms).for_each(|((d, x), (left, right))| {
                    left.fill(d);
                    right.fill(x);
                });
            }
            Input::Apart(x, Some(dx)) => {
                let x = x[part.clone()].par_chunks(chunk * width);
                let dx = dx[part].par_chunks_mut(chunk * width);
                d.zip(x).zip(dx).zip(rooms).for_each(|(((d, x), dx), (left, right))| {
                    left.fill(d);
                    right.fill(x);
                    if let Some(back) = back {
                        rows(d, back, dx, Start::There, End::Keep);
                    }
                });
            }
            Input::InPlace(x) => {
                let x = x[part].par_chunks_mut(chunk * width);
                d.zip(x).zip(rooms).for_each(|((d, x), (left, right))| {
                    left.fill(d);
                    right.fill(x);
                    if let Some(back) = back {
                        rows(d, back, x, Start::Zero, End::Keep);
                    }
                });
            }
        }
        outer(&left, &right, weights, stride, from);
    }
}

/// The input of a linear layer, and where its gradient goes.
pub(crate) enum Input<'a, T> {
    /// The gradient is added to another array, if any.
    Apart(&'a [T], Option<&'a mut [T]>),
    /// The gradient takes the input's place.
    InPlace(&'a mut [T]),
}

/// The sums of columns of `[rows, width]`, chunk by chunk in order.
pub(crate) fn all_column_sums<T: Real>(x: &[T], width: usize) -> Vec<T> {
    let chunk = chunk_rows(x.len() / width.max(1));
    let parts: Vec<Vec<T>> = x.par_chunks((chunk * width).max(1)).map(|x| column_sums(x, width)).collect();
    let mut total = vec![T::default(); width];
    parts.iter().for_each(|part| add_to(&mut total, part));
    total
}

fn column_sums<T: Real>(x: &[T], width: usize) -> Vec<T> {
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

fn add_into<T: Real>(total: &mut Vec<T>, more: &[T]) {
    if total.is_empty() {
        total.extend_from_slice(more);
    } else {
        add_to(total, more);
    }
}

pub(crate) fn add_to<T: Real>(total: &mut [T], more: &[T]) {
    total.iter_mut().zip(more).for_each(|(t, &m)| *t += m);
}
