//! What a block computes: one file per model, each a [`Description`] of its blocks.
//!
//! To add a model, write its file and add it to the list below; `CONTRIBUTING.md` has a worked example. The authors
//! published no code for the models that the paper compares with; `docs/theory.md` lists our choices where the paper
//! leaves them open.

mod description;
mod lin;
mod mlp;
mod mp;
mod mp_lin;
mod ppgn_plus;
mod sums;

pub(crate) use description::Place;
pub use description::{Branch, Description, Layer, LayerKind};

use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a model must define.
pub(crate) trait Kind: Sync {
    /// Describes one of its blocks.
    fn describe(&self, place: &Place<'_>) -> Description;

    /// Whether it works on tuples of any order, or only on pairs.
    fn has_any_order(&self) -> bool {
        false
    }

    /// Whether its input consists of isomorphism types of tuples even at order 2.
    fn takes_types(&self) -> bool {
        false
    }

    /// Further requirements on the configuration.
    fn validate(&self, _config: &PpgnConfig) -> Result<()> {
        Ok(())
    }
}

macro_rules! models {
    ($($(#[$attribute:meta])* $variant:ident $name:literal $kind:path;)*) => {
        /// What a block computes: the four models of the paper's "Equivariant layer evaluation", the sums of
        /// Theorem 1, and one block beyond the paper.
        ///
        /// L is a linear equivariant layer from matrices to matrices with all fifteen operations and both biases, and
        /// with sums normalised to means ([`EquivariantLinear`](crate::equivariant::EquivariantLinear) with
        /// `normalise`). It combines whole rows and columns, so the models with L require the dense space. f is the
        /// activation; m3 and m4 are the settings of the same names.
        ///
        /// ```
        /// use ppgn_nn::{BlockConfig, Layout, Model, PpgnConfig};
        /// let count = |model| {
        ///     let blocks = vec![BlockConfig::new(32), BlockConfig::new(64), BlockConfig::new(256)];
        ///     Layout::new(&PpgnConfig { model, blocks, ..PpgnConfig::new(38, 2) }).len()
        /// };
        /// assert_eq!(Model::FIGURE.map(count), [274_086, 640_166, 1_357_382, 183_078]);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub enum Model {
            $($(#[$attribute])* #[serde(rename = $name)] $variant,)*
        }

        impl Model {
            /// All models.
            pub const ALL: &[Model] = &[$(Model::$variant),*];

            /// Its name in settings and files, such as `mp+lin`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Model::$variant => $name,)*
                }
            }

            fn kind(self) -> &'static dyn Kind {
                match self {
                    $(Model::$variant => &$kind,)*
                }
            }
        }
    };
}

models! {
    /// Matrix product, the paper's network: `m4(m3(X), W)` with `W = m1(X) . m2(X)`; for order k > 2, W is the
    /// generalised product of m1(X), ..., mk(X) (Section 6), which is as powerful as k-FWL. At order 1, W are the sums of
    /// m1(X) over a node's neighbours: message passing, as powerful as 1-WL.
    #[default]
    Mp "mp" mp::Mp;
    /// Matrix product and the full linear basis: `m4(m3(X), W, f(L(X)))`, L as wide as the block.
    MpLin "mp+lin" mp_lin::MpLin;
    /// The full linear basis alone: `depth` layers `f(L(.))`, with neither m3 nor m4.
    Lin "lin" lin::Lin;
    /// Each pair separately: `m4(m3(X), m1(X))`.
    Mlp "mlp" mlp::Mlp;
    /// `m4(m3(X), L1(m1(X)), ..., Lk(m1(X)))`, where Lq is the sum over the q-th node of the tuple: the k-order
    /// networks from the proof of Theorem 1, as powerful as k-WL. Its input consists of isomorphism types, and it runs
    /// on both spaces.
    Sums "sums" sums::Sums;
    /// PPGN++ (Puny et al. 2023): `m4(m3(Z), m1(Z, Z^T) . m2(Z))`, where Z is X and the identity. Its input consists of
    /// isomorphism types, and it runs on both spaces.
    PpgnPlus "ppgn++" ppgn_plus::PpgnPlus;
}

impl Model {
    /// The four models of the paper's "Equivariant layer evaluation", in the paper's order.
    pub const FIGURE: [Model; 4] = [Model::Mp, Model::MpLin, Model::Lin, Model::Mlp];

    pub(crate) fn is_mp(&self) -> bool {
        *self == Model::Mp
    }

    /// Whether its input consists of isomorphism types of tuples rather than the encoding itself.
    pub(crate) fn takes_types(self, order: usize) -> bool {
        order != 2 || self.kind().takes_types()
    }

    /// Checks that it can be built with this configuration.
    pub(crate) fn validate(self, config: &PpgnConfig) -> Result<()> {
        if config.order == 1 && self != Model::Mp {
            return Err(Error::config(format!(
                "the model `{}` needs order 2 or more; order 1, message passing on nodes, goes with `mp`",
                self.name()
            )));
        }
        if config.order > 2 && !self.kind().has_any_order() {
            let others: Vec<String> = Model::ALL
                .iter()
                .filter(|model| model.kind().has_any_order())
                .map(|model| format!("`{}`", model.name()))
                .collect();
            return Err(Error::config(format!(
                "the model `{}` supports only order 2 (pairs); models for higher orders: {}",
                self.name(),
                others.join(" and ")
            )));
        }
        self.kind().validate(config)
    }
}

impl PpgnConfig {
    /// The descriptions of its blocks, in order.
    pub fn descriptions(&self) -> Vec<Description> {
        let mut inputs = self.first_width();
        let blocks = self.blocks.iter().enumerate();
        let describe = blocks.map(|(level, block)| {
            let place = Place { config: self, block, level, inputs };
            let description = self.model.kind().describe(&place);
            inputs = description.outputs();
            description
        });
        describe.collect()
    }
}
