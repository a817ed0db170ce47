//! From a line to a [`Graph`]. Nothing is allocated before the size is known to be below the limit and, where the size
//! determines the length of the line, the line has that length.

use super::super::lines::show;
use super::{BIAS, characters, node_bits, square, triangle};
use crate::graph::{Graph, GraphBuilder, GraphError};

/// A decoded line, with what is worth a note.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) graph: Graph,
    /// Edges that the line gives again.
    pub(super) repeated: usize,
    /// Whether bits after the end of the matrix are set, as no writer of these formats leaves them.
    pub(super) stray_bits: bool,
}

/// The graph of a line. `previous` is the graph of the line before, which an incremental line changes. O(length + m),
/// and O(m log m) for sparse6 in an order of edges that is not its writers'.
pub(super) fn decode(line: &[u8], previous: Option<&Graph>, max_nodes: u64) -> Result<Decoded, String> {
    let (kind, body) = match line {
        [kind @ (b':' | b';' | b'&'), body @ ..] => (*kind, body),
        body => (0, body),
    };
    if let Some(at) = body.iter().position(|b| !(BIAS..=126).contains(b)) {
        let column = at + 1 + line.len() - body.len();
        return Err(format!(
            "the character {} in column {column} does not occur in graph6",
            show(&body[at..=at])
        ));
    }
    match kind {
        b':' => {
            let (n, body) = size(body, max_nodes)?;
            let (graph, repeated) = sparse(n, body)?;
            Ok(Decoded { graph, repeated, stray_bits: false })
        }
        b';' => {
            let graph = incremental(body, previous)?;
            Ok(Decoded { graph, repeated: 0, stray_bits: false })
        }
        b'&' => {
            let (n, body) = size(body, max_nodes)?;
            let stray_bits = check_length(body, n, square(n))?;
            let bits = square(n) as u64;
            let arcs = ones(body).take_while(|&p| p < bits).map(|p| ((p / n) as u32, (p % n) as u32));
            let (graph, _) = assemble(n, true, arcs)?;
            Ok(Decoded { graph, repeated: 0, stray_bits })
        }
        _ => {
            let (n, body) = size(body, max_nodes)?;
            let stray_bits = check_length(body, n, triangle(n))?;
            let bits = triangle(n) as u64;
            // Column v begins at bit v(v-1)/2 and has v bits.
            let (mut v, mut start) = (1, 0);
            let edges = ones(body).take_while(|&p| p < bits).map(move |p| {
                while p >= start + v {
                    start += v;
                    v += 1;
                }
                ((p - start) as u32, v as u32)
            });
            let (graph, _) = assemble(n, false, edges)?;
            Ok(Decoded { graph, repeated: 0, stray_bits })
        }
    }
}

/// The number of nodes that a line claims without having to describe them; none for the formats whose length fixes it.
pub(super) fn claimed(line: &[u8], previous: Option<&Graph>, max_nodes: u64) -> u64 {
    match line {
        [b':', body @ ..] if body.iter().all(|b| (BIAS..=126).contains(b)) => {
            size(body, max_nodes).map_or(0, |(n, _)| n)
        }
        [b';', ..] => previous.map_or(0, |graph| graph.nodes() as u64),
        _ => 0,
    }
}

/// N(n): the number of nodes and what follows it.
fn size(body: &[u8], max_nodes: u64) -> Result<(u64, &[u8]), String> {
    let (digits, rest) = match body {
        [126, 126, ..] => body[2..].split_at_checked(6),
        [126, ..] => body[1..].split_at_checked(3),
        _ => body.split_at_checked(1),
    }
    .ok_or("the line ends in the number of nodes")?;
    let n = digits.iter().fold(0u64, |n, &b| n << 6 | u64::from(b - BIAS));
    if n > max_nodes {
        return Err(format!("{n} nodes, more than the limit of {max_nodes}"));
    }
    if n >= u64::from(u32::MAX) {
        return Err(GraphError::TooManyNodes { nodes: n }.to_string());
    }
    Ok((n, rest))
}

/// Checks that a matrix of this many bits has its characters; whether any of the bits that fill the last is set.
fn check_length(body: &[u8], n: u64, bits: u128) -> Result<bool, String> {
    let wanted = characters(bits);
    if body.len() as u128 != wanted {
        let got = body.len();
        return Err(format!("{n} nodes take {wanted} characters after their number, but there are {got}"));
    }
    let filling = (wanted * 6 - bits) as u32;
    Ok(body.last().is_some_and(|b| (b - BIAS) & ((1 << filling) - 1) != 0))
}

/// The positions of the bits that are set.
fn ones(body: &[u8]) -> impl Iterator<Item = u64> + Clone {
    body.iter().zip((0u64..).step_by(6)).filter(|&(&b, _)| b != BIAS).flat_map(|(&b, start)| {
        let bits = b - BIAS;
        (0..6).filter(move |i| bits & (32 >> i) != 0).map(move |i| start + i)
    })
}

/// The graph of these edges, which must be in range, and how many of them repeat. Counts, then fills the rows: O(n)
/// and 4 bytes per arc beside the line.
fn assemble(
    n: u64,
    directed: bool,
    edges: impl Iterator<Item = (u32, u32)> + Clone,
) -> Result<(Graph, usize), String> {
    let n = n as usize;
    let mut offsets = vec![0u32; n + 2];
    let mut given = 0u64;
    for (u, v) in edges.clone() {
        given += 1;
        if given > u64::from(u32::MAX) / 2 {
            return Err(GraphError::TooManyEdges { arcs: 2 * given }.to_string());
        }
        offsets[u as usize + 2] += 1;
        if !directed && u != v {
            offsets[v as usize + 2] += 1;
        }
    }
    for i in 2..n + 2 {
        offsets[i] += offsets[i - 1];
    }
    // offsets[u + 1] is where row u begins, and moves to its end as the row fills.
    let mut targets = vec![0u32; offsets[n + 1] as usize];
    let mut put = |u: u32, v: u32| {
        let next = &mut offsets[u as usize + 1];
        targets[*next as usize] = v;
        *next += 1;
    };
    for (u, v) in edges {
        put(u, v);
        if !directed && u != v {
            put(v, u);
        }
    }
    offsets.truncate(n + 1);
    let graph = from_rows(offsets, targets, directed).map_err(|e| e.to_string())?;
    let repeated = given as usize - graph.edges();
    Ok((graph, repeated))
}

fn from_rows(offsets: Vec<u32>, targets: Vec<u32>, directed: bool) -> Result<Graph, GraphError> {
    let (graph, _) = GraphBuilder::from_rows(offsets, targets, Vec::new())?;
    if directed { Ok(graph) } else { graph.to_undirected() }
}

/// The graph of a sparse6 list of edges, and how many of them repeat.
fn sparse(n: u64, body: &[u8]) -> Result<(Graph, usize), String> {
    let edges = SparseEdges { body, pool: 0, filled: 0, bits: node_bits(n), n, v: 0, outside: None };
    let mut whole = edges.clone();
    whole.by_ref().for_each(drop);
    match whole.outside {
        Some(node) => Err(GraphError::NodeOutOfRange { node, nodes: n as usize }.to_string()),
        None => assemble(n, false, edges),
    }
}

/// The previous graph with the edges of a sparse6 list added where it lacks them, removed where it has them.
fn incremental(body: &[u8], previous: Option<&Graph>) -> Result<Graph, String> {
    let Some(previous) = previous else {
        return Err("an incremental line (`;`) changes the graph before it, but none was read".into());
    };
    if previous.is_directed() {
        return Err("an incremental line (`;`) cannot change a directed graph".into());
    }
    let (change, repeated) = sparse(previous.nodes() as u64, body)?;
    if repeated > 0 {
        return Err("an incremental line (`;`) that has an edge twice".into());
    }
    let mut offsets = vec![0];
    let mut targets = Vec::new();
    for u in 0..previous.nodes() {
        // Both rows ascend, so what is in one only comes out in order.
        let (mut a, mut b) = (previous.neighbours(u), change.neighbours(u));
        while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
            if x != y {
                targets.push(x.min(y));
            }
            a = &a[usize::from(x <= y)..];
            b = &b[usize::from(y <= x)..];
        }
        targets.extend_from_slice(a);
        targets.extend_from_slice(b);
        let end = u32::try_from(targets.len())
            .map_err(|_| GraphError::TooManyEdges { arcs: targets.len() as u64 }.to_string())?;
        offsets.push(end);
    }
    from_rows(offsets, targets, false).map_err(|e| e.to_string())
}

/// The edges of a sparse6 list: pairs of a bit b and a node x. A set b moves the current node v on by one; an x
/// beyond v moves it there, any other is an edge {x, v}.
#[derive(Clone)]
struct SparseEdges<'a> {
    body: &'a [u8],
    /// Bits taken from `body` and not yet used: the lowest `filled`.
    pool: u64,
    filled: u32,
    /// The bits of x.
    bits: u32,
    n: u64,
    v: u64,
    /// A node that does not exist, where the list has one and it is not the filling at its end.
    outside: Option<u64>,
}

impl SparseEdges<'_> {
    /// Whether what is left, the pair at hand included, fills up the last character.
    fn is_filling(&self) -> bool {
        let ones = (1 << self.filled) - 1;
        let short = (self.filled as usize) < 6 && self.body.is_empty();
        short || (self.pool & ones == ones && self.body.iter().all(|&b| b == 126))
    }
}

impl Iterator for SparseEdges<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            while self.filled <= self.bits {
                let (&b, rest) = self.body.split_first()?;
                self.body = rest;
                // At most 36 + 6 bits are waiting at a time, what was used may fall off the top.
                self.pool = self.pool << 6 | u64::from(b - BIAS);
                self.filled += 6;
            }
            let x = self.pool >> (self.filled - 1 - self.bits) & ((1 << self.bits) - 1);
            self.v += self.pool >> (self.filled - 1) & 1;
            let v = self.v.max(x);
            if v >= self.n {
                if !self.is_filling() {
                    self.outside = Some(v);
                }
                (self.body, self.filled) = (&[], 0);
                return None;
            }
            self.filled -= 1 + self.bits;
            if x <= self.v {
                return Some((x as u32, v as u32));
            }
            self.v = v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(line: &str) -> (usize, Vec<(usize, usize)>) {
        let g = decode(line.as_bytes(), None, 1 << 20).unwrap().graph;
        (g.nodes(), g.edge_list().map(|(u, v, _)| (u, v)).collect())
    }

    fn error(line: &[u8]) -> String {
        decode(line, None, 1 << 20).unwrap_err()
    }

    #[test]
    fn the_examples_of_the_definition() {
        assert_eq!(edges("DQc"), (5, vec![(0, 2), (0, 4), (1, 3), (3, 4)]));
        assert_eq!(edges(":Fa@x^"), (7, vec![(0, 1), (0, 2), (1, 2), (5, 6)]));
        let line: Vec<u8> = vec![38, 68, 73, 63, 65, 79, 63];
        let g = decode(&line, None, 5).unwrap().graph;
        assert!(g.is_directed());
        let arcs: Vec<_> = g.edge_list().map(|(u, v, _)| (u, v)).collect();
        assert_eq!(arcs, [(0, 2), (0, 4), (3, 1), (3, 4)]);
        assert_eq!(size(&[93], 1 << 36), Ok((30, &[][..])));
        assert_eq!(size(&[126, 66, 63, 120], 1 << 36), Ok((12345, &[][..])));
        assert_eq!(size(&[126, 126, 63, 90, 90, 90, 90, 90, 63], 1 << 36), Ok((460175067, &[63][..])));
    }

    #[test]
    fn sizes_are_believed_only_below_the_limit() {
        assert_eq!(size(b"E", 6), Ok((6, &[][..])));
        assert_eq!(size(b"F", 6).unwrap_err(), "7 nodes, more than the limit of 6");
        let largest = b"~~~~~~~~";
        assert!(size(largest, 1 << 40).unwrap_err().contains("too large"));
        assert_eq!(error(largest), "68719476735 nodes, more than the limit of 1048576");
        for cut in [&b""[..], b":", b"&", b"~", b"~??", b"~~?????", b":~??"] {
            assert_eq!(error(cut), "the line ends in the number of nodes", "{cut:?}");
        }
    }

    #[test]
    fn lengths_must_match() {
        assert_eq!(error(b"DQ"), "5 nodes take 2 characters after their number, but there are 1");
        assert_eq!(error(b"DQcc"), "5 nodes take 2 characters after their number, but there are 3");
        assert_eq!(error(b"&D"), "5 nodes take 5 characters after their number, but there are 0");
        assert_eq!(error(b"D Q"), "the character ` ` in column 2 does not occur in graph6");
        assert_eq!(error(b":D\x7f"), "the character `\\x7f` in column 3 does not occur in graph6");
        assert_eq!(error(b";A"), "an incremental line (`;`) changes the graph before it, but none was read");
    }

    #[test]
    fn set_bits_after_the_end_are_noticed() {
        // Two nodes: one bit counts, five fill up.
        assert_eq!(decode(b"A_", None, 9).map(|d| (d.graph.edges(), d.stray_bits)), Ok((1, false)));
        assert_eq!(decode(b"A~", None, 9).map(|d| (d.graph.edges(), d.stray_bits)), Ok((1, true)));
        assert_eq!(decode(b"&A?", None, 9).map(|d| (d.graph.edges(), d.stray_bits)), Ok((0, false)));
        assert_eq!(decode(b"&AA", None, 9).map(|d| (d.graph.edges(), d.stray_bits)), Ok((0, true)));
    }

    #[test]
    fn sparse6_repeats_and_loops() {
        // n = 3, k = 2: (0,0) the loop 0, (1,0) 0-1, (0,0) 0-1 again, then ones.
        let line = [b':', 66, 0b000100 + 63, 0b000111 + 63];
        let d = decode(&line, None, 3).unwrap();
        assert_eq!((d.graph.edges(), d.graph.self_loops(), d.repeated), (2, 1, 1));
        // One node: a node takes no bits, every 0 is the loop.
        assert_eq!(edges(":@^"), (1, vec![(0, 0)]));
        assert_eq!(edges(":@"), (1, vec![]));
        assert_eq!(edges(":?"), (0, vec![]));
    }

    #[test]
    fn nodes_outside_of_sparse6_are_filling_or_a_defect() {
        // n = 3: (1,3) in the middle, with (0,1) after it.
        let line = [b':', 66, 0b111001 + 63, 63];
        assert_eq!(error(&line), "node 3 is out of range, the graph has 3 nodes (numbered from 0)");
        // A whole character of ones too many is filling.
        assert_eq!(edges(":Bn"), edges(":Bn~"));
        assert_eq!(edges(":?~"), (0, vec![]));
    }

    #[test]
    fn incremental_lines_flip_edges() {
        let path = decode(b":Bd", None, 9).unwrap().graph;
        assert_eq!(path.edge_list().map(|(u, v, _)| (u, v)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        // (1,0): 0-1 goes; (1,0): 0-2 comes.
        let line = [b';', 0b100100 + 63];
        let next = decode(&line, Some(&path), 9).unwrap().graph;
        assert_eq!(next, Graph::undirected(3, [(0, 2), (1, 2)]).unwrap());
        let twice = [b';', 0b100000 + 63];
        assert!(decode(&twice, Some(&path), 9).unwrap_err().contains("an edge twice"));
        assert!(decode(&line, Some(&path.to_directed()), 9).unwrap_err().contains("directed"));
    }
}
