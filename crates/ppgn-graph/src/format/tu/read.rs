//! Reads a TU dataset. All files are read and checked line by line first, so that every defect has its line; only
//! then are nodes and arcs assigned to their graphs.

use super::files::{Files, Rows, attribute, cells, class, label, ordinal};
use super::{
    ARCS, EDGE_ATTRIBUTES, EDGE_LABELS, GRAPH_ATTRIBUTES, GRAPH_INDICATOR, GRAPH_LABELS, NODE_ATTRIBUTES,
    NODE_LABELS,
};
use crate::dataset::{Dataset, Target};
use crate::error::{Defect, Error, Result};
use crate::format::budget::Meter;
use crate::format::lines::{integer, show};
use crate::format::{Entry, Format, Report, Source, note_merged, provenance, refuse_defects};
use crate::graph::{Graph, GraphBuilder, Merged};

pub(crate) fn read(source: &Source, entry: &Entry, report: &mut Report) -> Result<Dataset> {
    let Some(name) = super::prefix(entry) else {
        return Err(Error::call(format!(
            "{}: not a file of the TU format; their names end in _A.txt, _graph_indicator.txt, _graph_labels.txt ...",
            source.describe(entry)
        )));
    };
    let found = report.count();
    let files = Files { source, entry, name };
    let raw = Raw::read(&files, report)?;
    refuse_defects(report, found)?;

    let graphs = raw.build(source.meter(), report)?;
    let names = |i| Target { name: format!("attribute{i}"), unit: String::new() };
    let targets = (0..raw.graph_attributes.width).map(names).collect();
    let builder = Dataset::builder(name)
        .graphs(graphs)
        .targets(targets, raw.graph_attributes.values)
        .provenance(provenance(source, Format::Tu, report));
    match raw.graph_labels {
        Some(labels) => builder.labels(labels.values).build(),
        None => builder.build(),
    }
}

/// Arcs are merged whenever this many, or twice the number of different ones, have been read.
const MERGED_AT: usize = 1 << 20;

/// The contents of the files, checked, but not yet assigned to graphs.
struct Raw {
    graphs: usize,
    graph_labels: Option<Rows<i64>>,
    graph_attributes: Rows<f64>,
    /// The graph of every node.
    graph_of: Vec<u32>,
    node_labels: Rows<i64>,
    node_attributes: Rows<f64>,
    /// The two nodes of every arc, numbered through all graphs.
    arcs: Vec<(u32, u32)>,
    /// Arcs that were given again and merged while reading.
    repeated: usize,
    edge_labels: Rows<i64>,
    edge_attributes: Rows<f64>,
}

impl Raw {
    fn read(files: &Files, report: &mut Report) -> Result<Self> {
        let graph_labels = files.rows(GRAPH_LABELS, class, report)?;
        if let Some(labels) = &graph_labels
            && labels.width > 1
        {
            let message = format!("{} columns, but a graph has one class", labels.width);
            report.defect(Defect::new(files.describe(GRAPH_LABELS), message))?;
        }
        let graph_attributes = files.rows(GRAPH_ATTRIBUTES, attribute, report)?;
        let mut known = graph_labels.as_ref().map(|labels| labels.count);
        if let Some(attributes) = &graph_attributes {
            let wanted = *known.get_or_insert(attributes.count);
            files.compare(GRAPH_ATTRIBUTES, attributes.count, (wanted, "classes"), report)?;
        }
        let (graphs, graph_of) = read_indicator(files, known, report)?;
        let nodes = (graph_of.len(), "nodes");
        let node_labels = files.table(NODE_LABELS, label, nodes, report)?;
        let node_attributes = files.table(NODE_ATTRIBUTES, attribute, nodes, report)?;
        let featured = files.find(EDGE_LABELS).is_some() || files.find(EDGE_ATTRIBUTES).is_some();
        let (lines, arcs) = read_arcs(files, &graph_of, featured, report)?;
        let repeated = if featured { 0 } else { lines.saturating_sub(arcs.len()) };
        let edges = (lines, "edges");
        Ok(Raw {
            graphs,
            graph_labels,
            graph_attributes: graph_attributes.unwrap_or_default(),
            graph_of,
            node_labels,
            node_attributes,
            arcs,
            repeated,
            edge_labels: files.table(EDGE_LABELS, label, edges, report)?,
            edge_attributes: files.table(EDGE_ATTRIBUTES, attribute, edges, report)?,
        })
    }

    fn build(&self, mut meter: Meter, report: &mut Report) -> Result<Vec<Graph>> {
        let (node_starts, nodes) = grouped(self.graphs, self.graph_of.iter().copied());
        let (arc_starts, arcs) =
            grouped(self.graphs, self.arcs.iter().map(|&(u, _)| self.graph_of[u as usize]));
        // A node's number within its graph is its place among the graph's nodes.
        let mut number = vec![0u32; nodes.len()];
        for range in node_starts.windows(2) {
            for (i, &node) in nodes[range[0] as usize..range[1] as usize].iter().enumerate() {
                number[node as usize] = i as u32;
            }
        }
        let mut merged = Merged { duplicates: self.repeated, conflicts: 0 };
        let mut graphs = Vec::with_capacity(self.graphs);
        let range = |starts: &[u32], g: usize| starts[g] as usize..starts[g + 1] as usize;
        for g in 0..self.graphs {
            let own = (&nodes[range(&node_starts, g)], &arcs[range(&arc_starts, g)]);
            let (graph, found) = self.build_graph(own.0, own.1, &number)?;
            merged.duplicates += found.duplicates;
            merged.conflicts += found.conflicts;
            meter.add(&graph)?;
            graphs.push(graph);
        }
        note_merged(merged, report);
        let asymmetry = graphs.iter().enumerate().find_map(|(g, graph)| Some((g, graph.asymmetry()?)));
        match asymmetry {
            None => graphs = graphs.into_iter().map(|g| g.with_direction(false)).collect(),
            Some((g, (u, v))) => {
                report.note(format!("directed: graph {g} has the edge {u} {v} and no equal edge {v} {u}"));
            }
        }
        Ok(graphs)
    }

    fn build_graph(&self, nodes: &[u32], arcs: &[u32], number: &[u32]) -> Result<(Graph, Merged)> {
        let mut builder = GraphBuilder::directed(nodes.len());
        builder.edge_label_columns(self.edge_labels.width).edge_attribute_columns(self.edge_attributes.width);
        for &a in arcs {
            let (u, v) = self.arcs[a as usize];
            let a = a as usize;
            let (u, v) = (number[u as usize], number[v as usize]);
            builder.edge_with(u, v, self.edge_labels.row(a), self.edge_attributes.row(a));
        }
        let labels = nodes.iter().flat_map(|&u| self.node_labels.row(u as usize)).copied();
        let attributes = nodes.iter().flat_map(|&u| self.node_attributes.row(u as usize)).copied();
        builder.node_labels(self.node_labels.width, labels.collect());
        builder.node_attributes(self.node_attributes.width, attributes.collect());
        Ok(builder.build_merging()?)
    }
}

/// The number of graphs and the graph of every node. `known` is the number of graphs where other files determine it.
fn read_indicator(files: &Files, known: Option<usize>, report: &mut Report) -> Result<(usize, Vec<u32>)> {
    let mut graph_of: Vec<u32> = Vec::new();
    let Some(file) = files.need(GRAPH_INDICATOR, report)? else { return Ok((known.unwrap_or(0), graph_of)) };
    let found = report.count();
    let mut lines = files.source.lines(&file)?;
    let limit = files.source.limits().max_nodes;
    let mut run = (u32::MAX, 0u64);
    while let Some(line) = lines.next_filled()? {
        let message = match ordinal(line.trim_ascii_start()) {
            Some(g) if known.is_none_or(|graphs| (g as usize) < graphs) => {
                run = (g, if g == run.0 { run.1 + 1 } else { 1 });
                if run.1 > limit {
                    let message = format!("more nodes than the limit of {limit} per graph");
                    return Err(lines.defect(message).graph(g as usize).into());
                }
                graph_of.push(g);
                continue;
            }
            Some(g) => {
                format!("graph number {} is out of range, 1 to {}", u64::from(g) + 1, known.unwrap_or(0))
            }
            None => format!("{} is not the number of a graph, counted from 1", show(line)),
        };
        // Nodes are counted on, so that one bad line here is not a defect of every other file.
        graph_of.push(0);
        report.defect(lines.defect(message))?;
    }
    let graphs = match known {
        Some(graphs) => graphs,
        None => count_graphs(&graph_of).or_else(|missing| {
            let message = format!(
                "no node belongs to graph number {missing}, though some belong to later ones; a graph without \
                 nodes needs a line in {}{GRAPH_LABELS} or {GRAPH_ATTRIBUTES}",
                files.name
            );
            // After a defect above, this may be its consequence.
            if report.count() == found {
                report.defect(Defect::new(lines.file(), message))?;
            }
            Ok::<_, Error>(0)
        })?,
    };
    if graphs == 0 && report.count() == found {
        report.defect(Defect::new(lines.file(), "no graphs in it"))?;
    }
    check_sizes(files, graphs, &graph_of, lines.file(), report)?;
    Ok((graphs, graph_of))
}

/// How many graphs the nodes belong to; if there are gaps, the number (from 1) of the first that has no node.
fn count_graphs(graph_of: &[u32]) -> Result<usize, usize> {
    // Without gaps there are no more graphs than nodes, so a number beyond that is not needed to find a gap.
    let mut seen = vec![false; graph_of.len()];
    let mut graphs = 0;
    for &g in graph_of {
        graphs = graphs.max(g as usize + 1);
        if let Some(slot) = seen.get_mut(g as usize) {
            *slot = true;
        }
    }
    match seen.iter().take(graphs).position(|&there| !there) {
        Some(gap) => Err(gap + 1),
        None if graphs > seen.len() => Err(seen.len() + 1),
        None => Ok(graphs),
    }
}

/// Limits what later stages number with 32 bits or hold at once.
fn check_sizes(
    files: &Files,
    graphs: usize,
    graph_of: &[u32],
    file: &str,
    report: &mut Report,
) -> Result<()> {
    if graph_of.len() >= u32::MAX as usize || graphs >= u32::MAX as usize {
        return Err(Error::unfit(format!("{file}: more nodes or graphs than ppgn can number")));
    }
    let limit = files.source.limits().max_nodes;
    let mut sizes = vec![0u64; graphs];
    for &g in graph_of {
        if let Some(size) = sizes.get_mut(g as usize) {
            *size += 1;
        }
    }
    match sizes.iter().position(|&size| size > limit) {
        Some(g) => {
            let message = format!("{} nodes, more than the {limit} that a graph may have", sizes[g]);
            report.defect(Defect::new(file, message).graph(g))
        }
        None => Ok(()),
    }
}

/// The number of lines of the file, and the sound ones among them as pairs of nodes. Unless arcs are `featured`, when
/// each keeps its line, repeated ones are merged on the way: an archive of a megabyte can repeat one line a billion
/// times.
fn read_arcs(
    files: &Files,
    graph_of: &[u32],
    featured: bool,
    report: &mut Report,
) -> Result<(usize, Vec<(u32, u32)>)> {
    let mut full = MERGED_AT;
    let mut arcs = Vec::new();
    let mut count = 0;
    let Some(file) = files.need(ARCS, report)? else { return Ok((0, arcs)) };
    let mut lines = files.source.lines(&file)?;
    while let Some(line) = lines.next_filled()? {
        count += 1;
        match plain_arc(line, graph_of).map_or_else(|| arc(line, graph_of), Ok) {
            Ok(arc) => {
                arcs.push(arc);
                if arcs.len() >= full && !featured {
                    arcs.sort_unstable();
                    arcs.dedup();
                    full = MERGED_AT.max(2 * arcs.len());
                }
            }
            Err((message, graph)) => {
                let mut defect = lines.defect(message);
                defect.graph = graph;
                report.defect(defect)?;
            }
        }
    }
    match u32::try_from(arcs.len()) {
        Ok(_) => Ok((count, arcs)),
        Err(_) => Err(Error::unfit(format!("{}: more edges than ppgn can number", lines.file()))),
    }
}

/// The nodes of the line `u, v`, from 0, if it is written as nearly all are and nothing is wrong with it.
fn plain_arc(line: &[u8], graph_of: &[u32]) -> Option<(u32, u32)> {
    let (mut number, mut digits, mut first) = (0u32, 0u32, None);
    for &b in line {
        let digit = b.wrapping_sub(b'0');
        match b {
            b'0'..=b'9' => {
                // May wrap, but not within the nine digits that are accepted.
                number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
                digits += 1;
            }
            b',' if first.is_none() && (1..=9).contains(&digits) => {
                first = Some(number);
                (number, digits) = (0, 0);
            }
            b' ' if digits == 0 => {}
            _ => return None,
        }
    }
    let (u, v) = (first?.checked_sub(1)?, number.checked_sub(1)?);
    let same = graph_of.get(u as usize)? == graph_of.get(v as usize)?;
    (same && digits <= 9).then_some((u, v))
}

/// The nodes of the line `u, v`, from 0; else what is wrong and in which graph.
fn arc(line: &[u8], graph_of: &[u32]) -> Result<(u32, u32), (String, Option<usize>)> {
    let mut cells = cells(line);
    let (Some(u), Some(v), None) = (cells.next(), cells.next(), cells.next()) else {
        return Err((format!("expected an edge `u, v`, found {}", show(line)), None));
    };
    let node = |token| match ordinal(token) {
        Some(u) if (u as usize) < graph_of.len() => Ok(u),
        _ if integer(token).is_some() => Err((
            format!("node {} is out of range, there are {} nodes (from 1)", show(token), graph_of.len()),
            None,
        )),
        _ => Err((format!("{} is not the number of a node", show(token)), None)),
    };
    let (u, v) = (node(u)?, node(v)?);
    let (g, h) = (graph_of[u as usize], graph_of[v as usize]);
    if g != h {
        return Err((format!("the edge leads to another graph, {h}"), Some(g as usize)));
    }
    Ok((u, v))
}

/// Sorts items by group, keeping their order within it: where each group begins, and the items.
fn grouped(groups: usize, group_of: impl Iterator<Item = u32> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; groups + 1];
    let mut count = 0;
    for g in group_of.clone() {
        starts[g as usize + 1] += 1;
        count += 1;
    }
    for g in 0..groups {
        starts[g + 1] += starts[g];
    }
    let mut next = starts.clone();
    let mut items = vec![0u32; count];
    for (i, g) in group_of.enumerate() {
        let slot = &mut next[g as usize];
        items[*slot as usize] = i as u32;
        *slot += 1;
    }
    (starts, items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fast_way_and_the_careful_way_agree(line in "[0-9]{1,2},[ ]?[0-9]{1,2}|[0-9 ,\t+-]{0,24}") {
            let graph_of: Vec<u32> = (0..60).map(|u| u / 20).collect();
            if let Some(plain) = plain_arc(line.as_bytes(), &graph_of) {
                prop_assert_eq!(Ok(plain), arc(line.as_bytes(), &graph_of));
            }
        }
    }

    #[test]
    fn plain_arcs() {
        let graph_of = [0, 0, 1];
        assert_eq!(plain_arc(b"1, 2", &graph_of), Some((0, 1)));
        assert_eq!(plain_arc(b"3,3", &graph_of), Some((2, 2)));
        for wrong in [&b"1, 3"[..], b"0, 1", b"1, 4", b"1", b"1,", b"1, 2, 3", b"1 2", b"4294967297, 1", b""]
        {
            assert_eq!(plain_arc(wrong, &graph_of), None, "{wrong:?}");
        }
    }

    #[test]
    fn graphs_are_counted_without_gaps() {
        assert_eq!(count_graphs(&[1, 0, 1]), Ok(2));
        assert_eq!(count_graphs(&[0, 2, 0]), Err(2));
        assert_eq!(count_graphs(&[0, u32::MAX - 1]), Err(2));
        assert_eq!(count_graphs(&[]), Ok(0));
    }
}
