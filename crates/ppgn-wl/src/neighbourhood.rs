//! The neighbours of a tuple, as the test at hand defines them: what digests and certificates unfold.
//!
//! Refinements go their own, faster ways; this one goes tuple by tuple.

use crate::types::Neighbours;
use crate::{Family, Test};

/// Walks over the neighbours of tuples of one graph.
pub(crate) struct Neighbourhood<'a> {
    test: Test,
    nodes: usize,
    rows: &'a Neighbours<'a>,
}

/// What a tuple has as a neighbour.
pub(crate) struct Neighbour<'a> {
    /// For k-WL, the position that was replaced.
    pub(crate) position: usize,
    /// For 1-WL, the relation to the neighbour.
    pub(crate) relation: u32,
    /// The tuples whose colours count: one, or k of them for k-FWL.
    pub(crate) tuples: &'a [usize],
}

impl<'a> Neighbourhood<'a> {
    /// The neighbourhoods of a graph with these rows.
    pub(crate) fn new(test: Test, rows: &'a Neighbours<'a>) -> Self {
        Neighbourhood { test, nodes: rows.offsets.len() - 1, rows }
    }

    /// The number of colours that a neighbour contributes.
    pub(crate) fn width(&self) -> usize {
        if self.test.family() == Family::Fwl { self.test.k() } else { 1 }
    }

    /// The number of neighbours of a tuple.
    pub(crate) fn len(&self, tuple: usize) -> usize {
        match (self.test.k(), self.test.family()) {
            (1, _) => self.rows.row(tuple).len(),
            (k, Family::Wl) => k * self.nodes,
            (_, Family::Fwl) => self.nodes,
        }
    }

    /// Visits every neighbour of a tuple. O(degree) for 1-WL, O(k n) for k-WL and k-FWL.
    pub(crate) fn for_each(&self, tuple: usize, mut visit: impl FnMut(Neighbour<'_>)) {
        let k = self.test.k();
        if k == 1 {
            for at in self.rows.row(tuple) {
                let (v, relation) = (self.rows.nodes[at] as usize, self.rows.relation(at));
                visit(Neighbour { position: 0, relation, tuples: &[v] });
            }
            return;
        }
        // The tuple with node 0 at a position, and the step to the next node there.
        let mut steps = vec![1; k];
        for q in (0..k - 1).rev() {
            steps[q] = steps[q + 1] * self.nodes;
        }
        let start = |step: usize| tuple - (tuple / step % self.nodes) * step;
        match self.test.family() {
            Family::Wl => {
                for (position, &step) in steps.iter().enumerate() {
                    for i in 0..self.nodes {
                        visit(Neighbour { position, relation: 0, tuples: &[start(step) + i * step] });
                    }
                }
            }
            Family::Fwl => {
                let mut tuples: Vec<usize> = steps.iter().map(|&step| start(step)).collect();
                for _ in 0..self.nodes {
                    visit(Neighbour { position: 0, relation: 0, tuples: &tuples });
                    tuples.iter_mut().zip(&steps).for_each(|(t, step)| *t += step);
                }
            }
        }
    }

    /// The nodes of a tuple.
    pub(crate) fn nodes_of(&self, tuple: usize) -> Vec<usize> {
        let mut rest = tuple;
        let mut nodes: Vec<usize> = (0..self.test.k())
            .map(|_| {
                let node = rest % self.nodes;
                rest /= self.nodes;
                node
            })
            .collect();
        nodes.reverse();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Features;
    use crate::types::Types;
    use ppgn_graph::Graph;

    #[test]
    fn neighbours_by_the_equations() {
        let g = [Graph::undirected(3, [(0, 1), (1, 2)]).unwrap()];
        let types = Types::of(&g, Features::default());
        let of = |test: &str, tuple| {
            let n = Neighbourhood::new(test.parse().unwrap(), &types.neighbours[0]);
            let mut found = Vec::new();
            n.for_each(tuple, |x| found.push((x.position, x.tuples.to_vec())));
            assert_eq!(found.len(), n.len(tuple));
            found
        };
        assert_eq!(of("1-wl", 1), [(0, vec![0]), (0, vec![2])]);
        // The pair (1, 2) is number 5.
        let wl = [(0, vec![2]), (0, vec![5]), (0, vec![8]), (1, vec![3]), (1, vec![4]), (1, vec![5])];
        assert_eq!(of("2-wl", 5), wl);
        assert_eq!(of("2-fwl", 5), [(0, vec![2, 3]), (0, vec![5, 4]), (0, vec![8, 5])]);
        let n = Neighbourhood::new(Test::wl(3).unwrap(), &types.neighbours[0]);
        assert_eq!((n.nodes_of(5), n.nodes_of(21)), (vec![0, 1, 2], vec![2, 1, 0]));
    }
}
