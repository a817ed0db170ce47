//! The neighbours of the nodes of all graphs, in one set of compressed rows: what a round walks over.

use crate::types::Neighbours;
use std::borrow::Cow;

/// Rows of neighbours over all graphs, whose nodes are numbered through.
pub(super) struct Rows<'a> {
    offsets: Cow<'a, [u32]>,
    nodes: Cow<'a, [u32]>,
    /// The relation to each neighbour, or nothing where there is one relation only.
    relations: Cow<'a, [u32]>,
    /// What every relation is from the other side.
    mirror: Vec<u32>,
}

impl<'a> Rows<'a> {
    /// One graph's rows are used as they are, several are joined. Their lengths must add up to at most `u32::MAX`.
    pub(super) fn of(mut neighbours: Vec<Neighbours<'a>>, mirror: Vec<u32>) -> Self {
        if neighbours.len() == 1 {
            let Neighbours { offsets, nodes, relations } = neighbours.remove(0);
            return Rows { offsets, nodes, relations: relations.into(), mirror };
        }
        let links = neighbours.iter().map(|n| n.nodes.len()).sum();
        let mut offsets =
            Vec::with_capacity(1 + neighbours.iter().map(|n| n.offsets.len() - 1).sum::<usize>());
        let mut nodes = Vec::with_capacity(links);
        let mut relations = Vec::with_capacity(if mirror.len() > 1 { links } else { 0 });
        offsets.push(0);
        for graph in neighbours {
            let (first_node, first_link) = (offsets.len() as u32 - 1, nodes.len() as u32);
            offsets.extend(graph.offsets[1..].iter().map(|&o| o + first_link));
            nodes.extend(graph.nodes.iter().map(|&v| v + first_node));
            relations.extend_from_slice(&graph.relations);
        }
        Rows { offsets: offsets.into(), nodes: nodes.into(), relations: relations.into(), mirror }
    }

    /// How many relations there are.
    pub(super) fn relation_count(&self) -> u64 {
        self.mirror.len() as u64
    }

    /// The neighbours of a node.
    #[inline]
    pub(super) fn neighbours(&self, u: u32) -> &[u32] {
        &self.nodes[self.offsets[u as usize] as usize..self.offsets[u as usize + 1] as usize]
    }

    /// The relation of a node to its i-th neighbour.
    #[inline]
    pub(super) fn relation(&self, u: u32, i: usize) -> u32 {
        if self.relations.is_empty() { 0 } else { self.relations[self.offsets[u as usize] as usize + i] }
    }

    /// The relation of a node's i-th neighbour to the node.
    #[inline]
    pub(super) fn relation_back(&self, u: u32, i: usize) -> u32 {
        if self.relations.is_empty() { 0 } else { self.mirror[self.relation(u, i) as usize] }
    }

    /// The steps that it takes to go through the neighbours of a node.
    #[inline]
    pub(super) fn walk(&self, u: u32) -> u64 {
        1 + self.neighbours(u).len() as u64
    }

    /// The same for all nodes.
    pub(super) fn walk_all(&self) -> u64 {
        (self.offsets.len() - 1 + self.nodes.len()) as u64
    }
}
