//! What the last block's pooling picked: which pairs attain the maxima, and how much each adds to an output.
//!
//! Pooling takes, for every channel, the maximum over the diagonal and the maximum over the other pairs. With the gradient g of
//! an output at the pooled features p, the pair that attains the maximum of channel c has the contribution `g[c] p[c]`; pairs
//! that tie share it. For suffix ii, which is linear, these contributions, those of the earlier blocks and the biases add up to
//! the output; for suffix i they are its gradient times its input.
//!
//! The rows of the last block come from the network itself: the same blocks with an identity after them, which gives every pair
//! its own features.

use crate::answer::Source;
use crate::drawn::{MOST_NODES, drawing, legend};
use crate::error::{Answer, Failure};
use crate::mistakes::{Opened, open};
use crate::query::Query;
use crate::run::goal;
use ppgn_graph::Graph;
use ppgn_kernels::{activate, activate_backward};
use ppgn_nn::{Batch, Level, Ppgn, PpgnConfig, SuffixKind, Values};
use ppgn_train::{Prediction, Predictor};
use ppgn_wl::Interrupt;
use serde_json::{Value, json};

/// Pairs in the answer, by the size of their contribution.
const SHOWN: usize = 200;
/// Pairs times channels of the last block, at most.
const MOST: usize = 40_000_000;

/// `network?run=NAME&graph=7&output=0`.
pub(crate) fn answer(source: &Source, query: &Query, interrupt: &Interrupt) -> Answer {
    let path = source.place().folder(query.need("run")?)?;
    let Opened { predictor, dataset, data } = open(source, &path, interrupt)?;
    let index = query.number("graph", 0)?;
    if index >= dataset.len() {
        let n = dataset.len();
        return Err(Failure::missing(format!("there are {n} graphs, numbered from 0")));
    }
    let one = dataset.subset(&[index as u32])?;
    let one = one.aligned(&predictor.settings().schema)?;
    let graph = one.graph(0);
    let prediction = predictor.predict(&one)?.remove(0);
    let outputs = predictor.network().config().outputs;
    let chosen = match (&prediction, query.get("output")) {
        (_, Some(_)) => query.number("output", 0)?,
        // The class that was predicted.
        (Prediction::Class { probabilities, .. }, None) => {
            (0..outputs).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0)
        }
        (_, None) => 0,
    };
    if chosen >= outputs {
        return Err(Failure::wrong(format!("the network has {outputs} outputs, numbered from 0")));
    }
    let found = contributions(&predictor, graph, chosen)?;
    let settings = predictor.settings();
    let pairs: Vec<Value> = found.pairs.iter().take(SHOWN).map(Pair::to_json).collect();
    Ok(json!({
        "graph": index,
        "graphs": dataset.len(),
        "data": data,
        "id": dataset.id(index),
        "class": dataset.class(index),
        "goal": goal(settings),
        "legend": legend(dataset.schema()),
        "drawing": drawing(graph, dataset.schema()),
        "outputs": outputs,
        "output": chosen,
        "score": found.score,
        "of_last_block": found.total,
        "linear": found.linear,
        "channels": found.channels,
        "prediction": match prediction {
            Prediction::Class { class, probabilities } => json!({ "class": class, "probabilities": probabilities }),
            Prediction::Values(values) | Prediction::Labels(values) => json!({ "values": values }),
        },
        "pairs": pairs,
        "pairs_in_all": found.pairs.len(),
    }))
}

/// A pair that attains maxima.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    i: usize,
    j: usize,
    /// The sum of its shares of `g[c] p[c]`.
    contribution: f64,
    /// The channels whose maximum it attains, ties by their share.
    channels: f64,
}

impl Pair {
    fn to_json(&self) -> Value {
        json!({ "i": self.i, "j": self.j, "contribution": self.contribution, "channels": self.channels })
    }
}

pub(crate) struct Contributions {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) score: f64,
    pub(crate) total: f64,
    linear: bool,
    channels: usize,
}

/// The pairs of a graph by the size of what they add to an output through the last block's pooling.
pub(crate) fn contributions(predictor: &Predictor, graph: &Graph, output: usize) -> Answer<Contributions> {
    let network = predictor.network();
    let config = network.config();
    if config.order != 2 || config.level != Level::Graph {
        return Err(Failure::wrong("only networks on pairs with outputs per graph have such pairs"));
    }
    if config.pooling != ppgn_nn::Pooling::Max {
        return Err(Failure::wrong(
            "this network does not pool by maxima alone: in a sum or a mean every pair counts, and none wins",
        ));
    }
    let n = graph.nodes();
    let width = config.blocks.last().map_or(config.inputs, |block| block.width);
    if n > MOST_NODES || n * n * width > MOST {
        return Err(Failure::too_much(format!("a graph of {n} nodes is too large to be shown")));
    }
    let batch = |config: &PpgnConfig| Batch::of(config, predictor.encoder(), &[graph], network.precision());
    let score = network.forward(&batch(config)?)?.row(0)[output];
    let probe = probe(network, width)?;
    let rows = probe.forward(&batch(probe.config())?)?.to_f64();
    let (pooled, winners) = pool(&rows, n, width);
    let (_, slope) = through_suffix(network, &pooled, output)?;
    let mut all = vec![(0.0, 0.0); n * n];
    for (channel, pairs) in winners.iter().enumerate() {
        for &pair in pairs {
            let share = 1.0 / pairs.len() as f64;
            all[pair].0 += slope[channel] * pooled[channel] * share;
            all[pair].1 += share;
        }
    }
    let mut pairs: Vec<Pair> = all
        .into_iter()
        .enumerate()
        .filter(|(_, (_, channels))| *channels > 0.0)
        .map(|(pair, (contribution, channels))| Pair { i: pair / n, j: pair % n, contribution, channels })
        .collect();
    pairs.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
    let total = pooled.iter().zip(&slope).map(|(p, g)| p * g).sum();
    Ok(Contributions { pairs, score, total, linear: config.suffix == SuffixKind::Ii, channels: width })
}

/// The same blocks with an identity on every pair after them.
fn probe(network: &Ppgn, width: usize) -> Answer<Ppgn> {
    let config =
        PpgnConfig { level: Level::Pair, suffix: SuffixKind::I, outputs: width, ..network.config().clone() };
    let precision = network.precision();
    let known = network.parameters()?;
    let parameters = config.init(0, precision)?.parameters()?.into_iter().map(|(name, values)| {
        if name == "suffix" {
            // A weight of width x width, then the biases.
            let identity = |k: usize| f64::from(u8::from(k < width * width && k.is_multiple_of(width + 1)));
            return Values::from_f64(precision, &(0..values.len()).map(identity).collect::<Vec<_>>());
        }
        known.iter().find(|(other, _)| *other == name).map_or(values, |(_, values)| values.clone())
    });
    Ok(Ppgn::new(config, parameters.collect())?)
}

/// The maxima of the diagonal, then of the other pairs, by channel, and the pairs that attain each. An empty set of pairs has
/// the maximum 0.
fn pool(rows: &[f64], n: usize, width: usize) -> (Vec<f64>, Vec<Vec<usize>>) {
    let mut pooled = vec![f64::NEG_INFINITY; 2 * width];
    let mut winners = vec![Vec::new(); 2 * width];
    for pair in 0..n * n {
        let group = usize::from(pair / n != pair % n) * width;
        for (c, &x) in rows[pair * width..][..width].iter().enumerate() {
            let (best, who) = (&mut pooled[group + c], &mut winners[group + c]);
            if x > *best {
                *best = x;
                who.clear();
            }
            if x == *best {
                who.push(pair);
            }
        }
    }
    pooled.iter_mut().for_each(|best| *best = if best.is_finite() { *best } else { 0.0 });
    (pooled, winners)
}

/// What the suffix makes of the pooled features of the last block: an output (for suffix ii the last block's part of it), and its
/// gradient at them.
fn through_suffix(network: &Ppgn, pooled: &[f64], output: usize) -> Answer<(f64, Vec<f64>)> {
    let config = network.config();
    let arrays: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
    let tensors = network.layout().named("", &arrays)?;
    let array = |name: String| -> Answer<Vec<f64>> {
        let found = tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.values.to_f64());
        found.ok_or_else(|| Failure::unfit(format!("the network has no {name}")))
    };
    let layers = match config.suffix {
        SuffixKind::Ii => config.blocks.len() - 1..config.blocks.len(),
        SuffixKind::I => 0..config.suffix_hidden.len() + 1,
    };
    // Weights are rows of outputs by columns of inputs; the activation is between layers.
    let mut activity = pooled.to_vec();
    let mut passed: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let last = layers.end - 1;
    for layer in layers {
        let weight = array(format!("fc_layers.{layer}.fc.weight"))?;
        let bias = array(format!("fc_layers.{layer}.fc.bias"))?;
        let inputs = activity.len();
        if weight.len() != bias.len() * inputs {
            return Err(Failure::unfit("the suffix has another shape than its configuration says"));
        }
        let row =
            |o: usize| weight[o * inputs..][..inputs].iter().zip(&activity).map(|(w, x)| w * x).sum::<f64>();
        let mut next: Vec<f64> = (0..bias.len()).map(|o| bias[o] + row(o)).collect();
        let mut derivative = vec![1.0; bias.len()];
        if layer != last {
            activate_backward(config.activation.into(), &next, &mut derivative);
            activate(config.activation.into(), &mut next);
        }
        activity = next;
        passed.push((weight, derivative));
    }
    let mut slope = vec![0.0; activity.len()];
    slope[output] = 1.0;
    for (weight, derivative) in passed.iter().rev() {
        let inputs = weight.len() / derivative.len();
        let mut before = vec![0.0; inputs];
        for (o, d) in derivative.iter().enumerate() {
            for (i, w) in weight[o * inputs..][..inputs].iter().enumerate() {
                before[i] += slope[o] * d * w;
            }
        }
        slope = before;
    }
    Ok((activity[output], slope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::locate::Locator;
    use ppgn_nn::BlockConfig;
    use ppgn_train::{Division, Overrides, Request, Run, Session, Settings, train};

    /// What the pairs of the last block add, what the other blocks do and the biases are the output; and winners attain the
    /// maxima that the network itself pools.
    #[test]
    fn contributions_add_up_to_the_output() {
        for suffix in [SuffixKind::Ii, SuffixKind::I] {
            let data = Locator::default().load("csl:n=11,skips=2+3,copies=6").unwrap();
            let overrides = Overrides {
                epochs: Some(2),
                blocks: Some(vec![BlockConfig::new(6); 2]),
                suffix: Some(suffix),
                ..Overrides::default()
            };
            let division = Division::Shares([0.5, 0.25, 0.25]);
            let settings =
                Settings::resolve(&Request { overrides, division, ..Request::new("csl", &data) }).unwrap();
            let folder =
                std::env::temp_dir().join(format!("ppgn-view-network-{}-{suffix:?}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            let session = Session::default();
            train(&session, &Run::create(&folder, settings).unwrap(), &data, &mut |_| true).unwrap();
            let predictor = Predictor::open(&session, &folder).unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            let graph = data.graph(4);
            let found = contributions(&predictor, graph, 1).unwrap();
            let sum: f64 = found.pairs.iter().map(|pair| pair.contribution).sum();
            assert!((sum - found.total).abs() < 1e-9 * found.total.abs().max(1.0), "{sum} {}", found.total);
            let channels: f64 = found.pairs.iter().map(|pair| pair.channels).sum();
            assert!((channels - 12.0).abs() < 1e-9, "{channels}");
            // The pooled features of the probe's rows are those that the network embeds, for the last block.
            let network = predictor.network();
            let batch =
                Batch::of(network.config(), predictor.encoder(), &[graph], network.precision()).unwrap();
            let embedded = network.embed(&batch).unwrap().row(0);
            let rows = probe(network, 6).unwrap();
            let rows = rows
                .forward(
                    &Batch::of(rows.config(), predictor.encoder(), &[graph], network.precision()).unwrap(),
                )
                .unwrap()
                .to_f64();
            let (pooled, _) = pool(&rows, graph.nodes(), 6);
            for (a, b) in pooled.iter().zip(&embedded[embedded.len() - 12..]) {
                assert!((a - b).abs() < 1e-4 * b.abs().max(1.0), "{a} {b}");
            }
            // The gradient is that of what the suffix computes.
            let (value, slope) = through_suffix(network, &pooled, 1).unwrap();
            for c in 0..pooled.len() {
                let moved = |by: f64| {
                    let mut other = pooled.clone();
                    other[c] += by;
                    through_suffix(network, &other, 1).unwrap().0
                };
                let measured = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (measured - slope[c]).abs() < 1e-5 * slope[c].abs().max(1.0),
                    "{measured} {}",
                    slope[c]
                );
            }
            if suffix == SuffixKind::I {
                assert!(
                    (value - found.score).abs() < 1e-3 * found.score.abs().max(1.0),
                    "{value} {}",
                    found.score
                );
            }
            if suffix == SuffixKind::Ii {
                // Linear: the rest is the first block's map of its features, and the biases.
                let arrays: Vec<Values> = network.parameters().unwrap().into_iter().map(|(_, v)| v).collect();
                let tensors = network.layout().named("", &arrays).unwrap();
                let get = |name: &str| tensors.iter().find(|t| t.name == name).unwrap().values.to_f64();
                let first: f64 = get("fc_layers.0.fc.weight")[12..24]
                    .iter()
                    .zip(&embedded[..12])
                    .map(|(w, x)| w * x)
                    .sum();
                let whole =
                    found.total + first + get("fc_layers.0.fc.bias")[1] + get("fc_layers.1.fc.bias")[1];
                assert!(
                    (whole - found.score).abs() < 1e-3 * found.score.abs().max(1.0),
                    "{whole} {}",
                    found.score
                );
            }
        }
    }
}
