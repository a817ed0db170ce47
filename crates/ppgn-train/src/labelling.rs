//! What is learned, item by item: an item is a graph, a node or a pair of nodes, as the [`Level`] of a network says.
//!
//! A dataset knows classes and targets of its graphs, and of some of their nodes and pairs. A [`Labelling`] is the part
//! of it that a goal is about: one row per item of which something is known. Losses, weights, scalings and metrics see
//! rows only, so they are the same at every level; what is not known has no row, or a gap in it, and does not count.
//! (Of graphs every one has a row.)

use crate::data::Goal;
use crate::error::{Error, Result};
use crate::settings::SampleWeights;
use ppgn_graph::{Dataset, Item, Target};
use ppgn_nn::Level;
use std::ops::Range;

/// The items of a level, in a dataset's words; nothing for graphs.
pub(crate) fn item_of(level: Level) -> Option<Item> {
    match level {
        Level::Graph => None,
        Level::Node => Some(Item::Node),
        Level::Pair => Some(Item::Pair),
    }
}

/// `graph`, `node` or `pair`.
pub(crate) fn noun(level: Level) -> &'static str {
    item_of(level).map_or("graph", Item::name)
}

/// What a dataset has to learn at a level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) name: &'a str,
    pub(crate) level: Level,
    pub(crate) classes: Option<&'a [i64]>,
    pub(crate) class_names: &'a [String],
    pub(crate) targets: &'a [Target],
}

impl<'a> Offer<'a> {
    pub(crate) fn of(dataset: &'a Dataset, level: Level) -> Self {
        let header = dataset.header();
        let (classes, class_names, targets) = match item_of(level) {
            None => (&header.classes, &header.class_names, &header.targets),
            Some(item) => {
                let learnable = header.learnable(item);
                (&learnable.classes, &learnable.class_names, &learnable.targets)
            }
        };
        Offer { name: dataset.name(), level, classes: classes.as_deref(), class_names, targets }
    }

    /// Where these targets are among those that there are.
    fn columns(&self, targets: &[Target]) -> Result<Vec<usize>> {
        let column = |t: &Target| {
            let place = self.targets.iter().position(|h| h.name == t.name);
            place.ok_or_else(|| Error::settings(format!("{} has no target `{}`", self.name, t.name)))
        };
        targets.iter().map(column).collect()
    }
}

/// What a dataset knows of what is learned, one row per item of which something is known, graph after graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Labelling {
    pub(crate) level: Level,
    /// Where the rows of each graph begin, and the end of the last.
    offsets: Vec<usize>,
    /// The item of every row within its graph: 0, a node, or `u * n + v`; nothing for graphs.
    places: Vec<u32>,
    /// The class of every row by its place among the goal's; nothing for targets.
    classes: Vec<Option<u32>>,
    /// The goal's targets, row after row, NaN for one that is not known; nothing for classes.
    values: Vec<f64>,
    width: usize,
}

impl Labelling {
    /// What `dataset` knows of a goal whose classes are called `names`, if they have names. Where both the goal and the data
    /// have names, classes are found by name, else by label.
    ///
    /// # Errors
    /// Where the data does not have what the goal is about.
    pub(crate) fn new(dataset: &Dataset, level: Level, goal: &Goal, names: &[String]) -> Result<Self> {
        let offer = Offer::of(dataset, level);
        let (columns, ranks): (Vec<usize>, Ranks<'_>) = match goal {
            Goal::Classes(classes) => {
                if offer.classes.is_none() {
                    return Err(Error::settings(format!("{} has no classes", dataset.name())));
                }
                (Vec::new(), Ranks::new(&offer, classes, names))
            }
            Goal::Targets(targets) | Goal::Labels(targets) => (offer.columns(targets)?, Ranks::default()),
        };
        let is_class = columns.is_empty();
        let mut labelling = Labelling {
            level,
            offsets: vec![0],
            places: Vec::new(),
            classes: Vec::new(),
            values: Vec::new(),
            width: columns.len(),
        };
        for g in 0..dataset.len() {
            match item_of(level) {
                None if is_class => {
                    let label = dataset.class(g).zip(offer.classes).map(|(class, labels)| labels[class]);
                    labelling.classes.push(ranks.of(label));
                }
                None => labelling.values.extend(columns.iter().map(|&c| dataset.targets(g)[c])),
                Some(item) => labelling.items(dataset, g, item, &columns, &ranks)?,
            }
            let rows =
                if is_class { labelling.classes.len() } else { labelling.values.len() / columns.len() };
            labelling.offsets.push(rows);
        }
        Ok(labelling)
    }

    /// The rows of the nodes or pairs of a graph of which something is known.
    fn items(
        &mut self,
        dataset: &Dataset,
        graph: usize,
        item: Item,
        columns: &[usize],
        ranks: &Ranks<'_>,
    ) -> Result<()> {
        let known = dataset.known(item, graph);
        for (row, &place) in known.places().iter().enumerate() {
            let class = known.label(row).and_then(|label| ranks.of(Some(label)));
            let value = |&c: &usize| known.values(row)[c];
            if class.is_none() && columns.iter().map(value).all(f64::is_nan) {
                continue;
            }
            let Ok(place) = u32::try_from(place) else {
                return Err(ppgn_graph::Error::unfit(format!(
                    "graph {graph} of {} has too many nodes: a pair of it is beyond 2^32",
                    dataset.name()
                ))
                .into());
            };
            self.places.push(place);
            match columns.is_empty() {
                true => self.classes.push(class),
                false => self.values.extend(columns.iter().map(value)),
            }
        }
        Ok(())
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The rows of a graph.
    pub(crate) fn rows(&self, graph: u32) -> Range<usize> {
        self.offsets[graph as usize]..self.offsets[graph as usize + 1]
    }

    /// The rows of these graphs, one after another.
    pub(crate) fn rows_of<'a>(&'a self, graphs: &'a [u32]) -> impl Iterator<Item = usize> + Clone + 'a {
        graphs.iter().flat_map(|&g| self.rows(g))
    }

    /// The same, each with the sample weight of its graph.
    pub(crate) fn weighted<'a>(
        &'a self,
        graphs: &'a [u32],
        weights: &'a SampleWeights,
    ) -> impl Iterator<Item = (f64, usize)> + 'a {
        graphs.iter().flat_map(move |&g| self.rows(g).map(move |row| (weights.of(g), row)))
    }

    /// The item of a row, within its graph.
    pub(crate) fn place(&self, row: usize) -> usize {
        self.places.get(row).map_or(0, |&place| place as usize)
    }

    /// The class of a row by its place among the goal's, where it is known.
    pub(crate) fn class(&self, row: usize) -> Option<usize> {
        self.classes.get(row).copied().flatten().map(|class| class as usize)
    }

    /// The targets of a row, in the order of the goal's.
    pub(crate) fn values(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Subtracts a row of numbers per graph from the targets of that graph; nothing where there are none.
    pub(crate) fn subtract(&mut self, offsets: &[Vec<f64>]) {
        for (graph, offsets) in offsets.iter().enumerate() {
            for row in self.offsets[graph]..self.offsets[graph + 1] {
                let values = &mut self.values[row * self.width..][..self.width];
                values.iter_mut().zip(offsets).for_each(|(y, offset)| *y -= offset);
            }
        }
    }

    /// Where the items of these graphs are among the items of a batch of them: one number per row.
    pub(crate) fn places_in(&self, dataset: &Dataset, graphs: &[u32]) -> Vec<usize> {
        let (mut places, mut start) = (Vec::new(), 0);
        for &g in graphs {
            places.extend(self.rows(g).map(|row| start + self.place(row)));
            start += self.level.items(dataset.graph(g as usize).nodes());
        }
        places
    }

    /// The row of an item, if something is known of it.
    pub(crate) fn row_of(&self, graph: u32, place: usize) -> Option<usize> {
        let rows = self.rows(graph);
        if self.level == Level::Graph {
            return Some(rows.start);
        }
        let place = u32::try_from(place).ok()?;
        self.places[rows.clone()].binary_search(&place).ok().map(|i| rows.start + i)
    }
}

/// The places of a dataset's classes among a goal's.
#[derive(Default)]
struct Ranks<'a> {
    /// The dataset's labels, ascending, and the goal's place of each.
    labels: &'a [i64],
    places: Vec<Option<u32>>,
}

impl<'a> Ranks<'a> {
    fn new(offer: &Offer<'a>, classes: &[i64], names: &[String]) -> Self {
        let labels = offer.classes.unwrap_or_default();
        let place = |(i, label): (usize, &i64)| {
            let found = match offer.class_names.get(i) {
                Some(name) if !names.is_empty() => names.iter().position(|n| n == name),
                _ => classes.binary_search(label).ok(),
            };
            found.map(|place| place as u32)
        };
        Ranks { labels, places: labels.iter().enumerate().map(place).collect() }
    }

    fn of(&self, label: Option<i64>) -> Option<u32> {
        self.labels.binary_search(&label?).ok().and_then(|i| self.places[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::{Graph, Known, Learnable};

    #[test]
    fn rows_are_what_is_known_of_the_goal() {
        let path = Graph::undirected(3, [(0, 1), (1, 2)]).unwrap();
        let target = |name: &str| Target { name: name.into(), unit: String::new() };
        let learnable = Learnable { targets: vec![target("a"), target("b")], ..Learnable::default() };
        let nan = f64::NAN;
        let known = [
            Known::new(vec![0, 2], vec![], vec![1.0, nan, nan, 2.0]).unwrap(),
            Known::new(vec![1], vec![], vec![3.0, 4.0]).unwrap(),
        ];
        let d = Dataset::builder("d")
            .graphs(vec![path.clone(), path])
            .items(Item::Node, learnable, known.to_vec())
            .build()
            .unwrap();
        let both = Labelling::new(&d, Level::Node, &Goal::Targets(vec![target("b"), target("a")]), &[]);
        let both = both.unwrap();
        assert_eq!((both.len(), both.rows(1), both.values(2)), (3, 2..3, &[4.0, 3.0][..]));
        assert_eq!(both.places_in(&d, &[1, 0]), [1, 3, 5]);
        // Of node 0 of the first graph nothing is known that this goal is about.
        let b = Labelling::new(&d, Level::Node, &Goal::Targets(vec![target("b")]), &[]).unwrap();
        assert_eq!((b.rows(0), b.place(0), b.row_of(0, 0), b.row_of(0, 2)), (0..1, 2, None, Some(0)));
        assert!(Labelling::new(&d, Level::Pair, &Goal::Targets(vec![target("b")]), &[]).is_err());
        assert!(Labelling::new(&d, Level::Node, &Goal::Classes(vec![0]), &[]).is_err());
    }

    #[test]
    fn classes_are_found_by_name() {
        let graphs = vec![Graph::undirected(1, []).unwrap(); 3];
        let words = ["toxic", "mild", "other"].map(|w| Some(w.to_string()));
        let d = Dataset::builder("d").graphs(graphs).named_labels(words.to_vec()).build().unwrap();
        let names = ["harmless", "mild", "toxic"].map(String::from);
        let goal = Goal::Classes(vec![0, 1, 2]);
        let l = Labelling::new(&d, Level::Graph, &goal, &names).unwrap();
        assert_eq!([0, 1, 2].map(|row| l.class(row)), [Some(2), Some(1), None]);
        assert_eq!(l.row_of(2, 0), Some(2));
    }
}
