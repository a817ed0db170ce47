//! Columns of nodes or edges as what is to be learned: taken out of the graphs, so that a network does not see in its
//! input what it is to predict.

use super::items::{Item, Known, Learnable};
use super::{Dataset, Header, LabelColumn, Record, Schema, Target};
use crate::error::{Error, Result};
use crate::graph::Graph;

/// A column of nodes or edges.
#[derive(Clone, Copy)]
enum Column {
    Label(usize),
    Attribute(usize),
}

impl Dataset {
    /// The dataset with these columns of its nodes (or of its edges, for pairs) as what is to be learned of them, instead of
    /// whatever was before; the graphs do not have them any more.
    ///
    /// A single column of labels gives classes, unless `numbers` asks for numbers; several columns, and attributes, give
    /// targets. Names ignore case.
    ///
    /// ```
    /// use ppgn_graph::{Dataset, GraphBuilder, Item};
    /// let mut b = GraphBuilder::undirected(2);
    /// b.edge(0, 1);
    /// b.node_labels(2, vec![6, 1, 8, 0]);
    /// let d = Dataset::builder("d").graphs(vec![b.build()?]).build()?;
    /// let learned = d.learning(Item::Node, &["label0"], false)?;
    /// assert_eq!(learned.graph(0).node_labels(0), [1]);
    /// assert_eq!(learned.learnable(Item::Node).classes, Some(vec![6, 8]));
    /// assert_eq!(learned.known(Item::Node, 0).label(1), Some(8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn learning<S: AsRef<str>>(&self, item: Item, columns: &[S], numbers: bool) -> Result<Dataset> {
        let schema = self.schema();
        let found: Vec<Column> =
            columns.iter().map(|name| self.column(item, name.as_ref())).collect::<Result<_>>()?;
        let (labels, _) = tables(schema, item);
        let learnable = match found[..] {
            [Column::Label(c)] if !numbers => Learnable {
                classes: Some(labels[c].values().to_vec()),
                class_names: labels[c].words().to_vec(),
                targets: Vec::new(),
            },
            _ => Learnable { targets: targets(schema, item, &found)?, ..Learnable::default() },
        };
        let is_class = learnable.classes.is_some();
        let mut header = Header { schema: without(schema, item, &found), ..self.header().clone() };
        *header.learnable_mut(item) = learnable;
        let records = self.records().map(|record| {
            let known = known(&record.graph, item, &found, is_class).map_err(Error::unfit)?;
            let graph = record.graph.without(item, &drops(&found, true), &drops(&found, false));
            let record = Record { graph, ..record };
            Ok(match item {
                Item::Node => Record { nodes: known, ..record },
                Item::Pair => Record { pairs: known, ..record },
            })
        });
        Dataset::collect(header, records)
    }

    /// The names of the columns that [`learning`](Self::learning) can take.
    pub fn columns(&self, item: Item) -> Vec<&str> {
        let (labels, attributes) = tables(self.schema(), item);
        labels.iter().map(LabelColumn::name).chain(attributes.iter().map(String::as_str)).collect()
    }

    fn column(&self, item: Item, name: &str) -> Result<Column> {
        let (labels, attributes) = tables(self.schema(), item);
        let label = labels.iter().position(|c| c.name().eq_ignore_ascii_case(name)).map(Column::Label);
        let attribute =
            || attributes.iter().position(|a| a.eq_ignore_ascii_case(name)).map(Column::Attribute);
        label.or_else(attribute).ok_or_else(|| {
            let of = if item == Item::Node { "nodes" } else { "edges" };
            let there = match self.columns(item) {
                none if none.is_empty() => "they have none".to_string(),
                some => format!("there are {}", some.join(", ")),
            };
            Error::call(format!("the {of} of {} have no column `{name}`; {there}", self.name()))
        })
    }
}

fn tables(schema: &Schema, item: Item) -> (&[LabelColumn], &[String]) {
    match item {
        Item::Node => (&schema.node_labels, &schema.node_attributes),
        Item::Pair => (&schema.edge_labels, &schema.edge_attributes),
    }
}

fn targets(schema: &Schema, item: Item, columns: &[Column]) -> Result<Vec<Target>> {
    let (labels, attributes) = tables(schema, item);
    let target = |column: &Column| match *column {
        Column::Label(c) if !labels[c].words().is_empty() => {
            Err(Error::call(format!("the labels of column `{}` are words, not numbers", labels[c].name())))
        }
        Column::Label(c) => Ok(Target { name: labels[c].name().into(), unit: String::new() }),
        Column::Attribute(c) => Ok(Target { name: attributes[c].clone(), unit: String::new() }),
    };
    columns.iter().map(target).collect()
}

/// The places of these columns in their table, of labels or of attributes.
fn drops(columns: &[Column], labels: bool) -> Vec<usize> {
    let place = |column: &Column| match (*column, labels) {
        (Column::Label(c), true) | (Column::Attribute(c), false) => Some(c),
        _ => None,
    };
    columns.iter().filter_map(place).collect()
}

fn without(schema: &Schema, item: Item, columns: &[Column]) -> Schema {
    fn kept<T: Clone>(list: &[T], drop: &[usize]) -> Vec<T> {
        list.iter().enumerate().filter(|(i, _)| !drop.contains(i)).map(|(_, x)| x.clone()).collect()
    }
    let (labels, attributes) = tables(schema, item);
    let (labels, attributes) =
        (kept(labels, &drops(columns, true)), kept(attributes, &drops(columns, false)));
    match item {
        Item::Node => Schema { node_labels: labels, node_attributes: attributes, ..schema.clone() },
        Item::Pair => Schema { edge_labels: labels, edge_attributes: attributes, ..schema.clone() },
    }
}

/// The labels and the attributes of a node or an edge.
type Features<'a> = (&'a [i64], &'a [f64]);

/// The columns of all nodes, or of the pairs that are arcs.
fn known(graph: &Graph, item: Item, columns: &[Column], is_class: bool) -> Result<Known, String> {
    let n = graph.nodes() as u64;
    let (places, rows): (Vec<u64>, Vec<Features<'_>>) = match item {
        Item::Node => {
            (0..graph.nodes()).map(|u| (u as u64, (graph.node_labels(u), graph.node_attributes(u)))).unzip()
        }
        Item::Pair => graph
            .arc_list()
            .map(|(u, v, a)| (u as u64 * n + v as u64, (graph.edge_labels(a), graph.edge_attributes(a))))
            .unzip(),
    };
    let (mut labels, mut values) = (Vec::new(), Vec::new());
    for (own, real) in rows {
        for column in columns {
            match *column {
                Column::Label(c) if is_class => labels.push(Some(own[c])),
                Column::Label(c) => values.push(own[c] as f64),
                Column::Attribute(c) => values.push(real[c]),
            }
        }
    }
    Known::new(places, labels, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;

    fn featured() -> Dataset {
        let mut b = GraphBuilder::undirected(3);
        b.edge_label_columns(2).edge_attribute_columns(1);
        b.edge_with(0, 1, &[1, 7], &[0.5]);
        b.edge_with(1, 2, &[2, 8], &[1.5]);
        b.node_labels(1, vec![6, 6, 8]).node_attributes(2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        Dataset::builder("d").graphs(vec![b.build().unwrap()]).build().unwrap()
    }

    #[test]
    fn columns_leave_the_graphs() {
        let d = featured().learning(Item::Pair, &["LABEL1"], false).unwrap();
        assert_eq!((d.schema().edge_labels.len(), d.graph(0).edge_labels(0)), (1, &[1][..]));
        let known = d.known(Item::Pair, 0);
        assert_eq!((known.places(), known.label(0), known.label(3)), (&[1, 3, 5, 7][..], Some(7), Some(8)));
        let d = featured().learning(Item::Node, &["attribute1", "label0"], false).unwrap();
        assert_eq!((d.graph(0).node_attributes(2), d.graph(0).node_label_columns()), (&[4.0][..], 0));
        assert_eq!(d.known(Item::Node, 0).values(2), [5.0, 8.0]);
        assert_eq!(d.learnable(Item::Node).targets.len(), 2);
        let numbers = featured().learning(Item::Node, &["label0"], true).unwrap();
        assert_eq!(numbers.known(Item::Node, 0).values(0), [6.0]);
        assert!(numbers.learnable(Item::Node).classes.is_none());
    }

    #[test]
    fn what_is_not_there_is_said() {
        let error = featured().learning(Item::Node, &["bond"], false).unwrap_err();
        assert!(error.is_call());
        let text = "the nodes of d have no column `bond`; there are label0, attribute0, attribute1";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn what_is_learned_is_part_of_the_content() {
        let d = featured();
        let a = d.learning(Item::Node, &["label0"], false).unwrap();
        let b = d.learning(Item::Node, &["attribute0"], false).unwrap();
        assert!(d.digest() != a.digest() && a.digest() != b.digest() && a != b);
        assert_eq!(a.subset(&[0]).unwrap().known(Item::Node, 0), a.known(Item::Node, 0));
    }
}
