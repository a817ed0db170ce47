//! Linear layers on rows, forward and backward.

use crate::gemm::{Columns, End, Panels, Product, Start, Target, View, outer, rows, short};
use crate::narrow::{CHUNK, add_parts, by_parts, is_narrow, part_rows, prefetch_rows};
use crate::real::Real;
use crate::shared::numbers;
use crate::workspace::Workspace;
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
    /// Splits a layer off the front of a flat array (weight, then bias); also returns the rest of the array.
    ///
    /// # Panics
    /// If the array is too short.
    pub fn cut(flat: &'a [T], inputs: usize, outputs: usize) -> (Self, &'a [T]) {
        let (weight, rest) = flat.split_at(numbers(inputs, outputs));
        let (bias, rest) = rest.split_at(outputs);
        (Layer { weight, bias, inputs, outputs }, rest)
    }

    /// Y from X.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - `y`: `[rows, outputs]`
    ///
    /// # Complexity
    /// O(rows * inputs * outputs).
    ///
    /// # Panics
    /// If the lengths are inconsistent.
    pub fn forward(&self, workspace: &Workspace, x: &[T], y: &mut [T]) {
        T::layer_forward(self, workspace, x, y)
    }

    pub(crate) fn forward_generic(&self, workspace: &Workspace, x: &[T], y: &mut [T]) {
        let count = x.len() / self.inputs.max(1);
        assert_eq!((x.len(), y.len()), (count * self.inputs, count * self.outputs));
        let panels = self.forward_panels(workspace, 0, self.inputs);
        let chunk = chunk_rows(count);
        let x = x.par_chunks((chunk * self.inputs).max(1));
        x.zip(y.par_chunks_mut((chunk * self.outputs).max(1)))
            .with_max_len(1)
            .for_each(|(x, y)| rows(x, &panels, y, Start::Bias(self.bias), End::Keep));
    }

    /// Number of parameters in the flat array.
    pub(crate) fn len(&self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// The matrix that maps inputs `from..from + width` forward: `[width, outputs]`.
    pub(crate) fn forward_panels(&self, workspace: &Workspace, from: usize, width: usize) -> Panels<T> {
        Panels::new(workspace, View::part(self.weight, self.outputs, self.inputs, from, width).transposed())
    }

    /// The matrix that maps a gradient back to inputs `from..from + width`: `[outputs, width]`.
    pub(crate) fn backward_panels(&self, workspace: &Workspace, from: usize, width: usize) -> Panels<T> {
        Panels::new(workspace, View::part(self.weight, self.outputs, self.inputs, from, width))
    }
}

/// Rows per chunk: few enough that they fit the cache together with their layers and that every thread gets several
/// chunks, so that none waits long for another. It depends only on the number of rows. (Loops over chunks use
/// `with_max_len(1)`: otherwise rayon gives one thread several chunks that no other thread can steal.)
pub(crate) fn chunk_rows(rows: usize) -> usize {
    rows.div_ceil(8).next_multiple_of(crate::simd::MR).clamp(24, 60)
}

/// The minimum length of a parallel loop over matrices with this many numbers in all: small ones are packed one after
/// another, because waking other threads would take longer.
pub(crate) fn together(numbers: usize) -> usize {
    if numbers < 1 << 16 { usize::MAX } else { 1 }
}

/// One of the concatenated inputs of a linear layer.
pub(crate) struct Joined<'a, T: Real> {
    /// The input, and where its gradient goes.
    pub(crate) input: Input<'a, T>,
    /// Its width.
    pub(crate) width: usize,
    /// Its first column in the layer's weight.
    pub(crate) from: usize,
    /// The matrix that maps a gradient back to it.
    pub(crate) back: &'a Panels<T>,
}

impl<T: Real> Joined<'_, T> {
    fn columns(&self) -> Columns<'_, T> {
        let b = match &self.input {
            Input::Apart(x, _) => x,
            Input::InPlace(x) => &**x,
        };
        Columns { b, width: self.width, from: self.from }
    }
}

/// The input of a linear layer, and where its gradient goes.
pub(crate) enum Input<'a, T> {
    /// The gradient is written to a separate array, if any.
    Apart(&'a [T], Option<&'a mut [T]>),
    /// The gradient overwrites the input.
    InPlace(&'a mut [T]),
}

/// The backward pass of a linear layer with several concatenated inputs. For each input X it adds `D^T X` to X's
/// columns of the weight gradient and computes X's gradient `D A`; the column sums of D are added to the bias gradient.
///
/// # Shapes
/// - `d`: `[rows, outputs]`
/// - `weights`: `[outputs, stride]`
/// - `bias`: `[outputs]`
pub(crate) fn linear_backward<T: Real>(
    workspace: &Workspace,
    d: &[T],
    outputs: usize,
    inputs: Vec<Joined<'_, T>>,
    (weights, stride): (&mut [T], usize),
    bias: Option<&mut [T]>,
) {
    if is_narrow::<T>(weights.len() + outputs) {
        return narrow_backward(workspace, d, outputs, inputs, (weights, stride), bias);
    }
    let bs = inputs.iter().map(Joined::columns).collect();
    outer(workspace, vec![Product { a: d, bs, c: weights, stride, sums: bias }]);
    let chunk = chunk_rows(d.len() / outputs.max(1));
    let mut tasks: Vec<_> =
        d.chunks(chunk * outputs).map(|d| (d, Vec::with_capacity(inputs.len()))).collect();
    for Joined { input, width, back, .. } in inputs {
        let to = match input {
            Input::Apart(_, None) => continue,
            Input::Apart(_, Some(dx)) => dx,
            Input::InPlace(x) => x,
        };
        tasks.iter_mut().zip(to.chunks_mut(chunk * width)).for_each(|(task, to)| task.1.push((to, back)));
    }
    tasks.into_par_iter().with_max_len(1).for_each(|(d, parts)| {
        if workspace.is_stopped() {
            return;
        }
        parts.into_iter().for_each(|(to, back)| rows(d, back, to, Start::Zero, End::Keep));
    });
}

/// The same for a narrow layer: the gradients of a chunk of rows while it is in the cache.
fn narrow_backward<T: Real>(
    workspace: &Workspace,
    d: &[T],
    outputs: usize,
    inputs: Vec<Joined<'_, T>>,
    (weights, stride): (&mut [T], usize),
    bias: Option<&mut [T]>,
) {
    let part = part_rows(d.len() / outputs.max(1));
    let mut tasks: Vec<(&[T], Vec<Joined<'_, T>>)> =
        d.chunks((part * outputs).max(1)).map(|d| (d, Vec::with_capacity(inputs.len()))).collect();
    for Joined { input, width, from, back } in inputs {
        let length = part * width;
        let mut parts: Vec<Input<'_, T>> = match input {
            Input::Apart(x, None) => x.chunks(length).map(|x| Input::Apart(x, None)).collect(),
            Input::Apart(x, Some(dx)) => {
                x.chunks(length).zip(dx.chunks_mut(length)).map(|(x, dx)| Input::Apart(x, Some(dx))).collect()
            }
            Input::InPlace(x) => x.chunks_mut(length).map(Input::InPlace).collect(),
        };
        assert_eq!(parts.len(), tasks.len());
        for ((_, task), input) in tasks.iter_mut().zip(parts.drain(..)) {
            task.push(Joined { input, width, from, back });
        }
    }
    let (size, with_bias) = (weights.len(), bias.is_some());
    let sums =
        by_parts(workspace, tasks, size + outputs, |(all, mut inputs): (&[T], Vec<Joined<'_, T>>), sums| {
            let (c, bias) = sums.split_at_mut(size);
            for (n, d) in all.chunks(CHUNK * outputs).enumerate() {
                let rows_of = |width: usize| n * CHUNK * width..(n * CHUNK + d.len() / outputs) * width;
                inputs
                    .iter()
                    .for_each(|joined| prefetch_rows(joined.columns().b, joined.width, (n + 1) * CHUNK));
                prefetch_rows(all, outputs, (n + 1) * CHUNK);
                // The sums of D are the same for all inputs: the first adds them.
                let mut bias = with_bias.then_some(&mut *bias);
                for Joined { input, width, from, back } in &mut inputs {
                    let to = Target { c, stride, from: *from };
                    let range = rows_of(*width);
                    match input {
                        Input::Apart(x, dx) => {
                            short((d, outputs), (&x[range.clone()], *width), to, bias.take());
                            if let Some(dx) = dx {
                                rows(d, back, &mut dx[range], Start::Zero, End::Keep);
                            }
                        }
                        Input::InPlace(x) => {
                            let x = &mut x[range];
                            short((d, outputs), (&*x, *width), to, bias.take());
                            rows(d, back, x, Start::Zero, End::Keep);
                        }
                    }
                }
            }
        });
    add_parts(&sums, 0, weights);
    if let Some(bias) = bias {
        add_parts(&sums, size, bias);
    }
}

#[inline(always)]
pub(crate) fn add_to<T: Real>(total: &mut [T], more: &[T]) {
    total.iter_mut().zip(more).for_each(|(t, &m)| *t += m);
}
