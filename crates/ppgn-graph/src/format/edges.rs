//! Edge lists: one graph per file, one edge `u v [label]` per line, plain or as CSV.
//!
//! ```text
//! # people who know each other
//! source,target,label        a header line is not needed
//! 3,7,1
//! 7, 12, 2
//! ```
//!
//! Every program writes its own dialect, so this reader takes blanks, tabs, commas and semicolons between fields, `#` and
//! `%` before comments, and node names in double quotes. It does not guess where a wrong guess would go unnoticed: an
//! empty field, a fourth column or a label that only some edges have is a defect.

use super::lines::{integer, real, show};
use super::{Entry, Format, Report, Source, note_merged, provenance, refuse_defects};
use crate::dataset::{Dataset, Schema};
use crate::error::{Defect, Result};
use crate::graph::{Graph, GraphBuilder, Merged};
use std::collections::HashMap;

pub(crate) fn read(source: &Source, entry: &Entry, directed: bool, report: &mut Report) -> Result<Dataset> {
    let found = report.count();
    let edges = read_edges(source, entry, directed, report)?;
    if edges.ends.is_empty() && report.count() == found {
        report.defect(Defect::new(source.describe(entry), "no edges in it"))?;
    }
    refuse_defects(report, found)?;

    let weighted = matches!(edges.labels, Labels::Reals(_));
    let (graph, merged) = edges.build().map_err(|e| Defect::new(source.describe(entry), e.to_string()))?;
    note_merged(merged, report);
    let graphs = vec![graph];
    let mut schema = Schema::of(&graphs)?;
    if weighted {
        schema.edge_attributes = vec!["weight".into()];
    }
    Dataset::builder(entry.stem())
        .graphs(graphs)
        .schema(schema)
        .provenance(provenance(source, Format::Edges, report))
        .build()
}

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
    /// Whether something else than blanks stood between them.
    separated: bool,
}

impl<'a> Fields<'a> {
    fn split(line: &'a [u8]) -> Result<Self, String> {
        let mut fields = [&[][..]; 3];
        let (mut count, mut separated) = (0, false);
        let mut rest = line;
        while !rest.is_empty() && (count == 0 || rest[0] != b'#') {
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
        // `{}` is how NetworkX writes an edge without data.
        let label = (count == 3 && label != b"{}").then_some(label);
        match count {
            2 | 3 => Ok(Fields { u, v, label, separated }),
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

/// What the edges carry: integers as long as all are, else reals.
#[derive(Debug)]
enum Labels {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
}

/// The edges so far, between nodes in the order of their appearance.
struct Edges {
    ids: HashMap<Box<[u8]>, u32>,
    ends: Vec<(u32, u32)>,
    labelled: Option<bool>,
    labels: Labels,
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
            labels: Labels::Integers(Vec::new()),
            directed: false,
            merged: Merged::default(),
            full: MERGED_AT,
        }
    }
}

impl Edges {
    fn add(&mut self, fields: &Fields) -> Result<(), String> {
        let labelled = *self.labelled.get_or_insert(fields.label.is_some());
        match fields.label {
            Some(label) if labelled => self.add_label(label)?,
            None if !labelled => {}
            Some(_) => return Err("a label, but the edges before have none".into()),
            None => return Err("no label, but the edges before have one".into()),
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
        let differ = |a: u32, b: u32| match &self.labels {
            Labels::Integers(list) => list.get(a as usize) != list.get(b as usize),
            Labels::Reals(list) => list.get(a as usize) != list.get(b as usize),
        };
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
        match &mut self.labels {
            Labels::Integers(list) if !list.is_empty() => *list = places().map(|i| list[i]).collect(),
            Labels::Reals(list) if !list.is_empty() => *list = places().map(|i| list[i]).collect(),
            _ => {}
        }
    }

    fn add_label(&mut self, label: &[u8]) -> Result<(), String> {
        if let (Labels::Integers(list), None) = (&self.labels, integer(label)) {
            self.labels = Labels::Reals(list.iter().map(|&x| x as f64).collect());
        }
        match &mut self.labels {
            Labels::Integers(list) => list.extend(integer(label)),
            Labels::Reals(list) => list.push(
                real(label).ok_or_else(|| format!("the label {} is not a finite number", show(label)))?,
            ),
        }
        Ok(())
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
    fn build(self) -> Result<(Graph, Merged), crate::GraphError> {
        let (nodes, number) = numbering(self.ids);
        let mut builder = GraphBuilder::new(nodes, self.directed);
        let labelled = self.labelled == Some(true);
        builder.edge_label_columns(usize::from(labelled && matches!(self.labels, Labels::Integers(_))));
        builder.edge_attribute_columns(usize::from(matches!(self.labels, Labels::Reals(_))));
        for (i, &(u, v)) in self.ends.iter().enumerate() {
            let (u, v) = (number[u as usize], number[v as usize]);
            match &self.labels {
                Labels::Integers(list) if labelled => builder.edge_with(u, v, &list[i..=i], &[]),
                Labels::Integers(_) => builder.edge(u, v),
                Labels::Reals(list) => builder.edge_with(u, v, &[], &list[i..=i]),
            };
        }
        let (graph, last) = builder.build_merging()?;
        let merged = Merged {
            duplicates: self.merged.duplicates + last.duplicates,
            conflicts: self.merged.conflicts + last.conflicts,
        };
        Ok((graph, merged))
    }
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
