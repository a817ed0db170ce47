//! Single parts of a network in f32, for measurements of one kernel by itself.

use ppgn_graph::random::Stream;
use ppgn_kernels::{Activation, Block, Branch, Keep, Layer, Mlp, Pairs, Product, Square, Workspace};

/// A block on k-tuples by itself: k MLPs of two layers, their product, and m4, all of one width.
#[derive(Debug, Clone)]
pub struct SingleBlock {
    order: usize,
    width: usize,
    weights: Vec<f32>,
}

impl SingleBlock {
    /// A block of order k with weights drawn from a fixed seed.
    pub fn new(order: usize, width: usize) -> Self {
        let mut random = Stream::new(0, "weights", &[]);
        let bound = (1.0 / width as f64).sqrt();
        let length = 2 * order * (width + 1) * width + (2 * width + 1) * width;
        let weights = (0..length).map(|_| random.uniform(-bound, bound) as f32).collect();
        SingleBlock { order, width, weights }
    }

    /// The output on one graph with n nodes.
    ///
    /// # Shapes
    /// - `x`, result: `[n^k, width]`
    ///
    /// # Complexity
    /// O(n^(k+1) * width + n^k * width^2).
    pub fn forward(&self, workspace: &Workspace, n: usize, x: &[f32]) -> Vec<f32> {
        let mut rest = &self.weights[..];
        let mut layer = |inputs: usize| {
            let (layer, next) = Layer::cut(rest, inputs, self.width);
            rest = next;
            layer
        };
        let factors = (0..self.order)
            .map(|_| Mlp { layers: vec![layer(self.width), layer(self.width)], activation: Activation::Relu })
            .collect();
        let join = Some(layer(2 * self.width));
        let product = if self.order == 2 { Product::Matrix } else { Product::Generalised };
        let branches = vec![Branch::Skip, Branch::Product { product, factors, norm: None }];
        let block =
            Block { inputs: self.width, identity: false, branches, join, residual: false, messages: None };
        let graph = [Square { start: 0, nodes: n, factor: 1.0 / n as f64 }];
        block.forward(workspace, Pairs::Dense(&graph), x, Keep::Nothing).0.to_vec()
    }
}

/// `Y = X M`, a plain matrix product.
///
/// # Shapes
/// - `x`: `[rows, depth]`, `m`: `[depth, columns]`, `y`: `[rows, columns]`
///
/// # Panics
/// If the lengths do not fit each other.
pub fn multiply(workspace: &Workspace, x: &[f32], m: (&[f32], usize, usize), y: &mut [f32]) {
    ppgn_kernels::multiply(workspace, x, m, y, false);
}
