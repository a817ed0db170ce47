//! Twins: nodes that can change places without changing the colour of any pair.
//!
//! Nodes i and j are twins if (i, k) and (j, k) have equal colours for every other node k, likewise (k, i) and (k, j),
//! (i, i) and (j, j), (i, j) and (j, i): changing their places is an automorphism of the colours. So twins of twins
//! are twins. Such are two authors of one paper who wrote no other, in a graph of who wrote with whom.
//! Colours of the last level determine those of all others, so its twins are twins of all levels. The product needs one
//! of each class (`ppgn_kernels`, `quotient/twins.rs`).

use super::parts::Places;
use std::collections::HashMap;

/// For every node the first of its twins, itself if none comes before it. Equal colours were compared, not their hashes.
///
/// # Complexity
/// O(n^2), and O(n) per pair of nodes that see the same colours and are no twins.
pub(super) fn find(n: usize, places: &Places) -> Vec<u32> {
    match places {
        Places::Narrow(places) => find_in(n, places),
        Places::Wide(places) => find_in(n, places),
    }
}

fn find_in<P: Copy + Eq + Into<u32>>(n: usize, places: &[P]) -> Vec<u32> {
    // What each node sees, in any order: a sum over its pairs.
    let mut seen = vec![0u64; n];
    for (i, row) in places.chunks_exact(n.max(1)).enumerate() {
        let mut own = 0u64;
        for (k, &place) in row.iter().enumerate() {
            let mixed = mix(place.into());
            own = own.wrapping_add(mixed);
            seen[k] = seen[k].wrapping_add(mixed.rotate_left(32));
        }
        seen[i] = seen[i].wrapping_add(own.wrapping_mul(3)).wrapping_add(mix(row[i].into()).wrapping_mul(5));
    }
    // The first nodes of classes, by what they see.
    let mut firsts: HashMap<u64, Vec<usize>> = HashMap::new();
    let first = |(node, sum): (usize, u64)| {
        let candidates = firsts.entry(sum).or_default();
        let first = candidates.iter().copied().find(|&first| are_twins(n, places, first, node));
        if first.is_none() {
            candidates.push(node);
        }
        first.unwrap_or(node) as u32
    };
    seen.into_iter().enumerate().map(first).collect()
}

fn are_twins<P: Copy + Eq>(n: usize, places: &[P], i: usize, j: usize) -> bool {
    let at = |i: usize, k: usize| places[i * n + k];
    let others = || (0..n).filter(|&k| k != i && k != j);
    at(i, i) == at(j, j)
        && at(i, j) == at(j, i)
        && others().all(|k| at(i, k) == at(j, k))
        && others().all(|k| at(k, i) == at(k, j))
}

/// Spreads a number over 64 bits (the finaliser of SplitMix64).
fn mix(place: u32) -> u64 {
    let mut x = u64::from(place).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours of pairs: on the diagonal by `label`, off it by `edge`.
    fn places(n: usize, label: impl Fn(usize) -> u16, edge: impl Fn(usize, usize) -> u16) -> Places {
        let place = |(i, k)| if i == k { label(i) } else { edge(i, k) };
        Places::Narrow((0..n).flat_map(|i| (0..n).map(move |k| (i, k))).map(place).collect())
    }

    #[test]
    fn twins_are_found_by_their_colours() {
        // A star: its leaves are twins, unless their labels differ.
        let star = |label: fn(usize) -> u16| places(5, label, |i, k| 10 + u16::from(i == 0 || k == 0));
        assert_eq!(find(5, &star(|i| u16::from(i == 0))), [0, 1, 1, 1, 1]);
        assert_eq!(find(5, &star(|i| [0, 1, 2, 1, 2][i])), [0, 1, 2, 1, 2]);
        // A complete graph, a hexagon, a path whose ends are two nodes apart.
        assert_eq!(find(4, &places(4, |_| 0, |_, _| 1)), [0, 0, 0, 0]);
        let cycle = |i: usize, k: usize| 1 + u16::from((i + 1) % 6 == k || (k + 1) % 6 == i);
        assert_eq!(find(6, &places(6, |_| 0, cycle)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(
            find(3, &places(3, |i| u16::from(i == 1), |i, k| 2 + u16::from(i.abs_diff(k) == 1))),
            [0, 1, 0]
        );
        // An ordered pair: an edge from 0 to 1 alone.
        assert_eq!(find(2, &places(2, |_| 0, |i, _| 1 + i as u16)), [0, 1]);
        assert_eq!(find(0, &places(0, |_| 0, |_, _| 0)), [0u32; 0]);
    }

    #[test]
    fn nodes_that_see_the_same_and_are_no_twins_are_told_apart() {
        // In a strongly regular graph all nodes see the same colours: the 4 by 4 rook's graph.
        let rook = places(16, |_| 0, |i, k| 1 + u16::from(i / 4 == k / 4 || i % 4 == k % 4));
        assert_eq!(find(16, &rook), (0..16).collect::<Vec<u32>>());
        // The same with every node doubled: 16 classes of two.
        let doubled = places(
            32,
            |_| 0,
            |i, k| {
                let (i, k) = (i % 16, k % 16);
                if i == k { 3 } else { 1 + u16::from(i / 4 == k / 4 || i % 4 == k % 4) }
            },
        );
        assert_eq!(find(32, &doubled), (0..32).map(|i| i % 16).collect::<Vec<u32>>());
    }
}
