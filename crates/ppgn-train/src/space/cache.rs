//! Colours on disk, so that each dataset is coloured only once.
//!
//! A file's name is a digest of everything that colours depend on (the data's content, the encoding with its
//! channels, the precision, the depth, the version of the format). The file holds that key in full, and ends with a
//! SHA-256 of all before it. A file that is damaged, truncated, of another key or [not a colouring](super::check) of the
//! graphs is never trusted, and computed again. A folder that cannot be written costs the next run some time, and is not
//! an error.

use super::check::is_colouring;
use crate::error::Result;
use ppgn_graph::Dataset;
use ppgn_graph::encode::Encoder;
use ppgn_graph::file::{read_whole, write_atomically};
use ppgn_nn::{ColourParts, Colours, GraphColours, Number, Places, PpgnConfig, Precision, Values};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The first bytes of a file. The number is the version of the format, the encodings and the colouring: it is increased
/// with every change of the content of a file.
const MAGIC: &[u8; 16] = b"ppgn colours 1\n\0";
const CHECKSUM: usize = 32;

/// Everything that the colours of a dataset depend on, as text.
pub(super) fn key(config: &PpgnConfig, encoder: &Encoder, digest: &str, precision: Precision) -> String {
    let encoding = encoder.encoding();
    let depth = config.blocks.len();
    let mut key = format!(
        "data {digest}\nencoding {} identity {} transposed {}\nchannels {:?}\nprecision {}\ndepth {depth}\n",
        encoding.kind.name(),
        encoding.identity,
        encoding.transposed,
        encoder.channels(),
        precision.name(),
    );
    if let Some(k) = config.tuples() {
        key += &format!("tuples {k}\n");
    }
    key
}

/// The file of a dataset's colours.
pub(super) struct File<'a> {
    path: PathBuf,
    key: &'a str,
    /// The network that the colours are for, and how graphs become rows for it.
    config: &'a PpgnConfig,
    encoder: &'a Encoder,
}

impl<'a> File<'a> {
    /// The file of this key in the folder `colours` of a cache folder.
    pub(super) fn new(cache_dir: &Path, key: &'a str, config: &'a PpgnConfig, encoder: &'a Encoder) -> Self {
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        hash.update(key);
        let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        File { path: cache_dir.join("colours").join(format!("{name}.colours")), key, config, encoder }
    }

    /// The colours in the file, if it is valid; otherwise those that `find` computes, which are written to it.
    pub(super) fn colours(
        &self,
        dataset: &Dataset,
        find: impl FnOnce() -> Result<Colours>,
    ) -> Result<Colours> {
        if let Some(colours) = self.read(dataset) {
            return Ok(colours);
        }
        let colours = find()?;
        // A cache that cannot be written is no reason to fail.
        let _ = self.keep(&colours);
        Ok(colours)
    }

    fn read(&self, dataset: &Dataset) -> Option<Colours> {
        let bytes = read_whole(&self.path).ok()?;
        let colours = parse(&bytes, self.key, self.config.order)?;
        let seed = u64::from_le_bytes(*bytes.last_chunk()?);
        is_colouring(colours.parts(), self.config, self.encoder, dataset.graphs(), seed).then_some(colours)
    }

    fn keep(&self, colours: &Colours) -> ppgn_graph::Result<()> {
        let bytes = bytes(colours.parts(), self.key);
        let io = |error| ppgn_graph::Error::io(&self.path, error);
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        write_atomically(&self.path, |out| out.write_all(&bytes).map_err(io))
    }
}

fn bytes(colours: &ColourParts, key: &str) -> Vec<u8> {
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

/// The colours in these bytes, if they are complete, of this key and consistent.
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
        graphs.push(GraphColours { nodes, colours, places });
    }
    let parts = ColourParts { order, channels, inputs, counts, parents, graphs };
    Colours::from_parts(parts).ok().filter(|_| rest.0.is_empty())
}

/// The bytes left to read. Lengths are checked against them before anything is taken.
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
    use ppgn_nn::{Batch, BlockConfig};

    fn encoder(dataset: &Dataset) -> Encoder {
        Encoding::from(Kind::Paper).encoder(dataset.schema()).unwrap()
    }

    fn example() -> Colours {
        let graphs = generate("gnp:n=7,p=0.4,count=3").unwrap();
        Colours::encode(&encoder(&graphs), graphs.graphs(), Precision::F64, 2, &Default::default()).unwrap()
    }

    const KEY: &str = "the key\nprecision f64\n";

    #[test]
    fn damage_is_never_trusted() {
        let colours = example();
        let whole = bytes(colours.parts(), KEY);
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
        let whole = bytes(example().parts(), KEY);
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
                let batch = Batch::quotient(&colours, &graphs).unwrap();
                assert!(batch.space().rows(0) <= colours.count(0));
            }
        }
    }

    /// The colours of a dataset through a data folder, and whether they had to be computed.
    fn cached(
        folder: &Path,
        config: &PpgnConfig,
        encoder: &Encoder,
        dataset: &Dataset,
        precision: Precision,
    ) -> (Colours, bool) {
        let key = key(config, encoder, &dataset.digest(), precision);
        let mut found = false;
        let find = || {
            found = true;
            Ok(Colours::of(config, encoder, dataset.graphs(), precision, &Default::default())?)
        };
        let colours = File::new(folder, &key, config, encoder).colours(dataset, find).unwrap();
        (colours, found)
    }

    fn of_depth(depth: usize) -> PpgnConfig {
        PpgnConfig { blocks: vec![BlockConfig::new(2); depth], ..PpgnConfig::new(1, 2) }
    }

    fn simple(folder: &Path, dataset: &Dataset, precision: Precision, depth: usize) -> (Colours, bool) {
        cached(folder, &of_depth(depth), &encoder(dataset), dataset, precision)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder.join("colours")).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    #[test]
    fn colours_are_kept_by_what_they_depend_on() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (generate("gnp:n=6,count=5").unwrap(), generate("gnp:n=6,count=5,seed=1").unwrap());
        let (f32, f64) = (Precision::F32, Precision::F64);
        for (dataset, precision, depth) in [(&a, f32, 2), (&a, f64, 2), (&a, f32, 3), (&b, f32, 2)] {
            let known = files(folder.path()).len();
            let (found, new) = simple(folder.path(), dataset, precision, depth);
            assert!(new);
            assert_eq!(files(folder.path()).len(), known + 1);
            let (read, new) = simple(folder.path(), dataset, precision, depth);
            assert!(!new && read == found);
            assert_eq!((found.precision(), found.depth()), (precision, depth));
        }
        // Another encoding of the same graphs.
        let identity = Encoding { identity: true, ..Encoding::from(Kind::Paper) };
        let identity = identity.encoder(a.schema()).unwrap();
        assert!(cached(folder.path(), &of_depth(2), &identity, &a, f32).1);
        // Triples of the same graphs.
        let triples = PpgnConfig { order: 3, ..of_depth(2) };
        let of_triples = || cached(folder.path(), &triples, &encoder(&a), &a, f32);
        let ((found, new), (read, again)) = (of_triples(), of_triples());
        assert!(new && !again && found == read);
        assert_eq!((found.order(), found.pairs(), found.channels()), (3, 5 * 216, 18));
    }

    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = generate("gnp:n=6,count=3").unwrap();
        let (found, _) = simple(folder.path(), &dataset, Precision::F32, 2);
        let file = files(folder.path()).remove(0);
        let whole = std::fs::read(&file).unwrap();
        let mut random = Stream::new(2, "damage", &[]);
        for round in 0..60 {
            let mut damaged = whole.clone();
            match round % 3 {
                0 => damaged.truncate(random.below(whole.len())),
                1 => {
                    let at = random.below(whole.len());
                    damaged[at] ^= 1 << random.below(8);
                }
                // Of another version.
                _ => damaged[13] = b'0' + (2 + random.below(8)) as u8,
            }
            std::fs::write(&file, &damaged).unwrap();
            let (again, new) = simple(folder.path(), &dataset, Precision::F32, 2);
            assert!(new && again == found && std::fs::read(&file).unwrap() == whole);
        }
        // A file of another dataset under this one's name.
        let other = generate("gnp:n=6,count=3,seed=9").unwrap();
        simple(folder.path(), &other, Precision::F32, 2);
        let foreign = files(folder.path()).into_iter().find(|path| *path != file).unwrap();
        std::fs::copy(foreign, &file).unwrap();
        assert_eq!(simple(folder.path(), &dataset, Precision::F32, 2), (found, true));
    }

    /// Edits a file's colours and computes its digest anew.
    fn forge(file: &Path, key: &str, order: usize, edit: impl FnOnce(&mut ColourParts)) -> bool {
        let mut parts = parse(&std::fs::read(file).unwrap(), key, order).unwrap().parts().clone();
        let before = parts.clone();
        edit(&mut parts);
        let changed = parts != before && Colours::from_parts(parts.clone()).is_ok();
        if changed {
            std::fs::write(file, bytes(&parts, key)).unwrap();
        }
        changed
    }

    #[test]
    fn point_3_edited_colours_with_a_right_digest_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = generate("gnp:n=8,p=0.3,count=12").unwrap();
        let encoder = encoder(&dataset);
        for order in [2, 3] {
            let config = PpgnConfig { order, ..of_depth(2) };
            let known = files(folder.path());
            let (found, _) = cached(folder.path(), &config, &encoder, &dataset, Precision::F32);
            let file = files(folder.path()).into_iter().find(|file| !known.contains(file)).unwrap();
            let whole = std::fs::read(&file).unwrap();
            let key = key(&config, &encoder, &dataset.digest(), Precision::F32);
            let mut random = Stream::new(3, "edits", &[order as u64]);
            let mut edited = 0;
            for round in 0..120 {
                let changed = forge(&file, &key, order, |parts| {
                    let last = *parts.counts.last().unwrap() as usize;
                    let graph = random.below(parts.graphs.len());
                    match round % 4 {
                        // An input.
                        0 => match &mut parts.inputs {
                            Values::F32(inputs) => inputs[random.below(2)] += 0.25,
                            Values::F64(_) => unreachable!(),
                        },
                        // A colour that came from another.
                        1 => {
                            let first = parts.counts[0] as usize;
                            let colour = first + random.below(last - first);
                            parts.parents[colour] = random.below(first) as u32;
                        }
                        // All tuples of a colour in another.
                        2 => {
                            let list = &mut parts.graphs[graph].colours;
                            let at = random.below(list.len());
                            list[at] = random.below(last) as u32;
                        }
                        // A tuple in another colour of its graph. For triples one of many may go unnoticed, so all of
                        // them from some place on.
                        _ => {
                            let GraphColours { places: Places::Narrow(places), colours, .. } =
                                &mut parts.graphs[graph]
                            else {
                                return;
                            };
                            let at = places.len() / 2 + random.below(places.len() / 2);
                            let until = if order == 2 { at + 1 } else { places.len() };
                            let to = random.below(colours.len()) as u16;
                            places[at..until].iter_mut().for_each(|place| *place = to);
                        }
                    }
                });
                if !changed {
                    continue;
                }
                edited += 1;
                let (again, new) = cached(folder.path(), &config, &encoder, &dataset, Precision::F32);
                assert!(again == found, "order {order}, round {round}: edited colours were taken");
                assert!(new && std::fs::read(&file).unwrap() == whole);
            }
            assert!(edited > 60, "{edited} edits");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_not_an_error() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the folder should be: fails for every user, including root.
        std::fs::write(folder.path().join("colours"), b"").unwrap();
        let dataset = generate("petersen").unwrap();
        let (colours, new) = simple(folder.path(), &dataset, Precision::F32, 3);
        assert!(new && colours.graphs() == 1);
    }
}
