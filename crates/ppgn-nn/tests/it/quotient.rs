//! The quotient space is the dense one with equal rows merged: same features, same scores, same gradients.

use crate::shared::{Rows, arrays, biased, distance, largest, numbers, on_both_spaces, weighted};
use ppgn_graph::encode::{Encoding, Kind, Structure};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Graph, GraphBuilder, Schema};
use ppgn_nn::{
    Adam, Batch, BlockConfig, Colours, Loss, Norm, Number, Ppgn, PpgnConfig, Precision, SuffixKind, Values,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::io::Write;
use std::path::{Path, PathBuf};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

/// The tolerances for outputs and gradients, relative to the largest value.
fn tolerances(precision: Precision) -> (f64, f64) {
    match precision {
        Precision::F32 => (1e-5, 1e-4),
        Precision::F64 => (1e-10, 1e-10),
    }
}

fn near(what: &str, a: &[f64], b: &[f64], tolerance: f64) -> Result<(), String> {
    let (off, scale) = (distance(a, b), largest(a));
    match off <= tolerance * scale {
        true => Ok(()),
        false => Err(format!("{what}: {off:e} apart, of {scale:e}")),
    }
}

/// Compares features, scores and gradients of a network on both spaces.
pub(crate) fn compare(network: &Ppgn, dense: &Batch, quotient: &Batch) -> Result<(), String> {
    let (outputs, gradients) = tolerances(network.precision());
    let embed = |batch| numbers(network.embed(batch).unwrap());
    near("features", &embed(dense), &embed(quotient), outputs)?;
    let forward = |batch| numbers(network.forward(batch).unwrap());
    // Scores are sums of products of features: they may be far smaller than the terms added up.
    let (a, b) = (forward(dense), forward(quotient));
    let scale = largest(&a).max(largest(&embed(dense)));
    if distance(&a, &b) > outputs * scale {
        return Err(format!("scores: {:e} apart, of {scale:e}", distance(&a, &b)));
    }
    let (a, b) = (gradients_of(network, dense), gradients_of(network, quotient));
    // The derivative of w / |w| is a difference of two large numbers, and only as accurate as they are.
    let floor = match network.config().norm {
        Norm::Rms => a.iter().map(|array| largest(array)).fold(0.0, f64::max),
        Norm::None => 0.0,
    };
    // A small row is magnified by up to 1 / sqrt(1e-5), and its rounding error with it.
    let gradients = if network.config().norm == Norm::Rms { 10.0 * gradients } else { gradients };
    for (array, (a, b)) in a.iter().zip(&b).enumerate() {
        let (off, scale) = (distance(a, b), largest(a).max(floor));
        if off > gradients * scale {
            return Err(format!("gradient of array {array}: {off:e} apart, of {scale:e}"));
        }
    }
    Ok(())
}

/// The gradient of a random combination of the scores: cross entropy would magnify the rounding errors of large scores.
fn gradients_of(network: &Ppgn, batch: &Batch) -> Vec<Vec<f64>> {
    let shape = [batch.graphs(), network.config().outputs];
    let mut random = Stream::new(1, "slopes", &[]);
    let slopes: Vec<f64> = (0..shape[0] * shape[1]).map(|_| random.uniform(-1.0, 1.0)).collect();
    network.backward(batch, weighted(&slopes)).unwrap().gradients.iter().map(Values::to_f64).collect()
}

/// Compares both batches of some graphs of a dataset under an encoding, for a network with biases and one without.
fn check(dataset: &[Graph], encoding: Encoding, chosen: &[usize], config: &PpgnConfig) -> Result<(), String> {
    let schema = Schema::of(dataset).unwrap();
    let encoder = encoding.encoder(&schema).unwrap();
    let config = PpgnConfig { inputs: encoder.channels().len(), ..config.clone() };
    for precision in PRECISIONS {
        let depth = config.blocks.len();
        let colours = Colours::encode(&encoder, dataset, precision, depth, &Default::default()).unwrap();
        let graphs: Vec<&Graph> = chosen.iter().map(|&g| &dataset[g]).collect();
        let dense = Batch::encode(&encoder, &graphs, precision).unwrap();
        let quotient = Batch::quotient(&colours, chosen).unwrap();
        for level in 0..=depth {
            assert!(quotient.space().rows(level) <= dense.space().rows(level));
        }
        compare(&biased(&config, 5, precision), &dense, &quotient)?;
        // Without biases, rows of zeros tie and rounding breaks the ties, so gradients may go to other rows. Features
        // may be differences of larger numbers.
        let network = config.init(6, precision).unwrap();
        let embed = |batch| numbers(network.embed(batch).unwrap());
        near("features without biases", &embed(&dense), &embed(&quotient), 10.0 * tolerances(precision).0)?;
    }
    Ok(())
}

/// Graphs as rows with few distinct numbers, including 0 and -0.
fn few_rows(nodes: usize, channels: usize, random: &mut Stream) -> Rows {
    let symmetric = random.below(2) == 0;
    let mut numbers = vec![0.0; nodes * nodes * channels];
    for i in 0..nodes {
        for k in 0..nodes {
            for c in 0..channels {
                let x = [0.0, -0.0, 1.0, 0.5][random.below(4)];
                numbers[(i * nodes + k) * channels + c] = x;
                if symmetric && k < i {
                    numbers[(i * nodes + k) * channels + c] = numbers[(k * nodes + i) * channels + c];
                }
            }
        }
    }
    Rows { nodes, numbers }
}

fn colours_of<T: Number>(channels: usize, graphs: &[Rows], depth: usize) -> Colours {
    let nodes: Vec<usize> = graphs.iter().map(|g| g.nodes).collect();
    let rows = |g: usize| Ok(graphs[g].numbers.iter().map(|&x| T::from_f64(x)).collect());
    Colours::new::<T>(&nodes, channels, depth, &Default::default(), rows).unwrap()
}

proptest! {
    // Always the same cases: rounding errors in a random network have no bound.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_rows_in_any_network(
        config in on_both_spaces(),
        sizes in prop::collection::vec(0..7usize, 1..6),
        seed in 0..1000u64,
    ) {
        let mut random = Stream::new(seed, "quotient", &[]);
        let mut graphs: Vec<Rows> = sizes.iter().map(|&n| few_rows(n, config.inputs, &mut random)).collect();
        graphs.push(few_rows(1, config.inputs, &mut random));
        // A relabelled copy of the first graph, and a batch in a different order than the dataset.
        let again = graphs[0].permuted(&random.permutation(graphs[0].nodes), config.inputs);
        graphs.push(again);
        let chosen: Vec<usize> = (0..=graphs.len()).map(|_| random.below(graphs.len())).collect();
        for precision in PRECISIONS {
            let colours = match precision {
                Precision::F32 => colours_of::<f32>(config.inputs, &graphs, config.blocks.len()),
                Precision::F64 => colours_of::<f64>(config.inputs, &graphs, config.blocks.len()),
            };
            let rows: Vec<&Rows> = chosen.iter().map(|&g| &graphs[g]).collect();
            let dense = crate::shared::batch(config.inputs, &rows, precision);
            let quotient = Batch::quotient(&colours, &chosen).unwrap();
            prop_assert_eq!(compare(&biased(&config, seed, precision), &dense, &quotient), Ok(()));
        }
    }

    #[test]
    fn any_graphs_in_any_network(
        config in on_both_spaces(),
        (directed, node_labels, edge_labels) in any::<(bool, bool, bool)>(),
        seed in 0..1000u64,
    ) {
        let graphs = random_graphs(directed, node_labels, edge_labels, seed);
        let structure = match seed % 5 {
            0 => Structure { degree: true, shortest_paths: 3, walks: 4 },
            _ => Structure::default(),
        };
        let (transposed, identity) = (directed && seed % 2 == 0, seed % 3 == 0);
        let encoding = Encoding { transposed, identity, structure, ..Encoding::from(Kind::Paper) };
        prop_assert_eq!(check(&graphs, encoding, &[3, 0, 1, 4], &config), Ok(()));
    }
}

/// Five sparse graphs of one to eight nodes.
fn random_graphs(directed: bool, node_labels: bool, edge_labels: bool, seed: u64) -> Vec<Graph> {
    let mut random = Stream::new(seed, "graphs", &[]);
    let mut graph = |n: usize| {
        let mut builder = GraphBuilder::new(n, directed);
        if node_labels {
            builder.node_labels(1, (0..n).map(|_| random.below(2) as i64).collect());
        }
        builder.edge_label_columns(usize::from(edge_labels));
        for i in 0..n as u32 {
            for k in 0..n as u32 {
                if (i < k || directed && i != k) && random.below(3) == 0 {
                    let label = [random.below(2) as i64];
                    builder.edge_with(i, k, &label[..usize::from(edge_labels)], &[]);
                }
            }
        }
        builder.build().unwrap()
    };
    [8, 1, 5, 8, 3].map(&mut graph).into_iter().collect()
}

/// A smaller version of the paper's network.
fn small() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(12); 3], ..PpgnConfig::new(1, 3) }
}

#[test]
fn strongly_regular_graphs_have_three_rows() {
    let mut graphs = Vec::new();
    for spec in ["rook:n=4", "shrikhande", "petersen", "paley:q=13", "complete:n=1", "cycles:n=5"] {
        graphs.extend(generate(spec).unwrap().graphs().iter().cloned());
    }
    let chosen: Vec<usize> = (0..graphs.len()).rev().collect();
    let encoding = Encoding { identity: true, ..Encoding::from(Kind::Paper) };
    let walks = Encoding { structure: Structure { degree: true, shortest_paths: 3, walks: 6 }, ..encoding };
    for encoding in [encoding, walks, Kind::Paper.into(), Kind::Authors.into()] {
        for suffix in [SuffixKind::I, SuffixKind::Ii] {
            check(&graphs, encoding, &chosen, &PpgnConfig { suffix, ..small() }).unwrap();
        }
    }
    // The rook's graph and the Shrikhande graph have the same colouring: together they have no more rows than one of
    // them, with degrees, path lengths and walks too.
    for encoding in [encoding, walks] {
        let encoder = encoding.encoder(&Schema::of(&graphs).unwrap()).unwrap();
        let colours = Colours::encode(&encoder, &graphs, Precision::F32, 3, &Default::default()).unwrap();
        let batch = Batch::quotient(&colours, &[0, 1]).unwrap();
        assert_eq!((0..4).map(|level| batch.space().rows(level)).collect::<Vec<_>>(), [3; 4]);
    }
}

/// Every node of a random graph replaced by up to six twins, adjacent or not, in any order.
fn blown_up(nodes: usize, seed: u64) -> Graph {
    let mut random = Stream::new(seed, "twins", &[]);
    let bits: Vec<bool> = (0..nodes * nodes).map(|_| random.below(2) == 0).collect();
    let mut class: Vec<usize> = (0..nodes).flat_map(|node| vec![node; 1 + random.below(6)]).collect();
    let order = random.permutation(class.len());
    class = order.into_iter().map(|at| class[at as usize]).collect();
    let mut builder = GraphBuilder::new(class.len(), false);
    builder.node_labels(1, class.iter().map(|&c| (c % 2) as i64).collect());
    for i in 0..class.len() {
        for k in 0..i {
            let (a, b) = (class[i].min(class[k]), class[i].max(class[k]));
            if bits[a * nodes + b] {
                builder.edge(i as u32, k as u32);
            }
        }
    }
    builder.build().unwrap()
}

#[test]
fn graphs_with_many_twins() {
    // Among them one of more than 120 nodes, whose product is computed in another way.
    let graphs: Vec<Graph> =
        [5, 9, 1, 12, 40].into_iter().zip(0..).map(|(n, seed)| blown_up(n, seed)).collect();
    assert!(graphs[4].nodes() > 120);
    let encoding = Encoding::from(Kind::Authors);
    let encoder = encoding.encoder(&Schema::of(&graphs).unwrap()).unwrap();
    let colours = Colours::encode(&encoder, &graphs, Precision::F32, 3, &Default::default()).unwrap();
    for (graph, (nodes, most)) in graphs.iter().map(Graph::nodes).zip([5, 9, 1, 12, 40]).enumerate() {
        assert!(colours.terms(graph) <= most && most <= nodes, "graph {graph}: {}", colours.terms(graph));
    }
    for norm in [Norm::None, Norm::Rms] {
        check(&graphs, encoding, &[4, 2, 0, 1, 3, 1], &PpgnConfig { norm, ..small() }).unwrap();
    }
    let distances = Structure { degree: true, shortest_paths: 3, walks: 4 };
    let config = PpgnConfig { blocks: vec![BlockConfig::new(3); 2], ..small() };
    check(&graphs, Encoding { structure: distances, ..encoding }, &[0, 3, 1], &config).unwrap();
}

/// The terms of all products, as a share of those without twins: what docs/spaces.md says.
#[test]
fn twins_of_the_papers_datasets() {
    for (name, percent) in [
        ("tu/MUTAG.zip", 100.0),
        ("tu/PROTEINS.zip", 99.9),
        ("tu/IMDBBINARY.zip", 5.1),
        ("tu/IMDBMULTI.zip", 2.6),
        ("tu/COLLAB.zip", 20.5),
    ] {
        let Some(dataset) = dataset(name) else { continue };
        let encoder = Encoding::from(Kind::Authors).encoder(dataset.schema()).unwrap();
        // Twins of the inputs are twins of all levels: changing their places is an automorphism.
        let graphs = dataset.graphs();
        let colours = Colours::encode(&encoder, graphs, Precision::F32, 0, &Default::default()).unwrap();
        let cubes =
            |of: &dyn Fn(usize) -> usize| (0..graphs.len()).map(|g| (of(g) as f64).powi(3)).sum::<f64>();
        let share = 100.0 * cubes(&|g| colours.terms(g)) / cubes(&|g| graphs[g].nodes());
        assert!((share - percent).abs() < 0.05, "{name}: {share} %");
    }
}

#[test]
fn samples_of_the_papers_datasets() {
    for (name, kind) in [
        ("tu/MUTAG.zip", Kind::Authors),
        ("tu/PTC.zip", Kind::Authors),
        ("tu/PROTEINS.zip", Kind::Authors),
        ("tu/NCI1.zip", Kind::Authors),
        ("tu/NCI109.zip", Kind::Paper),
        ("tu/COLLAB.zip", Kind::Authors),
        ("tu/IMDBBINARY.zip", Kind::Authors),
        ("tu/IMDBMULTI.zip", Kind::Paper),
        ("qm9/qm9_130831.npz", Kind::Qm9),
    ] {
        let Some(dataset) = dataset(name) else { continue };
        // Ten graphs of up to forty nodes, drawn from a seed.
        let mut random = Stream::new(3, "sample", &[]);
        let order = random.permutation(dataset.len());
        let small_ones = order.iter().map(|&g| dataset.graph(g as usize)).filter(|g| g.nodes() <= 40);
        let graphs: Vec<Graph> = small_ones.take(10).cloned().collect();
        let chosen: Vec<usize> = (0..10).collect();
        check(&graphs, kind.into(), &chosen, &small()).unwrap_or_else(|message| panic!("{name}: {message}"));
    }
}

/// A dataset in the data folder, or `None` after reporting the skipped test.
fn dataset(name: &str) -> Option<Dataset> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("PPGN_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", path.display());
        return None;
    }
    Some(ppgn_graph::format::read(path, &Default::default()).unwrap())
}

/// The summed loss of every training epoch on batches with their classes, starting from biases of +-0.1.
fn losses(config: &PpgnConfig, batches: &[(Batch, Vec<usize>)], epochs: usize) -> Vec<f64> {
    let mut network = biased(config, 8, Precision::F64);
    let mut adam = Adam::new(&arrays(&network));
    let mut epoch = || {
        let mut sum = 0.0;
        for (batch, classes) in batches {
            let step = network.backward(batch, |scores| Loss::cross_entropy(classes).of(scores)).unwrap();
            network.update(|parameters| adam.step(parameters, &step.gradients, 1e-3)).unwrap();
            sum += step.loss;
        }
        sum
    };
    (0..epochs).map(|_| epoch()).collect()
}

#[test]
fn training_gives_the_same_losses() {
    for (name, quick) in [("tu/MUTAG.zip", 188), ("tu/IMDBBINARY.zip", 100)] {
        let Some(dataset) = dataset(name) else { continue };
        let mut all = Stream::new(5, "training", &[]).permutation(dataset.len());
        if std::env::var_os("PPGN_SLOW").is_none() && quick < all.len() {
            let _ = writeln!(std::io::stderr(), "{name}: SKIPPED all but {quick} graphs; set PPGN_SLOW=1");
            all.truncate(quick);
        }
        let dataset = dataset.subset(&all).unwrap();
        let encoder = Encoding::from(Kind::Authors).encoder(dataset.schema()).unwrap();
        let config = PpgnConfig { inputs: encoder.channels().len(), outputs: 2, ..small() };
        let graphs = dataset.graphs();
        let colours = Colours::encode(&encoder, graphs, Precision::F64, 3, &Default::default()).unwrap();
        let on = |space: &dyn Fn(&[usize]) -> Batch| {
            let all: Vec<usize> = (0..graphs.len()).collect();
            let classes = |chosen: &[usize]| chosen.iter().map(|&g| dataset.class(g).unwrap()).collect();
            let batches: Vec<(Batch, Vec<usize>)> =
                all.chunks(5).map(|chosen| (space(chosen), classes(chosen))).collect();
            losses(&config, &batches, 20)
        };
        let dense = on(&|chosen| {
            let graphs: Vec<&Graph> = chosen.iter().map(|&g| &graphs[g]).collect();
            Batch::encode(&encoder, &graphs, Precision::F64).unwrap()
        });
        let quotient = on(&|chosen| Batch::quotient(&colours, chosen).unwrap());
        assert!(dense[19] < dense[0], "{dense:?}");
        for (epoch, (a, b)) in dense.iter().zip(&quotient).enumerate() {
            assert!((a - b).abs() <= 1e-8 * a.abs(), "{name}, epoch {epoch}: {a} and {b}");
        }
    }
}

#[test]
fn mismatches_are_errors() {
    let graphs = generate("path:n=3").unwrap();
    let encoder = Encoding::from(Kind::Paper).encoder(graphs.schema()).unwrap();
    let colours = |depth| {
        Colours::encode(&encoder, graphs.graphs(), Precision::F32, depth, &Default::default()).unwrap()
    };
    assert!(Batch::quotient(&colours(1), &[]).unwrap_err().to_string().contains("at least one"));
    assert!(Batch::quotient(&colours(1), &[1]).unwrap_err().is_call());
    let batch = Batch::quotient(&colours(1), &[0]).unwrap();
    let network = PpgnConfig { blocks: vec![BlockConfig::new(2); 2], ..PpgnConfig::new(1, 2) };
    let network = network.init(0, Precision::F32).unwrap();
    assert!(network.forward(&batch).unwrap_err().to_string().contains("2 blocks"));
    // Colours of more rounds than there are blocks work as well.
    network.forward(&Batch::quotient(&colours(3), &[0]).unwrap()).unwrap();
    let short = Colours::new(&[2], 1, 1, &Default::default(), |_| Ok(vec![0f32; 3])).unwrap_err();
    assert_eq!(short.to_string(), "graph 0 has 3 numbers in its rows, not 4");
    let mut labelled = GraphBuilder::new(1, false);
    labelled.node_labels(1, vec![7]);
    let labelled = labelled.build().unwrap();
    let foreign = Colours::encode(&encoder, &[labelled], Precision::F32, 1, &Default::default()).unwrap_err();
    assert!(foreign.to_string().contains("label"), "{foreign}");
    let options = ppgn_wl::Options { max_memory: Some(100), ..Default::default() };
    let large = Colours::encode(&encoder, graphs.graphs(), Precision::F32, 1, &options).unwrap_err();
    assert!(large.to_string().contains("memory"), "{large}");
}
