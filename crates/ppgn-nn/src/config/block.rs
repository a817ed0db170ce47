//! The settings of one block, as a number or a table in files.

use serde::{Deserialize, Serialize};

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
