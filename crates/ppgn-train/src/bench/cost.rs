//! What one component of a network costs on one graph of n nodes: a block on k-tuples, a linear equivariant layer.

use super::usage::{peak_rss_mb, rss_mb};
use super::{at_most_a_million, median};
use crate::error::{Error, Result};
use crate::memory::admit;
use crate::session::Session;
use ppgn_graph::random::Stream;
use ppgn_nn::equivariant::EquivariantConfig;
use ppgn_nn::single::SingleBlock;
use ppgn_nn::{Matrix, Precision, Values};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Instant;

/// What is timed, by its name: `block-2` is the paper's block, `layer-3` the layer from 3-tensors to 3-tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Subject {
    /// The block on k-tuples: the matrix product for k = 2, the generalised product of Section 6 beyond.
    Block(usize),
    /// The linear equivariant layer from k-tensors to k-tensors, with all its operations.
    Layer(usize),
}

impl Subject {
    /// Those whose complexity the paper and its sources state.
    pub const ALL: [Subject; 4] =
        [Subject::Block(2), Subject::Block(3), Subject::Layer(2), Subject::Layer(3)];

    /// k.
    pub fn order(self) -> usize {
        let (Subject::Block(order) | Subject::Layer(order)) = self;
        order
    }

    /// The exponents of n in time and space according to theory: k + 1 and k for a block, k and k for a layer.
    pub fn exponents(self) -> [usize; 2] {
        match self {
            Subject::Block(k) => [k + 1, k],
            Subject::Layer(k) => [k, k],
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Block(k) => write!(f, "block-{k}"),
            Subject::Layer(k) => write!(f, "layer-{k}"),
        }
    }
}

impl FromStr for Subject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('-').and_then(|(kind, order)| Some((kind, order.parse().ok()?)));
        match parts {
            Some(("block", k @ 2..=10)) => Ok(Subject::Block(k)),
            Some(("layer", k @ 1..=4)) => Ok(Subject::Layer(k)),
            _ => Err(Error::settings(format!(
                "`{text}` is none of block-2 to block-10 and layer-1 to layer-4"
            ))),
        }
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> String {
        subject.to_string()
    }
}

impl TryFrom<String> for Subject {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// The result of one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostFigures {
    /// What was timed.
    pub subject: Subject,
    /// Nodes of the graph, n.
    pub nodes: usize,
    /// Channels of input and output.
    pub features: usize,
    /// Number of threads.
    pub threads: usize,
    /// Milliseconds per forward pass, the median.
    pub forward_ms: f64,
    /// Peak memory of the passes and their input, in MiB. Right for the first measurement of a process only: later ones
    /// reuse its memory.
    pub space_mb: Option<f64>,
}

/// Times forward passes on one graph of random numbers, f32.
///
/// # Complexity
/// n^(k+1) for a block and n^k for a layer; memory n^k.
///
/// ```
/// use ppgn_train::{Session, bench::{Subject, cost}};
/// let figures = cost(&Session::default(), Subject::Block(2), 12, 8, 3)?;
/// assert!(figures.forward_ms > 0.0);
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn cost(
    session: &Session,
    subject: Subject,
    nodes: usize,
    features: usize,
    repeats: usize,
) -> Result<CostFigures> {
    at_most_a_million("repeats", repeats)?;
    // The input, the factors or transposes, their product, the result.
    let numbers = (nodes as f64).powi(subject.order() as i32) * features as f64;
    admit(session, (subject.order() as f64 + 3.0) * 4.0 * numbers, 1, nodes, subject.order())?;
    session.install(|| measure(session, subject, nodes, features, repeats))
}

fn measure(
    session: &Session,
    subject: Subject,
    nodes: usize,
    features: usize,
    repeats: usize,
) -> Result<CostFigures> {
    if nodes == 0 || features == 0 || repeats == 0 {
        return Err(Error::settings("a pass takes at least one node, one channel and one repeat"));
    }
    let numbers =
        u32::try_from(subject.order()).ok().and_then(|k| nodes.checked_pow(k)?.checked_mul(features));
    if numbers.is_none_or(|numbers| numbers > 1 << 31) {
        return Err(Error::settings(format!(
            "{nodes}^{} tuples of {features} channels are more than fit into memory",
            subject.order()
        )));
    }
    // Threads, code and weights exist for any n and are not part of the cost.
    passes(session, subject, 2, features, 1)?;
    let before = rss_mb();
    let times = passes(session, subject, nodes, features, repeats)?;
    let space_mb = peak_rss_mb().zip(before).map(|(peak, before)| (peak - before).max(0.0));
    let threads = rayon::current_num_threads();
    Ok(CostFigures { subject, nodes, features, threads, forward_ms: median(times) * 1e3, space_mb })
}

/// The seconds of each pass over one graph of random numbers.
fn passes(session: &Session, subject: Subject, n: usize, width: usize, repeats: usize) -> Result<Vec<f64>> {
    let numbers = n.pow(subject.order() as u32) * width;
    let mut random = Stream::new(0, "cost", &[]);
    let x: Vec<f32> = (0..numbers).map(|_| random.unit() as f32).collect();
    match subject {
        Subject::Block(k) => block(session, k, n, width, &x, repeats),
        Subject::Layer(k) => layer(session, k, n, width, x, repeats),
    }
}

/// A block with k MLPs of two layers, all of one width.
fn block(session: &Session, k: usize, n: usize, width: usize, x: &[f32], repeats: usize) -> Result<Vec<f64>> {
    let (block, workspace) = (SingleBlock::new(k, width), session.workspace());
    timed(session, repeats, || block.forward(&workspace, n, x))
}

/// A layer with all Bell(2k) operations.
fn layer(
    session: &Session,
    k: usize,
    n: usize,
    width: usize,
    x: Vec<f32>,
    repeats: usize,
) -> Result<Vec<f64>> {
    let rows = x.len() / width;
    let layer = EquivariantConfig { normalise: true, ..EquivariantConfig::new(k, k, width, width) };
    let layer = layer.init(0, Precision::F32)?;
    let x = Matrix::new(rows, width, Values::F32(x))?;
    // Errors surface here, before the clock starts.
    layer.forward(&x, n)?;
    timed(session, repeats, || layer.forward(&x, n))
}

/// Seconds of each repeat, after one warm-up pass.
fn timed<R>(session: &Session, repeats: usize, mut pass: impl FnMut() -> R) -> Result<Vec<f64>> {
    let seconds = |_| {
        let start = Instant::now();
        std::hint::black_box(pass());
        session.check().map(|()| start.elapsed().as_secs_f64())
    };
    (0..=repeats).map(seconds).skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for subject in Subject::ALL {
            assert_eq!(subject.to_string().parse::<Subject>().unwrap(), subject);
        }
        for wrong in ["block", "block-1", "layer-5", "block-11", "thing-2", "block-x"] {
            assert!(wrong.parse::<Subject>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_subject_runs_and_too_much_is_refused() {
        let session = Session::default();
        for subject in Subject::ALL.into_iter().chain([Subject::Block(4), Subject::Layer(1)]) {
            assert!(cost(&session, subject, 3, 2, 1).unwrap().forward_ms > 0.0);
        }
        assert!(cost(&session, Subject::Block(3), 1 << 20, 8, 1).is_err());
        assert!(cost(&session, Subject::Block(10), 1 << 40, 8, 1).is_err());
        assert!(cost(&session, Subject::Layer(2), 0, 8, 1).is_err());
    }
}
