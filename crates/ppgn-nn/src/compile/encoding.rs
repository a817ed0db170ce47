//! Multisets of words of colours as integers, by products of tables: the proofs' tau, tau_1 and tau_2.
//!
//! The product `W[i,k,c] = sum over j of f_c(colour(i,j)) * g_c(colour(j,k))` sees the multiset of colour pairs that
//! 2-FWL counts, through a few tables f_c and g_c; the generalised product sees the multiset of words of k colours
//! through k tables per channel. The sums over one position each, `sum over j of f_c(colour)`, see the k multisets of
//! single colours that k-WL counts. m4 then combines the channels into one number, a weighted sum. Three families of
//! tables are known; all are checked on every multiset that occurs, never trusted.

use super::exact::{LIMIT, beyond, unbounded};
use super::table::check_size;
use crate::error::{Error, Result};
use crate::multiset::exponents;
use ppgn_graph::random::Stream;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How a multiset of pairs (or longer words) of colours becomes a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiset {
    /// A few channels of random integer tables f(c1), g(c2). One generic pair of tables distinguishes any finite set of
    /// multisets; on a collision new tables are drawn, and channels are added. Order k has k tables per channel.
    #[default]
    Projections,
    /// The paper's monomials `c1^beta * c2^gamma`, beta + gamma <= n, of the colours' numbers: C(n + 2, 2) channels;
    /// for words of k colours, C(n + k, k).
    PowerSums,
    /// One channel per pair of colours that occurs, holding its count.
    Counts,
}

impl Multiset {
    /// All encodings.
    pub const ALL: [Multiset; 3] = [Multiset::Projections, Multiset::PowerSums, Multiset::Counts];

    /// Its name, as in `counts`.
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
                "`{name}` is not a multiset encoding; choose projections, power-sums or counts"
            ))
        })
    }
}

/// What the tables of a round must encode.
pub(super) struct Request<'a> {
    pub(super) multiset: Multiset,
    /// Whether channels are sums of one table over each position, rather than products of one table per factor.
    pub(super) sums: bool,
    /// Colours per word: the order k.
    pub(super) letters: usize,
    /// The number of the round; it selects the random stream.
    pub(super) round: usize,
    /// Number of nodes of the largest graph.
    pub(super) nodes: usize,
    /// Number of colours before the round.
    pub(super) before: usize,
    /// Number of colours after it.
    pub(super) after: usize,
    /// All words that occur in the multisets, ascending; only for products and `counts`.
    pub(super) words: &'a [Vec<u32>],
}

/// The tables of a round, and how m4 combines the channels of W.
pub(super) struct Tables {
    /// `factors[q][c][colour]`, at least 0: the output of the q-th MLP in channel c. Sums have a single factor.
    pub(super) factors: Vec<Vec<Vec<i64>>>,
    /// m4's weights for the channels of W; for sums, position after position.
    pub(super) weights: Vec<i64>,
    sums: bool,
    /// For `counts` of products, the weight of a word: one lookup instead of a sum over all channels.
    by_word: Option<HashMap<Vec<u32>, i64>>,
}

/// The tables of one attempt; later attempts use larger numbers and more channels. `None` after the last attempt.
pub(super) fn tables(request: &Request<'_>, attempt: usize) -> Option<Result<Tables>> {
    const ATTEMPTS: usize = 60;
    (attempt < ATTEMPTS).then(|| match request.multiset {
        Multiset::Projections => Ok(projections(request, attempt)),
        Multiset::PowerSums => power_sums(request, attempt),
        Multiset::Counts => counts(request, attempt),
    })
}

/// The magnitude of the random numbers. Products of `multiplied` such numbers can take about as many values as there
/// are pairs of colours; the magnitude grows by half every four attempts.
fn scale(request: &Request<'_>, attempt: usize, values: f64, multiplied: usize) -> usize {
    let pairs = (request.after as f64).powi(2);
    let each = (pairs * values).powf(1.0 / multiplied as f64);
    (each * 1.5f64.powi(attempt as i32 / 4)).ceil().clamp(4.0, 2f64.powi(24)) as usize
}

/// Random weights for the channels of sums, one per position and channel.
fn place_weights(request: &Request<'_>, attempt: usize, channels: usize, below: usize) -> Vec<i64> {
    let mut random = Stream::new(0, "places", &[request.round as u64, attempt as u64]);
    (0..request.letters * channels).map(|_| 1 + random.below(below) as i64).collect()
}

fn projections(request: &Request<'_>, attempt: usize) -> Tables {
    let draw = |below: usize, which: u64, channel: usize| -> Vec<i64> {
        let indices = [request.round as u64, attempt as u64, which, channel as u64];
        let mut random = Stream::new(0, "projections", &indices);
        (0..request.before).map(|_| random.below(below) as i64).collect()
    };
    // A sum of n products of k numbers below s has a spread of sqrt(n) * s^k. A sum of n numbers has a spread of
    // sqrt(n) * s, and its weight is a number of the same magnitude.
    let spread = 1.0 / (request.nodes as f64).sqrt();
    if request.sums {
        let (channels, below) = (1 + attempt / 8, scale(request, attempt, spread, 2));
        return Tables {
            factors: vec![(0..channels).map(|c| draw(below, 0, c)).collect()],
            weights: place_weights(request, attempt, channels, below),
            sums: true,
            by_word: None,
        };
    }
    let (channels, below) = (2 + attempt / 8, scale(request, attempt, spread, request.letters));
    let factor = |q: usize| (0..channels).map(|c| draw(below, q as u64, c)).collect();
    Tables {
        factors: (0..request.letters).map(factor).collect(),
        weights: vec![1; channels],
        sums: false,
        by_word: None,
    }
}

fn power_sums(request: &Request<'_>, attempt: usize) -> Result<Tables> {
    let degree = request.nodes as u32;
    let most = (request.before as i128 - 1)
        .checked_pow(degree)
        .ok_or_else(|| unbounded(&format!("powers {degree} of {} colours", request.before)))?;
    if most >= LIMIT {
        return Err(beyond(most, &format!("powers {degree} of {} colours", request.before)));
    }
    let letters = if request.sums { 1 } else { request.letters };
    check_exponents(letters, degree)?;
    let exponents = exponents(letters, degree);
    check_size(request.before, exponents.len())?;
    let power = |exponent: u32| (0..request.before as i64).map(|c| c.pow(exponent)).collect::<Vec<i64>>();
    // All monomials are channels; the code needs only a few of them, and is smallest with those of low degree.
    let (counts, size) = (2 + attempt as u32 / 6, 2 + attempt / 3);
    let mut random = Stream::new(0, "power sums", &[request.round as u64, attempt as u64]);
    let mut weight = |alpha: &Vec<u32>| match alpha.iter().sum::<u32>() {
        0 => 0,
        d if d <= counts => random.below(2 * size + 1) as i64 - size as i64,
        _ => 0,
    };
    let places = if request.sums { request.letters } else { 1 };
    Ok(Tables {
        weights: (0..places).flat_map(|_| exponents.iter().map(&mut weight).collect::<Vec<_>>()).collect(),
        factors: (0..letters).map(|q| exponents.iter().map(|alpha| power(alpha[q])).collect()).collect(),
        sums: request.sums,
        by_word: None,
    })
}

/// Rejects a number of monomials, C(n + k, k), that is too large to enumerate.
fn check_exponents(letters: usize, degree: u32) -> Result<()> {
    let mut count = 1u128;
    for i in 1..=letters as u128 {
        count = count.saturating_mul(u128::from(degree) + i) / i;
    }
    check_size(1, usize::try_from(count).unwrap_or(usize::MAX))
}

fn counts(request: &Request<'_>, attempt: usize) -> Result<Tables> {
    let channels = if request.sums { request.before } else { request.words.len() };
    check_size(request.before, channels)?;
    let below = scale(request, attempt, (request.after as f64).powi(2), 2).min(1 << 40);
    let mark = |colour: u32| {
        let mut table = vec![0; request.before];
        table[colour as usize] = 1;
        table
    };
    if request.sums {
        return Ok(Tables {
            factors: vec![(0..request.before as u32).map(mark).collect()],
            weights: place_weights(request, attempt, channels, below),
            sums: true,
            by_word: None,
        });
    }
    let mut random = Stream::new(0, "counts", &[request.round as u64, attempt as u64]);
    let weights: Vec<i64> = request.words.iter().map(|_| random.below(below) as i64).collect();
    let factor = |q: usize| request.words.iter().map(|word| mark(word[q])).collect();
    Ok(Tables {
        factors: (0..request.letters).map(factor).collect(),
        sums: false,
        by_word: Some(request.words.iter().cloned().zip(weights.iter().copied()).collect()),
        weights,
    })
}

impl Tables {
    /// Channels of the MLPs' outputs.
    pub(super) fn channels(&self) -> usize {
        self.factors[0].len()
    }

    /// The contribution of one word of colours to a code: over all channels c, `weights[c]` times the product of
    /// `factors[q][c]` at the word's letters; for sums, over all positions q and channels c, `weights[q, c]` times the
    /// table at letter q.
    pub(super) fn term(&self, word: &[u32]) -> i128 {
        if let Some(by_word) = &self.by_word {
            return by_word.get(word).map_or(0, |&w| i128::from(w));
        }
        let value = |q: usize, c: usize, colour: u32| i128::from(self.factors[q][c][colour as usize]);
        if self.sums {
            let places = word.iter().zip(self.weights.chunks(self.channels()));
            let place = |(&colour, weights): (&u32, &[i64])| -> i128 {
                let channels = weights.iter().enumerate().filter(|(_, w)| **w != 0);
                channels.map(|(c, &w)| i128::from(w) * value(0, c, colour)).sum()
            };
            return places.map(place).sum();
        }
        let channels = self.weights.iter().enumerate().filter(|(_, w)| **w != 0);
        let product =
            |c: usize| word.iter().enumerate().map(|(q, &colour)| value(q, c, colour)).product::<i128>();
        channels.map(|(c, &w)| i128::from(w) * product(c)).sum()
    }

    /// A bound on every channel of W: its largest sum over n nodes, which also bounds every product in it.
    pub(super) fn channel_bounds(&self, nodes: usize) -> Vec<i128> {
        let most = |table: &Vec<i64>| i128::from(table.iter().copied().max().unwrap_or(0).max(1));
        let product = |c: usize| {
            let factors = self.factors.iter().map(|factor| most(&factor[c]));
            factors.fold(nodes as i128, i128::saturating_mul)
        };
        let bounds: Vec<i128> = (0..self.channels()).map(product).collect();
        bounds.iter().copied().cycle().take(self.weights.len()).collect()
    }

    /// The largest sum that m4 can form from the channels.
    pub(super) fn joined_bound(&self, nodes: usize) -> i128 {
        if let Some(by_word) = &self.by_word {
            // The counts add up to n.
            return nodes as i128 * by_word.values().map(|w| i128::from(w.abs())).max().unwrap_or(0);
        }
        let bounds = self.channel_bounds(nodes);
        let terms =
            bounds.iter().zip(&self.weights).map(|(bound, w)| bound.saturating_mul(i128::from(w.abs())));
        terms.fold(0, i128::saturating_add)
    }
}
