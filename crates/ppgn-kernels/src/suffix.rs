//! From pooled features to scores, forward and backward: the two suffixes of the paper's Section 7.
//!
//! Suffix ii adds up one linear map per pooled block, `scores = sum over l of P_l A_l^T + b_l`. Suffix i is an MLP on
//! the last block's features, with the activation between its layers and none after the last. There is one row per graph, so
//! these products are small.
//!
//! For dropout, the outputs of a chain's hidden layers are multiplied by masks that are given, one number per output: 0,
//! or what makes up for the zeros. Masks on the pooled features are the caller's business.

use crate::activation::{Activation, apply, times};
use crate::gemm::{End, Start, rows};
use crate::linear::{Input, Joined, Layer, add_to, linear_backward};
use crate::mlp::mask;
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};

/// The layers between pooled features and scores.
#[derive(Debug, Clone)]
pub enum Suffix<'a, T> {
    /// In sequence, with the activation between layers.
    Chain(Vec<Layer<'a, T>>, Activation),
    /// One per pooled block; their results are added.
    Sum(Vec<Layer<'a, T>>),
}

/// The scores, and what the backward pass needs.
#[derive(Debug)]
pub struct Scored<T: Real> {
    /// `[graphs, outputs]`.
    pub scores: Buffer<T>,
    /// The outputs of a chain's hidden layers.
    hidden: Vec<Buffer<T>>,
    /// The derivatives of the activation there; none for a ReLU.
    slopes: Vec<Buffer<T>>,
    /// What they were multiplied by: one mask per hidden layer, or none.
    masks: Vec<Vec<T>>,
}

impl<T: Real> Suffix<'_, T> {
    /// Computes the scores.
    ///
    /// # Shapes
    /// - `pooled`: `[graphs, features]`, one for a chain, one per layer for a sum
    /// - scores: `[graphs, outputs]`
    ///
    /// # Complexity
    /// O(graphs * parameters).
    ///
    /// # Panics
    /// If there is no layer, or the shapes are inconsistent.
    pub fn forward(&self, workspace: &Workspace, graphs: usize, pooled: &[Buffer<T>]) -> Scored<T> {
        self.forward_masked(workspace, graphs, pooled, Vec::new())
    }

    /// The same, with the outputs of a chain's hidden layers multiplied by masks.
    ///
    /// # Shapes
    /// - `masks`: none, or for every hidden layer `[graphs, outputs of the layer]`
    pub fn forward_masked(
        &self,
        workspace: &Workspace,
        graphs: usize,
        pooled: &[Buffer<T>],
        masks: Vec<Vec<T>>,
    ) -> Scored<T> {
        T::suffix_forward(self, workspace, graphs, pooled, masks)
    }

    pub(crate) fn forward_generic(
        &self,
        workspace: &Workspace,
        graphs: usize,
        pooled: &[Buffer<T>],
        masks: Vec<Vec<T>>,
    ) -> Scored<T> {
        match self {
            Suffix::Chain(layers, activation) => {
                let (mut hidden, mut slopes): (Vec<Buffer<T>>, Vec<Buffer<T>>) = (Vec::new(), Vec::new());
                for (l, layer) in layers.iter().enumerate() {
                    let mut y = Buffer::dirty(workspace, graphs * layer.outputs);
                    let x = hidden.last().unwrap_or(&pooled[0]);
                    let is_hidden = l + 1 < layers.len();
                    let end = if is_hidden && activation.is_relu() { End::Relu } else { End::Keep };
                    let panels = layer.forward_panels(workspace, 0, layer.inputs);
                    rows(x, &panels, &mut y, Start::Bias(layer.bias), end);
                    if is_hidden && !activation.is_relu() {
                        let mut slope = Buffer::dirty(workspace, y.len());
                        apply(*activation, &mut y, Some(&mut slope));
                        slopes.push(slope);
                    }
                    if let Some(mask) = masks.get(l) {
                        multiply_each(&mut y, mask);
                    }
                    hidden.push(y);
                }
                let scores = hidden.pop().expect("a suffix has a layer");
                Scored { scores, hidden, slopes, masks }
            }
            Suffix::Sum(layers) => {
                assert_eq!(layers.len(), pooled.len());
                let outputs = layers[0].outputs;
                let mut scores = Buffer::zeros(workspace, graphs * outputs);
                for (layer, x) in layers.iter().zip(pooled) {
                    let panels = layer.forward_panels(workspace, 0, layer.inputs);
                    rows(x, &panels, &mut scores, Start::Current, End::Keep);
                    scores.chunks_exact_mut(outputs).for_each(|row| add_to(row, layer.bias));
                }
                Scored { scores, hidden: Vec::new(), slopes: Vec::new(), masks }
            }
        }
    }

    /// Adds the gradients of all layers to `gradient`, the suffix's flat array, and returns those of the pooled
    /// features.
    ///
    /// # Shapes
    /// - `d`: `[graphs, outputs]`, the gradient of the scores
    /// - results: the shapes of `pooled`
    pub fn backward(
        &self,
        workspace: &Workspace,
        pooled: &[Buffer<T>],
        scored: Scored<T>,
        d: &[T],
        gradient: &mut [T],
    ) -> Vec<Buffer<T>> {
        T::suffix_backward(self, workspace, pooled, scored, d, gradient)
    }

    pub(crate) fn backward_generic(
        &self,
        workspace: &Workspace,
        pooled: &[Buffer<T>],
        scored: Scored<T>,
        d: &[T],
        gradient: &mut [T],
    ) -> Vec<Buffer<T>> {
        match self {
            Suffix::Chain(layers, _) => {
                let Scored { mut hidden, mut slopes, masks, .. } = scored;
                let mut d = Buffer::copy(workspace, d);
                let mut rest = gradient;
                for layer in layers.iter().rev() {
                    let (before, own) = rest.split_at_mut(rest.len() - layer.len());
                    rest = before;
                    let x = hidden.pop();
                    let below = back(workspace, layer, x.as_ref().unwrap_or(&pooled[0]), &d, own);
                    d = below;
                    if let Some(x) = x {
                        match slopes.pop() {
                            None => mask(&mut d, &x),
                            Some(slopes) => times(&mut d, &slopes),
                        }
                        if let Some(mask) = masks.get(hidden.len()) {
                            multiply_each(&mut d, mask);
                        }
                    }
                }
                vec![d]
            }
            Suffix::Sum(layers) => {
                let mut rest = gradient;
                let each = layers.iter().zip(pooled).map(|(layer, x)| {
                    let (own, next) = std::mem::take(&mut rest).split_at_mut(layer.len());
                    rest = next;
                    back(workspace, layer, x, d, own)
                });
                each.collect()
            }
        }
    }
}

/// Adds to every number the one in its place.
///
/// # Panics
/// If the lengths differ.
pub fn add_each<T: Real>(numbers: &mut [T], by: &[T]) {
    assert_eq!(numbers.len(), by.len());
    add_to(numbers, by);
}

/// Multiplies every number by the one in its place.
///
/// # Panics
/// If the lengths differ.
pub fn multiply_each<T: Real>(numbers: &mut [T], by: &[T]) {
    assert_eq!(numbers.len(), by.len());
    numbers.iter_mut().zip(by).for_each(|(x, &by)| *x *= by);
}

/// The backward pass of one layer: adds its gradients to `gradient` and returns that of X.
fn back<T: Real>(
    workspace: &Workspace,
    layer: &Layer<'_, T>,
    x: &[T],
    d: &[T],
    gradient: &mut [T],
) -> Buffer<T> {
    let mut dx = Buffer::dirty(workspace, x.len());
    let (weights, bias) = gradient.split_at_mut(layer.inputs * layer.outputs);
    let panels = layer.backward_panels(workspace, 0, layer.inputs);
    let input = Input::Apart(x, Some(&mut dx[..]));
    let joined = Joined { input, width: layer.inputs, from: 0, back: &panels };
    linear_backward(workspace, d, layer.outputs, vec![joined], (weights, layer.inputs), Some(bias));
    dx
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `slope * scores`, for finite differences.
    fn value(suffix: &dyn Fn(&[f64]) -> Vec<f64>, flat: &[f64], slope: &[f64]) -> f64 {
        suffix(flat).iter().zip(slope).map(|(s, d)| s * d).sum()
    }

    #[test]
    fn gradients_match_finite_differences() {
        let workspace = Workspace::default();
        let mut state = 7u64;
        let mut number = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        let graphs = 3;
        use Activation::{Gelu, Relu, Sin};
        let cases = [
            (true, false, Relu),
            (true, true, Relu),
            (true, true, Sin),
            (true, true, Gelu),
            (false, false, Relu),
        ];
        for (chain, dropped, activation) in cases {
            let sizes: &[(usize, usize)] = if chain { &[(4, 5), (5, 3), (3, 2)] } else { &[(4, 2), (6, 2)] };
            let length: usize = sizes.iter().map(|(i, o)| (i + 1) * o).sum();
            let flat: Vec<f64> = (0..length).map(|_| number()).collect();
            let widths: Vec<usize> = if chain { vec![4] } else { vec![4, 6] };
            let pooled: Vec<Vec<f64>> =
                widths.iter().map(|w| (0..graphs * w).map(|_| number()).collect()).collect();
            let slope: Vec<f64> = (0..graphs * 2).map(|_| number()).collect();
            // Of the two hidden layers: some outputs are dropped, the others made larger.
            let masks: Vec<Vec<f64>> = [5, 3]
                .iter()
                .filter(|_| dropped)
                .map(|w| (0..graphs * w).map(|i| if i % 3 == 1 { 0.0 } else { 1.5 }).collect())
                .collect();
            let build = |flat: &[f64]| -> Vec<(Vec<f64>, Vec<f64>, usize, usize)> {
                let mut at = 0;
                sizes
                    .iter()
                    .map(|&(i, o)| {
                        let weight = flat[at..at + i * o].to_vec();
                        let bias = flat[at + i * o..at + (i + 1) * o].to_vec();
                        at += (i + 1) * o;
                        (weight, bias, i, o)
                    })
                    .collect()
            };
            let run = |flat: &[f64], pooled: &[Vec<f64>], d: Option<&[f64]>| {
                let parts = build(flat);
                let layers: Vec<Layer<'_, f64>> = parts
                    .iter()
                    .map(|(weight, bias, inputs, outputs)| Layer {
                        weight,
                        bias,
                        inputs: *inputs,
                        outputs: *outputs,
                    })
                    .collect();
                let suffix = if chain { Suffix::Chain(layers, activation) } else { Suffix::Sum(layers) };
                let pooled: Vec<_> = pooled.iter().map(|p| Buffer::copy(&workspace, p)).collect();
                let scored = suffix.forward_masked(&workspace, graphs, &pooled, masks.clone());
                let scores = scored.scores.to_vec();
                let mut gradient = vec![0.0; length];
                let features = d.map(|d| suffix.backward(&workspace, &pooled, scored, d, &mut gradient));
                let features: Vec<f64> = features.iter().flatten().flat_map(|f| f.to_vec()).collect();
                (scores, gradient, features)
            };
            let (_, gradient, features) = run(&flat, &pooled, Some(&slope));
            let of_flat = |flat: &[f64]| run(flat, &pooled, None).0;
            for at in 0..length {
                let moved = |by: f64| {
                    let mut flat = flat.clone();
                    flat[at] += by;
                    value(&of_flat, &flat, &slope)
                };
                let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[at] - expected).abs() < 1e-8, "{chain} {at}: {} {expected}", gradient[at]);
            }
            let numbers: Vec<f64> = pooled.concat();
            let of_pooled = |numbers: &[f64]| {
                let mut rest = numbers;
                let cut = widths.iter().map(|w| {
                    let (own, next) = rest.split_at(graphs * w);
                    rest = next;
                    own.to_vec()
                });
                run(&flat, &cut.collect::<Vec<_>>(), None).0
            };
            for at in 0..numbers.len() {
                let moved = |by: f64| {
                    let mut numbers = numbers.clone();
                    numbers[at] += by;
                    value(&of_pooled, &numbers, &slope)
                };
                let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((features[at] - expected).abs() < 1e-8, "{chain} {at}: {} {expected}", features[at]);
            }
        }
    }
}
