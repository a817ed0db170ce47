//! What a run learns at its level: classes and targets that the data lists as such, or columns of its nodes or edges,
//! which are no inputs then.

use super::Settings;
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::labelling::{Labelling, item_of};
use crate::objective::Task;
use ppgn_graph::{Dataset, Item};
use ppgn_nn::Level;
use serde::{Deserialize, Serialize};

/// Which pairs of nodes have outputs that were learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// Pairs that are edges, in either direction of an undirected one.
    Edges,
    /// Pairs of different nodes.
    Different,
    /// All pairs, a node with itself too.
    #[default]
    All,
}

impl Learned {
    pub(crate) fn is_all(&self) -> bool {
        *self == Learned::All
    }

    /// The fewest that have all pairs of which something is known.
    pub(crate) fn of(dataset: &Dataset, labelling: &Labelling) -> Self {
        if labelling.level != Level::Pair {
            return Learned::All;
        }
        let mut found = Learned::Edges;
        for (g, graph) in (0..).zip(dataset.graphs()) {
            for row in labelling.rows(g) {
                let (u, v) = (labelling.place(row) / graph.nodes(), labelling.place(row) % graph.nodes());
                match (graph.arc(u, v), u == v) {
                    (Some(_), _) => {}
                    (None, true) => return Learned::All,
                    (None, false) => found = Learned::Different,
                }
            }
        }
        // A self-loop is an edge, but no pair of different nodes.
        match found {
            Learned::Different if has_loops(dataset, labelling) => Learned::All,
            found => found,
        }
    }
}

fn has_loops(dataset: &Dataset, labelling: &Labelling) -> bool {
    let mut graphs = (0..).zip(dataset.graphs());
    graphs
        .any(|(g, graph)| labelling.rows(g).any(|row| labelling.place(row).is_multiple_of(graph.nodes() + 1)))
}

/// The columns of nodes or edges that these targets name; nothing where they are what the data lists to be learned.
pub(super) fn columns(dataset: &Dataset, level: Level, targets: &[String]) -> Result<Vec<String>> {
    let Some(item) = item_of(level) else { return Ok(Vec::new()) };
    let listed = dataset.learnable(item);
    let is_listed = |name: &String| {
        name == "all" && !listed.targets.is_empty()
            || listed.targets.iter().any(|t| t.name.eq_ignore_ascii_case(name))
    };
    if targets.is_empty() && !listed.is_empty() || !targets.is_empty() && targets.iter().all(is_listed) {
        return Ok(Vec::new());
    }
    let known = dataset.columns(item);
    let column = |name: &String| known.iter().find(|column| column.eq_ignore_ascii_case(name));
    let found: Option<Vec<String>> = targets.iter().map(|name| column(name).map(|c| c.to_string())).collect();
    match found {
        Some(found) if !found.is_empty() => Ok(found),
        _ => Err(Error::NothingAtLevel {
            dataset: dataset.name().to_string(),
            item: item.name(),
            asked: targets.to_vec(),
            targets: listed.targets.iter().map(|t| t.name.clone()).collect(),
            columns: known.into_iter().map(String::from).collect(),
        }),
    }
}

/// The dataset with these columns as what is learned.
pub(super) fn take(dataset: &Dataset, level: Level, columns: &[String], numbers: bool) -> Result<Dataset> {
    match item_of(level) {
        Some(item) if !columns.is_empty() => Ok(dataset.learning(item, columns, numbers)?),
        _ => Ok(dataset.clone()),
    }
}

/// Whether columns of labels are to be numbers for this task.
pub(super) fn as_numbers(task: Task) -> bool {
    matches!(task, Task::Regression | Task::MultiLabel)
}

impl Settings {
    /// The data as the network sees it: without the columns of nodes or edges that it learns, which are what is to be learned of
    /// them instead. Data to predict on need not have them.
    pub fn taken(&self, dataset: &Dataset) -> Result<Dataset> {
        let Some(item) = item_of(self.network.level) else { return Ok(dataset.clone()) };
        let known = dataset.columns(item);
        let there: Vec<String> =
            self.columns.iter().filter(|c| known.contains(&c.as_str())).cloned().collect();
        // Words that a run has numbers for, or the other way round, are found where classes and schemas are compared.
        let numbers = !matches!(self.goal, Goal::Classes(_));
        take(dataset, self.network.level, &there, numbers)
    }

    /// What identifies the graphs that are encoded: the digest of the data, and the columns that were taken out of it.
    pub(crate) fn content(&self, digest: &str) -> String {
        let item = item_of(self.network.level).map_or("", Item::name);
        match self.columns.is_empty() {
            true => digest.to_string(),
            false => format!("{digest} without {item} {}", self.columns.join(" ")),
        }
    }
}
