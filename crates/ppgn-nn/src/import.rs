//! Imports the authors' PyTorch checkpoints as networks.
//!
//! `torch.save` has written several containers over the years (zip, a stream of pickles, tar); the reader supports all
//! of them. The weights are under `model_state_dict`, or the file is itself a state dict. The configuration (blocks,
//! widths, depth, suffix, outputs) is inferred from the names and shapes; every name must be accounted for.

use crate::config::{BlockConfig, PpgnConfig, SuffixKind};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::network::Ppgn;
use crate::precision::{Precision, Values};
use crate::weights::{Tensors, chunks, names_differ};
use ppgn_graph::Defect;
use pytorch_reader::{DType, PytorchError, PytorchReader, Tensor};
use std::collections::BTreeMap;
use std::path::Path;

/// An imported checkpoint: the network's configuration and parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The configuration, inferred from the shapes.
    pub config: PpgnConfig,
    /// Its parameters, one per array of the configuration's [`Layout`].
    pub parameters: Vec<Values>,
    /// The precision of the checkpoint.
    pub precision: Precision,
}

impl Imported {
    /// The network, in the checkpoint's precision.
    pub fn network(self) -> Result<Ppgn> {
        Ppgn::new(self.config, self.parameters)
    }
}

/// Reads a checkpoint of the paper's authors' PyTorch code (`.tar`, `.pt`).
///
/// `suffix` is needed only if the shapes fit both suffixes, which requires the number of outputs to equal the number of
/// pooled features; omitting it is an error in that case.
pub fn read(path: impl AsRef<Path>, suffix: Option<SuffixKind>) -> Result<Imported> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let found = open(path)?;
    let shapes = found.iter().map(|(name, tensor)| (name.as_str(), tensor.shape())).collect();
    let config = infer(&shapes, suffix).map_err(|text| Defect::new(file.clone(), text))?;
    config.validate().map_err(|e| Defect::new(file.clone(), e.to_string()))?;
    let mut tensors = Tensors { file: file.clone(), ..Tensors::default() };
    for (name, tensor) in &found {
        let values = values(tensor, path, name)?;
        tensors.tensors.insert(name.clone(), (tensor.shape().to_vec(), values));
    }
    let parameters = Layout::new(&config).collect("", &tensors)?;
    let precision = parameters.first().map_or(Precision::F32, Values::precision);
    Ok(Imported { config, parameters, precision })
}

/// The tensors of the state dict by name.
fn open(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let reader = match PytorchReader::with_top_level_key(path, "model_state_dict") {
        Err(PytorchError::KeyNotFound(_)) => PytorchReader::new(path),
        other => other,
    };
    let reader = reader.map_err(|e| match e {
        PytorchError::Io(e) if e.kind() != std::io::ErrorKind::InvalidData => Error::io(path, e),
        e => Defect::new(path.display().to_string(), format!("not a PyTorch checkpoint: {e}")).into(),
    })?;
    Ok(reader.into_tensors().into_iter().collect())
}

fn values(tensor: &Tensor, path: &Path, name: &str) -> Result<Values> {
    let defect = |text: String| Error::from(Defect::new(path.display().to_string(), text));
    let bytes = || tensor.read().map_err(|e| defect(e.to_string()));
    match tensor.dtype() {
        DType::F32 => Ok(Values::F32(chunks(&bytes()?, f32::from_ne_bytes))),
        DType::F64 => Ok(Values::F64(chunks(&bytes()?, f64::from_ne_bytes))),
        other => Err(defect(format!("`{name}` has type {other:?}, not F32 or F64"))),
    }
}

type Shapes<'a> = BTreeMap<&'a str, &'a [usize]>;

/// The configuration that matches these names and shapes.
fn infer(shapes: &Shapes<'_>, suffix: Option<SuffixKind>) -> Result<PpgnConfig, String> {
    let mut blocks = Vec::new();
    while shapes.keys().any(|name| name.starts_with(&format!("reg_blocks.{}.", blocks.len()))) {
        blocks.push(block(shapes, blocks.len())?);
    }
    let Some((inputs, _)) = blocks.first() else {
        return Err(format!(
            "no blocks: `reg_blocks.0.mlp1.convs.0.weight` is missing under `model_state_dict`, which has {}",
            listed(shapes)
        ));
    };
    let inputs = *inputs;
    let blocks: Vec<BlockConfig> = blocks.into_iter().map(|(_, block)| block).collect();
    let layers = chain(shapes, |i| format!("fc_layers.{i}.fc.weight"))?;
    let outputs = layers.last().map(|l| l.0).ok_or_else(|| names_differ(&["fc_layers.0.fc.weight"], &[]))?;
    let depth = depth(&blocks);
    let blocks = blocks.into_iter().map(|block| plain(block, depth)).collect();
    let config = PpgnConfig { blocks, depth, ..PpgnConfig::new(inputs, outputs) };
    let kind = self::suffix(&config, &layers, suffix)?;
    let hidden = layers[..layers.len() - 1].iter().map(|l| l.0).collect();
    Ok(match kind {
        SuffixKind::I => PpgnConfig { suffix: kind, suffix_hidden: hidden, ..config },
        SuffixKind::Ii => PpgnConfig { suffix: kind, ..config },
    })
}

/// Input channels and widths of block l.
fn block(shapes: &Shapes<'_>, l: usize) -> Result<(usize, BlockConfig), String> {
    let layers = chain(shapes, |i| format!("reg_blocks.{l}.mlp1.convs.{i}.weight"))?;
    let skip = format!("reg_blocks.{l}.skip.conv.weight");
    let (Some((_, inputs)), Some(width)) = (layers.first(), shapes.get(skip.as_str())) else {
        let first = format!("reg_blocks.{l}.mlp1.convs.0.weight");
        let absent: Vec<&str> =
            [&*first, &*skip].into_iter().filter(|name| !shapes.contains_key(name)).collect();
        return Err(names_differ(&absent, &[]));
    };
    let (width, _) = matrix(&skip, width)?;
    let (hidden, product) = layers.split_at(layers.len() - 1);
    let hidden = hidden.iter().map(|l| l.0).collect();
    Ok((*inputs, BlockConfig { width, product: Some(product[0].0), hidden: Some(hidden) }))
}

/// (out, in) of consecutive layers with these names, up to the first that is missing.
fn chain(shapes: &Shapes<'_>, name: impl Fn(usize) -> String) -> Result<Vec<(usize, usize)>, String> {
    let mut layers = Vec::new();
    while let Some((name, shape)) = shapes.get_key_value(name(layers.len()).as_str()) {
        layers.push(matrix(name, shape)?);
    }
    Ok(layers)
}

/// (out, in) of a weight, with or without the two trailing ones of a 1 x 1 convolution.
fn matrix(name: &str, shape: &[usize]) -> Result<(usize, usize), String> {
    match shape {
        [outputs, inputs] | [outputs, inputs, 1, 1] => Ok((*outputs, *inputs)),
        _ => Err(format!("`{name}` has the shape {shape:?}, which matches no layer")),
    }
}

/// The depth of the first block, taken as the default of all.
fn depth(blocks: &[BlockConfig]) -> usize {
    blocks.first().and_then(|b| b.hidden.as_ref()).map_or(1, |hidden| hidden.len() + 1)
}

/// The block without fields that merely repeat its width and the depth.
fn plain(block: BlockConfig, depth: usize) -> BlockConfig {
    let width = block.width;
    let usual = block.product() == width
        && block.hidden.as_ref().is_some_and(|h| h.len() + 1 == depth && h.iter().all(|&w| w == width));
    if usual { BlockConfig::new(width) } else { block }
}

/// The suffix that has these layers.
fn suffix(
    config: &PpgnConfig,
    layers: &[(usize, usize)],
    requested: Option<SuffixKind>,
) -> Result<SuffixKind, String> {
    let pooled: Vec<usize> = config.blocks.iter().map(|b| b.width.saturating_mul(2)).collect();
    let heads: Vec<(usize, usize)> = pooled.iter().map(|&p| (config.outputs, p)).collect();
    let ii = layers == heads;
    let joined = layers.windows(2).all(|pair| pair[0].0 == pair[1].1);
    let i = joined && layers.first().map(|l| l.1) == pooled.last().copied();
    match (i, ii, requested) {
        (true, true, None) if layers.len() > 1 => Err(
            "the shapes fit both suffixes (the numbers of outputs and pooled features are equal): specify the suffix"
                .into(),
        ),
        // With one block and one layer, both suffixes are the same function.
        (true, true, None) => Ok(SuffixKind::Ii),
        (true, _, Some(SuffixKind::I)) => Ok(SuffixKind::I),
        (_, true, Some(SuffixKind::Ii)) => Ok(SuffixKind::Ii),
        (true, false, None) => Ok(SuffixKind::I),
        (false, true, None) => Ok(SuffixKind::Ii),
        _ => Err(format!(
            "the layers `fc_layers` do not fit {}: they are {layers:?} (out, in), the blocks pool to {pooled:?}",
            match requested {
                None => "either suffix",
                Some(SuffixKind::I) => "suffix i",
                Some(SuffixKind::Ii) => "suffix ii",
            }
        )),
    }
}

/// The first few names in the file.
fn listed(shapes: &Shapes<'_>) -> String {
    match shapes.len() {
        0 => "no tensor at all".into(),
        n if n <= 8 => shapes.keys().copied().collect::<Vec<_>>().join(", "),
        n => format!("{} and {} more", shapes.keys().take(8).copied().collect::<Vec<_>>().join(", "), n - 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and shapes of a configuration's parameters.
    fn shapes(config: &PpgnConfig) -> BTreeMap<String, Vec<usize>> {
        Layout::new(config).parts().map(|(_, part)| (part.name.clone(), part.shape.clone())).collect()
    }

    fn inferred(
        shapes: &BTreeMap<String, Vec<usize>>,
        suffix: Option<SuffixKind>,
    ) -> Result<PpgnConfig, String> {
        infer(&shapes.iter().map(|(name, shape)| (name.as_str(), shape.as_slice())).collect(), suffix)
    }

    #[test]
    fn the_configuration_follows_from_the_shapes() {
        let odd = BlockConfig { width: 5, product: Some(3), hidden: Some(vec![4, 6]) };
        for suffix in [SuffixKind::I, SuffixKind::Ii] {
            for config in [
                PpgnConfig::new(8, 2),
                PpgnConfig { blocks: vec![BlockConfig::new(9); 2], depth: 4, ..PpgnConfig::new(1, 7) },
                PpgnConfig { blocks: vec![BlockConfig::new(7), odd.clone()], ..PpgnConfig::new(3, 2) },
            ] {
                let config = PpgnConfig { suffix, ..config };
                assert_eq!(inferred(&shapes(&config), None), Ok(config));
            }
        }
    }

    #[test]
    fn missing_names_are_listed() {
        let full = shapes(&PpgnConfig { blocks: vec![BlockConfig::new(4); 2], ..PpgnConfig::new(1, 2) });
        let without = |name: &str| {
            let mut shapes = full.clone();
            shapes.remove(name).unwrap();
            inferred(&shapes, None)
        };
        let skip = "reg_blocks.1.skip.conv.weight";
        assert!(without(skip).unwrap_err().contains(skip));
        let first = "reg_blocks.0.mlp1.convs.0.weight";
        assert!(without(first).unwrap_err().contains(first));
        assert!(without("fc_layers.0.fc.weight").unwrap_err().contains("fc_layers.0.fc.weight"));
        assert!(inferred(&BTreeMap::new(), None).unwrap_err().contains("no tensor at all"));
        let other = BTreeMap::from([("conv1.weight".to_string(), vec![3, 3])]);
        assert!(inferred(&other, None).unwrap_err().contains("conv1.weight"));
        let mut odd = full.clone();
        odd.insert(skip.into(), vec![4, 8, 3, 3]);
        assert!(inferred(&odd, None).unwrap_err().contains("[4, 8, 3, 3]"));
        odd = full.clone();
        odd.insert("fc_layers.1.fc.weight".into(), vec![2, 9]);
        assert!(inferred(&odd, None).unwrap_err().contains("do not fit either suffix"));
    }

    #[test]
    fn shapes_that_fit_both_suffixes_need_an_explicit_choice() {
        let config = PpgnConfig { blocks: vec![BlockConfig::new(2); 2], ..PpgnConfig::new(1, 4) };
        assert!(inferred(&shapes(&config), None).unwrap_err().contains("both suffixes"));
        for kind in [SuffixKind::I, SuffixKind::Ii] {
            assert_eq!(inferred(&shapes(&config), Some(kind)).unwrap().suffix, kind);
        }
    }
}
