//! The description of a network as data: [`PpgnConfig`], with the paper's choices as defaults.
//!
//! A configuration is stored in run folders and weight files, so every field has a name in TOML and JSON, and a missing
//! field means the paper's choice. [`PpgnConfig::validate`] rejects what cannot be built before anything is allocated;
//! [`PpgnConfig::descriptions`] lists the layers of the blocks.

mod block;
mod options;
mod validate;

pub use block::BlockConfig;
pub use options::{Activation, Level, M3, M4, Norm, Pooling, Scale, SuffixKind};

use crate::isomorphism;
use crate::model::Model;
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PpgnConfig {
    /// Channels of the input encoding.
    pub inputs: usize,
    /// Outputs per graph, node or pair: classes, or regression targets.
    pub outputs: usize,
    /// What has outputs. Default: every graph.
    #[serde(default, skip_serializing_if = "Level::is_graph")]
    pub level: Level,
    /// The order k: rows are k-tuples of nodes. Default: 2, the paper's pairs. For k > 2, and for [`Model::Sums`], the
    /// input of the first block consists of the isomorphism types of the tuples, k * k * (inputs + 1) channels.
    #[serde(default = "default::order", skip_serializing_if = "default::is_order")]
    pub order: usize,
    /// The blocks in order. A plain number is a block of that width. Default: three of 400.
    #[serde(default = "default::blocks")]
    pub blocks: Vec<BlockConfig>,
    /// The kind of block: the paper's, or one of those it compares with. Default: the paper's.
    #[serde(default, skip_serializing_if = "Model::is_mp")]
    pub model: Model,
    /// Layers of m1 and m2 (in the model `lin`, linear layers) for blocks that do not list their hidden widths.
    /// Default: 2.
    #[serde(default = "default::depth")]
    pub depth: usize,
    /// m3, applied to X on the skip connection. Default: the identity.
    #[serde(default)]
    pub m3: M3,
    /// m4, which combines m3(X) and W. Default: one linear layer.
    #[serde(default)]
    pub m4: M4,
    /// What follows the blocks. Default: ii.
    #[serde(default)]
    pub suffix: SuffixKind,
    /// Hidden widths of suffix i; suffix ii has none. Default: 512, 256.
    #[serde(default = "default::suffix_hidden")]
    pub suffix_hidden: Vec<usize>,
    /// How the pairs of a graph are reduced to one row. Default: the maximum.
    #[serde(default)]
    pub pooling: Pooling,
    /// Whether the suffix reads f(X) instead of X, f being the activation: pooled, or of nodes and pairs. Default: no.
    #[serde(default, skip_serializing_if = "default::is_false")]
    pub activate_pooled: bool,
    /// The activation. Default: ReLU.
    #[serde(default, skip_serializing_if = "Activation::is_relu")]
    pub activation: Activation,
    /// The gain g of the initial weights, drawn from the normal distribution with variance g^2 / fan-in. Default: none,
    /// for weights drawn uniformly as Glorot and Bengio do ([`Layout::initial`](crate::Layout::initial)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_gain: Option<f64>,
    /// What the product is divided by; ignored by models without a product. Default: nothing.
    #[serde(default)]
    pub scale: Scale,
    /// Normalisation of W, after the product; ignored by models without a product. Default: none.
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

    pub(super) fn is_false(is: &bool) -> bool {
        !is
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

impl PpgnConfig {
    /// The paper's first network (`paper-1`) for these numbers of input channels and outputs.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        PpgnConfig {
            inputs,
            outputs,
            level: Level::default(),
            order: default::order(),
            blocks: default::blocks(),
            model: Model::default(),
            depth: default::depth(),
            m3: M3::default(),
            m4: M4::default(),
            suffix: SuffixKind::default(),
            suffix_hidden: default::suffix_hidden(),
            pooling: Pooling::default(),
            activate_pooled: false,
            activation: Activation::default(),
            init_gain: None,
            scale: Scale::default(),
            norm: Norm::default(),
            residual: false,
        }
    }

    /// The channels before the first block, and after each: `blocks.len() + 1` numbers.
    pub fn widths(&self) -> Vec<usize> {
        let after = self.descriptions().into_iter().map(|block| block.outputs());
        std::iter::once(self.first_width()).chain(after).collect()
    }

    /// The channels before the first block.
    pub(crate) fn first_width(&self) -> usize {
        self.tuples().map_or(self.inputs, |k| isomorphism::channels(k, self.inputs))
    }

    /// The order of the tuples whose isomorphism types are the input; `None` if the input is the encoding itself.
    pub fn tuples(&self) -> Option<usize> {
        self.model.takes_types(self.order).then_some(self.order)
    }

    /// How many times the width of a block its pooled features are: one per pattern of equal nodes, Bell(order), for maxima,
    /// sums or means; two for maxima and means.
    pub(crate) fn pools(&self) -> usize {
        patterns(self.order) * self.pooling.features()
    }

    /// Features per graph of [`embed`](crate::Ppgn::embed): twice the width of every pooled block; for order k, Bell(k)
    /// times; for maxima and means, twice that.
    pub fn embedding(&self) -> usize {
        let (widths, pools) = (self.widths(), self.pools());
        match self.suffix {
            SuffixKind::I => widths[widths.len() - 1].saturating_mul(pools),
            SuffixKind::Ii => {
                widths[1..].iter().fold(0, |sum, w| w.saturating_mul(pools).saturating_add(sum))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_papers_choices() {
        let config: PpgnConfig = serde_json::from_str(r#"{"inputs": 8, "outputs": 2}"#).unwrap();
        assert_eq!(config, PpgnConfig::new(8, 2));
        assert_eq!(config.widths(), [8, 400, 400, 400]);
        assert_eq!(config.embedding(), 2400);
    }

    #[test]
    fn a_block_is_a_number_or_a_table() {
        let text = r#"{"inputs":1,"outputs":1,"blocks":[3,{"width":4,"product":2,"hidden":[5,6]}],
            "m3":{"mlp":[7]},"m4":"none","suffix":"i","scale":"sqrt-n","norm":"rms","pooling":"mean",
            "activation":"sin","init_gain":3.0,"activate_pooled":true}"#;
        let config: PpgnConfig = serde_json::from_str(text).unwrap();
        assert_eq!(config.widths(), [1, 10, 9]);
        assert_eq!(config.embedding(), 18);
        let again: PpgnConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(again, config);
        assert_eq!((config.activation, config.init_gain), (Activation::Sin, Some(3.0)));
        assert!(serde_json::from_str::<PpgnConfig>(r#"{"inputs":1,"outputs":1,"dept":3}"#).is_err());
        // What older files do not have is not written where it is the paper's choice.
        let paper = serde_json::to_string(&PpgnConfig::new(1, 1)).unwrap();
        assert!(!paper.contains("activat") && !paper.contains("gain"));
    }

    #[test]
    fn higher_orders_take_isomorphism_types() {
        let pairs = PpgnConfig::new(2, 2);
        assert!(!serde_json::to_string(&pairs).unwrap().contains("order"));
        assert_eq!((pairs.tuples(), pairs.pools()), (None, 2));
        let triples = PpgnConfig { order: 3, blocks: vec![BlockConfig::new(4); 2], ..PpgnConfig::new(2, 2) };
        assert_eq!((triples.tuples(), triples.pools()), (Some(3), 5));
        assert_eq!((triples.widths(), triples.embedding()), (vec![27, 4, 4], 40));
        let again: PpgnConfig = serde_json::from_str(&serde_json::to_string(&triples).unwrap()).unwrap();
        assert_eq!(again, triples);
        let sums = PpgnConfig { model: Model::Sums, m4: M4::None, ..PpgnConfig::new(1, 1) };
        assert_eq!((sums.tuples(), sums.widths()[..2].to_vec()), (Some(2), vec![8, 808]));
    }

    #[test]
    fn models_are_named_in_files_and_the_default_is_omitted() {
        for &model in Model::ALL {
            let config = PpgnConfig { model, ..PpgnConfig::new(1, 1) };
            let text = serde_json::to_string(&config).unwrap();
            let named = format!(r#""model":"{}""#, model.name());
            assert_eq!(text.contains(&named), model != Model::Mp, "{text}");
            assert_eq!(serde_json::from_str::<PpgnConfig>(&text).unwrap(), config);
        }
    }
}
