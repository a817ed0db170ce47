//! What is to be learned of nodes and pairs: `nodes` and `pairs` in the header, and in the line of a graph
//!
//! ```text
//! "node_classes":[0,1,null]              one per node
//! "node_targets":[0.5,null,2.5]          a row per node
//! "pair_classes":[[0,1,"near"],[2,0,"far"]]      u, v, class
//! "pair_targets":[[0,1,0.5],[2,0,null]]          u, v, a number per target
//! ```
//!
//! A pair that is not listed is not known; of an undirected dataset, one order stands for both.

use super::columns::Columns;
use super::labels::{Label, Labels, Seen};
use crate::dataset::{Header, Item, Known, Learnable, Target, numbered};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as Write};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A number, or null: NaN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maybe(f64);

impl<'de> Deserialize<'de> for Maybe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Maybe;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("it must be a number or null")
            }

            fn visit_unit<E: Error>(self) -> Result<Maybe, E> {
                Ok(Maybe(f64::NAN))
            }

            fn visit_f64<E: Error>(self, x: f64) -> Result<Maybe, E> {
                Ok(Maybe(x))
            }

            fn visit_u64<E: Error>(self, x: u64) -> Result<Maybe, E> {
                Ok(Maybe(x as f64))
            }

            fn visit_i64<E: Error>(self, x: i64) -> Result<Maybe, E> {
                Ok(Maybe(x as f64))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// The keys of nodes or pairs in the header.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LearnableLine {
    classes: Option<Labels>,
    #[serde(default)]
    targets: Vec<Target>,
}

impl LearnableLine {
    pub(super) fn learnable(self) -> Learnable {
        let (classes, class_names) = match self.classes {
            None => (None, Vec::new()),
            Some(Labels::Numbers(numbers)) => (Some(numbers), Vec::new()),
            Some(Labels::Words(words)) => (Some((0..words.len() as i64).collect()), words),
        };
        Learnable { classes, class_names, targets: self.targets }
    }
}

/// The same to be written.
#[derive(Write)]
pub(super) struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Classes<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    targets: &'a [Target],
}

#[derive(Write)]
#[serde(untagged)]
pub(super) enum Classes<'a> {
    Numbers(&'a [i64]),
    Words(&'a [String]),
}

impl<'a> Classes<'a> {
    pub(super) fn of(classes: Option<&'a [i64]>, names: &'a [String]) -> Option<Self> {
        classes.map(|numbers| match names.is_empty() {
            true => Classes::Numbers(numbers),
            false => Classes::Words(names),
        })
    }
}

/// What a header has of nodes or pairs; nothing where there is nothing to learn.
pub(super) fn written(learnable: &Learnable) -> Option<Written<'_>> {
    let Learnable { classes, class_names, targets } = learnable;
    (!learnable.is_empty())
        .then(|| Written { classes: Classes::of(classes.as_deref(), class_names), targets })
}

/// The keys of nodes and pairs in the line of a graph.
#[derive(Debug, Default)]
pub(super) struct ItemLine {
    pub(super) node_classes: Option<Vec<Option<Label>>>,
    pub(super) node_targets: Option<Columns<Maybe>>,
    pub(super) pair_classes: Option<Vec<(u64, u64, Option<Label>)>>,
    pub(super) pair_targets: Option<Columns<Maybe>>,
}

/// The class of each word, for nodes and pairs.
#[derive(Debug, Default)]
pub(super) struct ItemWords([Option<HashMap<String, i64>>; 2]);

impl ItemWords {
    pub(super) fn of(header: &Header) -> Self {
        ItemWords([Item::Node, Item::Pair].map(|item| {
            let Learnable { classes, class_names, .. } = header.learnable(item);
            let numbers = classes.iter().flatten().copied();
            (!class_names.is_empty()).then(|| class_names.iter().cloned().zip(numbers).collect())
        }))
    }
}

impl ItemLine {
    /// What is known of nodes and of pairs of a graph with n nodes.
    pub(super) fn known(self, header: &Header, words: &ItemWords, n: usize) -> Result<[Known; 2], String> {
        let ItemLine { node_classes, node_targets, pair_classes, pair_targets } = self;
        let of_nodes = |key: &str, rows: usize| match rows == n {
            true => Ok(()),
            false => Err(format!("`{key}` has {rows} entries, but there are {n} nodes")),
        };
        let mut nodes = Rows::new(header, Item::Node);
        if let Some(classes) = node_classes {
            of_nodes("node_classes", classes.len())?;
            for (u, class) in (0..).zip(classes) {
                nodes.class(u, class, &words.0[0])?;
            }
        }
        if let Some(table) = node_targets {
            of_nodes("node_targets", table.rows)?;
            (0..table.rows).try_for_each(|u| nodes.values(u as u64, table.row(u)))?;
        }
        let mut pairs = Rows::new(header, Item::Pair);
        let place = |u: u64, v: u64| match u.max(v) < n as u64 {
            true => Ok(u * n as u64 + v),
            false => Err(format!("the pair {u} {v} is out of range, there are {n} nodes")),
        };
        for (u, v, class) in pair_classes.into_iter().flatten() {
            pairs.class(place(u, v)?, class, &words.0[1])?;
        }
        if let Some(table) = pair_targets {
            for row in 0..table.rows {
                let [Maybe(u), Maybe(v), values @ ..] = table.row(row) else {
                    return Err("a row of `pair_targets` has two nodes and a number per target".into());
                };
                let node = |x: f64| (x >= 0.0 && x.fract() == 0.0 && x < 4294967296.0).then_some(x as u64);
                let (Some(u), Some(v)) = (node(*u), node(*v)) else {
                    return Err(format!("row {row} of `pair_targets` does not begin with two nodes"));
                };
                pairs.values(place(u, v)?, values)?;
            }
        }
        let pairs = pairs.known()?;
        let pairs = if header.schema.directed { pairs } else { pairs.both_ways(n)? };
        Ok([nodes.known()?, pairs])
    }

    /// Takes the line into account for a header that says nothing of nodes and pairs.
    pub(super) fn note(&self, survey: &mut ItemSurvey) {
        let [nodes, pairs] = &mut survey.0;
        self.node_classes.iter().flatten().flatten().for_each(|label| see(label, &mut nodes.0));
        let classes = self.pair_classes.iter().flatten().filter_map(|(_, _, label)| label.as_ref());
        classes.for_each(|label| see(label, &mut pairs.0));
        let width = |table: &Option<Columns<Maybe>>| table.as_ref().filter(|t| t.rows > 0).map(|t| t.width);
        nodes.1 = nodes.1.or(width(&self.node_targets));
        pairs.1 = pairs.1.or(width(&self.pair_targets).map(|width| width.saturating_sub(2)));
    }
}

fn see(label: &Label, seen: &mut Seen) {
    match label {
        Label::Number(number) => _ = seen.numbers.insert(*number),
        Label::Word(word) if !seen.words.contains(word) => _ = seen.words.insert(word.clone()),
        Label::Word(_) => {}
    }
}

/// The classes that occur and the number of targets, of nodes and of pairs.
#[derive(Debug, Default)]
pub(super) struct ItemSurvey([(Seen, Option<usize>); 2]);

impl ItemSurvey {
    pub(super) fn learnable(self) -> [Learnable; 2] {
        self.0.map(|(seen, targets)| {
            let classes = seen.column(String::new());
            let targets = numbered("target", targets.unwrap_or(0));
            Learnable {
                classes: (!classes.values().is_empty()).then(|| classes.values().to_vec()),
                class_names: classes.words().to_vec(),
                targets: targets.into_iter().map(|name| Target { name, unit: String::new() }).collect(),
            }
        })
    }
}

/// The class and the targets of a place, where a key gives them; a class that is given may be unknown.
type Given = (Option<Option<i64>>, Option<Vec<f64>>);

/// Classes and targets by place, which may come from two keys.
struct Rows<'a> {
    learnable: &'a Learnable,
    item: Item,
    rows: BTreeMap<u64, Given>,
}

impl<'a> Rows<'a> {
    fn new(header: &'a Header, item: Item) -> Self {
        Rows { learnable: header.learnable(item), item, rows: BTreeMap::new() }
    }

    fn class(
        &mut self,
        place: u64,
        label: Option<Label>,
        words: &Option<HashMap<String, i64>>,
    ) -> Result<(), String> {
        let of = self.item.name();
        let class = match (label, words) {
            (None, _) => None,
            (Some(Label::Number(label)), None) => Some(label),
            (Some(Label::Word(word)), Some(words)) => Some(*words.get(&word).ok_or_else(|| {
                let shown: String = word.chars().take(40).collect();
                format!("the class `{shown}` of a {of} is not among those that the header lists")
            })?),
            (Some(Label::Number(label)), Some(_)) => {
                return Err(format!(
                    "a {of} has the class {label}, an integer, but the classes have names, which are strings"
                ));
            }
            (Some(Label::Word(word)), None) => {
                let shown: String = word.chars().take(40).collect();
                return Err(format!(
                    "a {of} has the class `{shown}`, a string, but the classes are integers"
                ));
            }
        };
        match self.rows.entry(place).or_default().0.replace(class) {
            None => Ok(()),
            Some(_) => Err(format!("the class of a {of} is there twice (place {place})")),
        }
    }

    fn values(&mut self, place: u64, values: &[Maybe]) -> Result<(), String> {
        let wanted = self.learnable.targets.len();
        if values.len() != wanted {
            let of = self.item.name();
            return Err(format!("targets per {of}: {} given, {wanted} in the dataset", values.len()));
        }
        let values = values.iter().map(|&Maybe(y)| y).collect();
        match self.rows.entry(place).or_default().1.replace(values) {
            None => Ok(()),
            Some(_) => Err(format!("the targets of a {} are there twice (place {place})", self.item.name())),
        }
    }

    fn known(self) -> Result<Known, String> {
        let has_classes = self.rows.values().any(|(class, _)| class.is_some());
        let missing = vec![f64::NAN; self.learnable.targets.len()];
        let (mut places, mut labels, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (class, values)) in self.rows {
            places.push(place);
            if has_classes {
                labels.push(class.flatten());
            }
            numbers.extend(values.as_ref().unwrap_or(&missing));
        }
        Known::new(places, labels, numbers)
    }
}

/// Writes what is known of the nodes or pairs of a graph with n nodes.
pub(super) fn write<M: SerializeMap>(
    map: &mut M,
    item: Item,
    known: &Known,
    Header { schema, nodes, pairs, .. }: &Header,
    n: usize,
) -> Result<(), M::Error> {
    let directed = schema.directed;
    let learnable = if item == Item::Node { nodes } else { pairs };
    let size = (n as u64).max(1);
    let turned = |place: &u64| place % size * size + place / size;
    let unknown = |place: &u64| !directed && known.row_of(*place).is_none();
    let rows: Vec<u64> = match item {
        Item::Node => (0..n as u64).collect(),
        // Of an undirected dataset one order would stand for both: a null says that the other is not known.
        Item::Pair => {
            known.places().iter().copied().chain(known.places().iter().map(turned).filter(unknown)).collect()
        }
    };
    let row = |&place: &u64| Row { item, known, learnable, n: size, place, row: known.row_of(place) };
    if learnable.classes.is_some() {
        let of = if item == Item::Node { "node_classes" } else { "pair_classes" };
        map.serialize_entry(of, &rows.iter().map(|r| Class(row(r))).collect::<Vec<_>>())?;
    }
    if !learnable.targets.is_empty() {
        let of = if item == Item::Node { "node_targets" } else { "pair_targets" };
        map.serialize_entry(of, &rows.iter().map(|r| Values(row(r))).collect::<Vec<_>>())?;
    }
    Ok(())
}

struct Row<'a> {
    item: Item,
    known: &'a Known,
    learnable: &'a Learnable,
    n: u64,
    place: u64,
    row: Option<usize>,
}

impl Row<'_> {
    /// The two nodes of a pair.
    fn pair(&self) -> Option<(u64, u64)> {
        (self.item == Item::Pair).then_some((self.place / self.n, self.place % self.n))
    }
}

struct Class<'a>(Row<'a>);

impl Serialize for Class<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { known, learnable, row, .. } = &self.0;
        let label = row.and_then(|row| known.label(row));
        let rank =
            label.zip(learnable.classes.as_ref()).and_then(|(l, classes)| classes.binary_search(&l).ok());
        let name = rank.and_then(|rank| learnable.class_names.get(rank));
        match (self.0.pair(), name) {
            (None, Some(name)) => name.serialize(serializer),
            (None, None) => label.serialize(serializer),
            (Some((u, v)), Some(name)) => (u, v, name).serialize(serializer),
            (Some((u, v)), None) => (u, v, label).serialize(serializer),
        }
    }
}

struct Values<'a>(Row<'a>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Write)]
        #[serde(untagged)]
        enum Cell {
            Node(u64),
            Value(Option<f64>),
        }
        let Row { known, learnable, row, .. } = &self.0;
        let width = learnable.targets.len();
        let value = |t: usize| row.map(|row| known.values(row)[t]).filter(|y| !y.is_nan());
        match self.0.pair() {
            None if width == 1 => value(0).serialize(serializer),
            None => serializer.collect_seq((0..width).map(value)),
            Some((u, v)) => {
                let nodes = [u, v].map(Cell::Node);
                serializer.collect_seq(nodes.into_iter().chain((0..width).map(|t| Cell::Value(value(t)))))
            }
        }
    }
}
