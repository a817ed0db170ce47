//! What a run predicts for, item by item, and what the data knows of it: graphs, nodes, or the pairs that were learned.

use crate::data::Goal;
use crate::error::Result;
use crate::labelling::Labelling;
use crate::metrics::{Measured, Part, classification, multi_label, prior, regression};
use crate::settings::{Learned, Settings};
use ppgn_graph::Dataset;
use ppgn_nn::Level;
use std::ops::Range;

/// The items that a run predicts for in a dataset: graphs, nodes, or pairs of nodes; graph after graph, the nodes of a graph
/// in their order, its pairs (u, v) by u and then by v.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_train::{Items, Learned};
/// use ppgn_nn::Level;
/// let path = generate("path:n=3")?;
/// let edges = Items::new(&path, Level::Pair, Learned::Edges);
/// assert_eq!((edges.len(), edges.of_graph(0)), (4, 0..4));
/// assert_eq!(edges.nodes(1), vec![1, 0]);
/// assert_eq!(Items::new(&path, Level::Node, Learned::All).nodes(2), vec![2]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Items {
    dataset: Dataset,
    level: Level,
    pairs: Learned,
    /// Where the items of each graph begin, and the end of the last.
    offsets: Vec<usize>,
}

impl Items {
    /// The items of a level; `pairs` says which pairs count.
    pub fn new(dataset: &Dataset, level: Level, pairs: Learned) -> Self {
        let mut offsets = vec![0];
        for graph in dataset.graphs() {
            let n = graph.nodes();
            let items = match (level, pairs) {
                (Level::Pair, Learned::Edges) => graph.arcs(),
                (Level::Pair, Learned::Different) => n * n.saturating_sub(1),
                (level, _) => level.items(n),
            };
            offsets.push(offsets[offsets.len() - 1] + items);
        }
        Items { dataset: dataset.clone(), level, pairs, offsets }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What has outputs.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The items of a graph.
    pub fn of_graph(&self, graph: usize) -> Range<usize> {
        self.offsets[graph]..self.offsets[graph + 1]
    }

    /// The graph of an item. O(log graphs).
    pub fn graph(&self, item: usize) -> usize {
        self.offsets.partition_point(|&offset| offset <= item) - 1
    }

    /// The node of an item, or the two of a pair; nothing for a graph.
    pub fn nodes(&self, item: usize) -> Vec<usize> {
        let graph = self.graph(item);
        let place = self.place(graph, item - self.offsets[graph]);
        match self.level {
            Level::Graph => Vec::new(),
            Level::Node => vec![place],
            Level::Pair => {
                let n = self.dataset.graph(graph).nodes();
                vec![place / n, place % n]
            }
        }
    }

    /// The place of item `i` of a graph among all its nodes or pairs.
    fn place(&self, graph: usize, i: usize) -> usize {
        let graph = self.dataset.graph(graph);
        let n = graph.nodes();
        match (self.level, self.pairs) {
            (Level::Pair, Learned::Edges) => {
                let u = graph.offsets().partition_point(|&offset| offset as usize <= i) - 1;
                u * n + graph.targets()[i] as usize
            }
            (Level::Pair, Learned::Different) => {
                let (u, v) = (i / (n - 1), i % (n - 1));
                u * n + v + usize::from(v >= u)
            }
            _ => i,
        }
    }

    /// The places of the items of a graph among all its nodes or pairs.
    pub(crate) fn places(&self, graph: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.of_graph(graph).len()).map(move |i| self.place(graph, i))
    }

    /// The item at a place of a graph, if it is one of those that count.
    fn at(&self, graph: usize, place: usize) -> Option<usize> {
        let own = self.dataset.graph(graph);
        let n = own.nodes().max(1);
        let i = match (self.level, self.pairs) {
            (Level::Pair, Learned::Edges) => own.arc(place / n, place % n)?,
            (Level::Pair, Learned::Different) => {
                let (u, v) = (place / n, place % n);
                if u == v {
                    return None;
                }
                u * (n - 1) + v - usize::from(v > u)
            }
            _ => place,
        };
        Some(self.offsets[graph] + i)
    }
}

impl Settings {
    /// The class of a graph by its place among the run's classes: by name where both the run and the data have names, else by
    /// label. `None` where it is not known, or not a class of the run.
    pub fn class_of(&self, dataset: &Dataset, graph: usize) -> Option<usize> {
        let Goal::Classes(classes) = &self.goal else { return None };
        let (header, class) = (dataset.header(), dataset.class(graph)?);
        match header.class_names.get(class) {
            Some(name) if !self.class_names.is_empty() => self.class_names.iter().position(|n| n == name),
            _ => classes.binary_search(header.classes.as_ref()?.get(class)?).ok(),
        }
    }
}

/// What a dataset knows of what a run predicts.
#[derive(Debug, Clone)]
pub struct Truth<'a> {
    settings: &'a Settings,
    items: Items,
    /// Nothing where the data does not have what the run predicts.
    labelling: Option<Labelling>,
}

impl<'a> Truth<'a> {
    /// What this dataset knows.
    pub fn of(settings: &'a Settings, dataset: &Dataset) -> Result<Self> {
        let dataset = settings.taken(dataset)?;
        let level = settings.network.level;
        let labelling = Labelling::new(&dataset, level, &settings.goal, &settings.class_names).ok();
        Ok(Truth { settings, items: Items::new(&dataset, level, settings.pairs), labelling })
    }

    /// What is predicted for.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// Whether the data has what the run predicts, be it that some of it is not known.
    pub fn is_there(&self) -> bool {
        self.labelling.is_some()
    }

    fn row(&self, item: usize) -> Option<(&Labelling, usize)> {
        let graph = self.items.graph(item);
        let place = self.items.place(graph, item - self.items.offsets[graph]);
        let labelling = self.labelling.as_ref()?;
        Some((labelling, labelling.row_of(graph as u32, place)?))
    }

    /// The class of an item by its place among the run's classes. `None` where it is not known, or not a class of the run.
    pub fn class(&self, item: usize) -> Option<usize> {
        self.row(item).and_then(|(labelling, row)| labelling.class(row))
    }

    /// What the data calls the class of a graph, or the run that of a node or pair, where classes have names.
    pub fn class_name(&self, item: usize) -> Option<String> {
        let dataset = &self.items.dataset;
        match self.items.level {
            Level::Graph => dataset.class(item).map(|class| dataset.header().class_name(class)),
            _ => self.settings.class_names.get(self.class(item)?).cloned(),
        }
    }

    /// The targets of an item in the order of the run's, where they are known; nothing where the data does not have them.
    pub fn values(&self, item: usize) -> Option<Vec<Option<f64>>> {
        let labelling = self.labelling.as_ref()?;
        let known = |y: &f64| Some(*y).filter(|y| !y.is_nan());
        match (&self.settings.goal, self.row(item)) {
            (Goal::Classes(_), _) => None,
            (_, Some((_, row))) => Some(labelling.values(row).iter().map(known).collect()),
            (goal, None) => Some(vec![None; goal.outputs()]),
        }
    }

    /// The figures of `numbers` (probabilities or values of an item) for these graphs, and for classes the confusion matrix.
    ///
    /// The loss is the log loss or, for regression, the sum over the targets of the mean absolute error in training deviations.
    /// Nothing where the data does not have what the run predicts.
    pub fn figures<'n>(
        &self,
        graphs: &[u32],
        numbers: impl Fn(usize) -> &'n [f64],
    ) -> Option<(Part, Vec<Vec<u64>>)> {
        let labelling = self.labelling.as_ref()?;
        // What is known of items that the run does not predict for does not count.
        let known = |&g: &u32| {
            let item = move |row| Some((row, self.items.at(g as usize, labelling.place(row))?));
            labelling.rows(g).filter_map(item)
        };
        let (rows, items): (Vec<usize>, Vec<usize>) = graphs.iter().flat_map(known).unzip();
        let predicted: Vec<f64> = items.iter().flat_map(|&item| numbers(item)).copied().collect();
        self.figures_of_rows(&rows, &predicted)
    }

    /// The figures of what was predicted, row by row, for all that is known of these graphs. Nothing where the data does not have
    /// what the run predicts, or has other rows.
    pub(crate) fn figures_of_known(&self, graphs: &[u32], predicted: &[f64]) -> Option<Part> {
        let rows: Vec<usize> = self.labelling.as_ref()?.rows_of(graphs).collect();
        let fit = rows.len() * self.settings.goal.outputs() == predicted.len();
        Some(self.figures_of_rows(&rows, predicted).filter(|_| fit)?.0)
    }

    fn figures_of_rows(&self, rows: &[usize], predicted: &[f64]) -> Option<(Part, Vec<Vec<u64>>)> {
        let labelling = self.labelling.as_ref()?;
        let values = || rows.iter().flat_map(|&row| labelling.values(row)).copied().collect::<Vec<f64>>();
        match &self.settings.goal {
            Goal::Classes(classes) => {
                let truth: Vec<Option<usize>> = rows.iter().map(|&row| labelling.class(row)).collect();
                truth.iter().any(Option::is_some).then(|| {
                    let found = classification(&truth, predicted, classes.len());
                    (Part::of_classes(found.log_loss.unwrap_or(0.0), &found), found.confusion)
                })
            }
            Goal::Labels(labels) => {
                let found = multi_label(&values(), predicted, labels.len()).mean;
                found.accuracy.map(|_| (Part::of_classes(found.log_loss.unwrap_or(0.0), &found), Vec::new()))
            }
            Goal::Targets(targets) => {
                let found = regression(&values(), predicted, targets.len());
                let losses = found.iter().zip(&self.settings.scaling);
                let loss = losses.map(|(m, s)| m.mae.unwrap_or(0.0) / s.deviation).sum();
                found.iter().any(|m| m.mae.is_some()).then(|| (Part::of_values(loss, &found), Vec::new()))
            }
        }
    }

    /// What the baseline predicts for every item, from what is known of the training graphs alone: the shares of the classes or
    /// labels among them, or the mean of every target (with a reference, of what is left of it).
    pub fn baseline(&self, train: &[u32]) -> Vec<f64> {
        let Some(labelling) = &self.labelling else { return vec![0.0; self.settings.goal.outputs()] };
        match &self.settings.goal {
            Goal::Classes(classes) => {
                let known: Vec<Option<usize>> =
                    labelling.rows_of(train).map(|row| labelling.class(row)).collect();
                prior(&known, classes.len())
            }
            Goal::Labels(labels) => {
                let share = |label: usize| {
                    let known = || {
                        labelling
                            .rows_of(train)
                            .map(|row| labelling.values(row)[label])
                            .filter(|y| !y.is_nan())
                    };
                    known().sum::<f64>() / known().count().max(1) as f64
                };
                (0..labels.len()).map(share).collect()
            }
            Goal::Targets(_) => self.settings.scaling.iter().map(|s| s.mean).collect(),
        }
    }

    /// The figures of a baseline, which has the same row for every item, but for the run's reference of its graph.
    pub fn baseline_figures(&self, graphs: &[u32], row: &[f64]) -> Option<Part> {
        let references = self.settings.references(&self.items.dataset).unwrap_or_default();
        let sum = |part: &Vec<f64>| row.iter().zip(part).map(|(x, part)| x + part).collect();
        let rows: Vec<Vec<f64>> = references.iter().map(sum).collect();
        Some(self.figures(graphs, |item| rows.get(item).map_or(row, |sum| &sum[..]))?.0)
    }

    /// The figures of numbers beside those of a baseline, which has the same row for every item.
    pub(crate) fn beside_baseline<'n>(
        &self,
        graphs: &[u32],
        numbers: impl Fn(usize) -> &'n [f64],
        row: &'n [f64],
    ) -> Option<Measured> {
        if graphs.is_empty() {
            return None;
        }
        let (metrics, confusion) = self.figures(graphs, numbers)?;
        let baseline = self.baseline_figures(graphs, row)?;
        let labelling = self.labelling.as_ref()?;
        let size = (graphs.len(), labelling.rows_of(graphs).count());
        Some(Measured::new(labelling.level, size, metrics, baseline, confusion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::generate::generate;

    #[test]
    fn places_and_items_are_inverse() {
        let data = generate("gnp:n=5,p=0.4,loops=1,count=3").unwrap();
        for (level, pairs) in [
            (Level::Graph, Learned::All),
            (Level::Node, Learned::All),
            (Level::Pair, Learned::Edges),
            (Level::Pair, Learned::Different),
            (Level::Pair, Learned::All),
        ] {
            let items = Items::new(&data, level, pairs);
            let mut seen = 0;
            for (g, graph) in data.graphs().iter().enumerate() {
                assert_eq!(items.of_graph(g).start, seen);
                let places: Vec<usize> = items.places(g).collect();
                assert!(places.is_sorted_by(|a, b| a < b), "{level:?} {pairs:?}");
                for (i, &place) in places.iter().enumerate() {
                    assert_eq!((items.at(g, place), items.graph(seen + i)), (Some(seen + i), g));
                }
                for place in (0..level.items(5)).filter(|place| !places.contains(place)) {
                    assert_eq!(items.at(g, place), None);
                    let (u, v) = (place / 5, place % 5);
                    assert!(if pairs == Learned::Edges { graph.arc(u, v).is_none() } else { u == v });
                }
                seen += places.len();
            }
            assert_eq!(items.len(), seen);
        }
    }
}
