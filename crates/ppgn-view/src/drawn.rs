//! A graph as the page draws it: edges, places for the nodes, labels as texts and colours.

use crate::draw::layout;
use ppgn_graph::{Graph, LabelColumn, Schema};
use serde_json::{Value, json};

/// Larger graphs are not drawn: a picture of them says nothing.
pub(crate) const MOST_NODES: usize = 600;
/// Nor are those with more edges.
const MOST_EDGES: usize = 20_000;

/// The graph with places for its nodes; without places and edges where it is too large to be drawn.
pub(crate) fn drawing(graph: &Graph, schema: &Schema) -> Value {
    let n = graph.nodes();
    let small = n <= MOST_NODES && graph.edges() <= MOST_EDGES;
    let mut json = json!({
        "n": n,
        "m": graph.edges(),
        "directed": graph.is_directed(),
    });
    if !small {
        return json;
    }
    let apart = (0.8 / (n as f64).sqrt()).min(0.16);
    let places: Vec<[f64; 2]> =
        layout(graph, apart).iter().map(|p| p.map(|x| (x * 1e4).round() / 1e4)).collect();
    let bond = schema.edge_labels.iter().position(|column| column.name() == "bond");
    json["places"] = json!(places);
    json["edges"] = graph.edge_list().map(|(u, v, _)| json!([u, v])).collect();
    if let Some(bond) = bond {
        json["bonds"] = graph.edge_list().map(|(_, _, arc)| graph.edge_labels(arc)[bond]).collect();
    } else if let Some(column) = schema.edge_labels.first() {
        let kind = |arc: usize| column.number(graph.edge_labels(arc)[0]);
        json["edge_labels"] = graph.edge_list().map(|(_, _, arc)| json!(kind(arc))).collect();
    }
    if let Some(column) = schema.node_labels.first() {
        let label = |u: usize| graph.node_labels(u)[0];
        json["labels"] = (0..n).map(|u| json!(column.number(label(u)))).collect();
    }
    json
}

/// What the numbers of labels stand for: one text per label of the first column of nodes, and of edges.
pub(crate) fn legend(schema: &Schema) -> Value {
    let texts = |column: Option<&LabelColumn>| {
        column.map(|column| {
            let texts: Vec<String> = column.values().iter().map(|&raw| column.spelt(raw)).collect();
            json!({ "name": column.name(), "texts": texts })
        })
    };
    let bonds = schema.edge_labels.iter().any(|column| column.name() == "bond");
    json!({
        "nodes": texts(schema.node_labels.first()),
        "edges": texts(schema.edge_labels.first()),
        "molecules": bonds && schema.node_labels.first().is_some_and(|column| column.name() == "atom"),
    })
}
