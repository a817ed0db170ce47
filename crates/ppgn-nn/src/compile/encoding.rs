//! Multisets of pairs of colours as integers, by products of tables: the proof's tau_1 and tau_2.
//!
//! The product `W[i,k,c] = sum over j of f_c(colour(i,j)) * g_c(colour(j,k))` sees the multiset of colour pairs that
//! 2-FWL counts, through a few tables f_c and g_c. m4 then adds up the channels, each with a weight, to one number. Three
//! families of tables are known; all are checked on every multiset that occurs, never trusted.

use super::exact::{LIMIT, beyond, unbounded};
use super::table::check_size;
use crate::multiset::exponents;
use ppgn_graph::random::Stream;
use ppgn_graph::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How a multiset of pairs of colours becomes a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiset {
    /// A few channels of random integer tables f(c1), g(c2). One generic pair of tables parts any finite set of
    /// multisets; on a collision others are drawn, and channels added.
    #[default]
    Projections,
    /// The paper's monomials `c1^beta * c2^gamma`, beta + gamma <= n, on the colours' numbers: C(n + 2, 2) channels.
    PowerSums,
    /// One channel a pair of colours that occurs: it counts them.
    Counts,
}

impl Multiset {
    /// All encodings.
    pub const ALL: [Multiset; 3] = [Multiset::Projections, Multiset::PowerSums, Multiset::Counts];

    /// Its name, as in `--multiset counts`.
    pub fn name(self) -> &'static str {
        match self {
            Multiset::Projections => "projections",
            Multiset::PowerSums => "power-sums",
            Multiset::Counts => "counts",
        }
    }
}

impl std::str::FromStr for Multiset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Multiset::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            Error::call(format!(
                "`{name}` is no encoding of multisets; there are projections, power-sums and counts"
            ))
        })
    }
}

/// What a round's tables are made for.
pub(super) struct Wanted<'a> {
    pub(super) multiset: Multiset,
    /// The number of the round, for its own random numbers.
    pub(super) round: usize,
    /// Nodes of the largest graph.
    pub(super) nodes: usize,
    /// Colours before the round.
    pub(super) before: usize,
    /// Colours after it.
    pub(super) after: usize,
    /// All pairs of colours that occur in the multisets, ascending.
    pub(super) pairs: &'a [(u32, u32)],
}

/// Tables of a round, and how m4 joins the channels.
pub(super) struct Tables {
    /// `f[c][colour]` and `g[c][colour]`, at least 0.
    pub(super) f: Vec<Vec<i64>>,
    pub(super) g: Vec<Vec<i64>>,
    /// m4's weights of the channels.
    pub(super) weights: Vec<i64>,
    /// For `counts`, the weight of a pair of colours: one look instead of a sum over all channels.
    by_pair: Option<HashMap<(u32, u32), i64>>,
}

/// Tables for a round: the attempt's, more generous with every one. `None` after the last.
pub(super) fn tables(wanted: &Wanted<'_>, attempt: usize) -> Option<Result<Tables>> {
    const ATTEMPTS: usize = 60;
    (attempt < ATTEMPTS).then(|| match wanted.multiset {
        Multiset::Projections => Ok(projections(wanted, attempt)),
        Multiset::PowerSums => power_sums(wanted, attempt),
        Multiset::Counts => counts(wanted, attempt),
    })
}

/// Numbers of this size keep about as many sums apart as there are pairs of colours, and grow by half every four draws.
fn scale(wanted: &Wanted<'_>, attempt: usize, values: f64) -> usize {
    let pairs = (wanted.after as f64).powi(2);
    ((pairs * values).sqrt() * 1.5f64.powi(attempt as i32 / 4)).ceil().clamp(4.0, 2f64.powi(24)) as usize
}

fn projections(wanted: &Wanted<'_>, attempt: usize) -> Tables {
    let channels = 2 + attempt / 8;
    // A sum of n products of numbers below s spreads over sqrt(n) * s^2.
    let below = scale(wanted, attempt, 1.0 / (wanted.nodes as f64).sqrt());
    let draw = |which: u64, channel: usize| -> Vec<i64> {
        let indices = [wanted.round as u64, attempt as u64, which, channel as u64];
        let mut random = Stream::new(0, "projections", &indices);
        (0..wanted.before).map(|_| random.below(below) as i64).collect()
    };
    Tables {
        f: (0..channels).map(|c| draw(0, c)).collect(),
        g: (0..channels).map(|c| draw(1, c)).collect(),
        weights: vec![1; channels],
        by_pair: None,
    }
}

fn power_sums(wanted: &Wanted<'_>, attempt: usize) -> Result<Tables> {
    let degree = wanted.nodes as u32;
    let most = (wanted.before as i128 - 1)
        .checked_pow(degree)
        .ok_or_else(|| unbounded(&format!("powers {degree} of {} colours", wanted.before)))?;
    if most >= LIMIT {
        return Err(beyond(most, &format!("powers {degree} of {} colours", wanted.before)));
    }
    let exponents = exponents(2, degree);
    check_size(wanted.before, exponents.len())?;
    let power = |exponent: u32| (0..wanted.before as i64).map(|c| c.pow(exponent)).collect::<Vec<i64>>();
    // All channels are there; the code needs few of them, and is shortest with those of low degree.
    let (counts, size) = (2 + attempt as u32 / 6, 2 + attempt / 3);
    let mut random = Stream::new(0, "power sums", &[wanted.round as u64, attempt as u64]);
    let weight = |alpha: &Vec<u32>| match alpha.iter().sum::<u32>() {
        0 => 0,
        d if d <= counts => random.below(2 * size + 1) as i64 - size as i64,
        _ => 0,
    };
    Ok(Tables {
        f: exponents.iter().map(|alpha| power(alpha[0])).collect(),
        g: exponents.iter().map(|alpha| power(alpha[1])).collect(),
        weights: exponents.iter().map(weight).collect(),
        by_pair: None,
    })
}

fn counts(wanted: &Wanted<'_>, attempt: usize) -> Result<Tables> {
    check_size(wanted.before, wanted.pairs.len())?;
    let mut random = Stream::new(0, "counts", &[wanted.round as u64, attempt as u64]);
    let below = scale(wanted, attempt, (wanted.after as f64).powi(2)).min(1 << 40);
    let weights: Vec<i64> = wanted.pairs.iter().map(|_| random.below(below) as i64).collect();
    let mark = |colour: u32| {
        let mut table = vec![0; wanted.before];
        table[colour as usize] = 1;
        table
    };
    Ok(Tables {
        f: wanted.pairs.iter().map(|&(first, _)| mark(first)).collect(),
        g: wanted.pairs.iter().map(|&(_, second)| mark(second)).collect(),
        by_pair: Some(wanted.pairs.iter().copied().zip(weights.iter().copied()).collect()),
        weights,
    })
}

impl Tables {
    /// What one pair of colours adds to a code: the sum over c of `weights[c] * f[c][c1] * g[c][c2]`.
    pub(super) fn term(&self, c1: u32, c2: u32) -> i128 {
        if let Some(by_pair) = &self.by_pair {
            return by_pair.get(&(c1, c2)).map_or(0, |&w| i128::from(w));
        }
        let channels = self.f.iter().zip(&self.g).zip(&self.weights).filter(|(_, w)| **w != 0);
        channels
            .map(|((f, g), &w)| i128::from(w) * i128::from(f[c1 as usize]) * i128::from(g[c2 as usize]))
            .sum()
    }

    /// The largest sum of every channel over n nodes.
    pub(super) fn channel_bounds(&self, nodes: usize) -> Vec<i128> {
        let most = |table: &Vec<i64>| i128::from(table.iter().copied().max().unwrap_or(0));
        self.f.iter().zip(&self.g).map(|(f, g)| nodes as i128 * most(f) * most(g)).collect()
    }

    /// The largest sum that m4 makes of the channels.
    pub(super) fn joined_bound(&self, nodes: usize) -> i128 {
        if let Some(by_pair) = &self.by_pair {
            // All counts together are n.
            return nodes as i128 * by_pair.values().map(|w| i128::from(w.abs())).max().unwrap_or(0);
        }
        let bounds = self.channel_bounds(nodes);
        bounds.iter().zip(&self.weights).map(|(bound, w)| bound * i128::from(w.abs())).sum()
    }
}
