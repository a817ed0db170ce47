//! Between files of graph6 lines and streams of records.
//!
//! A reader needs to know how many graphs there are, and whether any of them is directed, before the first one: a
//! first pass looks at the lines without decoding them.

use super::super::budget::Claims;
use super::super::lines::{Lines, show};
use super::super::stream::{Tally, records, write_lines};
use super::super::{Entry, Format, Records, Report, Source, WriteOptions, Written};
use super::decode::{claimed, decode};
use super::encode::encode;
use crate::dataset::{Header, Provenance, Record, Schema};
use crate::error::{Defect, Error, Result};
use crate::graph::Graph;
use std::io::BufRead;
use std::path::Path;

/// The graphs of a file, one at a time.
///
/// Directed and undirected lines may be mixed: one directed graph makes the dataset directed, and an undirected edge
/// is then an edge in both directions.
pub(crate) fn stream<'a>(source: Source, entry: Entry, report: &'a mut Report) -> Result<Records<'a>> {
    let mut header = Header {
        name: entry.stem().into(),
        provenance: Provenance {
            source: source.describe(&entry),
            format: Format::Graph6.name().into(),
            notes: Vec::new(),
        },
        ..Header::default()
    };
    let mut lines = source.afresh().lines(&entry)?;
    let mut incremental = false;
    while let Some(line) = lines.next()? {
        let line = without_header(line);
        header.graphs += usize::from(!line.is_empty());
        header.schema.directed |= line.starts_with(b"&");
        incremental |= line.starts_with(b";");
    }
    if header.graphs == 0 {
        return Err(Defect::new(source.describe(&entry), "no graphs in it").into());
    }
    let mut reader = Reader {
        lines: source.lines(&entry)?,
        report,
        max_nodes: source.limits().max_nodes,
        claims: Claims::new(source.limits()),
        directed: header.schema.directed,
        graphs: header.graphs,
        index: 0,
        incremental,
        previous: None,
        repeated: Tally::default(),
        stray_bits: Tally::default(),
    };
    Ok(Records { header, records: records(move || reader.step()) })
}

/// A line without the header that a file may begin with, on a line of its own or not, and files that were joined may
/// have in the middle.
fn without_header(line: &[u8]) -> &[u8] {
    let headers = [&b">>graph6<<"[..], b">>sparse6<<", b">>digraph6<<"];
    headers.into_iter().find_map(|h| line.strip_prefix(h)).unwrap_or(line)
}

struct Reader<'a, R> {
    lines: Lines<R>,
    report: &'a mut Report,
    max_nodes: u64,
    claims: Claims,
    directed: bool,
    graphs: usize,
    /// The number of the next graph.
    index: usize,
    /// Whether there are lines that change the graph before them.
    incremental: bool,
    /// Where there are, the graph of the line before, as that line has it.
    previous: Option<Graph>,
    repeated: Tally,
    stray_bits: Tally,
}

impl<R: BufRead> Reader<'_, R> {
    fn step(&mut self) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next()? {
            let line = without_header(line);
            if line.is_empty() {
                continue;
            }
            let index = self.index;
            self.index += 1;
            let claimed = claimed(line, self.previous.as_ref(), self.max_nodes);
            let decoded = self.claims.add(claimed, line.len());
            match decoded.and_then(|()| decode(line, self.previous.as_ref(), self.max_nodes)) {
                Ok(decoded) => {
                    let number = self.lines.number();
                    self.repeated.add(decoded.repeated, number);
                    self.stray_bits.add(usize::from(decoded.stray_bits), number);
                    self.previous = self.incremental.then(|| decoded.graph.clone());
                    let graph = decoded.graph;
                    let turn = self.directed && !graph.is_directed();
                    return Ok(Some(Record::from(if turn { graph.to_directed() } else { graph })));
                }
                Err(message) => {
                    let message = format!("{message}: {}", show(line));
                    let defect = self.lines.defect(message).graph(index);
                    self.previous = None;
                    self.report.defect(defect)?;
                }
            }
        }
        self.finish().map(|()| None)
    }

    fn finish(&mut self) -> Result<()> {
        if self.index != self.graphs {
            return Err(self.lines.defect("the file changed while it was read").into());
        }
        let file = self.lines.file();
        if let Some(note) = self.repeated.merged_edges(file) {
            self.report.note(note);
        }
        if let Tally { graphs: graphs @ 1.., first, .. } = self.stray_bits {
            self.report.note(format!(
                "{file}: bits after the end of the matrix are set in {graphs} graphs and ignored, the first in line {first}"
            ));
        }
        Ok(())
    }
}

/// Writes a stream, one line per graph: digraph6 where the dataset is directed, else graph6, and sparse6 for the graphs
/// that graph6 cannot hold.
pub(crate) fn write(records: Records<'_>, out: &Path, options: WriteOptions) -> Result<Written> {
    let mut stream = records.records.peekable();
    let mut dropped = beyond_graph6(&records.header);
    if matches!(stream.peek(), Some(Ok(Record { id: Some(_), .. }))) {
        dropped.push("ids".into());
    }
    if !dropped.is_empty() && !options.lossy {
        return Err(Error::Lossy { format: "graph6", losses: dropped });
    }
    let Header { graphs, schema: Schema { directed, .. }, .. } = records.header;
    write_lines(graphs, stream, out, b"", |record, line| {
        if record.graph.is_directed() != directed {
            let word = |directed| if directed { "directed" } else { "undirected" };
            return Err(format!("{}, but the dataset is {}", word(!directed), word(directed)));
        }
        if record.id.is_some() && !options.lossy {
            return Err("it has an id, which graph6 cannot hold".into());
        }
        encode(&record.graph, line)
    })?;
    Ok(Written { format: Format::Graph6, graphs, dropped })
}

/// What a dataset has that graph6 has no place for.
fn beyond_graph6(header: &Header) -> Vec<String> {
    let Schema { directed: _, node_labels, node_attributes, edge_labels, edge_attributes, positions } =
        &header.schema;
    [
        ("node labels", !node_labels.is_empty()),
        ("node attributes", !node_attributes.is_empty()),
        ("edge labels", !edge_labels.is_empty()),
        ("edge attributes", !edge_attributes.is_empty()),
        ("positions", *positions),
        ("classes", header.classes.is_some()),
        ("targets", !header.targets.is_empty()),
        ("classes or targets of nodes", !header.nodes.is_empty()),
        ("classes or targets of pairs", !header.pairs.is_empty()),
        ("folds", !header.folds.is_empty()),
    ]
    .into_iter()
    .filter(|&(_, present)| present)
    .map(|(name, _)| name.to_string())
    .collect()
}
