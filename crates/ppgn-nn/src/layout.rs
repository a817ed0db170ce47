//! Where every weight is stored: a few long arrays, and the names of their parts.
//!
//! A block's parameters are one flat array and the suffix's another, so that an optimiser runs over a few long slices
//! and a fused kernel gets a single one. The [`Layout`] describes their contents: each [`Part`] has its name and shape
//! from the authors' PyTorch checkpoints, and weight files use these names. Parts are stored without gaps, a layer's
//! weight before its bias, in the order of the block's [description](crate::model::Description::layers), then those of
//! the suffix. A block of order k > 2 has MLPs 1 to k in its product, so m3 has another name there.
//!
//! | part | shape |
//! | --- | --- |
//! | `reg_blocks.{l}.mlp{1,2,3}.convs.{i}.weight` | (out, in, 1, 1) |
//! | `reg_blocks.{l}.skip.mlp.convs.{i}.weight` (m3 of order k > 2) | (out, in, 1, 1) |
//! | `reg_blocks.{l}.lin.{i}.weight` (L, see [`Model`](crate::Model)) | (15, in, out) |
//! | `reg_blocks.{l}.lin.{i}.bias` (on the diagonal, everywhere) | (2, out) |
//! | `reg_blocks.{l}.skip.conv.weight` (m4) | (out, m3(X) + W + L(X), 1, 1) |
//! | `fc_layers.{i}.fc.weight` | (out, in) |
//! | `....bias` | (out) |

use crate::config::PpgnConfig;
use crate::model::Layer;
use crate::precision::{Precision, Values};
use ppgn_graph::random::Stream;

/// One weight or bias within an [`Array`].
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name in checkpoints.
    pub name: String,
    /// Its shape in checkpoints.
    pub shape: Vec<usize>,
    /// Its offset in its array.
    pub offset: usize,
    /// How its initial values are drawn; `None` for a bias.
    draw: Option<Draw>,
}

impl Part {
    /// The number of parameters in it.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Always false: a part has at least one parameter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its range in its array.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// How initial weights are drawn from a random stream.
#[derive(Debug, Clone, PartialEq)]
struct Draw {
    from: Distribution,
    stream: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Distribution {
    /// Uniform between minus and plus this bound.
    Uniform(f64),
    /// Normal, with mean 0 and this standard deviation.
    Normal(f64),
}

impl Distribution {
    fn of(layer: &Layer, gain: Option<f64>) -> Self {
        match gain {
            None => Distribution::Uniform(layer.bound()),
            Some(gain) => Distribution::Normal(gain / (layer.fan_in().max(1) as f64).sqrt()),
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Distribution::Uniform(bound) => stream.uniform(-bound, bound),
            Distribution::Normal(deviation) => deviation * stream.normal(),
        }
    }
}

/// One flat array of parameters: a block's, or the suffix's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Array {
    /// `blocks.0`, `blocks.1`, ..., `suffix`.
    pub name: String,
    /// Its parts, in order and without gaps.
    pub parts: Vec<Part>,
}

impl Array {
    /// The number of parameters in it.
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |p| p.offset + p.len())
    }

    /// Whether it has no parameters.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn push(&mut self, prefix: &str, layer: &Layer, gain: Option<f64>) {
        let Layer { name, stream, .. } = layer;
        let [weight, bias] = layer.shapes();
        let draw = Some(Draw { from: Distribution::of(layer, gain), stream: stream.clone() });
        let offset = self.len();
        self.parts.push(Part { name: format!("{prefix}{name}.weight"), shape: weight, offset, draw });
        let offset = self.len();
        self.parts.push(Part { name: format!("{prefix}{name}.bias"), shape: bias, offset, draw: None });
    }
}

/// All arrays of a network: one per block, then the suffix's.
///
/// ```
/// use ppgn_nn::{Layout, PpgnConfig};
/// let layout = Layout::new(&PpgnConfig::new(8, 2));
/// let names: Vec<_> = layout.arrays().iter().map(|a| a.name.as_str()).collect();
/// assert_eq!(names, ["blocks.0", "blocks.1", "blocks.2", "suffix"]);
/// let part = &layout.arrays()[0].parts[0];
/// assert_eq!((part.name.as_str(), part.shape.as_slice()), ("reg_blocks.0.mlp1.convs.0.weight", &[400, 8, 1, 1][..]));
/// assert_eq!(layout.len(), 2_420_406);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    arrays: Vec<Array>,
}

impl Layout {
    /// The layout of a network of this configuration, which must be valid.
    pub fn new(config: &PpgnConfig) -> Self {
        let blocks = config.descriptions();
        let mut arrays: Vec<Array> = Vec::with_capacity(blocks.len() + 1);
        for (l, block) in blocks.iter().enumerate() {
            let mut array = Array { name: format!("blocks.{l}"), parts: Vec::new() };
            block.layers().for_each(|layer| array.push(&format!("reg_blocks.{l}."), layer, config.init_gain));
            arrays.push(array);
        }
        let mut suffix = Array { name: "suffix".into(), parts: Vec::new() };
        let layers = config.suffix_layers(&config.widths());
        layers.iter().for_each(|layer| suffix.push("", layer, config.init_gain));
        arrays.push(suffix);
        Layout { arrays }
    }

    /// The number of parameters of a configuration; `None` on overflow.
    pub(crate) fn count(config: &PpgnConfig) -> Option<usize> {
        let add = |sum: usize, layer: &Layer| sum.checked_add(layer.count()?);
        let blocks = config.descriptions();
        let blocks = blocks.iter().flat_map(|block| block.layers()).try_fold(0, add)?;
        config.suffix_layers(&config.widths()).iter().try_fold(blocks, add)
    }

    /// The arrays in order.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// All parts in order, each with the index of its array.
    pub fn parts(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.arrays.iter().enumerate().flat_map(|(a, array)| array.parts.iter().map(move |p| (a, p)))
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.arrays.iter().map(Array::len).sum()
    }

    /// Always false: every network has parameters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Arrays of zeros.
    pub fn zeros(&self, precision: Precision) -> Vec<Values> {
        self.arrays.iter().map(|a| Values::zeros(precision, a.len())).collect()
    }

    /// Initial values: weights Xavier uniform, `U(-b, b)` with `b = sqrt(6 / (in + out))`, biases zero; the fifteen
    /// operations of an equivariant layer share its variance, `b = sqrt(6 / (15 (in + out)))`. With a gain g
    /// ([`PpgnConfig::init_gain`]) weights are normal, `N(0, g^2 / in)` and `N(0, g^2 / (15 in))`. They are drawn in f64, so
    /// that both precisions start from the same values.
    pub fn initial(&self, seed: u64, precision: Precision) -> Vec<Values> {
        let mut arrays = self.zeros(precision);
        for (a, part) in self.parts() {
            let Some(Draw { from, stream }) = &part.draw else { continue };
            let mut stream = Stream::new(seed, "init", stream);
            let numbers: Vec<f64> = (0..part.len()).map(|_| from.draw(&mut stream)).collect();
            arrays[a].put(part.offset, &Values::from_f64(precision, &numbers));
        }
        arrays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BlockConfig, M3, SuffixKind};
    use crate::model::Model;

    #[test]
    fn parts_have_no_gaps() {
        let config = PpgnConfig {
            blocks: vec![
                BlockConfig::new(3),
                BlockConfig { product: Some(2), hidden: Some(vec![5]), width: 4 },
            ],
            m3: M3::Mlp(vec![6]),
            suffix: SuffixKind::I,
            suffix_hidden: vec![7],
            ..PpgnConfig::new(2, 1)
        };
        let layout = Layout::new(&config);
        for array in layout.arrays() {
            let mut next = 0;
            for part in &array.parts {
                assert_eq!(part.offset, next);
                next += part.len();
            }
            assert_eq!(next, array.len());
        }
        let shape = |name: &str| &layout.parts().find(|(_, p)| p.name == name).unwrap().1.shape;
        assert_eq!(*shape("reg_blocks.1.mlp2.convs.1.weight"), [2, 5, 1, 1]);
        assert_eq!(*shape("reg_blocks.1.mlp3.convs.0.weight"), [6, 3, 1, 1]);
        assert_eq!(*shape("reg_blocks.1.skip.conv.weight"), [4, 8, 1, 1]);
        assert_eq!(*shape("fc_layers.0.fc.weight"), [7, 8]);
        assert_eq!(*shape("fc_layers.1.fc.bias"), [1]);
        assert_eq!(Layout::count(&config), Some(layout.len()));
    }

    #[test]
    fn every_model_has_its_own_layers() {
        let names = |model| {
            let config = PpgnConfig {
                model,
                blocks: vec![BlockConfig::new(3)],
                m3: M3::Identity,
                ..PpgnConfig::new(2, 1)
            };
            let layout = Layout::new(&config);
            assert_eq!(Layout::count(&config), Some(layout.len()));
            let part = |(_, part): (_, &Part)| {
                let name = part.name.strip_prefix("reg_blocks.0.")?.strip_suffix(".weight")?;
                Some(format!("{name} {:?}", part.shape))
            };
            layout.parts().filter_map(part).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(names(Model::Lin), "lin.0 [15, 2, 3], lin.1 [15, 3, 3]");
        assert_eq!(
            names(Model::Mlp),
            "mlp1.convs.0 [3, 2, 1, 1], mlp1.convs.1 [3, 3, 1, 1], skip.conv [3, 5, 1, 1]"
        );
        let both = names(Model::MpLin);
        assert!(
            both.ends_with("mlp2.convs.1 [3, 3, 1, 1], lin.0 [15, 2, 3], skip.conv [3, 8, 1, 1]"),
            "{both}"
        );
    }

    #[test]
    fn initial_values_are_a_function_of_the_seed() {
        let layout = Layout::new(&PpgnConfig {
            blocks: vec![BlockConfig::new(40)],
            model: Model::MpLin,
            ..PpgnConfig::new(8, 2)
        });
        let a = layout.initial(1, Precision::F64);
        assert_eq!(a, layout.initial(1, Precision::F64));
        assert_ne!(a, layout.initial(2, Precision::F64));
        let single: Vec<_> = a.iter().map(|v| Values::from_f64(Precision::F32, &v.to_f64())).collect();
        assert_eq!(single, layout.initial(1, Precision::F32));
        for (array, part) in layout.parts() {
            let numbers = a[array].part(part.range()).to_f64();
            if part.name.ends_with("bias") {
                assert!(numbers.iter().all(|&x| x == 0.0));
                continue;
            }
            let sum = match part.shape[..] {
                [15, inputs, outputs] => 15 * (inputs + outputs),
                [outputs, inputs, ..] => inputs + outputs,
                _ => panic!("{} is not a weight", part.name),
            };
            let bound = (6.0 / sum as f64).sqrt();
            assert!(numbers.iter().all(|x| x.abs() <= bound));
            assert!(numbers.iter().any(|x| x.abs() > 0.9 * bound), "{}", part.name);
        }
    }
}
