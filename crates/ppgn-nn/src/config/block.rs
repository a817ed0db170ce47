//! The settings of one block, given in files as a number or a table.

use serde::{Deserialize, Serialize};

/// One block: an output width, a product width and hidden widths.
///
/// In a file it is a number (`400`), or a table (`{ width = 2, product = 1, hidden = [4, 4] }`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BlockText", into = "BlockText")]
pub struct BlockConfig {
    /// Channels of the block's output m4(m3(X), W). Without m4 the output is the concatenation (m3(X), W), and this is
    /// only the default for the other widths.
    pub width: usize,
    /// Channels of the product W, or of m1(X) in the model `mlp`. Default: `width`.
    pub product: Option<usize>,
    /// Widths of the hidden layers of m1 and m2; in the model `lin`, of all linear layers except the last. Default:
    /// `depth - 1` times `width`.
    pub hidden: Option<Vec<usize>>,
}

impl BlockConfig {
    /// A block as in the paper: all widths are `width`.
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
