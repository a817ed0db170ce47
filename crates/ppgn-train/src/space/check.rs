//! Whether colours from a file are a colouring of these graphs.
//!
//! The digest of a cache file shows damage, not an edit by someone who computes the digest anew, and wrong colours give wrong
//! scores without any other sign. To colour the graphs again would cost what the file is there to save: n^(k+1) steps per
//! graph and level. What is checked costs about as much as reading the file, on every graph until the budget below is spent,
//! in an order that follows from the content:
//!
//! - Level 0, exactly: the input row of every tuple is that of its colour, and no two colours have the same row.
//! - Level l + 1: two tuples have one colour where they had one at level l and see the same multiset of colours there. Random
//!   numbers r_m(c), one per place m and colour c of level l, make the sum over all nodes j of the product over m of
//!   r_m(colour of the tuple with j in place m), modulo a prime: equal multisets have equal sums, others almost never. One
//!   tuple of every colour gives the colour's sum F; no two children of a colour may have the same.
//!   That all other pairs agree is seen from a random vector v as in Freivalds' test of a matrix product: the sums of a graph
//!   are the product R1 R0 of two n x n matrices, and R1 (R0 v) = F v takes n^2 steps. For k > 2 there is no such short cut:
//!   one tuple of every colour of a graph is looked at, and n more at random.
//!
//! What cannot be seen is how colours are numbered: it changes the order of sums, which is rounding, and nothing else.

use ppgn_graph::Graph;
use ppgn_graph::encode::Encoder;
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, ColourParts, GraphColours, Places, PpgnConfig, Values};
use std::collections::HashSet;

/// Steps that may be spent, per tuple and level: a graph with few colours takes about four. On NCI1, where pairs have many
/// colours, the check then takes a sixth of the colouring.
const BUDGET: usize = 8;

/// Steps that may be spent on any dataset, which take less than a tenth of a second: small ones are checked as a whole.
const AT_LEAST: usize = 1 << 24;

/// The prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

fn reduced(x: u128) -> u64 {
    let folded = (x as u64 & PRIME) + (x >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

fn times(a: u64, b: u64) -> u64 {
    reduced(u128::from(a) * u128::from(b))
}

fn plus(a: u64, b: u64) -> u64 {
    reduced(u128::from(a) + u128::from(b))
}

/// A number below the prime that depends on all of these (SplitMix64).
fn random(seed: u64, place: usize, colour: u32) -> u64 {
    let mut z = seed ^ (u64::from(colour) << 8 | place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % PRIME
}

/// Whether these parts, sound in themselves, are the colours of these graphs, as far as the budget goes. `seed` should
/// depend on the parts: whoever edits them does not know what will be drawn.
///
/// # Complexity
/// O(tuples * (channels + levels)).
pub(super) fn is_colouring(
    parts: &ColourParts,
    config: &PpgnConfig,
    encoder: &Encoder,
    graphs: &[Graph],
    seed: u64,
) -> bool {
    let levels = parts.counts.len() - 1;
    let fits =
        parts.order == config.order && levels == config.blocks.len() && parts.graphs.len() == graphs.len();
    if !fits || !rows_are_distinct(&parts.inputs, parts.channels) {
        return false;
    }
    let tuples: usize = parts.graphs.iter().map(|graph| length(&graph.places)).sum();
    let mut sums = Sums {
        parts,
        seed,
        known: parts.counts[1..].iter().map(|&count| vec![None; count as usize]).collect(),
        left: BUDGET.saturating_mul(tuples).saturating_mul(levels).max(AT_LEAST),
    };
    let mut stream = Stream::new(seed, "check colours", &[]);
    for graph in stream.permutation(graphs.len()) {
        let graph = graph as usize;
        let coloured = &parts.graphs[graph];
        if coloured.nodes != graphs[graph].nodes() {
            return false;
        }
        if coloured.nodes > 0
            && !(rows_are_those(parts, coloured, config, encoder, &graphs[graph])
                && sums.agree(coloured, &mut stream))
        {
            return false;
        }
    }
    sums.differ()
}

fn length(places: &Places) -> usize {
    match places {
        Places::Narrow(places) => places.len(),
        Places::Wide(places) => places.len(),
    }
}

fn place(places: &Places, tuple: usize) -> usize {
    match places {
        Places::Narrow(places) => usize::from(places[tuple]),
        Places::Wide(places) => places[tuple] as usize,
    }
}

/// The colours of a graph's list at every level, from 0.
fn ancestors(parts: &ColourParts, graph: &GraphColours) -> Vec<Vec<u32>> {
    let mut levels = vec![graph.colours.clone()];
    for level in (1..parts.counts.len()).rev() {
        let below = parts.counts[level - 1];
        let parent = |&c: &u32| if c < below { c } else { parts.parents[c as usize] };
        let next = levels[levels.len() - 1].iter().map(parent).collect();
        levels.push(next);
    }
    levels.reverse();
    levels
}

fn rows_are_distinct(inputs: &Values, channels: usize) -> bool {
    let rows: Vec<Vec<u64>> = match inputs {
        _ if channels == 0 => return true,
        // 0 and -0 are the same number.
        Values::F32(v) => {
            v.chunks(channels).map(|r| r.iter().map(|x| (x + 0.0).to_bits().into()).collect()).collect()
        }
        Values::F64(v) => {
            v.chunks(channels).map(|r| r.iter().map(|x| (x + 0.0).to_bits()).collect()).collect()
        }
    };
    let count = rows.len();
    rows.into_iter().collect::<HashSet<_>>().len() == count
}

/// Whether every tuple of a graph has the input row of its colour at level 0.
fn rows_are_those(
    parts: &ColourParts,
    coloured: &GraphColours,
    config: &PpgnConfig,
    encoder: &Encoder,
    graph: &Graph,
) -> bool {
    let Ok(batch) = Batch::of(config, encoder, &[graph], parts.inputs.precision()) else { return false };
    let first = &ancestors(parts, coloured)[0];
    fn same<T: PartialEq>(
        rows: &[T],
        inputs: &[T],
        channels: usize,
        colour: impl Fn(usize) -> usize,
    ) -> bool {
        rows.chunks(channels).enumerate().all(|(t, row)| row == &inputs[colour(t) * channels..][..channels])
    }
    let colour = |tuple: usize| first[place(&coloured.places, tuple)] as usize;
    match (batch.rows(), &parts.inputs) {
        _ if batch.channels() != parts.channels => false,
        _ if parts.channels == 0 => true,
        (Values::F32(rows), Values::F32(inputs)) => same(rows, inputs, parts.channels, colour),
        (Values::F64(rows), Values::F64(inputs)) => same(rows, inputs, parts.channels, colour),
        _ => false,
    }
}

/// The sums of the colours of the levels from 1, as far as they are known.
struct Sums<'a> {
    parts: &'a ColourParts,
    seed: u64,
    known: Vec<Vec<Option<u64>>>,
    /// Steps that may still be spent.
    left: usize,
}

impl Sums<'_> {
    /// Whether the tuples of a graph have the sums of their colours; a graph that the budget does not reach is passed over.
    fn agree(&mut self, graph: &GraphColours, stream: &mut Stream) -> bool {
        let (n, order, tuples) = (graph.nodes, self.parts.order, length(&graph.places));
        let levels = ancestors(self.parts, graph);
        let mut first = vec![0; graph.colours.len()];
        (0..tuples).rev().for_each(|tuple| first[place(&graph.places, tuple)] = tuple);
        for (level, pair) in levels.windows(2).enumerate() {
            let new: Vec<usize> =
                (0..first.len()).filter(|&p| self.known[level][pair[1][p] as usize].is_none()).collect();
            let drawn = if order == 2 { 0 } else { n + first.len() };
            let cost = 3 * tuples + (new.len() + drawn) * n * order;
            let Some(left) = self.left.checked_sub(cost) else { return true };
            self.left = left;
            let numbers: Vec<Vec<u64>> = (0..order)
                .map(|m| pair[0].iter().map(|&colour| random(self.seed, m, colour)).collect())
                .collect();
            let known = &mut self.known[level];
            for p in new {
                known[pair[1][p] as usize].get_or_insert_with(|| sum(graph, order, &numbers, first[p]));
            }
            let of_place: Vec<u64> =
                pair[1].iter().map(|&colour| known[colour as usize].unwrap_or_default()).collect();
            let agree = match order {
                2 => products_agree(graph, &numbers, &of_place, stream),
                _ => {
                    let drawn: Vec<usize> = (0..n).map(|_| stream.below(tuples)).collect();
                    let mut some = drawn.iter().chain(&first);
                    some.all(|&t| sum(graph, order, &numbers, t) == of_place[place(&graph.places, t)])
                }
            };
            if !agree {
                return false;
            }
        }
        true
    }

    /// Whether no two colours of a level that came from one have the same sum.
    fn differ(&self) -> bool {
        self.known.iter().enumerate().all(|(level, known)| {
            let below = self.parts.counts[level];
            let parent = |c: usize| if c < below as usize { c as u32 } else { self.parts.parents[c] };
            let sums = known.iter().enumerate().filter_map(|(c, sum)| Some((parent(c), (*sum)?)));
            let mut sums: Vec<(u32, u64)> = sums.collect();
            sums.sort_unstable();
            sums.windows(2).all(|pair| pair[0] != pair[1])
        })
    }
}

/// The sum of a tuple.
fn sum(graph: &GraphColours, order: usize, numbers: &[Vec<u64>], tuple: usize) -> u64 {
    let n = graph.nodes;
    let steps: Vec<(usize, usize)> = (0..order)
        .map(|m| {
            let step = n.pow((order - 1 - m) as u32);
            (tuple - tuple / step % n * step, step)
        })
        .collect();
    (0..n).fold(0, |total, j| {
        let product = steps.iter().zip(numbers).fold(1, |product, (&(at, step), numbers)| {
            times(product, numbers[place(&graph.places, at + j * step)])
        });
        plus(total, product)
    })
}

/// Freivalds' test: whether R1 R0, the sums of all pairs, is the matrix that the colours of the pairs say.
fn products_agree(graph: &GraphColours, numbers: &[Vec<u64>], sums: &[u64], stream: &mut Stream) -> bool {
    let n = graph.nodes;
    let v: Vec<u64> = (0..n).map(|_| stream.bits() % PRIME).collect();
    let apply = |entries: &[u64], v: &[u64]| -> Vec<u64> {
        let row = |i: usize| {
            let entry = |j: usize| entries[place(&graph.places, i * n + j)];
            v.iter().enumerate().fold(0, |total, (j, &x)| plus(total, times(entry(j), x)))
        };
        (0..n).map(row).collect()
    };
    // The pair (a, b) with j in its first place is (j, b), in its second (a, j).
    apply(&numbers[1], &apply(&numbers[0], &v)) == apply(sums, &v)
}
