//! The presets `expressive` and `expressive-3` reach their bounds untrained: graphs that 2-FWL (3-FWL) distinguishes differ
//! by far more than relabelled copies do, and graphs that it does not distinguish differ by no more.

use ppgn_graph::Graph;
use ppgn_graph::locate::Locator;
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, PpgnConfig, Precision};
use ppgn_train::Preset;
use std::io::Write;
use std::path::PathBuf;

/// For every pair, the largest difference between its graphs in any feature of any block, over that between relabelled
/// copies of each at the same block.
fn ratios(preset: &str, precision: Precision, seed: u64, graphs: &[Graph]) -> Vec<f64> {
    let schema = ppgn_graph::Schema::of(graphs).unwrap();
    let preset = Preset::new(preset, "").unwrap();
    let encoder = preset.encoding.encoder(&schema).unwrap();
    let config = PpgnConfig { inputs: encoder.channels().len(), outputs: 1, ..preset.network };
    let network = config.init(seed, precision).unwrap();
    let ratio = |(pair, graphs): (usize, &[Graph])| {
        let mut random = Stream::new(seed, "copies", &[pair as u64]);
        let mut copy = |graph: &Graph| graph.permute(&random.permutation(graph.nodes())).unwrap();
        let all: Vec<Graph> =
            graphs.iter().flat_map(|graph| [graph.clone(), copy(graph), copy(graph)]).collect();
        let all: Vec<&Graph> = all.iter().collect();
        let batch = Batch::of(&config, &encoder, &all, precision).unwrap();
        let features = network.embed(&batch).unwrap().to_f64();
        let length = features.len() / all.len();
        let width = length / config.blocks.len();
        let apart = |a: usize, b: usize, block: usize| {
            let row = |graph: usize| &features[graph * length + block * width..][..width];
            row(a).iter().zip(row(b)).fold(0.0f64, |most, (x, y)| most.max((x - y).abs()))
        };
        let block = |l: usize| {
            let noise = [(0, 1), (0, 2), (3, 4), (3, 5)].map(|(a, b)| apart(a, b, l));
            apart(0, 3, l) / noise.into_iter().fold(1e-30, f64::max)
        };
        (0..config.blocks.len()).map(block).fold(0.0, f64::max)
    };
    graphs.chunks_exact(2).enumerate().map(ratio).collect()
}

/// Graphs of a file of the data folder, or nothing after reporting the skipped test.
fn file(name: &str) -> Option<Vec<Graph>> {
    let folder = std::env::var_os("PPGN_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = folder.join(name);
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", path.display());
        return None;
    }
    Some(Locator::default().load(&path.display().to_string()).unwrap().graphs().to_vec())
}

fn pair(name: &str) -> Vec<Graph> {
    Locator::default().load(name).unwrap().graphs().to_vec()
}

#[test]
fn brec_pairs_are_distinguished_without_training() {
    for name in ["brec/basic.g6", "brec/regular.g6", "brec/extension.g6"] {
        let Some(graphs) = file(name) else { return };
        // Every third pair in f32, every tenth in f64; `docs/expressiveness.md` has all of them.
        for (precision, step) in [(Precision::F32, 3), (Precision::F64, 10)] {
            let some: Vec<Graph> = graphs.chunks_exact(2).step_by(step).flatten().cloned().collect();
            let ratios = ratios("expressive", precision, 1, &some);
            assert!(ratios.iter().all(|&ratio| ratio > 10.0), "{name} {precision:?}: {ratios:?}");
        }
    }
}

#[test]
fn cfi_pairs_over_bases_of_treewidth_2_are_distinguished_and_those_of_treewidth_3_are_not() {
    for precision in [Precision::F32, Precision::F64] {
        for base in ["c5", "grid2x3", "k4-e", "k2_4"] {
            let ratio = ratios("expressive", precision, 2, &pair(&format!("cfi:base={base}")))[0];
            assert!(ratio > 10.0, "{base} {precision:?}: {ratio}");
        }
        for base in ["k4", "prism"] {
            let ratio = ratios("expressive", precision, 2, &pair(&format!("cfi:base={base}")))[0];
            assert!(ratio < 10.0, "{base} {precision:?}: {ratio}");
        }
    }
}

#[test]
fn triples_distinguish_what_pairs_cannot() {
    let ratio = ratios("expressive-3", Precision::F32, 3, &pair("cfi:base=k4"))[0];
    assert!(ratio > 10.0, "{ratio}");
    if let Some(graphs) = file("sr/sr16622.g6") {
        let ratio = ratios("expressive-3", Precision::F32, 3, &graphs[..2])[0];
        assert!(ratio > 10.0, "{ratio}");
        let pairs = ratios("expressive", Precision::F32, 3, &graphs[..2])[0];
        assert!(pairs < 10.0, "{pairs}");
    }
}
