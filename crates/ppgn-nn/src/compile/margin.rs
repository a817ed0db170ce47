//! The margin: how far apart the scores of distinguished graphs are.

/// The minimum, over all pairs of graphs with different scores, of the largest difference in any score; `None` if all
/// scores are equal. Scores are integers, so the margin is at least 1, and the search stops once it reaches 1.
/// O(graphs^2 * scores) in the worst case; most pairs are decided by their first scores.
pub(super) fn margin(scores: &[Vec<i64>]) -> Option<i64> {
    let mut different: Vec<&Vec<i64>> = scores.iter().collect();
    different.sort_unstable();
    different.dedup();
    let mut least = None;
    for (i, a) in different.iter().enumerate() {
        for b in &different[..i] {
            let mut largest = 0;
            for (x, y) in a.iter().zip(*b) {
                largest = largest.max((x - y).abs());
                if least.is_some_and(|least| largest >= least) {
                    break;
                }
            }
            if least.is_none_or(|least| largest < least) {
                least = Some(largest);
            }
            if least == Some(1) {
                return least;
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::margin;

    #[test]
    fn margin_is_the_minimum_of_the_largest_differences() {
        assert_eq!(margin(&[vec![1, 2], vec![1, 2]]), None);
        assert_eq!(margin(&[vec![0, 0], vec![7, 3], vec![0, 0], vec![10, -2]]), Some(5));
        assert_eq!(margin(&[vec![5], vec![9], vec![6]]), Some(1));
    }
}
