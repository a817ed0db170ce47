//! The TU Dortmund format: a dataset is a set of text files `NAME_A.txt`, `NAME_graph_indicator.txt`, ...
//!
//! | file | a line | there is one for |
//! | --- | --- | --- |
//! | `_A` | `u, v`, nodes numbered from 1 through all graphs | every arc |
//! | `_graph_indicator` | the number of its graph, from 1 | every node |
//! | `_graph_labels` | its class, an integer | every graph (optional) |
//! | `_graph_attributes` | its targets, real numbers | every graph (optional) |
//! | `_node_labels`, `_edge_labels` | integers | every node, arc (optional) |
//! | `_node_attributes`, `_edge_attributes` | real numbers | every node, arc (optional) |
//!
//! Numbers on a line have commas between them, blanks or both. Columns are called `label0`, `attribute0` and so on,
//! because the files have no names for them. The nodes of a graph need not stand together; within their graph they
//! are numbered in the order of the file. A graph that no node belongs to is a graph without nodes, if
//! `_graph_labels` or `_graph_attributes` has a line for it. The dataset is undirected if every arc has an equal
//! arc in the other direction, else directed.
//!
//! # Where PyTorch Geometric differs
//!
//! `read_tu_data` of PyTorch Geometric 2 reads the same files, and the numbers of nodes, edges and classes agree
//! but for this:
//! - it removes self-loops; here they are kept;
//! - both merge arcs that are given twice, but it adds up their features, and here the first stands;
//! - it makes labels one-hot from the smallest to the largest value, so a gap is a channel that is always 0; here a
//!   label's number is its rank among the values that occur, and raw values are kept beside it;
//! - where there are both `_graph_attributes` and `_graph_labels` it takes the attributes; here a dataset holds both;
//! - it takes the nodes of a graph to stand together, in the order of the graphs, and does not notice edges between
//!   graphs, files of different length, or numbers out of range; here these are defects, with their line;
//! - it makes real numbers single precision, here they are double.

mod files;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use super::{Entry, Source};

const ARCS: &str = "_A.txt";
const GRAPH_INDICATOR: &str = "_graph_indicator.txt";
const GRAPH_LABELS: &str = "_graph_labels.txt";
const GRAPH_ATTRIBUTES: &str = "_graph_attributes.txt";
const NODE_LABELS: &str = "_node_labels.txt";
const NODE_ATTRIBUTES: &str = "_node_attributes.txt";
const EDGE_LABELS: &str = "_edge_labels.txt";
const EDGE_ATTRIBUTES: &str = "_edge_attributes.txt";

/// NAME, if the entry is called as a file of a TU dataset is.
pub(crate) fn prefix(entry: &Entry) -> Option<&str> {
    [
        ARCS,
        GRAPH_INDICATOR,
        GRAPH_LABELS,
        GRAPH_ATTRIBUTES,
        NODE_LABELS,
        NODE_ATTRIBUTES,
        EDGE_LABELS,
        EDGE_ATTRIBUTES,
    ]
    .into_iter()
    .find_map(|suffix| entry.file_name().strip_suffix(suffix))
    .filter(|name| !name.is_empty())
}

/// Whether the entry is a file of a TU dataset: its name says so, and so does one of the two files that none lacks.
pub(crate) fn is_part(source: &Source, entry: &Entry) -> bool {
    prefix(entry).is_some_and(|name| {
        [ARCS, GRAPH_INDICATOR]
            .iter()
            .any(|suffix| source.beside(entry, &format!("{name}{suffix}")).is_some())
    })
}
