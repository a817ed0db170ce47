//! What an untrained network makes of pairs of graphs, block by block: the difference between the two graphs of a pair (the
//! signal) beside the difference between relabelled copies of one graph (the noise of rounding).
//!
//!     cargo run --release -p ppgn-train --example signal -- brec/extension.g6 expressive "activation = 'relu'"
//!
//! The arguments are data (graphs 0 and 1 are a pair, 2 and 3, and so on), a preset, and settings that differ from it as
//! lines of TOML. A pair counts if its largest difference in any feature is more than [`TIMES`] the largest one between
//! copies. The dense space is used, in which relabelled copies differ by rounding.

use ppgn_graph::Graph;
use ppgn_graph::locate::Locator;
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, PpgnConfig};
use ppgn_train::{Overrides, Preset};

/// A pair is distinguished by more than this many times the noise.
const TIMES: f64 = 10.0;

/// Relabelled copies of each graph.
const COPIES: u64 = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, preset, settings @ ..] = &arguments[..] else {
        return Err("give data, a preset, and settings as lines of TOML".into());
    };
    let dataset = Locator::default().load(data)?;
    let overrides = Overrides::from_toml(&settings.join("\n"), "the command line")?;
    let preset = overrides.apply(Preset::fitted(preset, dataset.name(), dataset.schema())?);
    let encoder = preset.encoding.encoder(dataset.schema())?;
    let config = PpgnConfig { inputs: encoder.channels().len(), outputs: 1, ..preset.network };
    let network = config.init(preset.training.seed, preset.training.precision)?;
    let groups = config.embedding() / config.widths()[1..].iter().sum::<usize>();
    let widths: Vec<usize> = config.widths()[1..].iter().map(|width| width * groups).collect();
    // By block: the largest difference of every pair, and of its copies.
    let (mut signals, mut noises) = (vec![Vec::new(); widths.len()], vec![Vec::new(); widths.len()]);
    let mut missed = Vec::new();
    for (pair, graphs) in dataset.graphs().chunks_exact(2).enumerate() {
        let mut all: Vec<Graph> = graphs.to_vec();
        for (g, graph) in graphs.iter().enumerate() {
            for copy in 0..COPIES {
                let mut random = Stream::new(0, "copies", &[pair as u64, g as u64, copy]);
                all.push(graph.permute(&random.permutation(graph.nodes()))?);
            }
        }
        let all: Vec<&Graph> = all.iter().collect();
        let batch = Batch::of(&config, &encoder, &all, preset.training.precision)?;
        let features = network.embed(&batch)?.to_f64();
        let length = features.len() / all.len();
        let row = |graph: usize| &features[graph * length..][..length];
        let apart = |a: usize, b: usize, from: usize, width: usize| {
            let both = row(a)[from..from + width].iter().zip(&row(b)[from..from + width]);
            both.fold(0.0f64, |most, (x, y)| most.max((x - y).abs()))
        };
        let mut from = 0;
        let mut ratio = 0.0f64;
        for (block, &width) in widths.iter().enumerate() {
            let copies = (0..2 * COPIES as usize).map(|c| apart(c / COPIES as usize, 2 + c, from, width));
            let (signal, noise) = (apart(0, 1, from, width), copies.fold(0.0, f64::max));
            ratio = ratio.max(signal / noise.max(f64::MIN_POSITIVE));
            signals[block].push(signal);
            noises[block].push(noise);
            from += width;
        }
        if ratio <= TIMES {
            missed.push(pair);
        }
    }
    let pairs = dataset.len() / 2;
    println!("{} of {pairs} pairs distinguished; missed: {missed:?}", pairs - missed.len());
    println!("block   least signal   median signal   median noise   largest noise");
    for (block, (signal, noise)) in signals.iter_mut().zip(&mut noises).enumerate() {
        signal.sort_by(f64::total_cmp);
        noise.sort_by(f64::total_cmp);
        let last = noise.len() - 1;
        println!(
            "{:>5}   {:>12.1e}   {:>13.1e}   {:>12.1e}   {:>13.1e}",
            block + 1,
            signal[0],
            signal[last / 2],
            noise[last / 2],
            noise[last]
        );
    }
    Ok(())
}
