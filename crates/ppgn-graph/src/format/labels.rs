//! What is to be learned of graphs, in a table beside them: a CSV with a row per graph and a column per target or class.
//!
//! ```text
//! file,class,logP
//! g1.edges,toxic,1.5
//! g2.edges,harmless,          an empty cell is a value that is not known
//! ```
//!
//! A row names its graph by id, by the name of its file, or by its position, counted from 0; a table without such a column
//! has its rows in the order of the graphs. Whatever classes and targets the graphs came with are replaced. A table with a
//! column of nodes is about those ([`super::item_labels`]).

use super::columns::{Classes, Columns, Learned, is_missing};
use super::csv::Csv;
use super::item_labels::{self, Place};
use super::lines::{integer, real, show};
use super::{Limits, Source};
use crate::dataset::{Dataset, Item, Known};
use crate::error::{Defect, Error, Remedy, Result};
use std::collections::HashMap;
use std::path::Path;

/// The names of a column that says which graph a row is about.
pub(super) const KEYS: [&str; 15] = [
    "id",
    "graph",
    "graph_id",
    "graphid",
    "name",
    "file",
    "filename",
    "file_name",
    "path",
    "index",
    "position",
    "molecule",
    "mol_id",
    "molecule_id",
    "title",
];

/// The names of a column that holds the classes, where the caller names none.
const CLASSES: [&str; 4] = ["class", "label", "category", "class_label"];

/// The dataset with the targets and classes of the table at `path`. `class` names the column of classes; without it, that
/// is a column called `class` or `label`, or the only one with words. Columns of numbers are targets.
pub(crate) fn apply(dataset: &Dataset, path: &Path, class: Option<&str>, limits: Limits) -> Result<Dataset> {
    let (source, entry) = open(path, limits)?;
    let file = source.describe(&entry);
    let csv = Csv::open(source.lines(&entry)?)?;
    if let Some(place) = Place::of(csv.names()) {
        return item_labels::apply(dataset, (&source.afresh(), &entry), &place, class, limits);
    }
    let survey = Survey::of(csv)?;
    let key = survey.key(dataset);
    let class = survey.class(class, key, &file)?;
    let rows = match key {
        Some(key) => survey.by_name(dataset, key, &file)?,
        None => survey.by_position(dataset, &file)?,
    };

    let mut csv = Csv::open(source.afresh().lines(&entry)?)?;
    let mut columns = Columns::new(class.as_deref(), limits);
    let unfit = |message: String| Error::from(Defect::new(file.clone(), message));
    while csv.advance()? {
        for (c, name) in csv.names().iter().enumerate().filter(|(c, _)| Some(*c) != key) {
            let place = columns.place(name).map_err(unfit)?;
            columns.set(place, csv.cell(c), csv.line());
        }
        columns.end_row();
    }
    let learned = columns.finish().map_err(unfit)?;
    let mut notes = dataset.header().provenance.notes.clone();
    notes.push(format!("classes and targets from {file}"));
    notes.extend(rows.notes);
    notes.extend(learned.notes.iter().cloned());
    build(dataset, learned, &rows.of_graphs, notes)
}

fn open(path: &Path, limits: Limits) -> Result<(Source, super::Entry)> {
    let source = Source::open(path, limits)?;
    match source.entries() {
        [entry] => {
            let entry = entry.clone();
            Ok((source, entry))
        }
        _ => Err(Error::call(format!("{}: a table of labels is one file", path.display()))),
    }
}

/// What is known of the nodes or pairs of all graphs; nothing where there is nothing to learn of them.
fn all_known(dataset: &Dataset, item: Item) -> Vec<Known> {
    let graphs = if dataset.learnable(item).is_empty() { 0 } else { dataset.len() };
    (0..graphs).map(|g| dataset.known(item, g)).collect()
}

/// The dataset with what was learned, where graph g is in row `of_graphs[g]`.
fn build(
    dataset: &Dataset,
    learned: Learned,
    of_graphs: &[Option<usize>],
    notes: Vec<String>,
) -> Result<Dataset> {
    let width = learned.targets.len();
    let mut values = Vec::with_capacity(dataset.len() * width);
    for row in of_graphs {
        match row {
            Some(row) => values.extend_from_slice(&learned.values[row * width..(row + 1) * width]),
            None => values.extend(std::iter::repeat_n(f64::NAN, width)),
        }
    }
    let header = dataset.header();
    let provenance = crate::Provenance { notes, ..header.provenance.clone() };
    let builder = Dataset::builder(dataset.name())
        .graphs(dataset.graphs().to_vec())
        .ids((0..dataset.len()).map(|i| dataset.id(i).map(String::from)).collect())
        .schema(header.schema.clone())
        .folds(header.folds.clone())
        .items(Item::Node, header.nodes.clone(), all_known(dataset, Item::Node))
        .items(Item::Pair, header.pairs.clone(), all_known(dataset, Item::Pair))
        .provenance(provenance);
    let classes = learned.classes.map(|classes| match classes {
        Classes::Numbers(list) => {
            Classes::Numbers(of_graphs.iter().map(|row| row.and_then(|i| list[i])).collect())
        }
        Classes::Words(list) => {
            Classes::Words(of_graphs.iter().map(|row| row.and_then(|i| list[i].clone())).collect())
        }
    });
    Learned { values, classes, targets: learned.targets, notes: Vec::new() }.apply(builder).build()
}

/// What a first pass over the table finds.
struct Survey {
    names: Vec<String>,
    /// Per column, the first cell that is not a number, if there is one.
    words: Vec<Option<String>>,
    /// Per row, its line and the cells of the columns that may say which graph it is about.
    lines: Vec<u64>,
    keys: Vec<(usize, Vec<String>)>,
}

impl Survey {
    fn of<R: std::io::BufRead>(mut csv: Csv<R>) -> Result<Self> {
        let names = csv.names().to_vec();
        let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        // The first column with a telling name, and the first of all, whose cells may tell.
        let named = lower.iter().position(|name| KEYS.contains(&name.as_str()));
        let mut keys: Vec<(usize, Vec<String>)> = named.map(|c| (c, Vec::new())).into_iter().collect();
        if named != Some(0) {
            keys.push((0, Vec::new()));
        }
        let mut survey = Survey { words: vec![None; names.len()], names, lines: Vec::new(), keys };
        while csv.advance()? {
            csv.check_width()?;
            survey.lines.push(csv.line());
            for (c, cell) in csv.row().enumerate() {
                if survey.words[c].is_none() && !is_missing(cell) && real(cell).is_none() {
                    survey.words[c] = Some(show(cell));
                }
            }
            for (c, cells) in &mut survey.keys {
                cells.push(String::from_utf8_lossy(csv.cell(*c)).into_owned());
            }
        }
        match survey.lines.is_empty() {
            true => Err(Defect::new(csv.file(), "a table without rows").into()),
            false => Ok(survey),
        }
    }

    /// The column that says which graph a row is about.
    fn key(&self, dataset: &Dataset) -> Option<usize> {
        let (column, cells) = self.keys.first()?;
        if KEYS.contains(&self.names[*column].to_lowercase().as_str()) {
            return Some(*column);
        }
        // Without a telling name: the first column, if its cells are the names of graphs.
        let names = Names::of(dataset);
        (*column == 0 && cells.iter().all(|cell| names.by_name(cell).is_some())).then_some(0)
    }

    /// The column of classes, if there is one.
    fn class(&self, wanted: Option<&str>, key: Option<usize>, file: &str) -> Result<Option<String>> {
        if let Some(wanted) = wanted {
            return Ok(Some(wanted.to_string()));
        }
        let others: Vec<usize> = (0..self.names.len()).filter(|c| Some(*c) != key).collect();
        let words: Vec<usize> = others.iter().copied().filter(|c| self.words[*c].is_some()).collect();
        class_column(&self.names, &others, &words, file)
    }

    /// The row of each graph, by the names in column `key`.
    fn by_name(&self, dataset: &Dataset, key: usize, file: &str) -> Result<Rows> {
        let names = Names::of(dataset);
        let cells = &self.keys.iter().find(|(c, _)| *c == key).expect("a column that was kept").1;
        let mut of_graphs: Vec<Option<usize>> = vec![None; dataset.len()];
        let mut strangers: Vec<&String> = Vec::new();
        let at = |row: usize, message: String| Error::from(Defect::new(file, message).line(self.lines[row]));
        for (row, cell) in cells.iter().enumerate() {
            match names.find(cell).map_err(|message| at(row, message))? {
                None => strangers.push(cell),
                Some(graph) => {
                    if let Some(before) = of_graphs[graph].replace(row) {
                        let message = format!(
                            "a second row for {}, which line {} is about already",
                            show(cell.as_bytes()),
                            self.lines[before]
                        );
                        return Err(at(row, message));
                    }
                }
            }
        }
        let mut notes = Vec::new();
        if !strangers.is_empty() {
            let shown: Vec<String> = strangers.iter().take(5).map(|cell| show(cell.as_bytes())).collect();
            let dots = if strangers.len() > shown.len() { ", ..." } else { "" };
            let text = format!(
                "{} rows name no graph of {}: {}{dots}",
                strangers.len(),
                dataset.name(),
                shown.join(", ")
            );
            if strangers.len() == cells.len() {
                let known = names.examples();
                return Err(Defect::new(file, format!("{text}; the graphs are called {known}")).into());
            }
            notes.push(format!("{file}: {text}"));
        }
        let without = of_graphs.iter().filter(|row| row.is_none()).count();
        if without > 0 {
            notes.push(format!(
                "{file}: no row for {without} of {} graphs; their values are not known",
                dataset.len()
            ));
        }
        Ok(Rows { of_graphs, notes })
    }

    /// Row i for graph i.
    fn by_position(&self, dataset: &Dataset, file: &str) -> Result<Rows> {
        let (rows, graphs) = (self.lines.len(), dataset.len());
        if rows != graphs {
            let message = format!(
                "{rows} rows for {graphs} graphs, and no column (such as `id`, `file` or `index`) that says which row is \
                 about which graph"
            );
            return Err(Defect::new(file, message).into());
        }
        Ok(Rows { of_graphs: (0..graphs).map(Some).collect(), notes: Vec::new() })
    }
}

/// The column of classes among `others`, of which `words` have cells that are not numbers: the one called so, or the only one
/// with words.
pub(super) fn class_column(
    names: &[String],
    others: &[usize],
    words: &[usize],
    file: &str,
) -> Result<Option<String>> {
    let called = others.iter().find(|c| CLASSES.contains(&names[**c].to_lowercase().as_str()));
    match (called, words) {
        (Some(c), _) | (None, [c]) => Ok(Some(names[*c].clone())),
        (None, []) => Ok(None),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|c| names[*c].as_str()).collect();
            let message =
                format!("several columns have words, {}: which one has the classes?", names.join(", "));
            Err(Defect::new(file, message).remedy(Remedy::NameClass).into())
        }
    }
}

struct Rows {
    of_graphs: Vec<Option<usize>>,
    notes: Vec<String>,
}

/// The graphs of a dataset by what rows can call them.
pub(super) struct Names<'a> {
    dataset: &'a Dataset,
    ids: HashMap<&'a str, Option<usize>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(dataset: &'a Dataset) -> Self {
        let mut ids = HashMap::new();
        for graph in 0..dataset.len() {
            if let Some(id) = dataset.id(graph) {
                ids.entry(id).and_modify(|place| *place = None).or_insert(Some(graph));
            }
        }
        Names { dataset, ids }
    }

    /// By id, or by the name of a file: without its folder, without its extension.
    fn by_name(&self, cell: &str) -> Option<Option<usize>> {
        let file = cell.rsplit(['/', '\\']).next().unwrap_or(cell);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        [cell, file, stem].into_iter().find_map(|name| self.ids.get(name).copied())
    }

    /// The graph that a cell means, if there is one; an error where there are several, or a position that is none.
    pub(super) fn find(&self, cell: &str) -> Result<Option<usize>, String> {
        match self.by_name(cell) {
            Some(Some(graph)) => return Ok(Some(graph)),
            Some(None) => return Err(format!("several graphs are called {}", show(cell.as_bytes()))),
            None if self.dataset.has_ids() => return Ok(None),
            None => {}
        }
        let graphs = self.dataset.len();
        match integer(cell.as_bytes()).map(usize::try_from) {
            Some(Ok(position)) if position < graphs => Ok(Some(position)),
            Some(_) => Err(format!("no graph {cell}: there are {graphs}, numbered from 0")),
            None => Ok(None),
        }
    }

    pub(super) fn examples(&self) -> String {
        let shown: Vec<String> = (0..self.dataset.len())
            .take(3)
            .filter_map(|g| self.dataset.id(g))
            .map(|id| show(id.as_bytes()))
            .collect();
        match shown.is_empty() {
            true => format!("0 to {}", self.dataset.len().saturating_sub(1)),
            false => shown.join(", ") + ", ...",
        }
    }
}
