//! [`Dataset`]: graphs with what is known of all of them, and [`Header`], that knowledge by itself.
//!
//! The header (name, feature schema, task, folds, provenance) is what a reader knows before the first graph and a
//! writer needs before the first graph, so it is a type of its own: datasets larger than memory pass through ppgn
//! as a [`Header`] and a stream of [`Record`]s, and a [`Dataset`] is the two collected.

use crate::error::{Error, Result};
use crate::graph::Graph;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelColumn {
    name: String,
    values: Vec<i64>,
}

impl LabelColumn {
    /// A column with these values; order and repetition do not matter.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Self {
        let values: BTreeSet<i64> = values.into_iter().collect();
        LabelColumn { name: name.into(), values: values.into_iter().collect() }
    }

    /// What the column is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The raw values, ascending.
    pub fn values(&self) -> &[i64] {
        &self.values
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
                .map(|(c, l)| (c.name.clone(), *l))
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
    /// The numbers that graphs come with: the targets of regression.
    #[serde(default)]
    pub targets: Vec<Target>,
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

    /// Checks a record against the header: features, class, number of targets. The error says what is wrong.
    pub fn check(&self, record: &Record) -> Result<(), String> {
        self.schema.check(&record.graph)?;
        match (&self.classes, record.label) {
            (Some(classes), Some(label)) if classes.binary_search(&label).is_err() => {
                return Err(format!("the class label {label} is not among the dataset's {classes:?}"));
            }
            (Some(_), None) => return Err("no class label, but the dataset has classes".into()),
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
        if let Some(i) = record.targets.iter().position(|x| !x.is_finite()) {
            return Err(format!("the target `{}` is not a finite number", self.targets[i].name));
        }
        Ok(())
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
    /// Tell classes apart.
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
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The graph.
    pub graph: Graph,
    /// Its class, by original label.
    pub label: Option<i64>,
    /// Its numbers, in the order of [`Header::targets`].
    pub targets: Vec<f64>,
}

impl From<Graph> for Record {
    fn from(graph: Graph) -> Self {
        Record { graph, label: None, targets: Vec::new() }
    }
}

#[derive(Debug, PartialEq)]
struct Inner {
    header: Header,
    graphs: Vec<Graph>,
    classes: Vec<u32>,
    targets: Vec<f64>,
}

/// Graphs and all that is known of them. Immutable; cloning shares it.
///
/// Two datasets are equal if their graphs, classes, targets, folds, schemas and names are; where they came from
/// does not count.
///
/// ```
/// use ppgn_graph::{Dataset, Graph, Task};
/// let triangle = Graph::undirected(3, [(0, 1), (1, 2), (2, 0)])?;
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let d = Dataset::builder("two").graphs(vec![triangle, path]).labels(vec![-1, 7]).build()?;
/// assert_eq!(d.task(), Task::Classification { classes: &[-1, 7] });
/// assert_eq!((d.class(0), d.class(1)), (Some(0), Some(1)));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset(Arc<Inner>);

impl PartialEq for Dataset {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        let (h, k) = (&a.header, &b.header);
        a.graphs == b.graphs
            && a.classes == b.classes
            && a.targets == b.targets
            && (&h.name, h.graphs, &h.schema, &h.classes, &h.targets, &h.folds)
                == (&k.name, k.graphs, &k.schema, &k.classes, &k.targets, &k.folds)
    }
}

impl Dataset {
    /// Starts a dataset of this name.
    pub fn builder(name: impl Into<String>) -> DatasetBuilder {
        DatasetBuilder { name: name.into(), ..DatasetBuilder::default() }
    }

    /// Collects a stream. Every record is checked against the header.
    pub fn collect(header: Header, records: impl IntoIterator<Item = Result<Record>>) -> Result<Self> {
        let mut graphs = Vec::new();
        let mut classes = Vec::new();
        let mut targets = Vec::new();
        for record in records {
            let record = record?;
            header.check(&record).map_err(|m| Error::unfit(format!("graph {}: {m}", graphs.len())))?;
            if let (Some(known), Some(label)) = (&header.classes, record.label) {
                classes.push(known.binary_search(&label).expect("checked above") as u32);
            }
            targets.extend_from_slice(&record.targets);
            graphs.push(record.graph);
        }
        let header = Header { graphs: graphs.len(), ..header };
        header.check_folds().map_err(Error::unfit)?;
        Ok(Dataset(Arc::new(Inner { header, graphs, classes, targets })))
    }

    /// The dataset's name.
    pub fn name(&self) -> &str {
        &self.0.header.name
    }

    /// The number of graphs.
    pub fn len(&self) -> usize {
        self.0.graphs.len()
    }

    /// Whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.0.graphs.is_empty()
    }

    /// All graphs.
    pub fn graphs(&self) -> &[Graph] {
        &self.0.graphs
    }

    /// Graph `i`, counted from 0.
    pub fn graph(&self, i: usize) -> &Graph {
        &self.0.graphs[i]
    }

    /// Everything but the graphs.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// The graphs' features.
    pub fn schema(&self) -> &Schema {
        &self.0.header.schema
    }

    /// What is to be learned.
    pub fn task(&self) -> Task<'_> {
        self.0.header.task()
    }

    /// The class of graph `i`, 0..classes-1, where graphs have classes.
    pub fn class(&self, i: usize) -> Option<usize> {
        self.0.classes.get(i).map(|&c| c as usize)
    }

    /// The classes of all graphs, or nothing where they have none.
    pub fn classes(&self) -> &[u32] {
        &self.0.classes
    }

    /// The targets of graph `i`, in the order of [`Header::targets`].
    pub fn targets(&self, i: usize) -> &[f64] {
        let width = self.0.header.targets.len();
        &self.0.targets[i * width..(i + 1) * width]
    }

    /// The folds that the data brought along.
    pub fn folds(&self) -> &[Fold] {
        &self.0.header.folds
    }

    /// Graph `i` with what is to be learned of it.
    pub fn record(&self, i: usize) -> Record {
        let label = self.0.header.classes.as_ref().zip(self.class(i)).map(|(classes, c)| classes[c]);
        Record { graph: self.graph(i).clone(), label, targets: self.targets(i).to_vec() }
    }

    /// All graphs as records, in order.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        (0..self.len()).map(|i| self.record(i))
    }

    /// The dataset of these graphs only, with the schema, classes and targets of the whole and no folds.
    ///
    /// The graphs are shared, not copied.
    pub fn subset(&self, indices: &[u32]) -> Result<Self> {
        if let Some(i) = indices.iter().find(|&&i| i as usize >= self.len()) {
            return Err(Error::call(format!(
                "there is no graph {i} in {}, it has {} (numbered from 0)",
                self.name(),
                self.len()
            )));
        }
        let header = Header { folds: Vec::new(), ..self.0.header.clone() };
        Dataset::collect(header, indices.iter().map(|&i| Ok(self.record(i as usize))))
    }

    /// The bytes that graphs, classes and targets hold.
    pub fn heap_bytes(&self) -> usize {
        let d = &*self.0;
        d.graphs.iter().map(Graph::heap_bytes).sum::<usize>()
            + std::mem::size_of_val(&*d.graphs)
            + std::mem::size_of_val(&*d.classes)
            + std::mem::size_of_val(&*d.targets)
    }
}

/// Builds a [`Dataset`]; everything is checked by [`build`](DatasetBuilder::build).
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    name: String,
    graphs: Vec<Graph>,
    labels: Option<Vec<i64>>,
    targets: Vec<Target>,
    target_values: Vec<f64>,
    schema: Option<Schema>,
    folds: Vec<Fold>,
    provenance: Provenance,
}

impl DatasetBuilder {
    /// Sets the graphs.
    pub fn graphs(mut self, graphs: Vec<Graph>) -> Self {
        self.graphs = graphs;
        self
    }

    /// Sets a class label for every graph; classes are their sorted distinct values.
    pub fn labels(mut self, labels: Vec<i64>) -> Self {
        self.labels = Some(labels);
        self
    }

    /// Sets the targets and their values, graph after graph.
    pub fn targets(mut self, targets: Vec<Target>, values: Vec<f64>) -> Self {
        self.targets = targets;
        self.target_values = values;
        self
    }

    /// Sets the schema, with names for its columns, instead of the one that [`Schema::of`] finds.
    pub fn schema(mut self, schema: Schema) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the given folds.
    pub fn folds(mut self, folds: Vec<Fold>) -> Self {
        self.folds = folds;
        self
    }

    /// Says where the data came from.
    pub fn provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// The dataset.
    pub fn build(self) -> Result<Dataset> {
        let n = self.graphs.len();
        if let Some(labels) = &self.labels
            && labels.len() != n
        {
            return Err(Error::unfit(format!("{} class labels for {n} graphs", labels.len())));
        }
        let width = self.targets.len();
        if self.target_values.len() != n * width {
            return Err(Error::unfit(format!(
                "{} target values for {n} graphs with {width} targets each",
                self.target_values.len()
            )));
        }
        let header = Header {
            name: self.name,
            graphs: n,
            schema: match self.schema {
                Some(schema) => schema,
                None => Schema::of(&self.graphs)?,
            },
            classes: self.labels.as_ref().map(|l| LabelColumn::new("", l.iter().copied()).values),
            targets: self.targets,
            folds: self.folds,
            provenance: self.provenance,
        };
        let labels = self.labels;
        let values = self.target_values;
        let records = self.graphs.into_iter().enumerate().map(|(i, graph)| {
            let label = labels.as_ref().map(|l| l[i]);
            Ok(Record { graph, label, targets: values[i * width..(i + 1) * width].to_vec() })
        });
        Dataset::collect(header, records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;

    fn labelled(labels: &[i64]) -> Graph {
        let mut b = GraphBuilder::undirected(labels.len());
        b.node_labels(1, labels.to_vec());
        b.build().unwrap()
    }

    #[test]
    fn labels_keep_raw_values_beside_their_numbers() {
        let d = Dataset::builder("d").graphs(vec![labelled(&[5, -2]), labelled(&[9])]).build().unwrap();
        assert_eq!(d.schema().node_labels[0].values(), [-2, 5, 9]);
        assert_eq!(d.graph(0).node_labels(1), [-2]);
        assert_eq!(d.task(), Task::None);
    }

    #[test]
    fn graphs_of_different_shape_are_refused() {
        let plain = Graph::undirected(1, []).unwrap();
        let e = Dataset::builder("d").graphs(vec![labelled(&[1]), plain]).build().unwrap_err();
        assert_eq!(e.to_string(), "graph 1: 0 node label columns, but the dataset has 1");
    }

    #[test]
    fn folds_are_checked() {
        let build = |train: &[u32], test: &[u32]| {
            let fold = Fold { train: train.to_vec(), test: test.to_vec() };
            Dataset::builder("d").graphs(vec![labelled(&[1]), labelled(&[1])]).folds(vec![fold]).build()
        };
        assert!(build(&[0], &[1]).is_ok());
        let message = |r: Result<Dataset>| r.unwrap_err().to_string();
        assert_eq!(message(build(&[0], &[2])), "fold 1: test graph 2 is out of range, there are 2 graphs");
        assert_eq!(message(build(&[0], &[0])), "fold 1: graph 0 is in both lists");
        assert_eq!(message(build(&[1, 1], &[0])), "fold 1: graph 1 is twice in its list");
    }

    #[test]
    fn subsets_share_graphs_and_keep_classes() {
        let d = Dataset::builder("d")
            .graphs(vec![labelled(&[1]), labelled(&[2]), labelled(&[3])])
            .labels(vec![10, 20, 30])
            .build()
            .unwrap();
        let s = d.subset(&[2]).unwrap();
        assert_eq!((s.len(), s.class(0), s.record(0).label), (1, Some(2), Some(30)));
        assert!(d.subset(&[3]).unwrap_err().is_call());
    }
}
