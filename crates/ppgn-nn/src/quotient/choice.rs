//! Which space a dataset is trained on: the work of both, reckoned before either is done.
//!
//! The quotient pays where pairs merge, and costs a colouring. Real-valued pair features (QM9's distances) leave nothing
//! to merge, which a sample of the graphs shows before all of them are coloured.

use super::Colours;
use super::cache::Origin;
use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::model::Description;
use crate::precision::Precision;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Graph};
use ppgn_wl::Options;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The space that was asked for.
///
/// ```
/// use ppgn_nn::SpaceChoice;
/// assert_eq!("quotient".parse::<SpaceChoice>()?, SpaceChoice::Quotient);
/// assert!("sparse".parse::<SpaceChoice>().unwrap_err().is_call());
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpaceChoice {
    /// Whichever is less work.
    #[default]
    Auto,
    /// Every pair is a row.
    Dense,
    /// Every colour of pairs is a row.
    Quotient,
}

impl SpaceChoice {
    /// Its name, as in `--space auto`.
    pub fn name(self) -> &'static str {
        match self {
            SpaceChoice::Auto => "auto",
            SpaceChoice::Dense => "dense",
            SpaceChoice::Quotient => "quotient",
        }
    }
}

impl std::str::FromStr for SpaceChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(SpaceChoice::Auto),
            "dense" => Ok(SpaceChoice::Dense),
            "quotient" => Ok(SpaceChoice::Quotient),
            _ => Err(Error::call(format!("`{name}` is not a space; there are auto, dense and quotient"))),
        }
    }
}

/// The work of an epoch of training on both spaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The length of the tuples that are rows: 2 for pairs.
    pub order: usize,
    /// The pairs (or longer tuples) of all graphs, the dense space's rows at every level.
    pub pairs: u64,
    /// The quotient's rows at every level, graph by graph (what graphs of a batch share is not taken off).
    pub rows: Vec<u64>,
    /// Floating-point operations of an epoch on the dense space, those of the product [weighted](Cost::PRODUCT).
    pub dense: f64,
    /// The same on the quotient.
    pub quotient: f64,
}

impl Cost {
    /// What an operation of the product is taken to cost, in operations of a matrix product: it reads a number for
    /// each, where those of the MLPs use every number hundreds of times.
    pub const PRODUCT: f64 = 4.0;

    /// A backward pass is twice the work of the forward pass.
    const PASSES: f64 = 3.0;

    /// The work of a network on these graphs: `rows(l)` rows through the MLPs of block l, `rows(l + 1)` sums over n.
    /// O(colours).
    ///
    /// ```
    /// use ppgn_graph::{encode::{Encoding, Kind}, generate::generate};
    /// use ppgn_nn::{Colours, Cost, PpgnConfig, Precision};
    /// let rook = generate("rook:n=4")?;
    /// let encoder = Encoding::from(Kind::Authors).encoder(rook.schema())?;
    /// let colours = Colours::encode(&encoder, rook.graphs(), Precision::F32, 3, &Default::default())?;
    /// let cost = Cost::new(&PpgnConfig::new(1, 2), &colours);
    /// assert_eq!((cost.pairs, &cost.rows[..]), (256, &[2, 3, 3, 3][..]));
    /// assert!(cost.quotient < 0.02 * cost.dense);
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn new(config: &PpgnConfig, colours: &Colours) -> Self {
        let (order, rows) = (colours.order(), vec![0; colours.depth() + 1]);
        let blocks = config.descriptions();
        let mut cost = Cost { order, pairs: 0, rows, dense: 0.0, quotient: 0.0 };
        for graph in 0..colours.graphs() {
            let (nodes, rows) = (colours.nodes(graph), colours.rows(graph));
            let tuples = nodes.pow(colours.order() as u32);
            cost.pairs += tuples as u64;
            cost.rows.iter_mut().zip(&rows).for_each(|(sum, &rows)| *sum += rows as u64);
            cost.dense += flops(&blocks, nodes, |_| tuples);
            cost.quotient += flops(&blocks, nodes, |level| rows[level.min(rows.len() - 1)]);
        }
        cost
    }

    /// The quotient's work as a share of the dense space's.
    pub fn share(&self) -> f64 {
        self.quotient / self.dense
    }

    /// The rows by level as shares of the pairs, in words.
    fn shares(&self) -> String {
        let percent = |&rows: &u64| 100.0 * rows as f64 / self.pairs.max(1) as f64;
        let shares: Vec<String> = self.rows.iter().map(|rows| format!("{:.1}", percent(rows))).collect();
        format!("{} % of {} {}", shares.join(" / "), self.pairs, named(self.order))
    }
}

/// What the rows of the dense space are.
fn named(order: usize) -> String {
    if order == 2 { "pairs".into() } else { format!("{order}-tuples") }
}

/// The work of an epoch on one graph that has so many rows at a level.
fn flops(blocks: &[Description], nodes: usize, rows: impl Fn(usize) -> usize) -> f64 {
    let block = |(level, block): (usize, &Description)| {
        let [below, above] = block.multiplications(nodes, Cost::PRODUCT);
        rows(level) as f64 * below + rows(level + 1) as f64 * above
    };
    2.0 * Cost::PASSES * blocks.iter().enumerate().map(block).sum::<f64>()
}

/// What was chosen, and why.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The dataset's colours if it is the quotient, nothing if it is the dense space.
    pub colours: Option<Arc<Colours>>,
    /// One sentence for the log.
    pub why: String,
    /// The work of both, where it was reckoned for all graphs.
    pub cost: Option<Cost>,
    /// Where the colours came from.
    pub origin: Option<Origin>,
}

/// What a choice depends on.
#[derive(Debug, Clone)]
pub struct Choosing<'a> {
    /// What was asked for.
    pub choice: SpaceChoice,
    /// The network.
    pub config: &'a PpgnConfig,
    /// How graphs become rows.
    pub encoder: &'a Encoder,
    /// The graphs.
    pub dataset: &'a Dataset,
    /// The precision of the rows.
    pub precision: Precision,
    /// The data folder, where colours may be kept; without it they are not.
    pub data_dir: Option<&'a Path>,
    /// The dataset's colours, where they are at hand already.
    pub known: Option<Arc<Colours>>,
    /// The memory that a colouring may take, and a way to stop it. Without a limit `auto` has [one](Choosing::MEMORY).
    pub options: Options,
}

impl Choosing<'_> {
    /// The bytes that `auto` takes for a colouring at most, where no limit is given.
    pub const MEMORY: u64 = 6 << 30;

    /// The bytes that colouring a pair takes at most, for a while.
    const PAIR: u64 = 80;

    /// The quotient must save something for the trouble of colouring.
    const WORTH: f64 = 0.9;

    /// So many graphs are a sample, and of fewer than twice as many none is drawn.
    const SAMPLE: usize = 32;

    /// What a step of the colouring, of which there are n^3 a graph and level, is taken to cost in operations of an
    /// epoch; and how many epochs' work a colouring may be.
    const STEP: f64 = 300.0;
    const EPOCHS: f64 = 20.0;

    /// Chooses a space, and finds the colours if it is the quotient.
    pub fn choose(&self) -> Result<Chosen> {
        self.config.runs_on(self.choice)?;
        match (self.choice, self.config.needs_pairs()) {
            (SpaceChoice::Dense, _) => Ok(dense("as asked".into(), None)),
            (SpaceChoice::Auto, Some(why)) => Ok(dense(why.into(), None)),
            (SpaceChoice::Quotient, _) => {
                let (colours, origin) = self.colours(&self.options)?;
                let cost = Cost::new(self.config, &colours);
                let why = format!("as asked: rows by level are {}", cost.shares());
                Ok(quotient(colours, why, cost, origin))
            }
            (SpaceChoice::Auto, None) => self.cheaper(),
        }
    }

    fn cheaper(&self) -> Result<Chosen> {
        let limit = self.options.max_memory.unwrap_or(Self::MEMORY);
        let options = Options { max_memory: Some(limit), ..self.options.clone() };
        // Nothing here asks whether the colours are known already: a run that is resumed must choose as it did.
        let against = self.too_large(limit).or_else(|| self.too_dear());
        if let Some(why) = against.or_else(|| self.nothing_to_merge()) {
            return Ok(dense(why, None));
        }
        let (colours, origin) = match self.colours(&options) {
            Ok(found) => found,
            // Whoever stops a colouring wants to stop, not to train in another way.
            Err(error) if options.interrupt.check().is_err() => return Err(error),
            Err(error) => return Ok(dense(error.to_string(), None)),
        };
        let cost = Cost::new(self.config, &colours);
        let why = format!(
            "rows by level are {}, an epoch {:.2} of the dense space's work",
            cost.shares(),
            cost.share()
        );
        match cost.share() < Self::WORTH {
            true => Ok(quotient(colours, why, cost, origin)),
            false => Ok(dense(why, Some(cost))),
        }
    }

    /// Why a colouring would need more memory than it may take.
    fn too_large(&self, limit: u64) -> Option<String> {
        let order = self.config.order as u32;
        let tuples = self.dataset.graphs().iter().map(|g| (g.nodes() as u64).saturating_pow(order));
        let pairs = tuples.fold(0u64, u64::saturating_add);
        let need = pairs.saturating_mul(Self::PAIR);
        (need > limit).then(|| {
            let (need, limit) = (need >> 20, limit >> 20);
            let what = named(self.config.order);
            format!("colouring {pairs} {what} needs about {need} MiB of memory, and {limit} MiB are allowed")
        })
    }

    /// Why a colouring would be more work than it can save.
    fn too_dear(&self) -> Option<String> {
        let sum =
            |of: &dyn Fn(usize) -> f64| self.dataset.graphs().iter().map(|g| of(g.nodes())).sum::<f64>();
        let (order, blocks) = (self.config.order as i32, self.config.descriptions());
        let steps = sum(&|n| (n as f64).powi(order + 1)) * self.config.blocks.len() as f64;
        let epoch = sum(&|n| flops(&blocks, n, |_| n.saturating_pow(order as u32)));
        let epochs = steps * Self::STEP / epoch;
        (epochs > Self::EPOCHS).then(|| {
            let what = named(self.config.order);
            format!("colouring the {what} would be the work of about {epochs:.0} epochs of this network")
        })
    }

    /// What a sample of the graphs says against the quotient.
    fn nothing_to_merge(&self) -> Option<String> {
        let graphs = self.dataset.graphs();
        if graphs.len() < 2 * Self::SAMPLE {
            return None;
        }
        let spread = (0..Self::SAMPLE).map(|i| &graphs[i * graphs.len() / Self::SAMPLE]);
        let sample: Vec<Graph> = spread.filter(|graph| graph.nodes() > 0).cloned().collect();
        // Where this fails, colouring all of them says what is wrong, and whether it is an error.
        let colours = self.encode(&sample, &self.options).ok()?;
        let cost = Cost::new(self.config, &colours);
        (cost.share() >= Self::WORTH).then(|| {
            format!(
                "too few {} are alike: in a sample of {} graphs rows by level are {}, {:.2} of the dense space's work",
                named(cost.order),
                sample.len(),
                cost.shares(),
                cost.share()
            )
        })
    }

    fn encode(&self, graphs: &[Graph], options: &Options) -> Result<Colours> {
        Colours::of(self.config, self.encoder, graphs, self.precision, options)
    }

    fn colours(&self, options: &Options) -> Result<(Arc<Colours>, Option<Origin>)> {
        if let Some(known) = &self.known {
            return Ok((known.clone(), None));
        }
        let Some(data_dir) = self.data_dir else {
            return Ok((Arc::new(self.encode(self.dataset.graphs(), options)?), None));
        };
        let cached =
            Colours::cached(data_dir, self.config, self.encoder, self.dataset, self.precision, options);
        cached.map(|(colours, origin)| (Arc::new(colours), Some(origin)))
    }
}

fn dense(why: String, cost: Option<Cost>) -> Chosen {
    Chosen { colours: None, why: format!("dense space: {why}"), cost, origin: None }
}

fn quotient(colours: Arc<Colours>, why: String, cost: Cost, origin: Option<Origin>) -> Chosen {
    let why = format!("quotient space: {why}");
    Chosen { colours: Some(colours), why, cost: Some(cost), origin }
}

impl PpgnConfig {
    /// Why it needs every pair as a row, if it does ([`Description::needs_pairs`]).
    ///
    /// ```
    /// use ppgn_nn::{Model, PpgnConfig};
    /// let paper = PpgnConfig::new(8, 2);
    /// assert!(paper.needs_pairs().is_none());
    /// assert!(PpgnConfig { model: Model::Lin, ..paper }.needs_pairs().is_some());
    /// ```
    pub fn needs_pairs(&self) -> Option<&'static str> {
        self.descriptions().iter().find_map(Description::needs_pairs)
    }

    /// Whether it can run on the space that is asked for; why not otherwise.
    pub fn runs_on(&self, choice: SpaceChoice) -> Result<()> {
        match (choice, self.needs_pairs()) {
            (SpaceChoice::Quotient, Some(why)) => Err(Error::call(format!(
                "the model `{}` cannot run on the quotient space: {why}. Leave `space` out, or say dense",
                self.model.name()
            ))),
            _ => Ok(()),
        }
    }
}
