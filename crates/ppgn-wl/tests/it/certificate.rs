//! Certificates, checked as a person would: what the legend says is looked up in the graphs, and counted.

use crate::graphs;
use crate::naive::tuples;
use ppgn_graph::{Graph, GraphBuilder};
use ppgn_wl::certificate::{Certificate, Meaning, Named};
use ppgn_wl::{Family, Options, Refinement, Test, certificate, refine};
use proptest::prelude::*;
use std::collections::HashMap;

fn certify(graphs: &[Graph], test: Test) -> (Refinement, Option<Certificate>) {
    let r = refine(graphs, test, &Options::default()).unwrap();
    let c = certificate(graphs, &r, 0, 1, &Options::default()).unwrap();
    (r, c)
}

/// The colours of the legend that each tuple of a graph has, by the legend alone; types are taken from round 0.
fn check(g: &Graph, types: &[u32], certificate: &Certificate) -> Vec<Vec<Named>> {
    let all = tuples(g, certificate.test.k());
    let place: HashMap<&[usize], usize> = all.iter().enumerate().map(|(i, t)| (t.as_slice(), i)).collect();
    let mut has: Vec<Vec<Named>> = vec![Vec::new(); all.len()];
    for definition in certificate.legend.iter().rev() {
        let mut fits = Vec::new();
        for (i, tuple) in all.iter().enumerate() {
            let replaced = |q: usize, node: usize| {
                let mut other = tuple.clone();
                other[q] = node;
                place[other.as_slice()]
            };
            // (position, places of the tuples) of every neighbour
            let neighbours: Vec<(usize, Vec<usize>)> = match (certificate.test.k(), certificate.test.family())
            {
                (1, _) => {
                    let joined = |v: &usize| *v != i && (g.arc(i, *v).is_some() || g.arc(*v, i).is_some());
                    (0..g.nodes()).filter(joined).map(|v| (0, vec![v])).collect()
                }
                (k, Family::Wl) => (0..k)
                    .flat_map(|q| (0..g.nodes()).map(move |v| (q, v)))
                    .map(|(q, v)| (q + 1, vec![replaced(q, v)]))
                    .collect(),
                (k, Family::Fwl) => {
                    (0..g.nodes()).map(|v| (0, (0..k).map(|q| replaced(q, v)).collect())).collect()
                }
            };
            if match &definition.meaning {
                Meaning::Type(_) => types[i] == definition.name.colour,
                Meaning::Refined { parent, neighbours: kinds } => {
                    has[i].contains(parent)
                        && kinds.iter().map(|kind| kind.count).sum::<u64>() == neighbours.len() as u64
                        && kinds.iter().all(|kind| {
                            let alike = |(position, places): &&(usize, Vec<usize>)| {
                                *position == kind.position
                                    && places.iter().zip(&kind.colours).all(|(&p, c)| has[p].contains(c))
                            };
                            neighbours.iter().filter(alike).count() as u64 == kind.count
                        })
                }
            } {
                fits.push(i);
            }
        }
        fits.into_iter().for_each(|i| has[i].push(definition.name));
    }
    has
}

/// Whether a certificate is there if it must be, and true.
fn holds(graphs: &[Graph], test: Test) -> Result<(), String> {
    let (r, certificate) = certify(graphs, test);
    let Some(c) = certificate else {
        return if r.equal(0, 1) { Ok(()) } else { Err("no certificate".to_string()) };
    };
    if Some(c.round) != r.distinguishing_round(0, 1)
        || c.counts[0] == c.counts[1]
        || c.legend[0].name != c.colour
    {
        return Err(format!("not the round, or no difference:\n{c}"));
    }
    for (side, graph) in graphs.iter().enumerate() {
        let has = check(graph, &r.colours_at(side, 0), &c);
        let count = has.iter().filter(|names| names.contains(&c.colour)).count() as u64;
        if count != c.counts[side] {
            return Err(format!("{count} in graph {side}:\n{c}"));
        }
        let example = c.examples[side].as_ref();
        if example.is_some() != (count > 0) {
            return Err(format!("example in graph {side}:\n{c}"));
        }
        let all = tuples(graph, test.k());
        if let Some(at) = example.and_then(|e| all.iter().position(|t| t == e))
            && !has[at].contains(&c.colour)
        {
            return Err(format!("a wrong example in graph {side}:\n{c}"));
        }
    }
    Ok(())
}

/// Two random graphs of one kind; relations are told in words, which `check` does not read, so edges have no labels.
fn pair(most: usize) -> BoxedStrategy<Vec<Graph>> {
    (0..3i64).prop_flat_map(move |l| prop::collection::vec(graphs::graph(most, false, l, 0), 2)).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn certificates_hold(graphs in pair(9)) {
        holds(&graphs, Test::COLOUR_REFINEMENT).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn certificates_of_tuples_hold(graphs in pair(5)) {
        for test in ["2-wl", "2-fwl", "3-wl"] {
            holds(&graphs, test.parse().unwrap()).map_err(TestCaseError::fail)?;
        }
    }
}

#[test]
fn all_small_trees_and_cycles() {
    // Graphs with equal numbers of nodes and edges: the interesting ones are distinguished late.
    for n in 4..=6 {
        let all = graphs::connected(n);
        for (i, a) in all.iter().enumerate() {
            for b in all[..i].iter().filter(|b| b.edges() == a.edges()) {
                holds(&[a.clone(), b.clone()], Test::COLOUR_REFINEMENT).unwrap();
            }
        }
    }
}

#[test]
fn a_late_difference_is_told_in_few_lines() {
    // Two caterpillars with the same degrees; the rest of a long path is the same in both.
    let legs = |at: [u32; 2]| {
        let path = (1..12).map(|v| (v - 1, v));
        Graph::undirected(14, path.chain([(at[0], 12), (at[1], 13)])).unwrap()
    };
    let (r, c) = certify(&[legs([3, 5]), legs([3, 6])], Test::COLOUR_REFINEMENT);
    let c = c.unwrap();
    assert_eq!(c.round, r.distinguishing_round(0, 1).unwrap());
    assert_eq!(
        c.to_string(),
        "\
1-wl distinguishes them after round 2: colour 3@2 is on 3 nodes of graph 0 and on 2 nodes of graph 1.
Such as: node 7 of graph 0, node 8 of graph 1.
  3@2: 0@1 with 2 neighbours: 2 x 0@1
  0@1: 0@0 with 2 neighbours: 2 x 0@0
  0@0: a node
(c@r is colour c after round r.)"
    );
}

#[test]
fn labels_and_relations_are_told_in_words() {
    let molecule = |second: i64| {
        let mut b = GraphBuilder::undirected(3);
        b.node_labels(1, vec![6, 6, 8]).edge_label_columns(1);
        b.edge_with(0, 1, &[1], &[]).edge_with(1, 2, &[second], &[]);
        b.build().unwrap()
    };
    let (_, c) = certify(&[molecule(1), molecule(2)], Test::COLOUR_REFINEMENT);
    assert_eq!(
        c.unwrap().to_string(),
        "\
1-wl distinguishes them after round 1: colour 1@1 is on 1 node of graph 0 and on 0 nodes of graph 1.
Such as: node 2 of graph 0.
  1@1: 1@0 with 1 neighbour: 1 x 0@0 by an edge with label 1
  1@0: a node with label 8
  0@0: a node with label 6
(c@r is colour c after round r.)"
    );
    let mut b = GraphBuilder::undirected(3);
    b.node_labels(1, vec![6, 6, 6]).edge_label_columns(1);
    b.edge_with(0, 1, &[1], &[]).edge_with(1, 2, &[1], &[]);
    let (_, c) = certify(&[molecule(1), b.build().unwrap()], Test::COLOUR_REFINEMENT);
    assert_eq!(
        c.unwrap().to_string(),
        "\
1-wl distinguishes them after round 0: colour 0@0 is on 2 nodes of graph 0 and on 3 nodes of graph 1.
Such as: node 0 of graph 0, node 0 of graph 1.
  0@0: a node with label 6
(c@r is colour c after round r.)"
    );
}

#[test]
fn equal_graphs_have_none() {
    let g = Graph::undirected(3, [(0, 1)]).unwrap();
    assert_eq!(certify(&[g.clone(), g.permute(&[2, 0, 1]).unwrap()], Test::COLOUR_REFINEMENT).1, None);
}
