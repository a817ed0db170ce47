//! What features the graphs of a dataset have: columns of labels with their values, named attributes, positions.

use super::header::repeated;
use crate::error::{Error, Result};
use crate::graph::Graph;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// A column of categorical labels: its name and the values that occur, in ascending order.
///
/// A label's number is its rank among them. [`Graph`]s keep the raw values, because some encodings go by them.
///
/// ```
/// use ppgn_graph::LabelColumn;
/// let atoms = LabelColumn::new("atom", [8, 6, 1, 6]);
/// assert_eq!(atoms.values(), [1, 6, 8]);
/// assert_eq!(atoms.number(6), Some(1));
/// assert_eq!(atoms.number(7), None);
/// ```
///
/// Labels that are words in the file (`"C"`, `"N"`) have the raw values 0, 1, ..., and the column knows the words. Their
/// raw values mean the same in two datasets only where the columns are equal.
///
/// ```
/// use ppgn_graph::LabelColumn;
/// let atoms = LabelColumn::of_words("atom", ["O", "C", "H", "C"].map(String::from));
/// assert_eq!((atoms.words(), atoms.values()), (&["C", "H", "O"].map(String::from)[..], &[0, 1, 2][..]));
/// assert_eq!((atoms.value_of("O"), atoms.shown(2)), (Some(2), "O".to_string()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelColumn {
    name: String,
    values: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
}

impl LabelColumn {
    /// A column with these values; order and repetition do not matter.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Self {
        let values: BTreeSet<i64> = values.into_iter().collect();
        LabelColumn { name: name.into(), values: values.into_iter().collect(), words: Vec::new() }
    }

    /// A column of labels that are words, in [natural order](crate::text::natural); repetition does not matter.
    pub fn of_words(name: impl Into<String>, words: impl IntoIterator<Item = String>) -> Self {
        let distinct: HashSet<String> = words.into_iter().collect();
        let mut words: Vec<String> = distinct.into_iter().collect();
        words.sort_by(|a, b| crate::text::natural(a, b));
        LabelColumn { name: name.into(), values: (0..words.len() as i64).collect(), words }
    }

    /// What the column is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The raw values, ascending.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The words that the raw values 0, 1, ... stand for; empty where labels are numbers.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The raw value of a word. O(L): a reader of many labels keeps a map.
    pub fn value_of(&self, word: &str) -> Option<i64> {
        self.words.iter().position(|w| w == word).map(|i| i as i64)
    }

    /// A raw value as the file has it: its word, or the number.
    pub fn shown(&self, raw: i64) -> String {
        match usize::try_from(raw).ok().and_then(|i| self.words.get(i)) {
            Some(word) => word.clone(),
            None => raw.to_string(),
        }
    }

    /// A raw value for people: its word, the symbol of an element where the column is `atom` (an atomic number), or the number.
    ///
    /// ```
    /// use ppgn_graph::LabelColumn;
    /// assert_eq!(LabelColumn::new("atom", [6, 17]).spelt(17), "Cl");
    /// assert_eq!(LabelColumn::new("node_label", [6, 17]).spelt(17), "17");
    /// ```
    pub fn spelt(&self, raw: i64) -> String {
        match u8::try_from(raw) {
            Ok(element) if self.name == "atom" && self.words.is_empty() => {
                crate::chem::elements::symbol(element).to_string()
            }
            _ => self.shown(raw),
        }
    }

    /// What is wrong with the column, if something is: values that do not ascend, words that do not fit them.
    pub(crate) fn defect(&self) -> Option<String> {
        let name = &self.name;
        if !self.values.is_sorted_by(|a, b| a < b) {
            return Some(format!("the values of column `{name}` must ascend, each once"));
        }
        let numbers = || self.values.iter().enumerate().all(|(i, &v)| v == i as i64);
        if !self.words.is_empty() && (self.words.len() != self.values.len() || !numbers()) {
            return Some(format!("column `{name}` has words, so its values must be 0, 1, ..., one per word"));
        }
        repeated(&self.words).map(|word| format!("column `{name}` lists `{word}` twice"))
    }

    /// The number of a raw value, 0..L-1. O(log L).
    pub fn number(&self, raw: i64) -> Option<usize> {
        self.values.binary_search(&raw).ok()
    }
}

/// What features the graphs of a dataset have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Whether edges have a direction: the same for all graphs of a dataset.
    pub directed: bool,
    /// The columns of categorical node labels.
    #[serde(default)]
    pub node_labels: Vec<LabelColumn>,
    /// The names of the real node attributes.
    #[serde(default)]
    pub node_attributes: Vec<String>,
    /// The columns of categorical edge labels.
    #[serde(default)]
    pub edge_labels: Vec<LabelColumn>,
    /// The names of the real edge attributes.
    #[serde(default)]
    pub edge_attributes: Vec<String>,
    /// Whether nodes have a place in space.
    #[serde(default)]
    pub positions: bool,
}

impl Schema {
    /// The schema of these graphs, with columns named by number. All must agree in direction and column counts.
    pub fn of(graphs: &[Graph]) -> Result<Self> {
        let Some(first) = graphs.first() else { return Ok(Schema::default()) };
        let mut node: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); first.node_label_columns()];
        let mut edge: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); first.edge_label_columns()];
        let schema = Schema {
            directed: first.is_directed(),
            node_labels: Vec::new(),
            node_attributes: numbered("attribute", first.node_attribute_columns()),
            edge_labels: Vec::new(),
            edge_attributes: numbered("attribute", first.edge_attribute_columns()),
            positions: first.positions().is_some(),
        };
        for (i, g) in graphs.iter().enumerate() {
            schema
                .check_shape(g, node.len(), edge.len())
                .map_err(|m| Error::unfit(format!("graph {i}: {m}")))?;
            if !node.is_empty() {
                (0..g.nodes()).for_each(|u| note_labels(&mut node, g.node_labels(u)));
            }
            if !edge.is_empty() {
                (0..g.arcs()).for_each(|a| note_labels(&mut edge, g.edge_labels(a)));
            }
        }
        let columns = |sets: Vec<BTreeSet<i64>>| {
            let names = numbered("label", sets.len());
            names.into_iter().zip(sets).map(|(name, set)| LabelColumn::new(name, set)).collect()
        };
        Ok(Schema { node_labels: columns(node), edge_labels: columns(edge), ..schema })
    }

    fn check_shape(&self, g: &Graph, node_labels: usize, edge_labels: usize) -> Result<(), String> {
        let same = |what: &str, got: usize, wanted: usize| match got == wanted {
            true => Ok(()),
            false => Err(format!("{got} {what}, but the dataset has {wanted}")),
        };
        if g.is_directed() != self.directed {
            let word = |directed| if directed { "directed" } else { "undirected" };
            return Err(format!("{}, but the dataset is {}", word(g.is_directed()), word(self.directed)));
        }
        same("node label columns", g.node_label_columns(), node_labels)?;
        same("node attributes", g.node_attribute_columns(), self.node_attributes.len())?;
        same("edge label columns", g.edge_label_columns(), edge_labels)?;
        same("edge attributes", g.edge_attribute_columns(), self.edge_attributes.len())?;
        match (g.positions().is_some(), self.positions) {
            (false, true) => Err("no positions, but the dataset has them".into()),
            (true, false) => Err("positions, but the dataset has none".into()),
            _ => Ok(()),
        }
    }

    /// Whether a graph has exactly the features of this schema and no label beyond it; if not, what is wrong.
    pub fn check(&self, g: &Graph) -> Result<(), String> {
        self.check_shape(g, self.node_labels.len(), self.edge_labels.len())?;
        let unknown = |columns: &[LabelColumn], labels: &[i64]| {
            columns
                .iter()
                .zip(labels)
                .find(|(c, l)| c.number(**l).is_none())
                .map(|(c, l)| (c.name.clone(), c.shown(*l)))
        };
        if !self.node_labels.is_empty() {
            for u in 0..g.nodes() {
                if let Some((column, label)) = unknown(&self.node_labels, g.node_labels(u)) {
                    return Err(format!(
                        "node {u} has the label {label}, which column `{column}` does not list"
                    ));
                }
            }
        }
        if !self.edge_labels.is_empty() {
            for (u, v, a) in g.arc_list() {
                if let Some((column, label)) = unknown(&self.edge_labels, g.edge_labels(a)) {
                    return Err(format!(
                        "edge {u} {v} has the label {label}, which column `{column}` does not list"
                    ));
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn numbered(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{what}{i}")).collect()
}

fn note_labels(sets: &mut [BTreeSet<i64>], labels: &[i64]) {
    for (set, &label) in sets.iter_mut().zip(labels) {
        set.insert(label);
    }
}
