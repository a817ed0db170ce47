//! The digest of a graph: one line of text, equal for two graphs exactly if a test does not distinguish them.
//!
//! `docs/wl-digest.md` defines it, byte by byte. It is a hash of *unfolded* colours: a colour is hashed from its
//! isomorphism type, or from its parent's hash and its neighbours' hashes, so it means the same in every graph, and
//! the digest depends on the graph alone. Rounds go one past the last that splits something in the graph by itself:
//! then two graphs with the same hashes are not distinguished by any later round either. (If a further round split a
//! joint class, both graphs being stable, it would separate the nodes of one graph from those of the other, and their
//! hashes of that round would differ.)

use crate::neighbourhood::Neighbourhood;
use crate::types::{Types, check_order, tuple_content};
use crate::{Error, Options, Refinement, Test, refine};
use ppgn_graph::Graph;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::fmt;

type Hash = [u8; 32];

/// The digest of a graph under a test. Its text form is `wl1:TEST:` and 64 hexadecimal digits; the 1 is the version
/// of the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    test: Test,
    hash: Hash,
}

/// The digest of a graph: equal for two graphs exactly if the test does not distinguish them (collisions of SHA-256
/// aside).
///
/// [`Options::features`] says what counts; [`Options::rounds`] is not used.
///
/// # Complexity
///
/// That of the refinement, and O(rounds * classes * d), d being the average degree for 1-WL, and k n for k-WL and
/// k-FWL.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, Test, digest};
/// let of = |edges: &[(u32, u32)]| {
///     let g = Graph::undirected(6, edges.to_vec()).unwrap();
///     digest(&g, Test::COLOUR_REFINEMENT, &Options::default()).unwrap()
/// };
/// let hexagon = of(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
/// let triangles = of(&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]);
/// let path = of(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
/// assert_eq!(hexagon, triangles);
/// assert_ne!(hexagon, path);
/// assert!(path.to_string().starts_with("wl1:1-wl:"));
/// ```
pub fn digest(graph: &Graph, test: Test, options: &Options) -> Result<Digest, Error> {
    check_order(test)?;
    let graphs = std::slice::from_ref(graph);
    let options = Options { rounds: None, ..options.clone() };
    let refinement = refine(graphs, test, &options)?;
    check_memory(&refinement, &options)?;
    let types = Types::of(graphs, options.features);
    let unfolding = Unfolding::new(graph, &refinement, &types, &options);
    let mut hashes = unfolding.first()?;
    for round in 0..=refinement.rounds() {
        hashes = unfolding.next(round, &hashes)?;
    }
    let mut classes: Vec<(Hash, u64)> =
        refinement.histogram(0).into_iter().map(|(c, count)| (hashes[c as usize], count)).collect();
    classes.sort_unstable();
    let mut out = tagged("graph", test);
    put(&mut out, graph.nodes() as u64);
    put(&mut out, refinement.rounds() as u64);
    put(&mut out, classes.len() as u64);
    for (hash, count) in classes {
        out.update(hash);
        put(&mut out, count);
    }
    Ok(Digest { test, hash: out.finalize().into() })
}

/// The beginning of everything that is hashed.
fn tagged(kind: &str, test: Test) -> Sha256 {
    let mut out = Sha256::new();
    out.update(format!("ppgn wl1 {test} {kind}\n"));
    out
}

fn put(out: &mut Sha256, number: u64) {
    out.update(number.to_le_bytes());
}

/// Two hashes and a few numbers per class, in addition to what the refinement itself needed.
fn check_memory(refinement: &Refinement, options: &Options) -> Result<(), Error> {
    let classes = refinement.colours_after(refinement.rounds()) as u64;
    let need = 4 * refinement.colours(0).len() as u64 + 100 * classes;
    match options.max_memory {
        Some(limit) if need > limit => Err(Error::Memory { test: refinement.test(), need, limit }),
        _ => Ok(()),
    }
}

/// The colours of one graph, unfolded round by round.
struct Unfolding<'a> {
    graph: &'a Graph,
    refinement: &'a Refinement,
    options: &'a Options,
    neighbourhood: Neighbourhood<'a>,
    /// A tuple of every last colour. It has the colour of the same number in every round that has one.
    examples: Vec<usize>,
    /// The hash of every relation, and its rank among them.
    relations: Vec<Hash>,
    relation_ranks: Vec<u32>,
}

impl<'a> Unfolding<'a> {
    fn new(graph: &'a Graph, refinement: &'a Refinement, types: &'a Types<'a>, options: &'a Options) -> Self {
        let mut examples = vec![usize::MAX; refinement.colours_after(refinement.rounds())];
        for (tuple, &c) in refinement.colours(0).iter().enumerate().rev() {
            examples[c as usize] = tuple;
        }
        let test = refinement.test();
        let relations: Vec<Hash> =
            types.relation_contents.iter().map(|content| content_hash("relation", test, content)).collect();
        let relation_ranks = ranks(&relations);
        let neighbourhood = Neighbourhood::new(test, &types.neighbours[0]);
        Unfolding { graph, refinement, options, neighbourhood, examples, relations, relation_ranks }
    }

    /// The hashes of the colours of round 0.
    fn first(&self) -> Result<Vec<Hash>, Error> {
        let test = self.refinement.test();
        let hash = |&tuple: &usize| {
            self.options.interrupt.check()?;
            let nodes = self.neighbourhood.nodes_of(tuple);
            Ok(content_hash("type", test, &tuple_content(self.graph, &nodes, self.options.features)))
        };
        self.examples[..self.refinement.colours_after(0)].par_iter().map(hash).collect()
    }

    /// The hashes of the colours of the round after this one, from those of this one.
    fn next(&self, round: usize, hashes: &[Hash]) -> Result<Vec<Hash>, Error> {
        let now = Round {
            ancestors: self.refinement.ancestors(round),
            ranks: ranks(hashes),
            sorted: in_order(hashes),
            relations: in_order(&self.relations),
        };
        let hash = |scratch: &mut Scratch, &tuple: &usize| {
            self.options.interrupt.check()?;
            let parent = now.ancestors[self.refinement.colours(0)[tuple] as usize];
            let mut out = tagged("colour", self.refinement.test());
            out.update(hashes[parent as usize]);
            put(&mut out, self.neighbourhood.len(tuple) as u64);
            self.write_neighbours(&now, tuple, scratch);
            out.update(&scratch.bytes);
            Ok(out.finalize().into())
        };
        let count = self.refinement.colours_after(round + 1);
        self.examples[..count].par_iter().map_init(Scratch::default, hash).collect()
    }

    /// Writes the hashes of the neighbours of a tuple, in order.
    fn write_neighbours(&self, now: &Round, tuple: usize, scratch: &mut Scratch) {
        let Scratch { rows, bytes } = scratch;
        let colours = self.refinement.colours(0);
        let rank = |t: usize| u64::from(now.ranks[now.ancestors[colours[t] as usize] as usize]);
        let hash = |rank: u64| &now.sorted[rank as usize & 0xffff_ffff];
        let (k, width) = (self.refinement.test().k(), self.neighbourhood.width());
        bytes.clear();
        rows.clear();
        if width <= 2 {
            // Two ranks to a word, which sorts as the hashes do: by relation or position, then by colours.
            self.neighbourhood.for_each(tuple, |n| {
                let first = match (k, width) {
                    (1, _) => u64::from(self.relation_ranks[n.relation as usize]),
                    (_, 1) => n.position as u64,
                    _ => rank(n.tuples[0]),
                };
                rows.push(first << 32 | rank(n.tuples[width - 1]));
            });
            rows.sort_unstable();
            for row in rows {
                match (k, width) {
                    (1, _) => bytes.extend_from_slice(&now.relations[(*row >> 32) as usize]),
                    (_, 1) => {}
                    _ => bytes.extend_from_slice(hash(*row >> 32)),
                }
                bytes.extend_from_slice(hash(*row));
            }
            return;
        }
        self.neighbourhood.for_each(tuple, |n| rows.extend(n.tuples.iter().map(|&t| rank(t))));
        let mut order: Vec<&[u64]> = rows.chunks(width).collect();
        order.sort_unstable();
        order.into_iter().flatten().for_each(|&rank| bytes.extend_from_slice(hash(rank)));
    }
}

/// The colours of a round, and their hashes by rank.
struct Round {
    /// For every last colour, the one that it was then.
    ancestors: Vec<u32>,
    ranks: Vec<u32>,
    sorted: Vec<Hash>,
    relations: Vec<Hash>,
}

/// The memory that a thread uses again.
#[derive(Default)]
struct Scratch {
    rows: Vec<u64>,
    bytes: Vec<u8>,
}

fn in_order(hashes: &[Hash]) -> Vec<Hash> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The hash of the content of a type.
fn content_hash(kind: &str, test: Test, content: &[i64]) -> Hash {
    let mut out = tagged(kind, test);
    put(&mut out, content.len() as u64);
    content.iter().for_each(|x| out.update(x.to_le_bytes()));
    out.finalize().into()
}

/// The rank of every hash among them.
fn ranks(hashes: &[Hash]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..hashes.len() as u32).collect();
    order.sort_unstable_by_key(|&i| hashes[i as usize]);
    let mut ranks = vec![0; hashes.len()];
    order.iter().enumerate().for_each(|(rank, &i)| ranks[i as usize] = rank as u32);
    ranks
}

impl Digest {
    /// The test.
    pub fn test(&self) -> Test {
        self.test
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.hash
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wl1:{}:", self.test)?;
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
