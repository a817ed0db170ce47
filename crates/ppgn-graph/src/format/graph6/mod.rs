//! graph6, sparse6 and digraph6: one graph per line, in printable characters. They are the formats of nauty and of most
//! lists of small graphs.
//!
//! A character encodes six bits (its code minus 63). A line begins with the number of nodes, followed by
//! - graph6: the upper triangle of the adjacency matrix, column by column; simple undirected graphs;
//! - sparse6 (after a `:`): a list of edges; undirected, with loops, and edges may repeat;
//! - incremental sparse6 (after a `;`): the edges that differ from the graph of the line before;
//! - digraph6 (after a `&`): the whole matrix, row by row; directed, with loops.
//!
//! The definition is `formats.txt` of nauty, <https://users.cecs.anu.edu.au/~bdm/data/formats.txt>; `decode` and
//! `encode` are between a line and a graph ([`parse`] and [`line()`] for callers), `stream` between a file and a stream of
//! records.

mod decode;
mod encode;
mod line;
mod stream;

pub use line::{line, parse};
pub(crate) use stream::{stream, write};

/// What is added to six bits to make a printable character.
const BIAS: u8 = 63;

/// The bits of a node in sparse6 for a graph with `n` nodes: those of n - 1.
fn node_bits(n: u64) -> u32 {
    u64::BITS - n.saturating_sub(1).leading_zeros()
}

/// The number of characters that hold this many bits.
fn characters(bits: u128) -> u128 {
    bits.div_ceil(6)
}

/// The bits of a graph6 line with `n` nodes: the pairs of different nodes.
fn triangle(n: u64) -> u128 {
    u128::from(n) * u128::from(n.saturating_sub(1)) / 2
}

/// The bits of a digraph6 line with `n` nodes: all pairs.
fn square(n: u64) -> u128 {
    u128::from(n) * u128::from(n)
}

#[cfg(test)]
mod tests {
    use super::{decode::decode, encode};
    use crate::graph::Graph;

    /// Lines that networkx and nauty wrote, with the edges that they were given; `graph6.py` beside the file made it.
    const GOLDENS: &str = include_str!("../../../tests/it/goldens/graph6.txt");

    fn graph(nodes: &str, edges: &[&str]) -> Graph {
        let nodes = nodes.parse().unwrap();
        let directed = edges.iter().any(|e| e.contains('>'));
        let pairs = edges.iter().map(|e| {
            let (u, v) = e.split_once(['-', '>']).unwrap();
            (u.parse().unwrap(), v.parse().unwrap())
        });
        match directed {
            true => Graph::directed(nodes, pairs).unwrap(),
            false => Graph::undirected(nodes, pairs).unwrap(),
        }
    }

    #[test]
    fn lines_of_other_programs_are_read() {
        let mut previous = None;
        for golden in GOLDENS.lines() {
            let words: Vec<&str> = golden.split(' ').collect();
            let mut expected = graph(words[2], &words[3..]);
            if words[0] == "nauty-digraph6" && !expected.is_directed() {
                expected = expected.to_directed();
            }
            let read = decode(words[1].as_bytes(), previous.as_ref(), 100).unwrap();
            assert_eq!(read.graph, expected, "{golden}");
            assert_eq!(read.repeated, words.len() - 3 - expected.edges(), "{golden}");
            assert!(!read.stray_bits, "{golden}");
            previous = Some(read.graph);
        }
    }

    #[test]
    fn lines_are_written_as_nauty_writes_them() {
        let mut seen = 0;
        for golden in GOLDENS.lines() {
            let words: Vec<&str> = golden.split(' ').collect();
            let mut line = Vec::new();
            match words[0] {
                "nauty-graph6" | "networkx-graph6" => {
                    encode::encode(&graph(words[2], &words[3..]), &mut line).unwrap();
                }
                "nauty-digraph6" => {
                    let g = graph(words[2], &words[3..]);
                    let g = if g.is_directed() { g } else { g.to_directed() };
                    encode::encode(&g, &mut line).unwrap();
                }
                "nauty-sparse6" => encode::sparse6(&graph(words[2], &words[3..]), &mut line),
                _ => continue,
            }
            assert_eq!(std::str::from_utf8(&line).unwrap(), words[1], "{golden}");
            seen += 1;
        }
        assert_eq!(seen, 178);
    }
}
