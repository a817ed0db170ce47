//! Collections with too many pairs to look at one by one, such as the 61,788,286 of `graph8c`: outputs are computed once
//! per graph, and only graphs whose outputs are close are compared.

use super::bound;
use super::lab::{Lab, Protocol};
use super::store::Store;
use super::subject::Subject;
use super::suite::Category;
use super::trial::MULTIPLE;
use crate::error::{Error, Result};
use crate::ranks::{Hear, Jobs, understood};
use crate::session::Session;
use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::Instant;

/// What was found for a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    /// Pairs that the bounding test leaves undistinguished.
    pub bound_left: usize,
    /// Its classes.
    pub bound_classes: usize,
    /// What the subject leaves, by seed and variant.
    pub left: Vec<Left>,
}

/// What a subject leaves undistinguished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// The seed.
    pub seed: u64,
    /// The variant: a precision.
    pub variant: String,
    /// Pairs left.
    pub pairs: usize,
    /// Of these, pairs that the bounding test distinguishes.
    pub missed: usize,
    /// Pairs that the subject distinguishes and the bounding test does not.
    pub beyond: usize,
    /// The largest difference of an output between a graph and a relabelled copy of it.
    pub noise: f64,
    /// How long it took.
    pub seconds: f64,
}

pub(super) fn collect(
    lab: &Lab<'_>,
    session: &Session,
    store: &Store,
    category: &Category,
) -> Result<Collected> {
    let (classes, _) = bound::classes(session, lab.bound, category)?;
    let count = classes.iter().max().map_or(0, |most| most + 1);
    let mut sizes = vec![0usize; count];
    classes.iter().for_each(|&c| sizes[c] += 1);
    let bound_left = sizes.iter().map(|n| n * (n - 1) / 2).sum();
    let there = match store.read_collected(category)? {
        Some(there) => there,
        None => Collected { bound_left, bound_classes: count, left: Vec::new() },
    };
    // What rank 0 has found: another may have looked later, when more was there.
    let mut collected = match session.ranks() {
        Some(ranks) => ranks.decided(|| there.clone())?,
        None => there,
    };
    if let Some(subject) = lab.subject.filter(|_| lab.protocol != Protocol::Exact) {
        let variants = || subject.variants().into_iter().enumerate();
        let all = lab.seeds.iter().flat_map(|&seed| variants().map(move |variant| (seed, variant)));
        let is_there =
            |seed, variant: &str| collected.left.iter().any(|l| l.seed == seed && l.variant == variant);
        let missing: Vec<(u64, (usize, String))> =
            all.filter(|(seed, (_, variant))| !is_there(*seed, variant)).collect();
        let so_far = Mutex::new(collected.clone());
        let keep = |found: Left| -> Result<()> {
            let mut so_far = so_far.lock().unwrap_or_else(|e| e.into_inner());
            so_far.left.push(found);
            store.write_collected(category, &so_far)
        };
        let compute = |session: &Session, i: usize| {
            let (seed, variant) = missing[i].clone();
            left(session, subject, category, &classes, bound_left, seed, variant)
        };
        let found = match session.ranks() {
            None => {
                let one = |i| compute(session, i).and_then(|found| keep(found.clone()).map(|()| found));
                (0..missing.len()).map(one).collect::<Result<Vec<Left>>>()?
            }
            Some(ranks) => {
                let alone = session.clone().with_ranks(None);
                let work = |i: usize, tell: &Hear<'_>| -> Result<Option<Vec<u8>>> {
                    let found = serde_json::to_vec(&compute(&alone, i)?).unwrap_or_default();
                    tell(i, &found);
                    Ok(Some(found))
                };
                let hear = |_: usize, found: &[u8]| understood(found).and_then(keep).is_ok();
                let jobs = Jobs { count: missing.len(), at_once: 1, work: &work, hear: &hear };
                let found = ranks.farm(jobs)?.ok_or(Error::Interrupted)?;
                found.iter().map(|found| understood(found)).collect::<Result<_>>()?
            }
        };
        collected.left.extend(found);
    }
    collected.left.retain(|l| lab.seeds.contains(&l.seed));
    Ok(collected)
}

fn left(
    session: &Session,
    subject: &dyn Subject,
    category: &Category,
    classes: &[usize],
    bound_left: usize,
    seed: u64,
    (number, variant): (usize, String),
) -> Result<Left> {
    let start = Instant::now();
    let purpose = format!("express/weights/{}", category.name);
    let weights = Stream::new(seed, &purpose, &[]).bits();
    let mut instance = subject.fresh(session, weights, number)?;
    let mut random = Stream::new(seed, &format!("express/noise/{}", category.name), &[]);
    let (mut outputs, mut noise, mut width) = (Vec::new(), 0.0f64, 0);
    for graphs in category.graphs.chunks(256) {
        session.check()?;
        let copies: Vec<Graph> = graphs.iter().map(|g| g.permute_randomly(&mut random)).collect();
        let (own, moved) = (instance.outputs(graphs)?, instance.outputs(&copies)?);
        if own.len() != moved.len() || !own.len().is_multiple_of(graphs.len()) {
            return Err(Error::settings("all graphs must have the same number of outputs"));
        }
        width = own.len() / graphs.len();
        noise = own.iter().zip(&moved).fold(noise, |most, (a, b)| most.max((a - b).abs()));
        outputs.extend(own);
    }
    let epsilon = if variant == "f64" { f64::EPSILON } else { f32::EPSILON.into() };
    noise = noise.max(outputs.iter().fold(0.0, |most: f64, x| most.max(x.abs())) * epsilon);
    let close = close_pairs(width, &outputs, MULTIPLE * noise);
    let missed = close.iter().filter(|[a, b]| classes[*a] != classes[*b]).count();
    let beyond = bound_left - (close.len() - missed);
    let seconds = start.elapsed().as_secs_f64();
    Ok(Left { seed, variant, pairs: close.len(), missed, beyond, noise, seconds })
}

/// The pairs of rows that differ by at most `limit` in every column: rows are sorted by the column that spreads most, and
/// compared within a window.
fn close_pairs(width: usize, outputs: &[f64], limit: f64) -> Vec<[usize; 2]> {
    let row = |i: usize| &outputs[i * width..][..width];
    let count = outputs.len() / width.max(1);
    let spread = |c: usize| {
        let column = || (0..count).map(|i| row(i)[c]);
        column().fold(f64::MIN, f64::max) - column().fold(f64::MAX, f64::min)
    };
    let Some(widest) = (0..width).max_by(|a, b| spread(*a).total_cmp(&spread(*b))) else { return Vec::new() };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| row(a)[widest].total_cmp(&row(b)[widest]));
    let mut pairs = Vec::new();
    for (i, &a) in order.iter().enumerate() {
        let near = order[i + 1..].iter().take_while(|&&b| row(b)[widest] - row(a)[widest] <= limit);
        let equal = near.filter(|&&b| row(a).iter().zip(row(b)).all(|(x, y)| (x - y).abs() <= limit));
        pairs.extend(equal.map(|&b| [a.min(b), a.max(b)]));
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_rows_are_found_wherever_they_are() {
        let mut random = Stream::new(2, "rows", &[]);
        let values: Vec<f64> = (0..3 * 60).map(|_| random.below(4) as f64 + 1e-3 * random.unit()).collect();
        let mut wanted = Vec::new();
        for b in 0..60 {
            for a in 0..b {
                let apart = (0..3).map(|c| (values[3 * a + c] - values[3 * b + c]).abs()).fold(0.0, f64::max);
                if apart <= 0.01 {
                    wanted.push([a, b]);
                }
            }
        }
        wanted.sort_unstable();
        assert!(wanted.len() > 5);
        assert_eq!(close_pairs(3, &values, 0.01), wanted);
        assert_eq!(close_pairs(0, &[], 1.0), Vec::<[usize; 2]>::new());
    }
}
