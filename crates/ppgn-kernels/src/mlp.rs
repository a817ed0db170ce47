//! MLPs on rows: chunks of rows go through all layers of all MLPs that take them while they are in the cache.
//!
//! The backward pass takes the hidden layers where they were kept, and computes them again chunk by chunk where they were
//! not: the numbers are the same, one costs memory and the other time.

use crate::buffer::Buffer;
use crate::gemm::{End, Panels, Product, Side, Slab, Slabs, Start, outer, rows};
use crate::linear::{Layer, STRETCH, add_to, chunk_rows, column_sums};
use crate::real::Real;
use rayon::prelude::*;

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
    pub(crate) fn hidden(&self) -> usize {
        self.layers[..self.layers.len() - 1].iter().map(|layer| layer.outputs).sum()
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

    /// One chunk's way back; gives the gradient of every bias.
    ///
    /// `hidden` are its hidden layers, `x` its input; slabs are filled for the gradients of the weights.
    fn chunk_backward(&self, back: &[Panels<T>], x: &[T], hidden: &[T], task: Part<'_, T>) -> Vec<Vec<T>> {
        let Part { d, slabs, dx } = task;
        let count = x.len() / self.inputs();
        let mut gradients = Buffer::<T>::dirty(count * self.hidden());
        let mut gradients = &mut gradients[..];
        let mut inputs = vec![x];
        let mut rest = hidden;
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
            if let Some(right) = right {
                right.fill(inputs[l]);
            }
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

/// An MLP on its way forward.
pub(crate) struct Forward<'a, T> {
    pub(crate) mlp: &'a Mlp<'a, T>,
    /// Its output, `[rows, outputs]`.
    pub(crate) y: &'a mut [T],
    /// Where its hidden layers are kept, if they are: chunk after chunk, layer after layer.
    pub(crate) hidden: Option<&'a mut [T]>,
}

/// MLPs of the same rows: a chunk of rows goes through all of them while it is in the cache.
///
/// # Shapes
/// - `x`: `[rows, inputs]`
pub(crate) fn mlps<T: Real>(x: &[T], mlps: Vec<Forward<'_, T>>) {
    let Some(inputs) = mlps.first().map(|m| m.mlp.inputs()) else { return };
    let count = x.len() / inputs;
    let chunk = chunk_rows(count);
    let panels: Vec<Vec<Panels<T>>> = mlps.par_iter().map(|m| forward_panels(&m.mlp.layers)).collect();
    let mut tasks: Vec<_> = x.chunks(chunk * inputs).map(|x| (x, Vec::with_capacity(mlps.len()))).collect();
    let mut most = 0;
    for (Forward { mlp, y, hidden }, panels) in mlps.into_iter().zip(&panels) {
        assert_eq!((mlp.inputs(), y.len()), (inputs, count * mlp.outputs()));
        most = most.max(mlp.hidden());
        let mut hidden = hidden.map(|hidden| hidden.chunks_mut((chunk * mlp.hidden()).max(1)));
        for ((_, parts), y) in tasks.iter_mut().zip(y.chunks_mut(chunk * mlp.outputs())) {
            parts.push((mlp, panels, y, hidden.as_mut().and_then(Iterator::next)));
        }
    }
    tasks.into_par_iter().for_each_init(
        || Buffer::dirty(chunk * most),
        |scratch, (x, parts)| {
            for (mlp, panels, y, hidden) in parts {
                mlp.chunk(panels, x, hidden.unwrap_or(scratch), Some(y));
            }
        },
    );
}

fn forward_panels<T: Real>(layers: &[Layer<'_, T>]) -> Vec<Panels<T>> {
    layers.par_iter().map(|layer| layer.forward_panels(0, layer.inputs)).collect()
}

/// An MLP on its way back.
pub(crate) struct Backward<'a, T> {
    pub(crate) mlp: &'a Mlp<'a, T>,
    /// The gradient of its output, `[rows, outputs]`, already 0 where the last ReLU was.
    pub(crate) d: &'a [T],
    /// Its hidden layers as [`mlps`] left them; without them they are computed again.
    pub(crate) hidden: Option<&'a [T]>,
    /// The gradients of its layers, a flat array, which is added to.
    pub(crate) gradient: &'a mut [T],
}

/// Room for the rows of a layer: its output's gradient and, but for the first layer, its input.
type Rooms<T> = (Slabs<T>, Option<Slabs<T>>);

/// A chunk of rows on its way back through one MLP.
struct Part<'a, T> {
    d: &'a [T],
    /// For every layer the room of its output's gradient, and of its input where that is not the rows themselves.
    slabs: Vec<(Slab<'a, T>, Option<Slab<'a, T>>)>,
    dx: Option<&'a mut [T]>,
}

/// The way back through MLPs of the same rows: adds the gradients of all layers to theirs, and that of the rows to `dx`
/// if it is wanted.
///
/// # Shapes
/// - `x`, `dx`: `[rows, inputs]`
pub(crate) fn mlps_backward<T: Real>(x: &[T], mut mlps: Vec<Backward<'_, T>>, mut dx: Option<&mut [T]>) {
    let Some(inputs) = mlps.first().map(|m| m.mlp.inputs()) else { return };
    let count = x.len() / inputs;
    let chunk = chunk_rows(count);
    let stretch = chunk * STRETCH;
    let panels: Vec<[Vec<Panels<T>>; 2]> = mlps.par_iter().map(|m| m.panels(dx.is_some())).collect();
    let most = mlps.iter().map(|m| m.mlp.hidden()).max().unwrap_or(0);
    let room = |side, width| Slabs::new(side, stretch.min(count), width, chunk);
    let mut of_x = room(Side::Right, inputs);
    let rooms = |m: &Backward<'_, T>| -> Vec<Rooms<T>> {
        let layers = m.mlp.layers.iter().enumerate();
        let input = |l: usize, layer: &Layer<'_, T>| (l > 0).then(|| room(Side::Right, layer.inputs));
        layers.map(|(l, layer)| (room(Side::Left, layer.outputs), input(l, layer))).collect()
    };
    let mut slabs: Vec<Vec<Rooms<T>>> = mlps.iter().map(rooms).collect();
    let layers = mlps.iter().flat_map(|m| &m.mlp.layers);
    let mut biases: Vec<Vec<T>> = layers.map(|layer| vec![T::default(); layer.outputs]).collect();
    for start in (0..count).step_by(stretch) {
        let end = (start + stretch).min(count);
        of_x.set_rows(end - start);
        for (left, right) in slabs.iter_mut().flatten() {
            left.set_rows(end - start);
            right.iter_mut().for_each(|right| right.set_rows(end - start));
        }
        let mut dx = dx.as_deref_mut().map(|dx| dx[start * inputs..end * inputs].chunks_mut(chunk * inputs));
        let x = x[start * inputs..end * inputs].chunks(chunk * inputs);
        let mut tasks: Vec<_> = x
            .zip(of_x.slabs())
            .map(|(x, slab)| (x, slab, dx.as_mut().and_then(Iterator::next), Vec::with_capacity(mlps.len())))
            .collect();
        for (m, slabs) in mlps.iter().zip(&mut slabs) {
            let (outputs, hidden) = (m.mlp.outputs(), m.mlp.hidden());
            let d = m.d[start * outputs..end * outputs].chunks(chunk * outputs);
            let mut kept = m.hidden.map(|h| h[start * hidden..end * hidden].chunks((chunk * hidden).max(1)));
            for (task, d) in tasks.iter_mut().zip(d) {
                task.3.push((d, kept.as_mut().and_then(Iterator::next), Vec::with_capacity(slabs.len())));
            }
            for (left, right) in slabs {
                let mut right = right.as_mut().map(Slabs::slabs);
                for (task, left) in tasks.iter_mut().zip(left.slabs()) {
                    if let Some(part) = task.3.last_mut() {
                        part.2.push((left, right.as_mut().and_then(Iterator::next)));
                    }
                }
            }
        }
        let sums: Vec<Vec<Vec<Vec<T>>>> = tasks
            .into_par_iter()
            .map_init(
                || Buffer::dirty(chunk * most),
                |scratch, (x, slab, mut dx, parts)| {
                    slab.fill(x);
                    let parts = parts.into_iter().zip(&mlps).zip(&panels);
                    parts
                        .map(|(((d, kept, slabs), m), [forward, back])| {
                            let hidden = kept.unwrap_or_else(|| {
                                m.mlp.chunk(forward, x, scratch, None);
                                scratch
                            });
                            let part = Part { d, slabs, dx: dx.as_deref_mut() };
                            m.mlp.chunk_backward(back, x, hidden, part)
                        })
                        .collect()
                },
            )
            .collect();
        for of_chunk in sums {
            biases.iter_mut().zip(of_chunk.iter().flatten()).for_each(|(total, sum)| add_to(total, sum));
        }
        let mut products = Vec::new();
        for (m, slabs) in mlps.iter_mut().zip(&slabs) {
            let mut rest = &mut *m.gradient;
            for (layer, (left, right)) in m.mlp.layers.iter().zip(slabs) {
                let (of_layer, next) = rest.split_at_mut(layer.len());
                let (c, b) = (&mut of_layer[..layer.inputs * layer.outputs], right.as_ref().unwrap_or(&of_x));
                products.push(Product { a: left, b, c, stride: layer.inputs, from: 0 });
                rest = next;
            }
        }
        outer(products);
    }
    let mut biases = biases.iter();
    for m in mlps {
        let mut rest = m.gradient;
        for (layer, sum) in m.mlp.layers.iter().zip(&mut biases) {
            let (of_layer, next) = rest.split_at_mut(layer.len());
            add_to(&mut of_layer[layer.inputs * layer.outputs..], sum);
            rest = next;
        }
    }
}

impl<T: Real> Backward<'_, T> {
    /// What computes its hidden layers again, where they were not kept, and what takes gradients back: to the rows if
    /// that is wanted.
    fn panels(&self, to_rows: bool) -> [Vec<Panels<T>>; 2] {
        let layers = &self.mlp.layers;
        let again = if self.hidden.is_some() { &[] } else { &layers[..layers.len() - 1] };
        let back = layers.par_iter().enumerate().map(|(l, layer)| {
            if l > 0 || to_rows { layer.backward_panels(0, layer.inputs) } else { Panels::default() }
        });
        let (again, back) = rayon::join(|| forward_panels(again), || back.collect());
        [again, back]
    }
}
