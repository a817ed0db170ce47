//! Which graphs are for training, and which are held out.

use super::ranges::Ranges;
use crate::error::{Error, Result};
use ppgn_graph::Dataset;
use ppgn_graph::split::{self, Split};
use serde::{Deserialize, Serialize};

/// How the data is split into training, validation and test set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Division {
    /// The given fold of this number, counted from 1: its training and its test set.
    Fold(usize),
    /// A random fold, stratified by class and drawn by the seed: for data without folds of its own.
    Dealt {
        /// Its number, counted from 1.
        fold: usize,
        /// The number of folds.
        of: usize,
        /// The seed that draws them, where it is not the run's.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<u64>,
    },
    /// A fold with a part of its training set, drawn by the seed and stratified by class, as validation set.
    Nested {
        /// The number of the fold, counted from 1.
        fold: usize,
        /// The number of random folds; nothing for a given fold.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<usize>,
        /// The share of the training set that is for validation.
        validation: f64,
        /// The seed that draws them, where it is not the run's.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<u64>,
    },
    /// A random test set with this share of the graphs, stratified by class.
    Holdout(f64),
    /// Random training, validation and test sets with these shares of the graphs, stratified by class.
    Shares([f64; 3]),
    /// Random training, validation and test sets with these shares of the graphs, whatever their classes.
    Random([f64; 3]),
    /// Graph by graph.
    Listed(Listing),
}

/// A split by the numbers of the graphs, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Where it is from, for people: `parts.csv`, `scaffold`.
    pub from: String,
    /// The training set.
    pub train: Ranges,
    /// The validation set.
    #[serde(skip_serializing_if = "Ranges::is_empty", default)]
    pub validation: Ranges,
    /// The test set.
    #[serde(skip_serializing_if = "Ranges::is_empty", default)]
    pub test: Ranges,
}

impl Division {
    /// A split that was made elsewhere.
    pub fn listed(from: impl Into<String>, split: &Split) -> Self {
        Division::Listed(Listing {
            from: from.into(),
            train: Ranges::of(&split.train),
            validation: Ranges::of(&split.validation),
            test: Ranges::of(&split.test),
        })
    }

    /// The split of a dataset.
    pub fn of(&self, dataset: &Dataset, seed: u64) -> Result<Split> {
        let split = match self {
            Division::Fold(number) => split::given_fold(dataset, *number)?,
            Division::Dealt { fold, of, by } => random_fold(dataset, *fold, *of, by.unwrap_or(seed))?,
            Division::Nested { fold, of, validation, by } => {
                let seed = by.unwrap_or(seed);
                let whole = match of {
                    None => split::given_fold(dataset, *fold)?,
                    Some(of) => random_fold(dataset, *fold, *of, seed)?,
                };
                split::with_validation(dataset, &whole, *validation, seed, true)?
            }
            Division::Holdout(share) => split::holdout(dataset, *share, seed, true)?,
            Division::Shares(shares) => split::three_way(dataset, *shares, seed, true)?,
            Division::Random(shares) => split::three_way(dataset, *shares, seed, false)?,
            Division::Listed(listing) => listing.split(dataset)?,
        };
        match split.train.is_empty() {
            true => Err(Error::settings(format!("none of {} graphs is left to train on", dataset.len()))),
            false => Ok(split),
        }
    }

    /// The number of the fold, where it is one.
    pub fn fold(&self) -> Option<usize> {
        match self {
            Division::Fold(fold) | Division::Dealt { fold, .. } | Division::Nested { fold, .. } => {
                Some(*fold)
            }
            _ => None,
        }
    }

    /// Whether there is a validation set.
    pub fn has_validation(&self) -> bool {
        match self {
            Division::Shares([_, validation, _]) | Division::Random([_, validation, _]) => *validation > 0.0,
            Division::Listed(listing) => !listing.validation.is_empty(),
            Division::Nested { .. } => true,
            Division::Fold(_) | Division::Dealt { .. } | Division::Holdout(_) => false,
        }
    }

    /// Whether there is a test set.
    pub fn has_test(&self) -> bool {
        match self {
            Division::Shares([_, _, test]) | Division::Random([_, _, test]) => *test > 0.0,
            Division::Listed(listing) => !listing.test.is_empty(),
            _ => true,
        }
    }
}

/// A few words: `fold 3`, `80/10/10`, `scaffold`.
impl std::fmt::Display for Division {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |shares: &[f64]| {
            let share = |s: &f64| format!("{}", (s * 1e6).round() / 1e4);
            shares.iter().map(share).collect::<Vec<_>>().join("/")
        };
        match self {
            Division::Fold(number) => write!(f, "fold {number}"),
            Division::Dealt { fold, of, .. } => write!(f, "fold {fold} of {of}"),
            Division::Nested { fold, of: None, .. } => write!(f, "fold {fold}, validated"),
            Division::Nested { fold, of: Some(of), .. } => write!(f, "fold {fold} of {of}, validated"),
            Division::Holdout(share) => write!(f, "holdout {share}"),
            Division::Shares(shares) => f.write_str(&percent(shares)),
            Division::Random(shares) => write!(f, "random {}", percent(shares)),
            Division::Listed(listing) => f.write_str(&listing.from),
        }
    }
}

impl Listing {
    fn split(&self, dataset: &Dataset) -> Result<Split> {
        let last = [&self.train, &self.validation, &self.test].into_iter().filter_map(Ranges::last).max();
        if let Some(graph) = last.filter(|&graph| graph as usize >= dataset.len()) {
            let (name, n) = (dataset.name(), dataset.len());
            return Err(Error::settings(format!("the split has graph {graph}, but {name} has {n} graphs")));
        }
        let split =
            Split { train: self.train.list(), validation: self.validation.list(), test: self.test.list() };
        let mut all = [&split.train[..], &split.validation, &split.test].concat();
        all.sort_unstable();
        match all.array_windows().find(|[a, b]| a == b) {
            Some([graph, _]) => Err(Error::settings(format!("graph {graph} is in two sets of the split"))),
            None => Ok(split),
        }
    }
}

fn random_fold(dataset: &Dataset, fold: usize, of: usize, seed: u64) -> Result<Split> {
    let mut folds = split::stratified_folds(dataset, of, seed)?;
    match fold.checked_sub(1).filter(|&i| i < folds.len()) {
        Some(i) => Ok(folds.swap_remove(i)),
        None => {
            Err(Error::settings(format!("{} has no fold {fold}: its folds are 1 to {of}", dataset.name())))
        }
    }
}
