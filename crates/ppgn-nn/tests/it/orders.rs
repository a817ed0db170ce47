//! Networks of order k: the generalised product of Section 6 and the sums of Theorem 1, on k-tuples.

use crate::gradient::by_differences;
use crate::quotient::compare;
use crate::shared::{biased, distance, largest, numbers};
use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder, Schema};
use ppgn_nn::{
    Activation, Batch, BlockConfig, Colours, Level, M3, M4, Model, Norm, Pooling, Ppgn, PpgnConfig,
    Precision, Scale, SuffixKind,
};
use std::collections::HashMap;

/// Directed graphs with node labels and these numbers of nodes.
fn graphs(sizes: &[usize], seed: u64) -> Vec<Graph> {
    let mut random = Stream::new(seed, "orders", &[]);
    let mut graph = |&n: &usize| {
        let mut b = GraphBuilder::new(n, true);
        b.node_labels(1, (0..n).map(|_| random.below(2) as i64).collect());
        for _ in 0..2 * n {
            b.edge(random.below(n) as u32, random.below(n) as u32);
        }
        b.build_merging().unwrap().0
    };
    let mut graphs: Vec<Graph> = sizes.iter().map(&mut graph).collect();
    // All labels occur.
    let mut both = GraphBuilder::new(2, true);
    both.node_labels(1, vec![0, 1]).edge(0, 1);
    graphs.push(both.build().unwrap());
    graphs
}

fn encoder(graphs: &[Graph]) -> Encoder {
    Encoding::from(Kind::Paper).encoder(&Schema::of(graphs).unwrap()).unwrap()
}

fn batch(config: &PpgnConfig, encoder: &Encoder, graphs: &[Graph]) -> Batch {
    let graphs: Vec<&Graph> = graphs.iter().collect();
    Batch::of(config, encoder, &graphs, Precision::F64).unwrap()
}

/// Every kind of network of order k, each with different options, and suitable graph sizes.
fn kinds() -> Vec<(PpgnConfig, &'static [usize])> {
    let base = |order: usize, model: Model| PpgnConfig {
        order,
        model,
        blocks: vec![BlockConfig::new(3), BlockConfig { width: 4, product: Some(2), hidden: Some(vec![3]) }],
        ..PpgnConfig::new(3, 2)
    };
    let triples = || base(3, Model::Mp);
    vec![
        (triples(), &[3, 1, 4]),
        (PpgnConfig { pooling: Pooling::Sum, scale: Scale::N, residual: true, ..triples() }, &[4, 2]),
        (PpgnConfig { m3: M3::Mlp(vec![2, 3]), norm: Norm::Rms, ..triples() }, &[4, 2]),
        (PpgnConfig { m4: M4::None, suffix: SuffixKind::I, suffix_hidden: vec![5], ..triples() }, &[2, 4]),
        (
            PpgnConfig {
                pooling: Pooling::Mean,
                activate_pooled: true,
                activation: Activation::Sin,
                ..triples()
            },
            &[3, 4],
        ),
        (PpgnConfig { activation: Activation::Gelu, norm: Norm::Rms, ..triples() }, &[2, 4]),
        (PpgnConfig { activation: Activation::Sin, ..base(3, Model::Sums) }, &[4, 1]),
        (base(1, Model::Mp), &[5, 1, 4]),
        (
            PpgnConfig { pooling: Pooling::Sum, residual: true, m3: M3::Mlp(vec![3]), ..base(1, Model::Mp) },
            &[6, 3],
        ),
        (
            PpgnConfig { activation: Activation::Sin, norm: Norm::Rms, m4: M4::None, ..base(1, Model::Mp) },
            &[4, 2],
        ),
        (base(4, Model::Mp), &[3, 1]),
        (PpgnConfig { pooling: Pooling::Sum, ..base(4, Model::Mp) }, &[2]),
        (base(2, Model::Sums), &[4, 1, 3]),
        (PpgnConfig { pooling: Pooling::Sum, scale: Scale::SqrtN, ..base(3, Model::Sums) }, &[4, 1]),
        (PpgnConfig { m4: M4::None, norm: Norm::Rms, ..base(3, Model::Sums) }, &[3, 2]),
        (PpgnConfig { pooling: Pooling::Mean, ..base(2, Model::PpgnPlus) }, &[4, 1, 3]),
        (
            PpgnConfig {
                residual: true,
                blocks: vec![BlockConfig::new(4); 3],
                scale: Scale::N,
                norm: Norm::Rms,
                activation: Activation::Gelu,
                ..base(2, Model::PpgnPlus)
            },
            &[5, 2],
        ),
        (PpgnConfig { m3: M3::Mlp(vec![3]), m4: M4::None, ..base(2, Model::PpgnPlus) }, &[4, 2]),
    ]
}

#[test]
fn gradients_match_finite_differences() {
    for (seed, (config, sizes)) in kinds().into_iter().enumerate() {
        let graphs = graphs(sizes, seed as u64);
        by_differences(&config, &batch(&config, &encoder(&graphs), &graphs), seed as u64).unwrap();
    }
}

#[test]
fn gradients_on_the_quotient_space_match_finite_differences() {
    for (seed, (config, sizes)) in kinds().into_iter().enumerate() {
        let graphs = graphs(sizes, seed as u64);
        let encoder = encoder(&graphs);
        let colours = Colours::of(&config, &encoder, &graphs, Precision::F64, &Default::default()).unwrap();
        let all: Vec<usize> = (0..graphs.len()).collect();
        let quotient = Batch::quotient(&colours, &all).unwrap();
        by_differences(&config, &quotient, seed as u64).unwrap();
    }
}

#[test]
fn the_quotient_space_equals_the_dense_space() {
    for (seed, (config, _)) in kinds().into_iter().enumerate() {
        // Symmetric graphs, so that tuples share rows, and a relabelled copy.
        let cycle = |n: u32| Graph::directed(n as usize, (0..n).map(|i| (i, (i + 1) % n))).unwrap();
        let path = Graph::directed(4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]).unwrap();
        let again = path.permute(&[2, 0, 3, 1]).unwrap();
        let graphs = [cycle(5), path, again, cycle(3), cycle(1)];
        let encoder = encoder(&graphs);
        let config = PpgnConfig { inputs: encoder.channels().len(), ..config };
        let colours = Colours::of(&config, &encoder, &graphs, Precision::F64, &Default::default()).unwrap();
        let chosen = [3, 0, 1, 2, 4, 1];
        let some: Vec<Graph> = chosen.iter().map(|&g| graphs[g].clone()).collect();
        let dense = batch(&config, &encoder, &some);
        let quotient = Batch::quotient(&colours, &chosen).unwrap();
        assert!(quotient.space().rows(2) < dense.space().rows(2) / 3);
        assert_eq!((quotient.space().order(), quotient.channels()), (config.order, dense.channels()));
        compare(&biased(&config, seed as u64, Precision::F64), &dense, &quotient).unwrap();
    }
}

/// The values of every part of a network, by name.
struct Weights(HashMap<String, Vec<f64>>);

impl Weights {
    fn of(network: &Ppgn) -> Self {
        let arrays: Vec<Vec<f64>> = network.parameters().unwrap().iter().map(|(_, v)| v.to_f64()).collect();
        let part = |(a, part): (usize, &ppgn_nn::Part)| (part.name.clone(), arrays[a][part.range()].to_vec());
        Weights(network.layout().parts().map(part).collect())
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let (weight, bias) = (&self.0[&format!("{name}.weight")], &self.0[&format!("{name}.bias")]);
        let unit = |(o, b): (usize, &f64)| {
            b + weight[o * x.len()..][..x.len()].iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
        };
        bias.iter().enumerate().map(unit).collect()
    }

    fn mlp(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let layers = (0..).map(|i| format!("{name}.convs.{i}"));
        let layers = layers.take_while(|layer| self.0.contains_key(&format!("{layer}.bias")));
        layers.fold(x.to_vec(), |x, layer| self.linear(&layer, &x).iter().map(|y| y.max(0.0)).collect())
    }
}

/// The scores of a graph from the equations, tuple by tuple: isomorphism types, blocks, sum pooling, suffix ii.
fn from_the_equations(network: &Ppgn, encoder: &Encoder, graph: &Graph) -> Vec<f64> {
    let (config, weights) = (network.config(), Weights::of(network));
    let (k, n, e) = (config.order, graph.nodes(), encoder.channels().len());
    let pairs = encoder.rows::<f64>(graph).unwrap();
    let tuples: Vec<Vec<usize>> =
        (0..n.pow(k as u32)).map(|t| (0..k as u32).rev().map(|q| t / n.pow(q) % n).collect()).collect();
    let at = |tuple: &[usize]| tuple.iter().fold(0, |place, i| place * n + i);
    let put = |tuple: &[usize], q: usize, j: usize| {
        let mut tuple = tuple.to_vec();
        tuple[q] = j;
        at(&tuple)
    };
    let isomorphism_type = |tuple: &Vec<usize>| {
        let mut row = Vec::new();
        for &r in tuple {
            for &s in tuple {
                row.extend_from_slice(&pairs[(r * n + s) * e..][..e]);
                row.push(if r == s { 1.0 } else { 0.0 });
            }
        }
        row
    };
    let mut x: Vec<Vec<f64>> = tuples.iter().map(isomorphism_type).collect();
    let mut scores = vec![0.0; config.outputs];
    for l in 0..config.blocks.len() {
        let before = x.clone();
        let of = |m: usize| -> Vec<Vec<f64>> {
            before.iter().map(|x| weights.mlp(&format!("reg_blocks.{l}.mlp{m}"), x)).collect()
        };
        let w = |tuple: &Vec<usize>, ys: &[Vec<Vec<f64>>]| -> Vec<f64> {
            let width = ys[0][0].len();
            match config.model == Model::Sums {
                // Order 1: one sum over the neighbours for every channel of the encoding.
                false if k == 1 => {
                    let i = tuple[0];
                    let others = || (0..n).filter(|&j| j != i);
                    let sum = |r: usize, c: usize| {
                        others().map(|j| pairs[(i * n + j) * e + r] * ys[0][j][c]).sum::<f64>()
                    };
                    (0..e).flat_map(|r| (0..width).map(|c| sum(r, c)).collect::<Vec<_>>()).collect()
                }
                false => {
                    let term =
                        |c: usize, j: usize| (0..k).map(|q| ys[q][put(tuple, q, j)][c]).product::<f64>();
                    (0..width).map(|c| (0..n).map(|j| term(c, j)).sum()).collect()
                }
                true => {
                    let sum = |q: usize, c: usize| (0..n).map(|j| ys[0][put(tuple, q, j)][c]).sum();
                    (0..k).flat_map(|q| (0..width).map(move |c| sum(q, c))).collect()
                }
            }
        };
        let ys: Vec<_> = match config.model {
            // Of (i, k) the factors are m2 at (j, k), then m1 at (i, j).
            Model::PpgnPlus => {
                let identity = |t: &[usize]| if t[0] == t[1] { 1.0 } else { 0.0 };
                x.iter_mut().zip(&tuples).for_each(|(x, t)| x.push(identity(t)));
                let both = |t: &Vec<usize>| [x[at(t)].clone(), x[at(&[t[1], t[0]])].clone()].concat();
                let first = tuples.iter().map(|t| weights.mlp(&format!("reg_blocks.{l}.mlp1"), &both(t)));
                let second = x.iter().map(|x| weights.mlp(&format!("reg_blocks.{l}.mlp2"), x));
                vec![second.collect(), first.collect()]
            }
            Model::Mp => (1..=k).map(of).collect(),
            _ => vec![of(1)],
        };
        let next = |(tuple, x): (&Vec<usize>, &Vec<f64>)| {
            weights.linear(&format!("reg_blocks.{l}.skip.conv"), &[x.clone(), w(tuple, &ys)].concat())
        };
        x = tuples.iter().zip(&x).map(next).collect();
        // The patterns that occur, in the order of their words.
        let word = |tuple: &Vec<usize>| -> Vec<usize> {
            let mut seen = Vec::new();
            for &i in tuple {
                if !seen.contains(&i) {
                    seen.push(i);
                }
            }
            tuple.iter().map(|i| seen.iter().position(|s| s == i).unwrap()).collect()
        };
        let mut words: Vec<Vec<usize>> =
            (0..k.pow(k as u32)).map(|t| (0..k as u32).rev().map(|q| t / k.pow(q) % k).collect()).collect();
        words.retain(|w| word(w) == *w);
        let width = x[0].len();
        let pooled = |pattern: &Vec<usize>| {
            let of = tuples.iter().zip(&x).filter(|(tuple, _)| word(tuple) == *pattern);
            of.fold(vec![0.0; width], |sum, (_, x)| sum.iter().zip(x).map(|(s, x)| s + x).collect::<Vec<_>>())
        };
        let features: Vec<f64> = words.iter().flat_map(pooled).collect();
        let more = weights.linear(&format!("fc_layers.{l}.fc"), &features);
        scores.iter_mut().zip(more).for_each(|(s, more)| *s += more);
    }
    scores
}

#[test]
fn networks_match_the_equations() {
    for (order, model, sizes) in [
        (1, Model::Mp, &[6, 1, 3][..]),
        (3, Model::Mp, &[4, 1, 2]),
        (4, Model::Mp, &[3, 2]),
        (2, Model::Sums, &[4, 1]),
        (3, Model::Sums, &[3, 2]),
        (2, Model::PpgnPlus, &[4, 1, 3]),
    ] {
        let graphs = graphs(sizes, order as u64);
        let encoder = encoder(&graphs);
        let config = PpgnConfig {
            order,
            model,
            pooling: Pooling::Sum,
            blocks: vec![BlockConfig::new(3); 2],
            ..PpgnConfig::new(encoder.channels().len(), 2)
        };
        let network = biased(&config, 1, Precision::F64);
        let found = numbers(network.forward(&batch(&config, &encoder, &graphs)).unwrap());
        for (graph, found) in graphs.iter().zip(found.chunks(2)) {
            let expected = from_the_equations(&network, &encoder, graph);
            assert!(
                distance(found, &expected) <= 1e-11 * largest(&expected).max(1.0),
                "{found:?} {expected:?}"
            );
        }
    }
}

/// The scores of graphs under a network with random weights and sum pooling, in f64.
/// PPGN++ gives relabelled graphs equal scores, and sees the direction of arcs.
#[test]
fn ppgn_plus_is_invariant() {
    let star = Graph::directed(4, [(0, 1), (0, 2), (0, 3)]).unwrap();
    let turned = Graph::directed(4, [(1, 0), (2, 0), (3, 0)]).unwrap();
    let graphs = [star.clone(), star.permute(&[2, 3, 0, 1]).unwrap(), turned];
    let encoder = encoder(&graphs);
    let config = PpgnConfig {
        model: Model::PpgnPlus,
        blocks: vec![BlockConfig::new(6); 3],
        ..PpgnConfig::new(encoder.channels().len(), 3)
    };
    let scores =
        numbers(biased(&config, 5, Precision::F64).forward(&batch(&config, &encoder, &graphs)).unwrap());
    assert!(distance(&scores[..3], &scores[3..6]) < 1e-12, "{scores:?}");
    assert!(distance(&scores[..3], &scores[6..]) > 1e-6, "{scores:?}");
}

fn random_scores(order: usize, seed: u64, graphs: &[Graph]) -> Vec<Vec<f64>> {
    let encoder = Encoding { identity: order == 2, ..Kind::Paper.into() };
    let encoder = encoder.encoder(&Schema::of(graphs).unwrap()).unwrap();
    let config = PpgnConfig {
        order,
        pooling: Pooling::Sum,
        blocks: vec![BlockConfig::new(8); 2],
        ..PpgnConfig::new(encoder.channels().len(), 3)
    };
    let network = biased(&config, seed, Precision::F64);
    let scores = |graph: &Graph| {
        numbers(network.forward(&batch(&config, &encoder, std::slice::from_ref(graph))).unwrap())
    };
    graphs.iter().map(scores).collect()
}

#[test]
fn order_three_distinguishes_the_rook_from_the_shrikhande_graph() {
    let pair = ["rook:n=4", "shrikhande"].map(|spec| generate(spec).unwrap().graph(0).clone());
    let mut random = Stream::new(0, "copies", &[]);
    let copies = [0, 1].map(|g: usize| pair[g].permute_randomly(&mut random));
    let graphs = [pair, copies].concat();
    for seed in 0..3 {
        for order in [2, 3] {
            let scores = random_scores(order, seed, &graphs);
            let apart = |a: usize, b: usize| distance(&scores[a], &scores[b]) / largest(&scores[a]);
            assert!(apart(0, 2) < 1e-10 && apart(1, 3) < 1e-10, "order {order}: relabelled copies");
            match order {
                2 => assert!(apart(0, 1) < 1e-10, "order 2: {}", apart(0, 1)),
                _ => assert!(apart(0, 1) > 1e-6, "order 3: {}", apart(0, 1)),
            }
        }
    }
}

/// Graphs that 1-WL does not distinguish have equal scores at order 1, whatever the weights, and different ones at order 2;
/// those that it distinguishes have different ones. Labels of edges count.
#[test]
fn order_one_distinguishes_what_1_wl_does() {
    let figure = generate("figure1").unwrap().graphs().to_vec();
    let csl = generate("csl").unwrap();
    let skips = [csl.graph(0).clone(), csl.graph(149).clone()];
    let trees = [
        Graph::undirected(5, [(0, 1), (1, 2), (2, 3), (3, 4)]).unwrap(),
        Graph::undirected(5, [(0, 1), (1, 2), (2, 3), (2, 4)]).unwrap(),
    ];
    for (pair, is_distinguished) in [(&figure[..], false), (&skips[..], false), (&trees[..], true)] {
        let copy = pair[0].permute_randomly(&mut Stream::new(1, "copy", &[]));
        let graphs = [pair, &[copy]].concat();
        for seed in 0..3 {
            let one = random_scores(1, seed, &graphs);
            let apart =
                |scores: &[Vec<f64>], g: usize| distance(&scores[0], &scores[g]) / largest(&scores[0]);
            assert!(apart(&one, 2) < 1e-12, "a relabelled copy: {}", apart(&one, 2));
            assert_eq!(apart(&one, 1) > 1e-9, is_distinguished, "{}", apart(&one, 1));
            assert!(apart(&random_scores(2, seed, &graphs), 1) > 1e-9);
        }
    }
    // A cycle of four edges: labels 0, 0, 1, 1 around it, or 0, 1, 0, 1.
    let labelled = |labels: [i64; 4]| {
        let mut b = GraphBuilder::new(4, false);
        b.edge_label_columns(1);
        for (i, label) in (0..4).zip(labels) {
            b.edge_with(i, (i + 1) % 4, &[label], &[]);
        }
        b.build().unwrap()
    };
    let scores = random_scores(1, 0, &[labelled([0, 0, 1, 1]), labelled([0, 1, 0, 1])]);
    assert!(distance(&scores[0], &scores[1]) > 1e-6);
}

/// Outputs per node at order 1: those of the nodes in their order, on both spaces.
#[test]
fn order_one_has_outputs_per_node() {
    let graphs =
        [Graph::undirected(4, [(0, 1), (1, 2), (2, 3)]).unwrap(), Graph::undirected(2, [(0, 1)]).unwrap()];
    let encoder = encoder(&graphs);
    let config = PpgnConfig {
        order: 1,
        level: Level::Node,
        blocks: vec![BlockConfig::new(4); 2],
        ..PpgnConfig::new(encoder.channels().len(), 2)
    };
    let network = biased(&config, 3, Precision::F64);
    let dense = numbers(network.forward(&batch(&config, &encoder, &graphs)).unwrap());
    let colours = Colours::of(&config, &encoder, &graphs, Precision::F64, &Default::default()).unwrap();
    let quotient = Batch::quotient_for(Level::Node, &colours, &[0, 1]).unwrap();
    assert!(distance(&dense, &numbers(network.forward(&quotient).unwrap())) < 1e-12);
    // The ends of the path, its middle, and the two nodes of the edge.
    let node = |i: usize| &dense[2 * i..2 * i + 2];
    let equal = |a: usize, b: usize| distance(node(a), node(b)) < 1e-12;
    assert!(equal(0, 3) && equal(1, 2) && equal(4, 5) && !equal(0, 1) && !equal(0, 4));
}

#[test]
fn a_batch_of_another_order_is_an_error() {
    let graphs = graphs(&[3], 0);
    let encoder = encoder(&graphs);
    let (config, _) = kinds().remove(0);
    let network = biased(&config, 0, Precision::F64);
    let pairs = batch(&PpgnConfig::new(config.inputs, 2), &encoder, &graphs);
    let error = network.forward(&pairs).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("order 3, the batch has order 2"), "{error}");
    let large = generate("cycles:n=3").unwrap();
    let many: Vec<&Graph> = vec![large.graph(0)];
    let encoder = self::encoder(large.graphs());
    assert!(Batch::tuples(64, &encoder, &many, Precision::F32).is_err());
}
