//! The certificate: why a test distinguishes two graphs, in a form that a person can check by hand.
//!
//! A test distinguishes two graphs at the first round after which some colour is on different numbers of their tuples. Such
//! a colour is a statement that holds for different numbers of tuples of the two graphs: "has this colour after the
//! previous round, and neighbours of these colours". Those colours are statements in turn, down to isomorphism types.
//! The certificate is that colour with its two counts, and all statements that it rests on.
//!
//! A class that later rounds do not split keeps its older, shorter statement: a colour is named by its number and the last
//! round that changed its class, `3@1`. This names the same tuples and keeps certificates short.

mod text;
mod unfolding;

use crate::types::{Types, check_order};
use crate::{Error, Options, Refinement, Test};
use ppgn_graph::Graph;
use unfolding::Unfolding;

/// Why a test distinguishes two graphs: see [`certificate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The test.
    pub test: Test,
    /// The two graphs, by their numbers in the refinement.
    pub graphs: [usize; 2],
    /// The round after which they differ.
    pub round: usize,
    /// A colour that is on different numbers of tuples after it.
    pub colour: Named,
    /// On how many, in each graph.
    pub counts: [u64; 2],
    /// A tuple of each graph that has the colour, where there is one: its k nodes.
    pub examples: [Option<Vec<usize>>; 2],
    /// What the colour means, and then every colour that this rests on, later rounds first.
    pub legend: Vec<Definition>,
}

/// A colour after a round: its number, and the last round up to then that changed its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Named {
    /// The round.
    pub round: usize,
    /// The colour.
    pub colour: u32,
}

/// What a colour means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The colour.
    pub name: Named,
    /// What it means.
    pub meaning: Meaning,
}

/// What makes a tuple have a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Its isomorphism type, as text.
    Type(String),
    /// What it was a round before, and what its neighbours were then.
    Refined {
        /// Its own colour.
        parent: Named,
        /// Its neighbours, all of them, alike ones together.
        neighbours: Vec<Neighbours>,
    },
}

/// Neighbours that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbours {
    /// For k-WL, the position of the tuple, from 1, that another node has taken; else 0.
    pub position: usize,
    /// For 1-WL where neighbours are related in several ways, how it is related, as text.
    pub relation: Option<String>,
    /// The colour of the neighbour, or for k-FWL the colours of the k tuples that a node gives.
    pub colours: Vec<Named>,
    /// How many.
    pub count: u64,
}

/// Why the test distinguishes graphs a and b of a refinement, or `None` if it doesn't.
///
/// Of all colours on which the two graphs differ after that round, it takes the one with the shortest explanation
/// (fewest definitions and kinds of neighbours in them; ties: the lowest number). `graphs` and
/// [`Options::features`] must be those of the refinement.
///
/// # Complexity
///
/// O(tuples + candidates * s), where s is the length of the shortest explanation: the search leaves a candidate as
/// soon as it is longer than the best one.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, Test, certificate, refine};
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let triangle = Graph::undirected(3, [(0, 1), (1, 2), (2, 0)])?;
/// let (graphs, options) = ([path, triangle], Options::default());
/// let r = refine(&graphs, Test::COLOUR_REFINEMENT, &options)?;
/// let c = certificate(&graphs, &r, 0, 1, &options)?.expect("they differ");
/// assert_eq!(c.to_string(), "\
/// 1-wl distinguishes them after round 1: colour 0@1 is on 1 node of graph 0 and on 3 nodes of graph 1.
/// Such as: node 1 of graph 0, node 0 of graph 1.
///   0@1: 0@0 with 2 neighbours: 2 x 0@0
///   0@0: a node
/// (c@r is colour c after round r.)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn certificate(
    graphs: &[Graph],
    refinement: &Refinement,
    a: usize,
    b: usize,
    options: &Options,
) -> Result<Option<Certificate>, Error> {
    let Some(round) = refinement.distinguishing_round(a, b) else { return Ok(None) };
    check_order(refinement.test())?;
    let pair = [graphs[a].clone(), graphs[b].clone()];
    let types = Types::of(&pair, options.features);
    let mut unfolding = Unfolding::new(&pair, [a, b], refinement, &types, options);
    let candidates = candidates(refinement, [a, b], round);
    let mut best = None;
    let mut shortest = usize::MAX;
    for candidate in &candidates {
        let name = unfolding.name(candidate.colour, round);
        if let Some((length, names)) = unfolding.explain(name, candidate.witness(), shortest)? {
            shortest = length;
            best = Some((candidate, name, names));
        }
    }
    // The counts of some colour differ after that round, so there was a candidate.
    Ok(best.map(|(candidate, colour, names)| Certificate {
        test: refinement.test(),
        graphs: [a, b],
        round,
        colour,
        counts: candidate.counts,
        examples: [0, 1].map(|side| candidate.examples[side].map(|t| unfolding.nodes_of(side, t))),
        legend: unfolding.legend(names),
    }))
}

/// A colour that is on different numbers of tuples.
struct Candidate {
    colour: u32,
    counts: [u64; 2],
    /// The first tuple of each graph that has it.
    examples: [Option<usize>; 2],
}

impl Candidate {
    /// A tuple that has the colour, and in which of the two graphs.
    fn witness(&self) -> (usize, usize) {
        match self.examples {
            [Some(tuple), _] => (0, tuple),
            [None, other] => (1, other.unwrap_or(0)),
        }
    }
}

/// The colours that are on different numbers of tuples of two graphs after a round, in ascending order.
fn candidates(refinement: &Refinement, graphs: [usize; 2], round: usize) -> Vec<Candidate> {
    let ancestors = refinement.ancestors(round);
    let mut all: Vec<Candidate> = (0..refinement.colours_after(round) as u32)
        .map(|colour| Candidate { colour, counts: [0; 2], examples: [None; 2] })
        .collect();
    for (side, graph) in graphs.into_iter().enumerate() {
        for (tuple, &colour) in refinement.colours(graph).iter().enumerate() {
            let candidate = &mut all[ancestors[colour as usize] as usize];
            candidate.counts[side] += 1;
            candidate.examples[side].get_or_insert(tuple);
        }
    }
    all.retain(|candidate| candidate.counts[0] != candidate.counts[1]);
    all
}
