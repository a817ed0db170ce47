//! What a lab found: figures per category beside the exact bound, and the pairs of the bound that were missed, with the
//! reason.

use super::collection::Collected;
use super::lab::{Lab, Protocol};
use super::store::Record;
use super::suite::Category;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The suite.
    pub suite: String,
    /// `rpc`, `random` or `exact`.
    pub protocol: String,
    /// The test that bounds the subject.
    pub test: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// All pairs.
    pub pairs: usize,
    /// Pairs that count with every seed.
    pub distinguished: usize,
    /// Pairs that the test distinguishes.
    pub bound: usize,
    /// Pairs that the test distinguishes and the subject does not, with the reason.
    pub missed: Vec<Missed>,
    /// Pairs that fail in reliability, summed over the seeds.
    pub reliability_failures: usize,
    /// How long this call took.
    pub seconds: f64,
    /// How long all trials took together, those of earlier calls included.
    pub seconds_of_trials: f64,
    /// Pairs that count with some seed although the test does not distinguish them.
    pub beyond: Vec<Unproven>,
    /// For every seed, the score of `rpc`: pairs that count minus those that fail in reliability.
    pub scores: Vec<i64>,
    /// Trials in which a covariance was zero, and S + 1e-7 I took its place.
    pub regularised: usize,
    /// Trials that were trained for no more than one epoch.
    pub one_epoch: usize,
    /// Pairs that untrained weights distinguish with every seed, by variant.
    pub random: BTreeMap<String, usize>,
    /// The same by category.
    pub categories: Vec<CategoryReport>,
    /// What belongs to the suite and was not there.
    pub missing: Vec<String>,
    /// All settings.
    pub settings: Value,
}

/// The figures of a category; see [`Report`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryReport {
    /// Its name.
    pub name: String,
    /// Its pairs.
    pub pairs: usize,
    /// Pairs that count with every seed.
    pub distinguished: usize,
    /// Pairs that the test distinguishes.
    pub bound: usize,
    /// The number of pairs that were missed.
    pub missed: usize,
    /// Of these, those that take more rounds than the network has blocks.
    pub missed_for_depth: usize,
    /// Pairs that fail in reliability, summed over the seeds.
    pub reliability_failures: usize,
    /// Pairs that count although the test does not distinguish them.
    pub beyond: usize,
    /// For every seed, the score of `rpc`.
    pub scores: Vec<i64>,
    /// Pairs that untrained weights distinguish with every seed, by variant.
    pub random: BTreeMap<String, usize>,
    /// Where every two graphs are a pair: the classes of graphs that are not distinguished.
    pub classes: Option<usize>,
    /// The same for the test.
    pub bound_classes: Option<usize>,
    /// The most rounds that a pair of it takes.
    pub rounds_max: usize,
    /// How long its trials took together.
    pub seconds: f64,
    /// A collection's figures.
    pub collection: Option<Collected>,
}

/// A pair that the test distinguishes and the subject does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// Its category.
    pub category: String,
    /// Its number within it.
    pub pair: usize,
    /// The rounds that the test takes.
    pub rounds: usize,
    /// Why it was missed.
    pub why: Reason,
    /// The seeds that missed it.
    pub seeds: Vec<u64>,
}

/// Why a pair was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The test takes more rounds than the network has blocks: no weights can distinguish it.
    Depth,
    /// There are blocks enough: the difference is too small beside rounding, or training has destroyed it.
    Numerics,
}

/// A pair that counts although the test does not distinguish it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unproven {
    /// Its category.
    pub category: String,
    /// Its number within it.
    pub pair: usize,
    /// The seeds for which it counts.
    pub seeds: Vec<u64>,
}

impl Report {
    pub(super) fn new(
        lab: &Lab<'_>,
        units: &[(usize, usize)],
        records: &[Record],
        collected: Vec<(usize, Collected)>,
        seconds: f64,
    ) -> Self {
        let mut report = Report {
            suite: lab.suite.name.clone(),
            protocol: lab.protocol.name().into(),
            test: lab.bound.to_string(),
            seeds: if lab.protocol == Protocol::Exact { Vec::new() } else { lab.seeds.clone() },
            pairs: 0,
            distinguished: 0,
            bound: 0,
            missed: Vec::new(),
            reliability_failures: 0,
            seconds,
            seconds_of_trials: 0.0,
            beyond: Vec::new(),
            scores: Vec::new(),
            regularised: 0,
            one_epoch: 0,
            random: BTreeMap::new(),
            categories: Vec::new(),
            missing: lab.suite.missing.clone(),
            settings: lab.settings.clone(),
        };
        for (c, category) in lab.suite.categories.iter().enumerate() {
            let own: Vec<&Record> =
                units.iter().zip(records).filter(|((d, _), _)| *d == c).map(|(_, record)| record).collect();
            let found = match collected.iter().find(|(d, _)| *d == c) {
                Some((_, found)) => of_collection(lab, category, found),
                None => report.of_pairs(lab, category, &own),
            };
            report.add(found);
        }
        report
    }

    fn add(&mut self, category: CategoryReport) {
        self.pairs += category.pairs;
        self.distinguished += category.distinguished;
        self.bound += category.bound;
        self.reliability_failures += category.reliability_failures;
        self.seconds_of_trials += category.seconds;
        for (variant, count) in &category.random {
            *self.random.entry(variant.clone()).or_default() += count;
        }
        self.scores.resize(self.scores.len().max(category.scores.len()), 0);
        self.scores.iter_mut().zip(&category.scores).for_each(|(sum, score)| *sum += score);
        self.categories.push(category);
    }

    fn of_pairs(&mut self, lab: &Lab<'_>, category: &Category, records: &[&Record]) -> CategoryReport {
        let depth = lab.subject.and_then(|subject| subject.depth());
        let counts: Vec<bool> = records.iter().map(|r| counts(lab.protocol, r)).collect();
        let trials = || records.iter().flat_map(|r| &r.trials);
        let of_seed = |seed: u64| {
            let rpc = trials().filter(|t| t.seed == seed).filter_map(|t| t.rpc.as_ref());
            rpc.map(|rpc| i64::from(rpc.counted) - i64::from(rpc.failed)).sum::<i64>()
        };
        let missed: Vec<Missed> = records
            .iter()
            .zip(&counts)
            .filter(|(_, counts)| !**counts)
            .filter_map(|(r, _)| {
                let rounds = r.rounds?;
                let why =
                    if depth.is_some_and(|depth| rounds > depth) { Reason::Depth } else { Reason::Numerics };
                let seeds = seeds(r, |t| !trial_counts(lab.protocol, t));
                Some(Missed { category: category.name.clone(), pair: r.pair, rounds, why, seeds })
            })
            .collect();
        let beyond: Vec<Unproven> = records
            .iter()
            .filter(|r| r.rounds.is_none())
            .map(|r| (r.pair, seeds(r, |t| trial_counts(lab.protocol, t))))
            .filter(|(_, seeds)| !seeds.is_empty())
            .map(|(pair, seeds)| Unproven { category: category.name.clone(), pair, seeds })
            .collect();
        let mut random: BTreeMap<String, usize> = BTreeMap::new();
        for variant in lab.subject.map(|s| s.variants()).unwrap_or_default() {
            let all = |r: &&&Record| {
                r.trials.iter().all(|t| t.random.iter().any(|x| x.variant == variant && x.counted))
                    && !r.trials.is_empty()
            };
            random.insert(variant.clone(), records.iter().filter(all).count());
        }
        let pairs = category.pairs();
        let bound: Vec<bool> = records.iter().map(|r| r.rounds.is_some()).collect();
        let classes =
            |apart: &[bool]| category.is_all_pairs().then(|| classes(category.graphs.len(), pairs, apart));
        let rpcs = || trials().filter_map(|t| t.rpc.as_ref());
        self.regularised += rpcs().filter(|rpc| rpc.regularised).count();
        self.one_epoch += rpcs().filter(|rpc| rpc.epochs <= 1).count();
        let found = CategoryReport {
            name: category.name.clone(),
            pairs: records.len(),
            distinguished: counts.iter().filter(|c| **c).count(),
            bound: bound.iter().filter(|b| **b).count(),
            missed: missed.len(),
            missed_for_depth: missed.iter().filter(|m| m.why == Reason::Depth).count(),
            reliability_failures: rpcs().filter(|rpc| rpc.failed).count(),
            beyond: beyond.len(),
            scores: match lab.protocol {
                Protocol::Rpc => lab.seeds.iter().map(|&seed| of_seed(seed)).collect(),
                _ => Vec::new(),
            },
            random: if lab.protocol == Protocol::Exact { BTreeMap::new() } else { random },
            classes: classes(&counts),
            bound_classes: classes(&bound),
            rounds_max: records.iter().filter_map(|r| r.rounds).max().unwrap_or(0),
            seconds: trials().map(|t| t.seconds).sum(),
            collection: None,
        };
        self.missed.extend(missed);
        self.beyond.extend(beyond);
        found
    }
}

/// The figures of a collection. The pairs that are missed have no list of their own.
fn of_collection(lab: &Lab<'_>, category: &Category, found: &Collected) -> CategoryReport {
    let first = lab.subject.map(|s| s.variants()).and_then(|v| v.into_iter().next()).unwrap_or_default();
    let of_first = || found.left.iter().filter(|l| l.variant == first);
    let pairs = category.len();
    let most = |variant: &str| found.left.iter().filter(|l| l.variant == variant).map(|l| l.pairs).max();
    let variants = lab.subject.filter(|_| !found.left.is_empty()).map(|s| s.variants()).unwrap_or_default();
    CategoryReport {
        name: category.name.clone(),
        pairs,
        distinguished: pairs - most(&first).unwrap_or(found.bound_left),
        bound: pairs - found.bound_left,
        missed: of_first().map(|l| l.missed).max().unwrap_or(0),
        missed_for_depth: 0,
        reliability_failures: 0,
        beyond: of_first().map(|l| l.beyond).max().unwrap_or(0),
        scores: Vec::new(),
        random: variants.iter().map(|v| (v.clone(), pairs - most(v).unwrap_or(pairs))).collect(),
        classes: None,
        bound_classes: Some(found.bound_classes),
        rounds_max: 0,
        seconds: found.left.iter().map(|l| l.seconds).sum(),
        collection: Some(found.clone()),
    }
}

/// Whether a pair counts with every seed.
fn counts(protocol: Protocol, record: &Record) -> bool {
    match protocol {
        Protocol::Exact => record.rounds.is_some(),
        _ => !record.trials.is_empty() && record.trials.iter().all(|t| trial_counts(protocol, t)),
    }
}

fn trial_counts(protocol: Protocol, trial: &super::Trial) -> bool {
    match protocol {
        Protocol::Rpc => trial.rpc.as_ref().is_some_and(|rpc| rpc.counted && !rpc.failed),
        // The first variant is that of the settings.
        _ => trial.random.first().is_some_and(|random| random.counted),
    }
}

fn seeds(record: &Record, which: impl Fn(&super::Trial) -> bool) -> Vec<u64> {
    record.trials.iter().filter(|t| which(t)).map(|t| t.seed).collect()
}

/// The number of classes of graphs, given which pairs are apart: those that are not belong together.
fn classes(graphs: usize, pairs: &[[usize; 2]], apart: &[bool]) -> usize {
    let mut class: Vec<usize> = (0..graphs).collect();
    for (&[a, b], _) in pairs.iter().zip(apart).filter(|(_, apart)| !**apart) {
        let (keep, drop) = (class[a].min(class[b]), class[a].max(class[b]));
        class.iter_mut().filter(|c| **c == drop).for_each(|c| *c = keep);
    }
    class.sort_unstable();
    class.dedup();
    class.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_that_are_not_apart_share_a_class() {
        let pairs = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]];
        assert_eq!(classes(4, &pairs, &[true; 6]), 4);
        assert_eq!(classes(4, &pairs, &[false, true, true, true, true, false]), 2);
        assert_eq!(classes(4, &pairs, &[false; 6]), 1);
    }
}
