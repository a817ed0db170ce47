//! [`Dataset`]: graphs with what is known of all of them, and [`Header`], that knowledge by itself.
//!
//! The header (name, feature schema, task, folds, provenance) is what a reader knows before the first graph and a
//! writer needs before the first graph, so it is a type of its own: datasets larger than memory pass through ppgn
//! as a [`Header`] and a stream of [`Record`]s, and a [`Dataset`] is the two collected.
//!
//! Data of one's own has gaps. A target that is not known is NaN, a class that is not known is `None`; both are read
//! from and written to files as such (`null` in JSON Lines), and nothing else in a dataset may be NaN.

mod align;
mod copies;
mod digest;
mod header;
mod items;
mod schema;
mod take;

pub use header::{Fold, Header, Provenance, Record, Target, Task};
pub use items::{Item, Known, Learnable};
pub use schema::{LabelColumn, Schema};

pub(crate) use schema::numbered;

use crate::error::{Error, Result};
use crate::graph::Graph;
use std::sync::Arc;

#[derive(Debug, PartialEq)]
struct Inner {
    header: Header,
    graphs: Vec<Graph>,
    /// One per graph where the header has classes, else nothing.
    classes: Vec<u32>,
    targets: Vec<f64>,
    /// One per graph where one of them has an id, else nothing.
    ids: Vec<Option<Box<str>>>,
    /// One per graph where the header has something to learn of nodes, else nothing.
    nodes: Vec<Known>,
    /// The same of pairs.
    pairs: Vec<Known>,
}

/// The class of a graph whose class is not known, in [`Inner::classes`].
const NO_CLASS: u32 = u32::MAX;

/// Graphs and all that is known of them. Immutable; cloning shares it.
///
/// Two datasets are equal if their graphs, ids, classes, targets, folds, schemas and names are; where they came from
/// does not count. What is missing in both is equal.
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
            && header::same_targets(&a.targets, &b.targets)
            && a.ids == b.ids
            && (&a.nodes, &a.pairs) == (&b.nodes, &b.pairs)
            && (&h.nodes, &h.pairs) == (&k.nodes, &k.pairs)
            && (&h.name, h.graphs, &h.schema, &h.classes, &h.class_names, &h.targets, &h.folds)
                == (&k.name, k.graphs, &k.schema, &k.classes, &k.class_names, &k.targets, &k.folds)
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
        let mut ids = Vec::new();
        let (mut nodes, mut pairs) = (Vec::new(), Vec::new());
        for record in records {
            let record = record?;
            header.check(&record).map_err(|m| Error::unfit(format!("graph {}: {m}", graphs.len())))?;
            if let Some(known) = &header.classes {
                let class = |label| known.binary_search(&label).expect("checked above") as u32;
                classes.push(record.label.map_or(NO_CLASS, class));
            }
            // One kind of NaN, so that equal data has equal bits.
            targets.extend(record.targets.iter().map(|&y| if y.is_nan() { f64::NAN } else { y }));
            if record.id.is_some() && ids.is_empty() {
                ids.resize(graphs.len(), None);
            }
            if record.id.is_some() || !ids.is_empty() {
                ids.push(record.id.map(String::into_boxed_str));
            }
            if !header.nodes.is_empty() {
                nodes.push(record.nodes.trimmed());
            }
            if !header.pairs.is_empty() {
                pairs.push(record.pairs.trimmed());
            }
            graphs.push(record.graph);
        }
        let header = Header { graphs: graphs.len(), ..header };
        header.check_class_names().map_err(Error::unfit)?;
        header.check_folds().map_err(Error::unfit)?;
        Ok(Dataset(Arc::new(Inner { header, graphs, classes, targets, ids, nodes, pairs })))
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

    /// What graph `i` is called in its file, where it has a name there.
    pub fn id(&self, i: usize) -> Option<&str> {
        self.0.ids.get(i)?.as_deref()
    }

    /// Whether any graph has an id.
    pub fn has_ids(&self) -> bool {
        !self.0.ids.is_empty()
    }

    /// The class of graph `i`, 0..classes-1; `None` where it is not known, or graphs have no classes at all.
    pub fn class(&self, i: usize) -> Option<usize> {
        self.0.classes.get(i).filter(|&&c| c != NO_CLASS).map(|&c| c as usize)
    }

    /// Whether graphs have classes, be it that some are not known.
    pub fn has_classes(&self) -> bool {
        self.0.header.classes.is_some()
    }

    /// The class of every graph, in order, as by [`class`](Dataset::class).
    pub fn classes(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        (0..self.len()).map(|i| self.class(i))
    }

    /// The targets of graph `i`, in the order of [`Header::targets`]; NaN is a target that is not known.
    pub fn targets(&self, i: usize) -> &[f64] {
        let width = self.0.header.targets.len();
        &self.0.targets[i * width..(i + 1) * width]
    }

    /// What is to be learned of nodes, or of pairs.
    pub fn learnable(&self, item: Item) -> &Learnable {
        self.header().learnable(item)
    }

    /// What is known of the nodes, or of the pairs, of graph `i`.
    pub fn known(&self, item: Item, i: usize) -> Known {
        let all = match item {
            Item::Node => &self.0.nodes,
            Item::Pair => &self.0.pairs,
        };
        all.get(i).cloned().unwrap_or_default()
    }

    /// The folds that the data brought along.
    pub fn folds(&self) -> &[Fold] {
        &self.0.header.folds
    }

    /// Graph `i` with what is to be learned of it.
    pub fn record(&self, i: usize) -> Record {
        let label = self.0.header.classes.as_ref().zip(self.class(i)).map(|(classes, c)| classes[c]);
        let id = self.id(i).map(String::from);
        Record {
            graph: self.graph(i).clone(),
            id,
            label,
            targets: self.targets(i).to_vec(),
            nodes: self.known(Item::Node, i),
            pairs: self.known(Item::Pair, i),
        }
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
                "no graph {i} in {}, which has {} (numbered from 0)",
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
            + std::mem::size_of_val(&*d.ids)
            + d.ids.iter().flatten().map(|id| id.len()).sum::<usize>()
            + d.nodes
                .iter()
                .chain(&d.pairs)
                .map(|known| known.heap_bytes() + size_of::<Known>())
                .sum::<usize>()
    }
}

/// Builds a [`Dataset`]; everything is checked by [`build`](DatasetBuilder::build).
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    name: String,
    graphs: Vec<Graph>,
    ids: Option<Vec<Option<String>>>,
    labels: Option<Vec<Option<i64>>>,
    class_names: Vec<String>,
    targets: Vec<Target>,
    target_values: Vec<f64>,
    nodes: (Learnable, Vec<Known>),
    pairs: (Learnable, Vec<Known>),
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

    /// Sets what every graph is called, where it has a name.
    pub fn ids(mut self, ids: Vec<Option<String>>) -> Self {
        self.ids = Some(ids);
        self
    }

    /// Sets a class label for every graph; classes are their sorted distinct values.
    pub fn labels(self, labels: Vec<i64>) -> Self {
        self.known_labels(labels.into_iter().map(Some).collect())
    }

    /// Sets the class labels of the graphs whose class is known; classes are their sorted distinct values.
    pub fn known_labels(mut self, labels: Vec<Option<i64>>) -> Self {
        self.labels = Some(labels);
        self
    }

    /// Sets the classes by their names, where known; they are numbered in [natural order](crate::text::natural).
    ///
    /// ```
    /// use ppgn_graph::{Dataset, Graph};
    /// let graphs = vec![Graph::undirected(1, []).unwrap(); 3];
    /// let words = [Some("toxic"), None, Some("harmless")].map(|w| w.map(String::from));
    /// let d = Dataset::builder("d").graphs(graphs).named_labels(words.to_vec()).build()?;
    /// assert_eq!(d.header().class_names, ["harmless", "toxic"]);
    /// assert_eq!((d.class(0), d.class(1), d.class(2)), (Some(1), None, Some(0)));
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn named_labels(mut self, words: Vec<Option<String>>) -> Self {
        let column = LabelColumn::of_words("", words.iter().flatten().cloned());
        self.labels = Some(words.iter().map(|w| column.value_of(w.as_deref()?)).collect());
        self.class_names = column.words().to_vec();
        self
    }

    /// Sets the targets and their values, graph after graph; NaN where one is not known.
    pub fn targets(mut self, targets: Vec<Target>, values: Vec<f64>) -> Self {
        self.targets = targets;
        self.target_values = values;
        self
    }

    /// Sets what is to be learned of nodes, or of pairs, and what is known of those of every graph.
    ///
    /// ```
    /// use ppgn_graph::{Dataset, Graph, Item, Known, Learnable};
    /// let path = Graph::undirected(3, [(0, 1), (1, 2)]).unwrap();
    /// let learnable = Learnable { classes: Some(vec![0, 1]), ..Learnable::default() };
    /// let known = Known::new(vec![1], vec![Some(1)], vec![]).unwrap();          // of node 1 alone
    /// let d = Dataset::builder("d").graphs(vec![path]).items(Item::Node, learnable, vec![known]).build()?;
    /// assert_eq!(d.known(Item::Node, 0).label(0), Some(1));
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn items(mut self, item: Item, learnable: Learnable, known: Vec<Known>) -> Self {
        match item {
            Item::Node => self.nodes = (learnable, known),
            Item::Pair => self.pairs = (learnable, known),
        }
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
        if let Some(ids) = &self.ids
            && ids.len() != n
        {
            return Err(Error::unfit(format!("{} ids for {n} graphs", ids.len())));
        }
        let width = self.targets.len();
        if self.target_values.len() != n * width {
            return Err(Error::unfit(format!(
                "{} target values for {n} graphs with {width} targets each",
                self.target_values.len()
            )));
        }
        for (item, known) in [(Item::Node, &self.nodes.1), (Item::Pair, &self.pairs.1)] {
            if !known.is_empty() && known.len() != n {
                return Err(Error::unfit(format!(
                    "what is known of {}s is of {} graphs, and there are {n}",
                    item.name(),
                    known.len()
                )));
            }
        }
        let header = Header {
            name: self.name,
            graphs: n,
            schema: match self.schema {
                Some(schema) => schema,
                None => Schema::of(&self.graphs)?,
            },
            classes: self
                .labels
                .as_ref()
                .map(|l| LabelColumn::new("", l.iter().flatten().copied()).values().to_vec()),
            class_names: self.class_names,
            targets: self.targets,
            nodes: self.nodes.0,
            pairs: self.pairs.0,
            folds: self.folds,
            provenance: self.provenance,
        };
        let (labels, mut ids) = (self.labels, self.ids);
        let values = self.target_values;
        let (nodes, pairs) = (self.nodes.1, self.pairs.1);
        let records = self.graphs.into_iter().enumerate().map(|(i, graph)| {
            let label = labels.as_ref().and_then(|l| l[i]);
            let id = ids.as_mut().and_then(|ids| ids[i].take());
            let of = |known: &[Known]| known.get(i).cloned().unwrap_or_default();
            let (nodes, pairs) = (of(&nodes), of(&pairs));
            Ok(Record {
                graph,
                id,
                label,
                targets: values[i * width..(i + 1) * width].to_vec(),
                nodes,
                pairs,
            })
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
    fn what_is_missing_stays_missing() {
        let build = |values: Vec<f64>| {
            Dataset::builder("d")
                .graphs(vec![labelled(&[1]), labelled(&[2])])
                .ids(vec![None, Some("second".into())])
                .known_labels(vec![Some(4), None])
                .targets(vec![Target { name: "y".into(), unit: String::new() }], values)
                .build()
        };
        let d = build(vec![f64::NAN, 2.0]).unwrap();
        assert_eq!((d.id(0), d.id(1), d.has_ids()), (None, Some("second"), true));
        assert_eq!(d.classes().collect::<Vec<_>>(), [Some(0), None]);
        assert!(d.targets(0)[0].is_nan());
        assert_eq!(d, build(vec![-f64::NAN, 2.0]).unwrap());
        assert_eq!(d.digest(), build(vec![-f64::NAN, 2.0]).unwrap().digest());
        assert_ne!(d, build(vec![1.0, 2.0]).unwrap());
        let s = d.subset(&[1]).unwrap();
        assert_eq!((s.id(0), s.class(0), s.record(0).label), (Some("second"), None, None));
        let error = build(vec![f64::INFINITY, 2.0]).unwrap_err().to_string();
        assert_eq!(error, "graph 0: the target `y` is not a finite number");
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
