//! The text format of the paper's data (DGCNN's and GIN's too), with the folds that lie beside it.
//!
//! ```text
//! 2                 how many graphs
//! 3 -1              of each graph: how many nodes, its class
//! 0 2 1 2           of each node: its label, its degree, its neighbours (from 0)
//! 4 1 0
//! 4 1 0 0.5 1.5     ... and real attributes, if every node of the file has the same number of them
//! 1 1
//! 0 0
//! ```
//!
//! The lines are parsed as they stream by, from bytes straight into the rows of a graph, because COLLAB is 84 MB of
//! text in a zip of 4 MB and should load fast. A count in the file is trusted only once the lines that it announces have
//! been read.

mod folds;

use super::budget::Meter;
use super::lines::{Lines, integer, real, show, tokens};
use super::{Entry, Format, Report, Source, provenance, refuse_defects};
use crate::dataset::Dataset;
use crate::error::{Defect, Result};
use crate::graph::{Graph, GraphBuilder};
use std::io::BufRead;

pub(crate) fn read(source: &Source, entry: &Entry, report: &mut Report) -> Result<Dataset> {
    let found = report.count();
    let mut lines = source.lines(entry)?;
    let mut parts = Parts { max_nodes: source.limits().max_nodes, meter: source.meter(), ..Parts::default() };
    parts.read(&mut lines, report)?;
    let folds = folds::read(source, entry, parts.announced, report)?;
    refuse_defects(report, found)?;

    let graphs = parts.finish(report);
    Dataset::builder(entry.stem())
        .graphs(graphs)
        .labels(parts.classes)
        .folds(folds)
        .provenance(provenance(source, Format::Text, report))
        .build()
}

/// The graphs read so far. Labels of nodes are kept apart until it is known whether the column says anything.
#[derive(Default)]
struct Parts {
    max_nodes: u64,
    announced: usize,
    graphs: Vec<Graph>,
    classes: Vec<i64>,
    node_labels: Vec<i64>,
    attributes: Option<usize>,
    merged: usize,
    asymmetric: Option<(usize, u32, u32)>,
    rows: Rows,
    meter: Meter,
}

/// The rows of the graph that is being read; the space serves all graphs in turn.
#[derive(Default)]
struct Rows {
    offsets: Vec<u32>,
    targets: Vec<u32>,
    attributes: Vec<f64>,
}

impl Parts {
    fn read(&mut self, lines: &mut Lines<impl BufRead>, report: &mut Report) -> Result<()> {
        let Some(first) = lines.next_filled()? else {
            return report.defect(Defect::new(lines.file(), "empty: no graphs in it"));
        };
        let announced = match integer(first.trim_ascii_start()).map(u32::try_from) {
            Some(Ok(0)) => return report.defect(lines.defect("no graphs in it")),
            Some(Ok(count)) => count as usize,
            _ => {
                let message = format!("the first line must be the number of graphs, not {}", show(first));
                return report.defect(lines.defect(message));
            }
        };
        self.announced = announced;
        for g in 0..announced {
            if !self.read_graph(g, lines, report)? {
                return Ok(());
            }
        }
        if lines.next_filled()?.is_some() {
            let message =
                format!("the file continues after graph {}, the last of {announced}", announced - 1);
            report.defect(lines.defect(message))?;
        }
        Ok(())
    }

    /// Reads one graph; `false` if the file ended.
    fn read_graph(&mut self, g: usize, lines: &mut Lines<impl BufRead>, report: &mut Report) -> Result<bool> {
        let Some((nodes, class)) = self.read_head(g, lines, report)? else { return Ok(false) };
        let found = report.count();
        self.rows.clear();
        for u in 0..nodes {
            let Some(line) = lines.next_filled()? else {
                let message = format!("the file ends after {u} of {nodes} nodes");
                report.defect(lines.defect(message).graph(g))?;
                return Ok(false);
            };
            match self.rows.parse(line, nodes) {
                Ok((label, attributes)) if *self.attributes.get_or_insert(attributes) == attributes => {
                    self.node_labels.push(label);
                }
                Ok((_, attributes)) => {
                    let message = format!(
                        "{attributes} numbers after the neighbours, where rows before have {}; is the degree right?",
                        self.attributes.unwrap_or(0)
                    );
                    report.defect(lines.defect(message).graph(g))?;
                }
                Err(message) => report.defect(lines.defect(message).graph(g))?,
            }
        }
        if report.count() > found {
            return Ok(true);
        }
        let built = self.rows.build(self.attributes.unwrap_or(0));
        let built = built.map_err(|e| lines.defect(e.to_string()).graph(g).into());
        let Some((graph, merged)) = report.absorb(built)? else { return Ok(true) };
        self.meter.add(&graph)?;
        self.merged += merged;
        if self.asymmetric.is_none() {
            self.asymmetric = graph.asymmetry().map(|(u, v)| (g, u, v));
        }
        self.graphs.push(graph);
        self.classes.push(class);
        Ok(true)
    }

    /// The line `nodes class` of a graph. After one that is wrong, the next that could be one is taken.
    fn read_head(
        &self,
        g: usize,
        lines: &mut Lines<impl BufRead>,
        report: &mut Report,
    ) -> Result<Option<(u32, i64)>> {
        let mut reported = false;
        loop {
            let Some(line) = lines.next_filled()? else {
                if !reported {
                    let message = format!("the file ends after {g} of {} graphs", self.announced);
                    report.defect(lines.defect(message))?;
                }
                return Ok(None);
            };
            let message = match two_integers(line) {
                Some((nodes, class)) => match u32::try_from(nodes) {
                    Ok(nodes) if u64::from(nodes) <= self.max_nodes => return Ok(Some((nodes, class))),
                    Err(_) if nodes < 0 => format!("{nodes} nodes"),
                    _ => format!("{nodes} nodes, more than the {} that a graph may have", self.max_nodes),
                },
                None => format!("expected a line `nodes class`, found {}", show(line)),
            };
            if !reported {
                report.defect(lines.defect(message).graph(g))?;
                reported = true;
            }
        }
    }

    /// The graphs, all directed or all undirected, with their labels if the column is not constant.
    fn finish(&mut self, report: &mut Report) -> Vec<Graph> {
        let mut graphs = std::mem::take(&mut self.graphs);
        if self.merged > 0 {
            report.note(format!("{} neighbours were listed twice for one node and merged", self.merged));
        }
        match self.asymmetric {
            None => graphs = graphs.into_iter().map(|g| g.with_direction(false)).collect(),
            Some((g, u, v)) => report.note(format!(
                "directed: in graph {g} node {u} lists node {v} as a neighbour, but not the other way round"
            )),
        }
        // A graph without nodes does not show how many attributes its nodes would have.
        let attributes = self.attributes.unwrap_or(0);
        for graph in graphs.iter_mut().filter(|g| g.nodes() == 0) {
            graph.set_node_attributes(attributes, Vec::new());
        }
        self.attach_labels(&mut graphs, report);
        graphs
    }

    fn attach_labels(&self, graphs: &mut [Graph], report: &mut Report) {
        let Some(&label) = self.node_labels.first() else { return };
        if self.node_labels.iter().all(|&other| other == label) {
            report.note(format!("all node labels are {label}; they were left out"));
            return;
        }
        let mut rest = &self.node_labels[..];
        for graph in graphs {
            let (own, others) = rest.split_at(graph.nodes());
            graph.set_node_labels(own.to_vec());
            rest = others;
        }
    }
}

impl Rows {
    fn clear(&mut self) {
        self.offsets.clear();
        self.offsets.push(0);
        self.targets.clear();
        self.attributes.clear();
    }

    /// Adds the row `label degree neighbour... [attribute...]`; gives its label and how many attributes it has.
    fn parse(&mut self, line: &[u8], nodes: u32) -> Result<(i64, usize), String> {
        let (token, rest) = next_token(line);
        let label = integer(token).ok_or_else(|| format!("the label {} is not an integer", show(token)))?;
        let (token, rest) = next_token(rest);
        let degree = integer(token).and_then(|d| u32::try_from(d).ok());
        let degree = degree.ok_or_else(|| format!("the degree {} is not a count", show(token)))?;

        let start = self.targets.len();
        let rest = match plain_neighbours(rest, degree, nodes, &mut self.targets) {
            Some(rest) => rest,
            None => {
                self.targets.truncate(start);
                neighbours(rest, degree, nodes, &mut self.targets)?
            }
        };
        let end = u32::try_from(self.targets.len()).map_err(|_| "more edges than a graph can have")?;
        self.offsets.push(end);

        let before = self.attributes.len();
        for token in tokens(rest) {
            let value = real(token);
            let value =
                value.ok_or_else(|| format!("the attribute {} is not a finite number", show(token)))?;
            self.attributes.push(value);
        }
        Ok((label, self.attributes.len() - before))
    }

    /// The graph of these rows and how many neighbours were listed twice.
    fn build(&self, attributes: usize) -> Result<(Graph, usize), crate::GraphError> {
        // Copies of the right length: the rows of all graphs together are most of what a dataset holds.
        let (mut graph, merged) =
            GraphBuilder::from_rows(self.offsets.to_vec(), self.targets.to_vec(), Vec::new())?;
        if attributes > 0 {
            graph.set_node_attributes(attributes, self.attributes.to_vec());
        }
        Ok((graph, merged.duplicates))
    }
}

fn two_integers(line: &[u8]) -> Option<(i64, i64)> {
    let mut numbers = tokens(line).map(integer);
    let pair = (numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(pair)
}

/// The next token and what follows it.
fn next_token(bytes: &[u8]) -> (&[u8], &[u8]) {
    let bytes = bytes.trim_ascii_start();
    let end = bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len());
    bytes.split_at(end)
}

/// Takes `degree` neighbours off the front, if they are written in plain digits with blanks between, as nearly all
/// are: this loop is where the time of reading goes.
fn plain_neighbours<'a>(line: &'a [u8], degree: u32, nodes: u32, targets: &mut Vec<u32>) -> Option<&'a [u8]> {
    if degree == 0 {
        return Some(line);
    }
    let (mut left, mut value, mut digits) = (degree, 0u32, 0u32);
    for (i, &b) in line.iter().enumerate() {
        let digit = b.wrapping_sub(b'0');
        if digit <= 9 {
            // May wrap, but not within the nine digits that are accepted.
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
            digits += 1;
        } else if b != b' ' {
            return None;
        } else if digits > 0 {
            if digits > 9 || value >= nodes {
                return None;
            }
            targets.push(value);
            left -= 1;
            if left == 0 {
                return Some(&line[i..]);
            }
            (value, digits) = (0, 0);
        }
    }
    if left != 1 || digits == 0 || digits > 9 || value >= nodes {
        return None;
    }
    targets.push(value);
    Some(&[])
}

/// The same for any way of writing them, and with a reason if it fails.
#[cold]
fn neighbours<'a>(
    mut line: &'a [u8],
    degree: u32,
    nodes: u32,
    targets: &mut Vec<u32>,
) -> Result<&'a [u8], String> {
    for i in 0..degree {
        let (token, rest) = next_token(line);
        if token.is_empty() {
            return Err(format!("the degree is {degree}, but {i} neighbours follow"));
        }
        match integer(token) {
            Some(v) if (0..i64::from(nodes)).contains(&v) => targets.push(v as u32),
            Some(v) => {
                return Err(format!("neighbour {v} is out of range, the graph has {nodes} nodes (from 0)"));
            }
            None => return Err(format!("the neighbour {} is not the number of a node", show(token))),
        }
        line = rest;
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fast_way_and_the_careful_way_agree(line in "[0-9 ]{0,40}|[0-9 \t+x-]{0,30}", degree in 0..6u32) {
            let (mut fast, mut careful) = (Vec::new(), Vec::new());
            let plain = plain_neighbours(line.as_bytes(), degree, 1000, &mut fast);
            let result = neighbours(line.as_bytes(), degree, 1000, &mut careful);
            match plain {
                Some(rest) => prop_assert_eq!((Ok(rest), fast), (result, careful)),
                // Of plain digits and single blanks, it gives up only what is wrong.
                None if line.bytes().all(|b| b.is_ascii_digit() || b == b' ') && !line.contains("0000000") => {
                    prop_assert!(result.is_err());
                }
                None => {}
            }
        }
    }

    #[test]
    fn neighbours_end_where_attributes_begin() {
        let mut targets = Vec::new();
        assert_eq!(plain_neighbours(b" 1 22 0.5", 2, 30, &mut targets), Some(&b" 0.5"[..]));
        assert_eq!(plain_neighbours(b" 0.5", 0, 30, &mut targets), Some(&b" 0.5"[..]));
        assert_eq!(targets, [1, 22]);
        assert_eq!(plain_neighbours(b" 1.5", 1, 30, &mut targets), None);
        assert_eq!(plain_neighbours(b" 30", 1, 30, &mut targets), None);
        assert_eq!(plain_neighbours(b" 4294967297", 1, 30, &mut targets), None);
    }
}
