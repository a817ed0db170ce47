//! The digest of a graph: one line of text, equal for two graphs exactly if a test can't part them.
//!
//! `docs/wl-digest.md` defines it, byte by byte. It is a hash of *unfolded* colours: a colour is hashed from its
//! isomorphism type, or from its parent's hash and its neighbours' hashes, so it means the same in every graph, and
//! the digest depends on the graph alone. Rounds go one past the last that splits something in the graph by itself:
//! then two graphs whose hashes are the same cannot be parted by any later round either. (If a further round split a
//! joint class, both graphs being stable, it would part the nodes of one graph from those of the other, and their
//! hashes of that round would differ.)

use crate::neighbourhood::Neighbourhood;
use crate::types::{Types, tuple_content};
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

/// The digest of a graph: equal for two graphs exactly if the test can't part them (collisions of SHA-256 aside).
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

/// Two hashes and a few numbers a class, beside what the refinement itself needed.
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
        let ancestors = self.refinement.ancestors(round);
        let colours = self.refinement.colours(0);
        let colour_of = |tuple: usize| ancestors[colours[tuple] as usize] as usize;
        let ranks = ranks(hashes);
        let mut sorted = vec![[0; 32]; hashes.len()];
        hashes.iter().zip(&ranks).for_each(|(hash, &rank)| sorted[rank as usize] = *hash);
        let mut sorted_relations = vec![[0; 32]; self.relations.len()];
        let pairs = self.relations.iter().zip(&self.relation_ranks);
        pairs.for_each(|(hash, &rank)| sorted_relations[rank as usize] = *hash);

        let test = self.refinement.test();
        let width = 2 + self.neighbourhood.width();
        let hash = |(rows, order): &mut (Vec<u32>, Vec<u32>), &tuple: &usize| {
            self.options.interrupt.check()?;
            // A row a neighbour: position, relation, colours; all by rank, so that they sort as their hashes do.
            rows.clear();
            self.neighbourhood.for_each(tuple, |n| {
                rows.push(n.position as u32);
                rows.push(self.relation_ranks.get(n.relation as usize).copied().unwrap_or(0));
                rows.extend(n.tuples.iter().map(|&t| ranks[colour_of(t)]));
            });
            let row = |i: u32| &rows[i as usize * width..(i as usize + 1) * width];
            order.clear();
            order.extend(0..self.neighbourhood.len(tuple) as u32);
            order.sort_unstable_by(|&a, &b| row(a).cmp(row(b)));
            let mut out = tagged("colour", test);
            out.update(hashes[colour_of(tuple)]);
            put(&mut out, order.len() as u64);
            for &i in &*order {
                let [_, relation, colours @ ..] = row(i) else { continue };
                if test.k() == 1 {
                    out.update(sorted_relations[*relation as usize]);
                }
                colours.iter().for_each(|&c| out.update(sorted[c as usize]));
            }
            Ok(out.finalize().into())
        };
        let count = self.refinement.colours_after(round + 1);
        self.examples[..count].par_iter().map_init(Default::default, hash).collect()
    }
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
