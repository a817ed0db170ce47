//! Times a training step on random inputs: three blocks of one width, suffix ii, two classes, summed cross entropy, Adam.

use super::gemm::gemm_gflops;
use super::usage::{minor_faults, peak_rss_mb};
use super::{at_most_a_million, median};
use crate::error::{Error, Result};
use crate::memory::{Footprint, Pass, admit};
use crate::session::Session;
use ppgn_graph::random::Stream;
use ppgn_nn::device::{self, Input};
use ppgn_nn::{Adam, Batch, BlockConfig, Colours, Cost, Loss, PpgnConfig, Precision, SpaceChoice, Values};
use serde::Serialize;
use std::time::Instant;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepWork {
    /// Graphs in the batch.
    pub batch: usize,
    /// Nodes of each.
    pub nodes: usize,
    /// Input channels.
    pub inputs: usize,
    /// The width of the three blocks.
    pub features: usize,
    /// Layers of m1 and m2.
    pub depth: usize,
    /// The order k of the network: 2 for pairs.
    pub order: usize,
    /// The space to compute on.
    pub space: SpaceChoice,
    /// Measured steps, after two warm-up steps; the median counts.
    pub steps: usize,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepFigures {
    /// What was timed; `space` is the one that was used.
    #[serde(flatten)]
    pub work: StepWork,
    /// The device that computed; `null` for the CPU engine.
    pub device: Option<String>,
    /// Number of threads.
    pub threads: usize,
    /// Rows per level, from the input to the last block's output.
    pub rows: Vec<usize>,
    /// Milliseconds per step, the median.
    pub step_ms: f64,
    /// Billions of operations per second, by [`step_flops`]: the count of the dense space, whichever space was used.
    pub gflops: f64,
    /// What a matrix product with the same number of rows reaches, right before or right after the steps: the better one.
    pub gemm_gflops: f64,
    /// Peak resident memory during the steps, in MiB.
    pub peak_rss_mb: Option<f64>,
    /// Minor page faults per step.
    pub minor_faults: Option<f64>,
}

/// Floating-point operations of a dense step, forward and backward.
///
/// With `rows` pairs of graphs with n nodes and blocks of widths `a -> b`, multiply-adds of the forward pass times six:
/// `6 rows sum (2 (a b + (depth - 1) b^2) + (a + b) b + b n)`. A network of order k has k MLPs per block. Each term of its
/// product takes k operations, in the forward pass and in the gradient of each factor: `k (k + 1) b n` per row and
/// block, which is `6 b n` for pairs.
pub fn step_flops(work: &StepWork) -> f64 {
    let (n, b, depth, k) = (work.nodes as f64, work.features as f64, work.depth as f64, work.order as f64);
    let block = |a: f64| 6.0 * (k * (a * b + (depth - 1.0) * b * b) + (a + b) * b) + k * (k + 1.0) * b * n;
    let rows = work.batch as f64 * n.powi(work.order as i32);
    rows * (block(work.channels() as f64) + 2.0 * block(b))
}

impl StepWork {
    /// Channels of the input's rows: beyond pairs, those of isomorphism types.
    fn channels(&self) -> usize {
        match self.order {
            2 => self.inputs,
            k => k.saturating_mul(k).saturating_mul(self.inputs.saturating_add(1)),
        }
    }

    /// The numbers of the widest activation, if they can be counted.
    fn numbers(&self) -> Option<usize> {
        let tuples = u32::try_from(self.order).ok().and_then(|order| self.nodes.checked_pow(order));
        tuples?.checked_mul(self.batch)?.checked_mul(self.channels().max(self.features))
    }
}

/// Times training steps.
///
/// ```
/// use ppgn_nn::SpaceChoice;
/// use ppgn_train::{Session, bench::{StepWork, step}};
/// let work = StepWork { batch: 2, nodes: 4, inputs: 3, features: 8, depth: 2, order: 2,
///     space: SpaceChoice::Dense, steps: 3 };
/// let figures = step(&Session::default(), &work)?;
/// assert!(figures.step_ms > 0.0 && figures.rows == [32; 4]);
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn step(session: &Session, work: &StepWork) -> Result<StepFigures> {
    session.install(|| measure(session, work))
}

fn measure(session: &Session, work: &StepWork) -> Result<StepFigures> {
    let StepWork { batch: graphs, nodes: n, inputs, features, depth, order, space, steps } = *work;
    if graphs == 0 || n == 0 || steps == 0 {
        return Err(Error::settings("a step takes at least one graph with one node, and one step"));
    }
    at_most_a_million("steps", steps)?;
    let blocks = vec![BlockConfig::new(features); 3];
    let config = PpgnConfig { blocks, depth, order, ..PpgnConfig::new(inputs, 2) };
    config.validate()?;
    if order < 2 {
        return Err(Error::settings(format!(
            "a step is timed on pairs (order 2) or longer tuples, not at order {order}"
        )));
    }
    if order > 2 && space != SpaceChoice::Dense {
        return Err(Error::settings("a step of an order above 2 is timed in the dense space only"));
    }
    if work.numbers().is_none_or(|numbers| numbers > 1 << 31) {
        return Err(Error::settings(format!("{graphs} graphs of {n} nodes are more than fit into memory")));
    }
    let footprint = Footprint::new(session, &config, Precision::F32);
    let need = footprint.bytes(Pass::Training, &footprint.dense(std::iter::repeat_n(n, graphs)));
    admit(session, need as f64, graphs, n, order)?;
    let count = graphs * n.pow(order as u32);
    let before = gemm_gflops(count, steps.min(GEMMS));
    let mut network = config.init(0, Precision::F32)?.with_workspace(session.workspace());
    let mut random = Stream::new(0, "step", &[]);
    let rows: Vec<f32> = (0..count * work.channels()).map(|_| random.unit() as f32).collect();
    let (batch, rows, space) = on_space(&config, rows, work, space)?;
    let classes: Vec<usize> = (0..graphs).map(|g| g % 2).collect();
    let parameters: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
    let mut adam = Adam::new(&parameters);
    drop(parameters);

    let mut remote = session.device().map(|device| device.load(&network)).transpose()?;
    if let Some(remote) = &mut remote {
        remote.begin(&adam, None)?;
    }
    let terms = Loss::cross_entropy(&classes).terms(graphs, 2)?;
    let numbers: Vec<u32> = (0..graphs as u32).collect();

    let mut times = Vec::with_capacity(steps);
    let mut memory = Vec::new();
    let mut faults = minor_faults();
    for number in 0..steps + WARM {
        if number == WARM {
            faults = minor_faults();
        }
        let start = Instant::now();
        if let Some(remote) = &mut remote {
            // The batch is kept there, as the CPU engine has it at hand.
            let input = Input { graphs: &numbers, batch: Some(&batch), again: true };
            remote.step(&device::Training {
                pass: device::Pass { input, terms: &terms, dropout: None },
                rate: 1e-4,
                clip: 0.0,
            })?;
            times.push(start.elapsed().as_secs_f64());
            continue;
        }
        let step = network.backward_in(memory, &batch, |scores| Loss::cross_entropy(&classes).of(scores))?;
        network.update(|parameters| adam.step(parameters, &step.gradients, 1e-4))?;
        memory = step.gradients;
        times.push(start.elapsed().as_secs_f64());
    }
    let minor_faults = minor_faults().zip(faults).map(|(end, start)| (end - start) as f64 / steps as f64);
    let peak_rss_mb = peak_rss_mb();
    let seconds = median(times.split_off(WARM));
    let after = gemm_gflops(count, steps.min(GEMMS));
    let work = StepWork { space, ..*work };
    Ok(StepFigures {
        work,
        device: session.device().map(|device| device.name()),
        threads: rayon::current_num_threads(),
        rows,
        step_ms: seconds * 1e3,
        gflops: step_flops(&work) / seconds / 1e9,
        gemm_gflops: before.max(after),
        peak_rss_mb,
        minor_faults,
    })
}

/// Warm-up steps.
const WARM: usize = 2;

/// The most matrix products that are timed before the steps, and after them.
const GEMMS: usize = 7;

/// The batch in a space, its rows per level, and the space that was taken.
fn on_space(
    config: &PpgnConfig,
    rows: Vec<f32>,
    work: &StepWork,
    space: SpaceChoice,
) -> Result<(Batch, Vec<usize>, SpaceChoice)> {
    let (n, graphs) = (work.nodes, work.batch);
    let (each, channels) = (n.pow(work.order as u32), work.channels());
    let of_graph = |g: usize| &rows[g * each * channels..][..each * channels];
    let depth = config.blocks.len();
    if space != SpaceChoice::Dense {
        let nodes = vec![n; graphs];
        let colours =
            Colours::new(&nodes, work.inputs, depth, &Default::default(), |g| Ok(of_graph(g).to_vec()))?;
        if space == SpaceChoice::Quotient || Cost::new(config, &colours).share() < 1.0 {
            let batch = Batch::quotient(&colours, &(0..graphs).collect::<Vec<_>>())?;
            let rows = (0..=depth).map(|level| colours.count(level)).collect();
            return Ok((batch, rows, SpaceChoice::Quotient));
        }
    }
    let of_graphs: Vec<(usize, &[f32])> = (0..graphs).map(|g| (n, of_graph(g))).collect();
    let batch = Batch::dense_tuples(work.order, channels, &of_graphs)?;
    Ok((batch, vec![graphs * each; depth + 1], SpaceChoice::Dense))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_as_in_the_peer() {
        // step_flops(64 * 18 * 18, 18, 19, (400,) * 3, 2) of ppgn_torch.py.
        let space = SpaceChoice::Dense;
        let order = 2;
        let work =
            StepWork { batch: 64, nodes: 18, inputs: 19, features: 400, depth: 2, order, space, steps: 1 };
        let macs = 2.0 * (19.0 * 400.0 + 160_000.0) + 419.0 * 400.0 + 7200.0;
        let rest = 2.0 * (2.0 * 320_000.0 + 320_000.0 + 7200.0);
        assert_eq!(step_flops(&work), 6.0 * 20736.0 * (macs + rest));
        // Order 3: 9 * (1 + 1) input channels, three MLPs, and 3 operations in each of 4 products.
        let small =
            StepWork { batch: 1, nodes: 2, inputs: 1, features: 5, depth: 1, order: 3, space, steps: 1 };
        let first = 6.0 * (3.0 * 90.0 + 23.0 * 5.0) + 12.0 * 10.0;
        assert_eq!(step_flops(&small), 8.0 * (first + 2.0 * (6.0 * (75.0 + 50.0) + 120.0)));
    }

    #[test]
    fn triples_are_timed_in_the_dense_space() {
        let space = SpaceChoice::Dense;
        let work =
            StepWork { batch: 2, nodes: 3, inputs: 1, features: 4, depth: 2, order: 3, space, steps: 1 };
        let figures = step(&Session::default(), &work).unwrap();
        assert_eq!(figures.rows, [54; 4]);
        let quotient = StepWork { space: SpaceChoice::Quotient, ..work };
        assert!(step(&Session::default(), &quotient).unwrap_err().to_string().contains("dense space only"));
    }
}
