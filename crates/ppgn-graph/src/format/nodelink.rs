//! Node-link JSON, as `networkx.node_link_data` and D3 have it: one object with `nodes` and `edges` (or `links`), each a
//! list of objects, and `directed`.

use super::attributes::Value;
use super::collect::Raw;
use super::lines::show;
use super::nodes::Nodes;
use super::{Entry, Report, Source};
use crate::error::{Defect, Result};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
    nodes: Vec<Map<String, Json>>,
    #[serde(alias = "links")]
    edges: Vec<Map<String, Json>>,
}

/// The graph of a file; a list of such objects is as many graphs.
pub(super) fn read(source: &Source, entry: &Entry, _report: &mut Report) -> Result<Vec<Raw>> {
    let text = source.text(entry)?;
    let max_nodes = source.limits().max_nodes;
    parse(&text, max_nodes).map_err(|(line, message)| {
        let defect = Defect::new(source.describe(entry), message);
        line.map_or(defect.clone(), |line| defect.line(line)).into()
    })
}

fn parse(text: &str, max_nodes: u64) -> Result<Vec<Raw>, (Option<u64>, String)> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let explain = |e: serde_json::Error| {
        let message = e.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(m, _)| m);
        let what = "not node-link JSON, an object with `nodes` and `edges` (or `links`)";
        (Some(e.line() as u64), format!("{what}: {}", message.chars().take(200).collect::<String>()))
    };
    let documents: Vec<Document> = match text.starts_with('[') {
        true => serde_json::from_str(text).map_err(explain)?,
        false => vec![serde_json::from_str(text).map_err(explain)?],
    };
    if documents.is_empty() {
        return Err((None, "no graph in it".into()));
    }
    documents.into_iter().map(|document| graph(document, max_nodes).map_err(|m| (None, m))).collect()
}

fn graph(document: Document, max_nodes: u64) -> Result<Raw, String> {
    let mut raw = Raw { directed: document.directed, ..Raw::default() };
    let mut nodes = Nodes::new(max_nodes);
    for (i, mut node) in document.nodes.into_iter().enumerate() {
        let id = node.remove("id").ok_or_else(|| format!("node {i}, counted from 0, has no `id`"))?;
        let id = name(&id)?;
        nodes.add(&id)?;
        let row = row(node).and_then(|row| raw.node_table.add(row));
        row.map_err(|m| format!("node {}: {m}", show(id.as_bytes())))?;
    }
    for (i, mut edge) in document.edges.into_iter().enumerate() {
        let mut end = |key: &str| {
            let end = edge.remove(key).ok_or_else(|| format!("edge {i}, counted from 0, has no `{key}`"))?;
            nodes.find(&name(&end)?)
        };
        let ends = (end("source")?, end("target")?);
        // The number of a parallel edge.
        edge.remove("key");
        raw.edges.push(ends);
        let row = row(edge).and_then(|row| raw.edge_table.add(row));
        row.map_err(|m| format!("edge {i}, counted from 0: {m}"))?;
    }
    raw.nodes = nodes.len();
    Ok(raw)
}

/// A node's name: any JSON value that is not a structure; 1 and "1" are two names.
fn name(value: &Json) -> Result<String, String> {
    match value {
        Json::Array(_) | Json::Object(_) => Err(format!("{} as a node's name", short(value))),
        other => Ok(other.to_string()),
    }
}

fn row(entries: Map<String, Json>) -> Result<Vec<(String, Value)>, String> {
    let value = |key: &str, value: Json| match value {
        Json::Bool(x) => Ok(Value::Integer(x.into())),
        Json::String(word) => Ok(Value::Word(word)),
        Json::Number(x) => match (x.as_i64(), x.as_f64()) {
            (Some(x), _) => Ok(Value::Integer(x)),
            (None, Some(x)) => Ok(Value::Real(x)),
            (None, None) => Err(format!("the attribute `{key}` is not a number that can be used")),
        },
        other => Err(format!("the attribute `{key}` is {}, neither a number nor a string", short(&other))),
    };
    entries.into_iter().map(|(key, v)| value(&key, v).map(|v| (key, v))).collect()
}

fn short(value: &Json) -> String {
    match value {
        Json::Null => "null".into(),
        Json::Array(_) => "a list".into(),
        Json::Object(_) => "an object".into(),
        other => other.to_string(),
    }
}
