//! Every setting, declared once: name, type, place and documentation. The field of [`Overrides`], the key in TOML
//! files, the option of the command line and the documentation of all three follow from one entry of this table.

#[cfg(feature = "clap")]
use super::text;
use super::{Gain, Schedule};
use crate::batches::Batching;
use crate::error::{Error, Result};
use crate::metrics::Selection;
use crate::objective::ClassWeights;
use crate::preset::Preset;
use crate::reference::References;
use ppgn_graph::encode::Encoding;
use ppgn_nn::{
    Activation, BlockConfig, Level, M3, M4, Model, Norm, Pooling, Precision, Scale, SpaceChoice, SuffixKind,
};
use serde::{Deserialize, Serialize};

// Aliases, because clap treats `Option<Vec<_>>` as an option that can be given several times.
type Blocks = Vec<BlockConfig>;
type Widths = Vec<usize>;

/// A setting of [`Overrides`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its key in files. The option of the command line has `-` for `_`.
    pub name: &'static str,
    /// Its documentation.
    pub help: &'static str,
}

/// `name: type => place, (attributes of the option);` after its documentation. The place is `training`, `network`, or
/// `preset` itself.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident : $type:ty => $place:ident, ($($option:tt)*);)*) => {
        /// Settings that differ from the preset. `None` keeps the preset's value.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        #[serde(deny_unknown_fields, default)]
        pub struct Overrides {
            $(
                $(#[doc = $doc])+
                #[cfg_attr(feature = "clap", arg(long, $($option)*))]
                pub $name: Option<$type>,
            )*
        }

        impl Overrides {
            /// All settings.
            pub const SETTINGS: &'static [Setting] =
                &[$(Setting { name: stringify!($name), help: concat!($($doc),+) }),*];

            /// These settings, and the others' for whatever is not set here.
            pub fn or(self, other: Overrides) -> Overrides {
                Overrides { $($name: self.$name.or(other.$name)),* }
            }

            /// The preset with these settings.
            pub fn apply(&self, mut preset: Preset) -> Preset {
                $(if let Some(value) = &self.$name {
                    settings!(@place preset $place $name) = value.clone().into();
                })*
                preset
            }
        }
    };
    (@place $preset:ident preset $name:ident) => { $preset.$name };
    (@place $preset:ident $place:ident $name:ident) => { $preset.$place.$name };
}

settings! {
    /// Number of training epochs
    epochs: usize => training, (value_name = "N");
    /// Batch size: maximum number of graphs in a batch
    batch: usize => training, (value_name = "N", visible_alias = "batch-size");
    /// Which graphs share a batch: mixed (any), or same-size as the paper's authors do
    batching: Batching => training, (value_name = "HOW", value_parser = text::named::<Batching>);
    /// Learning rate of Adam
    rate: f64 => training,
        (value_name = "X", visible_aliases = ["lr", "learning-rate"], allow_negative_numbers = true);
    /// Learning-rate schedule: step (decays the learning rate by the factor decay every decay-every epochs), cosine
    /// (anneals it to 0 along a cosine over all epochs) or plateau (reduces it by the factor decay when the loss has
    /// stopped improving for more than decay-every epochs) [default: step]
    schedule: Schedule => training, (value_name = "HOW", value_parser = text::named::<Schedule>);
    /// Epochs of linear warm-up, in which the learning rate rises to its full value [default: 0]
    warmup: usize => training, (value_name = "N");
    /// Learning-rate decay factor
    decay: f64 => training, (value_name = "X", allow_negative_numbers = true);
    /// Number of epochs between two decays of the learning rate
    decay_every: usize => training, (value_name = "N");
    /// Early stopping: the number of epochs without a better one after which training stops; 0 for none [default: 0]
    patience: usize => training, (value_name = "N");
    /// Weight decay coefficient, decoupled from the gradient (AdamW) [default: 0]
    weight_decay: f64 => training, (value_name = "X", allow_negative_numbers = true);
    /// Max norm of the gradients, computed over all of them together; larger ones are clipped to it [default: 0, none]
    clip: f64 => training, (value_name = "X", allow_negative_numbers = true);
    /// Weight of each class in the loss: none, or balanced (inversely to its frequency in the training set; for
    /// multi-label classification, of the positive labels) [default: none]
    class_weights: ClassWeights => training, (value_name = "HOW", value_parser = text::named::<ClassWeights>);
    /// Dropout: probability of an element to be zeroed during training, of the pooled features and of the outputs of the
    /// suffix's hidden layers; the others are scaled by 1/(1-p) [default: 0]
    dropout: f64 => training, (value_name = "P", allow_negative_numbers = true);
    /// Exponential moving average of the weights, with this decay, such as 0.999 (ramped up in the first steps); figures
    /// and predictions are those of the averaged weights [default: 0, none]
    ema: f64 => training, (value_name = "D", allow_negative_numbers = true);
    /// Reference of the targets of molecules: none, or atoms (per-element reference energies, fitted by least squares to
    /// the training set; the network learns the rest) [default: none]
    reference: References => training, (value_name = "HOW", value_parser = text::named::<References>);
    /// Random seed of weights, batches, splits and subsets [default: 0]
    seed: u64 => training, (value_name = "S");
    /// Floating-point precision: f32 or f64
    precision: Precision => training, (value_name = "P", value_parser = text::named::<Precision>);
    /// Space to compute on: dense (one row per pair of nodes), quotient (one row per colour of pairs) or auto (the
    /// cheaper)
    space: SpaceChoice => training, (value_name = "SPACE", value_parser = text::named::<SpaceChoice>);
    /// What the best epoch is selected by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss,
    /// brier, mae, rmse, r2 or loss; `validation` (alone, or as in validation,roc-auc) insists on a validation set
    /// [default: accuracy, or the loss of a regression]
    select: Selection => training, (value_name = "METRIC");
    /// Input encoding: paper, authors or qm9; paper+identity, +transposed and +distances have additional channels.
    /// +degree, +distance:D (shortest paths of up to D edges) and +rrwp:K (random walks of up to K steps) go with any:
    /// paper+identity+rrwp:8
    encoding: Encoding => preset, (value_name = "ENCODING", value_parser = text::encoding);
    /// What is learned: graph (one class, or targets, per graph), node (per node) or pair (per ordered pair of nodes:
    /// those that have a value, edges or all) [default: graph]
    level: Level => network, (value_name = "LEVEL", value_parser = text::named::<Level>);
    /// Order k: 1 passes messages between nodes, as strong as 1-WL; 2 computes on pairs of nodes; 3 and more on
    /// k-tuples, as strong as k-FWL, with n^k rows per graph
    order: usize => network, (value_name = "K");
    /// Widths of the blocks, such as 32,32,32
    blocks: Blocks => network, (value_name = "W,W,...", value_parser = text::blocks);
    /// What a block computes: mp (the paper's matrix product), mp+lin (and the full basis of linear equivariant
    /// layers, in the dense space only), lin (that basis alone, dense only), mlp (each pair on its own), sums (over
    /// one node of the tuple each, as k-WL does) or ppgn++ (mp with transposes and the identity)
    model: Model => network, (value_name = "MODEL", value_parser = text::named::<Model>);
    /// Number of layers of the MLPs m1 and m2, or of linear layers per block in the model lin
    depth: usize => network, (value_name = "N");
    /// Suffix after the blocks: i (pool after the last block) or ii (pool after each block)
    suffix: SuffixKind => network, (value_name = "KIND", value_parser = text::named::<SuffixKind>);
    /// Widths of the hidden layers of suffix i, such as 512,256
    suffix_hidden: Widths => network, (value_name = "W,W,...", value_parser = text::widths);
    /// Pooling over pairs: max, sum, mean or max+mean (both, twice the features)
    pooling: Pooling => network, (value_name = "HOW", value_parser = text::named::<Pooling>);
    /// Activate the features that are pooled: the suffix reads f(X) instead of X [default: false]
    activate_pooled: bool => network,
        (value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");
    /// Activation f after every layer of an MLP: relu, sin or gelu [default: relu]
    activation: Activation => network, (value_name = "F", value_parser = text::named::<Activation>);
    /// Gain g of the initial weights: normal with variance g^2 / fan-in; none for Xavier uniform [default:
    /// none]
    init_gain: Gain => network, (value_name = "G", allow_negative_numbers = true);
    /// Divisor of the product, where n is the number of nodes: none, sqrt-n or n
    scale: Scale => network, (value_name = "BY", value_parser = text::named::<Scale>);
    /// Normalisation after the product: none or rms
    norm: Norm => network, (value_name = "NORM", value_parser = text::named::<Norm>);
    /// Residual blocks: add a block's input to its output
    residual: bool => network,
        (value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");
    /// m3, the skip connection of X: identity, or an MLP by its widths, such as 32,32
    m3: M3 => network, (value_name = "M3", value_parser = text::m3);
    /// m4, which joins m3(X) and the product: linear, or none for their concatenation
    m4: M4 => network, (value_name = "M4", value_parser = text::named::<M4>);
}

impl Overrides {
    /// Overrides from the text of a TOML file.
    ///
    /// ```
    /// use ppgn_train::Overrides;
    /// assert_eq!(Overrides::from_toml("rate = 0.01", "mine.toml")?.rate, Some(0.01));
    /// assert!(Overrides::from_toml("rte = 0.01", "mine.toml").unwrap_err().is_call());
    /// # Ok::<(), ppgn_train::Error>(())
    /// ```
    pub fn from_toml(text: &str, file: &str) -> Result<Self> {
        let wrong = |e: toml::de::Error| Error::SettingsFile {
            file: file.to_string(),
            message: e.to_string().trim_end().to_string(),
        };
        toml::from_str(text).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_a_key_and_goes_somewhere() {
        let preset = Preset::new("small", "").unwrap();
        let values = "epochs = 7\nbatch = 7\nbatching = \"same-size\"\nrate = 7.0\ndecay = 0.07\ndecay_every = 7\n\
                      schedule = \"cosine\"\nwarmup = 7\npatience = 7\nweight_decay = 0.07\nclip = 7.0\ndropout = 0.7\nema = 0.7\nreference = \"atoms\"\nclass_weights = \"balanced\"\n\
                      seed = 7\nprecision = \"f64\"\nspace = \"quotient\"\nlevel = \"node\"\norder = 7\ndepth = 7\n\
                      blocks = [7]\nmodel = \"lin\"\nsuffix = \"i\"\nsuffix_hidden = [7]\npooling = \"sum\"\n\
                      scale = \"n\"\nnorm = \"none\"\nresidual = true\nm3 = { mlp = [7] }\nm4 = \"none\"\n\
                      select = \"roc-auc\"\nactivation = \"sin\"\nactivate_pooled = true\ninit_gain = 3\nencoding = { kind = \"authors\" }\n";
        let all: toml::Table = toml::from_str(values).unwrap();
        assert_eq!(all.len(), Overrides::SETTINGS.len());
        for setting in Overrides::SETTINGS {
            let one = toml::Table::from_iter([(setting.name.to_string(), all[setting.name].clone())]);
            let one = Overrides::from_toml(&one.to_string(), "one").unwrap();
            assert_ne!(one.apply(preset.clone()), preset, "{}", setting.name);
            assert_ne!(Overrides::default().or(one), Overrides::default());
            assert!(!setting.help.trim().is_empty());
        }
    }
}
