//! From a [`Graph`] to a line, byte for byte as nauty writes it.

use super::super::lines::LONGEST;
use super::super::stream::too_long;
use super::{BIAS, characters, node_bits, square, triangle};
use crate::graph::Graph;

/// Appends the line of a graph, without its end: digraph6 for a directed graph, graph6 for a simple one, sparse6 for
/// one with loops or too large for graph6. Fails if the line would be too long to be read again.
pub(super) fn encode(graph: &Graph, line: &mut Vec<u8>) -> Result<(), String> {
    let n = graph.nodes() as u64;
    let fits = |bits: u128| match characters(bits) + 16 < LONGEST as u128 {
        true => Ok(()),
        false => Err(too_long(characters(bits) + 16)),
    };
    if graph.is_directed() {
        fits(square(n))?;
        digraph6(graph, line);
    } else if graph.self_loops() == 0 && fits(triangle(n)).is_ok() {
        graph6(graph, line);
    } else {
        // An edge takes at most two pairs of 1 + k bits.
        fits(2 * graph.edges() as u128 * u128::from(1 + node_bits(n)))?;
        sparse6(graph, line);
    }
    Ok(())
}

/// Appends N(n).
fn size(n: u64, line: &mut Vec<u8>) {
    let groups: &[u32] = match n {
        0..=62 => &[0],
        63..=258_047 => &[12, 6, 0],
        _ => &[30, 24, 18, 12, 6, 0],
    };
    line.extend(std::iter::repeat_n(126, groups.len() / 3));
    line.extend(groups.iter().map(|shift| BIAS + (n >> shift & 63) as u8));
}

/// Appends a matrix of this many bits, these of them set.
fn matrix(bits: u128, ones: impl Iterator<Item = usize>, line: &mut Vec<u8>) {
    let start = line.len();
    line.resize(start + characters(bits) as usize, BIAS);
    let groups = &mut line[start..];
    for p in ones {
        groups[p / 6] += 32 >> (p % 6);
    }
}

fn graph6(graph: &Graph, line: &mut Vec<u8>) {
    let n = graph.nodes() as u64;
    size(n, line);
    matrix(triangle(n), graph.edge_list().map(|(u, v, _)| v * (v - 1) / 2 + u), line);
}

fn digraph6(graph: &Graph, line: &mut Vec<u8>) {
    let n = graph.nodes();
    line.push(b'&');
    size(n as u64, line);
    matrix(square(n as u64), graph.arc_list().map(|(u, v, _)| u * n + v), line);
}

pub(super) fn sparse6(graph: &Graph, line: &mut Vec<u8>) {
    let n = graph.nodes() as u64;
    line.push(b':');
    size(n, line);
    let k = node_bits(n);
    let mut bits = BitWriter { line, group: 0, free: 6 };
    let mut current = 0;
    for v in 0..graph.nodes() {
        for &u in graph.neighbours(v).iter().take_while(|&&u| u as usize <= v) {
            bits.push(u64::from(v != current), 1);
            if v > current + 1 {
                bits.push(v as u64, k);
                bits.push(0, 1);
            }
            current = v;
            bits.push(u64::from(u), k);
        }
    }
    // The filling is ones. With n = 2, 4, 8 or 16 it can hold a pair (1, n - 1), which after the node n - 2 would
    // read as a loop at n - 1: there it begins with a zero.
    let looks_like_a_loop = n == 1 << k && current as u64 + 2 == n && (k + 1..6).contains(&bits.free);
    if looks_like_a_loop {
        bits.push(0, 1);
    }
    if bits.free < 6 {
        bits.push((1 << bits.free) - 1, bits.free);
    }
}

/// Packs bits into characters, the first bit highest.
struct BitWriter<'a> {
    line: &'a mut Vec<u8>,
    group: u8,
    /// How many bits the group at hand still takes, 1 to 6.
    free: u32,
}

impl BitWriter<'_> {
    /// The lowest `count` bits of a value.
    fn push(&mut self, value: u64, count: u32) {
        for i in (0..count).rev() {
            self.group = self.group << 1 | (value >> i & 1) as u8;
            self.free -= 1;
            if self.free == 0 {
                self.line.push(BIAS + self.group);
                (self.group, self.free) = (0, 6);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::decode;
    use super::*;
    use crate::graph::GraphBuilder;

    fn line(graph: &Graph) -> String {
        let mut line = Vec::new();
        encode(graph, &mut line).unwrap();
        String::from_utf8(line).unwrap()
    }

    fn sparse(graph: &Graph) -> String {
        let mut line = Vec::new();
        sparse6(graph, &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn the_examples_of_the_definition() {
        let g = Graph::undirected(5, [(0, 2), (0, 4), (1, 3), (3, 4)]).unwrap();
        assert_eq!(line(&g), "DQc");
        assert_eq!(sparse(&Graph::undirected(7, [(0, 1), (0, 2), (1, 2), (5, 6)]).unwrap()), ":Fa@x^");
        let d = Graph::directed(5, [(0, 2), (0, 4), (3, 1), (3, 4)]).unwrap();
        assert_eq!(line(&d).as_bytes(), [38, 68, 73, 63, 65, 79, 63]);
    }

    #[test]
    fn sizes() {
        let size = |n| {
            let mut line = Vec::new();
            size(n, &mut line);
            line
        };
        assert_eq!(size(30), [93]);
        assert_eq!(size(62), [125]);
        assert_eq!(size(63), [126, 63, 63, 126]);
        assert_eq!(size(12345), [126, 66, 63, 120]);
        assert_eq!(size(258_047), [126, 125, 126, 126]);
        assert_eq!(size(258_048), [126, 126, 63, 63, 63, 126, 63, 63]);
        assert_eq!(size(460_175_067), [126, 126, 63, 90, 90, 90, 90, 90]);
    }

    /// All graphs with up to four nodes, loops and all, and sparse ones around the powers of two: what is read is
    /// what was written, in each format that can hold it.
    #[test]
    fn every_small_graph_comes_back() {
        let back = |line: &str| decode(line.as_bytes(), None, 1 << 20).unwrap();
        let check = |g: &Graph| {
            for text in [line(g), sparse(g)] {
                let d = back(&text);
                assert_eq!((&d.graph, d.repeated, d.stray_bits), (g, 0, false), "{text}");
            }
        };
        for n in 0..=4usize {
            let pairs: Vec<(u32, u32)> = (0..n as u32).flat_map(|v| (0..=v).map(move |u| (u, v))).collect();
            for chosen in 0..1u32 << pairs.len() {
                let edges = pairs.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, &e)| e);
                let g = Graph::undirected(n, edges).unwrap();
                check(&g);
                let d = g.to_directed();
                assert_eq!(back(&line(&d)).graph, d);
            }
        }
        // Every single edge and loop, and every pair of them, at the sizes where the filling is delicate.
        for n in [7u32, 8, 9, 15, 16, 17, 31, 32, 33] {
            let pairs: Vec<(u32, u32)> = (0..n).flat_map(|v| (0..=v).map(move |u| (u, v))).collect();
            for &first in &pairs {
                check(&Graph::undirected(n as usize, [first]).unwrap());
                for &last in &pairs[pairs.len().saturating_sub(2 * n as usize)..] {
                    check(&Graph::undirected(n as usize, [first, last]).unwrap());
                }
            }
        }
    }

    #[test]
    fn large_graphs_go_to_sparse6_and_too_large_ones_nowhere() {
        let path = Graph::undirected(300_000, (1..300_000).map(|v| (v - 1, v))).unwrap();
        let text = line(&path);
        assert!(text.starts_with(":~~"), "{}", &text[..10]);
        assert_eq!(decode(text.as_bytes(), None, 300_000).unwrap().graph, path);
        let d = GraphBuilder::directed(50_000).build().unwrap();
        let error = encode(&d, &mut Vec::new()).unwrap_err();
        assert!(error.starts_with("its line would have 416666683 bytes"), "{error}");
    }
}
