//! Which graphs are for training, and which are held out.

use crate::error::{Error, Result};
use ppgn_graph::Dataset;
use ppgn_graph::split::{self, Split};
use serde::{Deserialize, Serialize};

/// How the data is split into training, validation and test set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
    },
    /// A random test set with this share of the graphs, stratified by class.
    Holdout(f64),
    /// Random training, validation and test sets with these shares of the graphs, stratified by class.
    Shares([f64; 3]),
}

impl Division {
    /// The split of a dataset.
    pub fn of(self, dataset: &Dataset, seed: u64) -> Result<Split> {
        let split = match self {
            Division::Fold(number) => split::given_fold(dataset, number)?,
            Division::Dealt { fold, of } => random_fold(dataset, fold, of, seed)?,
            Division::Holdout(share) => split::holdout(dataset, share, seed, true)?,
            Division::Shares(shares) => split::three_way(dataset, shares, seed, true)?,
        };
        match split.train.is_empty() {
            true => Err(Error::settings(format!("none of {} graphs is left to train on", dataset.len()))),
            false => Ok(split),
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
