//! Random graphs with something to learn of their nodes or pairs, counted one by one: tasks whose answers are known.
//!
//! `short-cycles`: the cycles of length 3 and of length 4 through every node, as targets per node. No message-passing
//! network counts them; networks on pairs can. `distances`: the distance of every pair of nodes, as class per pair.

use super::rows::check_size;
use super::{COUNT, Generator, Made, Parameter, SEED};
use crate::dataset::{Item, Known, Learnable, Target};
use crate::error::{Error, Result};
use crate::generate::gnp::Gnp;
use crate::graph::Graph;
use std::collections::VecDeque;

/// More nodes have too many pairs, or too many cycles to count one by one.
const MOST: u32 = 1000;

const N: Parameter = Parameter::new("n", "9", "nodes, from 1 to 1000");
const MANY: Parameter = Parameter { default: "260", ..COUNT };

pub(super) const SHORT_CYCLES: Generator = Generator {
    name: "short-cycles",
    about: "random graphs with the number of 3-cycles and of 4-cycles through every node as targets per node",
    parameters: &[N, Parameter::new("p", "0.35", "the probability of each edge, from 0 to 1"), MANY, SEED],
    make: |a| {
        let learnable = Learnable {
            targets: ["three", "four"].map(|name| Target { name: name.into(), unit: String::new() }).to_vec(),
            ..Learnable::default()
        };
        make(a, Item::Node, learnable, |graph| {
            let counts: Vec<f64> = (0..graph.nodes()).flat_map(|u| cycles(graph, u)).collect();
            Known::new((0..graph.nodes() as u64).collect(), Vec::new(), counts)
        })
    },
};

/// Distances from here on, and pairs that no path joins, are one class.
const FAR: i64 = 5;

pub(super) const DISTANCES: Generator = Generator {
    name: "distances",
    about: "random graphs with the distance of every pair of nodes as class per pair; 5 is 5 and more, or no path",
    parameters: &[N, Parameter::new("p", "0.25", "the probability of each edge, from 0 to 1"), MANY, SEED],
    make: |a| {
        let learnable = Learnable { classes: Some((0..=FAR).collect()), ..Learnable::default() };
        make(a, Item::Pair, learnable, |graph| {
            let n = graph.nodes();
            let labels: Vec<Option<i64>> =
                (0..n).flat_map(|u| distances(graph, u)).map(|d| Some(d.min(FAR))).collect();
            Known::new((0..(n * n) as u64).collect(), labels, Vec::new())
        })
    },
};

fn make(
    a: &super::Arguments,
    item: Item,
    learnable: Learnable,
    known: impl Fn(&Graph) -> Result<Known, String>,
) -> Result<Made> {
    let kind = Gnp { n: a.number("n", 1..=MOST)?, p: a.real("p", 0.0..=1.0)?, directed: false, loops: false };
    // What is known of pairs takes more than the graphs: a pair counts as an arc.
    let (n, count) = (u64::from(kind.n), a.number("count", 1..=super::MAX_GRAPHS)?);
    check_size(count.into(), n, item.places(kind.n as usize))?;
    let made = Made::random(a, (n, kind.likely_arcs()), |random| kind.draw(random))?;
    let known = made.graphs.iter().map(|graph| known(graph).map_err(Error::unfit)).collect::<Result<_>>()?;
    Ok(Made { items: Some((item, learnable, known)), ..made })
}

/// The cycles of length 3 and of length 4 through node u. O(degree^2 * (log degree + n log degree)).
fn cycles(graph: &Graph, u: usize) -> [f64; 2] {
    let joined = |a: usize, b: usize| graph.arc(a, b).is_some();
    let near = graph.neighbours(u);
    let (mut three, mut four) = (0usize, 0usize);
    for (i, &v) in near.iter().enumerate() {
        for &w in &near[i + 1..] {
            let (v, w) = (v as usize, w as usize);
            three += usize::from(joined(v, w));
            let opposite = |&&x: &&u32| x as usize != u && joined(w, x as usize);
            four += graph.neighbours(v).iter().filter(opposite).count();
        }
    }
    [three as f64, four as f64]
}

/// The distances from node u, by breadth-first search; more than any where there is no path.
fn distances(graph: &Graph, u: usize) -> Vec<i64> {
    let mut far = vec![i64::MAX; graph.nodes()];
    far[u] = 0;
    let mut queue = VecDeque::from([u]);
    while let Some(v) = queue.pop_front() {
        for &w in graph.neighbours(v) {
            if far[w as usize] == i64::MAX {
                far[w as usize] = far[v] + 1;
                queue.push_back(w as usize);
            }
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    #[test]
    fn counts_of_known_graphs() {
        let complete = generate("complete:n=5").unwrap();
        // Of 4 neighbours: 6 triangles; 4-cycles: 6 pairs of neighbours, 2 nodes opposite each.
        assert_eq!(cycles(complete.graph(0), 0), [6.0, 12.0]);
        let cycle = generate("cycles:n=4").unwrap();
        assert_eq!(cycles(cycle.graph(0), 2), [0.0, 1.0]);
        assert_eq!(distances(cycle.graph(0), 0), [0, 1, 2, 1]);
    }

    #[test]
    fn cycles_are_closed_walks_that_repeat_no_node() {
        // By powers of the adjacency matrix: 3-cycles are diag(A^3) / 2; 4-cycles diag(A^4) without the walks that go back.
        let data = generate("short-cycles:count=20,seed=3").unwrap();
        for (g, graph) in data.graphs().iter().enumerate() {
            let n = graph.nodes();
            let a: Vec<Vec<f64>> = (0..n)
                .map(|u| (0..n).map(|v| f64::from(u8::from(graph.arc(u, v).is_some()))).collect())
                .collect();
            let times = |x: &[Vec<f64>]| -> Vec<Vec<f64>> {
                let entry = |u: usize, v: usize| (0..n).map(|w| x[u][w] * a[w][v]).sum();
                (0..n).map(|u| (0..n).map(|v| entry(u, v)).collect()).collect()
            };
            let (two, three) = (times(&a), times(&times(&a)));
            let four = times(&three);
            for u in 0..n {
                let back: f64 =
                    two[u][u] * two[u][u] + (0..n).map(|v| a[u][v] * (two[v][v] - 1.0)).sum::<f64>();
                let wanted = [three[u][u] / 2.0, (four[u][u] - back) / 2.0];
                assert_eq!(data.known(Item::Node, g).values(u), wanted);
            }
        }
    }

    #[test]
    fn every_pair_has_a_class() {
        let data = generate("distances:n=6,count=4").unwrap();
        let known = data.known(Item::Pair, 3);
        assert_eq!((known.len(), known.label(0), known.label(35)), (36, Some(0), Some(0)));
        let far = generate("distances:n=2,p=0,count=1").unwrap().known(Item::Pair, 0);
        assert_eq!(far.label(1), Some(FAR));
        assert!(generate("distances:n=1001").unwrap_err().is_call());
        assert!(generate("distances:n=1000,count=1000000").unwrap_err().is_call());
    }
}
