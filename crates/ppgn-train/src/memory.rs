//! The memory of training and prediction, estimated before anything is allocated: a process that asks for more than there
//! is gets killed without a message, or takes the machine with it.
//!
//! A pass over a batch holds matrices of rows by channels. Which ones, and when, follows from the description of the blocks:
//! the forward pass of training keeps every block's input, the outputs of its MLPs and their product; the backward pass
//! adds the gradients of one block, from the last to the first. [`Footprint`] adds up what is alive at once and takes the
//! largest sum. Parameters, gradients and Adam's moments come on top. On 620 nodes with three blocks of 400 channels the
//! estimate is 7.7 GiB, and 7.8 GiB were measured.

mod items;

use crate::batches::batches;
use crate::error::{Error, Fits, Result};
use crate::ranks::Ranks;
use crate::session::Session;
use crate::settings::{Settings, Training};
use items::Outputs;
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;
use ppgn_nn::kernels::Product;
use ppgn_nn::model::{Branch, Description, Layer};
use ppgn_nn::{Activation, Colours, Layout, PpgnConfig, Precision};

/// Hidden layers of up to this many bytes are kept for the backward pass, as the engine of the network does.
const HIDDEN: f64 = (512u64 << 20) as f64;

/// Copies of the parameters that exist at once: themselves, gradients, two moments and their average; all but the gradients
/// once more while a checkpoint is written, and the average in the network that is evaluated.
const COPIES: f64 = 10.0;

/// Bytes of a vector register.
const VECTOR: f64 = 32.0;

/// Graphs that are looked at, over all epochs, to find the largest batch.
const DRAWS: usize = 20_000_000;

/// What a pass keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    Prediction,
    Training,
}

/// A batch, as far as its memory depends on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Load {
    graphs: usize,
    /// Nodes of the largest graph.
    nodes: usize,
    /// Rows at every level, from the input to the last block's output.
    rows: Vec<f64>,
    /// The nodes of all graphs.
    total: f64,
    /// The tuples of all graphs; on the dense space these are the rows.
    tuples: f64,
}

/// What a network needs for a batch.
pub(crate) struct Footprint {
    blocks: Vec<Description>,
    order: usize,
    /// Whether rows are activated before they are pooled.
    activates: bool,
    /// Bytes of a number.
    size: f64,
    parameters: f64,
    threads: f64,
    outputs: Outputs,
}

impl Footprint {
    pub(crate) fn new(session: &Session, config: &PpgnConfig, precision: Precision) -> Self {
        Footprint {
            blocks: config.descriptions(),
            order: config.order,
            activates: config.activate_pooled,
            size: if precision == Precision::F64 { 8.0 } else { 4.0 },
            parameters: Layout::new(config).len() as f64,
            threads: session.install(rayon::current_num_threads) as f64,
            outputs: Outputs::new(config),
        }
    }

    /// Graphs with these nodes on the dense space, every tuple a row.
    pub(crate) fn dense(&self, nodes: impl IntoIterator<Item = usize>) -> Load {
        let mut load = Load::default();
        for n in nodes {
            load.graphs += 1;
            load.nodes = load.nodes.max(n);
            load.total += n as f64;
            load.tuples += (n as f64).powi(self.order as i32);
        }
        load.rows = vec![load.tuples; self.blocks.len() + 1];
        load
    }

    /// These graphs on the quotient space.
    fn quotient(&self, colours: &Colours, graphs: &[u32]) -> Load {
        let mut load = self.dense(graphs.iter().map(|&g| colours.nodes(g as usize)));
        load.rows.fill(0.0);
        for &g in graphs {
            let own = colours.rows(g as usize);
            load.rows.iter_mut().zip(own).for_each(|(sum, rows)| *sum += rows as f64);
        }
        // Graphs share colours.
        let counts = (0..=colours.depth()).map(|level| colours.count(level) as f64);
        load.rows.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.min(count));
        load
    }

    /// The bytes that a pass over a batch takes, parameters included.
    pub(crate) fn bytes(&self, pass: Pass, load: &Load) -> u64 {
        let inputs = self.blocks.first().map_or(0, |block| block.inputs) as f64;
        let batch = load.rows.first().unwrap_or(&0.0) * inputs;
        // A quotient batch has the row of every tuple at every level.
        let places = if self.is_dense(load) { 0.0 } else { load.tuples * 4.0 * load.rows.len() as f64 };
        let copies = if pass == Pass::Training { COPIES } else { 2.0 };
        let numbers = batch + copies * self.parameters + self.activations(pass, load);
        let items = self.outputs.pass(pass, self.size, load.total, load.tuples);
        (numbers * self.size + places + self.scratch(load) + items) as u64
    }

    fn is_dense(&self, load: &Load) -> bool {
        load.rows.iter().all(|&rows| rows == load.tuples)
    }

    /// What every thread needs for the products of matrices: four of them, two vectors of channels each.
    fn scratch(&self, load: &Load) -> f64 {
        let is_matrix =
            |b: &Branch| matches!(b, Branch::Product { product: Product::Matrix | Product::Transposed, .. });
        match self.blocks.iter().flat_map(|block| &block.branches).any(is_matrix) {
            true => self.threads * 8.0 * (load.nodes as f64).powi(2) * VECTOR,
            false => 0.0,
        }
    }

    fn need(&self, block: &Description, rows: &[f64], dense: bool) -> Need {
        let mut need = Need::of(block, rows, dense);
        // The activated rows, or their gradients.
        need.extra += if self.activates { need.output } else { 0.0 };
        need
    }

    /// The most numbers of activations and their gradients that are alive at once.
    fn activations(&self, pass: Pass, load: &Load) -> f64 {
        let dense = self.is_dense(load);
        let needs: Vec<Need> =
            self.blocks.iter().zip(load.rows.windows(2)).map(|(b, r)| self.need(b, r, dense)).collect();
        if pass == Pass::Prediction {
            return needs
                .iter()
                .map(|n| n.input + n.factors + n.result + n.output + n.extra)
                .fold(0.0, f64::max);
        }
        let keeps_hidden = needs.iter().map(|n| n.hidden).sum::<f64>() * self.size <= HIDDEN;
        let (mut kept, mut peak) = (0.0f64, 0.0f64);
        for (l, n) in needs.iter().enumerate() {
            // The rows of the batch, the input of the first block, are counted already.
            kept += n.factors + n.result + if l > 0 { n.input } else { 0.0 };
            kept += if keeps_hidden { n.hidden } else { 0.0 };
            let slope = if l > 0 { n.input } else { 0.0 };
            let join = kept + n.output + slope + n.extra;
            let hidden = if keeps_hidden { 0.0 } else { n.hidden };
            peak = peak.max(join).max(kept - n.result + slope + hidden + n.copies);
        }
        peak
    }
}

/// The numbers of a block's matrices.
#[derive(Debug, Default)]
struct Need {
    input: f64,
    output: f64,
    /// The outputs of its MLPs, and of all equivariant layers.
    factors: f64,
    /// The products.
    result: f64,
    /// The hidden layers of its MLPs.
    hidden: f64,
    /// What is there for a moment beside the output or its gradient.
    extra: f64,
    /// The gradients of factors that do not take the factors' places.
    copies: f64,
}

impl Need {
    /// Of a block from `below` to `above` rows.
    fn of(block: &Description, rows: &[f64], dense: bool) -> Self {
        let (below, above) = (rows[0], rows[1]);
        let (inputs, outputs) = (block.inputs as f64, block.outputs() as f64);
        let mut need = Need { input: below * inputs, output: above * outputs, ..Need::default() };
        if !dense {
            need.extra += below * outputs;
        }
        need.extra += below * sight(block);
        for branch in &block.branches {
            match branch {
                Branch::Skip => {}
                Branch::Rows(layers) => need.mlp(below, layers, block.activation),
                Branch::Product { product, factors, norm } => {
                    factors.iter().for_each(|layers| need.mlp(below, layers, block.activation));
                    let width = branch.outputs(block.seen()) as f64;
                    need.result += above * width;
                    need.extra += if norm.is_some() { above * width } else { 0.0 };
                    if !(dense && matches!(product, Product::Matrix | Product::Transposed)) {
                        need.copies += factors.iter().map(|layers| below * width_of(layers)).sum::<f64>();
                    }
                }
                Branch::Equivariant(layers) => {
                    let outputs = layers.iter().map(|layer| below * layer.outputs as f64).sum::<f64>();
                    need.factors +=
                        if block.activation == Activation::Relu { outputs } else { 2.0 * outputs };
                    let widest =
                        layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(0);
                    need.extra += below * widest as f64;
                }
            }
        }
        need
    }

    fn mlp(&mut self, rows: f64, layers: &[Layer], activation: Activation) {
        let all: f64 = layers.iter().map(|layer| layer.outputs as f64).sum();
        self.factors += rows * width_of(layers);
        self.hidden += rows * (all - width_of(layers));
        // Only a ReLU's derivative can be read off its output.
        self.hidden += if activation == Activation::Relu { 0.0 } else { rows * all };
    }
}

/// Numbers per row of what a block's branches see beside X, and of their gradients.
fn sight(block: &Description) -> f64 {
    let is_transposed = |b: &Branch| matches!(b, Branch::Product { product: Product::Transposed, .. });
    let seen = block.seen() as f64;
    let own = if block.identity { 2.0 * seen } else { 0.0 };
    own + if block.branches.iter().any(is_transposed) { 4.0 * seen } else { 0.0 }
}

/// Channels of an MLP's output.
fn width_of(layers: &[Layer]) -> f64 {
    layers.last().map_or(0.0, |layer| layer.outputs as f64)
}

/// A guard over the batches of one network on one dataset.
pub(crate) struct Guard<'a> {
    footprint: Footprint,
    dataset: &'a Dataset,
    /// Nothing on the dense space.
    colours: Option<&'a Colours>,
    /// Nothing where neither a limit was set nor the system says what it has.
    limit: Option<u64>,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(
        session: &Session,
        config: &PpgnConfig,
        precision: Precision,
        dataset: &'a Dataset,
        colours: Option<&'a Colours>,
    ) -> Self {
        Guard {
            footprint: Footprint::new(session, config, precision),
            dataset,
            colours,
            limit: session.memory(),
        }
    }

    fn load(&self, graphs: &[u32]) -> Load {
        match self.colours {
            Some(colours) => self.footprint.quotient(colours, graphs),
            None => self.footprint.dense(graphs.iter().map(|&g| self.dataset.graph(g as usize).nodes())),
        }
    }

    /// An error if a batch does not fit, beside what is held all the time.
    fn batch(&self, pass: Pass, graphs: &[u32], held: u64) -> Result<u64> {
        let load = self.load(graphs);
        let need = self.footprint.bytes(pass, &load).saturating_add(held);
        match self.limit {
            Some(limit) if need > limit => Err(self.refused(pass, graphs, &load, need, limit)),
            _ => Ok(need),
        }
    }

    /// What would fit instead: fewer graphs, or smaller ones.
    fn refused(&self, pass: Pass, graphs: &[u32], load: &Load, need: u64, limit: u64) -> Error {
        let mut largest = graphs.to_vec();
        largest.sort_by_key(|&g| std::cmp::Reverse(self.dataset.graph(g as usize).nodes()));
        let does = |count: usize| self.footprint.bytes(pass, &self.load(&largest[..count])) <= limit;
        let alone = |nodes: usize| self.footprint.bytes(pass, &self.footprint.dense([nodes])) <= limit;
        let fits = match most(graphs.len(), does) {
            0 => Fits::Nodes(most(load.nodes, alone)),
            count => Fits::Batch(count),
        };
        Error::Memory { need, limit, graphs: load.graphs, nodes: load.nodes, fits }
    }

    /// Checks batches of consecutive graphs, as predictions are made; gives the bytes of the largest.
    pub(crate) fn predictions(&self, graphs: &[u32], batch: usize) -> Result<u64> {
        graphs
            .chunks(batch.max(1))
            .try_fold(0, |most, graphs| Ok(most.max(self.batch(Pass::Prediction, graphs, 0)?)))
    }

    /// Checks all batches of a run; gives the bytes of the largest.
    pub(crate) fn training(&self, training: &Training, split: &Split, seed: u64) -> Result<u64> {
        let size = training.batch.max(1);
        let held = self.footprint.outputs.held(self.dataset, split);
        let evaluated = self.predictions(&split.validation, size)?.max(self.predictions(&split.test, size)?);
        // The largest graphs together are as much as any batch can be.
        let mut largest = split.train.clone();
        largest.sort_by_key(|&g| std::cmp::Reverse(self.dataset.graph(g as usize).nodes()));
        largest.truncate(size);
        if let Ok(need) = self.batch(Pass::Training, &largest, held) {
            return Ok(need.max(evaluated));
        }
        // They may never meet: batches are a function of the seed and the epoch.
        let epochs = (DRAWS / split.train.len().max(1)).clamp(1, training.epochs);
        let mut most = evaluated;
        for epoch in 1..=epochs {
            for graphs in batches(self.dataset, &split.train, size, training.batching, seed, epoch) {
                most = most.max(self.batch(Pass::Training, &graphs, held)?);
            }
        }
        Ok(most)
    }
}

/// The largest number up to `end` of which this is true, where it is true up to some number.
fn most(end: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = high - (high - low) / 2;
        if is(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Checks, before a run folder is made, that the memory for training is there, and that the session's device can train; gives
/// the bytes that a run takes at most, by an estimate. Where the session has several ranks, they share the steps.
///
/// Where only the quotient space might fit, and the settings allow it, the graphs are coloured to find out; the session
/// keeps the colours.
///
/// # Errors
/// [`Error::Memory`], with what would fit.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_train::{Error, Request, Session, Settings, check_memory};
/// let csl = generate("csl")?;
/// let settings = Settings::resolve(&Request::new("csl", &csl))?;
/// assert!(check_memory(&Session::default(), &settings, &csl)? < 1 << 30);
/// let little = Session::default().with_max_memory(Some(1 << 20));
/// assert!(matches!(check_memory(&little, &settings, &csl), Err(Error::Memory { .. })));
/// # Ok::<(), Error>(())
/// ```
pub fn check_memory(session: &Session, settings: &Settings, dataset: &Dataset) -> Result<u64> {
    crate::remote::check(session, settings, dataset, session.ranks().map_or(1, Ranks::size))?;
    on_host(session, settings, dataset)
}

/// The same for a run that is one of many: ranks do not share its steps.
pub(crate) fn check_job(session: &Session, settings: &Settings, dataset: &Dataset) -> Result<u64> {
    crate::remote::check(session, settings, dataset, 1)?;
    on_host(session, settings, dataset)
}

fn on_host(session: &Session, settings: &Settings, dataset: &Dataset) -> Result<u64> {
    if let Some(trained) = settings.trained() {
        let (config, training) = (&settings.network, &settings.training);
        let guard = Guard::new(session, config, training.precision, dataset, None);
        let split = trained.split(dataset, training.seed)?;
        if let Ok(need) = guard.training(training, &split, settings.drawn_from()) {
            return Ok(need);
        }
    }
    Ok(crate::data::Prepared::new(session, settings, dataset)?.memory)
}

/// Checks that the memory for predictions on the dense space is there, in batches of consecutive graphs.
pub fn check_prediction(
    session: &Session,
    config: &PpgnConfig,
    precision: Precision,
    dataset: &Dataset,
    batch: usize,
) -> Result<u64> {
    let all: Vec<u32> = (0..dataset.len() as u32).collect();
    Guard::new(session, config, precision, dataset, None).predictions(&all, batch)
}

/// An error if one piece of work on a graph of n nodes, which grows with n^order, does not fit.
pub(crate) fn admit(session: &Session, need: f64, graphs: usize, nodes: usize, order: usize) -> Result<()> {
    match session.memory() {
        Some(limit) if need > limit as f64 => {
            let share = (limit as f64 / need).powf(1.0 / order.max(1) as f64);
            let fits = Fits::Nodes((nodes as f64 * share) as usize);
            Err(Error::Memory { need: need as u64, limit, graphs, nodes, fits })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_nn::{BlockConfig, SpaceChoice};

    fn footprint(blocks: usize, width: usize) -> Footprint {
        let config = PpgnConfig { blocks: vec![BlockConfig::new(width); blocks], ..PpgnConfig::new(1, 2) };
        Footprint::new(&Session::default().with_threads(2).unwrap(), &config, Precision::F32)
    }

    #[test]
    fn the_estimate_is_what_was_measured() {
        let footprint = footprint(3, 400);
        let gib = |n: u64| n as f64 / (1u64 << 30) as f64;
        let training = gib(footprint.bytes(Pass::Training, &footprint.dense([620])));
        assert!((7.0..8.2).contains(&training), "{training}");
        let prediction = gib(footprint.bytes(Pass::Prediction, &footprint.dense([620])));
        assert!(prediction < training / 2.0, "{prediction}");
    }

    #[test]
    fn numbers_without_end_do_not_overflow() {
        let footprint = footprint(3, 400);
        let load = footprint.dense([usize::MAX; 3]);
        assert!(footprint.bytes(Pass::Training, &load) == u64::MAX);
        assert_eq!((most(10, |n| n <= 7), most(10, |_| true), most(10, |_| false)), (7, 10, 0));
    }

    #[test]
    fn the_quotient_needs_less_where_pairs_merge() {
        let csl = ppgn_graph::generate::generate("csl").unwrap();
        let of = |space| {
            let overrides = crate::Overrides { space: Some(space), ..Default::default() };
            let request = crate::Request { overrides, ..crate::Request::new("csl", &csl) };
            let settings = Settings::resolve(&request).unwrap();
            crate::data::Prepared::new(&Session::default(), &settings, &csl).unwrap().memory
        };
        assert!(of(SpaceChoice::Quotient) < of(SpaceChoice::Dense));
    }
}
