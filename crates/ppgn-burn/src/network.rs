//! The network: blocks on a space, then a suffix, with its parameters on the device.

use crate::block::Block;
use crate::linear::Cutter;
use crate::mlp::activate;
use crate::space::Space;
use crate::suffix::Suffix;
use crate::transfer::{download, dtype, upload};
use burn::tensor::{Device, Gradients, Tensor};
use ppgn_nn::model::Description;
use ppgn_nn::{
    Array, Batch, Error, Evaluated, Layout, Level, Matrix, Model, Ppgn, PpgnConfig, Precision, Result, Step,
    Values,
};

/// A [`Ppgn`] as a composition of burn's operations: the same function, and the same gradient up to rounding.
///
/// Its parameters are copied to the device when it is made, and stay there. See the [crate](crate) for an example.
#[derive(Debug, Clone)]
pub struct Composed {
    config: PpgnConfig,
    layout: Layout,
    blocks: Vec<Description>,
    precision: Precision,
    device: Device,
    /// One per part of every array of the layout.
    parameters: Vec<Vec<Tensor<1>>>,
}

impl Composed {
    /// A network on a device, which must compute in the network's precision.
    pub fn new(network: &Ppgn, device: &Device) -> Result<Self> {
        let (precision, device) = (network.precision(), device.clone().without_autodiff());
        if !device.supports_dtype(dtype(precision)) {
            return Err(Error::Call(format!("the device does not compute in {}", precision.name())));
        }
        if network.config().order == 1 {
            return Err(Error::Call("networks of order 1 are computed by the CPU engine only".into()));
        }
        if network.config().model == Model::PpgnPlus {
            return Err(Error::Call(
                "networks of the model `ppgn++` are computed by the CPU engine only".into(),
            ));
        }
        if network.config().level != Level::Graph {
            return Err(Error::Call("outputs per node or pair are computed by the CPU engine only".into()));
        }
        let (layout, values) = (network.layout().clone(), network.parameters()?);
        if values.len() != layout.arrays().len() {
            return Err(Error::Call("the network has no parameters".into()));
        }
        let array = |(array, (_, values)): (&Array, &(String, Values))| {
            let part = |part: &ppgn_nn::Part| upload(values, part.range(), [part.len()], &device);
            array.parts.iter().map(part).collect()
        };
        let parameters = layout.arrays().iter().zip(&values).map(array).collect();
        let (config, blocks) = (network.config().clone(), network.blocks().to_vec());
        Ok(Composed { config, layout, blocks, precision, device, parameters })
    }

    /// What it is made of.
    pub fn config(&self) -> &PpgnConfig {
        &self.config
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The scores of every graph, in the order of the batch: see [`Ppgn::forward`].
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`
    pub fn forward(&self, batch: &Batch) -> Result<Matrix> {
        matrix(self.scores(&self.parameters, batch)?)
    }

    /// The pooled features of every graph: see [`Ppgn::embed`].
    ///
    /// # Shapes
    /// - result: `[graphs, config.embedding()]`
    pub fn embed(&self, batch: &Batch) -> Result<Matrix> {
        matrix(Tensor::cat(self.features(&self.parameters, batch)?, 1))
    }

    /// A forward pass, the loss of its scores, and the loss's gradient by all parameters: see [`Ppgn::backward`]. `loss` is
    /// computed on the host, from the scores of the batch.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(&Matrix) -> Result<Evaluated>) -> Result<Step> {
        let leaf = |part: &Tensor<1>| part.clone().autodiff().require_grad();
        let leaves: Vec<Vec<Tensor<1>>> =
            self.parameters.iter().map(|array| array.iter().map(leaf).collect()).collect();
        let tracked = self.scores(&leaves, batch)?;
        let scores = matrix(tracked.clone().without_autodiff())?;
        let Evaluated { value, gradient } = loss(&scores)?;
        if gradient.precision() != self.precision || gradient.values().len() != scores.values().len() {
            return Err(Error::Call(
                "the loss's gradient has another shape or precision than the scores".into(),
            ));
        }
        let slope = upload(gradient.values(), 0..gradient.values().len(), tracked.dims(), &self.device);
        // The combination of the scores with these slopes has the loss's gradient.
        let mut tape = (tracked * slope).sum().backward();
        let gradients = leaves.iter().map(|array| download(flat(array, &mut tape)));
        Ok(Step { loss: value, scores, gradients: gradients.collect::<Result<_>>()? })
    }

    /// The scores with these parameters, `[graphs, outputs]`.
    fn scores(&self, parameters: &[Vec<Tensor<1>>], batch: &Batch) -> Result<Tensor<2>> {
        let last = self.blocks.len();
        let mut cutter = Cutter::new(&self.layout.arrays()[last].parts, &parameters[last]);
        let suffix = Suffix::cut(self.config.suffix, self.config.activation, &mut cutter);
        Ok(suffix.forward(self.features(parameters, batch)?))
    }

    /// The pooled features that the suffix takes, `[graphs, patterns * width]` each.
    fn features(&self, parameters: &[Vec<Tensor<1>>], batch: &Batch) -> Result<Vec<Tensor<2>>> {
        self.config.check(batch, self.precision)?;
        let space = Space::new(batch.space(), &self.config, dtype(self.precision), &self.device)?;
        let (rows, channels) = (batch.space().rows(0), batch.channels());
        let mut x = upload(batch.rows(), 0..batch.rows().len(), [rows, channels], &self.device); // [rows(0), inputs]
        let mut pooled = Vec::new();
        let arrays = self.layout.arrays().iter().zip(parameters);
        for (l, (block, (array, tensors))) in self.blocks.iter().zip(arrays).enumerate() {
            let block = Block::cut(block, &mut Cutter::new(&array.parts, tensors));
            x = block.forward(l, x, &space, self.config.scale); // [rows(l + 1), width]
            if self.config.pools_after(l) {
                let read = match self.config.activate_pooled {
                    true => activate(self.config.activation, x.clone()),
                    false => x.clone(),
                };
                pooled.push(space.pool(l + 1, read, self.config.pooling)); // [graphs, patterns * width]
            }
        }
        Ok(pooled)
    }
}

/// The gradients of an array's parts, one after another as in the layout.
fn flat(leaves: &[Tensor<1>], tape: &mut Gradients) -> Tensor<1> {
    // A part that the loss does not depend on has no gradient, which is zero.
    let gradient = |leaf: &Tensor<1>| {
        leaf.grad_remove(tape).unwrap_or_else(|| leaf.clone().without_autodiff().zeros_like())
    };
    Tensor::cat(leaves.iter().map(gradient).collect(), 0)
}

fn matrix(tensor: Tensor<2>) -> Result<Matrix> {
    let [rows, columns] = tensor.dims();
    Matrix::new(rows, columns, download(tensor)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_go_to_other_threads() {
        fn sendable<T: Send + Sync>() {}
        sendable::<Composed>();
    }
}
