//! k-WL and k-FWL for every k >= 2, on k-tuples, jointly on any set of graphs.
//!
//! One engine runs them all: `initial` gives the isomorphism types, `colouring` runs a round and numbers its colours,
//! `classify` finds exact classes of equal keys. What a key is, is a rule of its own file: `lines` for k-WL, `product`
//! for 2-FWL (with `few` for graphs of few colours), `folklore` for k-FWL beyond.

pub(crate) mod classify;
pub(crate) mod colouring;
mod few;
mod folklore;
pub(crate) mod hash;
mod initial;
mod lines;
mod multiset;
pub(crate) mod product;
pub(crate) mod size;

use crate::types::Types;
use crate::{Error, Family, Options, Refinement, Test};
use colouring::{Colouring, Context, Outcome};
use folklore::Folklore;
use hash::Hashing;
use lines::Wl;
use ppgn_graph::Graph;
use product::Pairs;

/// Refines the isomorphism types of k-tuples, k >= 2, until nothing changes or the rounds are used up.
///
/// A round of k-WL takes O(k n^k) steps, one of k-FWL O(k n^(k+1)), with n^k log n^k for sorting; see
/// [`Refinement`] for the result.
pub(crate) fn refine(graphs: &[Graph], test: Test, options: &Options) -> Result<Refinement, Error> {
    refine_with(graphs, test, options, Hashing::FULL)
}

/// Tuples of this length or more can only be numbered in graphs of a single node, and there longer ones add nothing.
const LONGEST: usize = 32;

fn refine_with(
    graphs: &[Graph],
    test: Test,
    options: &Options,
    hashing: Hashing,
) -> Result<Refinement, Error> {
    let nodes = size::check(graphs, test, options)?;
    let k = test.k().min(LONGEST);
    let context = Context { interrupt: &options.interrupt, hashing };
    let types = Types::of(graphs, options.features);
    size::check_types(&types, test, k, options)?;
    let colours = initial::types(&types, k, &options.interrupt)?;
    drop(types);
    let mut colouring = Colouring::new(k, nodes, colours);
    // As in colour refinement, the round after the last one allowed is computed and dropped: whether it would split
    // anything is what `stable` means.
    let stable = loop {
        if colouring.is_discrete() {
            break true;
        }
        let outcome = round(&colouring, test.family(), k, context)?;
        if !outcome.splits() {
            break true;
        }
        if options.rounds.is_some_and(|most| colouring.counts.len() > most) {
            break false;
        }
        colouring.apply(outcome);
    };
    let Colouring { counts, parents, colours, .. } = colouring;
    Ok(Refinement::new(test, stable, counts, parents, colours))
}

pub(crate) fn round(
    colouring: &Colouring,
    family: Family,
    k: usize,
    context: Context,
) -> Result<Outcome, Error> {
    match (family, k) {
        (Family::Wl, _) => colouring.round(&Wl::new(colouring, k, context)?, context),
        (Family::Fwl, 2) => colouring.round(&Pairs { colouring }, context),
        (Family::Fwl, 3) => colouring.round(&Folklore::<[u32; 3]>::new(colouring, k), context),
        (Family::Fwl, 4) => colouring.round(&Folklore::<[u32; 4]>::new(colouring, k), context),
        (Family::Fwl, _) => colouring.round(&Folklore::<Vec<u32>>::new(colouring, k), context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::GraphBuilder;
    use ppgn_graph::random::Stream;
    use std::collections::BTreeSet;

    /// Graphs that leave work for several rounds, some of them twice.
    fn graphs() -> Vec<Graph> {
        let mut random = Stream::new(1, "weak", &[]);
        let mut graphs = Vec::new();
        for n in [1, 2, 5, 6, 7, 7] {
            let mut b = GraphBuilder::new(n, n % 2 == 1);
            b.edge_label_columns(1);
            for _ in 0..n {
                let (u, v) = (random.below(n) as u32, random.below(n) as u32);
                b.edge_with(u, v, &[random.below(2) as i64], &[]);
            }
            graphs.push(b.build_merging().unwrap().0);
        }
        let cycle = |n: u32| Graph::undirected(n as usize, (0..n).map(|i| (i, (i + 1) % n))).unwrap();
        graphs.extend([cycle(8), cycle(8), Graph::undirected(8, (0..7).map(|i| (i, i + 1))).unwrap()]);
        graphs
    }

    fn with_bits(graphs: &[Graph], test: Test, bits: u32) -> Refinement {
        refine_with(graphs, test, &Options::default(), Hashing::bits(bits)).unwrap()
    }

    fn tests() -> Vec<Test> {
        ["2-wl", "3-wl", "2-fwl", "3-fwl", "4-fwl"].map(|t| t.parse().unwrap()).to_vec()
    }

    #[test]
    fn hashes_decide_nothing() {
        let graphs = graphs();
        for test in tests().into_iter().filter(|t| t.k() < 4) {
            let full = with_bits(&graphs, test, 64);
            for bits in [1, 2, 4] {
                let weak = with_bits(&graphs, test, bits);
                assert_eq!(weak.rounds(), full.rounds(), "{test}, {bits} bits");
                for round in 0..=full.rounds() {
                    assert_eq!(weak.colours_after(round), full.colours_after(round));
                    let mut pairs = BTreeSet::new();
                    for g in 0..graphs.len() {
                        pairs.extend(weak.colours_at(g, round).into_iter().zip(full.colours_at(g, round)));
                    }
                    assert_eq!(pairs.len(), full.colours_after(round), "{test}, {bits} bits, round {round}");
                }
            }
        }
    }

    /// Where hashes collide, the order of keys numbers the colours: it must not depend on that of nodes either.
    #[test]
    fn colliding_colours_are_canonical() {
        let mut random = Stream::new(2, "weak", &[]);
        let graphs: Vec<Graph> = graphs().into_iter().filter(|g| g.nodes() < 7).collect();
        let permutations: Vec<_> = graphs.iter().map(|g| random.permutation(g.nodes())).collect();
        let others: Vec<Graph> =
            graphs.iter().zip(&permutations).map(|(g, p)| g.permute(p).unwrap()).collect();
        for test in tests() {
            let (a, b) = (with_bits(&graphs, test, 2), with_bits(&others, test, 2));
            for (g, p) in permutations.iter().enumerate() {
                let n = p.len();
                for tuple in 0..a.colours(g).len() {
                    let steps = (0..test.k() as u32).map(|q| n.pow(q));
                    let image: usize = steps.map(|s| p[tuple / s % n] as usize * s).sum();
                    assert_eq!(a.colours(g)[tuple], b.colours(g)[image], "{test}");
                }
            }
        }
    }

    #[test]
    fn few_colours_are_compared_as_many_are() {
        // Three colours and 100 nodes: bit sets; each of the two graphs alone, and held against the other by tables.
        let circulant = |steps: &[u32]| {
            let from = |u: u32| steps.iter().map(move |s| (u, (u + s) % 100));
            Graph::undirected(100, (0..100).flat_map(from)).unwrap()
        };
        let pair = [circulant(&[1, 2, 9]), circulant(&[7, 14, 63])];
        let test = Test::fwl(2).unwrap();
        let full = refine(&pair, test, &Options::default()).unwrap();
        assert!(full.equal(0, 1), "7 is a unit modulo 100: the graphs are isomorphic");
        let map = |u: usize| u * 7 % 100;
        for i in 0..100 {
            for k in 0..100 {
                assert_eq!(full.colours(0)[i * 100 + k], full.colours(1)[map(i) * 100 + map(k)]);
            }
        }
        let weak = with_bits(&pair, test, 3);
        assert_eq!((weak.rounds(), weak.colours_after(9)), (full.rounds(), full.colours_after(9)));
    }
}
