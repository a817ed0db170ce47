//! The named choices within a network.

use serde::{Deserialize, Serialize};

/// m3: applied to X on the skip connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum M3 {
    /// Nothing, as in the paper's experiments.
    #[default]
    Identity,
    /// An MLP with these layer widths, the activation after every layer; the last is the width of m3(X).
    Mlp(Vec<usize>),
}

/// m4: how m3(X) and W are combined into the block's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum M4 {
    /// One linear layer on both, without activation.
    #[default]
    Linear,
    /// The output is their concatenation (m3(X), W): the block of the paper's Section 6, and of Theorem 2.
    None,
}

/// What maps the blocks' outputs to scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuffixKind {
    /// Pool after the last block, then fully connected layers with the activation in between.
    I,
    /// Pool after every block, one linear map each, summed.
    #[default]
    Ii,
}

/// What a network has outputs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Every graph, from its pooled features.
    #[default]
    Graph,
    /// Every node, from the features of its pair (i, i), by a linear map.
    Node,
    /// Every ordered pair of nodes, from its own features, by a linear map.
    Pair,
}

impl Level {
    pub(crate) fn is_graph(&self) -> bool {
        *self == Level::Graph
    }

    /// The number of outputs' rows of a graph with n nodes: 1, n or n*n.
    ///
    /// ```
    /// use ppgn_nn::Level;
    /// assert_eq!([Level::Graph, Level::Node, Level::Pair].map(|level| level.items(3)), [1, 3, 9]);
    /// ```
    pub fn items(self, nodes: usize) -> usize {
        match self {
            Level::Graph => 1,
            Level::Node => nodes,
            Level::Pair => nodes * nodes,
        }
    }
}

/// The function after every layer of an MLP (and of the linear equivariant layers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// `max(0, x)`, as in the paper; its derivative at 0 is 0.
    #[default]
    Relu,
    /// `sin(x)`: where ReLU networks let small differences between graphs fade from block to block, the sine keeps them.
    Sin,
    /// `x (1 + erf(x / sqrt(2))) / 2`.
    Gelu,
}

impl Activation {
    pub(crate) fn is_relu(&self) -> bool {
        *self == Activation::Relu
    }
}

impl From<Activation> for ppgn_kernels::Activation {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Relu => ppgn_kernels::Activation::Relu,
            Activation::Sin => ppgn_kernels::Activation::Sin,
            Activation::Gelu => ppgn_kernels::Activation::Gelu,
        }
    }
}

/// How pooling combines pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The maximum over the diagonal, and over the rest: the paper's suffixes.
    #[default]
    Max,
    /// The sums: the invariant linear layer h of the theorems.
    Sum,
    /// The means; 0 over nothing.
    Mean,
    /// The maxima, then the means: twice the features.
    #[serde(rename = "max+mean")]
    MaxMean,
}

impl Pooling {
    /// The number of features that a channel becomes in each group of tuples.
    pub(crate) fn features(self) -> usize {
        if self == Pooling::MaxMean { 2 } else { 1 }
    }
}

/// What the product is divided by; n is the number of nodes of the graph.
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
    /// Each row of W is divided by its root mean square over the channels. There is no learned gain: the layer that
    /// follows is linear in every channel, so it would be redundant.
    Rms,
}
