//! The network: blocks on a space, then a suffix, with its parameters on the device.

use crate::block::{Place, Tape};
use crate::linear::Cutter;
use crate::local::{How, Local, total};
use crate::meeting::PADDING;
use crate::mlp::activate;
use crate::pool::Shares;
use crate::space::{Read, Space};
use crate::suffix::{Masks, Suffix};
use crate::transfer::{Link, Transfers, dtype};
use burn::tensor::{Device, Tensor};
use ppgn_nn::model::Description;
use ppgn_nn::{
    Array, Batch, Error, Evaluated, Layout, Level, Matrix, Ppgn, PpgnConfig, Precision, Result, Step, Values,
};

/// An error if a network in this precision has a tensor of more than `largest` bytes on a batch with this many rows or tuples.
pub(crate) fn fits(
    config: &PpgnConfig,
    precision: Precision,
    rows: usize,
    largest: Option<u64>,
) -> Result<()> {
    let blocks = config.descriptions();
    // The branches of a join are never put side by side.
    let branches = blocks.iter().flat_map(|block| &block.branches);
    let inner = branches.flat_map(|branch| branch.layers().map(|layer| layer.inputs.max(layer.outputs)));
    let width = inner.chain(config.widths()).max().unwrap_or(0);
    let bytes =
        [width, precision.bytes()].iter().try_fold(rows as u64, |product, &n| product.checked_mul(n as u64));
    match (bytes, largest) {
        (Some(_), None) => Ok(()),
        (Some(bytes), Some(largest)) if bytes <= largest => Ok(()),
        _ => Err(Error::Unfit(format!(
            "a batch has {rows} rows of up to {width} channels: more than the {} MiB that the device allows a tensor; take \
             smaller batches, or the CPU",
            largest.unwrap_or(u64::MAX) >> 20
        ))),
    }
}

/// An error if a device does not have what a network needs.
pub(crate) fn supported(config: &PpgnConfig, precision: Precision, device: &Device) -> Result<()> {
    if !device.supports_dtype(dtype(precision)) {
        return Err(Error::Call(format!(
            "the device does not compute in {}; take f32, or the CPU",
            precision.name()
        )));
    }
    match config.order {
        0..=6 => Ok(()),
        _ => Err(Error::Call("networks of an order above 6 are computed by the CPU engine only".into())),
    }
}

/// A network without its parameters: what it is, and the way to the device.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) config: PpgnConfig,
    pub(crate) layout: Layout,
    pub(crate) blocks: Vec<Description>,
    pub(crate) link: Link,
    /// The bytes that a tensor may have.
    pub(crate) largest: Option<u64>,
    padding: f64,
}

/// The parts of every array of the layout.
pub(crate) type Parts = Vec<Vec<Tensor<1>>>;

/// A batch on the device.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// `[rows(0), inputs]`
    pub(crate) x: Tensor<2>,
    pub(crate) space: Space,
}

/// What the gradient of a pass needs.
pub(crate) struct Pass {
    blocks: Vec<Passed>,
    suffix: Local,
    /// `[items, outputs]`
    pub(crate) scores: Tensor<2>,
}

/// A block that was run.
struct Passed {
    tape: Tape,
    read: Option<PassedRead>,
}

/// What the suffix took of a block.
struct PassedRead {
    activated: Option<Local>,
    shares: Option<Shares>,
}

impl Plan {
    /// The plan of a network on a device, which must compute in the network's precision. No tensor may have more than
    /// `largest` bytes.
    pub(crate) fn new(network: &Ppgn, device: &Device, largest: Option<u64>) -> Result<Self> {
        let (precision, config) = (network.precision(), network.config());
        supported(config, precision, device)?;
        Ok(Plan {
            config: config.clone(),
            layout: network.layout().clone(),
            blocks: network.blocks().to_vec(),
            link: Link::new(device, precision),
            largest,
            padding: PADDING,
        })
    }

    /// The parameters of a network, part by part.
    pub(crate) fn upload(&self, network: &Ppgn) -> Result<Parts> {
        let values = network.parameters()?;
        if values.len() != self.layout.arrays().len() {
            return Err(Error::Call("the network has no parameters".into()));
        }
        let array = |(array, (_, values)): (&Array, &(String, Values))| {
            let all = self.link.upload("weights", values, [values.len()]);
            array.parts.iter().map(|part| all.clone().narrow(0, part.offset, part.len())).collect()
        };
        Ok(self.layout.arrays().iter().zip(&values).map(array).collect())
    }

    /// A batch on the device.
    pub(crate) fn ready(&self, batch: &Batch) -> Result<Ready> {
        self.config.check(batch, self.link.precision())?;
        let space = self.space(batch.space(), &self.config)?;
        let (rows, channels) = (batch.space().rows(0), batch.channels());
        Ok(Ready { x: self.link.upload("rows of the input", batch.rows(), [rows, channels]), space })
    }

    /// A batch's space on the device, if the tensors on it are not too large.
    pub(crate) fn space(&self, space: &ppgn_nn::Space, config: &PpgnConfig) -> Result<Space> {
        let space = Space::new(&self.link, space, config, self.padding)?;
        fits(&self.config, self.link.precision(), space.largest, self.largest)?;
        Ok(space)
    }

    /// The features that the suffix takes, `[items, width]` each.
    fn blocks_forward(&self, parameters: &Parts, batch: &Ready, keep: bool) -> (Vec<Tensor<2>>, Vec<Passed>) {
        let (mut features, mut passed) = (Vec::new(), Vec::new());
        let mut x = batch.x.clone();
        for (l, place) in self.places(batch).enumerate() {
            let how = How { parameters: &parameters[l], sloped: l > 0, keep };
            let (output, tape) = place.forward(x, how);
            x = output; // [rows(l + 1), width]
            let read = place.step.read.as_ref().map(|read| {
                let (seen, activated) = match self.config.activate_pooled {
                    false => (x.clone(), None),
                    true => {
                        let piece = |x: &[Tensor<2>], _: &[Tensor<1>]| {
                            vec![activate(self.config.activation, x[0].clone())]
                        };
                        let (mut seen, local) =
                            Local::run(vec![x.clone()], How { parameters: &[], sloped: true, keep }, piece);
                        (seen.remove(0), local)
                    }
                };
                let (feature, shares) = match read {
                    Read::Pools(pools) => pools.forward(seen, self.config.pooling, keep),
                    Read::Items(Some(rows)) => (rows.forward(seen), None),
                    Read::Items(None) => (seen, None),
                };
                features.push(feature);
                PassedRead { activated, shares }
            });
            passed.extend(tape.map(|tape| Passed { tape, read }));
        }
        (features, passed)
    }

    fn places<'a>(
        &'a self,
        batch: &'a Ready,
    ) -> impl DoubleEndedIterator<Item = Place<'a>> + ExactSizeIterator {
        let blocks = self.blocks.iter().zip(self.layout.arrays()).zip(&batch.space.steps);
        blocks.map(|((description, array), step)| Place { description, parts: &array.parts, step })
    }

    /// The pooled features, side by side.
    pub(crate) fn embed(&self, parameters: &Parts, batch: &Ready) -> Tensor<2> {
        Tensor::cat(self.blocks_forward(parameters, batch, false).0, 1)
    }

    /// The scores, `[items, outputs]`.
    pub(crate) fn scores(&self, parameters: &Parts, batch: &Ready) -> Tensor<2> {
        let (features, _) = self.blocks_forward(parameters, batch, false);
        self.suffix(&parameters[self.blocks.len()], &features, &Masks::default())
    }

    fn suffix(&self, parameters: &[Tensor<1>], features: &[Tensor<2>], masks: &Masks) -> Tensor<2> {
        let parts = &self.layout.arrays()[self.blocks.len()].parts;
        Suffix::cut(&self.config, &mut Cutter::new(parts, parameters)).forward(features, masks)
    }

    /// The scores, with what the gradient needs.
    pub(crate) fn forward(&self, parameters: &Parts, batch: &Ready, masks: &Masks) -> Pass {
        let (features, blocks) = self.blocks_forward(parameters, batch, true);
        let piece =
            |features: &[Tensor<2>], parameters: &[Tensor<1>]| vec![self.suffix(parameters, features, masks)];
        let how = How { parameters: &parameters[self.blocks.len()], sloped: true, keep: true };
        let (mut scores, suffix) = Local::run(features, how, piece);
        let suffix = suffix.expect("it was asked to be kept");
        Pass { blocks, suffix, scores: scores.remove(0) }
    }

    /// The gradients of all parameters, part by part, from that of the scores.
    pub(crate) fn backward(
        &self,
        batch: &Ready,
        pass: Pass,
        slope: Tensor<2>,
    ) -> Vec<Vec<Option<Tensor<1>>>> {
        let empty = |array: &Array| vec![None; array.parts.len()];
        let mut sums: Vec<Vec<Option<Tensor<1>>>> = self.layout.arrays().iter().map(empty).collect();
        let last = self.blocks.len();
        let mut features = pass.suffix.pull(vec![slope], &mut sums[last]);
        let mut d: Option<Tensor<2>> = None;
        let places: Vec<Place<'_>> = self.places(batch).collect();
        for ((l, place), Passed { tape, read }) in places.into_iter().enumerate().zip(pass.blocks).rev() {
            let of_read = read.zip(place.step.read.as_ref()).and_then(|(passed, read)| {
                let slope = features.pop().flatten()?;
                let slope = match (read, passed.shares) {
                    (Read::Pools(pools), Some(shares)) => pools.backward(shares, slope),
                    (Read::Items(Some(rows)), _) => rows.backward(slope),
                    _ => slope,
                };
                match passed.activated {
                    Some(local) => local.pull(vec![slope], &mut []).remove(0),
                    None => Some(slope),
                }
            });
            d = match total([d, of_read]) {
                Some(slope) => place.backward(tape, slope, &mut sums[l]),
                None => None,
            };
        }
        sums
    }

    /// The gradients of an array, its parts one after another as in the layout.
    pub(crate) fn flat(&self, array: usize, sums: Vec<Option<Tensor<1>>>) -> Tensor<1> {
        let parts = self.layout.arrays()[array].parts.iter().zip(sums);
        // A part that the loss does not depend on has no gradient, which is zero.
        Tensor::cat(
            parts.map(|(part, sum)| sum.unwrap_or_else(|| self.link.zeros([part.len()]))).collect(),
            0,
        )
    }

    pub(crate) fn matrix(&self, what: &'static str, tensor: Tensor<2>) -> Result<Matrix> {
        let [rows, columns] = tensor.dims();
        Matrix::new(rows, columns, self.link.download(what, tensor)?)
    }

    /// The same with outputs per graph: for the pooled features of any network.
    pub(crate) fn pooled(&self) -> Plan {
        Plan { config: PpgnConfig { level: Level::Graph, ..self.config.clone() }, ..self.clone() }
    }
}

/// A [`Ppgn`] as a composition of burn's operations: the same function, and the same gradient up to rounding.
///
/// Its parameters are copied to the device when it is made, and stay there. See the [crate](crate) for an example.
#[derive(Debug, Clone)]
pub struct Composed {
    plan: Plan,
    parameters: Parts,
}

impl Composed {
    /// A network on a device, which must compute in the network's precision.
    pub fn new(network: &Ppgn, device: &Device) -> Result<Self> {
        let plan = Plan::new(network, device, None)?;
        let parameters = plan.upload(network)?;
        Ok(Composed { plan, parameters })
    }

    /// The same with another limit on padding: graphs of different sizes are computed together while they have at most this
    /// many times their own tuples. With 1, only graphs of one size are.
    pub fn with_padding(mut self, padding: f64) -> Self {
        self.plan.padding = padding.max(1.0);
        self
    }

    /// What it is made of.
    pub fn config(&self) -> &PpgnConfig {
        &self.plan.config
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        self.plan.link.device()
    }

    /// Its precision.
    pub fn precision(&self) -> Precision {
        self.plan.link.precision()
    }

    /// What was sent to the device and came back since the last call.
    pub fn transfers(&self) -> Transfers {
        self.plan.link.take()
    }

    /// The scores of every graph (node, pair), in the order of the batch: see [`Ppgn::forward`].
    ///
    /// # Shapes
    /// - result: `[graphs, outputs]`
    pub fn forward(&self, batch: &Batch) -> Result<Matrix> {
        self.plan.matrix("scores", self.plan.scores(&self.parameters, &self.plan.ready(batch)?))
    }

    /// The pooled features of every graph: see [`Ppgn::embed`].
    ///
    /// # Shapes
    /// - result: `[graphs, config.embedding()]`
    pub fn embed(&self, batch: &Batch) -> Result<Matrix> {
        let plan = self.plan.pooled();
        plan.matrix("features", plan.embed(&self.parameters, &plan.ready(batch)?))
    }

    /// A forward pass, the loss of its scores, and the loss's gradient by all parameters: see [`Ppgn::backward`]. `loss` is
    /// computed on the host, from the scores of the batch.
    pub fn backward(&self, batch: &Batch, loss: impl FnOnce(&Matrix) -> Result<Evaluated>) -> Result<Step> {
        let ready = self.plan.ready(batch)?;
        let pass = self.plan.forward(&self.parameters, &ready, &Masks::default());
        let scores = self.plan.matrix("scores", pass.scores.clone())?;
        let Evaluated { value, gradient } = loss(&scores)?;
        if gradient.precision() != self.precision() || gradient.values().len() != scores.values().len() {
            return Err(Error::Call(
                "the loss's gradient has another shape or precision than the scores".into(),
            ));
        }
        let slope = self.plan.link.upload("gradient of the scores", gradient.values(), pass.scores.dims());
        let sums = self.plan.backward(&ready, pass, slope).into_iter().enumerate();
        let arrays =
            sums.map(|(array, sums)| self.plan.link.download("gradients", self.plan.flat(array, sums)));
        Ok(Step { loss: value, scores, gradients: arrays.collect::<Result<_>>()? })
    }
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
