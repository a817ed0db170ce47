//! One pair, one seed: the protocols `rpc` and `random` as functions from a pair to figures.

use super::copies::copies;
use super::loss::normalised;
use super::statistic::{Hotelling, hotelling};
use super::subject::{Instance, Subject};
use crate::error::{Error, Result};
use crate::session::Session;
use crate::settings::{Schedule, Training};
use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Relabelled copies of either graph.
pub const COPIES: usize = 32;

/// Graphs of a batch, the copies of the two graphs alternating.
pub const BATCH: usize = 16;

/// The pair counts if T2 is above this: 31 F(0.95; 16, 16). Hotelling's factor, 32, is left out, as in BREC's code.
pub const THRESHOLD: f64 = 72.34;

/// Training ends after this many epochs, or once an epoch's loss is below this.
pub const EPOCHS: usize = 20;
/// See [`EPOCHS`].
pub const LOSS: f64 = 0.2;

/// The learning rate, what a plateau multiplies it by, and the epochs that a plateau is waited for.
pub const RATE: f64 = 1e-4;
/// See [`RATE`].
pub const FACTOR: f64 = 0.1;
/// See [`RATE`].
pub const PATIENCE: usize = 10;

/// `random`: copies of either graph, and how many times their largest difference the outputs of a pair must differ by.
pub const NOISE_COPIES: usize = 8;
/// See [`NOISE_COPIES`].
pub const MULTIPLE: f64 = 10.0;

/// A pair in a suite, which its copies and weights are drawn for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The name of its category.
    pub category: &'a str,
    /// Its number within the category.
    pub pair: usize,
    /// The seed.
    pub seed: u64,
}

impl Place<'_> {
    fn stream(&self, purpose: &str, index: u64) -> Stream {
        Stream::new(self.seed, &format!("express/{purpose}/{}", self.category), &[self.pair as u64, index])
    }

    /// The seed of the weights.
    fn weights(&self) -> u64 {
        self.stream("weights", 0).bits()
    }
}

/// What was found for one pair with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The seed.
    pub seed: u64,
    /// The protocol `rpc`, if it was run.
    pub rpc: Option<Rpc>,
    /// The protocol `random`, variant by variant.
    pub random: Vec<Random>,
    /// How long it took.
    pub seconds: f64,
}

/// The figures of `rpc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rpc {
    /// T2 of the pair.
    pub t2: f64,
    /// T2 of copies of one of the two graphs.
    pub reliability: f64,
    /// Whether T2 is above the threshold and not close to that of one graph.
    pub counted: bool,
    /// Whether T2 of one graph is above the threshold: the pair fails in reliability.
    pub failed: bool,
    /// Whether a covariance was zero, and S + 1e-7 I took its place.
    pub regularised: bool,
    /// Epochs of training.
    pub epochs: usize,
    /// The loss of the last.
    pub loss: f64,
    /// Copies of either graph that differ.
    pub different: [usize; 2],
}

/// The figures of `random` for one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Random {
    /// The variant: a precision.
    pub variant: String,
    /// The largest difference of an output between the two graphs.
    pub difference: f64,
    /// The largest difference of an output between copies of one graph, and at least the rounding of the largest output.
    pub noise: f64,
    /// Whether the difference is more than [`MULTIPLE`] times the noise.
    pub counted: bool,
}

/// `random`, and `rpc` beside it where `trains`.
pub fn trial(
    session: &Session,
    subject: &dyn Subject,
    pair: [&Graph; 2],
    place: Place<'_>,
    trains: bool,
) -> Result<Trial> {
    let start = Instant::now();
    let random = subject.variants().into_iter().enumerate();
    let random = random.map(|(number, name)| random_of(session, subject, pair, place, number, name));
    let random = random.collect::<Result<Vec<_>>>()?;
    let rpc = if trains { Some(rpc(session, subject, pair, place)?) } else { None };
    Ok(Trial { seed: place.seed, rpc, random, seconds: start.elapsed().as_secs_f64() })
}

fn random_of(
    session: &Session,
    subject: &dyn Subject,
    pair: [&Graph; 2],
    place: Place<'_>,
    number: usize,
    variant: String,
) -> Result<Random> {
    let mut instance = subject.fresh(session, place.weights(), number)?;
    let mut both = Vec::new();
    for (g, graph) in pair.into_iter().enumerate() {
        session.check()?;
        let (drawn, _) = copies(graph, NOISE_COPIES, &mut place.stream("noise", g as u64));
        let outputs = instance.outputs(&drawn)?;
        both.push(Rows::new(outputs, drawn.len())?);
    }
    let difference = apart(both[0].row(0), both[1].row(0))?;
    let mut noise = 0.0f64;
    for rows in &both {
        for i in 1..rows.count {
            noise = noise.max(apart(rows.row(0), rows.row(i))?);
        }
    }
    let epsilon = if variant == "f64" { f64::EPSILON } else { f32::EPSILON.into() };
    let largest = both.iter().flat_map(|rows| &rows.values).fold(0.0, |most: f64, x| most.max(x.abs()));
    let noise = noise.max(epsilon * largest);
    Ok(Random { variant, difference, noise, counted: difference > MULTIPLE * noise })
}

/// Outputs, one row per graph.
struct Rows {
    values: Vec<f64>,
    width: usize,
    count: usize,
}

impl Rows {
    fn new(values: Vec<f64>, count: usize) -> Result<Self> {
        match count > 0 && values.len().is_multiple_of(count) {
            true => Ok(Rows { width: values.len() / count, values, count }),
            false => {
                Err(Error::settings(format!("{} numbers are not outputs of {count} graphs", values.len())))
            }
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..][..self.width]
    }
}

/// The largest difference of two rows.
fn apart(a: &[f64], b: &[f64]) -> Result<f64> {
    match a.len() == b.len() {
        true => Ok(a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)),
        false => Err(Error::settings(format!(
            "graphs have {} and {} outputs, but all must have the same number",
            a.len(),
            b.len()
        ))),
    }
}

fn rpc(session: &Session, subject: &dyn Subject, pair: [&Graph; 2], place: Place<'_>) -> Result<Rpc> {
    let mut instance = subject.fresh(session, place.weights(), 0)?;
    let (first, a) = copies(pair[0], COPIES, &mut place.stream("copies", 0));
    let (second, b) = copies(pair[1], COPIES, &mut place.stream("copies", 1));
    let alternating: Vec<Graph> = first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect();
    let (epochs, loss) = train(session, &mut *instance, &alternating)?;
    let found = statistic(session, &mut *instance, &alternating)?;

    let chosen = place.stream("reliability", 0).below(2);
    let (one, _) = copies(pair[chosen], 2 * COPIES, &mut place.stream("reliability", 1));
    let reference = statistic(session, &mut *instance, &one)?;
    let close = (found.t2 - reference.t2).abs() <= 1e-6 + 1e-5 * reference.t2.abs();
    Ok(Rpc {
        t2: found.t2,
        reliability: reference.t2,
        counted: found.t2 > THRESHOLD && !close,
        failed: reference.t2 >= THRESHOLD,
        regularised: found.regularised || reference.regularised,
        epochs,
        loss,
        different: [a, b],
    })
}

/// Trains until an epoch's loss is small enough; the epochs that took, and the last one's loss.
fn train(session: &Session, instance: &mut dyn Instance, graphs: &[Graph]) -> Result<(usize, f64)> {
    let schedule = Training {
        rate: RATE,
        decay: FACTOR,
        decay_every: PATIENCE,
        schedule: Schedule::Plateau,
        epochs: EPOCHS,
        ..Training::default()
    };
    let mut losses: Vec<f64> = Vec::new();
    while losses.len() < EPOCHS {
        let rate = schedule.rate_of(losses.len() + 1, &losses);
        let mut sum = 0.0;
        for batch in graphs.chunks(BATCH) {
            session.check()?;
            sum += instance.step(batch, rate)? * (batch.len() / 2) as f64;
        }
        losses.push(sum / (graphs.len() / 2) as f64);
        if losses.last().is_some_and(|&loss| loss < LOSS) {
            break;
        }
    }
    Ok((losses.len(), losses.last().copied().unwrap_or(0.0)))
}

/// T2 of the differences of graphs 2i and 2i+1, their outputs normalised batch by batch.
fn statistic(session: &Session, instance: &mut dyn Instance, graphs: &[Graph]) -> Result<Hotelling> {
    let (mut differences, mut width) = (Vec::new(), 0);
    for batch in graphs.chunks(BATCH) {
        session.check()?;
        let rows = Rows::new(instance.outputs(batch)?, batch.len())?;
        width = rows.width;
        for pair in normalised(width, &rows.values).chunks_exact(2 * width.max(1)) {
            let (a, b) = pair.split_at(width);
            differences.extend(a.iter().zip(b).map(|(a, b)| a - b));
        }
    }
    Ok(hotelling(width, &differences))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A subject whose outputs are numbers of edges and of triangles, with noise where it is wanted.
    struct Counter {
        triangles: bool,
    }

    impl Subject for Counter {
        fn variants(&self) -> Vec<String> {
            vec!["f64".into()]
        }

        fn fresh<'a>(&'a self, _: &Session, seed: u64, _: usize) -> Result<Box<dyn Instance + 'a>> {
            struct One(bool, Stream);
            impl Instance for One {
                fn outputs(&mut self, graphs: &[Graph]) -> Result<Vec<f64>> {
                    let mut all = Vec::new();
                    for g in graphs {
                        let closed = g.edge_list().map(|(u, v, _)| {
                            g.neighbours(u)
                                .iter()
                                .filter(|w| g.neighbours(v).binary_search(w).is_ok())
                                .count()
                        });
                        let seen = if self.0 { closed.sum::<usize>() as f64 } else { 0.0 };
                        let edges = g.edges() as f64;
                        all.extend([seen, edges - seen].map(|x| x + 1e-9 * self.1.unit()));
                    }
                    Ok(all)
                }
                fn step(&mut self, _: &[Graph], _: f64) -> Result<f64> {
                    Ok(0.0)
                }
            }
            Ok(Box::new(One(self.triangles, Stream::new(seed, "noise", &[]))))
        }

        fn depth(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn what_differs_counts_and_what_does_not_does_not() {
        let pair = ppgn_graph::generate::generate("figure1").unwrap();
        let pair = [pair.graph(0), pair.graph(1)];
        let session = Session::default();
        for seed in 0..3 {
            let place = Place { category: "figure1", pair: 0, seed };
            let sees = trial(&session, &Counter { triangles: true }, pair, place, true).unwrap();
            let rpc = sees.rpc.unwrap();
            assert!(rpc.counted && !rpc.failed && rpc.t2 > 1e6 && rpc.epochs == 1, "{rpc:?}");
            assert!(sees.random[0].counted);
            let blind = trial(&session, &Counter { triangles: false }, pair, place, true).unwrap();
            let rpc = blind.rpc.unwrap();
            assert!(!rpc.counted && !rpc.failed && rpc.t2 < THRESHOLD, "{rpc:?}");
            assert!(!blind.random[0].counted);
            let again = trial(&session, &Counter { triangles: false }, pair, place, true).unwrap();
            assert_eq!(again.rpc.unwrap(), rpc);
        }
    }
}
