//! The models that the paper compares in its "Equivariant layer evaluation": its own block, and three others.
//!
//! The authors published no code for that experiment; what was chosen where the paper is silent is told in
//! `docs/theory.md`.

use serde::{Deserialize, Serialize};

/// What a block computes: the four models of the paper's "Equivariant layer evaluation", and the sums of Theorem 1.
///
/// L is a linear equivariant layer from matrices to matrices with all fifteen operations and both biases, sums taken as
/// means ([`EquivariantLinear`](crate::equivariant::EquivariantLinear) with `normalise`). It looks at whole rows and
/// columns, so the models with L run on the dense space only. What m3 and m4 are is said by the settings of these names.
///
/// ```
/// use ppgn_nn::{BlockConfig, Layout, Model, PpgnConfig};
/// let count = |model| {
///     let blocks = vec![BlockConfig::new(32), BlockConfig::new(64), BlockConfig::new(256)];
///     Layout::new(&PpgnConfig { model, blocks, ..PpgnConfig::new(38, 2) }).len()
/// };
/// let counts = [Model::Mp, Model::MpLin, Model::Lin, Model::Mlp].map(count);
/// assert_eq!(counts, [274_086, 640_166, 1_357_382, 183_078]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Model {
    /// Matrix product, the paper's network: `m4(m3(X), W)` with `W = m1(X) . m2(X)`; of order k > 2, W is the generalised
    /// product of m1(X), ..., mk(X) (Section 6): as strong as k-FWL.
    #[default]
    #[serde(rename = "mp")]
    Mp,
    /// Matrix product and the full linear basis: `m4(m3(X), W, ReLU(L(X)))`, L as wide as the block.
    #[serde(rename = "mp+lin")]
    MpLin,
    /// The full linear basis alone: `depth` layers `ReLU(L(.))`, with neither m3 nor m4 nor anything else.
    #[serde(rename = "lin")]
    Lin,
    /// No pair sees another: `m4(m3(X), m1(X))`.
    #[serde(rename = "mlp")]
    Mlp,
    /// `m4(m3(X), L1(m1(X)), ..., Lk(m1(X)))`, Lq the sum over the q-th node of the tuple: the k-order networks of Theorem
    /// 1's proof, as strong as k-WL. Not one of the four; its input are isomorphism types, and it runs on both spaces.
    #[serde(rename = "sums")]
    Sums,
}

impl Model {
    /// The paper's four, in its order.
    pub const ALL: [Model; 4] = [Model::Mp, Model::MpLin, Model::Lin, Model::Mlp];

    /// Its name, as in `--model mp+lin`.
    pub fn name(self) -> &'static str {
        match self {
            Model::Mp => "mp",
            Model::MpLin => "mp+lin",
            Model::Lin => "lin",
            Model::Mlp => "mlp",
            Model::Sums => "sums",
        }
    }

    /// Whether it has linear equivariant layers, which act on more than a row alone.
    pub fn has_linear(self) -> bool {
        matches!(self, Model::MpLin | Model::Lin)
    }

    /// Whether rows meet in a product, or in the sums that stand in its place.
    pub fn has_product(self) -> bool {
        matches!(self, Model::Mp | Model::MpLin | Model::Sums)
    }

    pub(crate) fn is_mp(&self) -> bool {
        *self == Model::Mp
    }
}
