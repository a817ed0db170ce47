//! What is to be learned of nodes, or of pairs of nodes, in a table beside the graphs.
//!
//! ```text
//! graph,node,charge              or   graph,u,v,bond
//! aspirin,0,-0.25                     aspirin,0,1,double
//! aspirin,1,                          aspirin,0,2,single
//! ```
//!
//! A table is of nodes if it has a column `node`, and of pairs if it has `u` and `v`, or `node1` and `node2`. Nodes are
//! numbers from 0. The graph is named as in tables of graphs ([`super::labels`]); data of a single graph needs no such
//! column. What has no row, or an empty cell, is not known. In undirected data, a pair that has a row in one order only
//! has it for both.

use super::Limits;
use super::columns::{Classes, Columns, Learned};
use super::csv::Csv;
use super::labels::{KEYS, Names, class_column};
use super::lines::{integer, real, show};
use super::{Entry, Source};
use crate::dataset::{Dataset, Item, Known, LabelColumn, Learnable};
use crate::error::{Defect, Error, Result};

const NODE: [&str; 4] = ["node", "node_id", "node_index", "atom"];
const PAIRS: [[&str; 2]; 4] = [["node1", "node2"], ["node_1", "node_2"], ["u", "v"], ["atom1", "atom2"]];

/// Where a table says which node or pair a row is about.
pub(super) struct Place {
    item: Item,
    columns: Vec<usize>,
}

impl Place {
    /// By the names of the columns; nothing for a table of graphs.
    pub(super) fn of(names: &[String]) -> Option<Self> {
        let at = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let pair = PAIRS.iter().find_map(|[a, b]| Some(vec![at(a)?, at(b)?]));
        let node = || NODE.iter().find_map(|name| at(name)).map(|column| vec![column]);
        match pair {
            Some(columns) => Some(Place { item: Item::Pair, columns }),
            None => node().map(|columns| Place { item: Item::Node, columns }),
        }
    }

    /// The place that a row names in a graph with n nodes.
    fn read<R: std::io::BufRead>(&self, csv: &Csv<R>, nodes: usize) -> Result<u64, String> {
        let mut place = 0u64;
        for &column in &self.columns {
            let cell = csv.cell(column);
            let node = integer(cell).and_then(|node| u64::try_from(node).ok());
            let node = node
                .filter(|&node| node < nodes as u64)
                .ok_or_else(|| format!("no node {}: the graph has {nodes}, numbered from 0", show(cell)))?;
            place = place * nodes as u64 + node;
        }
        Ok(place)
    }
}

/// The dataset with the table as what is to be learned of its nodes or pairs; the graphs keep their own classes and targets.
pub(super) fn apply(
    dataset: &Dataset,
    (source, entry): (&Source, &Entry),
    place: &Place,
    class: Option<&str>,
    limits: Limits,
) -> Result<Dataset> {
    let file = source.describe(entry);
    let names = Names::of(dataset);
    let mut csv = Csv::open(source.lines(entry)?)?;
    let key = csv.names().iter().position(|name| KEYS.contains(&name.to_lowercase().as_str()));
    let key = key.filter(|key| !place.columns.contains(key));
    if key.is_none() && dataset.len() != 1 {
        let message = format!(
            "no column (such as `graph`, `id` or `file`) says which of {} graphs a row is about",
            dataset.len()
        );
        return Err(Defect::new(file, message).into());
    }
    let others: Vec<usize> =
        (0..csv.names().len()).filter(|c| Some(*c) != key && !place.columns.contains(c)).collect();
    let class = match class {
        Some(class) => Some(class.to_string()),
        None => {
            let words = words(&mut csv, &others)?;
            class_column(csv.names(), &others, &words, &file)?
        }
    };
    let mut csv = Csv::open(source.afresh().lines(entry)?)?;
    let mut columns = Columns::new(class.as_deref(), limits);
    let mut rows: Vec<(u32, u64, u64)> = Vec::new();
    let mut strangers = 0usize;
    while csv.advance()? {
        csv.check_width()?;
        let at = |message: String| Error::from(csv.defect(message));
        let graph = match key {
            None => Some(0),
            Some(key) => names.find(&String::from_utf8_lossy(csv.cell(key))).map_err(at)?,
        };
        let Some(graph) = graph else {
            strangers += 1;
            continue;
        };
        let node = place.read(&csv, dataset.graph(graph).nodes()).map_err(at)?;
        rows.push((graph as u32, node, csv.line()));
        for &c in &others {
            let column = columns.place(&csv.names()[c]).map_err(at)?;
            columns.set(column, csv.cell(c), csv.line());
        }
        columns.end_row();
    }
    let unfit = |message: String| Error::from(Defect::new(file.clone(), message));
    if rows.is_empty() {
        let known = names.examples();
        return Err(unfit(format!("no row is about a graph of {}; they are called {known}", dataset.name())));
    }
    let learned = columns.finish().map_err(unfit)?;
    if learned.targets.is_empty() && learned.classes.is_none() {
        return Err(unfit(format!("no column with classes or targets of {}s", place.item.name())));
    }
    let mut notes = dataset.header().provenance.notes.clone();
    notes.push(format!("classes and targets of {}s from {file}", place.item.name()));
    if strangers > 0 {
        notes.push(format!("{file}: {strangers} rows name no graph of {}", dataset.name()));
    }
    notes.extend(learned.notes.iter().cloned());
    build(dataset, place.item, &file, learned, &rows, notes)
}

/// Per column, whether it has a cell that is not a number.
fn words<R: std::io::BufRead>(csv: &mut Csv<R>, columns: &[usize]) -> Result<Vec<usize>> {
    let mut found = vec![false; columns.len()];
    while csv.advance()? {
        csv.check_width()?;
        for (found, &c) in found.iter_mut().zip(columns) {
            let cell = csv.cell(c);
            *found |= !super::columns::is_missing(cell) && real(cell).is_none();
        }
    }
    Ok(columns.iter().zip(found).filter(|(_, found)| *found).map(|(&c, _)| c).collect())
}

fn build(
    dataset: &Dataset,
    item: Item,
    file: &str,
    learned: Learned,
    rows: &[(u32, u64, u64)],
    notes: Vec<String>,
) -> Result<Dataset> {
    let (names, labels): (Vec<String>, Vec<Option<i64>>) = match &learned.classes {
        None => Default::default(),
        Some(Classes::Numbers(labels)) => (Vec::new(), labels.clone()),
        Some(Classes::Words(words)) => {
            let column = LabelColumn::of_words("", words.iter().flatten().cloned());
            let raw: std::collections::HashMap<&str, i64> =
                (0..).zip(column.words()).map(|(raw, word)| (word.as_str(), raw)).collect();
            let labels = words.iter().map(|word| raw.get(word.as_deref()?).copied());
            (column.words().to_vec(), labels.collect())
        }
    };
    let learnable = Learnable {
        classes: learned
            .classes
            .as_ref()
            .map(|_| LabelColumn::new("", labels.iter().flatten().copied()).values().to_vec()),
        class_names: names,
        targets: learned.targets.clone(),
    };
    // The rows of each graph, in the order of the table.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (rows[row].0, rows[row].1));
    if let Some([a, b]) =
        order.array_windows().find(|[a, b]| (rows[*a].0, rows[*a].1) == (rows[*b].0, rows[*b].1))
    {
        let (graph, place, line) = rows[*a];
        let shown = item.shown(place, dataset.graph(graph as usize).nodes());
        let message = format!("a second row for {shown}, which line {line} is about already");
        return Err(Defect::new(file, message).line(rows[*b].2).graph(graph as usize).into());
    }
    let width = learned.targets.len();
    let mut known = vec![Known::default(); dataset.len()];
    for own in order.chunk_by(|&a, &b| rows[a].0 == rows[b].0) {
        let graph = rows[own[0]].0 as usize;
        let places = own.iter().map(|&row| rows[row].1).collect();
        let classes = own.iter().filter_map(|&row| labels.get(row).copied()).collect();
        let values =
            own.iter().flat_map(|&row| learned.values[row * width..(row + 1) * width].to_vec()).collect();
        let one = Known::new(places, classes, values).map_err(Error::unfit)?;
        known[graph] = match item == Item::Pair && !dataset.schema().directed {
            true => one.both_ways(dataset.graph(graph).nodes()).map_err(Error::unfit)?,
            false => one,
        };
    }
    let records = dataset.records().zip(known).map(|(record, known)| {
        Ok(match item {
            Item::Node => crate::Record { nodes: known, ..record },
            Item::Pair => crate::Record { pairs: known, ..record },
        })
    });
    let mut header = dataset.header().clone();
    *header.learnable_mut(item) = learnable;
    header.provenance.notes = notes;
    Dataset::collect(header, records)
}
