//! The network: blocks on a space, then a suffix.

use crate::batch::Batch;
use crate::block::Body;
use crate::config::{PpgnConfig, SuffixKind};
use crate::layout::Layout;
use crate::linear::Cutter;
use crate::precision::{Number, Precision, Values};
use crate::space::Space;
use crate::suffix::Suffix;
use crate::trunk::Trunk;
use burn::tensor::{Device, Tensor};
use ppgn_graph::{Error, Result};

/// A provably powerful graph network: `suffix . B_d . ... . B_1`.
///
/// See [`PpgnConfig`] for what it is made of. Its parameters are a few flat arrays ([`Layout`]); what it computes does
/// not depend on the order of a graph's nodes, nor on the other graphs of a batch.
///
/// ```
/// use ppgn_graph::encode::{Encoding, Kind};
/// use ppgn_graph::{Graph, Schema};
/// use ppgn_nn::{Batch, BlockConfig, Device, PpgnConfig, Precision, loss};
///
/// // A cycle of six nodes, and two triangles: no message-passing network can tell them apart.
/// let hexagon = Graph::undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])?;
/// let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])?;
/// let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&[hexagon.clone()])?)?;
/// let device = Device::default();
/// let batch = Batch::encode(&encoder, &[&hexagon, &triangles], Precision::F32, &device)?;
///
/// let config = PpgnConfig { blocks: vec![BlockConfig::new(16); 2], ..PpgnConfig::new(1, 2) };
/// let network = config.init(&device, 7, Precision::F32)?;
/// let scores = network.forward(&batch)?;                                          // [2, 2]
/// assert_eq!(scores.dims(), [2, 2]);
/// let step = network.backward(&batch, |scores| loss::cross_entropy(scores, &[0, 1]))?;
/// assert!(step.loss > 0.0 && step.gradients.len() == 3);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ppgn {
    config: PpgnConfig,
    layout: Layout,
    precision: Precision,
    device: Device,
    engine: Engine,
    /// One an array of the layout.
    arrays: Vec<Values>,
}

/// What computes the blocks of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Our own kernels, on the CPU: what networks there use.
    Kernels,
    /// A composition of burn's operations: what other devices use, and what the kernels are tested against.
    Composed,
}

/// What a backward pass gives.
#[derive(Debug, Clone)]
pub struct Step {
    /// The loss, as the closure returned it.
    pub loss: f64,
    /// The scores of the forward pass, `[graphs, outputs]` row-major.
    pub scores: Values,
    /// The loss's gradient, one an array of the layout.
    pub gradients: Vec<Values>,
}

impl PpgnConfig {
    /// A network of this configuration: weights Xavier uniform by the seed, biases zero.
    pub fn init(&self, device: &Device, seed: u64, precision: Precision) -> Result<Ppgn> {
        self.validate()?;
        let parameters = Layout::new(self).initial(seed, precision);
        Ppgn::new(self.clone(), parameters, device)
    }
}

impl Ppgn {
    /// A network with these parameters, one an array of the configuration's [`Layout`] and all in one precision.
    pub fn new(config: PpgnConfig, parameters: Vec<Values>, device: &Device) -> Result<Self> {
        config.validate()?;
        let layout = Layout::new(&config);
        let precision = parameters.first().map_or(Precision::F32, Values::precision);
        let device = device.clone().without_autodiff();
        let engine = if device == Device::flex() { Engine::Kernels } else { Engine::Composed };
        let mut network = Ppgn { config, layout, precision, device, engine, arrays: Vec::new() };
        network.set_parameters(parameters)?;
        Ok(network)
    }

    /// What it is made of.
    pub fn config(&self) -> &PpgnConfig {
        &self.config
    }

    /// Where its parameters lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its precision.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What computes its blocks.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The same network with another engine. The kernels are for the CPU only.
    pub fn with_engine(mut self, engine: Engine) -> Result<Self> {
        if engine == Engine::Kernels && self.device != Device::flex() {
            return Err(Error::call("the kernels are for the CPU, and the network is on another device"));
        }
        self.engine = engine;
        Ok(self)
    }

    /// A copy of its parameters: the name and the numbers of every array.
    pub fn parameters(&self) -> Result<Vec<(String, Values)>> {
        let names = self.layout.arrays().iter().map(|a| a.name.clone());
        Ok(names.zip(self.arrays.iter().cloned()).collect())
    }

    /// Replaces all parameters: one an array of the layout, each in the network's precision.
    pub fn set_parameters(&mut self, parameters: Vec<Values>) -> Result<()> {
        let arrays = self.layout.arrays();
        if parameters.len() != arrays.len() {
            return Err(Error::call(format!(
                "the network has {} arrays of parameters, not {}",
                arrays.len(),
                parameters.len()
            )));
        }
        for (array, values) in arrays.iter().zip(&parameters) {
            if values.len() != array.len() || values.precision() != self.precision {
                return Err(Error::call(format!(
                    "`{}` has {} numbers in {}, not {} in {}",
                    array.name,
                    array.len(),
                    self.precision.name(),
                    values.len(),
                    values.precision().name()
                )));
            }
        }
        self.arrays = parameters;
        Ok(())
    }

    /// Changes the parameters in place: `change` sees all arrays, and must keep their lengths and precision.
    /// Nothing is copied. After an error of `change` the parameters are what it left; arrays of another form are
    /// refused, and the network is then without parameters until it is given some.
    pub fn update(&mut self, change: impl FnOnce(&mut [Values]) -> Result<()>) -> Result<()> {
        let mut parameters = std::mem::take(&mut self.arrays);
        let result = change(&mut parameters);
        self.set_parameters(parameters)?;
        result
    }

    /// The scores of every graph, in the order of the batch.
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`
    pub fn forward(&self, batch: &Batch) -> Result<Tensor<2>> {
        self.check(batch)?;
        let suffix = self.suffix(None);
        Ok(suffix.forward(self.features(batch)))
    }

    /// The pooled features of every graph: of every block for suffix ii, of the last for suffix i; a block's diagonal
    /// features, then the others, and so on by the patterns of longer tuples.
    ///
    /// # Shapes
    /// - result: `[graphs, config.embedding()]`
    pub fn embed(&self, batch: &Batch) -> Result<Tensor<2>> {
        self.check(batch)?;
        Ok(Tensor::cat(self.features(batch), 1))
    }

    /// A forward pass, the loss of its scores, and the loss's gradient by all parameters.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(Tensor<2>) -> Result<Tensor<1>>) -> Result<Step> {
        self.backward_in(Vec::new(), batch, loss)
    }

    /// The same with the memory of an earlier step's gradients for the new ones, where it fits: fresh memory costs a small
    /// step more than its arithmetic.
    pub fn backward_in(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        loss: impl FnOnce(Tensor<2>) -> Result<Tensor<1>>,
    ) -> Result<Step> {
        self.check(batch)?;
        match (self.engine, self.precision) {
            (Engine::Composed, _) => self.composed_backward(batch, loss),
            (Engine::Kernels, Precision::F32) => self.kernel_backward::<f32>(memory, batch, loss),
            (Engine::Kernels, Precision::F64) => self.kernel_backward::<f64>(memory, batch, loss),
        }
    }

    /// The blocks by the kernels; the suffix and the loss by burn, from the pooled features on.
    fn kernel_backward<T: Number>(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        loss: impl FnOnce(Tensor<2>) -> Result<Tensor<1>>,
    ) -> Result<Step> {
        let (trunk, rows) = self.trunk::<T>(batch)?;
        let (pooled, tape) = trunk.forward(rows, true);
        let pooled: Vec<Tensor<2>> =
            pooled.into_iter().map(|p| self.pooled(batch, p).autodiff().require_grad()).collect();
        let mut leaves = Vec::new();
        let scores = self.suffix(Some(&mut leaves)).forward(pooled.clone());
        let loss = loss(scores.clone())?;
        let mut gradients = loss.backward();
        let mut of_features = Vec::with_capacity(pooled.len());
        for features in &pooled {
            let values = match features.grad_remove(&mut gradients) {
                Some(gradient) => Values::of(gradient)?,
                None => Values::zeros(T::PRECISION, features.dims().iter().product()),
            };
            of_features.push(T::slice(&values).map(<[T]>::to_vec).unwrap_or_default());
        }
        let tape = tape.expect("a tape was asked for");
        let (of_blocks, last) = self.layout.arrays().split_at(self.config.blocks.len());
        let last = &last[0];
        let mut memory = memory.into_iter().map(T::vector);
        let mut of_blocks: Vec<Vec<T>> =
            of_blocks.iter().map(|array| zeros(memory.next().flatten(), array.len())).collect();
        trunk.backward(rows, tape, &of_features, &mut of_blocks);
        let mut result: Vec<Values> = of_blocks.into_iter().map(T::values).collect();
        let mut of_suffix = Values::zeros(self.precision, last.len());
        for (part, leaf) in last.parts.iter().zip(&leaves) {
            if let Some(gradient) = leaf.grad_remove(&mut gradients) {
                of_suffix.put(part.offset, &Values::of(gradient)?);
            }
        }
        result.push(of_suffix);
        let loss = Values::of(loss.inner())?.to_f64().iter().sum();
        Ok(Step { loss, scores: Values::of(scores.inner())?, gradients: result })
    }

    /// Everything by burn.
    fn composed_backward(
        &self,
        batch: &Batch,
        loss: impl FnOnce(Tensor<2>) -> Result<Tensor<1>>,
    ) -> Result<Step> {
        let mut leaves = Vec::new();
        let blocks = self.blocks(Some(&mut leaves));
        let suffix = self.suffix(Some(&mut leaves));
        let scores = suffix.forward(self.composed(&blocks, batch));
        drop((blocks, suffix));
        let loss = loss(scores.clone())?;
        let mut tape = loss.backward();
        let mut gradients = self.layout.zeros(self.precision);
        for ((array, part), leaf) in self.layout.parts().zip(&leaves) {
            // A part that the loss does not depend on has no gradient, which is zero.
            if let Some(gradient) = leaf.grad_remove(&mut tape) {
                gradients[array].put(part.offset, &Values::of(gradient)?);
            }
        }
        let loss = Values::of(loss.inner())?.to_f64().iter().sum();
        Ok(Step { loss, scores: Values::of(scores.inner())?, gradients })
    }

    /// An array of parameters as a tensor.
    fn array(&self, a: usize) -> Tensor<1> {
        let values = self.arrays[a].clone();
        let length = values.len();
        values.into_tensor([length], &self.device)
    }

    /// The blocks as views of the parameters; `leaves` gets one tensor a part where gradients are wanted.
    fn blocks(&self, mut leaves: Option<&mut Vec<Tensor<1>>>) -> Vec<Body> {
        let arrays = self.layout.arrays()[..self.config.blocks.len()].iter().enumerate();
        arrays
            .map(|(l, array)| {
                let flat = self.array(l);
                Body::cut(&self.config, l, &mut Cutter::new(&flat, &array.parts, leaves.as_deref_mut()))
            })
            .collect()
    }

    /// The suffix likewise.
    fn suffix(&self, leaves: Option<&mut Vec<Tensor<1>>>) -> Suffix {
        let last = self.config.blocks.len();
        let flat = self.array(last);
        Suffix::cut(&self.config, &mut Cutter::new(&flat, &self.layout.arrays()[last].parts, leaves))
    }

    /// The pooled features that the suffix takes, `[graphs, patterns * width]` each.
    fn features(&self, batch: &Batch) -> Vec<Tensor<2>> {
        fn kernels<T: Number>(network: &Ppgn, batch: &Batch) -> Option<Vec<Tensor<2>>> {
            let (trunk, rows) = network.trunk::<T>(batch).ok()?;
            Some(trunk.forward(rows, false).0.into_iter().map(|p| network.pooled(batch, p)).collect())
        }
        let by_kernels = match (self.engine, self.precision) {
            (Engine::Composed, _) => None,
            (Engine::Kernels, Precision::F32) => kernels::<f32>(self, batch),
            (Engine::Kernels, Precision::F64) => kernels::<f64>(self, batch),
        };
        by_kernels.unwrap_or_else(|| self.composed(&self.blocks(None), batch))
    }

    /// The blocks for the kernels, and the batch's rows.
    fn trunk<'a, T: Number>(&'a self, batch: &'a Batch) -> Result<(Trunk<'a, T>, &'a [T])> {
        let wrong = || Error::call(format!("the network is not in {}", T::PRECISION.name()));
        let arrays: Option<Vec<&[T]>> = self.arrays.iter().map(T::slice).collect();
        let trunk = Trunk::new(&self.config, &arrays.ok_or_else(wrong)?, batch.space());
        Ok((trunk, T::slice(batch.rows()).ok_or_else(wrong)?))
    }

    /// Pooled features as a tensor.
    fn pooled<T: Number>(&self, batch: &Batch, features: Vec<T>) -> Tensor<2> {
        let width = features.len() / batch.graphs();
        T::values(features).into_tensor([batch.graphs(), width], &self.device)
    }

    /// The pooled features by burn's operations.
    fn composed(&self, blocks: &[Body], batch: &Batch) -> Vec<Tensor<2>> {
        let space = batch.space();
        let mut x = batch.tensor(); // [rows(0), inputs]
        let mut pooled = Vec::new();
        for (l, block) in blocks.iter().enumerate() {
            x = block.forward(x, space); // [rows(l + 1), width]
            if self.config.suffix == SuffixKind::Ii || l + 1 == blocks.len() {
                pooled.push(space.pool(l + 1, x.clone(), self.config.pooling)); // [graphs, patterns * width]
            }
        }
        pooled
    }

    fn check(&self, batch: &Batch) -> Result<()> {
        if self.arrays.len() != self.layout.arrays().len() {
            return Err(Error::call("the network has lost its parameters in an update that failed"));
        }
        if batch.space().order() != self.config.order {
            return Err(Error::call(format!(
                "the network is of order {}, the batch of order {}",
                self.config.order,
                batch.space().order()
            )));
        }
        let inputs = self.config.widths()[0];
        if batch.channels() != inputs {
            return Err(Error::call(format!(
                "the network takes {inputs} input channels, the batch has {}",
                batch.channels()
            )));
        }
        if batch.precision() != self.precision {
            return Err(Error::call(format!(
                "the network is in {}, the batch in {}",
                self.precision.name(),
                batch.precision().name()
            )));
        }
        if let (Space::Quotient(_), Some(why)) = (batch.space(), self.config.needs_pairs()) {
            return Err(Error::call(format!("the batch has colours as rows, and {why}")));
        }
        if let Space::Quotient(quotient) = batch.space()
            && quotient.depth() < self.config.blocks.len()
        {
            return Err(Error::call(format!(
                "the network has {} blocks, the batch's colours are for {}",
                self.config.blocks.len(),
                quotient.depth()
            )));
        }
        if *batch.device() != self.device {
            return Err(Error::call("the network and the batch are on different devices"));
        }
        Ok(())
    }
}

/// So many zeros, in this memory if it is as long.
fn zeros<T: Number>(memory: Option<Vec<T>>, length: usize) -> Vec<T> {
    match memory.filter(|memory| memory.len() == length) {
        Some(mut memory) => {
            ppgn_kernels::clear(&mut memory);
            memory
        }
        None => vec![T::default(); length],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_batches_go_to_other_threads() {
        fn sendable<T: Send + Sync>() {}
        sendable::<Ppgn>();
        sendable::<Batch>();
    }
}
