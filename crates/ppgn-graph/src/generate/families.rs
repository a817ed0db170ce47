//! The plain families: cycles, paths, grids and the like, each one function from parameters to neighbours.
//!
//! They serve for scaling tests, and for checking a tool by hand.

use super::rows::{MAX_NODES, undirected};
use super::{Generator, Parameter, rows};
use crate::error::Result;
use crate::graph::Graph;

pub(super) const CYCLES: Generator = Generator {
    name: "cycles",
    about: "disjoint cycles of equal length; one of 2n nodes and two of n are the simplest pair that 1-WL cannot distinguish",
    parameters: &[
        Parameter::new("n", "6", "nodes of a cycle, from 3"),
        Parameter::new("copies", "1", "how many cycles side by side, from 1"),
    ],
    make: |a| Ok(cycles(a.number("n", 3..=MAX_NODES)?, a.number("copies", 1..=MAX_NODES)?)?.into()),
};

/// `copies` cycles of n nodes: node c*n + i is node i of cycle c.
pub(super) fn cycles(n: u32, copies: u32) -> Result<Graph> {
    let nodes = u64::from(n) * u64::from(copies);
    undirected(nodes, 2 * nodes, |u, row| {
        let (start, i) = (u - u % n, u % n);
        row.extend([start + (i + n - 1) % n, start + (i + 1) % n]);
    })
}

pub(super) const PATH: Generator = Generator {
    name: "path",
    about: "a path; the longest diameter for its nodes, so what needs many rounds or layers shows here",
    parameters: &[Parameter::new("n", "8", "nodes, from 1")],
    make: |a| Ok(path(a.number("n", 1..=MAX_NODES)?)?.into()),
};

/// The path 0 - 1 - ... - (n-1).
pub(super) fn path(n: u32) -> Result<Graph> {
    grid(1, n)
}

pub(super) const STAR: Generator = Generator {
    name: "star",
    about: "a centre (node 0) and its leaves; the most uneven degrees there are, a test of pooling and load balance",
    parameters: &[Parameter::new("n", "6", "leaves, from 1")],
    make: |a| Ok(star(a.number("n", 1..=MAX_NODES)?)?.into()),
};

/// Node 0 joined to the nodes 1..=n.
pub(super) fn star(n: u32) -> Result<Graph> {
    undirected(u64::from(n) + 1, 2 * u64::from(n), |u, row| match u {
        0 => row.extend(1..=n),
        _ => row.push(0),
    })
}

pub(super) const GRID: Generator = Generator {
    name: "grid",
    about: "a rectangular grid; sparse, planar and as large as wanted: a scaling test of readers, writers and 1-WL",
    parameters: &[
        Parameter::new("rows", "4", "rows, from 1"),
        Parameter::new("columns", "4", "columns, from 1"),
    ],
    make: |a| Ok(grid(a.number("rows", 1..=MAX_NODES)?, a.number("columns", 1..=MAX_NODES)?)?.into()),
};

/// The grid graph: node r*columns + c is joined to the nodes above, left, right and below.
pub(super) fn grid(rows: u32, columns: u32) -> Result<Graph> {
    let (r, c) = (u64::from(rows), u64::from(columns));
    undirected(r * c, 2 * ((r - 1) * c + r * (c - 1)), |u, row| {
        let column = u % columns;
        row.extend((u >= columns).then(|| u - columns));
        row.extend((column > 0).then(|| u - 1));
        row.extend((column + 1 < columns).then(|| u + 1));
        row.extend((u / columns + 1 < rows).then(|| u + columns));
    })
}

pub(super) const COMPLETE: Generator = Generator {
    name: "complete",
    about: "the complete graph; every pair looks alike, so colourings collapse to two colours: the best case of quotients",
    parameters: &[Parameter::new("n", "5", "nodes, from 1")],
    make: |a| Ok(complete(a.number("n", 1..=MAX_NODES)?)?.into()),
};

/// K_n.
pub(super) fn complete(n: u32) -> Result<Graph> {
    undirected(u64::from(n), u64::from(n) * u64::from(n - 1), |u, row| row.extend((0..u).chain(u + 1..n)))
}

pub(super) const BIPARTITE: Generator = Generator {
    name: "bipartite",
    about: "the complete bipartite graph; dense without triangles, so tr(A^3) = 0 whatever its size",
    parameters: &[
        Parameter::new("a", "3", "nodes of the first side, from 1"),
        Parameter::new("b", "3", "nodes of the second side, from 1"),
    ],
    make: |a| Ok(bipartite(a.number("a", 1..=MAX_NODES)?, a.number("b", 1..=MAX_NODES)?)?.into()),
};

/// K_{a,b}: the nodes 0..a joined to the nodes a..a+b.
pub(super) fn bipartite(a: u32, b: u32) -> Result<Graph> {
    let (wide_a, wide_b) = (u64::from(a), u64::from(b));
    undirected(wide_a + wide_b, 2 * wide_a * wide_b, |u, row| {
        row.extend(if u < a { a..a + b } else { 0..a });
    })
}

pub(super) const CIRCULANT: Generator = Generator {
    name: "circulant",
    about: "a circle with skip links; vertex-transitive, so 1-WL sees nothing: the default is the Wagner graph",
    parameters: &[
        Parameter::new("n", "8", "nodes, from 2"),
        Parameter::new("skips", "1+4", "how far links reach, joined by +, each from 1 to n-1"),
        Parameter::new("directed", "0", "1: links lead forward only"),
    ],
    make: |a| {
        let n = a.number("n", 2..=MAX_NODES)?;
        Ok(circulant(n, &a.list("skips", 1..=n - 1)?, a.flag("directed")?)?.into())
    },
};

/// Nodes 0..n on a circle, node u joined to u + s (and, undirected, u - s) for every skip s, all modulo n.
pub(super) fn circulant(n: u32, skips: &[u32], directed: bool) -> Result<Graph> {
    let mut reach: Vec<u32> = skips.to_vec();
    if !directed {
        reach.extend(skips.iter().map(|s| n - s));
    }
    reach.sort_unstable();
    reach.dedup();
    let arcs = u64::from(n) * reach.len() as u64;
    let row = |u: u32, row: &mut Vec<u32>| row.extend(reach.iter().map(|s| (u + s) % n));
    if directed { rows::directed(n.into(), arcs, row) } else { undirected(n.into(), arcs, row) }
}

pub(super) const PRISM: Generator = Generator {
    name: "prism",
    about: "two n-cycles joined node by node; 3-regular, a small base for cfi and a partner for other cubic graphs",
    parameters: &[Parameter::new("n", "3", "nodes of each cycle, from 3")],
    make: |a| Ok(prism(a.number("n", 3..=MAX_NODES)?)?.into()),
};

/// The cycles 0..n and n..2n, with u joined to u + n.
pub(super) fn prism(n: u32) -> Result<Graph> {
    undirected(2 * u64::from(n), 6 * u64::from(n), |u, row| {
        let (start, i) = (u - u % n, u % n);
        row.extend([start + (i + n - 1) % n, start + (i + 1) % n, (u + n) % (2 * n)]);
    })
}

pub(super) const HYPERCUBE: Generator = Generator {
    name: "hypercube",
    about: "the d-dimensional cube; distance-regular with 2^d nodes: 2-FWL colours are distances, d + 1 of them",
    parameters: &[Parameter::new("d", "3", "dimensions, from 0 to 27")],
    make: |a| Ok(hypercube(a.number("d", 0..=27)?)?.into()),
};

/// Q_d: nodes are the numbers below 2^d, joined where they differ in one bit.
pub(super) fn hypercube(d: u32) -> Result<Graph> {
    let nodes = 1u64 << d;
    undirected(nodes, nodes * u64::from(d), |u, row| row.extend((0..d).map(|bit| u ^ (1 << bit))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes, edges, the least and the largest degree.
    fn shape(g: &Graph) -> (usize, usize, usize, usize) {
        assert!(g.is_directed() || g.clone().to_directed().asymmetry().is_none());
        let degrees = (0..g.nodes()).map(|u| g.neighbours(u).len());
        (g.nodes(), g.edges(), degrees.clone().min().unwrap(), degrees.max().unwrap())
    }

    #[test]
    fn nodes_edges_and_degrees() {
        assert_eq!(shape(&cycles(7, 1).unwrap()), (7, 7, 2, 2));
        assert_eq!(shape(&cycles(3, 5).unwrap()), (15, 15, 2, 2));
        assert_eq!(shape(&path(1).unwrap()), (1, 0, 0, 0));
        assert_eq!(shape(&path(9).unwrap()), (9, 8, 1, 2));
        assert_eq!(shape(&star(5).unwrap()), (6, 5, 1, 5));
        assert_eq!(shape(&grid(3, 4).unwrap()), (12, 17, 2, 4));
        assert_eq!(shape(&complete(1).unwrap()), (1, 0, 0, 0));
        assert_eq!(shape(&complete(6).unwrap()), (6, 15, 5, 5));
        assert_eq!(shape(&bipartite(2, 5).unwrap()), (7, 10, 2, 5));
        assert_eq!(shape(&circulant(8, &[1, 4], false).unwrap()), (8, 12, 3, 3));
        assert_eq!(shape(&circulant(7, &[1, 2], true).unwrap()), (7, 14, 2, 2));
        assert_eq!(shape(&prism(5).unwrap()), (10, 15, 3, 3));
        assert_eq!(shape(&hypercube(0).unwrap()), (1, 0, 0, 0));
        assert_eq!(shape(&hypercube(4).unwrap()), (16, 32, 4, 4));
    }

    #[test]
    fn neighbours() {
        let g = cycles(4, 2).unwrap();
        assert_eq!((g.neighbours(0), g.neighbours(7)), (&[1, 3][..], &[4, 6][..]));
        let g = grid(3, 3).unwrap();
        assert_eq!((g.neighbours(4), g.neighbours(2)), (&[1, 3, 5, 7][..], &[1, 5][..]));
        let g = circulant(10, &[1, 4, 9], true).unwrap();
        assert_eq!((g.is_directed(), g.neighbours(8)), (true, &[2, 7, 9][..]));
        // A skip and its complement are the same undirected link.
        assert_eq!(circulant(5, &[1, 4], false).unwrap(), cycles(5, 1).unwrap());
        assert_eq!(prism(4).unwrap().neighbours(0), [1, 3, 4]);
        assert_eq!(hypercube(3).unwrap().neighbours(5), [1, 4, 7]);
    }
}
