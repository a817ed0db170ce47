//! Suites: collections of pairs of graphs, by category, whose answers are known. By name, or any file of pairs.

use super::bases;
use crate::error::{Error, Result};
use ppgn_graph::locate::Locator;
use ppgn_graph::{Dataset, Graph, format, generate};
use std::path::PathBuf;

/// The names of the suites of pairs.
pub const SUITES: [&str; 7] = ["brec", "csl", "exp", "cexp", "sr", "cfi", "graph8c"];

/// Pairs of graphs by category.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Its name, or that of the file.
    pub name: String,
    /// The categories that are there.
    pub categories: Vec<Category>,
    /// What belongs to the suite and is not there, one sentence each.
    pub missing: Vec<String>,
}

/// The pairs of one kind.
#[derive(Debug, Clone)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// The graphs.
    pub graphs: Vec<Graph>,
    /// Which of them are to be distinguished.
    pub pairing: Pairing,
}

/// Which graphs are to be distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pairing {
    /// These pairs, by the indices of their graphs.
    Listed(Vec<[usize; 2]>),
    /// Every two graphs of a collection with too many pairs to look at one by one.
    Collection,
}

impl Category {
    /// Graphs 2p and 2p+1 are pair p.
    pub fn consecutive(name: impl Into<String>, graphs: Vec<Graph>) -> Result<Self> {
        let name = name.into();
        if graphs.is_empty() || !graphs.len().is_multiple_of(2) {
            return Err(Error::settings(format!(
                "{name} has {} graphs: pairs of consecutive graphs need an even number of them",
                graphs.len()
            )));
        }
        let pairs = (0..graphs.len() / 2).map(|p| [2 * p, 2 * p + 1]).collect();
        Ok(Category { name, graphs, pairing: Pairing::Listed(pairs) })
    }

    /// Every two graphs are a pair.
    pub fn all_pairs(name: impl Into<String>, graphs: Vec<Graph>) -> Self {
        let second = |b: usize| (0..b).map(move |a| [a, b]);
        let pairs = (0..graphs.len()).flat_map(second).collect();
        Category { name: name.into(), graphs, pairing: Pairing::Listed(pairs) }
    }

    /// The pairs that are looked at one by one; none of a collection.
    pub fn pairs(&self) -> &[[usize; 2]] {
        match &self.pairing {
            Pairing::Listed(pairs) => pairs,
            Pairing::Collection => &[],
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        match &self.pairing {
            Pairing::Listed(pairs) => pairs.len(),
            Pairing::Collection => self.graphs.len() * self.graphs.len().saturating_sub(1) / 2,
        }
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its pairs are all pairs of its graphs, so that what is not distinguished forms classes.
    pub fn is_all_pairs(&self) -> bool {
        self.pairing == Pairing::Collection
            || self.len() == self.graphs.len() * self.graphs.len().saturating_sub(1) / 2
    }
}

/// The categories of BREC: the file in its folder, and how many pairs the benchmark has.
const BREC: [(&str, usize); 7] =
    [("basic", 60), ("regular", 50), ("str", 50), ("extension", 100), ("cfi", 100), ("4vtx", 20), ("dr", 20)];

impl Suite {
    /// The suite of a name, `SUITE` or `SUITE:CATEGORY`; any other word is data whose consecutive graphs are pairs.
    ///
    /// ```
    /// use ppgn_graph::locate::Locator;
    /// use ppgn_train::express::Suite;
    /// let csl = Suite::load("csl", &Locator::default())?;
    /// assert_eq!((csl.categories.len(), csl.categories[0].len()), (1, 45));
    /// let one = Suite::load("cfi:base=k4", &Locator::default())?;      // a generator of two graphs: one pair
    /// assert_eq!(one.categories[0].len(), 1);
    /// # Ok::<(), ppgn_train::Error>(())
    /// ```
    pub fn load(word: &str, locator: &Locator) -> Result<Self> {
        let (name, category) = match word.split_once(':') {
            Some((name, category)) if !category.contains('=') => (name, Some(category)),
            _ => (word, None),
        };
        let lower = name.to_ascii_lowercase();
        let suite = match lower.as_str() {
            "brec" => brec(locator)?,
            "csl" => csl()?,
            "exp" | "cexp" => graphsat(&lower, locator)?,
            "sr" => strongly_regular(locator)?,
            "cfi" => bases::suite()?,
            "graph8c" => graph8c()?,
            _ => return Self::of(&locator.load(word)?),
        };
        match category {
            None => Ok(suite),
            Some(wanted) => suite.only(wanted),
        }
    }

    /// A dataset whose consecutive graphs are pairs.
    pub fn of(dataset: &Dataset) -> Result<Self> {
        let category = Category::consecutive(dataset.name(), dataset.graphs().to_vec())?;
        Ok(Suite { name: dataset.name().into(), categories: vec![category], missing: Vec::new() })
    }

    /// One category of it.
    fn only(mut self, wanted: &str) -> Result<Self> {
        let names: Vec<String> = self.categories.iter().map(|c| c.name.clone()).collect();
        self.categories.retain(|c| c.name.eq_ignore_ascii_case(wanted));
        match self.categories.is_empty() {
            true => Err(Error::settings(format!(
                "{} has no category `{wanted}` here; there are {}",
                self.name,
                names.join(", ")
            ))),
            false => Ok(Suite { missing: Vec::new(), ..self }),
        }
    }

    /// The number of pairs of all categories.
    pub fn pairs(&self) -> usize {
        self.categories.iter().map(Category::len).sum()
    }

    /// All graphs, category after category.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.categories.iter().flat_map(|category| &category.graphs)
    }
}

fn brec(locator: &Locator) -> Result<Suite> {
    let folder = locator.data_dir().join("brec");
    let (mut categories, mut missing) = (Vec::new(), Vec::new());
    for (name, pairs) in BREC {
        let path = folder.join(format!("{name}.g6"));
        match path.exists() {
            true => {
                let graphs = format::read(&path, &locator.read)?.graphs().to_vec();
                categories.push(Category::consecutive(name, graphs)?);
            }
            false => {
                missing.push(format!("{name} ({pairs} pairs) is left out: there is no {}", path.display()))
            }
        }
    }
    match categories.is_empty() {
        true => Err(Error::settings(format!(
            "no category of BREC is in {}: it takes basic.g6, regular.g6, extension.g6 ..., two lines per pair",
            folder.display()
        ))),
        false => Ok(Suite { name: "brec".into(), categories, missing }),
    }
}

/// One graph per class.
fn csl() -> Result<Suite> {
    let graphs = generate::generate("csl:copies=1")?.graphs().to_vec();
    let categories = vec![Category::all_pairs("csl", graphs)];
    Ok(Suite { name: "csl".into(), categories, missing: Vec::new() })
}

fn graph8c() -> Result<Suite> {
    let graphs = generate::generate("atlas:n=8,connected=1")?.graphs().to_vec();
    let categories = vec![Category { name: "graph8c".into(), graphs, pairing: Pairing::Collection }];
    Ok(Suite { name: "graph8c".into(), categories, missing: Vec::new() })
}

/// EXP and CEXP (Abboud et al. 2021), as their authors publish them: `GRAPHSAT.txt` in the text format of the paper's
/// data, graphs 2p and 2p+1 a pair.
fn graphsat(name: &str, locator: &Locator) -> Result<Suite> {
    let upper = name.to_ascii_uppercase();
    let places = [
        format!("{name}/GRAPHSAT.txt"),
        format!("{upper}/GRAPHSAT.txt"),
        format!("{upper}/raw/GRAPHSAT.txt"),
        format!("{name}.txt"),
        format!("{upper}.txt"),
    ];
    let places: Vec<PathBuf> = places.iter().map(|place| locator.data_dir().join(place)).collect();
    let Some(path) = places.iter().find(|path| path.exists()) else {
        return Err(Error::settings(format!(
            "{upper} is not in the data folder: put its authors' file at {}",
            places[0].display()
        )));
    };
    let dataset = format::read(path, &locator.read)?;
    let category = Category::consecutive(name, dataset.graphs().to_vec())?;
    Ok(Suite { name: name.into(), categories: vec![category], missing: Vec::new() })
}

/// Every graph6 file of the folder `sr` is a family; without one, the two graphs of parameters (16, 6, 2, 2) are made.
fn strongly_regular(locator: &Locator) -> Result<Suite> {
    let folder = locator.data_dir().join("sr");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|path| path.extension().is_some_and(|e| e == "g6"));
    files.sort();
    let (mut categories, mut missing) = (Vec::new(), Vec::new());
    for path in &files {
        let graphs = format::read(path, &locator.read)?.graphs().to_vec();
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        categories.push(Category::all_pairs(name, graphs));
    }
    if categories.is_empty() {
        let mut graphs = generate::generate("rook")?.graphs().to_vec();
        graphs.extend_from_slice(generate::generate("shrikhande")?.graphs());
        categories.push(Category::all_pairs("sr16622", graphs));
        missing.push(format!(
            "there are no families in {}, such as sr251256.g6: the two graphs of (16, 6, 2, 2) were made instead",
            folder.display()
        ));
    }
    Ok(Suite { name: "sr".into(), categories, missing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Locator) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let locator = Locator { data_dir: Some(folder.path().into()), ..Locator::default() };
        (folder, locator)
    }

    #[test]
    fn missing_categories_are_named() {
        let (_folder, locator) =
            in_folder(&[("brec/basic.g6", "Bw\nBg\n"), ("brec/cfi.g6", "Bw\nBg\nBw\nBo\n")]);
        let suite = Suite::load("brec", &locator).unwrap();
        let names: Vec<&str> = suite.categories.iter().map(|c| c.name.as_str()).collect();
        assert_eq!((names, suite.pairs(), suite.missing.len()), (vec!["basic", "cfi"], 3, 5));
        assert!(suite.missing[0].starts_with("regular (50 pairs) is left out: there is no "));
        let cfi = Suite::load("BREC:CFI", &locator).unwrap();
        assert_eq!((cfi.pairs(), cfi.missing.len()), (2, 0));
        let unknown = Suite::load("brec:dr", &locator).unwrap_err();
        assert!(unknown.is_call() && unknown.to_string().ends_with("there are basic, cfi"), "{unknown}");
        let (_folder, nothing) = in_folder(&[]);
        assert!(Suite::load("brec", &nothing).unwrap_err().is_call());
    }

    #[test]
    fn pairs_need_an_even_number_of_graphs() {
        let (folder, locator) = in_folder(&[("odd.g6", "Bw\nBg\nBo\n")]);
        let path = folder.path().join("odd.g6");
        let error = Suite::load(path.to_str().unwrap(), &locator).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("3 graphs"), "{error}");
    }

    #[test]
    fn exp_is_its_authors_file() {
        let text = "2\n3 1\n0 2 1 2\n1 2 0 2\n1 2 0 1\n3 0\n0 1 1\n1 2 0 2\n0 1 1\n";
        let (_folder, locator) = in_folder(&[("EXP/raw/GRAPHSAT.txt", text)]);
        let suite = Suite::load("exp", &locator).unwrap();
        assert_eq!((suite.pairs(), suite.categories[0].graphs[0].node_label_columns()), (1, 1));
        let error = Suite::load("cexp", &locator).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("cexp/GRAPHSAT.txt"), "{error}");
    }

    #[test]
    fn families_are_files() {
        let (_folder, locator) =
            in_folder(&[("sr/a.g6", "Bw\nBg\nBo\n"), ("sr/b.g6", "Bw\nBg\n"), ("sr/c.txt", "x")]);
        let suite = Suite::load("sr", &locator).unwrap();
        assert_eq!(suite.categories.iter().map(Category::len).collect::<Vec<_>>(), [3, 1]);
        assert!(suite.categories[0].is_all_pairs());
        let (_folder, nothing) = in_folder(&[]);
        let made = Suite::load("sr", &nothing).unwrap();
        assert_eq!((made.pairs(), made.missing.len()), (1, 1));
    }
}
