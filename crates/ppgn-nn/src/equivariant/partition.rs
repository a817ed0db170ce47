//! Partitions of a set of indices, which label the basis operations.

/// All partitions of m indices, each given by the block number of every index, with blocks numbered by first
/// occurrence. There are Bell(m): 1, 1, 2, 5, 15, 52, 203 for m = 0, ..., 6. In lexicographic order; the first has a
/// single block.
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

/// The number of partitions of m indices; `None` on overflow.
///
/// ```
/// use ppgn_nn::equivariant::bell;
/// assert_eq!((bell(4), bell(6), bell(10)), (Some(15), Some(203), Some(115_975)));
/// ```
pub fn bell(m: usize) -> Option<usize> {
    // Aitken's triangle: a row begins with the end of the one before, and each entry adds the one above.
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
    fn their_number_is_bell() {
        for m in 0..9 {
            let all = partitions(m);
            assert_eq!(Some(all.len()), bell(m));
            assert!(all.is_sorted() && all.iter().all(|p| p.len() == m));
        }
        assert_eq!(bell(500), None);
    }
}
