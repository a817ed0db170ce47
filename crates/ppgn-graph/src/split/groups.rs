//! Splits that keep groups together: graphs of one scaffold, one patient, one source never end up in two parts, so the test
//! set asks for what the training set has not shown.

use super::Split;
use crate::error::Result;
use crate::random::Stream;
use std::collections::HashMap;

/// The order in which groups are given to the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupOrder {
    /// The largest group first, of equal ones that with the first graph: large groups are for training, rare ones for the
    /// test, whatever the seed. The usual order of scaffold splits.
    Largest,
    /// At random by this seed.
    Random(u64),
}

/// Training, validation and test set with about these shares of the graphs, such that graphs with equal words are in one part.
///
/// A group goes to the first part, in the order training, validation, test, that it does not take beyond its share (as in
/// the scaffold split of the Open Graph Benchmark: up to the first share it is for training, up to the sum of the first two for
/// validation, else for the test). O(n log n).
///
/// ```
/// use ppgn_graph::split::{GroupOrder, grouped};
/// let words = ["a", "b", "a", "c", "a", "b", "d", "a", "a", "a"];
/// let split = grouped(words, [0.6, 0.2, 0.2], GroupOrder::Largest)?;
/// assert_eq!(split.train, [0, 2, 4, 7, 8, 9]);
/// assert_eq!((split.validation, split.test), (vec![1, 5], vec![3, 6]));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn grouped<'a>(
    words: impl IntoIterator<Item = &'a str>,
    shares: [f64; 3],
    order: GroupOrder,
) -> Result<Split> {
    super::check_shares(&shares)?;
    // Groups in the order of their first graphs.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut graphs = 0u32;
    for word in words {
        let group = *numbers.entry(word).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(graphs);
        graphs += 1;
    }
    match order {
        GroupOrder::Largest => groups.sort_by_key(|group| std::cmp::Reverse(group.len())),
        GroupOrder::Random(seed) => Stream::new(seed, "split/groups", &[]).shuffle(&mut groups),
    }
    let n = f64::from(graphs);
    // Counts are whole: a share of 0.7 of 10 graphs is 7, though 0.7 * 10 is a little less.
    let up_to = [shares[0] * n + 1e-9, (shares[0] + shares[1]) * n + 1e-9];
    let mut split = Split::default();
    for group in groups {
        let (train, validation) = (split.train.len(), split.validation.len());
        let part = if (train + group.len()) as f64 <= up_to[0] {
            &mut split.train
        } else if (train + validation + group.len()) as f64 <= up_to[1] {
            &mut split.validation
        } else {
            &mut split.test
        };
        part.extend(group);
    }
    for part in [&mut split.train, &mut split.validation, &mut split.test] {
        part.sort_unstable();
    }
    Ok(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_nothing_is_lost() {
        let words: Vec<String> = (0..200).map(|i| format!("{}", i * i % 37)).collect();
        for order in [GroupOrder::Largest, GroupOrder::Random(1), GroupOrder::Random(2)] {
            let split = grouped(words.iter().map(String::as_str), [0.8, 0.1, 0.1], order).unwrap();
            let mut all = [split.train.clone(), split.validation.clone(), split.test.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, (0..200).collect::<Vec<u32>>());
            let words_of = |part: &[u32]| -> std::collections::BTreeSet<&String> {
                part.iter().map(|&g| &words[g as usize]).collect()
            };
            let [a, b, c] = [&split.train, &split.validation, &split.test].map(|part| words_of(part));
            assert!(a.is_disjoint(&b) && a.is_disjoint(&c) && b.is_disjoint(&c));
            assert!((130..=160).contains(&split.train.len()), "{}", split.train.len());
        }
        let of = |seed| grouped(words.iter().map(String::as_str), [0.8, 0.1, 0.1], GroupOrder::Random(seed));
        assert_eq!(of(1).unwrap(), of(1).unwrap());
        assert_ne!(of(1).unwrap(), of(2).unwrap());
        assert!(grouped(["a"], [0.8, 0.1, 0.2], GroupOrder::Largest).unwrap_err().is_call());
    }
}
