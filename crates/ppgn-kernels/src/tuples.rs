//! How tuples of nodes are indexed, and which of their nodes are equal.
//!
//! The n^k tuples of a graph are indexed in lexicographic order: (i1, ..., ik) has index
//! `((i1 * n + i2) * n + ...) + ik`. Which of its nodes are equal is a tuple's *pattern*: a set partition of its k
//! positions, of which there are Bell(k). A pattern is written as a word that gives the block of every position, with
//! blocks numbered by first occurrence, and patterns are numbered in the lexicographic order of these words: 00, 01 for
//! pairs (the diagonal, the rest), 000, 001, 010, 011, 012 for triples.

/// The number of patterns of k-tuples: Bell(k), saturating at `usize::MAX`.
///
/// ```
/// assert_eq!([2, 3, 4, 5].map(ppgn_kernels::patterns), [2, 5, 15, 52]);
/// ```
pub fn patterns(order: usize) -> usize {
    completions(0, order)
}

/// In how many ways a word with `blocks` blocks can be extended by `places` positions.
fn completions(blocks: usize, places: usize) -> usize {
    // ways[m]: the number of extensions by the positions handled so far, after m more blocks.
    let mut ways = vec![1usize; places + 1];
    for left in 1..=places {
        for m in 0..=places - left {
            let same = (blocks + m).saturating_mul(ways[m]);
            ways[m] = same.saturating_add(ways[m + 1]);
        }
    }
    ways[0]
}

/// Computes the patterns of tuples.
///
/// ```
/// use ppgn_kernels::Patterns;
/// let mut patterns = Patterns::new(2);
/// assert_eq!([[0, 0], [0, 7], [7, 7]].map(|pair| patterns.of(&pair)), [0, 1, 0]);
/// ```
#[derive(Debug, Clone)]
pub struct Patterns {
    /// `weights[place][blocks]`: the place value of a block number at a position preceded by `blocks` blocks.
    weights: Vec<Vec<usize>>,
    /// The distinct nodes of the current tuple.
    distinct: Vec<usize>,
}

impl Patterns {
    /// For tuples of this order.
    pub fn new(order: usize) -> Self {
        let place = |p: usize| (0..=p).map(|blocks| completions(blocks, order - 1 - p)).collect();
        Patterns { weights: (0..order).map(place).collect(), distinct: Vec::with_capacity(order) }
    }

    /// The number of a tuple's pattern. O(k^2).
    pub fn of(&mut self, tuple: &[usize]) -> usize {
        self.distinct.clear();
        let mut number = 0;
        for (weights, &node) in self.weights.iter().zip(tuple) {
            let blocks = self.distinct.len();
            let block = self.distinct.iter().position(|&d| d == node).unwrap_or(blocks);
            number += block * weights[blocks];
            if block == blocks {
                self.distinct.push(node);
            }
        }
        number
    }

    /// Calls a function for every tuple of n nodes with its index and its pattern.
    pub fn each(&mut self, nodes: usize, mut call: impl FnMut(usize, usize)) {
        let order = self.weights.len();
        let mut tuple = vec![0; order];
        for place in 0..nodes.pow(order as u32) {
            call(place, self.of(&tuple));
            for node in tuple.iter_mut().rev() {
                *node += 1;
                if *node < nodes {
                    break;
                }
                *node = 0;
            }
        }
    }
}

/// For every position of the k-tuple with index `place`: the index of the tuple with node 0 in that position, and the
/// distance between the indices for successive nodes.
#[inline]
pub(crate) fn steps(place: usize, nodes: usize, order: usize, to: &mut Vec<(usize, usize)>) {
    to.clear();
    to.resize(order, (0, 0));
    let mut step = 1;
    for slot in to.iter_mut().rev() {
        *slot = (place - place / step % nodes * step, step);
        step *= nodes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_numbered_in_lexicographic_order() {
        let mut found = Vec::new();
        Patterns::new(3).each(3, |place, pattern| {
            if !found.iter().any(|&(_, p)| p == pattern) {
                found.push((place, pattern));
            }
        });
        // (0,0,0), (0,0,1), (0,1,0), (0,1,1), (0,1,2)
        assert_eq!(found, [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4)]);
        let mut counts = vec![0; patterns(4)];
        Patterns::new(4).each(4, |_, pattern| counts[pattern] += 1);
        // A pattern of b blocks has 4 * 3 * ... tuples (b factors).
        assert!(counts.iter().all(|c| [4, 12, 24].contains(c)) && counts.iter().sum::<i32>() == 256);
        assert_eq!(counts[14], 24);
        assert_eq!((patterns(10), patterns(100)), (115_975, usize::MAX));
    }

    #[test]
    fn steps_give_base_index_and_stride_of_every_position() {
        let mut found = Vec::new();
        // (2, 0, 1) with 3 nodes has index 19.
        steps(19, 3, 3, &mut found);
        assert_eq!(found, [(1, 9), (19, 3), (18, 1)]);
    }
}
