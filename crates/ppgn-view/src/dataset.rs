//! A dataset: what `ppgn data info` counts, a line per graph to filter by, and single graphs to draw.

use crate::answer::Source;
use crate::drawn::{drawing, legend};
use crate::error::{Answer, Failure};
use crate::query::Query;
use ppgn_graph::format::Records;
use ppgn_graph::generate::generators;
use ppgn_graph::locate::Locator;
use ppgn_graph::summary::{Range, Summary};
use ppgn_graph::{Dataset, Graph, LabelColumn};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Graphs that are drawn at first: a page of them.
const FIRST: usize = 12;
/// Numbers about graphs in an answer.
const NUMBERS: usize = 300_000;

/// `data`: what can be looked at by name.
pub(crate) fn list(source: &Source) -> Value {
    let locator = Locator { data_dir: Some(source.place().data().to_path_buf()), ..Locator::default() };
    let found = locator.list();
    let found: Vec<Value> = found.iter().map(|one| json!({ "name": one.name, "bytes": one.bytes })).collect();
    let generators = generators().iter().map(|generator| {
        let parameters = generator.parameters.iter().map(|p| json!({ "name": p.name, "default": p.default, "about": p.about }));
        json!({ "name": generator.name, "about": generator.about, "parameters": parameters.collect::<Vec<_>>() })
    });
    json!({ "found": found, "generators": generators.collect::<Vec<_>>() })
}

/// `dataset?data=NAME`: what is in it, the first graphs, and for many graphs what they are filtered by.
pub(crate) fn answer(source: &Source, query: &Query) -> Answer<String> {
    let name = query.need("data")?;
    let page = source.datasets().page(name, |dataset| Ok(page(name, dataset)?.to_string()))?;
    Ok(page.to_string())
}

fn page(name: &str, dataset: &Dataset) -> Answer {
    let header = dataset.header();
    let summary = Summary::of(Records::of(dataset))?;
    let classes = header
        .classes
        .as_ref()
        .map(|classes| (0..classes.len()).map(|class| header.class_name(class)).collect::<Vec<_>>());
    let first = (0..dataset.len().min(FIRST)).into_par_iter().map(|index| one(dataset, index));
    let first = first.collect::<Answer<Vec<Value>>>()?;
    Ok(json!({
        "data": name,
        "name": dataset.name(),
        "source": header.provenance.format,
        "notes": header.provenance.notes,
        "task": dataset.task().name(),
        "directed": dataset.schema().directed,
        "classes": classes,
        "targets": header.targets.iter().map(|t| json!({ "name": t.name, "unit": t.unit })).collect::<Vec<_>>(),
        "folds": dataset.folds().len(),
        "legend": legend(dataset.schema()),
        "summary": counted(&summary),
        "first": first,
        "rows": columns(dataset, 0),
    }))
}

/// `dataset/rows?data=NAME&from=20000`: for the graphs from one on, their sizes, classes and which labels their nodes have.
pub(crate) fn rows(source: &Source, query: &Query) -> Answer {
    let dataset = get(source, query)?;
    Ok(columns(&dataset, query.number("from", 0)?))
}

/// `dataset/graph?data=NAME&graph=7`: a graph to draw.
pub(crate) fn graph(source: &Source, query: &Query) -> Answer {
    let dataset = get(source, query)?;
    let index = query.number("graph", 0)?;
    one(&dataset, index)
}

/// A graph of a dataset with its drawing, class and targets.
pub(crate) fn one(dataset: &Dataset, index: usize) -> Answer {
    if index >= dataset.len() {
        let n = dataset.len();
        return Err(Failure::missing(format!("there are {n} graphs, numbered from 0")));
    }
    let graph = dataset.graph(index);
    Ok(json!({
        "graph": index,
        "id": dataset.id(index),
        "class": dataset.class(index),
        "targets": dataset.targets(index),
        "drawing": drawing(graph, dataset.schema()),
    }))
}

fn get(source: &Source, query: &Query) -> Answer<Dataset> {
    source.datasets().get(query.need("data")?, &BTreeMap::new())
}

/// What graphs are filtered by, from one graph on, for as many as an answer has.
fn columns(dataset: &Dataset, from: usize) -> Value {
    let from = from.min(dataset.len());
    let column = dataset.schema().node_labels.first();
    let (mut nodes, mut edges, mut has) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = NUMBERS;
    for graph in &dataset.graphs()[from..] {
        let labels = column.map(|column| labels_of(graph, column));
        let Some(rest) = left.checked_sub(3 + labels.as_ref().map_or(0, Vec::len)) else { break };
        left = rest;
        nodes.push(graph.nodes());
        edges.push(graph.edges());
        has.extend(labels);
    }
    let classes =
        dataset.has_classes().then(|| dataset.classes().skip(from).take(nodes.len()).collect::<Vec<_>>());
    json!({ "from": from, "nodes": nodes, "edges": edges, "class": classes, "has": column.map(|_| has) })
}

/// The labels that occur in a graph, by their numbers.
fn labels_of(graph: &Graph, column: &LabelColumn) -> Vec<usize> {
    let mut all: Vec<usize> =
        (0..graph.nodes()).filter_map(|u| column.number(graph.node_labels(u)[0])).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn counted(s: &Summary) -> Value {
    let range = |r: &Range| json!({ "count": r.count, "min": r.min, "max": r.max, "mean": r.mean, "deviation": r.deviation() });
    json!({
        "graphs": s.graphs,
        "nodes": range(&s.nodes),
        "edges": range(&s.edges),
        "degrees": range(&s.degrees),
        "sizes": s.sizes.iter().collect::<Vec<_>>(),
        "self_loops": s.self_loops,
        "class_counts": s.class_counts,
        "unknown_classes": s.unknown_classes,
        "node_labels": s.node_labels.iter().map(|c| c.iter().collect::<Vec<_>>()).collect::<Vec<_>>(),
        "edge_labels": s.edge_labels.iter().map(|c| c.iter().collect::<Vec<_>>()).collect::<Vec<_>>(),
        "node_attributes": s.node_attributes.iter().map(range).collect::<Vec<_>>(),
        "targets": s.targets.iter().map(range).collect::<Vec<_>>(),
    })
}
