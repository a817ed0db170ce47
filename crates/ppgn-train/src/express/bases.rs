//! The suite `cfi`: pairs of Cai, Fürer and Immerman over bases of known treewidth.
//!
//! k-FWL distinguishes such a pair exactly if the base has treewidth at most k, so treewidth 2 is within the reach of
//! networks of order 2, and treewidth 3 is beyond them and within the reach of order 3. Bases are named graphs and random
//! partial k-trees without nodes of degree 1 (those change nothing but the size), each of the
//! [treewidth](ppgn_graph::treewidth) that its category says.

use super::suite::{Category, Suite};
use crate::error::Result;
use ppgn_graph::Graph;
use ppgn_graph::generate::{cfi_pair, generate};
use ppgn_graph::random::Stream;
use ppgn_graph::treewidth::treewidth;
use ppgn_wl::{Options, Test, refine};
use std::collections::HashSet;

/// A category: the treewidth, named bases, and how many bases there are in all, with at most this many nodes in the graphs.
struct Kind {
    treewidth: usize,
    named: &'static [&'static str],
    count: usize,
    nodes: usize,
}

/// Grids of two rows are the pairs that take many rounds: 2 x C takes C - 1.
const KINDS: [Kind; 2] = [
    Kind {
        treewidth: 2,
        named: &[
            "cycles:n=3",
            "cycles:n=4",
            "cycles:n=5",
            "cycles:n=6",
            "cycles:n=8",
            "bipartite:a=2,b=3",
            "bipartite:a=2,b=4",
            "grid:rows=2,columns=3",
            "grid:rows=2,columns=4",
            "grid:rows=2,columns=5",
            "grid:rows=2,columns=6",
            "grid:rows=2,columns=7",
            "grid:rows=2,columns=8",
            "grid:rows=2,columns=9",
        ],
        count: 60,
        nodes: 40,
    },
    Kind {
        treewidth: 3,
        named: &["complete:n=4", "bipartite:a=3,b=3", "prism:n=3", "hypercube:d=3", "grid:rows=3,columns=3"],
        count: 16,
        nodes: 60,
    },
];

/// The suite. Its bases do not depend on any seed.
pub(super) fn suite() -> Result<Suite> {
    let mut categories = Vec::new();
    for kind in &KINDS {
        let mut graphs = Vec::new();
        for base in bases(kind)? {
            graphs.extend(cfi_pair(&base)?);
        }
        categories.push(Category::consecutive(format!("treewidth-{}", kind.treewidth), graphs)?);
    }
    Ok(Suite { name: "cfi".into(), categories, missing: Vec::new() })
}

/// The bases of a category, no two alike to 2-FWL.
fn bases(kind: &Kind) -> Result<Vec<Graph>> {
    let mut bases: Vec<Graph> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut add = |bases: &mut Vec<Graph>, base: Graph| -> Result<()> {
        let options = Options::default();
        let colours = refine(std::slice::from_ref(&base), Test::fwl(2)?, &options)?;
        // Canonical colours: equal graphs have equal histograms, and a graph that shares one is left out.
        let known = !seen.insert(format!("{} {} {:?}", base.nodes(), base.edges(), colours.histogram(0)));
        if !known {
            bases.push(base);
        }
        Ok(())
    };
    for named in kind.named {
        add(&mut bases, generate(named)?.graph(0).clone())?;
    }
    let mut draw = 0;
    while bases.len() < kind.count {
        let mut random = Stream::new(0, "express/bases", &[kind.treewidth as u64, draw]);
        draw += 1;
        let base = partial_tree(kind.treewidth, 5 + random.below(8), &mut random)?;
        let degrees = || (0..base.nodes()).map(|v| base.neighbours(v).len());
        let nodes: usize = degrees().map(|d| 1usize << d.saturating_sub(1).min(20)).sum();
        if degrees().all(|d| d >= 2) && nodes <= kind.nodes && treewidth(&base) == Some(kind.treewidth) {
            add(&mut bases, base)?;
        }
    }
    Ok(bases)
}

/// A random connected partial k-tree: node by node, each is joined to some nodes of a clique of k that is there already.
fn partial_tree(k: usize, nodes: usize, random: &mut Stream) -> Result<Graph> {
    let mut cliques: Vec<Vec<u32>> = vec![(0..k as u32).collect()];
    let mut edges: Vec<(u32, u32)> = (0..k as u32).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    for v in k as u32..nodes as u32 {
        let clique = cliques[random.below(cliques.len())].clone();
        edges.extend(clique.iter().map(|&u| (u, v)));
        for left_out in 0..k {
            let mut next = clique.clone();
            next[left_out] = v;
            cliques.push(next);
        }
    }
    random.shuffle(&mut edges);
    // Leave out edges while the graph stays connected and no node becomes a leaf.
    let spare = random.below(edges.len() / 2 + 1);
    for _ in 0..spare {
        let Some(left_out) = edges.pop() else { break };
        let graph = Graph::undirected(nodes, edges.iter().copied()).map_err(ppgn_graph::Error::from)?;
        let leaf = (0..nodes).any(|v| graph.neighbours(v).len() < 2);
        if leaf || cfi_pair(&graph).is_err() {
            edges.insert(0, left_out);
        }
    }
    Ok(Graph::undirected(nodes, edges).map_err(ppgn_graph::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_have_the_treewidth_of_their_category() {
        for kind in &KINDS {
            let bases = bases(kind).unwrap();
            assert_eq!(bases.len(), kind.count);
            for base in &bases {
                assert!(base.nodes() > 14 || treewidth(base) == Some(kind.treewidth));
            }
        }
    }

    #[test]
    fn two_rounds_of_the_suite_are_equal() {
        let [first, second] = [suite().unwrap(), suite().unwrap()];
        assert_eq!(first.categories[0].graphs, second.categories[0].graphs);
    }
}
