//! Graphs made from graphs: relabelled, transposed, directed and undirected.

use super::{Graph, GraphError, Inner};
use crate::random::Stream;
use std::sync::Arc;

impl Graph {
    /// The same graph with these positions, one per node and all finite. O(1) if it is not shared.
    pub(crate) fn with_positions(mut self, positions: Vec<[f64; 3]>) -> Self {
        debug_assert_eq!(positions.len(), self.nodes());
        Arc::make_mut(&mut self.0).positions = Some(positions.into_boxed_slice());
        self
    }

    /// The arcs by their ends: the compressed rows of the transposed adjacency. O(n + m).
    pub fn transposed(&self) -> Transposed {
        let n = self.nodes();
        let mut offsets = vec![0u32; n + 1];
        for &v in self.targets() {
            offsets[v as usize + 1] += 1;
        }
        for u in 0..n {
            offsets[u + 1] += offsets[u];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0u32; self.arcs()];
        let mut arcs = vec![0u32; self.arcs()];
        for (u, v, a) in self.arc_list() {
            let slot = next[v] as usize;
            next[v] += 1;
            sources[slot] = u as u32;
            arcs[slot] = a as u32;
        }
        Transposed { offsets, sources, arcs }
    }

    /// Relabels the nodes: node u becomes node `permutation[u]`. O(n + m log(degree)).
    ///
    /// ```
    /// # use ppgn_graph::Graph;
    /// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
    /// let relabelled = path.permute(&[1, 0, 2])?;      // the middle node is now node 0
    /// assert_eq!(relabelled.neighbours(0), [1, 2]);
    /// # Ok::<(), ppgn_graph::GraphError>(())
    /// ```
    pub fn permute(&self, permutation: &[u32]) -> Result<Self, GraphError> {
        let n = self.nodes();
        let error = GraphError::NotPermutation { nodes: n };
        if permutation.len() != n {
            return Err(error);
        }
        let mut inverse = vec![u32::MAX; n];
        for (u, &p) in permutation.iter().enumerate() {
            match inverse.get_mut(p as usize) {
                Some(slot) if *slot == u32::MAX => *slot = u as u32,
                _ => return Err(error),
            }
        }
        let mut offsets = Vec::with_capacity(n + 1);
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.arcs()); // (new target, old arc)
        offsets.push(0);
        for &u in &inverse {
            let start = order.len();
            order.extend(
                self.arc_range(u as usize).map(|a| (permutation[self.0.targets[a] as usize], a as u32)),
            );
            order[start..].sort_unstable();
            offsets.push(order.len() as u32);
        }
        let old_nodes = || inverse.iter().map(|&u| u as usize);
        let old_arcs = || order.iter().map(|&(_, a)| a as usize);
        Ok(Graph(Arc::new(Inner {
            directed: self.0.directed,
            offsets: offsets.into(),
            targets: order.iter().map(|&(v, _)| v).collect(),
            node_labels: self.0.node_labels.gather(old_nodes()),
            node_attributes: self.0.node_attributes.gather(old_nodes()),
            edge_labels: self.0.edge_labels.gather(old_arcs()),
            edge_attributes: self.0.edge_attributes.gather(old_arcs()),
            positions: self.0.positions.as_ref().map(|p| old_nodes().map(|u| p[u]).collect()),
        })))
    }

    /// A uniformly random relabelling.
    pub fn permute_randomly(&self, random: &mut Stream) -> Self {
        self.permute(&random.permutation(self.nodes())).expect("a permutation of the nodes")
    }

    /// The first arc that has no equal arc in the other direction, if any. O(m), and O(m log(degree)) if there is one.
    pub fn asymmetry(&self) -> Option<(u32, u32)> {
        if !self.is_directed() || self.is_symmetric() {
            return None;
        }
        let equal = |a, b| {
            self.edge_labels(a) == self.edge_labels(b) && self.edge_attributes(a) == self.edge_attributes(b)
        };
        self.arc_list()
            .find(|&(u, v, a)| !self.arc(v, u).is_some_and(|back| equal(a, back)))
            .map(|(u, v, _)| (u as u32, v as u32))
    }

    /// Whether every arc has an equal arc in the other direction.
    fn is_symmetric(&self) -> bool {
        let (offsets, targets) = (self.offsets(), self.targets());
        let featured = self.edge_label_columns() + self.edge_attribute_columns() > 0;
        // Rows are sorted: while node u's arcs upwards are met in order of u, the arcs back to it stand in front of
        // what is left of their rows. So `next[v]` walks the part of row v that leads downwards, once.
        let mut next: Vec<u32> = offsets[..self.nodes()].to_vec();
        for u in 0..self.nodes() {
            let end = offsets[u + 1] as usize;
            let mut arc = next[u] as usize;
            if arc < end && targets[arc] as usize == u {
                arc += 1;
            }
            for (a, &v) in (arc..end).zip(&targets[arc..end]) {
                // An arc downwards here was met by none that leads up to u.
                if v as usize <= u {
                    return false;
                }
                let back = next[v as usize];
                next[v as usize] = back + 1;
                if back >= offsets[v as usize + 1] || targets[back as usize] as usize != u {
                    return false;
                }
                let back = back as usize;
                if featured
                    && (self.edge_labels(a) != self.edge_labels(back)
                        || self.edge_attributes(a) != self.edge_attributes(back))
                {
                    return false;
                }
            }
        }
        true
    }

    /// The same graph as an undirected one: every arc must have an equal arc in the other direction. O(m).
    pub fn to_undirected(self) -> Result<Self, GraphError> {
        if let Some((u, v)) = self.asymmetry() {
            return Err(GraphError::NotSymmetric { u, v });
        }
        Ok(self.with_direction(false))
    }

    /// The same graph as a directed one: every undirected edge becomes two arcs.
    pub fn to_directed(self) -> Self {
        self.with_direction(true)
    }

    /// The same arcs under another word: for `directed == false` the caller knows that they are symmetric.
    ///
    /// In place, unless the graph is shared.
    pub(crate) fn with_direction(mut self, directed: bool) -> Self {
        debug_assert!(directed || self.asymmetry().is_none());
        Arc::make_mut(&mut self.0).directed = directed;
        self
    }
}

/// The arcs of a graph sorted by their ends: see [`Graph::transposed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transposed {
    /// Where each node's incoming arcs begin, n + 1 numbers.
    pub offsets: Vec<u32>,
    /// The node that each arc comes from, ascending within a row.
    pub sources: Vec<u32>,
    /// The arc's number in the graph.
    pub arcs: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::super::GraphBuilder;
    use super::super::tests::featured;
    use super::*;

    #[test]
    fn permuting_moves_features_with_their_nodes() {
        let g = featured();
        let p = [2u32, 0, 1];
        let h = g.permute(&p).unwrap();
        for (u, v, a) in g.arc_list() {
            let b = h.arc(p[u] as usize, p[v] as usize).unwrap();
            assert_eq!(g.edge_labels(a), h.edge_labels(b));
            assert_eq!(g.edge_attributes(a), h.edge_attributes(b));
        }
        for (u, v) in p.iter().map(|&v| v as usize).enumerate() {
            assert_eq!(g.node_labels(u), h.node_labels(v));
            assert_eq!(g.positions().unwrap()[u], h.positions().unwrap()[v]);
        }
        let mut inverse = [0u32; 3];
        for (u, &x) in p.iter().enumerate() {
            inverse[x as usize] = u as u32;
        }
        assert_eq!(h.permute(&inverse).unwrap(), g);
        assert!(g.permute(&[0, 0, 1]).is_err());
        assert!(g.permute(&[0, 1]).is_err());
        assert!(g.permute(&[0, 1, 3]).is_err());
    }

    #[test]
    fn directions() {
        let g = Graph::undirected(3, [(0, 1), (1, 1), (1, 2)]).unwrap();
        assert_eq!((g.edges(), g.arcs()), (3, 5));
        let d = g.clone().to_directed();
        assert_eq!((d.edges(), d.is_directed()), (5, true));
        assert_eq!(d.to_undirected().unwrap(), g);
        assert_eq!(featured().to_undirected(), Err(GraphError::NotSymmetric { u: 0, v: 1 }));
        assert_eq!(
            Graph::directed(2, [(1, 0)]).unwrap().to_undirected(),
            Err(GraphError::NotSymmetric { u: 1, v: 0 })
        );
    }

    #[test]
    fn asymmetry_is_the_first_arc_without_an_equal_reverse() {
        let mut random = Stream::new(0, "asymmetry", &[]);
        let mut symmetric = 0;
        for _ in 0..2000 {
            let n = 1 + random.below(5);
            let mut b = GraphBuilder::directed(n);
            b.edge_label_columns(1);
            for _ in 0..random.below(5) {
                let (u, v) = (random.below(n) as u32, random.below(n) as u32);
                b.edge_with(u, v, &[1], &[]);
                if random.below(8) > 0 {
                    b.edge_with(v, u, &[1 + i64::from(random.below(8) == 0)], &[]);
                }
            }
            let (g, _) = b.build_merging().unwrap();
            let label = |u: usize, v: usize| g.arc(u, v).map(|a| g.edge_labels(a)[0]);
            let mut pairs = (0..n).flat_map(|u| (0..n).map(move |v| (u, v)));
            let expected = pairs.find(|&(u, v)| label(u, v).is_some() && label(u, v) != label(v, u));
            assert_eq!(g.asymmetry(), expected.map(|(u, v)| (u as u32, v as u32)), "{g:?}");
            symmetric += usize::from(expected.is_none());
        }
        assert!((200..1800).contains(&symmetric), "{symmetric}");
    }

    #[test]
    fn transposed_rows() {
        let t = featured().transposed();
        assert_eq!(t.offsets, [0, 2, 3, 3]);
        assert_eq!(t.sources, [0, 2, 0]);
        assert_eq!(t.arcs, [0, 2, 1]);
    }
}
