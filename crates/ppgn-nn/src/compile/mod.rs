//! The theorem compiler: from the proofs of Theorems 1 and 2 to weights.
//!
//! Theorem 2 states that for any two graphs that 2-FWL (equivalently, 3-WL) distinguishes, some network of the paper's
//! architecture distinguishes them. Theorem 1 states the same for k-order networks and k-WL, and Section 6 for the
//! generalised product and k-FWL. [`compile`] constructs that network for any finite set of graphs, as an ordinary
//! [`PpgnConfig`] with actual weights: the scores of two of the graphs differ exactly if the test distinguishes them,
//! and are identical, bit for bit, for relabelled copies. Each step of the proofs is a file:
//!
//! | step | file |
//! | --- | --- |
//! | which network implements which test | `form` |
//! | isomorphism types, the colours of round 0 | `types`; for k-tuples `tuples` |
//! | tau, tau_1 and tau_2 as ReLU networks, exact on the colours that occur | `table` |
//! | multisets as vectors: projections, power sums, counts | `encoding` |
//! | the product, and the concatenation by m4 | `round` |
//! | the histogram | `histogram` |
//! | sums below 2^53, so that f64 is exact in any order | `exact` |
//! | how far apart the scores are | `margin` |
//!
//! R rounds take R + 1 blocks; Theorem 2's network needs one more, for the isomorphism types, if nodes differ by labels
//! or loops. Colours are integers throughout. Between rounds, m4 combines (X, W) into one integer and carries the
//! identity matrix along next to it.

mod encoding;
mod exact;
mod form;
mod histogram;
mod margin;
mod plan;
mod round;
mod table;
mod tuples;
mod types;

pub use encoding::Multiset;

use crate::batch::Batch;
use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::network::Ppgn;
use crate::precision::{Precision, Values};
use crate::quotient::Colours;
use exact::Largest;
use form::Form;
use histogram::{Histogram, classes, histograms};
use plan::BlockPlan;
use ppgn_graph::encode::Encoding;
use ppgn_graph::{Graph, Schema};
use ppgn_kernels::Workspace;
use ppgn_wl::{Interrupt, Refinement};
use types::Types;

/// Numbers in hidden layers beyond which a network is run on the quotient space.
const LARGE: f64 = 1e10;

/// What to compile.
#[derive(Debug, Clone)]
pub struct Options {
    /// The number of rounds of the test; by default, the fewest after which the graphs are distinguished as by the
    /// stable colouring.
    pub rounds: Option<usize>,
    /// How multisets become vectors.
    pub multiset: Multiset,
    /// Whether node and edge labels are colours; the refinement must have been run with the same setting. Attributes
    /// never are.
    pub labels: bool,
    /// A way to stop early.
    pub interrupt: Interrupt,
}

impl Default for Options {
    fn default() -> Self {
        Options { rounds: None, multiset: Multiset::default(), labels: true, interrupt: Interrupt::default() }
    }
}

/// A network that computes a Weisfeiler-Leman test.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The network's configuration.
    pub config: PpgnConfig,
    /// Its parameters, one entry per array of its [`Layout`](crate::Layout), in f64.
    pub parameters: Vec<Values>,
    /// How graphs are encoded as its input.
    pub encoding: Encoding,
    /// The number of rounds of the test it performs.
    pub rounds: usize,
    /// How its multisets become vectors.
    pub multiset: Multiset,
    /// The scores of every graph it was compiled from; all are integers.
    pub scores: Vec<Vec<f64>>,
    /// The margin: the minimum, over all pairs of distinguished graphs, of the largest difference in any score; 1 if no
    /// pair is distinguished.
    pub margin: f64,
    /// A description of each block.
    pub steps: Vec<String>,
    /// A bound on every sum in the network, in any summation order.
    pub largest: f64,
}

/// Compiles the test that produced these colours into a network: 2-FWL into that of Theorem 2, k-FWL for k > 2 into one
/// of order k with the generalised product, k-WL into a k-order network with the sums from the proof of Theorem 1
/// ([`Model::Sums`](crate::Model::Sums)).
///
/// `colours` is the refinement of the same graphs, run until stable or for at least `options.rounds` rounds; `schema`
/// determines the encoding.
///
/// # Complexity
/// O(n k) per colour, round and attempt at drawing tables, plus O(n^k) per graph; the network has O(colours) hidden
/// channels per block.
///
/// # Errors
/// If a sum could reach 2^53 in magnitude, if a layer would be too large, if the encoding does not capture the
/// isomorphism types (labels that differ between the two directions of an edge), or if the test is 1-WL, which colours
/// nodes.
///
/// ```
/// use ppgn_graph::{Schema, generate::generate};
/// use ppgn_nn::compile::{Options, compile};
/// use ppgn_wl::{Test, refine};
/// // Strongly regular with the same parameters: 2-FWL does not distinguish them, 3-FWL does.
/// let graphs = ["rook:n=4", "shrikhande"].map(|name| generate(name).unwrap().graph(0).clone());
/// let schema = Schema::of(&graphs)?;
/// let colours = refine(&graphs, Test::fwl(3)?, &ppgn_wl::Options::default())?;
/// let compiled = compile(&graphs, &schema, &colours, &Options::default())?;
/// assert_eq!(compiled.config.order, 3);
/// assert_ne!(compiled.scores[0], compiled.scores[1]);
/// compiled.verify(&graphs, &schema)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(
    graphs: &[Graph],
    schema: &Schema,
    colours: &Refinement,
    options: &Options,
) -> Result<Compiled> {
    let form = Form::of(colours.test())?;
    check(graphs, colours, options)?;
    let rounds = options.rounds.unwrap_or_else(|| fewest_rounds(colours));
    let nodes: Vec<usize> = graphs.iter().map(Graph::nodes).collect();
    let mut largest = Largest::default();
    let types = match form.has_types() {
        false => Types::new(graphs, schema, colours, options.labels, &mut largest)?,
        true => tuples::types(form.order, graphs, schema, colours, options.labels, &mut largest)?,
    };
    let inputs = types.encoder.channels().len();
    let encoding = types.encoder.encoding();
    let mut plans: Vec<BlockPlan> = Vec::new();
    let Types { mut identity, mut channels, mut codes, block, .. } = types;
    if let Some(block) = block {
        identity = 1;
        plans.push(block);
    }
    for r in 1..=rounds {
        options.interrupt.check()?;
        let input = round::Input { form: &form, channels: &channels, identity, codes: &codes, nodes: &nodes };
        let (plan, next) = round::block(&input, colours, r, options, &mut largest)?;
        plans.push(plan);
        // From here on, rows are (code, identity).
        (channels, identity, codes) = (vec![1, 0], 1, next);
    }
    let histograms = histograms(colours, rounds);
    let Histogram { plan, scores } =
        Histogram::new(&form, &nodes, &channels, identity, &codes, &histograms, &mut largest)?;
    plans.push(plan);
    options.interrupt.check()?;
    let (config, parameters) = plan::network(&form, inputs, &plans)?;
    Ok(Compiled {
        config,
        parameters,
        encoding,
        rounds,
        multiset: options.multiset,
        margin: margin::margin(&scores).unwrap_or(1) as f64,
        scores: scores.iter().map(|row| row.iter().map(|&s| s as f64).collect()).collect(),
        steps: plans.into_iter().map(|plan| plan.note).collect(),
        largest: largest.bound() as f64,
    })
}

fn check(graphs: &[Graph], colours: &Refinement, options: &Options) -> Result<()> {
    let order = colours.test().k() as u32;
    let fits = |g: usize| Some(colours.colours(g).len()) == graphs[g].nodes().checked_pow(order);
    if graphs.len() != colours.graphs() || !(0..graphs.len()).all(fits) {
        return Err(Error::call("the colours belong to other graphs"));
    }
    let enough = options.rounds.is_some_and(|rounds| rounds <= colours.rounds());
    if !(enough || colours.is_stable()) {
        return Err(Error::call("the colouring is neither stable nor long enough for the requested rounds"));
    }
    if options.rounds.is_some_and(|rounds| rounds > 900) {
        return Err(Error::call("a network has at most 1000 blocks: compile at most 900 rounds"));
    }
    Ok(())
}

/// The fewest rounds after which the number of classes of graphs is final.
fn fewest_rounds(colours: &Refinement) -> usize {
    let all = classes(&histograms(colours, colours.rounds()));
    (0..colours.rounds()).find(|&r| classes(&histograms(colours, r)) == all).unwrap_or(colours.rounds())
}

impl Compiled {
    /// Two graphs count as distinguished if a score differs by more than this: half the margin.
    pub fn threshold(&self) -> f64 {
        self.margin / 2.0
    }

    /// The network itself.
    pub fn network(&self) -> Result<Ppgn> {
        Ppgn::new(self.config.clone(), self.parameters.clone())
    }

    /// The number of graphs per batch that keeps every layer's output within 64 MiB, at least one.
    pub fn batch(&self, largest_nodes: usize) -> usize {
        let hidden =
            self.config.blocks.iter().flat_map(|b| b.hidden.iter().flatten().copied().chain([b.product()]));
        let rows = largest_nodes.max(1).saturating_pow(self.config.order as u32);
        let numbers = hidden.max().unwrap_or(1).saturating_mul(rows);
        ((1 << 23) / numbers.max(1)).clamp(1, 64)
    }

    /// Runs the network on the graphs it was compiled from and compares all scores, bit for bit, with those the proof
    /// predicts. Sums are exact in any order, so the spaces agree to the bit; where the dense space would take minutes, the
    /// quotient space is used, with one row per colour.
    pub fn verify(&self, graphs: &[Graph], schema: &Schema) -> Result<()> {
        self.verify_until(graphs, schema, &Interrupt::default())
    }

    /// The same with a way to stop early.
    pub fn verify_until(&self, graphs: &[Graph], schema: &Schema, interrupt: &Interrupt) -> Result<()> {
        let encoder = self.encoding.encoder(schema)?;
        let network = self.network()?.with_workspace(Workspace::default().stopped_by(interrupt.flag()));
        let most = graphs.iter().map(Graph::nodes).max().unwrap_or(0);
        if prefers_quotient(&self.config, graphs) {
            let limits = ppgn_wl::Options { interrupt: interrupt.clone(), ..Default::default() };
            let colours = Colours::of(&self.config, &encoder, graphs, Precision::F64, &limits)?;
            for (g, expected) in self.scores.iter().enumerate() {
                interrupt.check()?;
                let found = network.forward(&Batch::quotient(&colours, &[g])?)?.to_f64();
                self.compare(g, &found, expected)?;
            }
            return Ok(());
        }
        let size = self.batch(most);
        for (b, (graphs, scores)) in graphs.chunks(size).zip(self.scores.chunks(size)).enumerate() {
            interrupt.check()?;
            let graphs: Vec<&Graph> = graphs.iter().collect();
            let batch = Batch::of(&self.config, &encoder, &graphs, Precision::F64)?;
            let found = network.forward(&batch)?.to_f64();
            for (g, (found, expected)) in found.chunks(self.config.outputs).zip(scores).enumerate() {
                self.compare(b * size + g, found, expected)?;
            }
        }
        Ok(())
    }

    fn compare(&self, graph: usize, found: &[f64], expected: &[f64]) -> Result<()> {
        match found.iter().zip(expected).any(|(a, b)| a.to_bits() != b.to_bits()) {
            false => Ok(()),
            true => Err(Error::unfit(format!(
                "graph {graph}: the scores differ from those the proof predicts: integers below 2^53 were not added \
                 exactly"
            ))),
        }
    }
}

/// Whether a compiled network is better run on the quotient space, because the layers of all MLPs on all tuples of all
/// graphs are too many numbers for the dense space. Sums are exact in any order, so the scores are the same to the bit.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_nn::compile::{self, Options};
/// use ppgn_wl::{Test, refine};
/// let pair = generate("figure1")?;
/// let colours = refine(pair.graphs(), Test::fwl(2)?, &Default::default())?;
/// let compiled = compile::compile(pair.graphs(), pair.schema(), &colours, &Options::default())?;
/// assert!(!compile::prefers_quotient(&compiled.config, pair.graphs()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prefers_quotient(config: &PpgnConfig, graphs: &[Graph]) -> bool {
    let hidden = config.blocks.iter().flat_map(|b| b.hidden.iter().flatten());
    let hidden = hidden.fold(0.0, |sum, &width| sum + width as f64);
    let tuples = graphs.iter().map(|g| (g.nodes() as f64).powi(config.order as i32)).sum::<f64>();
    config.needs_pairs().is_none() && hidden * tuples > LARGE
}
