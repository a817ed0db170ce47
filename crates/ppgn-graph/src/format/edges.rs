//! Edge lists: one graph per file, one edge `u v [label]` per line, plain or as CSV.
//!
//! ```text
//! # people who know each other
//! source,target,label        a header line is not needed
//! 3,7,1
//! 7, 12, 2
//! ```
//!
//! NetworkX writes the attributes of an edge as a Python dictionary, `0 1 {'weight': 4}`. A folder of such files is a
//! dataset of as many graphs.
//!
//! Every program writes its own dialect, so this reader takes blanks, tabs, commas and semicolons between fields, `#` and
//! `%` before comments, and node names in double quotes. It does not guess where a wrong guess would go unnoticed: an
//! empty field, a fourth column or a label that only some edges have is a defect.

use super::attributes::{Table, UNNAMED, Value};
use super::collect::{Raw, collect};
use super::lines::{integer, real, show};
use super::python::dictionary;
use super::{Entry, Format, Report, Source};
use crate::dataset::Dataset;
use crate::error::{Defect, Remedy, Result};
use crate::graph::Merged;
use std::collections::HashMap;

/// Reads one graph from each of these files.
pub(crate) fn read(
    source: &Source,
    entries: &[Entry],
    directed: bool,
    report: &mut Report,
) -> Result<Dataset> {
    collect(source, entries, Format::Edges, report, |entry, report| {
        if let Some(columns) = table_of(&source.peek(entry, 4096)?) {
            let message = format!(
                "this looks like a table with one row per graph, not like an edge list: its columns are {columns}"
            );
            return Err(Defect::new(source.describe(entry), message).remedy(Remedy::NameLabels).into());
        }
        let found = report.count();
        let edges = read_edges(source, entry, directed, report)?;
        if edges.ends.is_empty() && report.count() == found {
            report.defect(Defect::new(source.describe(entry), "no edges in it"))?;
        }
        Ok(vec![edges.into_raw()])
    })
}

/// The columns of a table of labels that was taken for an edge list: a first line of names that are none of an edge
/// list, separated by commas, semicolons or tabs, and rows that follow it.
pub(crate) fn table_of(start: &[u8]) -> Option<String> {
    let mut lines =
        start.split(|&b| b == b'\n').map(strip).filter(|line| !is_comment(line) && !line.is_empty());
    let (first, second) = (lines.next()?, lines.next()?);
    // Braces are the attributes that NetworkX writes.
    let separator = [b',', b';', b'\t'].into_iter().find(|s| first.contains(s) && !first.contains(&b'{'))?;
    let split = |line: &[u8]| -> Vec<String> {
        let cells = line.split(|&b| b == separator);
        cells.map(|c| String::from_utf8_lossy(c.trim_ascii()).trim_matches('"').to_lowercase()).collect()
    };
    let (names, row) = (split(first), split(second));
    let number = |cell: &String| cell.parse::<f64>().is_ok();
    if names.len() < 2 || names.iter().any(|name| name.is_empty() || number(name)) {
        return None;
    }
    if ENDS.iter().any(|(u, v)| names[0] == *u && names[1] == *v) {
        return None;
    }
    let of_graphs = ROWS.contains(&names[0].as_str());
    // Names over numbers, or over empty cells, are a header, and not one that an edge list has.
    let header = row.iter().any(|cell| number(cell) || cell.is_empty()) || names.len() > 3;
    (of_graphs || header).then(|| {
        let shown: Vec<String> = names.iter().take(8).map(|name| show(name.as_bytes())).collect();
        shown.join(", ") + if names.len() > 8 { ", ..." } else { "" }
    })
}

/// Whether the first line that is no comment has the two or three fields of an edge.
pub(crate) fn begins(start: &[u8]) -> bool {
    let mut lines =
        start.split(|&b| b == b'\n').map(strip).filter(|line| !is_comment(line) && !line.is_empty());
    lines.next().is_some_and(|line| Fields::split(line).is_ok())
}

/// The first two columns of an edge list with a header.
const ENDS: [(&str, &str); 24] = [
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("node 1", "node 2"),
    ("node_a", "node_b"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("a", "b"),
    ("u", "v"),
    ("i", "j"),
    ("x", "y"),
    ("start", "end"),
    ("head", "tail"),
    ("tail", "head"),
    ("sender", "receiver"),
    ("parent", "child"),
    ("child", "parent"),
    ("row", "col"),
    ("from_node", "to_node"),
];

/// The first column of a table of graphs.
const ROWS: [&str; 14] = [
    "id",
    "graph",
    "graph_id",
    "graphid",
    "name",
    "file",
    "filename",
    "file_name",
    "index",
    "molecule",
    "mol_id",
    "smiles",
    "label",
    "class",
];

fn read_edges(source: &Source, entry: &Entry, directed: bool, report: &mut Report) -> Result<Edges> {
    let limit = source.limits().max_nodes;
    let mut lines = source.lines(entry)?;
    let mut edges = Edges { directed, ..Edges::default() };
    let mut seen = 0u64;
    while let Some(line) = lines.next_filled()? {
        let line = strip(line);
        if is_comment(line) {
            continue;
        }
        seen += 1;
        let problem = match Fields::split(line) {
            Ok(fields) if seen == 1 && fields.are_titles() => {
                report.note(format!("the first line, {}, was read as a header", show(line)));
                continue;
            }
            Ok(fields) => {
                // A first line of two names is a header after all, if numbers follow.
                if seen == 2 && edges.ends.len() == 1 && !edges.any_integer() && fields.are_integers() {
                    edges = Edges { directed, ..Edges::default() };
                    report.note("the first line was read as a header: it has names, and numbers follow");
                }
                edges.add(&fields).err()
            }
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            report.defect(lines.defect(problem))?;
        }
        if edges.ids.len() as u64 > limit {
            report.defect(lines.defect(format!("more than the {limit} nodes that a graph may have")))?;
            break;
        }
    }
    Ok(edges)
}

/// Whether these lines begin an edge list: edges between numbers, perhaps after a header line.
pub(crate) fn looks_like<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut data = lines.map(strip).filter(|line| !is_comment(line) && !line.is_empty());
    let mut next = || data.next().and_then(|line| Fields::split(line).ok());
    let Some(first) = next() else { return false };
    first.are_integers() || (first.separated && next().is_some_and(|second| second.are_integers()))
}

/// A line without blanks around it and without the mark that some programs begin a file with.
fn strip(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

fn is_comment(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'#' | b'%'))
}

/// The two or three fields of a line.
struct Fields<'a> {
    u: &'a [u8],
    v: &'a [u8],
    label: Option<&'a [u8]>,
    /// Named attributes, as NetworkX writes them: `{'weight': 4}`.
    named: Vec<(String, Value)>,
    /// Whether something else than blanks stood between them.
    separated: bool,
}

impl<'a> Fields<'a> {
    fn split(line: &'a [u8]) -> Result<Self, String> {
        let mut fields = [&[][..]; 3];
        let (mut count, mut separated) = (0, false);
        let mut rest = line;
        let mut named = Vec::new();
        while !rest.is_empty() && (count == 0 || rest[0] != b'#') {
            if count == 2 && rest[0] == b'{' {
                named = dictionary(rest)?;
                break;
            }
            let Some(slot) = fields.get_mut(count) else {
                return Err(format!("more than the three fields `u v label`: {}", show(line)));
            };
            let (field, tail) = take_field(rest)?;
            *slot = field;
            count += 1;
            rest = tail.trim_ascii_start();
            if let [b',' | b';', tail @ ..] = rest {
                separated = true;
                rest = tail.trim_ascii_start();
            }
        }
        let [u, v, label] = fields;
        let label = (count == 3).then_some(label);
        match count {
            2 | 3 => Ok(Fields { u, v, label, named, separated }),
            _ => Err(format!("expected an edge `u v [label]`, found {}", show(line))),
        }
    }

    fn are_integers(&self) -> bool {
        integer(self.u).is_some() && integer(self.v).is_some()
    }

    /// Whether this can only be a header: the usual words, or something else than a number where labels stand.
    fn are_titles(&self) -> bool {
        let is =
            |field: &[u8], words: &[&str]| words.iter().any(|w| field.eq_ignore_ascii_case(w.as_bytes()));
        let usual = is(self.u, &["source", "src", "from", "node1", "node_1"])
            && is(self.v, &["target", "dst", "to", "node2", "node_2"]);
        usual
            || (!self.are_integers()
                && self.label.is_some_and(|label| integer(label).is_none() && !reads_as_real(label)))
    }
}

/// Whether the field was meant as a real number; NaN was, though it is none that can be used.
fn reads_as_real(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// The first field and what follows it.
fn take_field(line: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let (field, rest) = match line {
        [b'"', quoted @ ..] => {
            let end = quoted.iter().position(|&b| b == b'"');
            let end = end.ok_or_else(|| format!("no closing quote in {}", show(line)))?;
            (&quoted[..end], &quoted[end + 1..])
        }
        _ => {
            let ends = |b: &u8| matches!(b, b',' | b';') || b.is_ascii_whitespace();
            line.split_at(line.iter().position(ends).unwrap_or(line.len()))
        }
    };
    match field.is_empty() {
        true => Err(format!("an empty field before {}", show(line))),
        false => Ok((field, rest)),
    }
}

/// Edges are merged whenever this many, or twice the number of different ones, have been read.
const MERGED_AT: usize = 1 << 20;

/// The edges so far, between nodes in the order of their appearance.
struct Edges {
    ids: HashMap<Box<[u8]>, u32>,
    ends: Vec<(u32, u32)>,
    labelled: Option<bool>,
    table: Table,
    directed: bool,
    /// Repeated edges that were merged while reading.
    merged: Merged,
    /// The number of edges at which they are merged next.
    full: usize,
}

impl Default for Edges {
    fn default() -> Self {
        Edges {
            ids: HashMap::new(),
            ends: Vec::new(),
            labelled: None,
            table: Table::default(),
            directed: false,
            merged: Merged::default(),
            full: MERGED_AT,
        }
    }
}

impl Edges {
    fn add(&mut self, fields: &Fields) -> Result<(), String> {
        let labelled = *self.labelled.get_or_insert(fields.label.is_some());
        match (fields.label, fields.named.is_empty()) {
            (Some(_), _) if !labelled => return Err("a label, but the edges before have none".into()),
            (None, true) if labelled => return Err("no label, but the edges before have one".into()),
            (Some(label), _) => self.table.add(vec![(UNNAMED.into(), value(label)?)])?,
            (None, false) => self.table.add(fields.named.clone())?,
            (None, true) if self.ends.is_empty() || !self.table.has_columns() => {}
            (None, true) => return Err("no attributes, but the edges before have some".into()),
        }
        if !fields.named.is_empty() && self.ends.len() + 1 != self.table.rows() {
            return Err("attributes, but the edges before have none".into());
        }
        let ends = (self.node(fields.u)?, self.node(fields.v)?);
        self.ends.push(ends);
        if self.ends.len() >= self.full {
            self.merge();
            self.full = MERGED_AT.max(2 * self.ends.len());
        }
        Ok(())
    }

    /// Merges repeated edges, so that memory grows with the different ones: an archive of a megabyte can repeat one line
    /// a billion times. Of edges that differ in their labels the first is kept, as in the graph.
    fn merge(&mut self) {
        let key = |i: u32| {
            let (u, v) = self.ends[i as usize];
            if self.directed { (u, v) } else { (u.min(v), u.max(v)) }
        };
        let differ = |a: u32, b: u32| !self.table.same(a as usize, b as usize);
        // There are fewer than 2^32: twice the different edges, of which a graph has at most 2^31.
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        order.sort_unstable_by_key(|&i| (key(i), i));
        let mut kept: Vec<u32> = Vec::new();
        for &i in &order {
            match kept.last() {
                Some(&first) if key(first) == key(i) => {
                    self.merged.duplicates += 1;
                    self.merged.conflicts += usize::from(differ(first, i));
                }
                _ => kept.push(i),
            }
        }
        let places = || kept.iter().map(|&i| i as usize);
        self.ends = places().map(|i| self.ends[i]).collect();
        if self.table.has_columns() {
            self.table.keep(&kept);
        }
    }

    fn node(&mut self, name: &[u8]) -> Result<u32, String> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(id);
        }
        if std::str::from_utf8(name).is_err() {
            return Err(format!("the node's name {} is not UTF-8 text", show(name)));
        }
        let id = u32::try_from(self.ids.len()).map_err(|_| "more nodes than a graph can have")?;
        self.ids.insert(name.into(), id);
        Ok(id)
    }

    fn any_integer(&self) -> bool {
        self.ids.keys().any(|name| integer(name).is_some())
    }

    /// The graph; its nodes are those that occur, in ascending order of their numbers, or else of their names.
    fn into_raw(self) -> Raw {
        let (nodes, number) = numbering(self.ids);
        let edges = self.ends.iter().map(|&(u, v)| (number[u as usize], number[v as usize])).collect();
        Raw {
            directed: self.directed,
            nodes,
            edges,
            edge_table: self.table,
            merged: self.merged,
            ..Raw::default()
        }
    }
}

/// The value of a label: an integer or a real number.
fn value(label: &[u8]) -> Result<Value, String> {
    if let Some(x) = integer(label) {
        return Ok(Value::Integer(x));
    }
    real(label).map(Value::Real).ok_or_else(|| format!("the label {} is not a finite number", show(label)))
}

/// How many nodes there are, and the number of each by its place in the order of appearance.
fn numbering(ids: HashMap<Box<[u8]>, u32>) -> (usize, Vec<u32>) {
    let mut number = vec![0; ids.len()];
    let integers: Option<Vec<(i64, u32)>> =
        ids.iter().map(|(name, &id)| Some((integer(name)?, id))).collect();
    let nodes = match integers {
        Some(list) => assign(list, &mut number),
        None => assign(ids.into_iter().collect(), &mut number),
    };
    (nodes, number)
}

/// Numbers the keys in ascending order; equal keys (`7` and `07`) are one node.
fn assign<K: Ord>(mut keys: Vec<(K, u32)>, number: &mut [u32]) -> usize {
    keys.sort_unstable();
    let mut count = 0;
    for (i, (key, id)) in keys.iter().enumerate() {
        count += usize::from(i == 0 || keys[i - 1].0 != *key);
        number[*id as usize] = (count - 1) as u32;
    }
    count
}
