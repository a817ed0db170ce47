//! The header line: its keys, which of them may be absent, and how those are found in the rest of the file.

use super::graph::GraphLine;
use super::items::{self, Classes, ItemSurvey, LearnableLine};
use super::labels::{Label, LabelTable, Labels, Seen};
use super::{VERSION, explain};
use crate::dataset::{Fold, Header, Item, LabelColumn, Provenance, Schema, Target, numbered};
use serde::{Deserialize, Serialize};

/// The header as it was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderLine {
    #[serde(rename = "ppgn")]
    _version: u64,
    name: Option<String>,
    pub(super) graphs: Option<usize>,
    directed: Option<bool>,
    pub(super) schema: Option<Schema>,
    classes: Option<Labels>,
    targets: Option<Vec<Target>>,
    nodes: Option<LearnableLine>,
    pairs: Option<LearnableLine>,
    #[serde(default)]
    folds: Vec<Fold>,
    provenance: Option<Provenance>,
}

impl HeaderLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            ppgn: u64,
        }
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err(format!("not a header such as {{\"ppgn\":{VERSION}}}"));
        }
        // The version first: a later one may have keys that this one does not know.
        let Version { ppgn } = serde_json::from_slice(line).map_err(|e| match e.is_eof() {
            true => explain(&e, line),
            false => format!("not a header such as {{\"ppgn\":{VERSION}}}: {}", explain(&e, line)),
        })?;
        if ppgn != VERSION {
            let hint = if ppgn > VERSION { ": a newer ppgn wrote the file" } else { "" };
            return Err(format!("version {ppgn} of the format, this ppgn reads version {VERSION}{hint}"));
        }
        let header: HeaderLine = serde_json::from_slice(line).map_err(|e| explain(&e, line))?;
        match (header.directed, &header.schema) {
            (Some(a), Some(schema)) if a != schema.directed => {
                Err("`directed` contradicts `schema`; a header with a schema needs only the latter".into())
            }
            _ => Ok(header),
        }
    }

    /// The header, with what it leaves out taken from a survey of the graphs.
    pub(super) fn complete(self, survey: Survey, stem: String, provenance: Provenance) -> Header {
        let graphs = self.graphs.unwrap_or(survey.graphs);
        let found = survey.into_header(self.directed.unwrap_or(false));
        let given = match self.classes {
            None => None,
            Some(Labels::Numbers(numbers)) => Some((numbers, Vec::new())),
            Some(Labels::Words(words)) => Some(((0..words.len() as i64).collect(), words)),
        };
        let items = |given: Option<LearnableLine>, found| given.map_or(found, LearnableLine::learnable);
        let (nodes, pairs) = (items(self.nodes, found.nodes), items(self.pairs, found.pairs));
        let (schema, known, targets) = match self.schema {
            Some(schema) => (schema, None, self.targets.unwrap_or_default()),
            None => (
                found.schema,
                found.classes.map(|classes| (classes, found.class_names)),
                self.targets.unwrap_or(found.targets),
            ),
        };
        let (classes, class_names) = given.or(known).unzip();
        let class_names = class_names.unwrap_or_default();
        Header {
            name: self.name.unwrap_or(stem),
            graphs,
            schema,
            classes,
            class_names,
            targets,
            nodes,
            pairs,
            folds: self.folds,
            provenance: self.provenance.unwrap_or(provenance),
        }
    }
}

/// What the graphs of a file imply for its header.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) graphs: usize,
    node_labels: Option<Vec<Seen>>,
    edge_labels: Option<Vec<Seen>>,
    node_attributes: Option<(usize, bool)>,
    edge_attributes: Option<usize>,
    classes: Seen,
    targets: Option<usize>,
    items: ItemSurvey,
}

impl Survey {
    /// Takes a graph into account. The first graph with nodes determines which features nodes have, the first with edges
    /// those of edges; one that differs is found when it is read.
    pub(super) fn see(&mut self, mut line: GraphLine) {
        note_labels(&mut self.node_labels, line.node_label_table());
        note_labels(&mut self.edge_labels, line.edge_label_table());
        self.node_attributes = self.node_attributes.or(line.node_attribute_columns());
        self.edge_attributes = self.edge_attributes.or(line.edge_attribute_columns());
        match &line.label {
            Some(Label::Number(label)) => _ = self.classes.numbers.insert(*label),
            Some(Label::Word(word)) if !self.classes.words.contains(word) => {
                self.classes.words.insert(word.clone());
            }
            _ => {}
        }
        self.targets = self.targets.or(line.targets.as_ref().map(Vec::len));
        line.take_items().note(&mut self.items);
    }

    fn into_header(self, directed: bool) -> Header {
        let (node_attributes, positions) = self.node_attributes.unwrap_or_default();
        let schema = Schema {
            directed,
            node_labels: columns(self.node_labels),
            node_attributes: numbered("attribute", node_attributes),
            edge_labels: columns(self.edge_labels),
            edge_attributes: numbered("attribute", self.edge_attributes.unwrap_or(0)),
            positions,
        };
        let targets = numbered("target", self.targets.unwrap_or(0));
        let classes = self.classes.column(String::new());
        let [nodes, pairs] = self.items.learnable();
        Header {
            nodes,
            pairs,
            schema,
            classes: (!classes.values().is_empty()).then(|| classes.values().to_vec()),
            class_names: classes.words().to_vec(),
            targets: targets.into_iter().map(|name| Target { name, unit: String::new() }).collect(),
            ..Header::default()
        }
    }
}

fn note_labels(known: &mut Option<Vec<Seen>>, table: Option<Option<&LabelTable>>) {
    let Some(table) = table else { return };
    let width = table.map_or(0, LabelTable::width);
    let sets = known.get_or_insert_with(|| vec![Seen::default(); width]);
    if let Some(table) = table.filter(|_| width == sets.len()) {
        sets.iter_mut().enumerate().for_each(|(c, seen)| table.note(c, seen));
    }
}

fn columns(sets: Option<Vec<Seen>>) -> Vec<LabelColumn> {
    let sets = sets.unwrap_or_default();
    let names = numbered("label", sets.len());
    names.into_iter().zip(sets).map(|(name, seen)| seen.column(name)).collect()
}

/// Contradictions in a header that its types do not exclude.
pub(super) fn defects(header: &Header) -> Vec<String> {
    let ascend = |values: &[i64]| values.is_sorted_by(|a, b| a < b);
    let mut found = Vec::new();
    if !header.classes.as_deref().is_none_or(ascend) {
        found.push("`classes` must ascend, each value once".to_string());
    }
    found.extend(header.check_class_names().err());
    let columns = header.schema.node_labels.iter().chain(&header.schema.edge_labels);
    found.extend(columns.filter_map(LabelColumn::defect));
    found.extend(header.check_folds().err());
    found
}

/// Repairs a header with defects, so that graphs can still be checked against it.
pub(super) fn repair(header: &mut Header) {
    if let Some(classes) = &mut header.classes {
        classes.sort_unstable();
        classes.dedup();
    }
    for item in [Item::Node, Item::Pair] {
        if header.learnable(item).defect(item).is_some() {
            let learnable = header.learnable_mut(item);
            learnable.class_names.clear();
            learnable.classes.iter_mut().for_each(|classes| {
                classes.sort_unstable();
                classes.dedup();
            });
        }
    }
    if header.check_class_names().is_err() {
        header.class_names.clear();
    }
    let columns = header.schema.node_labels.iter_mut().chain(&mut header.schema.edge_labels);
    for column in columns.filter(|column| column.defect().is_some()) {
        *column = match column.words().is_empty() {
            true => LabelColumn::new(column.name(), column.values().iter().copied()),
            false => LabelColumn::of_words(column.name(), column.words().iter().cloned()),
        };
    }
    if header.check_folds().is_err() {
        header.folds.clear();
    }
}

/// The line of a header, with its end.
pub(super) fn line(header: &Header) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        ppgn: u64,
        name: &'a str,
        graphs: usize,
        schema: &'a Schema,
        #[serde(skip_serializing_if = "Option::is_none")]
        classes: Option<Classes<'a>>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        targets: &'a [Target],
        #[serde(skip_serializing_if = "Option::is_none")]
        nodes: Option<items::Written<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pairs: Option<items::Written<'a>>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        folds: &'a [Fold],
        provenance: &'a Provenance,
    }
    let Header { name, graphs, schema, classes, class_names, targets, nodes, pairs, folds, provenance } =
        header;
    let classes = Classes::of(classes.as_deref(), class_names);
    let (nodes, pairs, graphs) = (items::written(nodes), items::written(pairs), *graphs);
    let line =
        Line { ppgn: VERSION, name, graphs, schema, classes, targets, nodes, pairs, folds, provenance };
    let mut bytes = serde_json::to_vec(&line).expect("plain data has a JSON form");
    bytes.push(b'\n');
    bytes
}
