//! Isomorphism types, the colours of round 0: what a single node and an ordered pair of nodes look like by
//! themselves.
//!
//! A type's *content* is a list of integers that says everything (labels, loop, edges in both directions with their
//! labels), so it means the same in every graph, run and version. Inside one refinement a type is a number: the rank
//! of its content among those that occur. Self-loops belong to the node's type, so the neighbour lists have none.

pub(crate) mod words;

use crate::options::Features;
use crate::{Error, Test};
use ppgn_graph::{Graph, Transposed};
use std::borrow::Cow;
use std::collections::HashMap;

/// The types of nodes and pairs of a set of graphs.
pub(crate) struct Types<'a> {
    /// For every graph, the type of every node.
    pub(crate) nodes: Vec<Vec<u32>>,
    /// The content of every node type, in ascending order.
    pub(crate) node_contents: Vec<Box<[i64]>>,
    /// For every graph, the neighbours of every node with the type of the pair.
    pub(crate) neighbours: Vec<Neighbours<'a>>,
    /// The content of every relation (the type of a pair of different nodes with an edge), in ascending order.
    pub(crate) relation_contents: Vec<Box<[i64]>>,
}

/// Who is joined to whom by an edge in either direction, and how. Rows ascend; a node is not its own neighbour.
pub(crate) struct Neighbours<'a> {
    pub(crate) offsets: Cow<'a, [u32]>,
    pub(crate) nodes: Cow<'a, [u32]>,
    /// The relation to each neighbour, or nothing where the set of graphs has one relation only.
    pub(crate) relations: Vec<u32>,
}

impl Neighbours<'_> {
    pub(crate) fn row(&self, u: usize) -> std::ops::Range<usize> {
        self.offsets[u] as usize..self.offsets[u + 1] as usize
    }

    /// The number of the relation at this place of the rows.
    pub(crate) fn relation(&self, at: usize) -> u32 {
        self.relations.get(at).copied().unwrap_or(0)
    }

    /// Whether all neighbours of the set of graphs are related in the same way.
    pub(crate) fn one_relation(&self) -> bool {
        self.relations.is_empty()
    }
}

impl<'a> Types<'a> {
    /// The types of these graphs. O(n + m) but for the sorting of the few contents that occur.
    pub(crate) fn of(graphs: &'a [Graph], features: Features) -> Self {
        let mut contents = Interner::default();
        let mut scratch = Vec::new();
        let mut nodes: Vec<Vec<u32>> = Vec::with_capacity(graphs.len());
        for g in graphs {
            let mut of_node = |u| {
                scratch.clear();
                node_content(g, u, features, &mut scratch);
                contents.number(&scratch)
            };
            nodes.push((0..g.nodes()).map(&mut of_node).collect());
        }
        let (node_contents, ranks) = contents.ranked();
        nodes.iter_mut().flatten().for_each(|t| *t = ranks[*t as usize]);

        let mut contents = Interner::default();
        let mut neighbours: Vec<Neighbours<'a>> =
            graphs.iter().map(|g| relate(g, features, &mut contents, &mut scratch)).collect();
        let (relation_contents, ranks) = contents.ranked();
        for list in &mut neighbours {
            match relation_contents.len() {
                0 | 1 => list.relations = Vec::new(),
                _ => list.relations.iter_mut().for_each(|r| *r = ranks[*r as usize]),
            }
        }
        Types { nodes, node_contents, neighbours, relation_contents }
    }

    /// For every relation of u to v, the relation of v to u. Neighbours are mutual, so it occurs as well.
    pub(crate) fn mirror(&self) -> Vec<u32> {
        let contents = &self.relation_contents;
        let back = |content: &[i64]| {
            let (forward, backward) = content.split_at(arc_length(content));
            let mirrored = [backward, forward].concat();
            contents.binary_search_by(|c| (**c).cmp(&mirrored)).expect("neighbours are mutual") as u32
        };
        contents.iter().map(|content| back(content)).collect()
    }
}

/// The neighbours of every node of a graph, with relations as the interner numbers them.
fn relate<'a>(
    g: &'a Graph,
    features: Features,
    contents: &mut Interner,
    scratch: &mut Vec<i64>,
) -> Neighbours<'a> {
    let featured = (features.labels && g.edge_label_columns() > 0)
        || (features.attributes && g.edge_attribute_columns() > 0);
    let mut relation = |forward: Option<usize>, backward: Option<usize>| {
        scratch.clear();
        arc_content(g, forward, features, scratch);
        arc_content(g, backward, features, scratch);
        contents.number(scratch)
    };
    if g.is_directed() {
        return relate_directed(g, &g.transposed(), relation);
    }
    let loops = g.self_loops() > 0;
    let (offsets, nodes) = match loops {
        false => (Cow::Borrowed(g.offsets()), Cow::Borrowed(g.targets())),
        true => {
            let mut offsets = vec![0u32];
            let mut nodes = Vec::with_capacity(g.arcs());
            for u in 0..g.nodes() {
                nodes.extend(g.neighbours(u).iter().filter(|&&v| v as usize != u));
                offsets.push(nodes.len() as u32);
            }
            (Cow::Owned(offsets), Cow::Owned(nodes))
        }
    };
    let relations = match featured {
        false if nodes.is_empty() => Vec::new(),
        // Without labels, every edge is like any other.
        false => vec![relation(Some(0), Some(0)); nodes.len()],
        true => {
            g.arc_list().filter(|&(u, v, _)| u != v).map(|(_, _, a)| relation(Some(a), Some(a))).collect()
        }
    };
    Neighbours { offsets, nodes, relations }
}

/// The same for a directed graph: out- and in-neighbours merged, each once.
fn relate_directed<'a>(
    g: &Graph,
    t: &Transposed,
    mut relation: impl FnMut(Option<usize>, Option<usize>) -> u32,
) -> Neighbours<'a> {
    let (mut offsets, mut nodes, mut relations) = (vec![0u32], Vec::new(), Vec::new());
    for u in 0..g.nodes() {
        let mut out = g.arc_range(u).peekable();
        let mut into = (t.offsets[u] as usize..t.offsets[u + 1] as usize).peekable();
        loop {
            let next_out = out.peek().map(|&a| g.targets()[a]);
            let next_in = into.peek().map(|&i| t.sources[i]);
            let v = match (next_out, next_in) {
                (Some(a), Some(b)) => a.min(b),
                (Some(a), None) | (None, Some(a)) => a,
                (None, None) => break,
            };
            let forward = if next_out == Some(v) { out.next() } else { None };
            let backward = if next_in == Some(v) { into.next().map(|i| t.arcs[i] as usize) } else { None };
            if v as usize != u {
                nodes.push(v);
                relations.push(relation(forward, backward));
            }
        }
        offsets.push(nodes.len() as u32);
    }
    Neighbours { offsets: offsets.into(), nodes: nodes.into(), relations }
}

/// The longest tuple whose type is written out: its content has k^2 / 2 entries.
const LONGEST_TUPLE: usize = 1024;

/// Refuses tests whose tuples are too long to be written out. Only a graph of one node can have such tuples at all.
pub(crate) fn check_order(test: Test) -> Result<(), Error> {
    match test.k() > LONGEST_TUPLE {
        true => Err(Error::OrderTooLarge { test, most: LONGEST_TUPLE }),
        false => Ok(()),
    }
}

/// What a tuple is: its nodes, and for every two positions whether their nodes are the same or else the arcs between
/// them. Equal contents are equal isomorphism types.
pub(crate) fn tuple_content(g: &Graph, nodes: &[usize], features: Features) -> Vec<i64> {
    let mut content = Vec::new();
    for &u in nodes {
        node_content(g, u, features, &mut content);
    }
    for (q, &u) in nodes.iter().enumerate() {
        for &v in &nodes[q + 1..] {
            content.push(i64::from(u == v));
            if u != v {
                arc_content(g, g.arc(u, v), features, &mut content);
                arc_content(g, g.arc(v, u), features, &mut content);
            }
        }
    }
    content
}

/// What node u is by itself: its labels, its attributes where they count, and its loop.
fn node_content(g: &Graph, u: usize, features: Features, content: &mut Vec<i64>) {
    let labels = if features.labels { g.node_labels(u) } else { &[] };
    let attributes = if features.attributes { g.node_attributes(u) } else { &[] };
    put(labels, attributes, content);
    let lone = g.neighbours(u).is_empty();
    arc_content(g, if lone { None } else { g.arc(u, u) }, features, content);
}

/// What an arc is: whether it is there, its labels, and its attributes where they count.
fn arc_content(g: &Graph, arc: Option<usize>, features: Features, content: &mut Vec<i64>) {
    content.push(i64::from(arc.is_some()));
    let Some(arc) = arc else { return };
    let labels = if features.labels { g.edge_labels(arc) } else { &[] };
    let attributes = if features.attributes { g.edge_attributes(arc) } else { &[] };
    put(labels, attributes, content);
}

/// How many integers the arc at the beginning of this content takes.
fn arc_length(content: &[i64]) -> usize {
    if content[0] == 0 {
        return 1;
    }
    let labels = content[1] as usize;
    3 + labels + content[2 + labels] as usize
}

/// Labels and the bits of attributes, each with their number before them, so that contents can be read back.
fn put(labels: &[i64], attributes: &[f64], content: &mut Vec<i64>) {
    content.push(labels.len() as i64);
    content.extend_from_slice(labels);
    content.push(attributes.len() as i64);
    content.extend(attributes.iter().map(|x| x.to_bits() as i64));
}

/// Numbers contents as they come, and by rank in the end.
#[derive(Default)]
struct Interner {
    numbers: HashMap<Box<[i64]>, u32>,
    last: (Vec<i64>, u32),
}

impl Interner {
    fn number(&mut self, content: &[i64]) -> u32 {
        // Most data repeats one content for long stretches.
        if !self.numbers.is_empty() && self.last.0 == content {
            return self.last.1;
        }
        let number = match self.numbers.get(content) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(content.into(), number);
                number
            }
        };
        self.last.0.clear();
        self.last.0.extend_from_slice(content);
        self.last.1 = number;
        number
    }

    /// The contents in ascending order, and for each number the rank of its content.
    fn ranked(self) -> (Vec<Box<[i64]>>, Vec<u32>) {
        let mut pairs: Vec<(Box<[i64]>, u32)> = self.numbers.into_iter().collect();
        pairs.sort_unstable();
        let mut ranks = vec![0; pairs.len()];
        for (rank, (_, number)) in pairs.iter().enumerate() {
            ranks[*number as usize] = rank as u32;
        }
        (pairs.into_iter().map(|(content, _)| content).collect(), ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::GraphBuilder;

    #[test]
    fn undirected_graphs_borrow_their_rows() {
        let g = [Graph::undirected(3, [(0, 1), (1, 2)]).unwrap()];
        let t = Types::of(&g, Features::default());
        assert!(matches!(t.neighbours[0].nodes, Cow::Borrowed(_)));
        assert!(t.neighbours[0].one_relation());
        assert_eq!(t.nodes, [[0, 0, 0]]);
    }

    #[test]
    fn loops_colour_their_node_and_leave_the_rows() {
        let g = [Graph::undirected(2, [(0, 1), (1, 1)]).unwrap()];
        let t = Types::of(&g, Features::default());
        assert_eq!(t.nodes, [[0, 1]]);
        assert_eq!((&*t.neighbours[0].offsets, &*t.neighbours[0].nodes), (&[0, 1, 2][..], &[1, 0][..]));
    }

    #[test]
    fn directions_are_relations() {
        // 0 -> 1, 1 <-> 2
        let g = [Graph::directed(3, [(0, 1), (1, 2), (2, 1)]).unwrap()];
        let t = Types::of(&g, Features::default());
        let n = &t.neighbours[0];
        let of = |u| n.row(u).map(|i| (n.nodes[i], n.relation(i))).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2)), (vec![(1, 1)], vec![(0, 0), (2, 2)], vec![(1, 2)]));
        assert_eq!(t.relation_contents.len(), 3);
    }

    #[test]
    fn types_do_not_depend_on_the_order_of_nodes() {
        let build = |labels: Vec<i64>, edge: i64| {
            let mut b = GraphBuilder::undirected(2);
            b.node_labels(1, labels).edge_label_columns(1).edge_with(0, 1, &[edge], &[]);
            b.build().unwrap()
        };
        let g = [build(vec![7, 3], 5), build(vec![3, 7], 4)];
        let t = Types::of(&g, Features::default());
        assert_eq!(t.nodes, [[1, 0], [0, 1]]);
        assert_eq!((t.neighbours[0].relation(0), t.neighbours[1].relation(0)), (1, 0));
        let plain = Types::of(&g, Features { labels: false, attributes: false });
        assert_eq!(plain.nodes, [[0, 0], [0, 0]]);
        assert!(plain.neighbours[0].one_relation());
    }
}
