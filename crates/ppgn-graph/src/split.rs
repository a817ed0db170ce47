//! Splitting a dataset: given folds, stratified folds, random splits, groups that stay together (such as scaffolds of
//! molecules), and tables that say which graph is in which part. A split is a function of (dataset, seed).

mod groups;
mod listed;
mod scaffold;

pub use groups::{GroupOrder, grouped};
pub use listed::{Listed, part_names, quoted, to_csv};
pub use scaffold::scaffolds;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::random::Stream;

/// A split by graph numbers, each list ascending. Lists may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// The training set.
    pub train: Vec<u32>,
    /// The validation set, which selects the epoch.
    pub validation: Vec<u32>,
    /// The test set.
    pub test: Vec<u32>,
}

/// Fold `number` (from 1, as in its file's name) of the folds that come with the data.
pub fn given_fold(dataset: &Dataset, number: usize) -> Result<Split> {
    let folds = dataset.folds();
    let fold = number.checked_sub(1).and_then(|i| folds.get(i)).ok_or_else(|| {
        Error::call(match folds.len() {
            0 => format!("{} has no given folds", dataset.name()),
            n => format!("{} has no fold {number}: its folds are 1 to {n}", dataset.name()),
        })
    })?;
    let sorted = |list: &[u32]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    Ok(Split { train: sorted(&fold.train), validation: Vec::new(), test: sorted(&fold.test) })
}

/// `folds` splits with disjoint test sets that cover the dataset, stratified by class: any two test sets differ by at
/// most one graph in every class and in total. Without classes the folds are random.
pub fn stratified_folds(dataset: &Dataset, folds: usize, seed: u64) -> Result<Vec<Split>> {
    if folds < 2 || folds > dataset.len() {
        return Err(Error::call(format!(
            "{} graphs cannot be divided into {folds} folds: there must be at least 2 folds, and at most one per graph",
            dataset.len()
        )));
    }
    let order = order(dataset, (0..dataset.len() as u32).collect(), true, seed, "split/folds");
    let mut splits = vec![Split::default(); folds];
    for (place, &graph) in order.iter().enumerate() {
        for (fold, split) in splits.iter_mut().enumerate() {
            let part = if place % folds == fold { &mut split.test } else { &mut split.train };
            part.push(graph);
        }
    }
    splits.iter_mut().for_each(sort);
    Ok(splits)
}

/// A random test set of this fraction (0 to 1, with at least one graph on either side).
pub fn holdout(dataset: &Dataset, fraction: f64, seed: u64, stratified: bool) -> Result<Split> {
    let [train, test] = parts(dataset, [1.0 - fraction, fraction], seed, stratified)?;
    if train.is_empty() || test.is_empty() {
        return Err(Error::call(format!(
            "holding out {fraction} of {} graphs leaves nothing on one side",
            dataset.len()
        )));
    }
    Ok(Split { train, validation: Vec::new(), test })
}

/// Random training, validation and test sets with these shares, such as `[0.8, 0.1, 0.1]`.
///
/// ```
/// use ppgn_graph::{Dataset, Graph, split};
/// let graphs = vec![Graph::undirected(1, [])?; 50];
/// let d = Dataset::builder("d").graphs(graphs).labels((0..50).map(|i| i % 2).collect()).build()?;
/// let s = split::three_way(&d, [0.8, 0.1, 0.1], 0, true)?;
/// assert_eq!([s.train.len(), s.validation.len(), s.test.len()], [40, 5, 5]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn three_way(dataset: &Dataset, shares: [f64; 3], seed: u64, stratified: bool) -> Result<Split> {
    let [train, validation, test] = parts(dataset, shares, seed, stratified)?;
    Ok(Split { train, validation, test })
}

/// The split with this share of its training set as its validation set instead, at random or stratified by class: for a choice
/// that the test set has no say in. At least one graph is on either side.
///
/// ```
/// use ppgn_graph::{Dataset, Graph, split};
/// let graphs = vec![Graph::undirected(1, [])?; 50];
/// let d = Dataset::builder("d").graphs(graphs).labels((0..50).map(|i| i % 2).collect()).build()?;
/// let fold = split::stratified_folds(&d, 5, 0)?.swap_remove(0);
/// let s = split::with_validation(&d, &fold, 0.1, 0, true)?;
/// assert_eq!([s.train.len(), s.validation.len(), s.test.len()], [36, 4, 10]);
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn with_validation(
    dataset: &Dataset,
    split: &Split,
    share: f64,
    seed: u64,
    stratified: bool,
) -> Result<Split> {
    let order = order(dataset, split.train.clone(), stratified, seed, "split/validation");
    let [train, validation] = parts_of(&order, [1.0 - share, share])?;
    if train.is_empty() || validation.is_empty() {
        return Err(Error::call(format!(
            "taking {share} of {} training graphs for validation leaves nothing on one side",
            split.train.len()
        )));
    }
    Ok(Split { train, validation, test: split.test.clone() })
}

/// Disjoint random parts of these shares, together everything; sizes by largest remainder. Stratified, each class is
/// spread evenly over the parts.
fn parts<const N: usize>(
    dataset: &Dataset,
    shares: [f64; N],
    seed: u64,
    stratified: bool,
) -> Result<[Vec<u32>; N]> {
    let order = order(dataset, (0..dataset.len() as u32).collect(), stratified, seed, "split/parts");
    parts_of(&order, shares)
}

/// An error where shares are not numbers from 0 to 1 that sum to 1.
fn check_shares(shares: &[f64]) -> Result<()> {
    let total: f64 = shares.iter().sum();
    match shares.iter().any(|s| !(0.0..=1.0).contains(s)) || (total - 1.0).abs() > 1e-9 {
        true => Err(Error::call(format!("the shares {shares:?} are not numbers from 0 to 1 that sum to 1"))),
        false => Ok(()),
    }
}

/// Graphs in random order, divided into parts of these shares.
fn parts_of<const N: usize>(order: &[u32], shares: [f64; N]) -> Result<[Vec<u32>; N]> {
    check_shares(&shares)?;
    let n = order.len();
    let mut sizes = shares.map(|s| (s * n as f64 + 1e-9).floor() as usize);
    let remainder = |i: usize, sizes: &[usize; N]| shares[i] * n as f64 - sizes[i] as f64;
    while sizes.iter().sum::<usize>() < n {
        let mut best = 0;
        for i in 1..N {
            if remainder(i, &sizes) > remainder(best, &sizes) + 1e-9 {
                best = i;
            }
        }
        sizes[best] += 1;
    }
    // Walk through the random order, always giving to the part that is furthest behind its share: so every stretch of
    // the order, and with it every class, is divided as the whole is.
    let mut parts: [Vec<u32>; N] = std::array::from_fn(|_| Vec::new());
    for (place, &graph) in order.iter().enumerate() {
        let behind = |i: usize, parts: &[Vec<u32>; N]| {
            sizes[i] as f64 * (place + 1) as f64 / n as f64 - parts[i].len() as f64
        };
        let mut best = None;
        for i in 0..N {
            if parts[i].len() < sizes[i] && best.is_none_or(|b| behind(i, &parts) > behind(b, &parts)) {
                best = Some(i);
            }
        }
        parts[best.expect("the sizes sum to the number of graphs")].push(graph);
    }
    parts.iter_mut().for_each(|p| p.sort_unstable());
    Ok(parts)
}

/// These graphs in random order; stratified, class after class.
fn order(dataset: &Dataset, mut order: Vec<u32>, stratified: bool, seed: u64, purpose: &str) -> Vec<u32> {
    Stream::new(seed, purpose, &[]).shuffle(&mut order);
    if stratified && dataset.has_classes() {
        // Graphs whose class is not known are a group of their own, at the end.
        order.sort_by_key(|&g| dataset.class(g as usize).unwrap_or(usize::MAX));
    }
    order
}

fn sort(split: &mut Split) {
    split.train.sort_unstable();
    split.test.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fold, Graph};

    fn dataset(labels: &[i64]) -> Dataset {
        let graphs = vec![Graph::undirected(1, []).unwrap(); labels.len()];
        let fold = Fold { train: vec![2, 0], test: vec![1] };
        Dataset::builder("d").graphs(graphs).labels(labels.to_vec()).folds(vec![fold]).build().unwrap()
    }

    #[test]
    fn given_folds_are_numbered_from_one() {
        let d = dataset(&[0, 1, 0]);
        assert_eq!(
            given_fold(&d, 1).unwrap(),
            Split { train: vec![0, 2], test: vec![1], ..Split::default() }
        );
        assert_eq!(given_fold(&d, 2).unwrap_err().to_string(), "d has no fold 2: its folds are 1 to 1");
        assert!(given_fold(&d, 0).unwrap_err().is_call());
    }

    #[test]
    fn folds_cover_everything_once_and_are_alike_in_classes() {
        let labels: Vec<i64> = (0..103).map(|i| i64::from(i % 7 == 0) + i64::from(i > 90)).collect();
        let d = dataset(&labels);
        let splits = stratified_folds(&d, 10, 3).unwrap();
        let mut seen = vec![0; 103];
        for s in &splits {
            assert_eq!(s.train.len() + s.test.len(), 103);
            s.test.iter().for_each(|&g| seen[g as usize] += 1);
        }
        assert!(seen.iter().all(|&n| n == 1));
        for class in 0..3 {
            let counts: Vec<usize> = splits
                .iter()
                .map(|s| s.test.iter().filter(|&&g| d.class(g as usize) == Some(class)).count())
                .collect();
            let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(high - low <= 1, "class {class}: {counts:?}");
        }
        assert_eq!(splits, stratified_folds(&d, 10, 3).unwrap());
        assert_ne!(splits, stratified_folds(&d, 10, 4).unwrap());
        assert!(stratified_folds(&d, 1, 0).is_err());
        assert!(stratified_folds(&d, 104, 0).is_err());
    }

    #[test]
    fn parts_are_disjoint_and_of_the_right_size() {
        let labels: Vec<i64> = (0..150).map(|i| i / 15).collect();
        let d = dataset(&labels);
        for stratified in [false, true] {
            let s = three_way(&d, [0.8, 0.1, 0.1], 1, stratified).unwrap();
            assert_eq!([s.train.len(), s.validation.len(), s.test.len()], [120, 15, 15]);
            let mut all = [s.train.clone(), s.validation.clone(), s.test.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, (0..150).collect::<Vec<_>>());
            if stratified {
                for class in 0..10 {
                    let of =
                        |part: &[u32]| part.iter().filter(|&&g| d.class(g as usize) == Some(class)).count();
                    assert!((1..=2).contains(&of(&s.test)), "{}", of(&s.test));
                    assert!((11..=13).contains(&of(&s.train)), "{}", of(&s.train));
                }
            }
        }
        assert!(three_way(&d, [0.8, 0.1, 0.2], 1, true).unwrap_err().is_call());
        assert!(holdout(&d, 0.001, 0, false).unwrap_err().is_call());
        assert_eq!(holdout(&d, 0.1, 0, false).unwrap().test.len(), 15);
    }

    #[test]
    fn no_graphs_no_panic() {
        let d = Dataset::builder("d").build().unwrap();
        assert!(stratified_folds(&d, 2, 0).is_err());
        assert!(holdout(&d, 0.5, 0, true).is_err());
        assert_eq!(three_way(&d, [0.8, 0.1, 0.1], 0, true).unwrap(), Split::default());
    }
}
