//! How a batch is shared out: as much work for each, not as many graphs.
//!
//! A batch is a binary tree of halves of about the same cost, and its gradient is the sum of its halves' gradients, so on down to
//! [parts](splits) that are computed at once. This tree depends on the batch alone. Of 2, 4, 8 ... ranks each takes a
//! whole subtree, so that all sums are those of one process, to the bit.

use crate::data::Prepared;

/// Fewer graphs than this are computed at once, but for the first halves: they are there for two ranks.
const AT_ONCE: usize = 32;

/// With as many parameters the first halves are no exception. Weights and gradients that a core's cache does not hold cost more
/// than a second pass is worth: `paper-1` on MUTAG, five graphs per batch, would take 8 to 12 % longer.
const WIDE: usize = 1 << 19;

/// Whether this number of graphs, all that is left of a batch after these halvings, is halved again.
fn splits(graphs: usize, halvings: u32, parameters: usize) -> bool {
    graphs >= if halvings == 0 && parameters < WIDE { 2 } else { AT_ONCE }
}

/// The halves of a batch, or of one of its halves.
pub(crate) struct Halves {
    /// Their graphs.
    pub(crate) graphs: [Vec<u32>; 2],
    /// The places of these in the whole.
    pub(crate) places: [Vec<usize>; 2],
}

/// The halves of what so many halvings have left of a batch; nothing where it is computed at once.
pub(crate) fn halves(prepared: &Prepared, graphs: &[u32], halvings: u32) -> Option<Halves> {
    splits(graphs.len(), halvings, prepared.parameters).then(|| {
        let costs: Vec<f64> = graphs.iter().map(|&g| prepared.costs[g as usize]).collect();
        let places = halved(&costs);
        let of_half = |half: &Vec<usize>| half.iter().map(|&place| graphs[place]).collect();
        Halves { graphs: places.each_ref().map(of_half), places }
    })
}

/// What is computed at once of what so many halvings have left of a batch, part by part.
pub(crate) fn parts(prepared: &Prepared, graphs: &[u32], halvings: u32) -> Vec<Vec<u32>> {
    match halves(prepared, graphs, halvings) {
        None => vec![graphs.to_vec()],
        Some(halves) => halves.graphs.iter().flat_map(|half| parts(prepared, half, halvings + 1)).collect(),
    }
}

/// The number of times that a batch is halved before the ranks have their shares.
pub(crate) fn halvings(ranks: usize) -> u32 {
    ranks.trailing_zeros()
}

/// Shares out items of these costs among ranks: halves, and halves of them, for even numbers. Every share is in ascending order;
/// there may be empty ones.
///
/// # Complexity
/// O(n log n log ranks) for n items, and O(n ranks) for an odd number of ranks.
pub(crate) fn shares(costs: &[f64], ranks: usize) -> Vec<Vec<usize>> {
    if ranks <= 1 {
        return vec![(0..costs.len()).collect()];
    }
    if ranks % 2 == 1 {
        return balanced(costs, ranks);
    }
    let of_half = |half: Vec<usize>| -> Vec<Vec<usize>> {
        let costs: Vec<f64> = half.iter().map(|&item| costs[item]).collect();
        let shares = shares(&costs, ranks / 2).into_iter();
        shares.map(|share| share.into_iter().map(|place| half[place]).collect()).collect()
    };
    halved(costs).into_iter().flat_map(of_half).collect()
}

/// Adds up what ranks that shared a batch in this way have, `add(a, b)` being `a += b`: halves by halves, as the shares were
/// made. The first has the sum then.
pub(crate) fn add_up<T>(of_ranks: &mut [T], add: &impl Fn(&mut T, &T)) {
    if of_ranks.len() > 1 && of_ranks.len().is_multiple_of(2) {
        let (first, second) = of_ranks.split_at_mut(of_ranks.len() / 2);
        add_up(first, add);
        add_up(second, add);
        add(&mut first[0], &second[0]);
    } else if let Some((sum, others)) = of_ranks.split_first_mut() {
        others.iter().for_each(|other| add(sum, other));
    }
}

fn halved(costs: &[f64]) -> [Vec<usize>; 2] {
    let mut halves = balanced(costs, 2).into_iter();
    [(); 2].map(|()| halves.next().unwrap_or_default())
}

/// Largest first, each to the share with the least so far. The largest share is at most 4/3 of the best possible (Graham 1969).
fn balanced(costs: &[f64], shares: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(a.cmp(&b)));
    let (mut taken, mut work) = (vec![Vec::new(); shares], vec![0.0f64; shares]);
    for item in order {
        let least = (0..shares).min_by(|&a, &b| work[a].total_cmp(&work[b])).unwrap_or(0);
        work[least] += costs[item];
        taken[least].push(item);
    }
    taken.iter_mut().for_each(|share| share.sort_unstable());
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_once_and_in_balance(costs in prop::collection::vec(0.1f64..100.0, 0..60), ranks in 1usize..13) {
            let shares = shares(&costs, ranks);
            prop_assert_eq!(shares.len(), ranks);
            let mut all = shares.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..costs.len()).collect::<Vec<_>>());
            let work = |share: &Vec<usize>| share.iter().map(|&i| costs[i]).sum::<f64>();
            let most = shares.iter().map(work).fold(0.0, f64::max);
            let largest = costs.iter().copied().fold(0.0, f64::max);
            // Every halving adds at most half of the largest to what is above the mean.
            let even = costs.iter().sum::<f64>() / ranks as f64;
            prop_assert!(most <= even + 2.0 * largest, "{} of {}", most, even);
        }

        /// What two halves have is what their ranks have together, and sums are made alike.
        #[test]
        fn ranks_take_whole_subtrees(costs in prop::collection::vec(0.1f64..100.0, 0..60)) {
            for ranks in [2, 4, 6, 8] {
                let several = shares(&costs, ranks);
                for (half, of_half) in halved(&costs).iter().zip(several.chunks(ranks / 2)) {
                    let mut together = of_half.concat();
                    together.sort_unstable();
                    prop_assert_eq!(&together, half);
                }
            }
        }
    }

    #[test]
    fn sums_go_by_halves() {
        let sum = |ranks: usize| {
            let mut names: Vec<String> = (0..ranks).map(|rank| rank.to_string()).collect();
            add_up(&mut names, &|a, b| *a = format!("({a}{b})"));
            names.swap_remove(0)
        };
        let sums = [1, 2, 3, 4, 6].map(sum);
        assert_eq!(sums, ["0", "(01)", "((01)2)", "((01)(23))", "(((01)2)((34)5))"]);
    }
}
