//! Labels that are words, in the numbering of another dataset. The raw values 0, 1, ... of words are ranks among the words
//! of one dataset: `C` may be 0 here and 1 there. A network that was trained there must see them as there.

use super::{Dataset, Header, LabelColumn, Record, Schema};
use crate::error::{Error, Result};
use std::collections::HashMap;

impl Dataset {
    /// The dataset with its labels that are words numbered as in `schema`, whose columns of words then are its own. A word
    /// that `schema` does not list, or words on one side and integers on the other, is an error.
    ///
    /// ```
    /// use ppgn_graph::{Dataset, GraphBuilder, LabelColumn, Schema};
    /// let mut b = GraphBuilder::undirected(1);
    /// b.node_labels(1, vec![0]);
    /// let atoms = |words: &[&str]| Schema {
    ///     node_labels: vec![LabelColumn::of_words("atom", words.iter().map(|w| w.to_string()))],
    ///     ..Schema::default()
    /// };
    /// let d = Dataset::builder("d").graphs(vec![b.build()?]).schema(atoms(&["O"])).build()?;
    /// assert_eq!(d.aligned(&atoms(&["C", "N", "O"]))?.graph(0).node_labels(0), [2]);
    /// assert!(d.aligned(&atoms(&["C", "N"])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aligned(&self, schema: &Schema) -> Result<Dataset> {
        let own = self.schema();
        let nodes = changes("node", &own.node_labels, &schema.node_labels)?;
        let edges = changes("edge", &own.edge_labels, &schema.edge_labels)?;
        if nodes.iter().chain(&edges).all(Option::is_none) {
            return Ok(self.clone());
        }
        let columns = |own: &[LabelColumn], other: &[LabelColumn], changes: &[Option<Vec<i64>>]| {
            let chosen = own.iter().zip(other).zip(changes);
            chosen.map(|((a, b), change)| if change.is_some() { b.clone() } else { a.clone() }).collect()
        };
        let schema = Schema {
            node_labels: columns(&own.node_labels, &schema.node_labels, &nodes),
            edge_labels: columns(&own.edge_labels, &schema.edge_labels, &edges),
            ..own.clone()
        };
        let header = Header { schema, ..self.header().clone() };
        let map = |changes: &[Option<Vec<i64>>], column: usize, raw: i64| match &changes[column] {
            Some(new) => new[raw as usize],
            None => raw,
        };
        let records = self.records().map(|record| {
            let graph = record.graph.relabelled(|c, raw| map(&nodes, c, raw), |c, raw| map(&edges, c, raw));
            Ok(Record { graph, ..record })
        });
        Dataset::collect(header, records)
    }
}

/// The new value of every word, for the columns whose words are numbered otherwise.
fn changes(of: &str, own: &[LabelColumn], other: &[LabelColumn]) -> Result<Vec<Option<Vec<i64>>>> {
    // Another number of columns is found, with a better message, where graphs are checked against the schema.
    if own.len() != other.len() {
        return Ok(vec![None; own.len()]);
    }
    let change = |(a, b): (&LabelColumn, &LabelColumn)| {
        if a.words() == b.words() || a.values().is_empty() {
            return Ok(None);
        }
        let name = b.name();
        if a.words().is_empty() || b.words().is_empty() {
            let (here, there) =
                if a.words().is_empty() { ("integers", "words") } else { ("words", "integers") };
            return Err(Error::unfit(format!("the {of} labels `{name}` are {here}, not {there}")));
        }
        let known: HashMap<&str, i64> =
            b.words().iter().map(String::as_str).zip(b.values().iter().copied()).collect();
        let new = |word: &String| {
            known.get(word.as_str()).copied().ok_or_else(|| {
                Error::unfit(format!("the {of} label `{word}` is not among those of column `{name}`"))
            })
        };
        a.words().iter().map(new).collect::<Result<Vec<i64>>>().map(Some)
    };
    own.iter().zip(other).map(change).collect()
}
