//! Weights in files: safetensors, under the names of the authors' checkpoints.
//!
//! Equal contents give equal files: tensors in a fixed order, and at most one metadata key (the crate would write
//! several in random order). A file is written completely or not at all. Reading checks names, shapes and precision,
//! and reports every mismatch.

use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::layout::{Array, Layout, Part};
use crate::network::Ppgn;
use crate::precision::{Precision, Values};
use ppgn_graph::Defect;
use ppgn_graph::file::write_whole;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::path::Path;

/// The metadata key that holds a network's configuration as JSON.
const CONFIG: &str = "ppgn";

/// A tensor with its name, as stored in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers, row-major.
    pub values: Values,
}

/// The contents of a file, as returned by [`read`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tensors {
    /// The file's path, for messages.
    pub file: String,
    /// Shape and numbers of every tensor, by name.
    pub tensors: BTreeMap<String, (Vec<usize>, Values)>,
    /// The metadata.
    pub metadata: BTreeMap<String, String>,
}

/// Writes tensors to a safetensors file, with at most one metadata entry (key, text).
///
/// Equal tensors give equal bytes. The file is written to a temporary name, synced and renamed, so that it is complete
/// or absent.
pub fn write(path: impl AsRef<Path>, tensors: &[Named], metadata: Option<(&str, &str)>) -> Result<()> {
    let path = path.as_ref();
    let bytes: Vec<Vec<u8>> = tensors.iter().map(|t| to_bytes(&t.values)).collect();
    let mut views = Vec::with_capacity(tensors.len());
    for (tensor, bytes) in tensors.iter().zip(&bytes) {
        let view = TensorView::new(dtype(tensor.values.precision()), tensor.shape.clone(), bytes);
        let view = view.map_err(|_| {
            let Named { name, shape, values } = tensor;
            Error::call(format!("`{name}` has the shape {shape:?}, but {} numbers", values.len()))
        })?;
        views.push((tensor.name.as_str(), view));
    }
    let metadata = metadata.map(|(key, text)| [(key.to_string(), text.to_string())].into());
    let file = safetensors::serialize(views, metadata)
        .map_err(|e| Error::call(format!("cannot write {}: {e}", path.display())))?;
    Ok(write_whole(path, &file)?)
}

/// Reads a safetensors file of f32 and f64 tensors.
pub fn read(path: impl AsRef<Path>) -> Result<Tensors> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let file = path.display().to_string();
    let damaged = |e| Defect::new(file.clone(), format!("not a sound safetensors file: {e}"));
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
    let content = SafeTensors::deserialize(&bytes).map_err(damaged)?;
    let mut tensors = BTreeMap::new();
    for (name, view) in content.iter() {
        let values = match view.dtype() {
            Dtype::F32 => Values::F32(chunks(view.data(), f32::from_le_bytes)),
            Dtype::F64 => Values::F64(chunks(view.data(), f64::from_le_bytes)),
            other => {
                return Err(Defect::new(file, format!("`{name}` has type {other}, not F32 or F64")).into());
            }
        };
        tensors.insert(name.to_string(), (view.shape().to_vec(), values));
    }
    let metadata = header.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok(Tensors { file, tensors, metadata })
}

fn dtype(precision: Precision) -> Dtype {
    match precision {
        Precision::F32 => Dtype::F32,
        Precision::F64 => Dtype::F64,
    }
}

fn to_bytes(values: &Values) -> Vec<u8> {
    match values {
        Values::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

pub(crate) fn chunks<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&chunk| number(chunk)).collect()
}

impl Layout {
    /// Arrays of this layout (parameters, gradients, moments) as named tensors; every name gets the prefix.
    pub fn named(&self, prefix: &str, arrays: &[Values]) -> Result<Vec<Named>> {
        let lengths = |values: &[Values]| values.iter().map(Values::len).collect::<Vec<_>>();
        let expected: Vec<usize> = self.arrays().iter().map(Array::len).collect();
        if lengths(arrays) != expected {
            return Err(Error::call(format!(
                "expected arrays of lengths {expected:?}, found {:?}",
                lengths(arrays)
            )));
        }
        let named = |(a, part): (usize, &Part)| Named {
            name: format!("{prefix}{}", part.name),
            shape: part.shape.clone(),
            values: arrays[a].part(part.range()),
        };
        Ok(self.parts().map(named).collect())
    }

    /// Arrays of this layout from the tensors with this prefix, all in the same precision.
    ///
    /// Missing names, unexpected names with this prefix, and wrong shapes are errors that list them. Names without the
    /// prefix are ignored.
    pub fn collect(&self, prefix: &str, tensors: &Tensors) -> Result<Vec<Values>> {
        let defect = |text: String| Error::from(Defect::new(tensors.file.clone(), text));
        let full = |part: &crate::layout::Part| format!("{prefix}{}", part.name);
        let expected: std::collections::BTreeSet<String> = self.parts().map(|(_, p)| full(p)).collect();
        let missing = expected.iter().filter(|name| !tensors.tensors.contains_key(*name));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        let extra = tensors.tensors.keys().filter(|n| n.starts_with(prefix) && !expected.contains(*n));
        let extra: Vec<&str> = extra.map(String::as_str).collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(defect(names_differ(&missing, &extra)));
        }
        let precision = self.parts().next().map(|(_, part)| tensors.tensors[&full(part)].1.precision());
        let precision = precision.unwrap_or_default();
        let mut arrays = self.zeros(precision);
        for (a, part) in self.parts() {
            let (shape, values) = &tensors.tensors[&full(part)];
            if *shape != part.shape {
                return Err(defect(format!(
                    "`{}` has the shape {shape:?}, not {:?}",
                    full(part),
                    part.shape
                )));
            }
            if values.precision() != precision {
                let (one, other) = (precision.name(), values.precision().name());
                return Err(defect(format!("`{}` is in {other}, others are in {one}", full(part))));
            }
            arrays[a].put(part.offset, values);
        }
        Ok(arrays)
    }
}

/// Describes which names are missing and which are unexpected.
pub(crate) fn names_differ(missing: &[&str], extra: &[&str]) -> String {
    let list = |what: &str, names: &[&str]| match names {
        [] => None,
        _ => Some(format!("{what}: {}", names.join(", "))),
    };
    let lists = [list("missing", missing), list("unexpected", extra)];
    format!(
        "the names of the weights do not match the network; {}",
        lists.into_iter().flatten().collect::<Vec<_>>().join("; ")
    )
}

impl Ppgn {
    /// Writes the network, including its configuration, to a safetensors file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let arrays: Vec<Values> = self.parameters()?.into_iter().map(|(_, values)| values).collect();
        let config = serde_json::to_string(self.config()).map_err(|e| Error::unfit(e.to_string()))?;
        write(path, &self.layout().named("", &arrays)?, Some((CONFIG, &config)))
    }

    /// Reads a network from a file that [`save`](Ppgn::save) wrote.
    ///
    /// ```
    /// use ppgn_nn::{BlockConfig, Ppgn, PpgnConfig, Precision};
    /// let path = std::env::temp_dir().join(format!("ppgn-doc-{}.safetensors", std::process::id()));
    /// let config = PpgnConfig { blocks: vec![BlockConfig::new(4)], ..PpgnConfig::new(1, 2) };
    /// let network = config.init(0, Precision::F32)?;
    /// network.save(&path)?;
    /// let again = Ppgn::load(&path)?;
    /// assert_eq!((again.config(), again.parameters()?), (network.config(), network.parameters()?));
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let tensors = read(path)?;
        let defect = |text: String| Error::from(Defect::new(tensors.file.clone(), text));
        let config = tensors.metadata.get(CONFIG).ok_or_else(|| {
            defect(format!("no configuration: the metadata has no key `{CONFIG}`, so ppgn did not write it"))
        })?;
        let config: PpgnConfig =
            serde_json::from_str(config).map_err(|e| defect(format!("its configuration is damaged: {e}")))?;
        config.validate().map_err(|e| defect(format!("its configuration is damaged: {e}")))?;
        let arrays = Layout::new(&config).collect("", &tensors)?;
        Ppgn::new(config, arrays)
    }
}
