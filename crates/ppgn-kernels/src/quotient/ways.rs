//! How the rows of W are computed: one by one, as entries of a graph's whole product, or of the product of its classes of
//! twins, by what each would cost.

use super::ColourMatrix;
use super::twins::Classes;
use crate::large;

/// Whether a graph's product is that of its classes of twins, if it is computed whole: where they are at most three quarters
/// of its nodes. Then its matrices take less memory, too.
pub fn merges_twins(nodes: usize, classes: usize) -> bool {
    4 * classes <= 3 * nodes
}

/// Rows computed for one graph: each with its index and that of its tuple.
pub(super) struct Own {
    pub(super) graph: usize,
    pub(super) rows: Vec<(u32, u32)>,
    pub(super) way: Way,
}

/// How they are computed.
pub(super) enum Way {
    /// One by one.
    Rows,
    /// As entries of the whole product.
    Whole,
    /// As entries of the product of classes of twins.
    Twins(Classes),
}

/// A direction in which rows are computed one by one or as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pass {
    Forward,
    Backward,
}

impl Pass {
    /// What the whole product of n nodes costs in terms of single sums. Such a term costs about eight times as much as
    /// one within a tile, and assembling the matrices costs some terms per pair (by the measurement of `sweep.rs`, see
    /// `docs/performance.md`).
    fn whole(self, n: usize) -> usize {
        n * n * (n + self.assembly()) / 8
    }

    /// The same for the product of classes of twins, whose matrices are written once more.
    fn twins(self, classes: usize) -> usize {
        classes * classes * (classes + 2 * self.assembly()) / 8
    }

    fn assembly(self) -> usize {
        match self {
            Pass::Forward => 48,
            Pass::Backward => 28,
        }
    }

    /// Whether computing all entries of the product is cheaper than computing this many.
    pub(super) fn whole_is_cheaper(self, n: usize, rows: usize) -> bool {
        rows * n > self.whole(n)
    }
}

impl Own {
    /// Whether the product is that of a large graph.
    pub(super) fn is_large(&self, colours: &ColourMatrix<'_>) -> bool {
        large::is_large(colours.nodes[self.graph])
    }
}

/// The rows of every graph that has any, and the cheapest way to compute them.
pub(super) fn by_graph(colours: &ColourMatrix<'_>, pass: Pass) -> Vec<Own> {
    let mut all = vec![Vec::new(); colours.nodes.len()];
    for (row, example) in colours.examples.iter().enumerate() {
        all[example.graph as usize].push((row as u32, example.place));
    }
    let mut twins = colours.twins;
    let mut ways = Vec::with_capacity(all.len());
    for (graph, rows) in all.into_iter().enumerate() {
        let n = colours.nodes[graph];
        let (own, others) = twins.split_at(if twins.is_empty() { 0 } else { n });
        twins = others;
        if rows.is_empty() {
            continue;
        }
        let whole = pass.whole_is_cheaper(n, rows.len());
        let best = if whole { pass.whole(n) } else { rows.len() * n };
        let classes = own.iter().enumerate().filter(|&(node, &first)| node == first as usize).count();
        if !own.is_empty() && merges_twins(n, classes) && pass.twins(classes) < best {
            let classes = Classes::new(own);
            let (within, between): (Vec<_>, Vec<_>) =
                rows.iter().partition(|(_, place)| classes.has_both(*place, n));
            if pass.twins(classes.len()) + within.len() * n < best {
                ways.push(Own { graph, rows: within, way: Way::Rows });
                ways.push(Own { graph, rows: between, way: Way::Twins(classes) });
                continue;
            }
        }
        ways.push(Own { graph, rows, way: if whole { Way::Whole } else { Way::Rows } });
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::super::Example;
    use super::*;

    /// The ways of a graph's rows, as letters, with their number.
    fn ways(n: usize, twins: &[u32], places: &[u32], pass: Pass) -> Vec<(char, usize)> {
        let examples: Vec<Example> = places.iter().map(|&place| Example { graph: 1, place }).collect();
        let twins: Vec<u32> = if twins.is_empty() { vec![] } else { [&[0], twins].concat() };
        // A graph of one node without rows comes first.
        let colours = ColourMatrix {
            below: 1,
            examples: &examples,
            nodes: &[1, n],
            factors: &[1.0; 2],
            offsets: &[0, 1],
            matrix: &vec![0; 1 + n * n],
            twins: &twins,
        };
        colours.check(2);
        let way = |own: &Own| match own.way {
            Way::Rows => ('r', own.rows.len()),
            Way::Whole => ('w', own.rows.len()),
            Way::Twins(_) => ('t', own.rows.len()),
        };
        by_graph(&colours, pass).iter().map(way).collect()
    }

    #[test]
    fn a_graph_with_many_twins_is_computed_by_its_classes() {
        let n = 60;
        let all: Vec<u32> = (0..3600).collect();
        // Twenty classes of three: 180 pairs within them, 3420 between them.
        let thirds: Vec<u32> = (0..60).map(|node| node % 20).collect();
        for pass in [Pass::Forward, Pass::Backward] {
            assert_eq!(ways(n, &[], &all, pass), [('w', 3600)]);
            assert_eq!(ways(n, &[], &all[..10], pass), [('r', 10)]);
            assert_eq!(ways(n, &thirds, &all, pass), [('r', 180), ('t', 3420)]);
            assert_eq!(ways(n, &thirds, &all[..10], pass), [('r', 10)]);
            // Too few of them.
            let few: Vec<u32> = (0..60).map(|node| node % 46).collect();
            assert_eq!(ways(n, &few, &all, pass), [('w', 3600)]);
        }
        assert!(merges_twins(60, 45) && !merges_twins(60, 46));
    }
}
