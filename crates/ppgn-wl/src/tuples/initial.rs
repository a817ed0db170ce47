//! The colours of round 0: the isomorphism types of k-tuples.
//!
//! The content of a type is a word of integers, place by place: for a node that the tuple had before, where it was
//! first; for a new node, its own type and its relation to every different node before it. Types are numbered by the
//! order of these words among those that occur, so the numbers depend on the graphs as sets of sets and on nothing
//! else.

use crate::types::Types;
use crate::{Error, Interrupt};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// For every graph, the isomorphism type of every k-tuple.
pub(crate) fn types(types: &Types, k: usize, interrupt: &Interrupt) -> Result<Vec<Vec<u32>>, Error> {
    let mut found: Vec<Found> = (0..types.nodes.len())
        .into_par_iter()
        .map(|graph| Trie::default().tuples(types, graph, k, interrupt))
        .collect::<Result<_, Error>>()?;
    let mut contents: Vec<&[u32]> = found.iter().flat_map(|f| f.words.iter().map(Vec::as_slice)).collect();
    contents.par_sort_unstable();
    contents.dedup();
    let rank = |word: &Vec<u32>| contents.partition_point(|c| *c < word.as_slice()) as u32;
    let ranks: Vec<Vec<u32>> = found.iter().map(|f| f.words.iter().map(rank).collect()).collect();
    found.par_iter_mut().zip(ranks).for_each(|(f, ranks)| {
        f.tuples.iter_mut().for_each(|t| *t = ranks[*t as usize]);
    });
    Ok(found.into_iter().map(|f| f.tuples).collect())
}

/// The types of one graph: numbers, and the words they stand for.
struct Found {
    tuples: Vec<u32>,
    words: Vec<Vec<u32>>,
}

/// All words that begin one: a node is a word, and its parent that word without its last letter.
#[derive(Default)]
struct Trie {
    nodes: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    /// The parent and the last letter of word 1, 2, ...; word 0 is empty.
    letters: Vec<(u32, u32)>,
}

impl Trie {
    #[inline]
    fn step(&mut self, word: u32, letter: u32) -> u32 {
        let letters = &mut self.letters;
        *self.nodes.entry(u64::from(word) << 32 | u64::from(letter)).or_insert_with(|| {
            letters.push((word, letter));
            letters.len() as u32
        })
    }

    fn word(&self, mut at: u32) -> Vec<u32> {
        let mut word = Vec::new();
        while at > 0 {
            let (parent, letter) = self.letters[at as usize - 1];
            word.push(letter);
            at = parent;
        }
        word.reverse();
        word
    }

    /// Walks through all tuples, place by place: those of q nodes give those of q + 1.
    fn tuples(
        mut self,
        types: &Types,
        graph: usize,
        k: usize,
        interrupt: &Interrupt,
    ) -> Result<Found, Error> {
        let nodes = &types.nodes[graph];
        let n = nodes.len();
        let relations = relations(types, graph);
        let mut tuples = vec![0u32];
        for q in 0..k {
            let mut longer = Vec::with_capacity(tuples.len() * n);
            for (at, &word) in tuples.iter().enumerate() {
                if at % 1024 == 0 {
                    interrupt.check()?;
                }
                let before = distinct(at, n, q);
                for (v, &kind) in nodes.iter().enumerate() {
                    longer.push(match before.iter().find(|&&(u, _)| u == v) {
                        Some(&(_, place)) => self.step(word, place),
                        None => {
                            let word = self.step(word, k as u32 + kind);
                            before.iter().fold(word, |word, &(u, _)| self.step(word, relations[u * n + v]))
                        }
                    });
                }
            }
            tuples = longer;
        }
        // The table is most of the memory, and the letters are enough from here on.
        self.nodes = HashMap::default();
        // Only whole words are types; they are numbered as they come.
        let mut number = vec![u32::MAX; self.letters.len() + 1];
        let mut words = Vec::new();
        for t in &mut tuples {
            let slot = &mut number[*t as usize];
            if *slot == u32::MAX {
                *slot = words.len() as u32;
                words.push(self.word(*t));
            }
            *t = *slot;
        }
        Ok(Found { tuples, words })
    }
}

/// The different nodes of the tuple of q nodes that stands at `at`, each with the place where it is first.
fn distinct(at: usize, n: usize, q: usize) -> Vec<(usize, u32)> {
    let mut nodes = Vec::with_capacity(q);
    let mut step = (0..q).fold(1, |step, _| step * n);
    for place in 0..q as u32 {
        step /= n;
        let u = at / step % n;
        if nodes.iter().all(|&(v, _)| v != u) {
            nodes.push((u, place));
        }
    }
    nodes
}

/// How each node is related to each other one: 0 for no edge, else 1 + the relation. n x n, row by row.
fn relations(types: &Types, graph: usize) -> Vec<u32> {
    let n = types.nodes[graph].len();
    let neighbours = &types.neighbours[graph];
    let mut relations = vec![0; n * n];
    for u in 0..n {
        for at in neighbours.row(u) {
            relations[u * n + neighbours.nodes[at] as usize] = 1 + neighbours.relation(at);
        }
    }
    relations
}

/// Spreads a pair of numbers over a hash table; nothing depends on its order.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = super::hash::mix(self.0 ^ x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;
    use ppgn_graph::Graph;

    fn of(graphs: &[Graph], k: usize) -> Vec<Vec<u32>> {
        types(&Types::of(graphs, Features::default()), k, &Interrupt::default()).unwrap()
    }

    #[test]
    fn pairs_are_equal_apart_or_joined() {
        let path = Graph::undirected(3, [(0, 1), (1, 2)]).unwrap();
        assert_eq!(of(&[path], 2), [[0, 2, 1, 2, 0, 2, 1, 2, 0]]);
    }

    #[test]
    fn directions_are_told() {
        let arc = Graph::directed(2, [(0, 1)]).unwrap();
        let colours = of(&[arc], 2);
        assert_ne!(colours[0][1], colours[0][2]);
    }

    #[test]
    fn repeated_nodes_are_told_by_their_places() {
        // All pairs of two lone nodes are (u, u) or (u, v): for k = 3 that makes the 5 patterns but abc.
        let two = Graph::undirected(2, []).unwrap();
        assert_eq!(of(&[two], 3), [[0, 1, 2, 3, 3, 2, 1, 0]]);
    }
}
