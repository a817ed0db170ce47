//! Single lines, for callers that hold a string instead of a file.

use super::super::budget::Claims;
use super::super::lines::show;
use super::super::source::Limits;
use super::decode::{claimed, decode};
use super::encode::encode;
use crate::error::{Error, Result};
use crate::graph::Graph;

/// The graph of one line of graph6, sparse6 or digraph6, under the default [`Limits`]. O(length + m).
///
/// ```
/// use ppgn_graph::format::graph6;
/// let square = graph6::parse("Cl")?;
/// assert_eq!((square.nodes(), square.edges(), graph6::line(&square)?), (4, 4, "Cl".to_string()));
/// assert!(graph6::parse("C~~").is_err());
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn parse(line: &str) -> Result<Graph> {
    let (line, limits) = (line.trim_end_matches(['\r', '\n']).as_bytes(), Limits::default());
    let claimed = Claims::new(limits).add(claimed(line, None, limits.max_nodes), line.len());
    let decoded = claimed.and_then(|()| decode(line, None, limits.max_nodes));
    Ok(decoded.map_err(|message| Error::unfit(format!("{message}: {}", show(line))))?.graph)
}

/// The line of a graph without its labels, attributes and positions: digraph6 for a directed graph, graph6 for a simple
/// one, sparse6 for one with loops or too large for graph6.
pub fn line(graph: &Graph) -> Result<String> {
    let mut line = Vec::new();
    encode(graph, &mut line).map_err(Error::unfit)?;
    Ok(line.into_iter().map(char::from).collect())
}
