//! One round of 2-FWL as one block: tables, product, concatenation.
//!
//! `C'[i,k] = (C[i,k], {{ (C[i,j], C[j,k]) : j }})`. m1 and m2 are the tables of the multiset's encoding, their product is
//! its vector, and m4 makes one integer of the pair's old code and that vector: the paper's concatenation, which by
//! itself would have C(n + 2a, 2a) channels, a those of the round before. The new codes are those of one pair a colour;
//! every colour must get a different one, which is checked, or else tables are drawn again.

use super::encoding::{Multiset, Tables, Wanted, tables};
use super::exact::{Largest, beyond};
use super::plan::Plan;
use super::table::{Codes, Layer};
use ppgn_graph::{Error, Result};
use ppgn_wl::Refinement;

/// What the colours of a round are made of.
pub(super) struct Members {
    /// For every colour: its colour before the round, and the pairs (colour of (i, j), colour of (j, k)) over all j.
    colours: Vec<(u32, Vec<(u32, u32)>)>,
    /// All these pairs, ascending.
    pairs: Vec<(u32, u32)>,
}

impl Members {
    /// The colours of this round, from 1, each read off the first pair of nodes that has it. O(pairs + colours * n).
    pub(super) fn new(colours: &Refinement, round: usize) -> Self {
        let (before, after) = (colours.ancestors(round - 1), colours.ancestors(round));
        let mut members = vec![(0, Vec::new()); colours.colours_after(round)];
        for graph in 0..colours.graphs() {
            let last = colours.colours(graph);
            let n = last.len().isqrt();
            for (place, &colour) in last.iter().enumerate() {
                let member = &mut members[after[colour as usize] as usize];
                if member.1.is_empty() {
                    let at = |i: usize, k: usize| before[last[i * n + k] as usize];
                    let (i, k) = (place / n, place % n);
                    *member = (at(i, k), (0..n).map(|j| (at(i, j), at(j, k))).collect());
                }
            }
        }
        let mut pairs: Vec<(u32, u32)> = members.iter().flat_map(|m| m.1.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Members { colours: members, pairs }
    }

    /// The code of every colour: that of the colour before, and what the multiset adds.
    fn codes(&self, before: &[i64], tables: &Tables) -> Vec<i128> {
        let code = |(parent, multiset): &(u32, Vec<(u32, u32)>)| {
            let sum: i128 = multiset.iter().map(|&(c1, c2)| tables.term(c1, c2)).sum();
            i128::from(before[*parent as usize]) + sum
        };
        self.colours.iter().map(code).collect()
    }
}

/// A round's input: where codes come from, and what they are.
pub(super) struct Input<'a> {
    /// The weights of the channels that make a row's code.
    pub(super) channels: &'a [i64],
    /// The channel of the identity matrix.
    pub(super) identity: usize,
    /// The code of every colour.
    pub(super) codes: &'a [i64],
    /// Nodes of the largest graph.
    pub(super) nodes: usize,
}

/// The block of a round, from 1, and the code of every new colour. The block's output is (code, identity).
pub(super) fn block(
    input: &Input<'_>,
    colours: &Refinement,
    round: usize,
    multiset: Multiset,
    largest: &mut Largest,
) -> Result<(Plan, Vec<i64>)> {
    let members = Members::new(colours, round);
    let (before, after) = (input.codes.len(), members.colours.len());
    let wanted = Wanted { multiset, round, nodes: input.nodes, before, after, pairs: &members.pairs };
    let (tables, codes, draws) = separating(input, &members, &wanted, largest)?;
    let domain = Codes::new(input.channels.to_vec(), input.codes.to_vec());
    // From a value a colour to a value a rank.
    let ranked = |table: &Vec<i64>| {
        let mut ranked = vec![0; domain.len()];
        input.codes.iter().zip(table).for_each(|(&code, &value)| ranked[domain.rank(code)] = value);
        ranked
    };
    let m1 = domain.tables(&tables.f.iter().map(ranked).collect::<Vec<_>>(), largest)?;
    let m2 = domain.tables(&tables.g.iter().map(ranked).collect::<Vec<_>>(), largest)?;
    let width = input.channels.len();
    let mut m4 = Layer::zeros(width + tables.f.len(), 2)?;
    let weights = input.channels.iter().chain(&tables.weights);
    weights.enumerate().for_each(|(channel, &weight)| m4.set(0, channel, weight));
    m4.set(1, input.identity, 1);
    let note = format!(
        "round {round}: {before} colours to {after}, {} {} of W tell {} multisets apart{}; codes up to {}",
        tables.f.len(),
        if tables.f.len() == 1 { "channel" } else { "channels" },
        after,
        if draws == 1 { String::new() } else { format!(" ({draws} draws)") },
        codes.iter().map(|c| c.abs()).max().unwrap_or(0),
    );
    Ok((Plan { m1, m2, m4, note }, codes))
}

/// Tables that give every colour of the round a code of its own, those codes, and how many draws that took.
fn separating(
    input: &Input<'_>,
    members: &Members,
    wanted: &Wanted<'_>,
    largest: &mut Largest,
) -> Result<(Tables, Vec<i64>, usize)> {
    let mut attempt = 0;
    while let Some(tables) = tables(wanted, attempt) {
        let tables = tables?;
        attempt += 1;
        let codes = members.codes(input.codes, &tables);
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let sums = || format!("the sums of round {}'s product", wanted.round);
        for bound in tables.channel_bounds(input.nodes) {
            largest.admit(bound, sums)?;
        }
        let most = input.codes.iter().map(|c| i128::from(c.abs())).max().unwrap_or(0);
        let joined = most + tables.joined_bound(input.nodes);
        // All pairs of a graph are summed as well, by the pooling.
        let pooled = joined.saturating_mul((input.nodes as i128).pow(2));
        largest
            .admit(pooled, || format!("the codes of round {}, summed over a graph's pairs,", wanted.round))?;
        let codes = codes.into_iter().map(|c| i64::try_from(c).map_err(|_| beyond(c, "a code")));
        return Ok((tables, codes.collect::<Result<_>>()?, attempt));
    }
    Err(Error::unfit(format!(
        "no tables tell the {} multisets of round {} apart ({attempt} draws); compile fewer graphs together",
        wanted.after, wanted.round
    )))
}
