//! The theorem compiler: from the proofs of Theorems 1 and 2 to weights.
//!
//! Theorem 2 says that some network of the paper's architecture parts two graphs that 2-FWL (equally strong: 3-WL)
//! parts; Theorem 1 says so of k-order networks and k-WL, and Section 6 of the generalised product and k-FWL. [`compile`]
//! writes that network for any finite set of graphs, as an ordinary [`PpgnConfig`] with real weights: its scores differ
//! for two of the graphs exactly if the test parts them, and are the same, bit for bit, for relabelled copies. The steps
//! of the proofs are files:
//!
//! | step | file |
//! | --- | --- |
//! | which network is which test | `form` |
//! | isomorphism types, colours of round 0 | `types`, of k-tuples `tuples` |
//! | tau, tau_1 and tau_2 as ReLU networks, exact on the colours that occur | `table` |
//! | multisets as vectors: projections, power sums, counts | `encoding` |
//! | the product, and the concatenation by m4 | `round` |
//! | the histogram | `histogram` |
//! | sums below 2^53, so that f64 is exact in any order | `exact` |
//! | how far apart the scores are | `margin` |
//!
//! R rounds take R + 1 blocks, and of Theorem 2's network one more for the isomorphism types where nodes differ by labels
//! or loops. Colours are integers throughout; between rounds m4 makes one of (X, W), and the identity matrix is carried along beside it.

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
use exact::Largest;
use form::Form;
use histogram::{Histogram, classes, histograms};
use plan::Plan;
use ppgn_graph::encode::Encoding;
use ppgn_graph::{Graph, Schema};
use ppgn_kernels::Workspace;
use ppgn_wl::{Interrupt, Refinement};
use types::Types;

/// What to compile.
#[derive(Debug, Clone)]
pub struct Options {
    /// So many rounds of the test; without it, the fewest after which the graphs are parted as by the stable colouring.
    pub rounds: Option<usize>,
    /// How multisets become vectors.
    pub multiset: Multiset,
    /// Whether labels of nodes and edges are colours; the refinement must have been run in the same way. Attributes
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

/// A network that is a Weisfeiler-Leman test.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The network's form.
    pub config: PpgnConfig,
    /// Its weights, one an array of its [`Layout`](crate::Layout), in f64.
    pub parameters: Vec<Values>,
    /// How graphs become its input.
    pub encoding: Encoding,
    /// The rounds of the test that it runs.
    pub rounds: usize,
    /// How its multisets become vectors.
    pub multiset: Multiset,
    /// The scores of every graph that it was compiled from: integers.
    pub scores: Vec<Vec<f64>>,
    /// The smallest of the largest differences of scores over all pairs of graphs that it parts; 1 where it parts none.
    pub margin: f64,
    /// What it does, block by block.
    pub steps: Vec<String>,
    /// No sum within it exceeds this, in any order.
    pub largest: f64,
}

/// Compiles the test that gave these colours into a network: 2-FWL into that of Theorem 2, k-FWL beyond into
/// one of order k with the generalised product, k-WL into a k-order network with the sums of Theorem 1's proof
/// ([`Model::Sums`](crate::Model::Sums)).
///
/// `colours` is the refinement of the same graphs, run until it is stable or for at least the rounds that are asked for;
/// `schema` is what the encoding goes by.
///
/// # Complexity
/// O(n k) a colour, round and draw of tables, O(n^k) a graph; the network has O(colours) hidden channels a block.
///
/// # Errors
/// If sums could reach 2^53 in magnitude, a layer would be too large, the encoding does not carry the isomorphism types
/// (labels that differ in the two directions of an edge), or the test is 1-WL, which colours nodes.
///
/// ```
/// use ppgn_graph::{Schema, generate::generate};
/// use ppgn_nn::compile::{Options, compile};
/// use ppgn_wl::{Test, refine};
/// // Strongly regular with the same parameters: 2-FWL does not part them, 3-FWL does.
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
    let mut plans: Vec<Plan> = Vec::new();
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
        // From here on rows are (code, identity).
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
        return Err(Error::call("the colours are those of other graphs"));
    }
    let enough = options.rounds.is_some_and(|rounds| rounds <= colours.rounds());
    if !(enough || colours.is_stable()) {
        return Err(Error::call("the colours are neither stable nor those of enough rounds"));
    }
    if options.rounds.is_some_and(|rounds| rounds > 900) {
        return Err(Error::call("a network has at most 1000 blocks: compile at most 900 rounds"));
    }
    Ok(())
}

/// The fewest rounds after which as many classes of graphs are told apart as in the end.
fn fewest_rounds(colours: &Refinement) -> usize {
    let all = classes(&histograms(colours, colours.rounds()));
    (0..colours.rounds()).find(|&r| classes(&histograms(colours, r)) == all).unwrap_or(colours.rounds())
}

impl Compiled {
    /// Two graphs count as told apart where a score differs by more than this: half the margin.
    pub fn threshold(&self) -> f64 {
        self.margin / 2.0
    }

    /// The network itself.
    pub fn network(&self) -> Result<Ppgn> {
        Ppgn::new(self.config.clone(), self.parameters.clone())
    }

    /// How many graphs to run at a time, so that no layer's output is larger than 64 MiB if it can be helped.
    pub fn batch(&self, largest_nodes: usize) -> usize {
        let hidden =
            self.config.blocks.iter().flat_map(|b| b.hidden.iter().flatten().copied().chain([b.product()]));
        let rows = largest_nodes.max(1).saturating_pow(self.config.order as u32);
        let numbers = hidden.max().unwrap_or(1).saturating_mul(rows);
        ((1 << 23) / numbers.max(1)).clamp(1, 64)
    }

    /// Runs the network on the graphs that it was compiled from and compares all scores, bit for bit, with what the
    /// proof says they are.
    pub fn verify(&self, graphs: &[Graph], schema: &Schema) -> Result<()> {
        self.verify_until(graphs, schema, &Interrupt::default())
    }

    /// The same with a way to stop early.
    pub fn verify_until(&self, graphs: &[Graph], schema: &Schema, interrupt: &Interrupt) -> Result<()> {
        let encoder = self.encoding.encoder(schema)?;
        let network = self.network()?.with_workspace(Workspace::default().stopped_by(interrupt.flag()));
        let most = graphs.iter().map(Graph::nodes).max().unwrap_or(0);
        let size = self.batch(most);
        for (b, (graphs, scores)) in graphs.chunks(size).zip(self.scores.chunks(size)).enumerate() {
            interrupt.check()?;
            let graphs: Vec<&Graph> = graphs.iter().collect();
            let batch = Batch::of(&self.config, &encoder, &graphs, Precision::F64)?;
            let found = network.forward(&batch)?.to_f64();
            for (g, (found, wanted)) in found.chunks(self.config.outputs).zip(scores).enumerate() {
                if found.iter().zip(wanted).any(|(a, b)| a.to_bits() != b.to_bits()) {
                    return Err(Error::unfit(format!(
                        "graph {}: the network's scores are not those of the proof: integers below 2^53 were not added exactly",
                        b * size + g
                    )));
                }
            }
        }
        Ok(())
    }
}
