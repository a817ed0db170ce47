//! Which graphs of a batch a rank computes: as much work for each, not as many graphs.

/// Shares out items of these costs among ranks: largest first, each to the rank with the least so far. Every share is in
/// ascending order; there may be empty ones. The largest is at most 4/3 of the best possible (Graham 1969).
pub(crate) fn shares(costs: &[f64], ranks: usize) -> Vec<Vec<usize>> {
    if ranks <= 1 {
        return vec![(0..costs.len()).collect()];
    }
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(a.cmp(&b)));
    let mut shares = vec![Vec::new(); ranks];
    let mut work = vec![0.0f64; ranks];
    for item in order {
        let least = (0..work.len()).min_by(|&a, &b| work[a].total_cmp(&work[b])).unwrap_or(0);
        work[least] += costs[item];
        shares[least].push(item);
    }
    shares.iter_mut().for_each(|share| share.sort_unstable());
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_once_and_in_balance(costs in prop::collection::vec(0.1f64..100.0, 0..60), ranks in 1usize..9) {
            let shares = shares(&costs, ranks);
            let mut all = shares.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..costs.len()).collect::<Vec<_>>());
            let work = |share: &Vec<usize>| share.iter().map(|&i| costs[i]).sum::<f64>();
            let most = shares.iter().map(work).fold(0.0, f64::max);
            let largest = costs.iter().copied().fold(0.0, f64::max);
            prop_assert!(most <= costs.iter().sum::<f64>() / ranks as f64 + largest);
        }
    }
}
