//! [`Refinement`]: what a test found, as a forest of colours.
//!
//! Colours are numbered in the order of their birth. Round 0 gives the isomorphism types, in ascending order of their
//! content. When a round splits a class, the largest part (ties: the one with the lowest key) keeps the parent's
//! number, and the others get the next free numbers, in the order of (parent, key). So the colours of round r are
//! exactly the numbers below [`colours_after(r)`](Refinement::colours_after), one array per graph holds the colouring
//! of *every* round, and nothing depends on how nodes or graphs were ordered.

use crate::Test;

/// The colours of a set of graphs, round by round.
///
/// A tuple (i1, ..., ik) of graph g with n nodes has the colour `colours(g)[(i1 * n + i2) * n + ... + ik]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refinement {
    test: Test,
    stable: bool,
    /// How many colours there are after round 0, 1, ...; every further round that is listed split something.
    counts: Vec<u32>,
    /// The parent of every colour that was born after round 0; colours of round 0 have themselves.
    parents: Vec<u32>,
    /// The last colour of every tuple of every graph.
    colours: Vec<Vec<u32>>,
}

impl Refinement {
    pub(crate) fn new(
        test: Test,
        stable: bool,
        counts: Vec<u32>,
        parents: Vec<u32>,
        colours: Vec<Vec<u32>>,
    ) -> Self {
        debug_assert_eq!(counts.last().map_or(0, |&c| c as usize), parents.len());
        debug_assert!(counts.is_sorted_by(|a, b| a < b));
        Refinement { test, stable, counts, parents, colours }
    }

    /// The test that was run.
    pub fn test(&self) -> Test {
        self.test
    }

    /// Whether another round would change nothing. False only if [`Options::rounds`](crate::Options::rounds) stopped the
    /// refinement before: graphs that are not distinguished may still be, so there is no verdict yet.
    pub fn is_stable(&self) -> bool {
        self.stable
    }

    /// The number of rounds that changed the partition.
    pub fn rounds(&self) -> usize {
        self.counts.len() - 1
    }

    /// The number of colours after round r; beyond the last round, that of the last.
    pub fn colours_after(&self, round: usize) -> usize {
        self.counts[round.min(self.rounds())] as usize
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.colours.len()
    }

    /// The last colour of every tuple of a graph.
    pub fn colours(&self, graph: usize) -> &[u32] {
        &self.colours[graph]
    }

    /// The colour of every tuple of a graph after round r.
    pub fn colours_at(&self, graph: usize, round: usize) -> Vec<u32> {
        let ancestors = self.ancestors(round);
        self.colours[graph].iter().map(|&c| ancestors[c as usize]).collect()
    }

    /// For every last colour, the colour of round r that it came from. O(colours).
    pub fn ancestors(&self, round: usize) -> Vec<u32> {
        let born = self.colours_after(round) as u32;
        let mut ancestors: Vec<u32> = Vec::with_capacity(self.parents.len());
        for (c, &parent) in self.parents.iter().enumerate() {
            // Parents are older than their children, so theirs is known already.
            ancestors.push(if (c as u32) < born { c as u32 } else { ancestors[parent as usize] });
        }
        ancestors
    }

    /// The round in which a colour was born.
    pub fn born(&self, colour: u32) -> usize {
        self.counts.partition_point(|&count| count <= colour)
    }

    /// The colour that this one was split from, and `None` for an isomorphism type.
    pub fn parent(&self, colour: u32) -> Option<u32> {
        (colour >= self.counts[0]).then(|| self.parents[colour as usize])
    }

    /// How many tuples of a graph have each colour: (colour, count), ascending by colour, without zeros.
    pub fn histogram(&self, graph: usize) -> Vec<(u32, u64)> {
        self.histogram_at(graph, self.rounds())
    }

    /// The same after round r.
    pub fn histogram_at(&self, graph: usize, round: usize) -> Vec<(u32, u64)> {
        let ancestors = self.ancestors(round);
        let mut counts = vec![0u64; self.colours_after(round)];
        for &c in &self.colours[graph] {
            counts[ancestors[c as usize] as usize] += 1;
        }
        counts.into_iter().enumerate().filter(|&(_, n)| n > 0).map(|(c, n)| (c as u32, n)).collect()
    }

    /// The first round after which the histograms of two graphs differ: the round that distinguishes them. `None` if
    /// none does; that is a verdict only if the refinement [is stable](Self::is_stable). O(tuples + colours).
    pub fn distinguishing_round(&self, a: usize, b: usize) -> Option<usize> {
        let mut difference = vec![0i64; self.parents.len()];
        self.colours[a].iter().for_each(|&c| difference[c as usize] += 1);
        self.colours[b].iter().for_each(|&c| difference[c as usize] -= 1);
        let mut unequal = difference.iter().filter(|&&d| d != 0).count();
        let mut first = (unequal > 0).then(|| self.rounds());
        // Undo the rounds, last one first: a colour's difference goes back to its parent.
        for round in (0..self.rounds()).rev() {
            for c in (self.counts[round]..self.counts[round + 1]).rev() {
                let d = std::mem::take(&mut difference[c as usize]);
                let parent = &mut difference[self.parents[c as usize] as usize];
                unequal -= usize::from(d != 0) + usize::from(*parent != 0);
                *parent += d;
                unequal += usize::from(*parent != 0);
            }
            if unequal > 0 {
                first = Some(round);
            }
        }
        first
    }

    /// Whether two graphs have equal histograms: the test does not distinguish them, if the refinement
    /// [is stable](Self::is_stable).
    pub fn equal(&self, a: usize, b: usize) -> bool {
        self.colours[a].len() == self.colours[b].len() && self.histogram(a) == self.histogram(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Refinement {
        // Round 0: {0}; round 1: 0 -> 0, 1; round 2: 0 -> 0, 2 and 1 -> 1, 3.
        Refinement::new(
            Test::COLOUR_REFINEMENT,
            true,
            vec![1, 2, 4],
            vec![0, 0, 0, 1],
            vec![vec![0, 2, 1, 3], vec![0, 0, 3, 3], vec![2, 0, 3, 1], vec![0, 2, 1]],
        )
    }

    #[test]
    fn every_round_is_there() {
        let r = example();
        assert_eq!(r.rounds(), 2);
        assert_eq!(r.colours_at(0, 0), [0, 0, 0, 0]);
        assert_eq!(r.colours_at(0, 1), [0, 0, 1, 1]);
        assert_eq!(r.colours_at(0, 2), r.colours(0));
        assert_eq!(r.colours_at(0, 9), r.colours(0));
        assert_eq!([r.born(0), r.born(1), r.born(2), r.born(3)], [0, 1, 2, 2]);
        assert_eq!([r.parent(0), r.parent(3)], [None, Some(1)]);
        assert_eq!(r.histogram_at(3, 1), [(0, 2), (1, 1)]);
    }

    #[test]
    fn graphs_are_distinguished_at_the_first_round_that_differs() {
        let r = example();
        assert_eq!((r.distinguishing_round(0, 2), r.equal(0, 2)), (None, true));
        assert_eq!((r.distinguishing_round(0, 1), r.equal(0, 1)), (Some(2), false));
        assert_eq!(r.distinguishing_round(0, 3), Some(0));
    }
}
