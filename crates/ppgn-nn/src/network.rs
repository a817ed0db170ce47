//! The network: blocks on a space, then a suffix.

use crate::batch::Batch;
use crate::config::{Level, PpgnConfig};
use crate::dropout::Dropout;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::loss::Evaluated;
use crate::matrix::Matrix;
use crate::model::Description;
use crate::precision::{Number, Precision, Values};
use crate::space::Space;
use ppgn_kernels::Workspace;

/// A provably powerful graph network: `suffix . B_d . ... . B_1`.
///
/// See [`PpgnConfig`] for its components. Its parameters are a few flat arrays ([`Layout`]); its output does not depend
/// on the order of a graph's nodes, nor on the other graphs in a batch.
///
/// ```
/// use ppgn_graph::encode::{Encoding, Kind};
/// use ppgn_graph::{Graph, Schema};
/// use ppgn_nn::{Batch, BlockConfig, Loss, PpgnConfig, Precision};
///
/// // A cycle of six nodes, and two triangles: no message-passing network distinguishes them.
/// let hexagon = Graph::undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])?;
/// let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])?;
/// let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&[hexagon.clone()])?)?;
/// let batch = Batch::encode(&encoder, &[&hexagon, &triangles], Precision::F32)?;
///
/// let config = PpgnConfig { blocks: vec![BlockConfig::new(16); 2], ..PpgnConfig::new(1, 2) };
/// let network = config.init(7, Precision::F32)?;
/// let scores = network.forward(&batch)?;
/// assert_eq!((scores.rows(), scores.columns()), (2, 2));
/// let step = network.backward(&batch, |scores| Loss::cross_entropy(&[0, 1]).of(scores))?;
/// assert!(step.loss > 0.0 && step.gradients.len() == 3);
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ppgn {
    config: PpgnConfig,
    layout: Layout,
    precision: Precision,
    /// The descriptions of its blocks.
    blocks: Vec<Description>,
    /// One per array of the layout.
    arrays: Vec<Values>,
    workspace: Workspace,
}

/// The result of a backward pass.
#[derive(Debug, Clone)]
pub struct Step {
    /// The loss, as the closure returned it.
    pub loss: f64,
    /// The scores of the forward pass, `[graphs, outputs]`; for other levels, one row per node or pair.
    pub scores: Matrix,
    /// The gradient of the loss, one entry per array of the layout.
    pub gradients: Vec<Values>,
}

impl PpgnConfig {
    /// A network of this configuration: weights Xavier uniform, drawn from the seed; biases zero.
    pub fn init(&self, seed: u64, precision: Precision) -> Result<Ppgn> {
        self.validate()?;
        let parameters = Layout::new(self).initial(seed, precision);
        Ppgn::new(self.clone(), parameters)
    }
}

impl Ppgn {
    /// A network with these parameters, one entry per array of the configuration's [`Layout`], all in the same
    /// precision.
    pub fn new(config: PpgnConfig, parameters: Vec<Values>) -> Result<Self> {
        config.validate()?;
        let (layout, blocks) = (Layout::new(&config), config.descriptions());
        let precision = parameters.first().map_or(Precision::F32, Values::precision);
        let workspace = Workspace::default();
        let mut network = Ppgn { config, layout, precision, blocks, arrays: Vec::new(), workspace };
        network.set_parameters(parameters)?;
        Ok(network)
    }

    /// Its configuration.
    pub fn config(&self) -> &PpgnConfig {
        &self.config
    }

    /// The layout of its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its precision.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The descriptions of its blocks, in order.
    pub fn blocks(&self) -> &[Description] {
        &self.blocks
    }

    /// The same network using the memory and the stop flag of this workspace. By default a network has its own
    /// workspace, which its clones share.
    pub fn with_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = workspace;
        self
    }

    /// A copy of its parameters: the name and values of every array.
    pub fn parameters(&self) -> Result<Vec<(String, Values)>> {
        let names = self.layout.arrays().iter().map(|a| a.name.clone());
        Ok(names.zip(self.arrays.iter().cloned()).collect())
    }

    /// Replaces all parameters: one entry per array of the layout, each in the network's precision.
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

    /// Changes the parameters in place, without copying: `change` gets all arrays and must keep their lengths and
    /// precision. If `change` fails, the parameters stay as it left them. If it alters the shape of the arrays, the
    /// update is an error and the network has no parameters until it is given new ones.
    pub fn update(&mut self, change: impl FnOnce(&mut [Values]) -> Result<()>) -> Result<()> {
        let mut parameters = std::mem::take(&mut self.arrays);
        let result = change(&mut parameters);
        self.set_parameters(parameters)?;
        result
    }

    /// The scores of every graph, in the order of the batch; for other [levels](crate::Level), of every node or pair.
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`, in general [`Batch::items`] rows
    pub fn forward(&self, batch: &Batch) -> Result<Matrix> {
        fn scores<T: Number>(network: &Ppgn, batch: &Batch) -> Result<Matrix> {
            let (engine, rows) = network.engine::<T>(batch)?;
            let scores = engine.scores(rows);
            network.finish()?;
            Matrix::new(batch.items(network.config.level), network.config.outputs, T::values(scores))
        }
        self.check(batch)?;
        match self.precision {
            Precision::F32 => scores::<f32>(self, batch),
            Precision::F64 => scores::<f64>(self, batch),
        }
    }

    /// The pooled features of every graph: of every block for suffix ii, of the last for suffix i; for each block the
    /// diagonal features, then the off-diagonal ones (for longer tuples, one group per pattern).
    ///
    /// # Shapes
    /// - result: `[graphs, config.embedding()]`
    pub fn embed(&self, batch: &Batch) -> Result<Matrix> {
        fn features<T: Number>(network: &Ppgn, batch: &Batch) -> Result<Matrix> {
            let (engine, rows) = network.engine::<T>(batch)?;
            let pooled = engine.features(rows);
            network.finish()?;
            let graphs = batch.graphs();
            let width: usize = pooled.iter().map(|features| features.len() / graphs).sum();
            let mut all = Vec::with_capacity(graphs * width);
            for graph in 0..graphs {
                for features in &pooled {
                    let width = features.len() / graphs;
                    all.extend_from_slice(&features[graph * width..][..width]);
                }
            }
            Matrix::new(graphs, width, T::values(all))
        }
        self.check(batch)?;
        match self.precision {
            Precision::F32 => features::<f32>(self, batch),
            Precision::F64 => features::<f64>(self, batch),
        }
    }

    /// A forward pass, the loss of its scores, and the gradient of the loss with respect to all parameters. `loss`
    /// returns the loss and its gradient with respect to the scores, as [`Loss::of`](crate::Loss::of) does.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(&Matrix) -> Result<Evaluated>) -> Result<Step> {
        self.backward_in(Vec::new(), batch, loss)
    }

    /// The same, reusing the memory of an earlier step's gradients where it fits: for small steps, allocating fresh
    /// memory costs more than the arithmetic.
    pub fn backward_in(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        loss: impl FnOnce(&Matrix) -> Result<Evaluated>,
    ) -> Result<Step> {
        self.backward_dropped(memory, batch, None, loss)
    }

    /// The same with [`Dropout`], for training.
    pub fn backward_dropped(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        dropout: Option<Dropout<'_>>,
        loss: impl FnOnce(&Matrix) -> Result<Evaluated>,
    ) -> Result<Step> {
        self.check(batch)?;
        match self.precision {
            Precision::F32 => self.step::<f32>(memory, batch, dropout, loss, &mut |_, _| {}),
            Precision::F64 => self.step::<f64>(memory, batch, dropout, loss, &mut |_, _| {}),
        }
    }

    /// The same, handing out the gradient of every array of the layout, by its number, as soon as it is complete: the
    /// suffix's, which is the last, then the blocks' from the last to the first. So they can be sent elsewhere while the
    /// pass goes on. The gradients of the [`Step`] are empty then. After an error some were not handed out.
    pub fn backward_each(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        dropout: Option<Dropout<'_>>,
        loss: impl FnOnce(&Matrix) -> Result<Evaluated>,
        mut ready: impl FnMut(usize, Values) + Send,
    ) -> Result<Step> {
        self.check(batch)?;
        match self.precision {
            Precision::F32 => self.step::<f32>(memory, batch, dropout, loss, &mut |i, gradient| {
                ready(i, Values::F32(std::mem::take(gradient)));
            }),
            Precision::F64 => self.step::<f64>(memory, batch, dropout, loss, &mut |i, gradient| {
                ready(i, Values::F64(std::mem::take(gradient)));
            }),
        }
    }

    fn step<T: Number>(
        &self,
        memory: Vec<Values>,
        batch: &Batch,
        dropout: Option<Dropout<'_>>,
        loss: impl FnOnce(&Matrix) -> Result<Evaluated>,
        ready: &mut (dyn FnMut(usize, &mut Vec<T>) + Send),
    ) -> Result<Step> {
        let (engine, rows) = self.engine::<T>(batch)?;
        let masks =
            |dropout: Dropout<'_>| dropout.masks(&self.config, &self.config.widths(), &batch.space().nodes());
        let tape = engine.forward(rows, dropout.map(masks).transpose()?);
        self.finish()?;
        let items = batch.items(self.config.level);
        let scores = Matrix::new(items, self.config.outputs, T::values(tape.scores().to_vec()))?;
        let Evaluated { value, gradient } = loss(&scores)?;
        let slope = T::slice(gradient.values()).filter(|slope| slope.len() == scores.values().len());
        let slope = slope.ok_or_else(|| {
            Error::call("the gradient of the loss differs from the scores in shape or precision")
        })?;
        let mut memory = memory.into_iter().map(T::vector);
        let arrays = self.layout.arrays().iter();
        let mut gradients: Vec<Vec<T>> =
            arrays.map(|array| zeros(memory.next().flatten(), array.len())).collect();
        engine.backward(rows, tape, slope, &mut gradients, ready);
        self.finish()?;
        let gradients = gradients.into_iter().map(T::values).collect();
        Ok(Step { loss: value, scores, gradients })
    }

    /// The layers with their parameters, and the batch's rows.
    fn engine<'a, T: Number>(&'a self, batch: &'a Batch) -> Result<(Engine<'a, T>, &'a [T])> {
        let wrong = || Error::call(format!("the network is not in {}", T::PRECISION.name()));
        let arrays: Option<Vec<&[T]>> = self.arrays.iter().map(T::slice).collect();
        let arrays = arrays.ok_or_else(wrong)?;
        let engine = Engine::new(&self.config, &self.blocks, &arrays, batch.space(), &self.workspace);
        Ok((engine, T::slice(batch.rows()).ok_or_else(wrong)?))
    }

    /// Results are valid only if no stop was requested.
    fn finish(&self) -> Result<()> {
        if self.workspace.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn check(&self, batch: &Batch) -> Result<()> {
        if self.arrays.len() != self.layout.arrays().len() {
            return Err(Error::call("the network has no parameters because an earlier update failed"));
        }
        self.config.check(batch, self.precision)
    }
}

impl PpgnConfig {
    /// Checks that a network of this configuration and precision can run on a batch; the error explains why not.
    pub fn check(&self, batch: &Batch, precision: Precision) -> Result<()> {
        if batch.space().order() != self.order {
            return Err(Error::call(format!(
                "the network has order {}, the batch has order {}",
                self.order,
                batch.space().order()
            )));
        }
        let inputs = self.first_width();
        if batch.channels() != inputs {
            return Err(Error::call(format!(
                "the network takes {inputs} input channels, the batch has {}",
                batch.channels()
            )));
        }
        if batch.precision() != precision {
            return Err(Error::call(format!(
                "the network is in {}, the batch in {}",
                precision.name(),
                batch.precision().name()
            )));
        }
        if let (Space::Quotient(_), Some(why)) = (batch.space(), self.needs_pairs()) {
            return Err(Error::call(format!(
                "the batch is on the quotient space, but the network requires the dense space: {why}"
            )));
        }
        if let Space::Quotient(quotient) = batch.space()
            && self.descriptions().iter().any(|block| block.identity)
            && !quotient.is_closed()
        {
            return Err(Error::call(
                "the colours of the batch are not closed under transposition, which the network requires; colours of \
                 isomorphism types are",
            ));
        }
        if let Space::Quotient(quotient) = batch.space()
            && self.level != Level::Graph
            && quotient.levels[self.blocks.len().min(quotient.depth())].matrix.is_empty()
        {
            return Err(Error::call(
                "the batch has no rows of nodes and pairs at the last level; it was made for outputs per graph",
            ));
        }
        if let Space::Quotient(quotient) = batch.space()
            && quotient.depth() < self.blocks.len()
        {
            return Err(Error::call(format!(
                "the network has {} blocks, but the colours of the batch are for at most {}",
                self.blocks.len(),
                quotient.depth()
            )));
        }
        Ok(())
    }
}

/// This many zeros, reusing the memory if it has the right length.
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
    fn networks_and_batches_can_be_sent_to_other_threads() {
        fn sendable<T: Send + Sync>() {}
        sendable::<Ppgn>();
        sendable::<Batch>();
    }
}
