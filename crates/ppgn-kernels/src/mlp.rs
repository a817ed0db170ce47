//! MLPs on rows: a chunk of rows goes through all layers of all MLPs on those rows while it is in the cache.
//!
//! The backward pass overwrites the hidden layers with their gradients, layer by layer. If they were not kept, they are
//! recomputed first; the results are identical, at the price of time instead of memory. Behind the hidden layers come the
//! derivatives of the activation at every layer, where it is not a ReLU, which needs none.

use crate::activation::{Activation, apply, slope, times};
use crate::gemm::{Columns, End, Panels, Product, Start, outer, rows};
use crate::linear::{Layer, chunk_rows, together};
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// Linear layers, each followed by the activation.
#[derive(Debug, Clone)]
pub struct Mlp<'a, T> {
    /// The layers in order.
    pub layers: Vec<Layer<'a, T>>,
    /// The activation.
    pub activation: Activation,
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

    /// Number of parameters in the flat array.
    pub(crate) fn len(&self) -> usize {
        self.layers.iter().map(Layer::len).sum()
    }

    /// Total width of the hidden layers.
    pub(crate) fn hidden(&self) -> usize {
        self.layers[..self.layers.len() - 1].iter().map(|layer| layer.outputs).sum()
    }

    /// The offset of layer l in the flat array.
    fn offset(&self, l: usize) -> usize {
        self.layers[..l].iter().map(Layer::len).sum()
    }

    /// Numbers per row that are kept for the backward pass besides the output: the hidden layers, and the derivatives.
    pub(crate) fn kept(&self) -> usize {
        let slopes = if self.activation.is_relu() { 0 } else { self.hidden() + self.outputs() };
        self.hidden() + slopes
    }

    /// Passes a chunk of rows through all layers; the last one only if its output or its derivative is needed.
    fn chunk(&self, panels: &[Panels<T>], x: &[T], mut hidden: Vec<&mut [T]>, y: Option<&mut [T]>) {
        let last = self.layers.len() - 1;
        let mut slopes = hidden.split_off(last).into_iter();
        let mut input = x;
        for ((layer, panels), to) in self.layers[..last].iter().zip(panels).zip(hidden) {
            self.layer(layer, input, panels, to, slopes.next());
            input = to;
        }
        let layer = &self.layers[last];
        match (y, slopes.next()) {
            (Some(y), slopes) => self.layer(layer, input, &panels[last], y, slopes),
            (None, Some(slopes)) => {
                rows(input, &panels[last], slopes, Start::Bias(layer.bias), End::Keep);
                slope(self.activation, slopes);
            }
            (None, None) => {}
        }
    }

    /// One layer and its activation, with its derivatives if there is room for them.
    fn layer(
        &self,
        layer: &Layer<'_, T>,
        x: &[T],
        panels: &Panels<T>,
        to: &mut [T],
        slopes: Option<&mut [T]>,
    ) {
        if self.activation.is_relu() {
            return rows(x, panels, to, Start::Bias(layer.bias), End::Relu);
        }
        rows(x, panels, to, Start::Bias(layer.bias), End::Keep);
        apply(self.activation, to, slopes);
    }

    /// Buffers for its hidden layers, `[count, outputs]` each; then for the derivatives at every layer, unless it has
    /// ReLUs.
    pub(crate) fn buffers(&self, workspace: &Workspace, count: usize) -> Vec<Buffer<T>> {
        let hidden = &self.layers[..self.layers.len() - 1];
        let slopes = if self.activation.is_relu() { &[] } else { &self.layers[..] };
        let all = hidden.iter().chain(slopes);
        all.map(|layer| Buffer::dirty(workspace, count * layer.outputs)).collect()
    }
}

/// The forward pass of one MLP.
pub(crate) struct Forward<'a, T> {
    pub(crate) mlp: &'a Mlp<'a, T>,
    /// Where its hidden layers are kept, `[rows, outputs]` each, and the derivatives: [`Mlp::buffers`]; empty if they are
    /// not.
    pub(crate) hidden: Vec<&'a mut [T]>,
    /// Its output, `[rows, outputs]`, if needed.
    pub(crate) y: Option<&'a mut [T]>,
}

/// Several MLPs on the same rows: a chunk of rows goes through all of them while it is in the cache.
///
/// # Shapes
/// - `x`: `[rows, inputs]`
pub(crate) fn mlps<T: Real>(workspace: &Workspace, x: &[T], mlps: Vec<Forward<'_, T>>) {
    let Some(inputs) = mlps.first().map(|m| m.mlp.inputs()) else { return };
    let count = x.len() / inputs;
    let chunk = chunk_rows(count);
    let least = together(mlps.iter().map(|m| m.mlp.len()).sum());
    let panels: Vec<Vec<Panels<T>>> =
        mlps.par_iter().with_min_len(least).map(|m| m.panels(workspace)).collect();
    let most = mlps.iter().filter(|m| m.hidden.is_empty()).map(|m| m.mlp.hidden()).max().unwrap_or(0);
    let mut tasks: Vec<_> = x.chunks(chunk * inputs).map(|x| (x, Vec::with_capacity(mlps.len()))).collect();
    for (Forward { mlp, hidden, y }, panels) in mlps.into_iter().zip(&panels) {
        let mut y = y.map(|y| y.chunks_mut(chunk * mlp.outputs()));
        // The derivatives are those of all layers again.
        let layers = mlp.layers[..mlp.layers.len() - 1].iter().chain(&mlp.layers);
        let hidden = hidden.into_iter().zip(layers);
        let mut hidden: Vec<_> = hidden.map(|(h, layer)| h.chunks_mut(chunk * layer.outputs)).collect();
        for (_, parts) in &mut tasks {
            let kept: Vec<&mut [T]> = hidden.iter_mut().filter_map(Iterator::next).collect();
            parts.push((mlp, panels, kept, y.as_mut().and_then(Iterator::next)));
        }
    }
    tasks.into_par_iter().with_max_len(1).for_each_init(
        || Buffer::dirty(workspace, chunk * most),
        |scratch, (x, parts)| {
            if workspace.is_stopped() {
                return;
            }
            for (mlp, panels, kept, y) in parts {
                let hidden = if kept.is_empty() { cut(scratch, mlp, x.len() / inputs) } else { kept };
                mlp.chunk(panels, x, hidden, y);
            }
        },
    );
}

/// Splits the scratch memory into one slice per hidden layer.
fn cut<'a, T: Real>(scratch: &'a mut [T], mlp: &Mlp<'_, T>, count: usize) -> Vec<&'a mut [T]> {
    let mut rest = scratch;
    let mut parts = Vec::new();
    for layer in &mlp.layers[..mlp.layers.len() - 1] {
        let (part, next) = rest.split_at_mut(count * layer.outputs);
        parts.push(part);
        rest = next;
    }
    parts
}

impl<T: Real> Forward<'_, T> {
    fn panels(&self, workspace: &Workspace) -> Vec<Panels<T>> {
        let layers = &self.mlp.layers;
        let skips = self.y.is_none() && self.mlp.activation.is_relu();
        let needed = &layers[..layers.len() - usize::from(skips)];
        let needed = needed.par_iter().with_min_len(together(self.mlp.len()));
        needed.map(|layer| layer.forward_panels(workspace, 0, layer.inputs)).collect()
    }
}

/// The backward pass of one MLP.
pub(crate) struct Backward<'a, T> {
    pub(crate) mlp: &'a Mlp<'a, T>,
    /// The gradient of its last layer, `[rows, outputs]`: of its output, times the activation's derivative.
    pub(crate) d: &'a [T],
    /// Its hidden layers, overwritten with their gradients.
    pub(crate) hidden: Vec<&'a mut [T]>,
    /// The derivatives at its hidden layers; empty if it has ReLUs.
    pub(crate) slopes: Vec<&'a [T]>,
    /// The gradients of its layers, a flat array that is added to.
    pub(crate) gradient: &'a mut [T],
}

/// The backward pass of MLPs of equal depth on the same rows: adds the gradients of all layers to `gradient` of each
/// MLP, and that of the rows to `dx` if given.
///
/// # Shapes
/// - `x`, `dx`: `[rows, inputs]`
pub(crate) fn mlps_backward<T: Real>(
    workspace: &Workspace,
    x: &[T],
    mut mlps: Vec<Backward<'_, T>>,
    mut dx: Option<&mut [T]>,
) {
    let Some(depth) = mlps.first().map(|m| m.mlp.layers.len()) else { return };
    assert!(mlps.iter().all(|m| m.mlp.layers.len() == depth && m.hidden.len() + 1 == depth));
    for l in (0..depth).rev() {
        outer(workspace, mlps.iter_mut().map(|m| m.product(x, l)).collect());
        if l > 0 {
            hidden_backward(workspace, &mut mlps, l);
        } else if let Some(dx) = dx.as_deref_mut() {
            rows_backward(workspace, &mlps, dx);
        }
    }
}

impl<T: Real> Backward<'_, T> {
    /// The gradient of layer l's output.
    fn d(&self, l: usize) -> &[T] {
        self.hidden.get(l).map_or(self.d, |hidden| hidden)
    }

    /// The gradient of layer l's weights and bias.
    fn product<'s>(&'s mut self, x: &'s [T], l: usize) -> Product<'s, T> {
        let layer = &self.mlp.layers[l];
        let offset = self.mlp.offset(l);
        let a = self.hidden.get(l).map_or(self.d, |hidden| hidden);
        let b = if l == 0 { x } else { &*self.hidden[l - 1] };
        let own = &mut self.gradient[offset..offset + layer.len()];
        let (c, bias) = own.split_at_mut(layer.inputs * layer.outputs);
        let bs = vec![Columns { b, width: layer.inputs, from: 0 }];
        Product { a, bs, c, stride: layer.inputs, sums: Some(bias) }
    }

    fn back(&self, workspace: &Workspace, l: usize) -> Panels<T> {
        let layer = &self.mlp.layers[l];
        layer.backward_panels(workspace, 0, layer.inputs)
    }
}

/// The matrices that map gradients back through layer l of every MLP.
fn panels<T: Real>(workspace: &Workspace, mlps: &[Backward<'_, T>], l: usize) -> Vec<Panels<T>> {
    let least = together(mlps.iter().map(|m| m.mlp.layers[l].len()).sum());
    mlps.par_iter().with_min_len(least).map(|m| m.back(workspace, l)).collect()
}

/// From layer l's output to its input, a hidden layer, which the gradient overwrites.
fn hidden_backward<T: Real>(workspace: &Workspace, mlps: &mut [Backward<'_, T>], l: usize) {
    let panels = panels(workspace, mlps, l);
    let mut tasks = Vec::new();
    for (m, panels) in mlps.iter_mut().zip(&panels) {
        let layer = &m.mlp.layers[l];
        let slopes = m.slopes.get(l - 1).copied();
        let (before, after) = m.hidden.split_at_mut(l);
        let d: &[T] = after.first().map_or(m.d, |hidden| hidden);
        let chunk = chunk_rows(d.len() / layer.outputs);
        let to = before[l - 1].chunks_mut(chunk * layer.inputs);
        let mut slopes = slopes.map(|slopes| slopes.chunks(chunk * layer.inputs));
        for (d, to) in d.chunks(chunk * layer.outputs).zip(to) {
            tasks.push((d, panels, to, slopes.as_mut().and_then(Iterator::next)));
        }
    }
    tasks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(
        |(d, panels, to, slopes)| match slopes {
            None => rows(d, panels, to, Start::Zero, End::Mask),
            Some(slopes) => {
                rows(d, panels, to, Start::Zero, End::Keep);
                times(to, slopes);
            }
        },
    );
}

/// From the first layers' outputs to the rows.
fn rows_backward<T: Real>(workspace: &Workspace, mlps: &[Backward<'_, T>], dx: &mut [T]) {
    let panels = panels(workspace, mlps, 0);
    let inputs = mlps[0].mlp.inputs();
    let chunk = chunk_rows(dx.len() / inputs);
    dx.par_chunks_mut(chunk * inputs).with_max_len(1).enumerate().for_each(|(n, dx)| {
        if workspace.is_stopped() {
            return;
        }
        let (start, count) = (n * chunk, dx.len() / inputs);
        for (m, panels) in mlps.iter().zip(&panels) {
            let width = m.mlp.layers[0].outputs;
            rows(&m.d(0)[start * width..(start + count) * width], panels, dx, Start::Current, End::Keep);
        }
    });
}

/// Sets a gradient to 0 where the output of a ReLU is not above 0.
pub(crate) fn mask<T: Real>(d: &mut [T], y: &[T]) {
    let zero = T::default();
    d.par_chunks_mut(1 << 14).zip(y.par_chunks(1 << 14)).for_each(|(d, y)| {
        d.iter_mut().zip(y).for_each(|(d, &y)| *d = if y > zero { *d } else { zero });
    });
}
