//! The line of a graph: its keys, parsing it into a [`Record`], and writing one.

use super::columns::{Columns, Rows};
use super::explain;
use super::items::{self, ItemLine, ItemWords, Maybe};
use super::labels::{Label, LabelRow, LabelTable, Vocabulary};
use crate::dataset::{Header, Item, Record};
use crate::graph::{Graph, GraphBuilder};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as Write};
use std::collections::HashMap;
use std::fmt;

/// A line as it was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphLine {
    n: u64,
    #[serde(default)]
    id: Option<Id>,
    #[serde(default)]
    pub(super) label: Option<Label>,
    #[serde(default)]
    pub(super) targets: Option<Vec<Option<f64>>>,
    #[serde(default)]
    edges: Vec<(u32, u32)>,
    node_labels: Option<LabelTable>,
    node_attributes: Option<Columns<f64>>,
    edge_labels: Option<LabelTable>,
    edge_attributes: Option<Columns<f64>>,
    positions: Option<Vec<[f64; 3]>>,
    node_classes: Option<Vec<Option<Label>>>,
    node_targets: Option<Columns<Maybe>>,
    pair_classes: Option<Vec<(u64, u64, Option<Label>)>>,
    pair_targets: Option<Columns<Maybe>>,
}

/// An id: a string, or an integer, which is read as its digits.
#[derive(Debug)]
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the id must be a string or an integer")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id(text.into()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// What a header says about the words of its graphs: found once, used for every line.
#[derive(Debug, Default)]
pub(super) struct Words {
    node_labels: Vocabulary,
    edge_labels: Vocabulary,
    /// The class of each name, where classes have names.
    classes: Option<HashMap<String, i64>>,
    items: ItemWords,
}

impl Words {
    pub(super) fn of(header: &Header) -> Self {
        let classes = header.classes.iter().flatten().copied();
        Words {
            node_labels: Vocabulary::of(&header.schema.node_labels),
            edge_labels: Vocabulary::of(&header.schema.edge_labels),
            classes: (!header.class_names.is_empty())
                .then(|| header.class_names.iter().cloned().zip(classes).collect()),
            items: ItemWords::of(header),
        }
    }

    fn class(&self, label: Label) -> Result<i64, String> {
        match (label, &self.classes) {
            (Label::Number(label), None) => Ok(label),
            (Label::Word(word), Some(classes)) => classes.get(&word).copied().ok_or_else(|| {
                let shown: String = word.chars().take(40).collect();
                format!("the class `{shown}` is not among those that the header lists")
            }),
            (Label::Number(label), Some(_)) => Err(format!(
                "the label is the integer {label}, but the classes have names, which are strings"
            )),
            (Label::Word(word), None) => {
                let shown: String = word.chars().take(40).collect();
                Err(format!("the label is the string `{shown}`, but the classes are integers"))
            }
        }
    }
}

impl GraphLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        // serde would accept a list in place of an object, with values in the order of the fields.
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err("not a graph such as {\"n\":2,\"edges\":[[0,1]]}".into());
        }
        serde_json::from_slice(line).map_err(|e| explain(&e, line))
    }

    /// The number of nodes that the line claims; 0 where more than can exist, which `into_record` refuses.
    pub(super) fn nodes(&self) -> u64 {
        if self.n < u64::from(u32::MAX) { self.n } else { 0 }
    }

    /// The record, as a graph of this header, and how many edges were given again and merged.
    pub(super) fn into_record(
        mut self,
        header: &Header,
        words: &Words,
        max_nodes: u64,
    ) -> Result<(Record, usize), String> {
        let (schema, items) = (&header.schema, self.take_items());
        if self.n > max_nodes {
            return Err(format!("{} nodes, more than the limit of {max_nodes}", self.n));
        }
        let n = usize::try_from(self.n).map_err(|_| format!("{} nodes", self.n))?;
        let m = self.edges.len();
        let node_labels = self.node_labels.map(|t| t.resolve(&words.node_labels)).transpose()?;
        let edge_labels = self.edge_labels.map(|t| t.resolve(&words.edge_labels)).transpose()?;
        let node_labels = table("node_labels", node_labels, n, "nodes", schema.node_labels.len())?;
        let node_attributes =
            table("node_attributes", self.node_attributes, n, "nodes", schema.node_attributes.len())?;
        let edge_labels = table("edge_labels", edge_labels, m, "edges", schema.edge_labels.len())?;
        let edge_attributes =
            table("edge_attributes", self.edge_attributes, m, "edges", schema.edge_attributes.len())?;

        let mut b = GraphBuilder::new(n, schema.directed);
        b.node_labels(node_labels.width, node_labels.values);
        b.node_attributes(node_attributes.width, node_attributes.values);
        b.edge_label_columns(edge_labels.width).edge_attribute_columns(edge_attributes.width);
        match edge_labels.width + edge_attributes.width {
            0 => _ = b.extend(self.edges),
            _ => self.edges.iter().enumerate().for_each(|(i, &(u, v))| {
                b.edge_with(u, v, edge_labels.row(i), edge_attributes.row(i));
            }),
        }
        if let Some(positions) = self.positions.or((n == 0 && schema.positions).then(Vec::new)) {
            b.positions(positions);
        }
        let graph = b.build().map_err(|e| e.to_string())?;
        let merged = m - graph.edges();
        let label = self.label.map(|label| words.class(label)).transpose()?;
        let targets = match self.targets {
            Some(targets) => targets.into_iter().map(|y| y.unwrap_or(f64::NAN)).collect(),
            None => vec![f64::NAN; header.targets.len()],
        };
        let [nodes, pairs] = items.known(header, &words.items, n)?;
        Ok((Record { graph, id: self.id.map(|Id(id)| id), label, targets, nodes, pairs }, merged))
    }

    /// What it says of nodes and pairs.
    pub(super) fn take_items(&mut self) -> ItemLine {
        ItemLine {
            node_classes: self.node_classes.take(),
            node_targets: self.node_targets.take(),
            pair_classes: self.pair_classes.take(),
            pair_targets: self.pair_targets.take(),
        }
    }

    /// The node labels, or no table; `None` if the graph has no nodes to show them.
    pub(super) fn node_label_table(&self) -> Option<Option<&LabelTable>> {
        (self.n > 0).then_some(self.node_labels.as_ref())
    }

    /// The same of its edges.
    pub(super) fn edge_label_table(&self) -> Option<Option<&LabelTable>> {
        (!self.edges.is_empty()).then_some(self.edge_labels.as_ref())
    }

    /// The number of node attributes, and whether nodes have positions; `None` if there are no nodes.
    pub(super) fn node_attribute_columns(&self) -> Option<(usize, bool)> {
        let width = self.node_attributes.as_ref().map_or(0, |c| c.width);
        (self.n > 0).then_some((width, self.positions.is_some()))
    }

    /// The number of edge attributes; `None` if there are no edges.
    pub(super) fn edge_attribute_columns(&self) -> Option<usize> {
        (!self.edges.is_empty()).then(|| self.edge_attributes.as_ref().map_or(0, |c| c.width))
    }
}

/// A table with a row for each of `rows`. Where there are none, it has the columns that the dataset has, whether the
/// line mentions it or not.
fn table<T>(
    key: &str,
    given: Option<Columns<T>>,
    rows: usize,
    of_what: &str,
    width: usize,
) -> Result<Columns<T>, String> {
    match given {
        Some(columns) if columns.rows != rows => {
            Err(format!("`{key}` has {} entries, but there are {rows} {of_what}", columns.rows))
        }
        _ if rows == 0 => Ok(Columns::empty(width)),
        Some(columns) => Ok(columns),
        None => Ok(Columns::empty(0)),
    }
}

/// A record to be written, and the header that has the words of its labels.
pub(super) struct Line<'a>(pub(super) &'a Record, pub(super) &'a Header);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Line(Record { graph: g, id, label, targets, nodes: of_nodes, pairs: of_pairs }, header) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &g.nodes())?;
        if let Some(id) = id {
            map.serialize_entry("id", id)?;
        }
        match (label, &header.classes) {
            (Some(label), Some(classes)) if !header.class_names.is_empty() => {
                let class = classes.binary_search(label).ok().and_then(|c| header.class_names.get(c));
                map.serialize_entry("label", &class)?;
            }
            (Some(label), _) => map.serialize_entry("label", label)?,
            (None, Some(_)) => map.serialize_entry("label", &())?,
            (None, None) => {}
        }
        if !targets.is_empty() {
            let known: Vec<Option<f64>> = targets.iter().map(|&y| (!y.is_nan()).then_some(y)).collect();
            map.serialize_entry("targets", &known)?;
        }
        map.serialize_entry("edges", &Edges(g))?;
        let nodes = 0..g.nodes();
        let edges = || g.edge_list().map(|(_, _, a)| a);
        let schema = &header.schema;
        if g.node_label_columns() > 0 {
            let rows = || nodes.clone().map(|u| LabelRow(&schema.node_labels, g.node_labels(u)));
            map.serialize_entry("node_labels", &Listed(rows))?;
        }
        entry(&mut map, "node_attributes", g.node_attribute_columns(), || {
            nodes.clone().map(|u| g.node_attributes(u))
        })?;
        if g.edge_label_columns() > 0 {
            let rows = || edges().map(|a| LabelRow(&schema.edge_labels, g.edge_labels(a)));
            map.serialize_entry("edge_labels", &Listed(rows))?;
        }
        entry(&mut map, "edge_attributes", g.edge_attribute_columns(), || {
            edges().map(|a| g.edge_attributes(a))
        })?;
        if let Some(positions) = g.positions() {
            map.serialize_entry("positions", positions)?;
        }
        items::write(&mut map, Item::Node, of_nodes, header, g.nodes())?;
        items::write(&mut map, Item::Pair, of_pairs, header, g.nodes())?;
        map.end()
    }
}

fn entry<'a, M, T, I>(map: &mut M, key: &str, width: usize, rows: impl Fn() -> I) -> Result<(), M::Error>
where
    M: SerializeMap,
    T: Write + 'a,
    I: Iterator<Item = &'a [T]>,
{
    match width {
        0 => Ok(()),
        _ => map.serialize_entry(key, &Rows(width, rows)),
    }
}

/// What an iterator gives, as a list.
struct Listed<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Listed<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

struct Edges<'a>(&'a Graph);

impl Serialize for Edges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.edge_list().map(|(u, v, _)| (u, v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{LabelColumn, Schema};

    fn header(node_labels: usize, edge_labels: usize) -> Header {
        let columns = |k| vec![LabelColumn::new("", []); k];
        let schema = Schema {
            node_labels: columns(node_labels),
            edge_labels: columns(edge_labels),
            ..Schema::default()
        };
        Header { schema, ..Header::default() }
    }

    fn record(line: &str, header: &Header) -> Result<(Record, usize), String> {
        GraphLine::parse(line.as_bytes())?.into_record(header, &Words::of(header), 100)
    }

    fn text(record: &Record, header: &Header) -> String {
        serde_json::to_string(&Line(record, header)).unwrap()
    }

    #[test]
    fn a_line_as_a_person_writes_it() {
        let line =
            r#"{"n": 3, "edges": [[2, 1], [0, 1]], "edge_labels": [[5, 6], [7, 8]], "label": -1, "id": 7}"#;
        let two = header(0, 2);
        let (r, merged) = record(line, &two).unwrap();
        assert_eq!(merged, 0);
        assert_eq!(r.graph.edge_labels(r.graph.arc(1, 2).unwrap()), [5, 6]);
        let written = r#"{"n":3,"id":"7","label":-1,"edges":[[0,1],[1,2]],"edge_labels":[[7,8],[5,6]]}"#;
        assert_eq!(text(&r, &two), written);
        let one = header(1, 1);
        let (r, _) = record(r#"{"n":0}"#, &one).unwrap();
        assert_eq!((r.graph.node_label_columns(), r.graph.edge_label_columns()), (1, 1));
        assert_eq!(text(&r, &one), r#"{"n":0,"edges":[],"node_labels":[],"edge_labels":[]}"#);
    }

    #[test]
    fn words_and_what_is_missing() {
        let target = |name: &str| crate::Target { name: name.into(), unit: String::new() };
        let schema = Schema {
            node_labels: vec![LabelColumn::of_words("atom", ["C", "O"].map(String::from))],
            ..Schema::default()
        };
        let header = Header {
            schema,
            classes: Some(vec![0, 1]),
            class_names: vec!["no".into(), "yes".into()],
            targets: vec![target("a"), target("b")],
            ..Header::default()
        };
        let line = r#"{"n":2,"label":"yes","targets":[null,1.5],"edges":[],"node_labels":["O","C"]}"#;
        let (r, _) = record(line, &header).unwrap();
        assert_eq!((r.label, r.graph.node_labels(0), r.targets[1]), (Some(1), &[1][..], 1.5));
        assert!(r.targets[0].is_nan());
        assert_eq!(text(&r, &header), line);
        let (r, _) = record(r#"{"n":0}"#, &header).unwrap();
        assert_eq!(
            text(&r, &header),
            r#"{"n":0,"label":null,"targets":[null,null],"edges":[],"node_labels":[]}"#
        );
        let wrong = |line: &str| record(line, &header).unwrap_err();
        assert_eq!(
            wrong(r#"{"n":0,"label":"maybe"}"#),
            "the class `maybe` is not among those that the header lists"
        );
        assert!(
            wrong(r#"{"n":0,"label":1}"#)
                .starts_with("the label is the integer 1, but the classes have names")
        );
    }

    #[test]
    fn edges_given_twice() {
        let given = |labels: &str| {
            record(&format!(r#"{{"n":2,"edges":[[0,1],[1,0]],"edge_labels":{labels}}}"#), &header(0, 1))
        };
        assert_eq!(given("[3,3]").map(|(r, merged)| (r.graph.edges(), merged)), Ok((1, 1)));
        assert_eq!(
            given("[3,4]").unwrap_err(),
            "edge 0 1 is given twice with different labels or attributes"
        );
    }

    #[test]
    fn what_is_wrong_is_reported() {
        for (line, message) in [
            (r#"{"edges":[]}"#, "the key `n` is missing"),
            (r#"{"n":2,"edge":[]}"#, "the key `edge` is not known; there are `n`, `id`, `label`"),
            (r#"{"n":2,"n":2}"#, "the key `n` is there twice"),
            (r#"{"n":101}"#, "101 nodes, more than the limit of 100"),
            (r#"{"n":-1}"#, "`n`: it must be a whole number, 0 or more, not -1 (column 7)"),
            (
                r#"{"n":1,"label":true}"#,
                "`label`: the label must be an integer or a string, not true (column 19)",
            ),
            (r#"{"n":1,"label":1.0}"#, "`label`: the label must be an integer or a string, not 1.0"),
            (r#"{"n":1,"label":"x"}"#, "the label is the string `x`, but the classes are integers"),
            (r#"{"n":1,"id":[]}"#, "`id`: the id must be a string or an integer, not a list"),
            (r#"{"n":2,"edges":[[0,2]]}"#, "node 2 is out of range, the graph has 2 nodes"),
            (r#"{"n":2,"edges":[[0]]}"#, "`edges`: a list of 1, where a pair of node numbers is needed"),
            (r#"{"n":2,"edges":[["0",1]]}"#, "`edges`: it must be a whole number, 0 or more, not \"0\""),
            (r#"{"n":2,"edges":[[0,1,1]]}"#, "not valid JSON, trailing characters"),
            (r#"{"n":2,"node_labels":[1]}"#, "`node_labels` has 1 entries, but there are 2 nodes"),
            (r#"{"n":2,"edge_attributes":[1]}"#, "`edge_attributes` has 1 entries, but there are 0 edges"),
            (r#"{"n":2,"positions":[[0,0,0]]}"#, "positions: 1 values, but 2 are needed"),
            (r#"{"n":1,"targets":[1e999]}"#, "not valid JSON, number out of range"),
            (r#"{"n":1,"targets":[NaN]}"#, "not valid JSON, expected value"),
            (r#"{"n":1,"targets":["1"]}"#, "`targets`: it must be a number, not \"1\""),
            (r#"{"n":1} x"#, "not valid JSON, trailing characters"),
            (r#"{"n":1,"edges":[[0,0]"#, "the line ends in the middle of a value"),
            ("\u{7f}", "not a graph such as"),
            ("[3]", "not a graph such as"),
            ("{\"n\":1,\"label\":\"\u{7f}", "the line ends in the middle"),
        ] {
            let error = record(line, &header(0, 0)).unwrap_err();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
