//! Graphs that come one per file, or one after another with attributes of their own, made into a dataset: the last step
//! of the readers of edge lists, GraphML, GML and node-link JSON.

use super::attributes::{Columns, Features, Table};
use super::{Entry, Format, Report, Source, note_merged, provenance, refuse_defects};
use crate::dataset::Dataset;
use crate::error::{Defect, Result};
use crate::graph::{GraphBuilder, Merged};

/// A graph with attributes, as it was read.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) directed: bool,
    pub(super) nodes: usize,
    /// A row per node, or no rows at all.
    pub(super) node_table: Table,
    pub(super) edges: Vec<(u32, u32)>,
    /// A row per edge, or no rows at all.
    pub(super) edge_table: Table,
    /// Edges that were merged while reading.
    pub(super) merged: Merged,
    /// What the file calls it; where it says nothing, the file's name.
    pub(super) id: Option<String>,
    /// The file, for messages.
    pub(super) file: String,
}

/// Reads every entry by `read_one` and makes a dataset of all graphs, in the order of the entries.
pub(super) fn collect(
    source: &Source,
    entries: &[Entry],
    format: Format,
    report: &mut Report,
    mut read_one: impl FnMut(&Entry, &mut Report) -> Result<Vec<Raw>>,
) -> Result<Dataset> {
    let found = report.count();
    let mut meter = source.meter();
    let mut raws: Vec<Raw> = Vec::new();
    for entry in entries {
        let result = read_one(entry, report);
        let Some(graphs) = report.absorb(result)? else { continue };
        raws.extend(graphs.into_iter().map(|raw| named(raw, source, entry, entries.len())));
    }
    let (mut nodes, mut edges) = (Columns::default(), Columns::default());
    let directed = raws.first().is_some_and(|raw| raw.directed);
    for (i, raw) in raws.iter().enumerate() {
        let seen = nodes
            .see(&raw.node_table)
            .map_err(|m| format!("nodes: {m}"))
            .and_then(|()| edges.see(&raw.edge_table).map_err(|m| format!("edges: {m}")));
        let same =
            (raw.directed == directed).then_some(()).ok_or("directed and undirected graphs in one dataset");
        if let Err(message) = seen.and_then(|()| same.map_err(String::from)) {
            report.defect(Defect::new(raw.file.clone(), message).graph(i))?;
        }
    }
    refuse_defects(report, found)?;

    let (nodes, edges) = (nodes.features(), edges.features());
    let (mut graphs, mut ids, mut merged) = (Vec::new(), Vec::new(), Merged::default());
    for raw in raws {
        let file = raw.file.clone();
        ids.push(raw.id.clone());
        let (graph, again) = build(raw, &nodes, &edges).map_err(|e| Defect::new(file, e))?;
        merged.duplicates += again.duplicates;
        merged.conflicts += again.conflicts;
        meter.add(&graph)?;
        graphs.push(graph);
    }
    note_merged(merged, report);
    let name = match entries {
        [entry] => entry.stem().to_string(),
        _ => source.path().file_stem().map_or("graphs".into(), |name| name.to_string_lossy().into_owned()),
    };
    Dataset::builder(name)
        .graphs(graphs)
        .ids(ids)
        .schema(Features::schema(directed, &nodes, &edges))
        .provenance(provenance(source, format, report))
        .build()
}

/// Of several files, a graph is called by the name of its file.
fn named(raw: Raw, source: &Source, entry: &Entry, files: usize) -> Raw {
    let id = raw.id.or_else(|| (files > 1).then(|| entry.stem().to_string()));
    Raw { id, file: source.describe(entry), ..raw }
}

fn build(raw: Raw, nodes: &Features, edges: &Features) -> Result<(crate::Graph, Merged), String> {
    let mut builder = GraphBuilder::new(raw.nodes, raw.directed);
    let (labels, attributes) = nodes.rows(&raw.node_table);
    let (wide, deep) = nodes.widths();
    if raw.nodes * wide != labels.len() || raw.nodes * deep != attributes.len() {
        return Err("nodes without attributes, which the nodes of other graphs have".into());
    }
    builder.node_labels(wide, labels).node_attributes(deep, attributes);
    let (labels, attributes) = edges.rows(&raw.edge_table);
    let (wide, deep) = edges.widths();
    if raw.edges.len() * wide != labels.len() || raw.edges.len() * deep != attributes.len() {
        return Err("edges without attributes, which the edges of other graphs have".into());
    }
    builder.edge_label_columns(wide).edge_attribute_columns(deep);
    for (i, &(u, v)) in raw.edges.iter().enumerate() {
        match wide + deep {
            0 => builder.edge(u, v),
            _ => builder.edge_with(u, v, &labels[i * wide..][..wide], &attributes[i * deep..][..deep]),
        };
    }
    let (graph, last) = builder.build_merging().map_err(|e| e.to_string())?;
    let merged = Merged {
        duplicates: raw.merged.duplicates + last.duplicates,
        conflicts: raw.merged.conflicts + last.conflicts,
    };
    Ok((graph, merged))
}
