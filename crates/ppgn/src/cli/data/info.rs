//! `ppgn data info`: counts, sizes, labels, features, degrees, folds, and a histogram of graph sizes.

use crate::cli::input::{InputArgs, with_records};
use crate::cli::output::{counted, json, print, rounded, short, table};
use anyhow::Result;
use ppgn::graph::summary::{Range, Summary};
use ppgn::graph::text::escaped;
use ppgn::graph::{Header, Item, LabelColumn, Learnable, Task};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(data: &str, input: &InputArgs, as_json: bool) -> Result<ExitCode> {
    let locator = input.locator()?;
    let (header, summary) = with_records(&locator, data, |records| {
        let header = records.header.clone();
        Ok((header, Summary::of(records)?))
    })?;
    if as_json {
        json(&to_json(&header, &summary))?;
    } else {
        print(&to_text(&header, &summary))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The number of label values that distinguish nodes (or edges): those of columns that are not constant.
fn varying(columns: &[LabelColumn]) -> usize {
    columns.iter().map(|c| c.values().len()).filter(|&n| n > 1).sum()
}

fn to_json(header: &Header, s: &Summary) -> serde_json::Value {
    let schema = &header.schema;
    json!({
        "name": header.name,
        "graphs": s.graphs,
        "task": header.task().name(),
        "classes": header.classes.as_ref().map_or(0, Vec::len),
        "class_counts": s.class_counts,
        "class_labels": header.classes.clone().unwrap_or_default(),
        "class_names": header.class_names,
        "unknown_classes": s.unknown_classes,
        "targets": header.targets.len(),
        "unknown_targets": s.targets.iter().map(|r| s.graphs as u64 - r.count).collect::<Vec<_>>(),
        "target_names": header.targets.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "per_node": per(header, Item::Node, s.known_nodes),
        "per_pair": per(header, Item::Pair, s.known_pairs),
        "nodes_min": s.nodes.min as u64,
        "nodes_avg": rounded(s.nodes.mean),
        "nodes_max": s.nodes.max as u64,
        "edges_avg": rounded(s.edges.mean),
        "degree_min": s.degrees.min as u64,
        "degree_avg": rounded(s.degrees.mean),
        "degree_max": s.degrees.max as u64,
        "node_labels": varying(&schema.node_labels),
        "node_attributes": schema.node_attributes.len(),
        "edge_labels": varying(&schema.edge_labels),
        "edge_attributes": schema.edge_attributes.len(),
        "positions": schema.positions,
        "directed": schema.directed,
        "symmetric_graphs": s.symmetric_graphs,
        "self_loops": s.self_loops,
        "edgeless_graphs": s.edgeless_graphs,
        "null_graphs": s.null_graphs,
        "folds": header.folds.len(),
        "source": header.provenance.source,
        "format": header.provenance.format,
        "notes": header.provenance.notes,
    })
}

/// What is to be learned of nodes or pairs; null where there is nothing.
fn per(header: &Header, item: Item, known: u64) -> serde_json::Value {
    let learnable = header.learnable(item);
    if learnable.is_empty() {
        return serde_json::Value::Null;
    }
    json!({
        "classes": learnable.classes,
        "class_names": learnable.class_names,
        "targets": learnable.targets.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "known": known,
    })
}

/// The same for people.
fn per_text(header: &Header, item: Item, known: u64) -> Option<String> {
    let Learnable { classes, class_names, targets } = header.learnable(item);
    let mut parts = Vec::new();
    if let Some(classes) = classes {
        parts.push(counted(classes.len(), "class", "classes"));
        if !class_names.is_empty() && class_names.len() <= 8 {
            parts.push(class_names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(" "));
        }
    }
    if !targets.is_empty() {
        let names: Vec<_> = targets.iter().take(8).map(|t| escaped(&t.name)).collect();
        parts.push(format!("{} ({})", counted(targets.len(), "target", "targets"), names.join(", ")));
    }
    (!parts.is_empty()).then(|| format!("{}, of {known} {}s", parts.join(", "), item.name()))
}

fn to_text(header: &Header, s: &Summary) -> String {
    let schema = &header.schema;
    let mut t = String::new();
    let direction = match schema.directed {
        false => "undirected".to_string(),
        true => format!("directed ({} of {} symmetric)", s.symmetric_graphs, s.graphs),
    };
    let task = match header.task() {
        Task::None => "nothing to predict".to_string(),
        Task::Classification { classes } => {
            format!("classification, {}", counted(classes.len(), "class", "classes"))
        }
        Task::Regression { targets } => {
            format!("regression, {}", counted(targets.len(), "target", "targets"))
        }
    };
    let _ = writeln!(
        t,
        "{}: {}, {direction}, {task}",
        escaped(&header.name),
        counted(s.graphs, "graph", "graphs")
    );
    let mut line = |key: &str, value: String| {
        let _ = writeln!(t, "  {key:<12} {value}");
    };
    let (source, format) = (&header.provenance.source, &header.provenance.format);
    line("source", format!("{} ({})", escaped(source), escaped(format)));
    for note in &header.provenance.notes {
        line("note", escaped(note).into_owned());
    }
    line("nodes", span(&s.nodes));
    line("edges", span(&s.edges));
    line("degrees", span(&s.degrees));
    let unusual = [
        (s.self_loops, "self-loops"),
        (s.edgeless_graphs, "graphs without edges"),
        (s.null_graphs, "graphs without nodes"),
    ];
    line("self-loops", s.self_loops.to_string());
    for (count, what) in unusual.into_iter().skip(1).filter(|(count, _)| *count > 0) {
        line("", format!("{count} {what}"));
    }
    line("positions", if schema.positions { "yes" } else { "no" }.into());
    line("folds", folds(header));
    for (key, item, known) in
        [("per node", Item::Node, s.known_nodes), ("per pair", Item::Pair, s.known_pairs)]
    {
        if let Some(text) = per_text(header, item, known) {
            line(key, text);
        }
    }
    labels(&mut t, "node labels", &schema.node_labels, &s.node_labels);
    labels(&mut t, "edge labels", &schema.edge_labels, &s.edge_labels);
    if let Some(classes) = &header.classes {
        let mut rows: Vec<_> = (0..classes.len())
            .map(|c| (escaped(&header.class_name(c)).into_owned(), s.class_counts[c] as u64))
            .collect();
        if s.unknown_classes > 0 {
            rows.push(("not known".into(), s.unknown_classes as u64));
        }
        t.push_str(&counts("classes", &rows));
    }
    ranges(&mut t, "node attributes", &schema.node_attributes, &s.node_attributes);
    ranges(&mut t, "edge attributes", &schema.edge_attributes, &s.edge_attributes);
    let targets: Vec<String> = header
        .targets
        .iter()
        .map(|target| {
            if target.unit.is_empty() {
                target.name.clone()
            } else {
                format!("{} [{}]", target.name, target.unit)
            }
        })
        .collect();
    ranges(&mut t, "targets", &targets, &s.targets);
    for (name, unknown) in targets.iter().zip(&s.targets).map(|(t, r)| (t, s.graphs as u64 - r.count)) {
        if unknown > 0 {
            let graphs = counted(unknown as usize, "graph", "graphs");
            let _ = writeln!(t, "  {} is not known for {graphs}", escaped(name));
        }
    }
    t.push_str(&histogram(&s.sizes));
    t
}

fn span(r: &Range) -> String {
    match r.count {
        0 => "none".into(),
        _ if r.min == r.max => format!("{} each", r.min),
        _ => format!("{} to {}, {} on average", r.min, r.max, rounded(r.mean)),
    }
}

fn folds(header: &Header) -> String {
    let Some(first) = header.folds.first() else { return "none given".into() };
    format!(
        "{} given, the first with {} training and {} test graphs",
        header.folds.len(),
        first.train.len(),
        first.test.len()
    )
}

/// How many rows of a table are shown before the rest is summed up.
const ROWS: usize = 12;

fn labels(t: &mut String, title: &str, columns: &[LabelColumn], counted: &[BTreeMap<i64, u64>]) {
    for (column, values) in columns.iter().zip(counted) {
        let rows: Vec<_> =
            values.iter().map(|(v, &n)| (escaped(&column.shown(*v)).into_owned(), n)).collect();
        let kinds = rows.len();
        t.push_str(&counts(&format!("{title} `{}`, {kinds} values", escaped(column.name())), &rows));
    }
}

fn counts(title: &str, rows: &[(String, u64)]) -> String {
    let total: u64 = rows.iter().map(|(_, n)| n).sum();
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / total.max(1) as f64);
    let mut cells: Vec<Vec<String>> =
        rows.iter().take(ROWS).map(|(v, n)| vec![v.clone(), n.to_string(), share(*n)]).collect();
    if rows.len() > ROWS {
        let rest: u64 = rows[ROWS..].iter().map(|(_, n)| n).sum();
        cells.push(vec![format!("{} more", rows.len() - ROWS), rest.to_string(), share(rest)]);
    }
    format!("\n{title}\n{}", table(&cells))
}

fn ranges(t: &mut String, title: &str, names: &[String], ranges: &[Range]) {
    if names.is_empty() {
        return;
    }
    let head = ["", "min", "mean", "max", "deviation"].map(String::from).to_vec();
    let rows = names.iter().zip(ranges).map(|(name, r)| {
        vec![escaped(name).into_owned(), short(r.min), short(r.mean), short(r.max), short(r.deviation())]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let _ = write!(t, "\n{title}\n{}", table(&rows));
}

/// Graph sizes as bars: at most a dozen bins of equal width.
fn histogram(sizes: &BTreeMap<usize, usize>) -> String {
    let (Some((&low, _)), Some((&high, _))) = (sizes.first_key_value(), sizes.last_key_value()) else {
        return String::new();
    };
    let width = (high - low + 1).div_ceil(12).max(1);
    let bins = (high - low) / width + 1;
    let mut heights = vec![0usize; bins];
    for (&size, &count) in sizes {
        heights[(size - low) / width] += count;
    }
    let tallest = heights.iter().max().copied().unwrap_or(1).max(1);
    let name = |b: usize| match width {
        1 => format!("{}", low + b),
        _ => format!("{}-{}", low + b * width, (low + (b + 1) * width - 1).min(high)),
    };
    let widest = (0..bins).map(|b| name(b).len()).max().unwrap_or(0);
    let mut t = "\ngraphs by number of nodes\n".to_string();
    for (b, &count) in heights.iter().enumerate() {
        let bar = bar(count, tallest);
        let _ = writeln!(t, "{}", format!("  {:>widest$} {bar} {count}", name(b)).trim_end());
    }
    t
}

/// A bar of at most 40 characters, in eighths; whatever is there shows.
fn bar(count: usize, tallest: usize) -> String {
    let eighths = (count * 320).div_ceil(tallest);
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{part}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_have_few_bars() {
        let sizes: BTreeMap<usize, usize> = (1..=100).map(|n| (n, 1)).collect();
        let text = histogram(&sizes);
        assert_eq!(text.lines().count(), 2 + 12, "{text}");
        assert!(text.contains("  1-9 "), "{text}");
        assert_eq!(histogram(&BTreeMap::from([(41, 150)])).lines().count(), 3);
        assert_eq!(histogram(&BTreeMap::new()), "");
        assert_eq!(bar(0, 5), "");
        assert_eq!(bar(5, 5).chars().count(), 40);
    }
}
