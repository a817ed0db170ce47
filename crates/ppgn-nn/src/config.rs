//! What a network is, as data: [`PpgnConfig`] with the paper's choices as defaults.
//!
//! A configuration is written into run folders and weight files, so every field has a name in TOML and JSON, and what
//! is left out means the paper's choice. [`PpgnConfig::validate`] finds what cannot be built before anything is.

use crate::isomorphism;
use crate::layout::Layout;
use crate::model::Model;
use ppgn_graph::{Error, Result};
use ppgn_kernels::patterns;
use serde::{Deserialize, Serialize};

/// Configuration of a [`Ppgn`](crate::Ppgn), made into one by [`init`](PpgnConfig::init).
///
/// ```
/// use ppgn_nn::{BlockConfig, PpgnConfig, SuffixKind};
/// let paper_1 = PpgnConfig::new(8, 2);
/// assert_eq!((paper_1.blocks.len(), paper_1.blocks[0].width, paper_1.depth), (3, 400, 2));
/// let paper_2 = PpgnConfig { suffix: SuffixKind::I, ..PpgnConfig::new(8, 2) };
/// let paper_3 = PpgnConfig { blocks: vec![BlockConfig::new(256); 3], depth: 3, ..PpgnConfig::new(8, 2) };
/// assert!(paper_2.validate().is_ok() && paper_3.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PpgnConfig {
    /// Channels of the input, as many as the encoding has.
    pub inputs: usize,
    /// Outputs a graph: classes, or values to predict.
    pub outputs: usize,
    /// The order k: rows are k-tuples of nodes. Default: 2, the paper's pairs. Beyond it, and for [`Model::Sums`], the
    /// first block's input are the isomorphism types of the tuples, k * k * (inputs + 1) channels.
    #[serde(default = "default::order", skip_serializing_if = "default::is_order")]
    pub order: usize,
    /// The blocks, first to last. A bare number is a block of that width. Default: three of 400.
    #[serde(default = "default::blocks")]
    pub blocks: Vec<BlockConfig>,
    /// What a block is: the paper's, or one of those that it compares with. Default: the paper's.
    #[serde(default, skip_serializing_if = "Model::is_mp")]
    pub model: Model,
    /// Layers of m1 and m2 (in the model `lin`, linear layers) in blocks that do not list their hidden widths. Default: 2.
    #[serde(default = "default::depth")]
    pub depth: usize,
    /// m3, on the way of X past the product. Default: the identity.
    #[serde(default)]
    pub m3: M3,
    /// m4, which joins m3(X) and W. Default: one linear layer.
    #[serde(default)]
    pub m4: M4,
    /// What follows the blocks. Default: ii.
    #[serde(default)]
    pub suffix: SuffixKind,
    /// Widths of suffix i's hidden layers; suffix ii has none. Default: 512, 256.
    #[serde(default = "default::suffix_hidden")]
    pub suffix_hidden: Vec<usize>,
    /// How the pairs of a graph become one row. Default: the maximum.
    #[serde(default)]
    pub pooling: Pooling,
    /// What the product is divided by; a model without one does not ask. Default: nothing.
    #[serde(default)]
    pub scale: Scale,
    /// Normalisation of W, after the product; a model without one does not ask. Default: none.
    #[serde(default)]
    pub norm: Norm,
    /// Whether a block adds its input X to its output where both have the same width. Default: no.
    #[serde(default)]
    pub residual: bool,
}

mod default {
    use super::BlockConfig;

    pub(super) fn blocks() -> Vec<BlockConfig> {
        vec![BlockConfig::new(400); 3]
    }

    pub(super) fn order() -> usize {
        2
    }

    pub(super) fn is_order(order: &usize) -> bool {
        *order == self::order()
    }

    pub(super) fn depth() -> usize {
        2
    }

    pub(super) fn suffix_hidden() -> Vec<usize> {
        vec![512, 256]
    }
}

/// One block: an output width, a product width and hidden widths.
///
/// In a file it is a number (`400`), or a table (`{ width = 2, product = 1, hidden = [4, 4] }`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BlockText", into = "BlockText")]
pub struct BlockConfig {
    /// Channels of the block's output m4(m3(X), W). Where m4 is left out the output is (m3(X), W), which is as wide
    /// as these two, and this is only the default of the other widths.
    pub width: usize,
    /// Channels of the product W, or of m1(X) in the model `mlp`. Default: `width`.
    pub product: Option<usize>,
    /// Widths of the hidden layers of m1 and m2, or of the linear layers but the last in the model `lin`. Default:
    /// `depth - 1` times `width`.
    pub hidden: Option<Vec<usize>>,
}

impl BlockConfig {
    /// A block as in the paper: everything is `width` wide.
    pub fn new(width: usize) -> Self {
        BlockConfig { width, product: None, hidden: None }
    }

    /// Channels of W.
    pub fn product(&self) -> usize {
        self.product.unwrap_or(self.width)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BlockText {
    Width(usize),
    Full(BlockTable),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockTable {
    width: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    product: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hidden: Option<Vec<usize>>,
}

impl From<BlockText> for BlockConfig {
    fn from(text: BlockText) -> Self {
        match text {
            BlockText::Width(width) => BlockConfig::new(width),
            BlockText::Full(BlockTable { width, product, hidden }) => BlockConfig { width, product, hidden },
        }
    }
}

impl From<BlockConfig> for BlockText {
    fn from(block: BlockConfig) -> Self {
        match block {
            BlockConfig { width, product: None, hidden: None } => BlockText::Width(width),
            BlockConfig { width, product, hidden } => BlockText::Full(BlockTable { width, product, hidden }),
        }
    }
}

/// m3: what happens to X on its way past the product.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum M3 {
    /// Nothing, as in the paper's experiments.
    #[default]
    Identity,
    /// An MLP with these layer widths, a ReLU after every layer; the last is the width of m3(X).
    Mlp(Vec<usize>),
}

/// m4: how m3(X) and W become the block's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum M4 {
    /// One linear layer on the two, without activation.
    #[default]
    Linear,
    /// The output is their concatenation (m3(X), W): the block of the paper's Section 6, and of Theorem 2.
    None,
}

/// What turns blocks' outputs into scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuffixKind {
    /// Pool after the last block, then fully connected layers with ReLU between.
    I,
    /// Pool after every block, one linear map each, summed.
    #[default]
    Ii,
}

/// How pooling joins pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The maximum over the diagonal, and over the rest: the paper's suffixes.
    #[default]
    Max,
    /// The sums: the invariant linear layer h of the theorems.
    Sum,
}

/// What the product is divided by, n the nodes of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Scale {
    /// Nothing.
    #[default]
    #[serde(rename = "none")]
    None,
    /// sqrt(n).
    #[serde(rename = "sqrt-n")]
    SqrtN,
    /// n.
    #[serde(rename = "n")]
    N,
}

impl Scale {
    /// The factor for a graph with n nodes.
    pub fn factor(self, nodes: usize) -> f64 {
        match self {
            Scale::None => 1.0,
            Scale::SqrtN => 1.0 / (nodes.max(1) as f64).sqrt(),
            Scale::N => 1.0 / nodes.max(1) as f64,
        }
    }
}

/// Normalisation of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// None.
    #[default]
    None,
    /// Each row of W divided by the root of its mean square over the channels. There is no learned gain: what
    /// follows is linear in every channel, and has one already.
    Rms,
}

/// Longer tuples are more than any memory holds, but for graphs of a few nodes.
const MOST_ORDER: usize = 10;

/// More parameters than this are a slip of the pen, not a network.
const MOST_PARAMETERS: usize = 1 << 30;

impl PpgnConfig {
    /// The paper's first network (`paper-1`) for so many input channels and outputs.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        PpgnConfig {
            inputs,
            outputs,
            order: default::order(),
            blocks: default::blocks(),
            model: Model::default(),
            depth: default::depth(),
            m3: M3::default(),
            m4: M4::default(),
            suffix: SuffixKind::default(),
            suffix_hidden: default::suffix_hidden(),
            pooling: Pooling::default(),
            scale: Scale::default(),
            norm: Norm::default(),
            residual: false,
        }
    }

    /// The channels before the first block, and after each: `blocks.len() + 1` numbers.
    pub fn widths(&self) -> Vec<usize> {
        let mut widths = vec![self.tuples().map_or(self.inputs, |k| isomorphism::channels(k, self.inputs))];
        for block in &self.blocks {
            let passed = self.passed(widths[widths.len() - 1]);
            widths.push(match (self.model, self.m4) {
                (Model::Lin, _) | (_, M4::Linear) => block.width,
                (_, M4::None) => passed.saturating_add(self.beside(block)),
            });
        }
        widths
    }

    /// The length of the tuples whose isomorphism types are the input; none where it is the encoding itself.
    pub fn tuples(&self) -> Option<usize> {
        (self.order > 2 || self.model == Model::Sums).then_some(self.order)
    }

    /// How many MLPs a block has before its product.
    pub(crate) fn factors(&self) -> usize {
        match self.model {
            Model::Mp | Model::MpLin => self.order,
            Model::Sums | Model::Mlp => 1,
            Model::Lin => 0,
        }
    }

    /// Into how many parts a graph's rows are pooled: one a pattern of equal nodes, Bell(order).
    pub(crate) fn pools(&self) -> usize {
        patterns(self.order)
    }

    /// The channels of m3(X), for an X with so many.
    pub(crate) fn passed(&self, inputs: usize) -> usize {
        match &self.m3 {
            M3::Identity => inputs,
            M3::Mlp(widths) => widths.last().copied().unwrap_or(inputs),
        }
    }

    /// The channels that go into m4 beside m3(X).
    pub(crate) fn beside(&self, block: &BlockConfig) -> usize {
        match self.model {
            Model::MpLin => block.product().saturating_add(block.width),
            Model::Mp | Model::Lin | Model::Mlp => block.product(),
            Model::Sums => block.product().saturating_mul(self.order),
        }
    }

    /// The layer widths of m1 and m2 (of the linear layers in the model `lin`) in a block, input and output included.
    pub(crate) fn mlp_widths(&self, block: &BlockConfig, inputs: usize) -> Vec<usize> {
        let mut widths = vec![inputs];
        match &block.hidden {
            Some(hidden) => widths.extend(hidden),
            None => widths.extend(std::iter::repeat_n(block.width, self.depth.saturating_sub(1))),
        }
        widths.push(block.product());
        widths
    }

    /// Features a graph of [`embed`](crate::Ppgn::embed): twice the width of every pooled block, of order k Bell(k) times.
    pub fn embedding(&self) -> usize {
        let (widths, pools) = (self.widths(), self.pools());
        match self.suffix {
            SuffixKind::I => widths[widths.len() - 1].saturating_mul(pools),
            SuffixKind::Ii => {
                widths[1..].iter().fold(0, |sum, w| w.saturating_mul(pools).saturating_add(sum))
            }
        }
    }

    /// Whether such a network can be built; the error says what is wrong.
    pub fn validate(&self) -> Result<()> {
        let positive = |what: &str, n: usize| match n {
            0 => Err(Error::call(format!("a network has {what}, this one has 0"))),
            _ => Ok(()),
        };
        positive("at least one input channel", self.inputs)?;
        positive("at least one output", self.outputs)?;
        positive("at least one block", self.blocks.len())?;
        positive("MLPs of at least one layer", self.depth)?;
        if !(2..=MOST_ORDER).contains(&self.order) {
            return Err(Error::call(format!(
                "a network has an order from 2 (pairs of nodes) to {MOST_ORDER}, not {}",
                self.order
            )));
        }
        let m3: &[usize] = match &self.m3 {
            M3::Identity => &[],
            M3::Mlp(widths) if widths.is_empty() => {
                return Err(Error::call("m3 as an MLP needs at least one width; the identity has none"));
            }
            M3::Mlp(widths) => widths,
        };
        let blocks = self
            .blocks
            .iter()
            .flat_map(|b| [b.width, b.product()].into_iter().chain(b.hidden.iter().flatten().copied()));
        for width in blocks.chain(m3.iter().copied()).chain(self.suffix_hidden.iter().copied()) {
            positive("layers of at least one channel", width)?;
        }
        if self.depth > 1000 || self.blocks.len() > 1000 {
            return Err(Error::call("a network has at most 1000 blocks with MLPs of at most 1000 layers"));
        }
        if self.order > 2 && !matches!(self.model, Model::Mp | Model::Sums) {
            return Err(Error::call(format!(
                "the model `{}` is one of pairs, order 2; orders beyond it have `mp` and `sums`",
                self.model.name()
            )));
        }
        if self.model == Model::Lin {
            let more = [
                (self.m3 != M3::Identity, "m3"),
                (self.m4 != M4::Linear, "m4"),
                (self.residual, "residual"),
                (self.blocks.iter().any(|b| b.product.is_some()), "product"),
            ];
            if let Some((_, name)) = more.iter().find(|(set, _)| *set) {
                return Err(Error::call(format!(
                    "blocks of the model `lin` are linear layers and nothing else: leave `{name}` out"
                )));
            }
        }
        if self.residual && self.m4 == M4::None {
            return Err(Error::call(
                "residual blocks need m4: without it a block's output is (m3(X), W), which has X in it already",
            ));
        }
        match Layout::count(self) {
            Some(n) if n <= MOST_PARAMETERS => Ok(()),
            _ => Err(Error::call(format!(
                "these widths make more than {MOST_PARAMETERS} parameters; the blocks are {:?}",
                self.blocks.iter().map(|b| b.width).collect::<Vec<_>>()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_the_papers() {
        let config: PpgnConfig = serde_json::from_str(r#"{"inputs": 8, "outputs": 2}"#).unwrap();
        assert_eq!(config, PpgnConfig::new(8, 2));
        assert_eq!(config.widths(), [8, 400, 400, 400]);
        assert_eq!(config.embedding(), 2400);
    }

    #[test]
    fn blocks_are_numbers_or_tables() {
        let text = r#"{"inputs":1,"outputs":1,"blocks":[3,{"width":4,"product":2,"hidden":[5,6]}],
            "m3":{"mlp":[7]},"m4":"none","suffix":"i","scale":"sqrt-n","norm":"rms","pooling":"sum"}"#;
        let config: PpgnConfig = serde_json::from_str(text).unwrap();
        assert_eq!(config.mlp_widths(&config.blocks[1], 9), [9, 5, 6, 2]);
        assert_eq!(config.widths(), [1, 10, 9]);
        assert_eq!(config.embedding(), 18);
        let again: PpgnConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(again, config);
        assert!(serde_json::from_str::<PpgnConfig>(r#"{"inputs":1,"outputs":1,"dept":3}"#).is_err());
    }

    #[test]
    fn orders_beyond_two_take_isomorphism_types() {
        let pairs = PpgnConfig::new(2, 2);
        assert!(!serde_json::to_string(&pairs).unwrap().contains("order"));
        assert_eq!((pairs.tuples(), pairs.factors(), pairs.pools()), (None, 2, 2));
        let triples = PpgnConfig { order: 3, blocks: vec![BlockConfig::new(4); 2], ..PpgnConfig::new(2, 2) };
        assert_eq!((triples.tuples(), triples.factors(), triples.pools()), (Some(3), 3, 5));
        assert_eq!((triples.widths(), triples.embedding()), (vec![27, 4, 4], 40));
        let again: PpgnConfig = serde_json::from_str(&serde_json::to_string(&triples).unwrap()).unwrap();
        assert_eq!(again, triples);
        let sums = PpgnConfig { model: Model::Sums, m4: M4::None, ..PpgnConfig::new(1, 1) };
        assert_eq!((sums.tuples(), sums.factors(), sums.widths()[..2].to_vec()), (Some(2), 1, vec![8, 808]));
    }

    #[test]
    fn models_have_names_in_files_and_the_papers_needs_none() {
        for model in Model::ALL {
            let config = PpgnConfig { model, ..PpgnConfig::new(1, 1) };
            let text = serde_json::to_string(&config).unwrap();
            let named = format!(r#""model":"{}""#, model.name());
            assert_eq!(text.contains(&named), model != Model::Mp, "{text}");
            assert_eq!(serde_json::from_str::<PpgnConfig>(&text).unwrap(), config);
        }
    }

    #[test]
    fn what_cannot_be_built_is_told() {
        let base = || PpgnConfig::new(2, 2);
        let message = |config: PpgnConfig| {
            let error = config.validate().unwrap_err();
            assert!(error.is_call());
            error.to_string()
        };
        assert!(message(PpgnConfig { inputs: 0, ..base() }).contains("input channel"));
        assert!(message(PpgnConfig { outputs: 0, ..base() }).contains("output"));
        assert!(message(PpgnConfig { blocks: vec![], ..base() }).contains("block"));
        assert!(message(PpgnConfig { blocks: vec![BlockConfig::new(0)], ..base() }).contains("channel"));
        assert!(message(PpgnConfig { depth: 0, ..base() }).contains("one layer"));
        assert!(message(PpgnConfig { order: 1, ..base() }).contains("from 2"));
        assert!(message(PpgnConfig { order: 11, ..base() }).contains("not 11"));
        assert!(message(PpgnConfig { order: 3, model: Model::MpLin, ..base() }).contains("order 2"));
        assert!(message(PpgnConfig { m3: M3::Mlp(vec![]), ..base() }).contains("m3"));
        assert!(message(PpgnConfig { m4: M4::None, residual: true, ..base() }).contains("residual"));
        assert!(message(PpgnConfig { model: Model::Lin, m4: M4::None, ..base() }).contains("leave `m4` out"));
        assert!(message(PpgnConfig { model: Model::Lin, residual: true, ..base() }).contains("`residual`"));
        assert!(
            message(PpgnConfig { blocks: vec![BlockConfig::new(usize::MAX)], ..base() })
                .contains("more than")
        );
        assert!(message(PpgnConfig { depth: usize::MAX, ..base() }).contains("1000"));
        let wide = BlockConfig { product: Some(usize::MAX), ..BlockConfig::new(1) };
        assert!(message(PpgnConfig { blocks: vec![wide; 3], m4: M4::None, ..base() }).contains("more than"));
    }
}
