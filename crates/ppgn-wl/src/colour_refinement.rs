//! 1-WL, colour refinement: partition refinement in synchronous rounds, O((n + m) log n) in total.
//!
//! The definition: a node's colour after round r + 1 is its colour after round r together with the multiset of its
//! neighbours' (relation, colour after round r). Recolouring every node in every round costs O(rounds * m). Instead,
//! only *splitters* speak: a node of a splitter class tells every neighbour the class and the relation, and a class
//! is split by what its nodes heard.
//!
//! **Which classes must speak.** In round 1 all of them: nothing is known of the neighbours yet, not even how many
//! there are (in an unlabelled graph the one class must speak, for that is how degrees become known). Later, the
//! classes born in the round before, which are the children of the classes split there, all but each one's largest:
//! that one kept its parent's number. Proof that the partition is still the defined one after *every* round, not only
//! in the end: let u and v have the same colour after round r >= 1. Then for every class C of round r - 1 and every
//! relation they have equally many neighbours in C. If C was not split in round r, this is already equality for the
//! class C of round r. If it was split into C_1, ..., C_m, and u and v agree in the counts for all C_i but one, they
//! agree for that one too, since the counts add up to those of C. So u and v get different colours in round r + 1 exactly
//! if what they hear from the splitters differs.
//!
//! **The cost.** A node speaks only if its class was just born by a split and is not the largest part, so it has at
//! most half the size of its parent: every node speaks at most 1 + log2(n) times, every edge carries at most
//! 2 (1 + log2(n)) messages. The nodes that heard something are sorted by what they heard, class by class. Quicksort
//! that sets aside what equals the pivot compares an item of a part of size p in a class of size s about log(s / p)
//! times; over the rounds these logarithms add up to at most log(n) per node, and a comparison reads no more than what
//! the node heard, at most its degree. With several relations, each node's list is sorted first: a factor
//! log(relations) on the messages.

mod messages;
mod partition;
mod round;
mod rows;

use crate::pace::Pace;
use crate::types::Types;
use crate::{Error, Options, Refinement, Test};
use partition::Partition;
use ppgn_graph::Graph;
use round::Round;
use rows::Rows;

/// The colours of all nodes of these graphs, refined together.
pub(crate) fn refine(graphs: &[Graph], options: &Options) -> Result<Refinement, Error> {
    refine_with(graphs, options, round::PATIENCE)
}

fn refine_with(graphs: &[Graph], options: &Options, patience: u64) -> Result<Refinement, Error> {
    check(graphs, options)?;
    let types = Types::of(graphs, options.features);
    options.interrupt.check()?;
    let mut partition = Partition::new(types.nodes.concat(), types.node_contents.len());
    let mirror = types.mirror();
    let rows = Rows::of(types.neighbours, mirror);

    let mut pace = Pace::new(&options.interrupt);
    let mut round = Round::new(&rows, &partition, patience);
    let mut counts = vec![partition.colours()];
    let mut splitters = 0..partition.colours();
    let stable = loop {
        if partition.is_discrete() || !round.run(&mut partition, splitters, &mut pace)? {
            break true;
        }
        if options.rounds.is_some_and(|most| counts.len() > most) {
            break false;
        }
        round.apply(&mut partition);
        splitters = counts[counts.len() - 1]..partition.colours();
        counts.push(partition.colours());
    };
    drop(round);
    let (parents, colours) = partition.into_forest();
    Ok(Refinement::new(Test::COLOUR_REFINEMENT, stable, counts, parents, apart(graphs, colours)))
}

/// The colours of each graph by itself.
fn apart(graphs: &[Graph], colours: Vec<u32>) -> Vec<Vec<u32>> {
    if graphs.len() == 1 {
        return vec![colours];
    }
    let mut rest = &colours[..];
    let mut next = |g: &Graph| {
        let (these, others) = rest.split_at(g.nodes());
        rest = others;
        these.to_vec()
    };
    graphs.iter().map(&mut next).collect()
}

/// Refuses what cannot be refined, before anything is allocated.
fn check(graphs: &[Graph], options: &Options) -> Result<(), Error> {
    if graphs.is_empty() {
        return Err(Error::NoGraphs);
    }
    if let Some(graph) = graphs.iter().position(|g| g.nodes() == 0) {
        return Err(Error::NoNodes { graph });
    }
    let (mut nodes, mut links) = (0u64, 0u64);
    for g in graphs {
        nodes += g.nodes() as u64;
        links += links_of(g);
    }
    if nodes >= u64::from(u32::MAX) {
        return Err(Error::TooManyTuples { nodes: nodes as usize, k: 1 });
    }
    if nodes + links >= u64::from(u32::MAX) {
        return Err(Error::TooManyEdges { links });
    }
    let Some(limit) = options.max_memory else { return Ok(()) };
    let need = memory(graphs, options, nodes, links);
    if need > limit { Err(Error::Memory { test: Test::COLOUR_REFINEMENT, need, limit }) } else { Ok(()) }
}

/// How many (node, neighbour) pairs a graph has at most.
fn links_of(g: &Graph) -> u64 {
    let arcs = g.arcs() as u64;
    if g.is_directed() { 2 * arcs } else { arcs }
}

/// The bytes that refining takes beside the graphs, an upper bound but for labels, of which few are different.
fn memory(graphs: &[Graph], options: &Options, nodes: u64, links: u64) -> u64 {
    let attributes = |g: &Graph| match options.features.attributes {
        false => 0,
        true => {
            // Every node and edge may have a content of its own: its integers twice, and its place in a hash table.
            let content = |columns: usize| 2 * (8 * columns as u64 + 80) + 48;
            let node = if g.node_attribute_columns() > 0 { content(g.node_attribute_columns()) } else { 0 };
            let edge =
                if g.edge_attribute_columns() > 0 { content(2 * g.edge_attribute_columns()) } else { 0 };
            node * g.nodes() as u64 + edge * g.arcs() as u64
        }
    };
    // A directed graph's rows are merged with those of its transpose, one graph at a time, in growing lists.
    let transposed =
        graphs.iter().filter(|g| g.is_directed()).map(|g| 8 * g.arcs() as u64).max().unwrap_or(0);
    let own_rows = graphs.len() > 1 || graphs[0].is_directed() || graphs[0].self_loops() > 0;
    let rows = if own_rows { 8 * nodes + 16 * links } else { 4 * links };
    // With labelled edges a message may take two words; the lists of a class grow to twice their length at most.
    let labelled = graphs.iter().any(|g| g.edge_label_columns() + g.edge_attribute_columns() > 0);
    let messages = if labelled { 16 } else { 8 } * (nodes + links);
    // Types twice, order, place, what was heard; begin, size, parent, tail and openness per class; a round's items and
    // sizes.
    let partition = (2 * 4 + 3 * 4 + 5 * 4 + 2 * 16 + 8) * nodes;
    // A graph's lists have a few hundred bytes of their own.
    let lists = 400 * graphs.len() as u64;
    graphs.iter().map(attributes).sum::<u64>() + lists + transposed + rows + messages + partition
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::GraphBuilder;
    use ppgn_graph::random::Stream;

    #[test]
    fn telling_and_asking_are_the_same() {
        let mut random = Stream::new(2, "ways", &[]);
        for case in 0..300 {
            let n = 1 + random.below(40);
            let mut b = GraphBuilder::new(n, case % 2 == 0);
            b.edge_label_columns(1).node_labels(1, (0..n as i64).map(|u| u % (1 + case % 3)).collect());
            for _ in 0..random.below(3 * n) {
                let (u, v, label) = (random.below(n), random.below(n), random.below(1 + case as usize % 4));
                b.edge_with(u as u32, v as u32, &[label as i64], &[]);
            }
            let graphs = [b.build_merging().unwrap().0];
            let [telling, asking, either] =
                [0, u64::MAX, 4].map(|p| refine_with(&graphs, &Options::default(), p).unwrap());
            assert_eq!(telling, asking);
            assert_eq!(telling, either);
        }
    }
}
