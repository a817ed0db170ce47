//! What is learned, beyond what the data says by itself: which of its classes and targets, and how much each class counts.

use crate::data::Goal;
use crate::error::{Error, Result};
use crate::labelling::{Labelling, Offer, item_of, noun};
use crate::settings::SampleWeights;
use ppgn_graph::Dataset;
use ppgn_graph::split::Split;
use ppgn_nn::Level;
use serde::{Deserialize, Serialize};

/// What is to be learned of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Its classes if it has any and no target is named, else its targets.
    #[default]
    Auto,
    /// Its classes.
    Classification,
    /// Its targets, as numbers.
    Regression,
    /// Its targets as labels that are 0 or 1 each: multi-label classification.
    MultiLabel,
}

/// How much the classes count in the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// All the same.
    #[default]
    None,
    /// Inversely to their frequency in the training set.
    Balanced,
}

impl ClassWeights {
    pub(crate) fn is_none(&self) -> bool {
        *self == ClassWeights::None
    }
}

impl Goal {
    /// The goal of a dataset for a task; the targets by name (`all` or none named: all of them).
    pub fn choose(dataset: &Dataset, targets: &[String], task: Task) -> Result<Self> {
        Goal::pick(&Offer::of(dataset, Level::Graph), targets, task)
    }

    /// The same of what there is to learn at some level.
    pub(crate) fn pick(offer: &Offer<'_>, targets: &[String], task: Task) -> Result<Self> {
        let name = offer.name;
        let per =
            if offer.level == Level::Graph { String::new() } else { format!(" per {}", noun(offer.level)) };
        let some = || if targets.is_empty() { vec!["all".to_string()] } else { targets.to_vec() };
        let no_targets = offer.targets.is_empty();
        match task {
            Task::Auto => Goal::among(offer, targets),
            Task::Classification if !targets.is_empty() => {
                Err(Error::settings("classes are to be learned, so there are no targets to choose"))
            }
            Task::Classification => match offer.classes {
                Some(classes) => Ok(Goal::Classes(classes.to_vec())),
                None => Err(Error::settings(format!("{name} has no classes{per}"))),
            },
            Task::Regression | Task::MultiLabel if no_targets => {
                Err(Error::settings(format!("{name} has no targets{per}")))
            }
            Task::Regression => Goal::among(offer, &some()),
            Task::MultiLabel => match Goal::among(offer, &some())? {
                Goal::Targets(targets) => Ok(Goal::Labels(targets)),
                other => Ok(other),
            },
        }
    }

    /// An error where a set of a split has nothing to learn or to measure: no known value of a target, or no known class; or
    /// where a label is neither 0 nor 1. Values that are missing elsewhere are left out of losses and metrics.
    pub(crate) fn check(&self, dataset: &Dataset, labelling: &Labelling, split: &Split) -> Result<()> {
        let (name, item) = (dataset.name(), noun(labelling.level));
        let unfit = |text: String| Err(ppgn_graph::Error::unfit(text).into());
        let sets = [("training", &split.train), ("validation", &split.validation), ("test", &split.test)];
        let sets = || sets.iter().filter(|(_, graphs)| !graphs.is_empty());
        match self {
            Goal::Classes(_) => {
                for (set, graphs) in sets() {
                    if labelling.rows_of(graphs).all(|row| labelling.class(row).is_none()) {
                        return unfit(format!(
                            "no {item} of the {set} set of {name} has a class that is known"
                        ));
                    }
                }
            }
            Goal::Targets(targets) | Goal::Labels(targets) => {
                for (c, target) in targets.iter().enumerate() {
                    let of = |row: usize| labelling.values(row)[c];
                    for (set, graphs) in sets() {
                        if labelling.rows_of(graphs).all(|row| of(row).is_nan()) {
                            return unfit(format!(
                                "no {item} of the {set} set of {name} has a value of the target `{}`",
                                target.name
                            ));
                        }
                    }
                    if !matches!(self, Goal::Labels(_)) {
                        continue;
                    }
                    let is_odd = |&row: &usize| ![0.0, 1.0].contains(&of(row)) && !of(row).is_nan();
                    let odd = |&g: &u32| labelling.rows(g).find(is_odd).map(|row| (g, row));
                    if let Some((g, row)) = (0..dataset.len() as u32).collect::<Vec<_>>().iter().find_map(odd)
                    {
                        let nodes = dataset.graph(g as usize).nodes();
                        let which = match item_of(labelling.level) {
                            None => String::new(),
                            Some(item) => format!("{} of ", item.shown(labelling.place(row) as u64, nodes)),
                        };
                        return unfit(format!(
                            "{which}graph {g} of {name} has {} as target `{}`: a label is 0 or 1, or missing",
                            of(row),
                            target.name
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The weights of the terms of the loss, by the training set: one per class, or one per label for its positive ones.
    ///
    /// - classes: `n / (classes * n_c)` for n_c of n graphs (nodes, pairs), as scikit-learn's `balanced`; PyTorch's `weight`
    /// - labels: negative / positive; PyTorch's `pos_weight`
    ///
    /// Every one counts as much as the sample weight of its graph. Those whose class or label is missing do not count. What
    /// does not occur has the weight 1.
    pub(crate) fn weights(
        &self,
        how: ClassWeights,
        labelling: &Labelling,
        train: &[u32],
        samples: &SampleWeights,
    ) -> Result<Vec<f64>> {
        let quotient = |a: f64, b: f64| if a > 0.0 && b > 0.0 { a / b } else { 1.0 };
        match (how, self) {
            (ClassWeights::None, _) => Ok(Vec::new()),
            (ClassWeights::Balanced, Goal::Targets(_)) => {
                Err(Error::settings("class weights need classes or labels, not the targets of a regression"))
            }
            (ClassWeights::Balanced, Goal::Classes(classes)) => {
                let mut counts = vec![0.0; classes.len()];
                let known = labelling.weighted(train, samples);
                known.for_each(|(w, row)| {
                    labelling.class(row).into_iter().for_each(|class| counts[class] += w)
                });
                let n: f64 = counts.iter().sum();
                Ok(counts.iter().map(|&count| quotient(n, classes.len() as f64 * count)).collect())
            }
            (ClassWeights::Balanced, Goal::Labels(targets)) => {
                let weight = |c: usize| {
                    let with = |y: f64| {
                        let having = labelling
                            .weighted(train, samples)
                            .filter(|(_, row)| labelling.values(*row)[c] == y);
                        having.map(|(w, _)| w).sum::<f64>()
                    };
                    quotient(with(0.0), with(1.0))
                };
                Ok((0..targets.len()).map(weight).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::{Graph, Target};

    fn graphs() -> Vec<Graph> {
        vec![Graph::undirected(2, [(0, 1)]).unwrap(); 5]
    }

    /// Two labels per graph; one is missing.
    fn labelled() -> Dataset {
        let targets = ["a", "b"].map(|name| Target { name: name.into(), unit: String::new() });
        let values = vec![1.0, 0.0, 0.0, f64::NAN, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
        Dataset::builder("d").graphs(graphs()).targets(targets.to_vec(), values).build().unwrap()
    }

    #[test]
    fn balanced_weights_are_those_of_scikit_learn_and_pytorch() {
        let labels = vec![Some(0), Some(0), None, Some(0), Some(1)];
        let d = Dataset::builder("d").graphs(graphs()).known_labels(labels).build().unwrap();
        let goal = Goal::of(&d, &[]).unwrap();
        let known = Labelling::new(&d, Level::Graph, &goal, &[]).unwrap();
        let of = |train: &[u32]| {
            goal.weights(ClassWeights::Balanced, &known, train, &SampleWeights::default()).unwrap()
        };
        // compute_class_weight("balanced", classes=[0, 1], y=[0, 0, 0, 1]) is [4/6, 2].
        assert_eq!(of(&[0, 1, 2, 3, 4]), [4.0 / 6.0, 2.0]);
        assert_eq!(of(&[0, 1]), [0.5, 1.0], "a class that does not occur");
        let none = SampleWeights::default();
        assert!(goal.weights(ClassWeights::None, &known, &[0], &none).unwrap().is_empty());
        // compute_class_weight("balanced", classes=[0, 1], y=[0, 0, 0, 1], sample_weight=[1, 2, 3, 2]) is [8/12, 2].
        let samples = SampleWeights::new(vec![1.0, 2.0, 9.0, 3.0, 2.0]).unwrap();
        let weights = goal.weights(ClassWeights::Balanced, &known, &[0, 1, 2, 3, 4], &samples).unwrap();
        assert_eq!(weights, [8.0 / 12.0, 2.0]);
        let goal = Goal::choose(&labelled(), &[], Task::MultiLabel).unwrap();
        let known = Labelling::new(&labelled(), Level::Graph, &goal, &[]).unwrap();
        // 4 negative and 1 positive; 2 negative and 2 positive.
        let of = |samples| goal.weights(ClassWeights::Balanced, &known, &[0, 1, 2, 3, 4], samples).unwrap();
        assert_eq!(of(&none), [4.0, 1.0]);
        assert_eq!(of(&samples), [16.0, 3.0 / 12.0]);
    }

    #[test]
    fn goals_by_task() {
        let d = labelled();
        let choose = |targets: &[&str], task| {
            Goal::choose(&d, &targets.iter().map(|t| t.to_string()).collect::<Vec<_>>(), task)
        };
        assert!(matches!(choose(&[], Task::Auto).unwrap(), Goal::Targets(t) if t.len() == 2));
        assert!(matches!(choose(&["b"], Task::MultiLabel).unwrap(), Goal::Labels(t) if t[0].name == "b"));
        assert!(choose(&[], Task::Classification).unwrap_err().to_string().contains("no classes"));
        assert!(choose(&["c"], Task::MultiLabel).unwrap_err().to_string().contains("no target `c`"));
        let goal = choose(&[], Task::MultiLabel).unwrap();
        let split = |train: Vec<u32>, test| Split { train, validation: Vec::new(), test };
        let known = Labelling::new(&d, Level::Graph, &goal, &[]).unwrap();
        assert!(goal.check(&d, &known, &split(vec![0, 1, 2], vec![3])).is_ok());
        let error = goal.check(&d, &known, &split(vec![0, 2, 3], vec![1])).unwrap_err().to_string();
        assert_eq!(error, "no graph of the test set of d has a value of the target `b`");
        let targets = vec![Target { name: "y".into(), unit: String::new() }];
        let d = Dataset::builder("d")
            .graphs(graphs())
            .targets(targets, vec![0.0, 1.0, 2.0, 0.0, 0.0])
            .build()
            .unwrap();
        let goal = Goal::choose(&d, &[], Task::MultiLabel).unwrap();
        let known = Labelling::new(&d, Level::Graph, &goal, &[]).unwrap();
        let error = goal.check(&d, &known, &split(vec![0], vec![1])).unwrap_err().to_string();
        assert!(error.contains("graph 2 of d has 2 as target `y`: a label is 0 or 1"), "{error}");
    }
}
