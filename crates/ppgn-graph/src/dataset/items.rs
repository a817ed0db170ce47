//! What is to be learned of the nodes of graphs, or of pairs of nodes: classes and targets of their own, beside those of
//! the graphs.
//!
//! [`Learnable`] is what a header says (which classes, which targets), [`Known`] what is known of one graph. Both hold
//! for nodes and for pairs; a node, or an ordered pair, is known by its *place*: u, or `u * n + v`. What is not listed
//! is not known, so a few edges cost a few rows, and all pairs are possible.

use super::header::{Target, repeated, same_targets};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What has classes or targets, beside graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// Nodes.
    Node,
    /// Ordered pairs of nodes.
    Pair,
}

impl Item {
    /// `node` or `pair`.
    pub fn name(self) -> &'static str {
        match self {
            Item::Node => "node",
            Item::Pair => "pair",
        }
    }

    /// The number of places in a graph with n nodes: n, or n*n.
    pub fn places(self, nodes: usize) -> u64 {
        match self {
            Item::Node => nodes as u64,
            Item::Pair => (nodes as u64).saturating_mul(nodes as u64),
        }
    }

    /// A place as people read it: `node 3`, `pair (1, 2)`.
    pub fn shown(self, place: u64, nodes: usize) -> String {
        let n = (nodes as u64).max(1);
        match self {
            Item::Node => format!("node {place}"),
            Item::Pair => format!("pair ({}, {})", place / n, place % n),
        }
    }
}

/// What is to be learned of nodes, or of pairs: classes, targets, or both; or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learnable {
    /// The original labels of the classes, ascending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<i64>>,
    /// The names of the classes in the same order, where the data calls them by name; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    /// The numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
}

impl Learnable {
    /// Whether there is nothing to learn.
    pub fn is_empty(&self) -> bool {
        self.classes.is_none() && self.targets.is_empty()
    }

    /// What is wrong with the classes and their names, if something is.
    pub(crate) fn defect(&self, item: Item) -> Option<String> {
        let of = item.name();
        let classes = self.classes.as_deref().unwrap_or_default();
        if !classes.is_sorted_by(|a, b| a < b) {
            return Some(format!("the classes of {of}s must ascend, each value once"));
        }
        if !self.class_names.is_empty() && self.class_names.len() != classes.len() {
            let names = self.class_names.len();
            return Some(format!("{names} names of classes of {of}s, but {} classes", classes.len()));
        }
        repeated(&self.class_names).map(|name| format!("two classes of {of}s are called `{name}`"))
    }

    /// Checks what is known of a graph with n nodes. The error says what is wrong.
    pub(crate) fn check(&self, known: &Known, item: Item, nodes: usize) -> Result<(), String> {
        let places = item.places(nodes);
        if let Some(place) = known.places().last().filter(|&&place| place >= places) {
            return Err(format!(
                "{} has a value, but the graph has {nodes} nodes",
                item.shown(*place, nodes)
            ));
        }
        if known.is_empty() {
            return Ok(());
        }
        let shown = |row: usize| item.shown(known.places()[row], nodes);
        match &self.classes {
            None if !known.0.labels.is_empty() => {
                return Err(format!("a class of a {}, but the dataset has none", item.name()));
            }
            Some(classes) => {
                let wrong =
                    |row: &usize| known.label(*row).is_some_and(|l| classes.binary_search(&l).is_err());
                if let Some(row) = (0..known.len()).find(wrong) {
                    let label = known.label(row).unwrap_or_default();
                    return Err(format!(
                        "the class {label} of {} is not among the dataset's {classes:?}",
                        shown(row)
                    ));
                }
            }
            None => {}
        }
        if known.width() != self.targets.len() {
            let (found, wanted) = (known.width(), self.targets.len());
            return Err(format!("targets per {}: {found} given, {wanted} in the dataset", item.name()));
        }
        match known.0.values.iter().position(|y| y.is_infinite()) {
            Some(at) => Err(format!(
                "the target `{}` of {} is not a finite number",
                self.targets[at % known.width()].name,
                shown(at / known.width())
            )),
            None => Ok(()),
        }
    }
}

/// What is known of the nodes, or of the pairs, of one graph: rows in the order of their places. Cloning shares it.
///
/// ```
/// use ppgn_graph::Known;
/// let known = Known::new(vec![7, 2], vec![], vec![0.5, f64::NAN])?;
/// assert_eq!((known.places(), known.values(1)), (&[2, 7][..], &[0.5][..]));
/// assert!(Known::new(vec![2, 2], vec![], vec![]).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Known(Arc<Rows>);

#[derive(Debug, Default)]
struct Rows {
    places: Vec<u64>,
    /// One per row, or none at all.
    labels: Vec<Option<i64>>,
    /// `[rows, targets]`, row-major.
    values: Vec<f64>,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        (&self.0.places, &self.0.labels) == (&other.0.places, &other.0.labels)
            && same_targets(&self.0.values, &other.0.values)
    }
}

impl Known {
    /// Rows of these places: the class of each by its original label (or no list at all), and its targets, row after row, NaN
    /// for one that is not known. The error says that a place is there twice, or that the lengths do not fit.
    pub fn new(places: Vec<u64>, labels: Vec<Option<i64>>, values: Vec<f64>) -> Result<Self, String> {
        let rows = places.len();
        if !labels.is_empty() && labels.len() != rows || rows > 0 && !values.len().is_multiple_of(rows) {
            return Err(format!("{} classes and {} values for {rows} rows", labels.len(), values.len()));
        }
        // One kind of NaN, so that equal data has equal bits.
        let one = |y: &f64| if y.is_nan() { f64::NAN } else { *y };
        if places.is_sorted_by(|a, b| a < b) {
            let values = values.iter().map(one).collect();
            return Ok(Known(Arc::new(Rows { places, labels, values })));
        }
        let width = values.len() / rows.max(1);
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| places[row]);
        if let Some([a, _]) = order.array_windows().find(|[a, b]| places[*a] == places[*b]) {
            return Err(format!("the place {} is there twice", places[*a]));
        }
        Ok(Known(Arc::new(Rows {
            places: order.iter().map(|&row| places[row]).collect(),
            labels: order.iter().filter_map(|&row| labels.get(row).copied()).collect(),
            values: order.iter().flat_map(|&row| &values[row * width..(row + 1) * width]).map(one).collect(),
        })))
    }

    /// The same of pairs without an order: what is listed as (u, v) and not as (v, u) holds for both.
    pub(crate) fn both_ways(self, nodes: usize) -> Result<Self, String> {
        let n = (nodes as u64).max(1);
        let turned = |place: u64| place % n * n + place / n;
        let missing: Vec<usize> =
            (0..self.len()).filter(|&row| self.row_of(turned(self.0.places[row])).is_none()).collect();
        if missing.is_empty() {
            return Ok(self);
        }
        let Rows { mut places, mut labels, mut values } = match Arc::try_unwrap(self.0) {
            Ok(rows) => rows,
            Err(shared) => Rows {
                places: shared.places.clone(),
                labels: shared.labels.clone(),
                values: shared.values.clone(),
            },
        };
        let width = values.len() / places.len().max(1);
        for row in missing {
            places.push(turned(places[row]));
            if let Some(&label) = labels.get(row) {
                labels.push(label);
            }
            values.extend_from_within(row * width..(row + 1) * width);
        }
        Known::new(places, labels, values)
    }

    /// Without rows of which nothing is known.
    pub(crate) fn trimmed(self) -> Self {
        let known = |row: &usize| self.label(*row).is_some() || self.values(*row).iter().any(|y| !y.is_nan());
        let rows: Vec<usize> = (0..self.len()).filter(known).collect();
        if rows.len() == self.len() {
            return self;
        }
        let labels = if self.has_labels() { &rows[..] } else { &[] };
        Known(Arc::new(Rows {
            places: rows.iter().map(|&row| self.0.places[row]).collect(),
            labels: labels.iter().map(|&row| self.0.labels[row]).collect(),
            values: rows.iter().flat_map(|&row| self.values(row).to_vec()).collect(),
        }))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.places.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.places.is_empty()
    }

    /// The places in ascending order: nodes, or `u * n + v` for the pair (u, v).
    pub fn places(&self) -> &[u64] {
        &self.0.places
    }

    /// The row of a place. O(log rows).
    pub fn row_of(&self, place: u64) -> Option<usize> {
        self.0.places.binary_search(&place).ok()
    }

    /// The class of a row by its original label, where it is known.
    pub fn label(&self, row: usize) -> Option<i64> {
        self.0.labels.get(row).copied().flatten()
    }

    /// The number of targets.
    pub fn width(&self) -> usize {
        self.0.values.len() / self.len().max(1)
    }

    /// The targets of a row; NaN is one that is not known.
    pub fn values(&self, row: usize) -> &[f64] {
        let width = self.width();
        &self.0.values[row * width..(row + 1) * width]
    }

    /// Whether rows have classes, be it that some are not known.
    pub fn has_labels(&self) -> bool {
        !self.0.labels.is_empty()
    }

    /// The bytes that it holds.
    pub fn heap_bytes(&self) -> usize {
        let Rows { places, labels, values } = &*self.0;
        std::mem::size_of_val(&places[..])
            + std::mem::size_of_val(&labels[..])
            + std::mem::size_of_val(&values[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_pairs_hold_both_ways() {
        // (0, 1), (2, 1) and both orders of (0, 2), of three nodes.
        let known =
            Known::new(vec![7, 1, 6, 2], vec![Some(3), None, Some(5), Some(9)], vec![1.0, 2.0, 3.0, 4.0])
                .unwrap();
        let both = known.clone().both_ways(3).unwrap();
        assert_eq!(both.places(), [1, 2, 3, 5, 6, 7]);
        let labels: Vec<_> = (0..6).map(|row| both.label(row)).collect();
        assert_eq!(labels, [None, Some(9), None, Some(3), Some(5), Some(3)]);
        let values: Vec<f64> = (0..6).map(|row| both.values(row)[0]).collect();
        assert_eq!(values, [2.0, 4.0, 2.0, 1.0, 3.0, 1.0]);
        assert_eq!(both.clone().both_ways(3).unwrap(), both);
        assert_eq!(known.len(), 4, "what is shared does not change");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let learnable = Learnable { classes: Some(vec![0, 2]), ..Learnable::default() };
        let check = |places: &[u64], labels: &[Option<i64>], values: &[f64]| {
            let known = Known::new(places.to_vec(), labels.to_vec(), values.to_vec()).unwrap();
            learnable.check(&known, Item::Pair, 2)
        };
        assert_eq!(check(&[0, 3], &[Some(2), None], &[]), Ok(()));
        assert_eq!(
            check(&[4], &[None], &[]).unwrap_err(),
            "pair (2, 0) has a value, but the graph has 2 nodes"
        );
        assert!(check(&[1], &[Some(1)], &[]).unwrap_err().contains("class 1 of pair (0, 1) is not among"));
        assert_eq!(
            check(&[1], &[Some(2)], &[0.5]).unwrap_err(),
            "targets per pair: 1 given, 0 in the dataset"
        );
        assert!(learnable.check(&Known::default(), Item::Node, 0).is_ok());
    }
}
