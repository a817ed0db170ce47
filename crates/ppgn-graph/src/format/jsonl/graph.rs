//! The line of a graph: its keys, parsing it into a [`Record`], and writing one.

use super::columns::{Columns, Rows};
use super::explain;
use crate::dataset::{Record, Schema};
use crate::graph::{Graph, GraphBuilder};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as Write};

/// A line as it was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphLine {
    n: u64,
    #[serde(default)]
    pub(super) label: Option<i64>,
    #[serde(default)]
    pub(super) targets: Vec<f64>,
    #[serde(default)]
    edges: Vec<(u32, u32)>,
    node_labels: Option<Columns<i64>>,
    node_attributes: Option<Columns<f64>>,
    edge_labels: Option<Columns<i64>>,
    edge_attributes: Option<Columns<f64>>,
    positions: Option<Vec<[f64; 3]>>,
}

impl GraphLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        // serde would accept a list in place of an object, with values in the order of the fields.
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err("not a graph such as {\"n\":2,\"edges\":[[0,1]]}".into());
        }
        serde_json::from_slice(line).map_err(|e| explain(&e))
    }

    /// The number of nodes that the line claims; 0 where more than can exist, which `into_record` refuses.
    pub(super) fn nodes(&self) -> u64 {
        if self.n < u64::from(u32::MAX) { self.n } else { 0 }
    }

    /// The record, as a graph of this schema, and how many edges were given again and merged.
    pub(super) fn into_record(self, schema: &Schema, max_nodes: u64) -> Result<(Record, usize), String> {
        if self.n > max_nodes {
            return Err(format!("{} nodes, more than the limit of {max_nodes}", self.n));
        }
        let n = usize::try_from(self.n).map_err(|_| format!("{} nodes", self.n))?;
        let m = self.edges.len();
        let node_labels = table("node_labels", self.node_labels, n, "nodes", schema.node_labels.len())?;
        let node_attributes =
            table("node_attributes", self.node_attributes, n, "nodes", schema.node_attributes.len())?;
        let edge_labels = table("edge_labels", self.edge_labels, m, "edges", schema.edge_labels.len())?;
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
        Ok((Record { graph, label: self.label, targets: self.targets }, merged))
    }

    /// The number of node label columns with their values; `None` if the graph has no nodes to show them.
    pub(super) fn node_label_table(&self) -> Option<(usize, &[i64])> {
        (self.n > 0).then(|| self.node_labels.as_ref().map_or((0, &[][..]), |c| (c.width, &c.values)))
    }

    /// The same of its edges.
    pub(super) fn edge_label_table(&self) -> Option<(usize, &[i64])> {
        let some = !self.edges.is_empty();
        some.then(|| self.edge_labels.as_ref().map_or((0, &[][..]), |c| (c.width, &c.values)))
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

/// A record to be written.
pub(super) struct Line<'a>(pub(super) &'a Record);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { graph: g, label, targets } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &g.nodes())?;
        if let Some(label) = label {
            map.serialize_entry("label", label)?;
        }
        if !targets.is_empty() {
            map.serialize_entry("targets", targets)?;
        }
        map.serialize_entry("edges", &Edges(g))?;
        let nodes = 0..g.nodes();
        let edges = || g.edge_list().map(|(_, _, a)| a);
        entry(&mut map, "node_labels", g.node_label_columns(), || nodes.clone().map(|u| g.node_labels(u)))?;
        entry(&mut map, "node_attributes", g.node_attribute_columns(), || {
            nodes.clone().map(|u| g.node_attributes(u))
        })?;
        entry(&mut map, "edge_labels", g.edge_label_columns(), || edges().map(|a| g.edge_labels(a)))?;
        entry(&mut map, "edge_attributes", g.edge_attribute_columns(), || {
            edges().map(|a| g.edge_attributes(a))
        })?;
        if let Some(positions) = g.positions() {
            map.serialize_entry("positions", positions)?;
        }
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

struct Edges<'a>(&'a Graph);

impl Serialize for Edges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.edge_list().map(|(u, v, _)| (u, v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::LabelColumn;

    fn schema(node_labels: usize, edge_labels: usize) -> Schema {
        let columns = |k| vec![LabelColumn::new("", []); k];
        Schema { node_labels: columns(node_labels), edge_labels: columns(edge_labels), ..Schema::default() }
    }

    fn record(line: &str, schema: &Schema) -> Result<(Record, usize), String> {
        GraphLine::parse(line.as_bytes())?.into_record(schema, 100)
    }

    fn text(record: &Record) -> String {
        serde_json::to_string(&Line(record)).unwrap()
    }

    #[test]
    fn a_line_as_a_person_writes_it() {
        let line = r#"{"n": 3, "edges": [[2, 1], [0, 1]], "edge_labels": [[5, 6], [7, 8]], "label": -1}"#;
        let (r, merged) = record(line, &schema(0, 2)).unwrap();
        assert_eq!(merged, 0);
        assert_eq!(r.graph.edge_labels(r.graph.arc(1, 2).unwrap()), [5, 6]);
        assert_eq!(text(&r), r#"{"n":3,"label":-1,"edges":[[0,1],[1,2]],"edge_labels":[[7,8],[5,6]]}"#);
        let (r, _) = record(r#"{"n":0}"#, &schema(1, 1)).unwrap();
        assert_eq!((r.graph.node_label_columns(), r.graph.edge_label_columns()), (1, 1));
        assert_eq!(text(&r), r#"{"n":0,"edges":[],"node_labels":[],"edge_labels":[]}"#);
    }

    #[test]
    fn edges_given_twice() {
        let given = |labels: &str| {
            record(&format!(r#"{{"n":2,"edges":[[0,1],[1,0]],"edge_labels":{labels}}}"#), &schema(0, 1))
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
            (r#"{"edges":[]}"#, "missing field `n`"),
            (r#"{"n":2,"edge":[]}"#, "unknown field `edge`, expected one of `n`, `label`"),
            (r#"{"n":2,"n":2}"#, "duplicate field `n`"),
            (r#"{"n":101}"#, "101 nodes, more than the limit of 100"),
            (r#"{"n":-1}"#, "invalid value: integer `-1`, expected u64"),
            (r#"{"n":2,"edges":[[0,2]]}"#, "node 2 is out of range, the graph has 2 nodes"),
            (r#"{"n":2,"edges":[[0]]}"#, "invalid length 1, expected a tuple of size 2"),
            (r#"{"n":2,"edges":[[0,1,1]]}"#, "trailing characters"),
            (r#"{"n":2,"node_labels":[1]}"#, "`node_labels` has 1 entries, but there are 2 nodes"),
            (r#"{"n":2,"edge_attributes":[1]}"#, "`edge_attributes` has 1 entries, but there are 0 edges"),
            (r#"{"n":2,"positions":[[0,0,0]]}"#, "positions: 1 values, but 2 are needed"),
            (r#"{"n":1,"targets":[1e999]}"#, "number out of range"),
            (r#"{"n":1,"targets":[NaN]}"#, "expected value"),
            (r#"{"n":1} x"#, "trailing characters"),
            (r#"{"n":1,"edges":[[0,0]"#, "the line ends in the middle of a value"),
            ("\u{7f}", "not a graph such as"),
            ("[3]", "not a graph such as"),
            ("{\"n\":1,\"label\":\"\u{7f}", "the line ends in the middle"),
        ] {
            let error = record(line, &schema(0, 0)).unwrap_err();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
