//! One round of a test as one block: tables, product, concatenation.
//!
//! 2-FWL: `C'[i,k] = (C[i,k], {{ (C[i,j], C[j,k]) : j }})`; k-FWL uses the k colours of the tuples in which j replaces
//! one node, k-WL one multiset per position. m1 and m2 are the tables of the multiset's encoding, their product is its
//! vector, and m4 combines the pair's old code and that vector into one integer. This replaces the paper's
//! concatenation, which would need C(n + 2a, 2a) channels for a channels of the round before. Each new code is computed
//! from one pair per colour; all codes must differ, which is checked; otherwise new tables are drawn.

use super::Options;
use super::encoding::{Multiset, Request, Tables, tables};
use super::exact::{Largest, beyond};
use super::form::Form;
use super::plan::BlockPlan;
use super::table::{Codes, Layer};
use crate::error::{Error, Result};
use ppgn_wl::{Interrupt, Refinement};
use std::collections::BTreeSet;

/// What defines the colours of a round.
pub(super) struct Members {
    /// For every colour: its colour before the round, and the concatenated words of colours for all j.
    colours: Vec<(u32, Vec<u32>)>,
    /// Letters per word.
    letters: usize,
}

impl Members {
    /// The colours of this round (from 1), each read off the first tuple of nodes that has it: for every node j, the
    /// colours of the tuples in which j takes each of the form's positions. O(tuples + colours * n * k).
    pub(super) fn new(form: &Form, nodes: &[usize], colours: &Refinement, round: usize) -> Self {
        let (before, after) = (colours.ancestors(round - 1), colours.ancestors(round));
        let mut members = vec![(0, Vec::new()); colours.colours_after(round)];
        for (graph, &n) in nodes.iter().enumerate() {
            let last = colours.colours(graph);
            let steps: Vec<usize> = form.places.iter().map(|&q| n.pow((form.order - 1 - q) as u32)).collect();
            for (place, &colour) in last.iter().enumerate() {
                let member = &mut members[after[colour as usize] as usize];
                if member.1.is_empty() {
                    let at = |place: usize| before[last[place] as usize];
                    let word = |j: usize| steps.iter().map(move |&s| at(place - place / s % n * s + j * s));
                    *member = (at(place), (0..n).flat_map(word).collect());
                }
            }
        }
        Members { colours: members, letters: form.places.len() }
    }

    /// All words, ascending.
    fn words(&self) -> Vec<Vec<u32>> {
        let words =
            self.colours.iter().flat_map(|(_, words)| words.chunks(self.letters).map(<[u32]>::to_vec));
        words.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The code of every colour: that of its colour before the round, plus the multiset's contribution.
    fn codes(&self, before: &[i64], tables: &Tables) -> Vec<i128> {
        let code = |(parent, words): &(u32, Vec<u32>)| {
            let sum: i128 = words.chunks(self.letters).map(|word| tables.term(word)).sum();
            i128::from(before[*parent as usize]) + sum
        };
        self.colours.iter().map(code).collect()
    }
}

/// The input of a round: the codes, and how they are computed from a row.
pub(super) struct Input<'a> {
    pub(super) form: &'a Form,
    /// The weights of the channels that give a row's code.
    pub(super) channels: &'a [i64],
    /// The channel of the identity matrix; for longer tuples, of whether the first and last node are equal.
    pub(super) identity: usize,
    /// The code of every colour.
    pub(super) codes: &'a [i64],
    /// Number of nodes of every graph.
    pub(super) nodes: &'a [usize],
}

impl Input<'_> {
    /// Number of nodes of the largest graph.
    fn most_nodes(&self) -> usize {
        self.nodes.iter().copied().max().unwrap_or(0)
    }
}

/// The block of a round (from 1), and the code of every new colour. The block's output is (code, identity).
pub(super) fn block(
    input: &Input<'_>,
    colours: &Refinement,
    round: usize,
    options: &Options,
    largest: &mut Largest,
) -> Result<(BlockPlan, Vec<i64>)> {
    let multiset = options.multiset;
    let members = Members::new(input.form, input.nodes, colours, round);
    let (before, after) = (input.codes.len(), members.colours.len());
    let sums = input.form.sums;
    let words = if multiset == Multiset::Counts && !sums { members.words() } else { Vec::new() };
    let request = Request {
        multiset,
        sums,
        letters: members.letters,
        round,
        nodes: input.most_nodes(),
        before,
        after,
        words: &words,
    };
    let (tables, codes, attempts) = separating(input, &members, &request, &options.interrupt, largest)?;
    let domain = Codes::new(input.channels.to_vec(), input.codes.to_vec());
    // From values by colour to values by rank.
    let ranked = |table: &Vec<i64>| {
        let mut ranked = vec![0; domain.len()];
        input.codes.iter().zip(table).for_each(|(&code, &value)| ranked[domain.rank(code)] = value);
        ranked
    };
    let factor = |tables: &Vec<Vec<i64>>, largest: &mut Largest| {
        domain.tables(&tables.iter().map(ranked).collect::<Vec<_>>(), largest)
    };
    let factors = tables.factors.iter().map(|f| factor(f, largest)).collect::<Result<Vec<_>>>()?;
    let width = input.channels.len();
    let mut m4 = Layer::zeros(width + tables.weights.len(), 2)?;
    let weights = input.channels.iter().chain(&tables.weights);
    weights.enumerate().for_each(|(channel, &weight)| m4.set(0, channel, weight));
    m4.set(1, input.identity, 1);
    let note = format!(
        "round {round}: {before} -> {after} colours, multisets distinguished by {} {} of W{}; codes up to {}",
        tables.weights.len(),
        if tables.weights.len() == 1 { "channel" } else { "channels" },
        if attempts == 1 { String::new() } else { format!(" ({attempts} attempts)") },
        codes.iter().map(|c| c.abs()).max().unwrap_or(0),
    );
    Ok((BlockPlan { factors, m4, note }, codes))
}

/// Tables that give every colour of the round a distinct code, those codes, and the number of attempts needed.
fn separating(
    input: &Input<'_>,
    members: &Members,
    request: &Request<'_>,
    interrupt: &Interrupt,
    largest: &mut Largest,
) -> Result<(Tables, Vec<i64>, usize)> {
    let mut attempt = 0;
    while let Some(tables) = tables(request, attempt) {
        interrupt.check()?;
        let tables = tables?;
        attempt += 1;
        let codes = members.codes(input.codes, &tables);
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let sums = || format!("the sums of the product of round {}", request.round);
        for bound in tables.channel_bounds(request.nodes) {
            largest.admit(bound, sums)?;
        }
        let most = input.codes.iter().map(|c| i128::from(c.abs())).max().unwrap_or(0);
        let joined = most + tables.joined_bound(request.nodes);
        // Pooling sums over all tuples of a graph as well.
        let tuples = (request.nodes as i128).saturating_pow(input.form.order as u32);
        let pooled = joined.saturating_mul(tuples);
        largest.admit(pooled, || {
            format!("the codes of round {}, summed over a graph's {},", request.round, input.form.tuples())
        })?;
        let codes = codes.into_iter().map(|c| i64::try_from(c).map_err(|_| beyond(c, "a code")));
        return Ok((tables, codes.collect::<Result<_>>()?, attempt));
    }
    Err(Error::unfit(format!(
        "found no tables that distinguish the {} multisets of round {} ({attempt} attempts); compile fewer \
         graphs together",
        request.after, request.round
    )))
}
