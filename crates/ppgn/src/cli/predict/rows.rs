//! Predictions as rows of a file: what was predicted for a graph, a node or a pair, beside what is known of it.

use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::graph::split::quoted;
use ppgn::nn::Level;
use ppgn::train::{Goal, Prediction, Settings, Truth};
use serde_json::{Value, json};
use std::path::Path;

/// The form of a file of predictions.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Csv,
    Jsonl,
}

impl Format {
    /// By the ending of a file's name.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("csv") => Ok(Format::Csv),
            Some("jsonl") => Ok(Format::Jsonl),
            _ => Err(wrong(format!("{}: predictions are written as .csv or .jsonl", path.display()))),
        }
    }
}

/// What a network gave for every graph, node or pair.
pub(crate) enum Given {
    Scores(Vec<Vec<f64>>),
    Predictions(Vec<Prediction>),
}

impl Given {
    fn numbers(&self, row: usize) -> &[f64] {
        match self {
            Given::Scores(rows) => &rows[row],
            Given::Predictions(rows) => rows[row].numbers(),
        }
    }
}

/// The rows of predictions.
pub(crate) struct Rows<'a> {
    /// The settings of the run.
    pub(crate) settings: &'a Settings,
    /// The graphs that were predicted.
    pub(crate) dataset: &'a Dataset,
    /// What is known of them, and of what in them was predicted.
    pub(crate) truth: &'a Truth<'a>,
    /// Their positions in the data, one per graph.
    pub(crate) positions: &'a [u32],
    /// Their parts in the run's split, where the data is the run's.
    pub(crate) parts: Option<&'a [Option<&'static str>]>,
    pub(crate) given: &'a Given,
}

impl Rows<'_> {
    /// All rows as the text of a file.
    pub(crate) fn text(&self, format: Format) -> String {
        let rows = 0..self.truth.items().len();
        match format {
            Format::Csv => {
                let lines = std::iter::once(self.head()).chain(rows.map(|row| self.cells(row)));
                lines.map(|cells| cells.join(",") + "\n").collect()
            }
            Format::Jsonl => rows.map(|row| format!("{}\n", self.object(row))).collect(),
        }
    }

    /// The names of the columns. What was not there in version 0.1 comes after what was.
    fn head(&self) -> Vec<String> {
        let scores = matches!(self.given, Given::Scores(_));
        let prefix = if scores { "score" } else { "probability" };
        let mut columns = vec!["index".to_string()];
        columns.extend(self.node_names().iter().map(ToString::to_string));
        match &self.settings.goal {
            Goal::Classes(classes) => {
                columns.extend((!scores).then(|| "class".to_string()));
                columns.extend(classes.iter().map(|class| format!("{prefix} {class}")));
            }
            Goal::Labels(labels) => {
                columns.extend(labels.iter().map(|t| quoted(&format!("{prefix} {}", t.name))));
            }
            Goal::Targets(targets) => {
                let prefix = if scores { "score " } else { "" };
                columns.extend(targets.iter().map(|t| quoted(&format!("{prefix}{}", t.name))));
            }
        }
        columns.extend(self.dataset.has_ids().then(|| "id".to_string()));
        match &self.settings.goal {
            Goal::Classes(_) => {
                columns.extend((self.has_names() && !scores).then(|| "class_name".to_string()));
                columns.extend(self.has_truth().then(|| "truth".to_string()));
                columns.extend((self.has_truth() && self.has_names()).then(|| "truth_name".to_string()));
            }
            Goal::Targets(targets) | Goal::Labels(targets) if self.has_truth() => {
                columns.extend(targets.iter().map(|t| quoted(&format!("truth {}", t.name))));
            }
            Goal::Targets(_) | Goal::Labels(_) => {}
        }
        columns.extend(self.parts.map(|_| "part".to_string()));
        columns
    }

    fn cells(&self, row: usize) -> Vec<String> {
        let graph = self.truth.items().graph(row);
        let mut cells = vec![self.positions[graph].to_string()];
        cells.extend(self.truth.items().nodes(row).iter().map(ToString::to_string));
        if let Some(label) = self.class(row).map(|class| self.label(class)) {
            cells.push(label.to_string());
        }
        cells.extend(self.given.numbers(row).iter().map(f64::to_string));
        if self.dataset.has_ids() {
            cells.push(quoted(self.dataset.id(graph).unwrap_or_default()));
        }
        match &self.settings.goal {
            Goal::Classes(_) => {
                if let (true, Some(class)) = (self.has_names(), self.class(row)) {
                    cells.push(quoted(&self.settings.class_names[class]));
                }
                let truth = self.truth.class(row);
                if self.has_truth() {
                    cells.push(truth.map(|class| self.label(class).to_string()).unwrap_or_default());
                }
                if self.has_truth() && self.has_names() {
                    cells.push(quoted(&self.truth.class_name(row).unwrap_or_default()));
                }
            }
            Goal::Targets(_) | Goal::Labels(_) => {
                let truth = self.truth.values(row).unwrap_or_default();
                cells.extend(truth.iter().map(|y| y.map(|y| y.to_string()).unwrap_or_default()));
            }
        }
        cells.extend(self.parts.map(|parts| parts[graph].unwrap_or("none").to_string()));
        cells
    }

    fn object(&self, row: usize) -> Value {
        let graph = self.truth.items().graph(row);
        let index = self.positions[graph];
        let numbers = self.given.numbers(row);
        let mut object = match (self.given, self.class(row)) {
            (Given::Scores(_), _) => json!({ "index": index, "scores": numbers }),
            (_, Some(class)) => {
                json!({ "index": index, "class": self.label(class), "probabilities": numbers })
            }
            (_, None) if self.settings.goal.is_classification() => {
                json!({ "index": index, "probabilities": numbers })
            }
            (_, None) => json!({ "index": index, "values": numbers }),
        };
        for (name, node) in self.node_names().iter().zip(self.truth.items().nodes(row)) {
            object[*name] = node.into();
        }
        if let Some(id) = self.dataset.id(graph) {
            object["id"] = id.into();
        }
        if let (true, Some(class)) = (self.has_names(), self.class(row)) {
            object["class_name"] = self.settings.class_names[class].clone().into();
        }
        if self.has_truth() {
            object["truth"] = match &self.settings.goal {
                Goal::Classes(_) => {
                    json!(self.truth.class(row).map(|class| self.label(class)))
                }
                Goal::Targets(_) | Goal::Labels(_) => json!(self.truth.values(row)),
            };
            if self.has_names() {
                object["truth_name"] = json!(self.truth.class_name(row));
            }
        }
        if let Some(parts) = self.parts {
            object["part"] = json!(parts[graph]);
        }
        object
    }

    /// The predicted class, by its place among the run's.
    fn class(&self, row: usize) -> Option<usize> {
        let (Given::Predictions(rows), Goal::Classes(classes)) = (self.given, &self.settings.goal) else {
            return None;
        };
        match &rows[row] {
            Prediction::Class { class, .. } => classes.binary_search(class).ok(),
            Prediction::Values(_) | Prediction::Labels(_) => None,
        }
    }

    fn label(&self, class: usize) -> i64 {
        match &self.settings.goal {
            Goal::Classes(classes) => classes[class],
            Goal::Targets(_) | Goal::Labels(_) => class as i64,
        }
    }

    /// Whether classes have names.
    fn has_names(&self) -> bool {
        !self.settings.class_names.is_empty()
    }

    /// Whether the data has what was predicted.
    fn has_truth(&self) -> bool {
        self.truth.is_there()
    }

    /// The names of the columns of nodes.
    fn node_names(&self) -> &'static [&'static str] {
        match self.truth.items().level() {
            Level::Graph => &[],
            Level::Node => &["node"],
            Level::Pair => &["node1", "node2"],
        }
    }
}
