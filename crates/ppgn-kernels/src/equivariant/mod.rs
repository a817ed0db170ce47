//! The linear equivariant layer on matrices, forward and backward: the fifteen operations of Maron et al. 2019 and two
//! biases.
//!
//! An operation takes the matrix X itself, its transpose, its diagonal, its row or column sums, its trace or its total,
//! maps the channels, and broadcasts the result to every entry, along rows or columns, or to the diagonal. Only two of
//! the fifteen process n^2 rows: the others map n rows per graph, or one. The same holds for their gradients: the
//! transpose of such a layer is such a layer, with the same sums before and the same broadcasts after.
//!
//! | from | to every entry | along rows | along columns | on the diagonal |
//! | --- | --- | --- | --- | --- |
//! | X, its transpose | 6, 8 | | | |
//! | row sums, column sums, diagonal | | 7, 10, 1 | 11, 12, 2 | 5, 9, 0 |
//! | total, trace | 14, 4 | | | 13, 3 |
//!
//! The numbers are indices into the lexicographic list of the partitions of four indices: two of the input, two of the
//! output.

mod sums;

use crate::activation::{Activation, apply, times};
use crate::gemm::{Panels, View};
use crate::linear::add_to;
use crate::matrix::add_outer;
use crate::mlp::mask;
use crate::product::{Square, within};
use crate::real::Real;
use crate::shared::numbers;
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;
use sums::{Epilogue, Sums, mapped, transposed};

/// Operations of the basis: Bell(4).
const OPERATIONS: usize = 15;

/// Biases: on the diagonal, and everywhere.
const BIASES: usize = 2;

/// X itself, and its transpose.
const ITSELF: usize = 6;
const TRANSPOSED: usize = 8;

/// From row sums, column sums and diagonal (down) to rows, columns and diagonal (across).
const OF_NODES: [[usize; 3]; 3] = [[7, 11, 5], [10, 12, 9], [1, 2, 0]];

/// From total and trace (down) to everywhere and diagonal (across).
const OF_GRAPHS: [[usize; 2]; 2] = [[14, 13], [4, 3]];

/// `Y = f(sum over the operations p of L_p(X) A_p + b_0 on the diagonal + b_1 everywhere)`, where sums are
/// normalised to means: row sums, column sums and the trace are divided by n, the total by n^2. f is the activation.
#[derive(Debug, Clone, Copy)]
pub struct Equivariant<'a, T> {
    /// A, `[15, inputs, outputs]`.
    weight: &'a [T],
    /// b, `[2, outputs]`.
    bias: &'a [T],
    inputs: usize,
    outputs: usize,
}

impl<'a, T: Real> Equivariant<'a, T> {
    /// Splits a layer off the front of a flat array (weight, then bias); also returns the rest of the array.
    ///
    /// # Panics
    /// If the array is too short.
    pub fn cut(flat: &'a [T], inputs: usize, outputs: usize) -> (Self, &'a [T]) {
        let (weight, rest) = flat.split_at(numbers(numbers(OPERATIONS, inputs), outputs));
        let (bias, rest) = rest.split_at(numbers(BIASES, outputs));
        (Equivariant { weight, bias, inputs, outputs }, rest)
    }

    /// Number of parameters in the flat array.
    pub(crate) fn len(&self) -> usize {
        self.weight.len() + self.bias.len()
    }

    /// The channel map of an operation, `[inputs, outputs]`.
    fn map(&self, operation: usize) -> View<'a, T> {
        let size = self.inputs * self.outputs;
        View::part(&self.weight[operation * size..][..size], self.inputs, self.outputs, 0, self.outputs)
    }

    /// Several channel maps as one block matrix, `[N * inputs, N * outputs]`.
    fn maps<const N: usize>(&self, operations: &[[usize; N]; N]) -> Vec<T> {
        let mut matrix = Vec::with_capacity(N * N * self.inputs * self.outputs);
        for down in operations {
            for input in 0..self.inputs {
                for &operation in down {
                    let at = (operation * self.inputs + input) * self.outputs;
                    matrix.extend_from_slice(&self.weight[at..at + self.outputs]);
                }
            }
        }
        matrix
    }

    /// The layer on all graphs, with the derivatives of its activation if they are wanted; a ReLU has none.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result, `slopes`: `[rows, outputs]`
    ///
    /// # Complexity
    /// O(sum of (n^2 + n) * inputs * outputs).
    pub(crate) fn forward(
        &self,
        workspace: &Workspace,
        graphs: &[Square],
        x: &[T],
        activation: Activation,
        mut slopes: Option<&mut [T]>,
    ) -> Buffer<T> {
        let (a, b) = (self.inputs, self.outputs);
        within(graphs, 2, a, x.len());
        let (of_nodes, of_graphs) = (self.maps(&OF_NODES), self.maps(&OF_GRAPHS));
        let sums = Sums::of(workspace, graphs, x, a).means(graphs, a);
        let mut spread = Sums {
            nodes: mapped(workspace, &sums.nodes, View::part(&of_nodes, 3 * a, 3 * b, 0, 3 * b)),
            graphs: mapped(workspace, &sums.graphs, View::part(&of_graphs, 2 * a, 2 * b, 0, 2 * b)),
        };
        let (diagonal, everywhere) = self.bias.split_at(b);
        for graph in spread.graphs.chunks_exact_mut(2 * b) {
            add_to(&mut graph[..b], everywhere);
            add_to(&mut graph[b..], diagonal);
        }
        let maps = [ITSELF, TRANSPOSED].map(|operation| Panels::new(workspace, self.map(operation)));
        let mut y = Buffer::dirty(workspace, x.len() / a * b);
        let epilogue = if activation.is_relu() { Epilogue::Relu } else { Epilogue::Set };
        spread.put(graphs, b, [x, &transposed(workspace, graphs, x, a)], &maps, &mut y, epilogue);
        if !activation.is_relu() {
            const CHUNK: usize = 1 << 12;
            let mut slopes = slopes.as_mut().map(|slopes| slopes.chunks_mut(CHUNK));
            let chunks = y.chunks_mut(CHUNK).map(|y| (y, slopes.as_mut().and_then(Iterator::next)));
            let chunks: Vec<_> = chunks.collect();
            chunks.into_par_iter().for_each(|(y, slopes)| apply(activation, y, slopes));
        }
        y
    }

    /// Adds the gradients of weights and biases to `gradient`, a flat array, and that of X to `dx` if given. `d` is the
    /// gradient of the output, times the derivative of the activation.
    ///
    /// # Shapes
    /// - `x`, `dx`: `[rows, inputs]`
    /// - `d`: `[rows, outputs]`
    ///
    /// # Complexity
    /// Twice that of [`forward`](Self::forward).
    pub(crate) fn backward(
        &self,
        workspace: &Workspace,
        graphs: &[Square],
        x: &[T],
        d: &[T],
        dx: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let (a, b) = (self.inputs, self.outputs);
        within(graphs, 2, a, x.len());
        within(graphs, 2, b, d.len());
        let sums = Sums::of(workspace, graphs, x, a).means(graphs, a);
        // The gradient of a broadcast along rows is the row sum; likewise for columns, the diagonal and all entries.
        let of_d = Sums::of(workspace, graphs, d, b);
        let turned = transposed(workspace, graphs, d, b);
        let (weight, bias) = gradient.split_at_mut(OPERATIONS * a * b);
        let (diagonal, everywhere) = bias.split_at_mut(b);
        for graph in of_d.graphs.chunks_exact(2 * b) {
            add_to(everywhere, &graph[..b]);
            add_to(diagonal, &graph[b..]);
        }
        self.add_maps(workspace, &OF_NODES, &sums.nodes, &of_d.nodes, weight);
        self.add_maps(workspace, &OF_GRAPHS, &sums.graphs, &of_d.graphs, weight);
        for (operation, d) in [(ITSELF, d), (TRANSPOSED, &*turned)] {
            let to = &mut weight[operation * a * b..][..a * b];
            add_outer(workspace, (x, a), (d, b), to);
        }
        let Some(dx) = dx else { return };
        let (of_nodes, of_graphs) = (self.maps(&OF_NODES), self.maps(&OF_GRAPHS));
        let spread = Sums {
            nodes: mapped(workspace, &of_d.nodes, View::part(&of_nodes, 3 * a, 3 * b, 0, 3 * b).transposed()),
            graphs: mapped(
                workspace,
                &of_d.graphs,
                View::part(&of_graphs, 2 * a, 2 * b, 0, 2 * b).transposed(),
            ),
        };
        let maps =
            [ITSELF, TRANSPOSED].map(|operation| Panels::new(workspace, self.map(operation).transposed()));
        spread.means(graphs, a).put(graphs, a, [d, &turned], &maps, dx, Epilogue::Add);
    }

    /// Adds the gradient of a block matrix of maps, `S^T D`, to the gradients of its operations.
    fn add_maps<const N: usize>(
        &self,
        workspace: &Workspace,
        operations: &[[usize; N]; N],
        sums: &[T],
        d: &[T],
        weight: &mut [T],
    ) {
        let (a, b) = (self.inputs, self.outputs);
        let mut matrix = vec![T::default(); N * a * N * b];
        add_outer(workspace, (sums, N * a), (d, N * b), &mut matrix);
        for (down, lines) in operations.iter().zip(matrix.chunks_exact(a * N * b)) {
            for (input, line) in lines.chunks_exact(N * b).enumerate() {
                for (&operation, part) in down.iter().zip(line.chunks_exact(b)) {
                    add_to(&mut weight[(operation * a + input) * b..][..b], part);
                }
            }
        }
    }
}

/// Equivariant layers in sequence, each followed by the activation.
#[derive(Debug, Clone)]
pub struct Linears<'a, T> {
    /// The layers in order, at least one. Their parameters are consecutive in one flat array.
    pub layers: Vec<Equivariant<'a, T>>,
    /// The activation.
    pub activation: Activation,
}

impl<T: Real> Linears<'_, T> {
    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    /// Number of parameters in the flat array.
    pub(crate) fn len(&self) -> usize {
        self.layers.iter().map(Equivariant::len).sum()
    }

    /// The outputs of all layers, or only the last if there is no backward pass; and the derivatives of the activation at
    /// all of them, if there is one and it is not a ReLU.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - results: `[rows, outputs]` of each layer
    ///
    /// # Complexity
    /// O(rows * parameters).
    pub(crate) fn forward(
        &self,
        workspace: &Workspace,
        graphs: &[Square],
        x: &[T],
        keep: bool,
    ) -> (Vec<Buffer<T>>, Vec<Buffer<T>>) {
        let (mut results, mut slopes): (Vec<Buffer<T>>, Vec<Buffer<T>>) = (Vec::new(), Vec::new());
        for layer in &self.layers {
            let count = x.len() / self.layers[0].inputs;
            let wanted = keep && !self.activation.is_relu();
            let mut slope = wanted.then(|| Buffer::dirty(workspace, count * layer.outputs));
            let input = results.last().map_or(x, |y| y);
            let y = layer.forward(workspace, graphs, input, self.activation, slope.as_deref_mut());
            if !keep {
                results.clear();
            }
            results.push(y);
            slopes.extend(slope);
        }
        (results, slopes)
    }

    /// Adds the gradients of all parameters to `gradient`, their flat array, and X's to `dx` if given. `d` is the
    /// gradient of the last output; `results` holds the outputs of all layers, and `slopes` the derivatives of the
    /// activation.
    ///
    /// # Shapes
    /// - `x`, `dx`: `[rows, inputs]`
    /// - `d`: `[rows, outputs]`
    #[allow(clippy::too_many_arguments, reason = "a backward pass needs all of them")]
    pub(crate) fn backward(
        &self,
        workspace: &Workspace,
        graphs: &[Square],
        x: &[T],
        (mut results, mut slopes): (Vec<Buffer<T>>, Vec<Buffer<T>>),
        d: Buffer<T>,
        gradient: &mut [T],
        mut dx: Option<&mut [T]>,
    ) {
        let mut d = d;
        let mut rest = gradient;
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let Some(y) = results.pop() else { return };
            match slopes.pop() {
                None => mask(&mut d, &y),
                Some(slopes) => times(&mut d, &slopes),
            }
            let input = results.last().map_or(x, |input| input);
            let start = rest.len() - layer.len();
            let (before, own) = rest.split_at_mut(start);
            rest = before;
            if l == 0 {
                layer.backward(workspace, graphs, input, &d, dx.take(), own);
            } else {
                let mut below = Buffer::zeros(workspace, input.len());
                layer.backward(workspace, graphs, input, &d, Some(&mut below), own);
                d = below;
            }
        }
    }
}
