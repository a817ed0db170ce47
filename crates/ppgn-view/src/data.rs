//! Datasets that somebody looks at: read when first asked for, dropped a minute after their last use.

use crate::error::{Answer, Failure};
use crate::place::Place;
use ppgn_graph::Dataset;
use ppgn_graph::format::{self, Format, Limits, ReadOptions};
use ppgn_graph::generate;
use ppgn_graph::locate::{Locator, What};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Datasets at the same time; of more, the one that was used least recently is dropped.
const AT_ONCE: usize = 3;
/// The longest file that is read.
const LONGEST: u64 = 1 << 30;
/// The nodes that one graph may have.
const MOST_NODES: u64 = 1 << 20;

/// The datasets in memory.
#[derive(Debug)]
pub(crate) struct Datasets {
    place: Place,
    /// How long a dataset is kept after its last use.
    kept: Duration,
    loaded: Mutex<HashMap<String, Loaded>>,
    /// One is read at a time, so that nobody reads what somebody else is reading.
    reading: Mutex<()>,
}

#[derive(Debug)]
struct Loaded {
    dataset: Dataset,
    /// What its page begins with, once somebody asked: drawings and counts take longer than everything else.
    page: Option<Arc<str>>,
    used: Instant,
}

impl Datasets {
    pub(crate) fn new(place: Place, kept: Duration) -> Self {
        Datasets { place, kept, loaded: Mutex::default(), reading: Mutex::default() }
    }

    /// A dataset by its name: a generator, a name in the data folder, or a file below one of the folders. `read` has the options
    /// by which a run has read it.
    pub(crate) fn get(&self, name: &str, read: &BTreeMap<String, String>) -> Answer<Dataset> {
        let key = key(name, read);
        if let Some(dataset) = self.at_hand(&key) {
            return Ok(dataset);
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dataset) = self.at_hand(&key) {
            return Ok(dataset);
        }
        let dataset = self.read(name, read)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        while loaded.len() >= AT_ONCE {
            let Some(oldest) = loaded.iter().min_by_key(|(_, one)| one.used).map(|(key, _)| key.clone())
            else {
                break;
            };
            loaded.remove(&oldest);
        }
        loaded.insert(key, Loaded { dataset: dataset.clone(), page: None, used: Instant::now() });
        Ok(dataset)
    }

    /// What the page of a dataset begins with: made once, and kept as long as the dataset.
    pub(crate) fn page(&self, name: &str, make: impl FnOnce(&Dataset) -> Answer<String>) -> Answer<Arc<str>> {
        let plain = BTreeMap::new();
        let dataset = self.get(name, &plain)?;
        let key = key(name, &plain);
        let loaded = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = loaded().get(&key).and_then(|one| one.page.clone()) {
            return Ok(page);
        }
        let page: Arc<str> = make(&dataset)?.into();
        if let Some(one) = loaded().get_mut(&key) {
            one.page = Some(page.clone());
        }
        Ok(page)
    }

    fn at_hand(&self, key: &str) -> Option<Dataset> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.get_mut(key).map(|one| {
            one.used = Instant::now();
            one.dataset.clone()
        })
    }

    /// Drops what was not used for a while.
    pub(crate) fn forget_unused(&self) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let before = loaded.len();
        loaded.retain(|_, one| one.used.elapsed() < self.kept);
        if loaded.len() < before {
            give_back();
        }
    }

    fn read(&self, name: &str, read: &BTreeMap<String, String>) -> Answer<Dataset> {
        let labels = read.get("labels").map(|file| self.place.file(file)).transpose()?;
        let format = read.get("format").map(|name| name.parse::<Format>()).transpose()?;
        let limits = Limits { max_unpacked: LONGEST, max_nodes: MOST_NODES, ..Limits::default() };
        let directed = read.contains_key("directed");
        let options = ReadOptions { format, limits, directed, class: read.get("class").cloned(), labels };
        let file = name.contains(['/', '\\']) || ppgn_graph::locate::has_known_extension(name);
        let path = match file {
            true => self.place.file(name)?,
            false => {
                let locator =
                    Locator { data_dir: Some(self.place.data().to_path_buf()), ..Locator::default() };
                if name == "-" {
                    return Err(Failure::wrong("standard input is not read here"));
                }
                match locator.resolve(name)?.what {
                    What::Generator(spec) => return generated(&spec),
                    What::File(path) => self.place.file(&path.to_string_lossy())?,
                }
            }
        };
        if std::fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST) {
            return Err(Failure::too_much(format!("`{name}` is larger than 1 GiB")));
        }
        Ok(format::read(path, &options)?)
    }
}

/// By what a dataset is remembered.
fn key(name: &str, read: &BTreeMap<String, String>) -> String {
    format!("{name}\n{read:?}")
}

/// Gives freed memory back to the system. The allocator of glibc keeps what lies between blocks that are in use, and a dataset is
/// many small blocks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    // SAFETY: it takes no pointer, moves no block that is in use, and may be called from any thread.
    unsafe { malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

/// The nodes and arcs that a generator may make here, by a bound from above.
const MOST_GENERATED: [f64; 2] = [3e5, 2e7];

/// What a generator makes, if it is not too much.
fn generated(spec: &str) -> Answer<Dataset> {
    let [nodes, arcs] = bound(spec);
    if nodes > MOST_GENERATED[0] || arcs > MOST_GENERATED[1] {
        return Err(Failure::too_much(format!(
            "`{spec}` makes more than this page shows: choose smaller numbers"
        )));
    }
    Ok(generate::generate(spec)?)
}

/// A bound on the nodes and arcs that a spec asks for: no family has more nodes than the product of its numbers, lists by
/// their lengths, except for those that are powers; and no node has more neighbours than there are nodes in its graph.
fn bound(spec: &str) -> [f64; 2] {
    let (name, settings) = spec.split_once(':').unwrap_or((spec, ""));
    let Some(generator) = generate::find(name.trim()) else { return [0.0; 2] };
    let given = |key: &str| {
        let pairs = settings.split(',').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(key)).map(|(_, value)| value.trim()).next()
    };
    let (mut product, mut largest) = (1.0f64, 1.0f64);
    for parameter in generator.parameters.iter().filter(|p| p.name != "seed") {
        let value = given(parameter.name).unwrap_or(parameter.default);
        let items: Vec<f64> = value.split('+').map(number).collect();
        let most = items.iter().copied().fold(1.0, f64::max);
        product *= if items.len() > 1 { items.len() as f64 } else { most };
        largest = largest.max(most);
    }
    match generator.name {
        "hypercube" | "cfi" => [product * largest.exp2(), product * largest.exp2() * largest * 2.0],
        // All graphs on up to 8 nodes.
        "atlas" => [1e5, 1e6],
        // Graphs of up to 30 nodes and 150 arcs.
        "counting" => [30.0 * product, 150.0 * product],
        "rook" => [largest * largest, 2.0 * largest.powi(3)],
        _ => [product, product * largest.max(2.0)],
    }
}

/// The largest whole number in a text: `k4` has 4. A share, such as a probability, is at most 1.
fn number(text: &str) -> f64 {
    if let Ok(number) = text.parse::<f64>() {
        return number.clamp(1.0, f64::MAX);
    }
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse::<f64>().ok());
    runs.fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_above_what_generators_make() {
        let specs = generate::generators().iter().map(|generator| generator.name.to_string());
        let more = [
            "cfi:base=k6",
            "cfi:base=c5",
            "hypercube:d=7",
            "rook:n=9",
            "grid:rows=9,columns=14",
            "complete:n=40",
            "bipartite:a=9,b=20",
            "csl",
            "gnp:n=40,p=0.9,count=5",
            "regular:n=20,d=5,count=3",
            "cycles:n=6,copies=7",
            "star:n=17",
            "prism:n=11",
            "circulant:n=30,skips=1+2+3+4+5",
            "paley:q=29",
            "tree:n=50,count=4",
        ];
        for spec in specs.chain(more.map(String::from)) {
            let Ok(dataset) = generate::generate(&spec) else { continue };
            let nodes: usize = dataset.graphs().iter().map(|g| g.nodes()).sum();
            let arcs: usize = dataset.graphs().iter().map(|g| g.arcs()).sum();
            let bound = bound(&spec);
            // Families without numbers are small, and some have a node or a copy more than their number.
            let [most_nodes, most_arcs] = [4.0 * bound[0] + 50.0, 8.0 * bound[1] + 500.0];
            assert!(
                most_nodes >= nodes as f64 && most_arcs >= arcs as f64,
                "{spec}: {nodes} {arcs} {bound:?}"
            );
        }
        // What a name alone makes can be looked at.
        for generator in generate::generators() {
            assert!(generated(generator.name).is_ok(), "{}", generator.name);
        }
        for spec in [
            "complete:n=100000",
            "hypercube:d=27",
            "cfi:base=k24",
            "rook:n=3000",
            "gnp:n=1000,p=1,count=1000000",
        ] {
            assert_eq!(generated(spec).unwrap_err().status, 413, "{spec}");
        }
    }
}
