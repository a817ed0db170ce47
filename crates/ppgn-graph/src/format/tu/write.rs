//! Writes a stream of graphs as a TU dataset: a folder that appears under its name only when it is complete.
//!
//! The format has no place for much that a dataset may have (names of columns, folds, positions, labels that no
//! graph uses). Such things are listed and refused, or left out where the caller allows it; what is written is
//! always read back as the same dataset but for them.

use super::{
    ARCS, EDGE_ATTRIBUTES, EDGE_LABELS, GRAPH_ATTRIBUTES, GRAPH_INDICATOR, GRAPH_LABELS, NODE_ATTRIBUTES,
    NODE_LABELS,
};
use crate::dataset::{Header, Item, LabelColumn, Record};
use crate::error::{Error, Result};
use crate::format::{Format, Records, WriteOptions, Written};
use crate::graph::Graph;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

pub(crate) fn write(records: Records<'_>, out: &Path, options: WriteOptions) -> Result<Written> {
    let name = folder_name(out)?;
    let Records { header, records } = records;
    // What the header alone shows is refused before any graph is read.
    let mut losses = lost_from(&header);
    refuse(&losses, options)?;

    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder =
        tempfile::Builder::new().prefix(".ppgn-").tempdir_in(parent).map_err(|e| Error::io(out, e))?;
    let mut files = Files::create(folder.path(), name, &header)?;
    let mut census = Census::new(&header);
    for (i, record) in records.enumerate() {
        let record = record?;
        header.check(&record).map_err(|m| Error::unfit(format!("graph {i}: {m}")))?;
        if census.count(&header, &record) {
            files.add(&record)?;
        }
    }
    let graphs = files.graphs;
    if graphs == 0 {
        return Err(Error::unfit("the TU format cannot hold a dataset without graphs, or without any node"));
    }
    losses.extend(census.lost(&header));
    refuse(&losses, options)?;
    files.finish()?;
    publish(folder, out)?;
    Ok(Written { format: Format::Tu, graphs, dropped: losses })
}

/// The dataset's name, which is that of the folder; refuses a folder that something is in.
fn folder_name(out: &Path) -> Result<&str> {
    let shown = out.display();
    let name = out.file_name().and_then(|name| name.to_str());
    // Names that begin so are taken for litter of an operating system, and would not be read back.
    let name = name.filter(|name| !name.starts_with("._"));
    let name = name.ok_or_else(|| {
        Error::call(format!("{shown}: the folder's name becomes the dataset's name, but this one cannot"))
    })?;
    let taken = match std::fs::read_dir(out) {
        Ok(mut items) => items.next().is_some(),
        Err(_) => std::fs::symlink_metadata(out).is_ok(),
    };
    match taken {
        true => Err(Error::call(format!("{shown} exists already and is not an empty folder"))),
        false => Ok(name),
    }
}

fn refuse(losses: &[String], options: WriteOptions) -> Result<()> {
    if losses.is_empty() || options.lossy {
        return Ok(());
    }
    Err(Error::Lossy { format: "the TU format", losses: losses.to_vec() })
}

/// Puts the finished folder in its place.
fn publish(folder: tempfile::TempDir, out: &Path) -> Result<()> {
    let fail = |e| Error::io(out, e);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).map_err(fail)?;
        File::open(folder.path()).and_then(|f| f.sync_all()).map_err(fail)?;
    }
    // An empty folder makes way; it fails if something has come into it meanwhile.
    if out.is_dir() {
        std::fs::remove_dir(out).map_err(fail)?;
    }
    std::fs::rename(folder.path(), out).map_err(fail)?;
    // It has another name now: there is nothing left to delete.
    let _ = folder.keep();
    Ok(())
}

/// What the format cannot hold of the header.
fn lost_from(header: &Header) -> Vec<String> {
    let schema = &header.schema;
    let columns = |columns: &[LabelColumn]| renamed_columns(columns.iter().map(LabelColumn::name), "label");
    let names = |names: &[String]| renamed_columns(names.iter().map(String::as_str), "attribute");
    let renamed = [
        ("node labels", columns(&schema.node_labels)),
        ("node attributes", names(&schema.node_attributes)),
        ("edge labels", columns(&schema.edge_labels)),
        ("edge attributes", names(&schema.edge_attributes)),
        ("targets", renamed_columns(header.targets.iter().map(|t| &*t.name), "attribute")),
    ];
    let renamed = renamed.into_iter().filter_map(|(what, names)| Some((what, names?)));
    let mut losses: Vec<_> = renamed.map(|(what, names)| format!("the names of {what} ({names})")).collect();
    if !header.class_names.is_empty() {
        losses.push(format!("the names of classes ({})", header.class_names.join(", ")));
    }
    for column in schema.node_labels.iter().chain(&schema.edge_labels).filter(|c| !c.words().is_empty()) {
        losses.push(format!("the words of the labels `{}`", column.name()));
    }
    let units: Vec<_> = header.targets.iter().map(|t| &*t.unit).filter(|unit| !unit.is_empty()).collect();
    if !units.is_empty() {
        losses.push(format!("the units of targets ({})", units.join(", ")));
    }
    if schema.positions {
        losses.push("positions".into());
    }
    for item in [Item::Node, Item::Pair].into_iter().filter(|&item| !header.learnable(item).is_empty()) {
        losses.push(format!("the classes or targets of {}s", item.name()));
    }
    if !header.folds.is_empty() {
        losses.push(format!("the {} given folds", header.folds.len()));
    }
    losses
}

/// The names of columns, if they are not those that the reader gives them.
fn renamed_columns<'a>(names: impl Iterator<Item = &'a str>, default: &str) -> Option<String> {
    let names: Vec<_> = names.collect();
    let renamed = names.iter().enumerate().any(|(i, name)| **name != format!("{default}{i}"));
    renamed.then(|| names.join(", "))
}

/// What the graphs contain, as far as it decides what the format can hold.
struct Census {
    nodes: bool,
    arcs: bool,
    asymmetric: bool,
    skipped: usize,
    ids: bool,
    classes: Vec<bool>,
    node_labels: Vec<Vec<bool>>,
    edge_labels: Vec<Vec<bool>>,
}

impl Census {
    fn new(header: &Header) -> Self {
        let unseen =
            |columns: &[LabelColumn]| columns.iter().map(|c| vec![false; c.values().len()]).collect();
        Census {
            nodes: false,
            arcs: false,
            asymmetric: false,
            skipped: 0,
            ids: false,
            classes: vec![false; header.classes.as_ref().map_or(0, Vec::len)],
            node_labels: unseen(&header.schema.node_labels),
            edge_labels: unseen(&header.schema.edge_labels),
        }
    }

    /// Counts a record; whether it can be written.
    fn count(&mut self, header: &Header, record: &Record) -> bool {
        let graph = &record.graph;
        if graph.nodes() == 0 && header.classes.is_none() && header.targets.is_empty() {
            self.skipped += 1;
            return false;
        }
        self.ids |= record.id.is_some();
        self.nodes |= graph.nodes() > 0;
        self.arcs |= graph.arcs() > 0;
        if header.schema.directed && !self.asymmetric {
            self.asymmetric = graph.asymmetry().is_some();
        }
        if let (Some(classes), Some(label)) = (&header.classes, record.label)
            && let Ok(class) = classes.binary_search(&label)
        {
            self.classes[class] = true;
        }
        if !self.node_labels.is_empty() {
            let rows = (0..graph.nodes()).map(|u| graph.node_labels(u));
            mark(&mut self.node_labels, &header.schema.node_labels, rows);
        }
        if !self.edge_labels.is_empty() {
            let rows = (0..graph.arcs()).map(|a| graph.edge_labels(a));
            mark(&mut self.edge_labels, &header.schema.edge_labels, rows);
        }
        true
    }

    /// What the format could not hold of the graphs.
    fn lost(&self, header: &Header) -> Vec<String> {
        let schema = &header.schema;
        let mut losses = Vec::new();
        if header.schema.directed && !self.asymmetric {
            losses.push("that edges have a direction, where each has its reverse".into());
        }
        if self.ids {
            losses.push("the ids of graphs".into());
        }
        if self.skipped > 0 {
            losses.push(format!("{} graphs without nodes, classes and targets", self.skipped));
        }
        if let Some(classes) = &header.classes {
            losses.extend(unseen("classes that no graph has", classes, &self.classes));
        }
        if self.nodes {
            for (column, seen) in schema.node_labels.iter().zip(&self.node_labels) {
                losses.extend(unseen("labels that no node has", column.values(), seen));
            }
        } else if !schema.node_labels.is_empty() || !schema.node_attributes.is_empty() {
            losses.push("features of nodes, where no graph has a node".into());
        }
        if self.arcs {
            for (column, seen) in schema.edge_labels.iter().zip(&self.edge_labels) {
                losses.extend(unseen("labels that no edge has", column.values(), seen));
            }
        } else if !schema.edge_labels.is_empty() || !schema.edge_attributes.is_empty() {
            losses.push("features of edges, where no graph has an edge".into());
        }
        losses
    }
}

fn mark<'a>(seen: &mut [Vec<bool>], columns: &[LabelColumn], rows: impl Iterator<Item = &'a [i64]>) {
    for row in rows {
        for ((seen, column), &label) in seen.iter_mut().zip(columns).zip(row) {
            if let Some(number) = column.number(label) {
                seen[number] = true;
            }
        }
    }
}

/// The values that were not seen, as a loss.
fn unseen(what: &str, values: &[i64], seen: &[bool]) -> Option<String> {
    let missing: Vec<i64> = values.iter().zip(seen).filter(|(_, seen)| !**seen).map(|(v, _)| *v).collect();
    let shown: Vec<String> = missing.iter().take(8).map(i64::to_string).collect();
    let dots = if missing.len() > shown.len() { ", ..." } else { "" };
    (!missing.is_empty()).then(|| format!("{what} ({}{dots})", shown.join(", ")))
}

/// One file as it grows.
struct Table {
    path: PathBuf,
    file: BufWriter<File>,
    rows: u64,
}

impl Table {
    fn create(folder: &Path, name: &str, suffix: &str) -> Result<Self> {
        let path = folder.join(format!("{name}{suffix}"));
        let file = File::create_new(&path).map_err(|e| Error::io(&path, e))?;
        Ok(Table { path, file: BufWriter::with_capacity(1 << 16, file), rows: 0 })
    }

    /// Writes `1, 2, 3`.
    fn row<T: Display>(&mut self, values: impl IntoIterator<Item = T>) -> Result<()> {
        self.rows += 1;
        let mut between = "";
        for value in values {
            write!(self.file, "{between}{value}").map_err(|e| Error::io(&self.path, e))?;
            between = ", ";
        }
        writeln!(self.file).map_err(|e| Error::io(&self.path, e))
    }

    fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(|e| Error::io(&self.path, e.into_error()))?;
        file.sync_all().map_err(|e| Error::io(&self.path, e))
    }
}

/// A real number in the shortest form that is read back as the same.
struct Real(f64);

impl Display for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

fn reals(values: &[f64]) -> impl Iterator<Item = Real> + '_ {
    values.iter().copied().map(Real)
}

/// The files of the dataset. Those for features that it does not have are not there.
struct Files {
    graphs: usize,
    nodes: u64,
    arcs: Table,
    graph_indicator: Table,
    graph_labels: Option<Table>,
    graph_attributes: Option<Table>,
    node_labels: Option<Table>,
    node_attributes: Option<Table>,
    edge_labels: Option<Table>,
    edge_attributes: Option<Table>,
}

impl Files {
    fn create(folder: &Path, name: &str, header: &Header) -> Result<Self> {
        let schema = &header.schema;
        let create = |wanted: bool, suffix| wanted.then(|| Table::create(folder, name, suffix)).transpose();
        Ok(Files {
            graphs: 0,
            nodes: 0,
            arcs: Table::create(folder, name, ARCS)?,
            graph_indicator: Table::create(folder, name, GRAPH_INDICATOR)?,
            graph_labels: create(header.classes.is_some(), GRAPH_LABELS)?,
            graph_attributes: create(!header.targets.is_empty(), GRAPH_ATTRIBUTES)?,
            node_labels: create(!schema.node_labels.is_empty(), NODE_LABELS)?,
            node_attributes: create(!schema.node_attributes.is_empty(), NODE_ATTRIBUTES)?,
            edge_labels: create(!schema.edge_labels.is_empty(), EDGE_LABELS)?,
            edge_attributes: create(!schema.edge_attributes.is_empty(), EDGE_ATTRIBUTES)?,
        })
    }

    fn add(&mut self, record: &Record) -> Result<()> {
        self.graphs += 1;
        let unknown = |what: &str| {
            let graph = self.graphs - 1;
            Error::unfit(format!("graph {graph} has no {what}, and the TU format needs one for every graph"))
        };
        if let Some(file) = &mut self.graph_labels {
            file.row([record.label.ok_or_else(|| unknown("class"))?])?;
        }
        if let Some(file) = &mut self.graph_attributes {
            if record.targets.iter().any(|y| y.is_nan()) {
                return Err(unknown("value for one of its targets"));
            }
            file.row(reals(&record.targets))?;
        }
        self.add_nodes(&record.graph)?;
        self.add_arcs(&record.graph)?;
        self.nodes += record.graph.nodes() as u64;
        Ok(())
    }

    fn add_nodes(&mut self, graph: &Graph) -> Result<()> {
        for u in 0..graph.nodes() {
            self.graph_indicator.row([self.graphs])?;
            if let Some(file) = &mut self.node_labels {
                file.row(graph.node_labels(u))?;
            }
            if let Some(file) = &mut self.node_attributes {
                file.row(reals(graph.node_attributes(u)))?;
            }
        }
        Ok(())
    }

    fn add_arcs(&mut self, graph: &Graph) -> Result<()> {
        let first = self.nodes + 1;
        for (u, v, a) in graph.arc_list() {
            self.arcs.row([first + u as u64, first + v as u64])?;
            if let Some(file) = &mut self.edge_labels {
                file.row(graph.edge_labels(a))?;
            }
            if let Some(file) = &mut self.edge_attributes {
                file.row(reals(graph.edge_attributes(a)))?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        self.arcs.finish()?;
        self.graph_indicator.finish()?;
        let optional = [self.graph_labels, self.node_labels, self.edge_labels];
        let optional = optional.into_iter().chain([self.graph_attributes, self.node_attributes]);
        for file in optional.chain([self.edge_attributes]).flatten() {
            let (path, rows) = (file.path.clone(), file.rows);
            file.finish()?;
            // No node or edge has the feature: an empty file would only be confusing.
            if rows == 0 {
                std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
            }
        }
        Ok(())
    }
}
