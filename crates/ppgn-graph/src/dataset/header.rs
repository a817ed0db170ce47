//! [`Header`]: everything known of a dataset but its graphs, and [`Record`], one graph of it.

use super::items::{Item, Known, Learnable};
use super::schema::Schema;
use crate::error::Result;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};

/// A number to be predicted for a graph: what it is called and its unit ("" where there is none).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its name, as in `--target mu`.
    pub name: String,
    /// Its unit, as in tables.
    #[serde(default)]
    pub unit: String,
}

/// One given division into training and test graphs, by graph number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// The graphs to train on.
    pub train: Vec<u32>,
    /// The graphs to test on.
    pub test: Vec<u32>,
}

/// Where a dataset came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The path, or the generator with all its settings.
    pub source: String,
    /// The format it was read from.
    pub format: String,
    /// What the reader did to it that a user may want to know (duplicates merged, columns dropped).
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Everything known of a dataset but its graphs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The dataset's name.
    pub name: String,
    /// How many graphs there are.
    pub graphs: usize,
    /// Their features.
    pub schema: Schema,
    /// For classification: the original labels of the classes, ascending; a class is a rank among them.
    #[serde(default)]
    pub classes: Option<Vec<i64>>,
    /// The names of the classes in the same order, where the data calls them by name (`harmless`, `toxic`); else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    /// The numbers that graphs come with: the targets of regression.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// What is to be learned of every node.
    #[serde(default, skip_serializing_if = "Learnable::is_empty")]
    pub nodes: Learnable,
    /// What is to be learned of pairs of nodes.
    #[serde(default, skip_serializing_if = "Learnable::is_empty")]
    pub pairs: Learnable,
    /// The folds that the data brings along.
    #[serde(default)]
    pub folds: Vec<Fold>,
    /// Where it came from.
    #[serde(default)]
    pub provenance: Provenance,
}

impl Header {
    /// What is to be learned: classes where the graphs have labels, else their numbers, else nothing.
    pub fn task(&self) -> Task<'_> {
        match &self.classes {
            Some(classes) => Task::Classification { classes },
            None if !self.targets.is_empty() => Task::Regression { targets: &self.targets },
            None => Task::None,
        }
    }

    /// What is to be learned of nodes, or of pairs.
    pub fn learnable(&self, item: Item) -> &Learnable {
        match item {
            Item::Node => &self.nodes,
            Item::Pair => &self.pairs,
        }
    }

    pub(crate) fn learnable_mut(&mut self, item: Item) -> &mut Learnable {
        match item {
            Item::Node => &mut self.nodes,
            Item::Pair => &mut self.pairs,
        }
    }

    /// The class of this rank as people call it: its name, else its original label.
    pub fn class_name(&self, class: usize) -> String {
        match self.class_names.get(class) {
            Some(name) => name.clone(),
            None => self.classes.as_ref().and_then(|c| c.get(class)).map(i64::to_string).unwrap_or_default(),
        }
    }

    /// Checks a record against the header: features, class, number of targets. The error says what is wrong. A class or
    /// a target that is not known fits.
    pub fn check(&self, record: &Record) -> Result<(), String> {
        self.schema.check(&record.graph)?;
        match (&self.classes, record.label) {
            (Some(classes), Some(label)) if classes.binary_search(&label).is_err() => {
                return Err(format!("the class label {label} is not among the dataset's {classes:?}"));
            }
            (None, Some(_)) => return Err("a class label, but the dataset has no classes".into()),
            _ => {}
        }
        if record.targets.len() != self.targets.len() {
            return Err(format!(
                "{} targets, but the dataset has {}",
                record.targets.len(),
                self.targets.len()
            ));
        }
        if let Some(i) = record.targets.iter().position(|x| x.is_infinite()) {
            return Err(format!("the target `{}` is not a finite number", self.targets[i].name));
        }
        let nodes = record.graph.nodes();
        self.nodes.check(&record.nodes, Item::Node, nodes)?;
        self.pairs.check(&record.pairs, Item::Pair, nodes)
    }

    /// Checks that there are as many names of classes as classes, all different; of graphs, nodes and pairs.
    pub(crate) fn check_class_names(&self) -> Result<(), String> {
        let items = [Item::Node, Item::Pair];
        if let Some(defect) = items.iter().find_map(|&item| self.learnable(item).defect(item)) {
            return Err(defect);
        }
        if self.class_names.is_empty() {
            return Ok(());
        }
        let classes = self.classes.as_ref().map_or(0, Vec::len);
        if self.class_names.len() != classes {
            return Err(format!("{} names of classes, but {classes} classes", self.class_names.len()));
        }
        match repeated(&self.class_names) {
            Some(name) => Err(format!("two classes are called `{name}`")),
            None => Ok(()),
        }
    }

    /// Checks that the folds name graphs that exist, each at most once. O(f log f) for f numbers in a fold, whatever
    /// [`graphs`](Header::graphs) claims.
    pub(crate) fn check_folds(&self) -> Result<(), String> {
        for (k, fold) in self.folds.iter().enumerate() {
            let lists = [("train", &fold.train), ("test", &fold.test)];
            let mut seen: Vec<(u32, &str)> = Vec::with_capacity(fold.train.len() + fold.test.len());
            for (name, list) in lists {
                if let Some(g) = list.iter().find(|&&g| g as usize >= self.graphs) {
                    return Err(format!(
                        "fold {}: {name} graph {g} is out of range, there are {} graphs",
                        k + 1,
                        self.graphs
                    ));
                }
                seen.extend(list.iter().map(|&g| (g, name)));
            }
            seen.sort_unstable();
            if let Some([(g, a), (_, b)]) = seen.array_windows().find(|[(g, _), (h, _)]| g == h) {
                let both = if a == b { "twice in its list" } else { "in both lists" };
                return Err(format!("fold {}: graph {g} is {both}", k + 1));
            }
        }
        Ok(())
    }
}

/// What is to be learned from a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Task<'a> {
    /// Nothing is given to learn.
    None,
    /// Predict a class.
    Classification {
        /// The original label of each class.
        classes: &'a [i64],
    },
    /// Predict numbers.
    Regression {
        /// Their names and units.
        targets: &'a [Target],
    },
}

impl Task<'_> {
    /// `none`, `classification` or `regression`.
    pub fn name(&self) -> &'static str {
        match self {
            Task::None => "none",
            Task::Classification { .. } => "classification",
            Task::Regression { .. } => "regression",
        }
    }
}

/// A graph with what is to be learned of it: the unit of a stream.
#[derive(Debug, Clone)]
pub struct Record {
    /// The graph.
    pub graph: Graph,
    /// What the data calls it: an identifier, a title, a file's name.
    pub id: Option<String>,
    /// Its class, by original label; `None` where it is not known.
    pub label: Option<i64>,
    /// Its numbers, in the order of [`Header::targets`]; NaN where one is not known.
    pub targets: Vec<f64>,
    /// What is known of its nodes.
    pub nodes: Known,
    /// What is known of its pairs of nodes.
    pub pairs: Known,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        (&self.graph, &self.id, self.label) == (&other.graph, &other.id, other.label)
            && same_targets(&self.targets, &other.targets)
            && (&self.nodes, &self.pairs) == (&other.nodes, &other.pairs)
    }
}

impl From<Graph> for Record {
    fn from(graph: Graph) -> Self {
        Record {
            graph,
            id: None,
            label: None,
            targets: Vec::new(),
            nodes: Known::default(),
            pairs: Known::default(),
        }
    }
}

/// Whether two lists of targets are equal, where a missing one is equal to a missing one.
pub(super) fn same_targets(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || (x.is_nan() && y.is_nan()))
}

/// A word that is twice in a list, if there is one.
pub(super) fn repeated(words: &[String]) -> Option<&str> {
    let mut seen = std::collections::HashSet::new();
    words.iter().map(String::as_str).find(|word| !seen.insert(*word))
}
