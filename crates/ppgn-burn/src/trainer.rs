//! A network that lives on a device: weights, Adam's state and data stay there from step to step.
//!
//! All weights are one flat tensor, and so are Adam's moments and the averaged weights: a step of the optimiser is a few
//! operations, however many layers there are. The loss's gradient by the scores is computed on the device from the terms of the
//! loss; what comes back of a step is one tensor, the scores and the sum of the squares of the gradient. Where several devices
//! share a step, the gradient comes back too, and the sum of all goes up.

use crate::network::{Parts, Plan, Ready};
use crate::suffix::Masks;
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{Device, Tensor};
use ppgn_nn::device::{Input, OnDevice, Pass, Passed, Stepped, Trained, Training};
use ppgn_nn::{
    Adam, Average, Batch, Dense, Dropout, Error, Matrix, Ppgn, Precision, Result, Space, Terms, Values,
};
use std::collections::HashMap;

/// The bytes of the batches that are kept because they come again, and of a dataset's rows.
const HELD: u64 = 1 << 30;

/// A network on a device, at work or in training.
pub(crate) struct Resident {
    plan: Plan,
    weights: Tensor<1>,
    training: Option<State>,
    data: Option<Rows>,
    kept: HashMap<Vec<u32>, Ready>,
    /// The bytes of what is held and kept.
    held: u64,
}

/// The state of a training.
struct State {
    /// Its numbers, without the moments.
    adam: Adam,
    first: Tensor<1>,
    second: Tensor<1>,
    average: Option<(f64, Tensor<1>)>,
}

/// The dense rows of a dataset.
struct Rows {
    /// `[rows of all graphs, channels]`
    rows: Tensor<2>,
    /// Nodes and first row of every graph.
    graphs: Vec<(usize, usize)>,
}

impl Resident {
    pub(crate) fn new(network: &Ppgn, device: &Device, largest: Option<u64>) -> Result<Self> {
        let plan = Plan::new(network, device, largest)?;
        let weights: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
        let weights = flat(&plan, "weights", &weights)?;
        Ok(Resident { plan, weights, training: None, data: None, kept: HashMap::new(), held: 0 })
    }

    fn precision(&self) -> Precision {
        self.plan.link.precision()
    }

    /// The weights, or other numbers in their place, part by part.
    fn parts(&self, weights: &Tensor<1>) -> Parts {
        let mut start = 0;
        let array = |array: &ppgn_nn::Array| {
            let first = start;
            start += array.len();
            let part = |part: &ppgn_nn::Part| weights.clone().narrow(0, first + part.offset, part.len());
            array.parts.iter().map(part).collect()
        };
        self.plan.layout.arrays().iter().map(array).collect()
    }

    /// A batch on the device: kept from before, made of rows that are there, or uploaded.
    fn ready(&mut self, input: &Input<'_>) -> Result<Ready> {
        if let Some(ready) = self.kept.get(input.graphs).filter(|_| !input.graphs.is_empty()) {
            return Ok(ready.clone());
        }
        let ready = match (&self.data, input.batch) {
            (Some(data), _) if self.holds(input.graphs) => data.batch(&self.plan, input.graphs)?,
            (_, Some(batch)) => self.plan.ready(batch)?,
            _ => return Err(Error::Call("the device does not hold these graphs".into())),
        };
        // Rows of the input, and about as many indices per level.
        let [rows, channels] = ready.x.dims();
        let numbers = rows * channels + 8 * ready.space.largest * ready.space.steps.len();
        let bytes = (numbers * self.precision().bytes()) as u64;
        if input.again && !input.graphs.is_empty() && self.held + bytes <= HELD {
            self.held += bytes;
            self.kept.insert(input.graphs.to_vec(), ready.clone());
        }
        Ok(ready)
    }

    fn masks(&self, dropout: Dropout<'_>, nodes: &[usize]) -> Result<Masks> {
        let [pooled, hidden] = dropout.matrices(&self.plan.config, nodes)?;
        let items: usize = nodes.iter().map(|&n| self.plan.config.level.items(n)).sum();
        let upload = |masks: Vec<Vec<f64>>| {
            let one = |mask: Vec<f64>| {
                self.plan.link.numbers("masks of dropout", &mask, [items, mask.len() / items.max(1)])
            };
            masks.into_iter().map(one).collect()
        };
        Ok(Masks { pooled: upload(pooled), hidden: upload(hidden) })
    }

    fn nodes(&self, input: &Input<'_>) -> Vec<usize> {
        match (&self.data, input.batch) {
            (Some(data), _) if self.holds(input.graphs) => {
                input.graphs.iter().map(|&graph| data.graphs[graph as usize].0).collect()
            }
            (_, Some(batch)) => batch.space().nodes(),
            _ => Vec::new(),
        }
    }

    /// The scores of a batch, and the gradient of its loss by all parameters.
    ///
    /// # Shapes
    /// - result: `[items, outputs]`, `[parameters]`
    fn passes(&mut self, pass: &Pass<'_>) -> Result<(Tensor<2>, Tensor<1>)> {
        let ready = self.ready(&pass.input)?;
        let masks = match pass.dropout {
            Some(dropout) => self.masks(dropout, &self.nodes(&pass.input))?,
            None => Masks::default(),
        };
        let parameters = self.parts(&self.weights);
        let passed = self.plan.forward(&parameters, &ready, &masks);
        let scores = passed.scores.clone();
        let slope = self.slope(pass.terms, &scores)?;
        let sums = self.plan.backward(&ready, passed, slope).into_iter().enumerate();
        let arrays = sums.map(|(array, sums)| self.plan.flat(array, sums));
        Ok((scores, Tensor::cat(arrays.collect(), 0)))
    }

    /// The optimiser's step along this gradient.
    fn update(&mut self, gradient: Tensor<1>, rate: f64) -> Result<()> {
        let Some(state) = &mut self.training else { return Err(not_begun()) };
        self.weights = state.update(self.weights.clone(), gradient, rate);
        Ok(())
    }

    /// The gradient of the loss by the scores.
    ///
    /// # Shapes
    /// - `scores`, result: `[items, outputs]`
    fn slope(&self, terms: &Terms, scores: &Tensor<2>) -> Result<Tensor<2>> {
        let shape = scores.dims();
        let matrix = |numbers: &[f64]| match numbers.len() == shape[0] * shape[1] {
            true => Ok(self.plan.link.numbers("terms of the loss", numbers, shape)),
            false => Err(Error::Call("the terms of the loss have another shape than the scores".into())),
        };
        Ok(match terms {
            Terms::CrossEntropy { weights } => {
                let weights = matrix(weights)?;
                softmax(scores.clone(), 1) * weights.clone().sum_dim(1) - weights
            }
            Terms::Binary { positive, negative } => {
                let p = sigmoid(scores.clone());
                p.clone() * matrix(negative)? - (p.neg() + 1.0) * matrix(positive)?
            }
            Terms::Absolute { weights, targets } => {
                (scores.clone() - matrix(targets)?).sign() * matrix(weights)?
            }
            Terms::Squared { weights, targets } => {
                (scores.clone() - matrix(targets)?).mul_scalar(2.0) * matrix(weights)?
            }
        })
    }
}

impl OnDevice for Resident {
    fn hold(&mut self, nodes: &[usize], rows: &mut dyn FnMut(usize) -> Result<Batch>) -> Result<bool> {
        let (order, channels) = (self.plan.config.order, self.plan.config.widths()[0]);
        let each = |n: usize| u32::try_from(order).ok().and_then(|order| n.checked_pow(order));
        let total = nodes.iter().try_fold(0usize, |sum, &n| sum.checked_add(each(n)?));
        let bytes = total.and_then(|rows| rows.checked_mul(channels)?.checked_mul(self.precision().bytes()));
        let limit = self.plan.largest.unwrap_or(HELD).min(HELD - self.held.min(HELD));
        let fits =
            bytes.is_some_and(|bytes| bytes as u64 <= limit) && total.is_some_and(|n| n <= i32::MAX as usize);
        // Nodes of order 1 come with their edges.
        if order == 1 || !fits {
            return Ok(false);
        }
        let (mut all, mut graphs) = (Vec::with_capacity(total.unwrap_or(0) * channels), Vec::new());
        for (graph, &n) in nodes.iter().enumerate() {
            let batch = rows(graph)?;
            graphs.push((n, all.len() / channels));
            match (batch.rows(), self.precision()) {
                (Values::F32(rows), Precision::F32) => all.extend(rows.iter().map(|&x| f64::from(x))),
                (Values::F64(rows), Precision::F64) => all.extend_from_slice(rows),
                _ => return Err(Error::Call("the rows of the dataset have another precision".into())),
            }
        }
        let rows = self.plan.link.numbers("rows of the dataset", &all, [all.len() / channels, channels]);
        self.held += bytes.unwrap_or(0) as u64;
        self.data = Some(Rows { rows, graphs });
        Ok(true)
    }

    fn holds(&self, graphs: &[u32]) -> bool {
        let known = |data: &Rows| graphs.iter().all(|&graph| (graph as usize) < data.graphs.len());
        !graphs.is_empty() && (self.kept.contains_key(graphs) || self.data.as_ref().is_some_and(known))
    }

    fn begin(&mut self, adam: &Adam, average: Option<&Average>) -> Result<()> {
        let adam_numbers = Adam { first: Vec::new(), second: Vec::new(), ..adam.clone() };
        let average = average
            .map(|average| {
                Ok::<_, Error>((average.decay, flat(&self.plan, "averaged weights", &average.weights)?))
            })
            .transpose()?;
        let first = flat(&self.plan, "moments", &adam.first)?;
        let second = flat(&self.plan, "moments", &adam.second)?;
        self.training = Some(State { adam: adam_numbers, first, second, average });
        Ok(())
    }

    fn step(&mut self, step: &Training<'_>) -> Result<Stepped> {
        let (scores, gradient) = self.passes(&step.pass)?;
        let squares = (gradient.clone() * gradient.clone()).sum(); // [1]
        let gradient = match step.clip > 0.0 {
            true => {
                let factor = ((squares.clone().sqrt() + 1e-6).recip() * step.clip).clamp_max(1.0);
                gradient * factor
            }
            false => gradient,
        };
        self.update(gradient, step.rate)?;
        let [rows, outputs] = scores.dims();
        let all = Tensor::cat(vec![scores.reshape([rows * outputs]), squares], 0);
        let mut all = self.plan.link.download("scores", all)?.to_f64();
        let squares = all.pop().unwrap_or(f64::NAN);
        let scores = Matrix::new(rows, outputs, Values::from_f64(self.precision(), &all))?;
        Ok(Stepped { scores, squares })
    }

    fn gradients(&mut self, pass: &Pass<'_>) -> Result<Passed> {
        let (scores, gradient) = self.passes(pass)?;
        let scores = self.plan.matrix("scores", scores)?;
        Ok(Passed { scores, gradients: arrays(&self.plan, "gradients", &gradient)? })
    }

    fn apply(&mut self, gradients: &[Values], rate: f64) -> Result<()> {
        let gradient = flat(&self.plan, "gradients", gradients)?;
        self.update(gradient, rate)
    }

    fn state(&self) -> Result<Trained> {
        let Some(state) = &self.training else { return Err(not_begun()) };
        let average = match &state.average {
            Some((decay, weights)) => {
                Some(Average { decay: *decay, weights: arrays(&self.plan, "averaged weights", weights)? })
            }
            None => None,
        };
        let first = arrays(&self.plan, "moments", &state.first)?;
        let second = arrays(&self.plan, "moments", &state.second)?;
        let adam = Adam { first, second, ..state.adam.clone() };
        Ok(Trained { weights: arrays(&self.plan, "weights", &self.weights)?, adam, average })
    }

    fn forward(&mut self, input: &Input<'_>, averaged: bool) -> Result<Matrix> {
        let ready = self.ready(input)?;
        let average = self.training.as_ref().and_then(|state| state.average.as_ref()).filter(|_| averaged);
        let parameters = self.parts(average.map_or(&self.weights, |(_, weights)| weights));
        self.plan.matrix("scores", self.plan.scores(&parameters, &ready))
    }

    fn embed(&mut self, batch: &Batch) -> Result<Matrix> {
        let plan = self.plan.pooled();
        plan.matrix("features", plan.embed(&self.parts(&self.weights), &plan.ready(batch)?))
    }

    fn transfers(&self) -> String {
        self.plan.link.take().to_string()
    }
}

impl State {
    /// Adam's step as of [`ppgn_nn::Adam`], and the average's: the new weights.
    fn update(&mut self, weights: Tensor<1>, gradient: Tensor<1>, rate: f64) -> Tensor<1> {
        let adam = &mut self.adam;
        adam.steps += 1;
        // In f64: beta2^t stays close to 1 for many steps.
        let power = |beta: f64| 1.0 - beta.powf(adam.steps as f64);
        let (rate_now, root) = (rate / power(adam.beta1), power(adam.beta2).sqrt());
        let squares = gradient.clone() * gradient.clone();
        let first = self.first.clone().mul_scalar(adam.beta1) + gradient.mul_scalar(1.0 - adam.beta1);
        let second = self.second.clone().mul_scalar(adam.beta2) + squares.mul_scalar(1.0 - adam.beta2);
        let move_by = first.clone() / (second.clone().sqrt().mul_scalar(1.0 / root) + adam.epsilon);
        let keep = 1.0 - rate * adam.weight_decay;
        let weights = if keep == 1.0 { weights } else { weights.mul_scalar(keep) };
        let weights = weights - move_by.mul_scalar(rate_now);
        (self.first, self.second) = (first, second);
        if let Some((decay, average)) = &mut self.average {
            let step = adam.steps as f64;
            let share = 1.0 - decay.min((1.0 + step) / (10.0 + step));
            *average = average.clone() + (weights.clone() - average.clone()).mul_scalar(share);
        }
        weights
    }
}

impl Rows {
    /// The batch of these graphs, as the dense space lays them out.
    fn batch(&self, plan: &Plan, graphs: &[u32]) -> Result<Ready> {
        let of = |&graph: &u32| self.graphs[graph as usize];
        let nodes: Vec<usize> = graphs.iter().map(|graph| of(graph).0).collect();
        let space = Dense::of_tuples(plan.config.order, &nodes)?;
        let mut rows: Vec<u32> = Vec::with_capacity(space.rows());
        for (&given, (n, _)) in space.given().iter().zip(space.starts()) {
            let first = of(&graphs[given]).1;
            rows.extend((first..first + n.pow(plan.config.order as u32)).map(|row| row as u32));
        }
        let space = plan.space(&Space::Dense(space), &plan.config)?;
        Ok(Ready { x: self.rows.clone().select(0, plan.link.indices(&rows)), space })
    }
}

fn not_begun() -> Error {
    Error::Call("the training of the network on the device has not begun".into())
}

/// Arrays of the layout as one flat tensor.
fn flat(plan: &Plan, what: &'static str, arrays: &[Values]) -> Result<Tensor<1>> {
    let lengths: Vec<usize> = plan.layout.arrays().iter().map(ppgn_nn::Array::len).collect();
    let precision = plan.link.precision();
    let fits =
        |(values, &length): (&Values, &usize)| values.len() == length && values.precision() == precision;
    if arrays.len() != lengths.len() || !arrays.iter().zip(&lengths).all(fits) {
        return Err(Error::Call(format!(
            "the {what} do not match the network's in number, length or precision"
        )));
    }
    let all: Vec<f64> = arrays.iter().flat_map(Values::to_f64).collect();
    Ok(plan.link.numbers(what, &all, [all.len()]))
}

/// A flat tensor as the arrays of the layout.
fn arrays(plan: &Plan, what: &'static str, flat: &Tensor<1>) -> Result<Vec<Values>> {
    let all = plan.link.download(what, flat.clone())?.to_f64();
    let mut start = 0;
    let array = |array: &ppgn_nn::Array| {
        let range = start..start + array.len();
        start = range.end;
        Values::from_f64(plan.link.precision(), &all[range])
    };
    Ok(plan.layout.arrays().iter().map(array).collect())
}
