//! A block over its array of parameters: every layer of the description takes the next numbers.

use crate::model::{Branch, Description, Layer};
use ppgn_kernels as kernels;
use ppgn_kernels::{Activation, Block, Equivariant, Linears, Mlp, Real};

/// The rest of an array of parameters.
struct Rest<'a, T>(&'a [T]);

impl<'a, T: Real> Rest<'a, T> {
    fn layer(&mut self, layer: &Layer) -> kernels::Layer<'a, T> {
        let (layer, rest) = kernels::Layer::cut(self.0, layer.inputs, layer.outputs);
        self.0 = rest;
        layer
    }

    fn mlp(&mut self, layers: &[Layer], activation: Activation) -> Mlp<'a, T> {
        Mlp { layers: layers.iter().map(|layer| self.layer(layer)).collect(), activation }
    }

    fn equivariant(&mut self, layers: &[Layer], activation: Activation) -> Linears<'a, T> {
        let layers = layers.iter().map(|layer| {
            let (layer, rest) = Equivariant::cut(self.0, layer.inputs, layer.outputs);
            self.0 = rest;
            layer
        });
        Linears { layers: layers.collect(), activation }
    }
}

/// The block for a description.
///
/// # Panics
/// If the array does not match the description.
pub(super) fn block<'a, T: Real>(description: &Description, array: &'a [T]) -> Block<'a, T> {
    let (mut rest, activation) = (Rest(array), description.activation.into());
    let branches = description.branches.iter().map(|branch| match branch {
        Branch::Skip => kernels::Branch::Skip,
        Branch::Rows(layers) => kernels::Branch::Rows(rest.mlp(layers, activation)),
        Branch::Product { product, factors, norm } => kernels::Branch::Product {
            product: *product,
            factors: factors.iter().map(|layers| rest.mlp(layers, activation)).collect(),
            norm: *norm,
        },
        Branch::Equivariant(layers) => kernels::Branch::Equivariant(rest.equivariant(layers, activation)),
    });
    let branches = branches.collect();
    let join = description.join.as_ref().map(|layer| rest.layer(layer));
    let &Description { inputs, identity, residual, .. } = description;
    Block { inputs, identity, branches, join, residual, messages: None }
}

/// The suffix's layers.
pub(super) fn layers<'a, T: Real>(layers: &[Layer], array: &'a [T]) -> Vec<kernels::Layer<'a, T>> {
    let mut rest = Rest(array);
    layers.iter().map(|layer| rest.layer(layer)).collect()
}
