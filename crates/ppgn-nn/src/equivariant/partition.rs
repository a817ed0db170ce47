//! Partitions of a set of indices: the names of the basis operations.

/// All partitions of m indices, each as the number of every index's block, blocks numbered as they first occur. There are
/// Bell(m): 1, 1, 2, 5, 15, 52, 203 for m = 0, ..., 6. In lexicographic order: the first has one block.
///
/// ```
/// use ppgn_nn::equivariant::partitions;
/// assert_eq!(partitions(3), [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]);
/// ```
pub fn partitions(m: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..m {
        let longer = |begun: &Vec<usize>| {
            let blocks = begun.iter().max().map_or(0, |&b| b + 1);
            (0..=blocks).map(|b| [begun.as_slice(), &[b]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// How many partitions m indices have; `None` beyond what can be counted.
///
/// ```
/// use ppgn_nn::equivariant::bell;
/// assert_eq!((bell(4), bell(6), bell(10)), (Some(15), Some(203), Some(115_975)));
/// ```
pub fn bell(m: usize) -> Option<usize> {
    // The triangle of Aitken: a row begins with the end of the one before, and adds up from there.
    let mut row = vec![1usize];
    for _ in 0..m {
        let mut next = vec![*row.last()?];
        for &above in &row {
            next.push(next.last()?.checked_add(above)?);
        }
        row = next;
    }
    row.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_bell_many() {
        for m in 0..9 {
            let all = partitions(m);
            assert_eq!(Some(all.len()), bell(m));
            assert!(all.is_sorted() && all.iter().all(|p| p.len() == m));
        }
        assert_eq!(bell(500), None);
    }
}
