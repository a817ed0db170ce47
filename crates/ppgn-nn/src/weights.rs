//! Weights in files: safetensors, under the names of the authors' checkpoints.
//!
//! Equal contents give equal files: tensors in a fixed order, and at most one metadata key (the crate would write
//! several in random order). A file is written completely or not at all. The metadata is a JSON object whose last field,
//! `sha256`, is a [digest](write) of everything in the file: other readers see one more field, and a flipped bit does not
//! go unnoticed here. Reading checks the digest, names, shapes and precision, and reports every mismatch.

use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::layout::{Array, Layout, Part};
use crate::network::Ppgn;
use crate::precision::{Precision, Values};
use ppgn_graph::Defect;
use ppgn_graph::file::{read_whole, write_whole};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The metadata key that holds a network's configuration as JSON.
const CONFIG: &str = "ppgn";

/// The field of that object that holds the note given to [`Ppgn::save_with`].
const NOTE: &str = "run";

/// What comes before the digest, and after it, at the end of the metadata's JSON object.
const SEAL: [&str; 2] = ["\"sha256\":\"", "\"}"];

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
    /// The metadata, without the digest.
    pub metadata: BTreeMap<String, String>,
    /// Whether the file has a digest, which then is right. Files of ppgn 0.1 and of other software have none.
    pub verified: bool,
}

/// Writes tensors to a safetensors file, with at most one metadata entry: a key, and a JSON object as its text.
///
/// The object gets a last field `sha256`: the SHA-256, in hexadecimal, of `ppgn weights 1\n`, the key, the object's text as
/// given, and of every tensor in the order of the names its name, its type (`F32`, `F64`), the number of its dimensions and
/// each of them, and its bytes. Texts and bytes are preceded by their length; numbers are eight bytes, the lowest first.
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
    let metadata = match metadata {
        None => None,
        Some((key, text)) => {
            let open = text.strip_suffix('}').filter(|open| open.starts_with('{'));
            let open = open.ok_or_else(|| Error::call("the metadata of a file must be a JSON object"))?;
            let mut sealed: Vec<Sealed<'_>> =
                views.iter().map(|(name, view)| Sealed::of(name, view)).collect();
            let comma = if open == "{" { "" } else { "," };
            let text = format!("{open}{comma}{}{}{}", SEAL[0], digest(key, text, &mut sealed), SEAL[1]);
            Some([(key.to_string(), text)].into())
        }
    };
    let file = safetensors::serialize(views, metadata)
        .map_err(|e| Error::call(format!("cannot write {}: {e}", path.display())))?;
    Ok(write_whole(path, &file)?)
}

/// A tensor as the digest sees it: name, type, shape, bytes.
struct Sealed<'a>(&'a str, Dtype, &'a [usize], &'a [u8]);

impl<'a> Sealed<'a> {
    fn of(name: &'a str, view: &'a TensorView<'a>) -> Self {
        Sealed(name, view.dtype(), view.shape(), view.data())
    }
}

/// The digest of a file's content, as [`write`] describes it. O(bytes).
fn digest(key: &str, text: &str, tensors: &mut [Sealed<'_>]) -> String {
    tensors.sort_unstable_by_key(|tensor| tensor.0);
    let mut hash = Sha256::new();
    hash.update(b"ppgn weights 1\n");
    let number = |hash: &mut Sha256, x: usize| hash.update((x as u64).to_le_bytes());
    let bytes = |hash: &mut Sha256, bytes: &[u8]| {
        number(hash, bytes.len());
        hash.update(bytes);
    };
    bytes(&mut hash, key.as_bytes());
    bytes(&mut hash, text.as_bytes());
    for Sealed(name, dtype, shape, data) in tensors {
        bytes(&mut hash, name.as_bytes());
        bytes(&mut hash, dtype.to_string().as_bytes());
        number(&mut hash, shape.len());
        shape.iter().for_each(|&x| number(&mut hash, x));
        bytes(&mut hash, data);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a metadata entry without its digest, and the digest; nothing where it has none.
fn unsealed(text: &str) -> Option<(String, &str)> {
    let (open, digest) = text.strip_suffix(SEAL[1])?.rsplit_once(SEAL[0])?;
    let open = if open == "{" { open } else { open.strip_suffix(',')? };
    Some((format!("{open}}}"), digest))
}

/// Reads a safetensors file of f32 and f64 tensors. Where it has a digest, that must be right.
pub fn read(path: impl AsRef<Path>) -> Result<Tensors> {
    let path = path.as_ref();
    let bytes = read_whole(path)?;
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
    let mut metadata: BTreeMap<String, String> =
        header.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    let mut verified = false;
    for (key, text) in &mut metadata {
        let wrong = "its checksum does not match its content: it was damaged or changed after it was written";
        let Some((plain, expected)) = unsealed(text) else {
            // A digest that is not where it was written.
            match text.contains(SEAL[0].trim_end_matches('"')) {
                true => return Err(Defect::new(file, wrong).into()),
                false => continue,
            }
        };
        let views: Vec<(&str, TensorView<'_>)> = content.iter().collect();
        let mut sealed: Vec<Sealed<'_>> = views.iter().map(|(name, view)| Sealed::of(name, view)).collect();
        if digest(key, &plain, &mut sealed) != expected {
            return Err(Defect::new(file, wrong).into());
        }
        *text = plain;
        verified = true;
    }
    Ok(Tensors { file, tensors, metadata, verified })
}

fn dtype(precision: Precision) -> Dtype {
    match precision {
        Precision::F32 => Dtype::F32,
        Precision::F64 => Dtype::F64,
    }
}

fn to_bytes(values: &Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.write(&mut bytes);
    bytes
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

/// A network from a file, and what the file says about itself.
#[derive(Debug)]
pub struct Loaded {
    /// The network.
    pub network: Ppgn,
    /// What was written with it, as JSON: see [`Ppgn::save_with`].
    pub note: Option<String>,
    /// Whether the file has a digest, which then is right.
    pub verified: bool,
}

impl Ppgn {
    /// Writes the network, including its configuration, to a safetensors file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_noted(path.as_ref(), None)
    }

    /// The same with a note, a JSON value, in the field `run` of the metadata: what the network belongs to.
    pub fn save_with(&self, path: impl AsRef<Path>, note: &impl serde::Serialize) -> Result<()> {
        self.save_noted(
            path.as_ref(),
            Some(serde_json::to_value(note).map_err(|e| Error::call(e.to_string()))?),
        )
    }

    fn save_noted(&self, path: &Path, note: Option<Value>) -> Result<()> {
        let arrays: Vec<Values> = self.parameters()?.into_iter().map(|(_, values)| values).collect();
        let mut config = serde_json::to_string(self.config()).map_err(|e| Error::unfit(e.to_string()))?;
        if let (Some(note), Some(open)) = (note, config.strip_suffix('}')) {
            config = format!("{open},\"{NOTE}\":{note}}}");
        }
        write(path, &self.layout().named("", &arrays)?, Some((CONFIG, &config)))
    }

    /// Reads a network from a file that [`save`](Ppgn::save) wrote. A file that was damaged since is an error.
    ///
    /// ```
    /// use ppgn_nn::{BlockConfig, Ppgn, PpgnConfig, Precision};
    /// let path = std::env::temp_dir().join(format!("ppgn-doc-{}.safetensors", std::process::id()));
    /// let config = PpgnConfig { blocks: vec![BlockConfig::new(4)], ..PpgnConfig::new(1, 2) };
    /// let network = config.init(0, Precision::F32)?;
    /// network.save(&path)?;
    /// let again = Ppgn::load(&path)?;
    /// assert_eq!((again.config(), again.parameters()?), (network.config(), network.parameters()?));
    /// let mut bytes = std::fs::read(&path).unwrap();
    /// *bytes.last_mut().unwrap() ^= 1;
    /// std::fs::write(&path, bytes).unwrap();
    /// assert!(Ppgn::load(&path).unwrap_err().to_string().contains("checksum"));
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::load_with(path)?.network)
    }

    /// The same with what the file says about itself.
    pub fn load_with(path: impl AsRef<Path>) -> Result<Loaded> {
        let tensors = read(path)?;
        let defect = |text: String| Error::from(Defect::new(tensors.file.clone(), text));
        let config = tensors.metadata.get(CONFIG).ok_or_else(|| {
            defect(format!("no configuration: the metadata has no key `{CONFIG}`, so ppgn did not write it"))
        })?;
        let damaged = |e: String| defect(format!("its configuration is damaged: {e}"));
        let mut config: Value = serde_json::from_str(config).map_err(|e| damaged(e.to_string()))?;
        let note = config.as_object_mut().and_then(|fields| fields.remove(NOTE)).map(|note| note.to_string());
        let config: PpgnConfig = serde_json::from_value(config).map_err(|e| damaged(e.to_string()))?;
        config.validate().map_err(|e| damaged(e.to_string()))?;
        let arrays = Layout::new(&config).collect("", &tensors)?;
        Ok(Loaded { network: Ppgn::new(config, arrays)?, note, verified: tensors.verified })
    }
}
