//! The graphs of Cai, Fürer and Immerman: pairs that k-WL does not distinguish if the treewidth
//! of the base graph is too large for k.
//!
//! *An optimal lower bound on the number of variables for graph identification* (1992), without the nodes for edges:
//! a node v of the base graph becomes the nodes (v, S), S an even subset of the edges at v, and (u, S) ~ (v, T) if
//! uv is an edge of the base that lies in both or in neither. The twisted graph takes odd subsets at one node. The
//! two are not isomorphic, whichever node of the connected base is twisted, and where they differ can be moved along
//! any path: k-FWL cannot find it if the base has treewidth above k.

use super::families::{bipartite, complete, cycles, grid, hypercube, path, prism, star};
use super::rows::{check_size, labelled};
use super::strongly_regular::petersen;
use super::{Generator, Made, Parameter};
use crate::error::{Error, Result};
use crate::format::lines::show;
use crate::graph::Graph;

pub(super) const CFI: Generator = Generator {
    name: "cfi",
    about: "the Cai-Fuerer-Immerman pair of a base graph; k-FWL distinguishes it only if the base has treewidth at most k",
    parameters: &[
        Parameter::new(
            "base",
            "k4",
            "kN, kN-e (an edge less), kA_B, cN, pN, sN (N leaves), gridRxC, prism, prismN, cube, petersen",
        ),
        Parameter::new(
            "twisted",
            "both",
            "0: the untwisted graph; 1: the twisted one; both: the two as classes",
        ),
        Parameter::new(
            "node",
            "0",
            "the node of the base that is twisted; any gives the same graph up to isomorphism",
        ),
        Parameter::new("colours", "0", "1: label each node by its node of the base"),
    ],
    make: |a| {
        let base = named_base(a.text("base"))?;
        let node = a.number("node", 0..=base.nodes() as u32 - 1)? as usize;
        let colours = a.flag("colours")?;
        match a.text("twisted") {
            "0" => Ok(cfi(&base, None, colours)?.into()),
            "1" => Ok(cfi(&base, Some(node), colours)?.into()),
            "both" => Ok(Made::pair(cfi(&base, None, colours)?, cfi(&base, Some(node), colours)?)),
            other => Err(Error::call(format!("twisted is 0, 1 or both, not {}", show(other.as_bytes())))),
        }
    },
};

/// The Cai-Fürer-Immerman pair of any connected base graph, untwisted and twisted: not isomorphic, and k-FWL
/// distinguishes the two only if the base has treewidth at most k. O(n + m) of the result.
///
/// ```
/// use ppgn_graph::generate::{cfi_pair, generate};
/// let [untwisted, twisted] = cfi_pair(generate("prism")?.graph(0))?;
/// assert_eq!((untwisted.nodes(), twisted.edges()), (24, untwisted.edges()));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn cfi_pair(base: &Graph) -> Result<[Graph; 2]> {
    let wrong = |why: &str| Err(Error::call(format!("a base of a CFI pair {why}")));
    if base.nodes() < 2 || base.is_directed() || base.self_loops() > 0 || !is_connected(base) {
        return wrong("is a connected undirected graph without loops, of at least two nodes");
    }
    if (0..base.nodes()).any(|v| base.neighbours(v).len() > MAX_DEGREE as usize) {
        return wrong(&format!("has nodes of degree at most {MAX_DEGREE}"));
    }
    Ok([cfi(base, None, false)?, cfi(base, Some(0), false)?])
}

fn is_connected(graph: &Graph) -> bool {
    let mut seen = vec![false; graph.nodes()];
    let mut open: Vec<usize> = Vec::from_iter((graph.nodes() > 0).then_some(0));
    while let Some(v) = open.pop() {
        if !std::mem::replace(&mut seen[v], true) {
            open.extend(graph.neighbours(v).iter().map(|&w| w as usize));
        }
    }
    seen.into_iter().all(|seen| seen)
}

/// The graph of a base without loops or isolated nodes. Nodes are ordered by v, then by the subset as a binary number over
/// the neighbours of v in ascending order. O(n + m).
fn cfi(base: &Graph, twisted: Option<usize>, colours: bool) -> Result<Graph> {
    let (nodes, arcs) = size(base, twisted);
    check_size(1, nodes, arcs)?;
    let gadgets = Gadgets::new(base, twisted);
    let node_of: Vec<u32> =
        (0..base.nodes()).flat_map(|v| std::iter::repeat_n(v as u32, gadgets.subsets(v))).collect();
    let labels = if colours { node_of.iter().map(|&v| v.into()).collect() } else { Vec::new() };
    let graph = labelled(nodes, arcs, labels, |from, row| {
        let u = node_of[from as usize] as usize;
        let subset = gadgets.subset(u, from - gadgets.starts[u]);
        for (i, &v) in base.neighbours(u).iter().enumerate() {
            let v = v as usize;
            let back = base.neighbours(v).partition_point(|&w| (w as usize) < u);
            let agree = |&k: &u32| gadgets.subset(v, k) >> back & 1 == subset >> i & 1;
            row.extend((0..gadgets.subsets(v) as u32).filter(agree).map(|k| gadgets.starts[v] + k));
        }
    })?;
    Ok(graph.with_direction(false))
}

/// What replaces each node of the base: its subsets, numbered.
struct Gadgets<'a> {
    base: &'a Graph,
    twisted: Option<usize>,
    starts: Vec<u32>,
}

impl<'a> Gadgets<'a> {
    fn new(base: &'a Graph, twisted: Option<usize>) -> Self {
        let mut gadgets = Gadgets { base, twisted, starts: Vec::with_capacity(base.nodes()) };
        let mut start = 0;
        for v in 0..base.nodes() {
            gadgets.starts.push(start);
            start += gadgets.subsets(v) as u32;
        }
        gadgets
    }

    fn subsets(&self, v: usize) -> usize {
        1 << (self.base.neighbours(v).len() - 1)
    }

    /// Subset k at v as bits: k says which of all edges but the last are in it, the parity decides on the last.
    fn subset(&self, v: usize, k: u32) -> u32 {
        let odd = u32::from(self.twisted == Some(v));
        k | ((k.count_ones() + odd) % 2) << (self.base.neighbours(v).len() - 1)
    }
}

/// The nodes and arcs of the graph, at most `u64::MAX`.
fn size(base: &Graph, twisted: Option<usize>) -> (u64, u64) {
    let power = |e: usize| if e < 64 { 1u64 << e } else { u64::MAX };
    let degree = |v: usize| base.neighbours(v).len();
    let nodes = (0..base.nodes()).fold(0u64, |sum, v| sum.saturating_add(power(degree(v) - 1)));
    // The subsets at v that hold (or do not hold) a given edge: half of all, but a single edge is as its parity says.
    let halves = |v: usize, holds: bool| match degree(v) {
        1 => u64::from(holds == (twisted == Some(v))),
        d => power(d - 2),
    };
    let arcs = base.arc_list().fold(0u64, |sum, (u, v, _)| {
        let both = halves(u, true).saturating_mul(halves(v, true));
        let neither = halves(u, false).saturating_mul(halves(v, false));
        sum.saturating_add(both).saturating_add(neither)
    });
    (nodes, arcs)
}

/// The connected graph with at least one edge that a name means, ignoring case.
fn named_base(name: &str) -> Result<Graph> {
    let base = parse_base(&name.to_ascii_lowercase()).ok_or_else(|| {
        Error::call(format!(
            "base {} is not known: there are kN (complete), kN-e (an edge less), kA_B or kAxB (bipartite), cN (cycle), \
             pN (path), sN or starN (N leaves), gridRxC, prism, prismN, cube, petersen",
            show(name.as_bytes())
        ))
    })??;
    match base.edges() {
        0 => Err(Error::call(format!("base {name} has no edges, a base has at least one"))),
        _ => Ok(base),
    }
}

fn parse_base(name: &str) -> Option<Result<Graph>> {
    // Fully joined nodes have a power of two of subsets: 2^27 is reached at degree 28. Sparse bases may be longer.
    let dense = |digits: &str| number(digits, 1..=MAX_DEGREE + 1);
    let sparse = |digits: &str, least: u32| number(digits, least..=MAX_BASE);
    Some(match name {
        "prism" => prism(3),
        "cube" => hypercube(3),
        "petersen" => petersen(),
        _ if let Some(n) = name.strip_prefix("prism") => sparse(n, 3)?.and_then(prism),
        _ if let Some(n) = name.strip_prefix("star").or(name.strip_prefix('s')) => dense(n)?.and_then(star),
        _ if let Some(sides) = name.strip_prefix("grid") => {
            let (rows, columns) = sides.split_once('x')?;
            let (rows, columns) = (sparse(rows, 1)?, sparse(columns, 1)?);
            rows.and_then(|r| columns.and_then(|c| base_grid(r, c)))
        }
        _ if let Some(n) = name.strip_prefix('c') => sparse(n, 3)?.and_then(|n| cycles(n, 1)),
        _ if let Some(n) = name.strip_prefix('p') => sparse(n, 1)?.and_then(path),
        _ => {
            let rest = name.strip_prefix('k')?;
            match (rest.strip_suffix("-e"), rest.split_once(['_', 'x'])) {
                (Some(n), _) => dense(n)?.and_then(complete_less_an_edge),
                (None, Some((a, b))) => {
                    let (a, b) = (dense(a)?, dense(b)?);
                    a.and_then(|a| b.and_then(|b| bipartite(a, b)))
                }
                (None, None) => dense(rest)?.and_then(complete),
            }
        }
    })
}

/// The largest degree of a base: its 2^27 subsets are all nodes that there may be.
const MAX_DEGREE: u32 = 28;

/// The most nodes of a base.
const MAX_BASE: u32 = 1 << 24;

/// The number in a base's name; `None` where it is not one.
fn number(digits: &str, range: std::ops::RangeInclusive<u32>) -> Option<Result<u32>> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().ok().filter(|n| range.contains(n));
    Some(value.ok_or_else(|| {
        let (least, most) = range.into_inner();
        Error::call(format!("the {} of this base can be {least} to {most}", show(digits.as_bytes())))
    }))
}

fn base_grid(rows: u32, columns: u32) -> Result<Graph> {
    if u64::from(rows) * u64::from(columns) > MAX_BASE.into() {
        return Err(Error::call(format!("a base has at most {MAX_BASE} nodes, not {rows} x {columns}")));
    }
    grid(rows, columns)
}

/// K_n without the edge between its last two nodes.
fn complete_less_an_edge(n: u32) -> Result<Graph> {
    let whole = complete(n)?;
    let last = |u: usize, v: usize| (u + 2, v + 1) == (whole.nodes(), whole.nodes());
    let edges = whole.edge_list().filter(|&(u, v, _)| !last(u, v)).map(|(u, v, _)| (u as u32, v as u32));
    Ok(Graph::undirected(whole.nodes(), edges)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASES: [&str; 17] = [
        "k2", "k4", "K5", "k4-e", "k3-e", "k2_3", "k3x3", "c3", "c7", "p2", "p4", "s3", "star5", "grid3x4",
        "prism", "cube", "petersen",
    ];

    fn degrees(g: &Graph) -> Vec<usize> {
        let mut degrees: Vec<_> = (0..g.nodes()).map(|u| g.neighbours(u).len()).collect();
        degrees.sort_unstable();
        degrees
    }

    #[test]
    fn bases_are_what_their_names_say() {
        let shape = |name: &str| named_base(name).map(|g| (g.nodes(), g.edges())).unwrap();
        let shapes = BASES.map(shape);
        let wanted = [
            (2, 1),
            (4, 6),
            (5, 10),
            (4, 5),
            (3, 2),
            (5, 6),
            (6, 9),
            (3, 3),
            (7, 7),
            (2, 1),
            (4, 3),
            (4, 3),
            (6, 5),
            (12, 17),
            (6, 9),
            (8, 12),
            (10, 15),
        ];
        assert_eq!(shapes, wanted);
        assert_eq!((shape("prism5"), shape("grid1x2")), ((10, 15), (2, 1)));
        for unknown in
            ["", "k", "x4", "k4x", "k_3", "grid3", "gridx", "c-3", "k+4", "k4-f", "star", "c3.0", "k4é"]
        {
            let message = named_base(unknown).unwrap_err().to_string();
            assert!(message.contains("is not known: there are kN"), "{unknown}: {message}");
        }
        for empty in ["k1", "p1", "grid1x1", "k2-e", "k1-e"] {
            assert!(
                named_base(empty).unwrap_err().to_string().ends_with("has no edges, a base has at least one")
            );
        }
        for (wrong, most) in
            [("k0", 29), ("k30", 29), ("s99", 29), ("c2", 1 << 24), ("p99999999999", 1 << 24)]
        {
            assert!(named_base(wrong).unwrap_err().to_string().ends_with(&format!("to {most}")), "{wrong}");
        }
        assert!(named_base("grid9999x9999").unwrap_err().to_string().contains("at most 16777216 nodes"));
    }

    #[test]
    fn a_pair_of_any_base() {
        let named = crate::generate::generate("cfi:base=cube").unwrap();
        let pair = cfi_pair(&hypercube(3).unwrap()).unwrap();
        assert_eq!(named.graphs(), &pair);
        let two = Graph::undirected(4, [(0, 1), (2, 3)]).unwrap();
        let directed = Graph::directed(2, [(0, 1), (1, 0)]).unwrap();
        for wrong in [two, directed, Graph::undirected(1, []).unwrap(), star(40).unwrap()] {
            assert!(cfi_pair(&wrong).unwrap_err().is_call());
        }
    }

    #[test]
    fn sizes_follow_the_formula() {
        for name in BASES {
            let base = named_base(name).unwrap();
            for twisted in [None, Some(0), Some(base.nodes() - 1)] {
                let g = cfi(&base, twisted, false).unwrap();
                let nodes: usize = (0..base.nodes()).map(|v| 1 << (base.neighbours(v).len() - 1)).sum();
                assert_eq!(g.nodes(), nodes);
                assert_eq!(size(&base, twisted), (g.nodes() as u64, g.arcs() as u64), "{name} {twisted:?}");
            }
        }
        let g = cfi(&named_base("k4").unwrap(), None, false).unwrap();
        assert_eq!((g.nodes(), g.edges(), degrees(&g)), (16, 48, vec![6; 16]));
    }

    #[test]
    fn adjacency_is_the_definition() {
        for name in BASES {
            let base = named_base(name).unwrap();
            for twisted in [None, Some(1)] {
                // Nodes as (v, the set of its edges), by enumerating all sets of the right parity.
                let mut nodes: Vec<(usize, Vec<usize>)> = Vec::new();
                for v in 0..base.nodes() {
                    let edges: Vec<usize> = base
                        .neighbours(v)
                        .iter()
                        .map(|&w| base.arc(v.min(w as usize), v.max(w as usize)).unwrap())
                        .collect();
                    for bits in 0..1u32 << edges.len() {
                        if bits.count_ones() % 2 == u32::from(twisted == Some(v)) {
                            let set = (0..edges.len()).filter(|i| bits >> i & 1 == 1).map(|i| edges[i]);
                            nodes.push((v, set.collect()));
                        }
                    }
                }
                // The order differs from ours by the last bit only, which the parity fixes: sort by the others.
                nodes.sort_by_key(|(v, set)| {
                    let at_v: Vec<usize> = base
                        .neighbours(*v)
                        .iter()
                        .map(|&w| base.arc(*v.min(&(w as usize)), *v.max(&(w as usize))).unwrap())
                        .collect();
                    let low = &at_v[..at_v.len() - 1];
                    (
                        *v,
                        low.iter().enumerate().map(|(i, e)| usize::from(set.contains(e)) << i).sum::<usize>(),
                    )
                });
                let g = cfi(&base, twisted, true).unwrap();
                for (a, (u, s)) in nodes.iter().enumerate() {
                    assert_eq!(g.node_labels(a), [*u as i64]);
                    for (b, (v, t)) in nodes.iter().enumerate() {
                        let edge = base.arc(*u.min(v), *u.max(v));
                        let wanted = edge.is_some_and(|e| s.contains(&e) == t.contains(&e));
                        assert_eq!(g.arc(a, b).is_some(), wanted, "{name} {twisted:?}: {u} {s:?} {v} {t:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_twist_does_not_show_in_degrees() {
        for name in ["k4", "k5", "k4-e", "k3_3", "c5", "grid2x3", "prism", "cube", "petersen"] {
            let base = named_base(name).unwrap();
            let untwisted = cfi(&base, None, false).unwrap();
            for node in 0..base.nodes() {
                assert_eq!(degrees(&cfi(&base, Some(node), false).unwrap()), degrees(&untwisted));
            }
        }
    }
}
