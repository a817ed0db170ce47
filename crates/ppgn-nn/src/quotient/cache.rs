//! Colours on disk: what took long to find is found once a dataset.
//!
//! A file is named by a digest of everything that colours depend on (the data's content, the encoding with its channels,
//! the precision, the depth, the version of the format), holds that key in full, and ends with a SHA-256 of all before
//! it. What is of another key, damaged or cut short is made again and never trusted; a folder that cannot be written
//! costs the next run its time, and is no error.

use super::Colours;
use super::colours::{Coloured, Places};
use crate::config::PpgnConfig;
use crate::error::Result;
use crate::precision::{Number, Precision, Values};
use ppgn_graph::Dataset;
use ppgn_graph::encode::Encoder;
use ppgn_graph::file::write_atomically;
use ppgn_wl::Options;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The first bytes of a file. The number is the version of the format, of the encodings and of the colouring: it grows
/// with every change of what a file would hold.
const MAGIC: &[u8; 16] = b"ppgn colours 1\n\0";
const CHECKSUM: usize = 32;

/// Where colours came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file of an earlier run.
    Read(PathBuf),
    /// They were found anew.
    Found {
        /// What was wrong with the file that should have had them, if there was one.
        instead: Option<String>,
        /// The file that has them now, or why there is none.
        kept: std::result::Result<PathBuf, String>,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Read(path) => write!(f, "colours read from {}", path.display()),
            Origin::Found { instead, kept } => {
                if let Some(instead) = instead {
                    write!(f, "{instead}; ")?;
                }
                match kept {
                    Ok(path) => write!(f, "colours found, and kept in {}", path.display()),
                    Err(why) => write!(f, "colours found, and not kept: {why}"),
                }
            }
        }
    }
}

/// The place of a dataset's colours on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    path: PathBuf,
    key: String,
    /// The length of the tuples.
    order: usize,
}

impl Colours {
    /// [`of`](Self::of) for a dataset, through files in the folder `colours` of a data folder.
    ///
    /// ```
    /// use ppgn_graph::{encode::{Encoding, Kind}, generate::generate};
    /// use ppgn_nn::{BlockConfig, Colours, Origin, PpgnConfig, Precision};
    /// let folder = tempfile::tempdir().unwrap();
    /// let graphs = generate("gnp:n=6,count=4")?;
    /// let encoder = Encoding::from(Kind::Paper).encoder(graphs.schema())?;
    /// let config = PpgnConfig { blocks: vec![BlockConfig::new(8); 2], ..PpgnConfig::new(1, 2) };
    /// let options = Default::default();
    /// let colours = || Colours::cached(folder.path(), &config, &encoder, &graphs, Precision::F32, &options);
    /// let (found, _) = colours()?;
    /// let (read, origin) = colours()?;
    /// assert!(found == read && matches!(origin, Origin::Read(_)));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn cached(
        data_dir: &Path,
        config: &PpgnConfig,
        encoder: &Encoder,
        dataset: &Dataset,
        precision: Precision,
        options: &Options,
    ) -> Result<(Self, Origin)> {
        let file = File::new(data_dir, config, encoder, dataset, precision);
        let instead = match file.read(dataset) {
            Ok(Some(colours)) => return Ok((colours, Origin::Read(file.path))),
            Ok(None) => None,
            Err(why) => Some(why),
        };
        let colours = Self::of(config, encoder, dataset.graphs(), precision, options)?;
        let kept = file.keep(&colours);
        Ok((colours, Origin::Found { instead, kept }))
    }
}

impl File {
    fn new(
        data_dir: &Path,
        config: &PpgnConfig,
        encoder: &Encoder,
        dataset: &Dataset,
        precision: Precision,
    ) -> Self {
        let encoding = encoder.encoding();
        let depth = config.blocks.len();
        let mut key = format!(
            "data {}\nencoding {} identity {} transposed {}\nchannels {:?}\nprecision {}\ndepth {depth}\n",
            dataset.digest(),
            encoding.kind.name(),
            encoding.identity,
            encoding.transposed,
            encoder.channels(),
            precision.name(),
        );
        if let Some(k) = config.tuples() {
            key += &format!("tuples {k}\n");
        }
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        hash.update(&key);
        let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        File { path: data_dir.join("colours").join(format!("{name}.colours")), key, order: config.order }
    }

    /// The colours of the file; none where there is no file, and what is wrong with it where it cannot be used.
    fn read(&self, dataset: &Dataset) -> std::result::Result<Option<Colours>, String> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", self.path.display())),
        };
        let colours = parse(&bytes, &self.key, self.order).filter(|colours| {
            let nodes = dataset.graphs().iter().map(|graph| graph.nodes());
            nodes.eq(colours.graphs.iter().map(|graph| graph.nodes))
        });
        colours.map(Some).ok_or_else(|| format!("{} is damaged", self.path.display()))
    }

    fn keep(&self, colours: &Colours) -> std::result::Result<PathBuf, String> {
        let bytes = bytes(colours, &self.key);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let write = |out: &mut std::io::BufWriter<&mut std::fs::File>| {
            out.write_all(&bytes).map_err(|error| ppgn_graph::Error::io(&self.path, error))
        };
        write_atomically(&self.path, write).map_err(|error| error.to_string())?;
        Ok(self.path.clone())
    }
}

fn bytes(colours: &Colours, key: &str) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let word = |out: &mut Vec<u8>, x: usize| out.extend((x as u64).to_le_bytes());
    let list = |out: &mut Vec<u8>, list: &[u32]| {
        word(out, list.len());
        list.iter().for_each(|x| out.extend(x.to_le_bytes()));
    };
    word(&mut out, key.len());
    out.extend(key.as_bytes());
    word(&mut out, colours.channels);
    word(&mut out, colours.inputs.len());
    match &colours.inputs {
        Values::F32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Values::F64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
    }
    list(&mut out, &colours.counts);
    list(&mut out, &colours.parents);
    word(&mut out, colours.graphs.len());
    for graph in &colours.graphs {
        word(&mut out, graph.nodes);
        list(&mut out, &graph.colours);
        match &graph.places {
            Places::Narrow(places) => places.iter().for_each(|x| out.extend(x.to_le_bytes())),
            Places::Wide(places) => places.iter().for_each(|x| out.extend(x.to_le_bytes())),
        }
    }
    let checksum = Sha256::digest(&out);
    out.extend(checksum);
    out
}

/// The colours in these bytes, if they are whole, of this key, and such that nothing can go wrong with them.
fn parse(bytes: &[u8], key: &str, order: usize) -> Option<Colours> {
    let (body, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
    let mut rest = Bytes(body.strip_prefix(MAGIC)?);
    if Sha256::digest(body)[..] != *checksum {
        return None;
    }
    let length = rest.word()?;
    if rest.take(length, 1)? != key.as_bytes() {
        return None;
    }
    let channels = rest.word()?;
    let length = rest.word()?;
    let inputs = match key.contains("\nprecision f64\n") {
        true => f64::values(rest.numbers(length, f64::from_le_bytes)?),
        false => f32::values(rest.numbers(length, f32::from_le_bytes)?),
    };
    let (counts, parents) = (rest.list()?, rest.list()?);
    let mut graphs = Vec::new();
    for _ in 0..rest.word()? {
        let (nodes, colours) = (rest.word()?, rest.list()?);
        let pairs = nodes.checked_pow(u32::try_from(order).ok()?)?;
        let places = match colours.len() <= Places::NARROW {
            true => Places::Narrow(rest.numbers(pairs, u16::from_le_bytes)?),
            false => Places::Wide(rest.numbers(pairs, u32::from_le_bytes)?),
        };
        graphs.push(Coloured { nodes, colours, places });
    }
    let colours = Colours { order, channels, inputs, counts, parents, graphs };
    (rest.0.is_empty() && sound(&colours)).then_some(colours)
}

/// Whether every number is where it can be.
fn sound(colours: &Colours) -> bool {
    let Colours { channels, inputs, counts, parents, graphs, .. } = colours;
    let (Some(&first), Some(&last)) = (counts.first(), counts.last()) else { return false };
    let born = counts.windows(2).all(|pair| {
        pair[0] <= pair[1]
            && parents.get(pair[0] as usize..pair[1] as usize).is_some_and(|p| p.iter().all(|&c| c < pair[0]))
    });
    // Lists are in the order of first pairs.
    let graph = |graph: &Coloured| {
        let mut seen = 0;
        let mut ordered = true;
        graph.places.for_each(|place| {
            ordered &= place <= seen;
            seen += usize::from(place == seen);
        });
        ordered && seen == graph.colours.len() && graph.colours.iter().all(|&colour| colour < last)
    };
    born && parents.len() == last as usize
        && (first as usize).checked_mul(*channels) == Some(inputs.len())
        && graphs.iter().all(graph)
}

/// What is left to read. Lengths are held against it before anything is taken.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, items: usize, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(items.checked_mul(size)?)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<usize> {
        let bytes = self.take(1, 8)?;
        usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
    }

    fn numbers<T, const N: usize>(&mut self, items: usize, read: fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (numbers, _) = self.take(items, N)?.as_chunks::<N>();
        Some(numbers.iter().map(|&bytes| read(bytes)).collect())
    }

    fn list(&mut self) -> Option<Vec<u32>> {
        let items = self.word()?;
        self.numbers(items, u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::encode::{Encoding, Kind};
    use ppgn_graph::generate::generate;
    use ppgn_graph::random::Stream;

    fn example() -> Colours {
        let graphs = generate("gnp:n=7,p=0.4,count=3").unwrap();
        let encoder = Encoding::from(Kind::Paper).encoder(graphs.schema()).unwrap();
        Colours::encode(&encoder, graphs.graphs(), Precision::F64, 2, &Options::default()).unwrap()
    }

    const KEY: &str = "the key\nprecision f64\n";

    #[test]
    fn damage_is_never_trusted() {
        let colours = example();
        let whole = bytes(&colours, KEY);
        assert_eq!(parse(&whole, KEY, 2), Some(colours));
        assert_eq!(parse(&whole, "the key\nprecision f64\n\n", 2), None);
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length], KEY, 2), None);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            assert_eq!(parse(&damaged, KEY, 2), None);
        }
    }

    #[test]
    fn damage_under_a_right_checksum_cannot_go_wrong() {
        let whole = bytes(&example(), KEY);
        let body = &whole[..whole.len() - CHECKSUM];
        let mut random = Stream::new(1, "damage", &[]);
        let start = MAGIC.len() + 8 + KEY.len();
        for _ in 0..4000 {
            let mut damaged = body.to_vec();
            let at = start + random.below(body.len() - start);
            damaged[at] = random.below(256) as u8;
            damaged.extend(Sha256::digest(&damaged));
            if let Some(colours) = parse(&damaged, KEY, 2) {
                let graphs: Vec<usize> = (0..colours.graphs()).collect();
                let (space, ids) = super::super::Quotient::new(&colours, &graphs).unwrap();
                assert_eq!(super::super::inputs(&colours, &ids).len(), space.rows(0) * colours.channels());
            }
        }
    }
}
