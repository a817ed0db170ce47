//! Outputs per node and per pair: equivariance, batches, both spaces, gradients against finite differences.

use crate::shared::{Rows, arrays, batch, biased, distance, largest, numbers, weighted};
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, Schema};
use ppgn_nn::{
    Adam, Batch, BlockConfig, Colours, Dropout, Evaluated, Level, Loss, Matrix, Model, Norm, Ppgn,
    PpgnConfig, Precision, SuffixKind, Values, clip,
};

/// Networks with either level and either suffix.
fn configs(inputs: usize) -> Vec<PpgnConfig> {
    let of = |level, suffix| PpgnConfig {
        level,
        suffix,
        blocks: vec![BlockConfig::new(5), BlockConfig::new(4)],
        norm: Norm::Rms,
        ..PpgnConfig::new(inputs, 3)
    };
    let levels = [Level::Node, Level::Pair];
    levels.into_iter().flat_map(|level| [of(level, SuffixKind::I), of(level, SuffixKind::Ii)]).collect()
}

#[test]
fn relabelling_moves_the_outputs_with_the_nodes() {
    for (seed, config) in (0..).zip(configs(2).into_iter().cycle().take(12)) {
        let mut random = Stream::new(seed, "graphs", &[]);
        let n = 1 + random.below(7);
        let graph = Rows::random(n, 2, &mut random);
        let permutation = random.permutation(n);
        let moved = graph.permuted(&permutation, 2);
        let network = biased(&config, seed, Precision::F64);
        let scores = |graph: &Rows| numbers(network.forward(&batch(2, &[graph], Precision::F64)).unwrap());
        let (before, after) = (scores(&graph), scores(&moved));
        assert_eq!(before.len(), config.level.items(n) * 3);
        let to = |item: usize| match config.level {
            Level::Pair => permutation[item / n] as usize * n + permutation[item % n] as usize,
            _ => permutation[item] as usize,
        };
        for item in 0..config.level.items(n) {
            let off = distance(&before[item * 3..][..3], &after[to(item) * 3..][..3]);
            assert!(off <= 1e-10 * largest(&before).max(1.0), "{:?} {item}: {off}", config.level);
        }
    }
}

#[test]
fn a_batch_equals_its_graphs_one_by_one_in_the_given_order() {
    for config in configs(2) {
        let mut random = Stream::new(3, "graphs", &[]);
        let graphs = [4, 1, 3, 4, 2].map(|n| Rows::random(n, 2, &mut random));
        let network = biased(&config, 3, Precision::F64);
        let of = |graphs: &[&Rows]| numbers(network.forward(&batch(2, graphs, Precision::F64)).unwrap());
        let together = of(&graphs.iter().collect::<Vec<_>>());
        let alone: Vec<f64> = graphs.iter().flat_map(|graph| of(&[graph])).collect();
        assert!(distance(&together, &alone) <= 1e-10 * largest(&alone).max(1.0));
        // Features per graph are pooled, whatever the outputs are.
        let embedded = network.embed(&batch(2, &[&graphs[0]], Precision::F64)).unwrap();
        assert_eq!((embedded.rows(), embedded.columns()), (1, config.embedding()));
    }
}

/// Symmetric graphs, so that many nodes and pairs share a row.
fn both(config: &PpgnConfig) -> [Batch; 2] {
    let data = generate("csl:n=9,skips=2+3,copies=2").unwrap();
    let random = generate("gnp:n=6,p=0.5,count=3").unwrap();
    let graphs: Vec<Graph> = data.graphs().iter().chain(random.graphs()).cloned().collect();
    let encoder = Encoding::from(Kind::Paper).encoder(data.schema()).unwrap();
    let colours = Colours::of(config, &encoder, &graphs, Precision::F64, &Default::default()).unwrap();
    let order = [5, 0, 2, 4, 0];
    let quotient = Batch::quotient_for(config.level, &colours, &order).unwrap();
    let chosen: Vec<&Graph> = order.iter().map(|&g| &graphs[g]).collect();
    assert!(quotient.space().rows(2) * 2 < chosen.iter().map(|g| g.nodes().pow(2)).sum());
    [Batch::encode(&encoder, &chosen, Precision::F64).unwrap(), quotient]
}

#[test]
fn the_quotient_has_the_scores_and_gradients_of_the_dense_space() {
    for config in configs(1) {
        let network = biased(&config, 8, Precision::F64);
        let [dense, quotient] = both(&config);
        let items = dense.items(config.level);
        assert_eq!(items, quotient.items(config.level));
        let mut random = Stream::new(1, "slopes", &[]);
        let slopes: Vec<f64> = (0..items * 3).map(|_| random.uniform(-1.0, 1.0)).collect();
        let [a, b] = [dense, quotient].map(|batch| network.backward(&batch, weighted(&slopes)).unwrap());
        assert_eq!(a.scores.rows(), items);
        let (s, t) = (numbers(a.scores), numbers(b.scores));
        assert!(distance(&s, &t) <= 1e-10 * largest(&s).max(1.0));
        for (a, b) in a.gradients.iter().zip(&b.gradients) {
            let a = a.to_f64();
            assert!(distance(&a, &b.to_f64()) <= 1e-9 * largest(&a).max(1.0));
        }
    }
}

/// Dropout acts on what is gathered for a node or pair: the same on both spaces, and a mask of its own for each.
#[test]
fn dropout_is_the_same_on_both_spaces() {
    for config in configs(1) {
        let network = biased(&config, 8, Precision::F64);
        let batches = both(&config);
        let items = batches[0].items(config.level);
        let slopes: Vec<f64> = (0..items * 3).map(|i| (i as f64).sin()).collect();
        let dropout = Dropout { probability: 0.4, seed: 1, epoch: 2, step: 3, graphs: &[5, 0, 2, 4, 0] };
        let run = |batch: &Batch, dropout| {
            network.backward_dropped(Vec::new(), batch, dropout, weighted(&slopes)).unwrap()
        };
        let [a, b] = [&batches[0], &batches[1]].map(|batch| run(batch, Some(dropout)));
        let (s, t) = (numbers(a.scores), numbers(b.scores));
        assert!(distance(&s, &t) <= 1e-10 * largest(&s).max(1.0));
        for (a, b) in a.gradients.iter().zip(&b.gradients) {
            let a = a.to_f64();
            assert!(distance(&a, &b.to_f64()) <= 1e-9 * largest(&a).max(1.0));
        }
        let plain = numbers(run(&batches[1], None).scores);
        assert!(distance(&s, &plain) > 1e-3, "without dropout");
        // The nodes of a vertex-transitive graph have one colour, and masks of their own.
        let second = &s[3 * config.level.items(6)..][..6];
        assert!(distance(&second[..3], &second[3..]) > 1e-6, "{second:?}");
    }
}

#[test]
fn gradients_match_finite_differences() {
    for (seed, config) in (0..).zip(configs(2)) {
        let mut random = Stream::new(seed, "graphs", &[]);
        let graphs = [4, 1, 3].map(|n| Rows::random(n, 2, &mut random));
        let batch = batch(2, &graphs.iter().collect::<Vec<_>>(), Precision::F64);
        let slopes: Vec<f64> =
            (0..batch.items(config.level) * 3).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut network = biased(&config, seed, Precision::F64);
        let parameters = arrays(&network);
        let step = network.backward(&batch, weighted(&slopes)).unwrap();
        assert_eq!(step.scores, network.forward(&batch).unwrap());
        let scale = step.gradients.iter().map(|g| largest(&g.to_f64())).fold(1.0, f64::max);
        for (a, part) in network.layout().clone().parts() {
            for _ in 0..4 {
                let at = part.offset + random.below(part.len());
                let analytic = step.gradients[a].to_f64()[at];
                let mut moved = |by: f64| {
                    let mut parameters = parameters.clone();
                    if let Values::F64(v) = &mut parameters[a] {
                        v[at] += by;
                    }
                    network.set_parameters(parameters).unwrap();
                    let scores = numbers(network.forward(&batch).unwrap());
                    scores.iter().zip(&slopes).map(|(s, w)| s * w).sum::<f64>()
                };
                // A step may cross a kink of a ReLU; the best match has not.
                let off = [1e-5, 1e-6, 1e-7].map(|h| ((moved(h) - moved(-h)) / (2.0 * h) - analytic).abs());
                assert!(off.iter().any(|off| *off < 1e-6 * scale), "{}[{at}]: {analytic} {off:?}", part.name);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let config = &configs(1)[0];
    let data = generate("csl:n=9,skips=2+3,copies=1").unwrap();
    let encoder = Encoding::from(Kind::Paper).encoder(data.schema()).unwrap();
    let colours = Colours::of(config, &encoder, data.graphs(), Precision::F64, &Default::default()).unwrap();
    let network = biased(config, 1, Precision::F64);
    let pooled = Batch::quotient(&colours, &[0]).unwrap();
    assert!(network.forward(&pooled).unwrap_err().to_string().contains("made for outputs per graph"));
    let sums = PpgnConfig { model: Model::Sums, ..config.clone() };
    assert!(sums.validate().is_ok());
    assert!(PpgnConfig { order: 3, ..config.clone() }.validate().unwrap_err().is_call());
    let text = serde_json::to_string(config).unwrap();
    assert!(text.contains(r#""level":"node""#), "{text}");
    assert!(!serde_json::to_string(&PpgnConfig::new(1, 1)).unwrap().contains("level"));
}

/// Trains on graphs by absolute error or cross entropy, and gives the scores of others.
struct Learner {
    config: PpgnConfig,
    encoder: ppgn_graph::encode::Encoder,
    epochs: usize,
}

impl Learner {
    /// `loss` is that of the scores of these graphs.
    fn learn(
        &self,
        graphs: &[Graph],
        loss: impl Fn(&[&Graph], &Matrix) -> ppgn_nn::Result<Evaluated>,
    ) -> Ppgn {
        let mut network = self.config.init(0, Precision::F32).unwrap();
        let mut adam = Adam::new(&arrays(&network));
        for epoch in 0..self.epochs {
            let order = Stream::new(0, "order", &[epoch as u64]).permutation(graphs.len());
            let rate = 4e-3 * (1.0 - epoch as f64 / self.epochs as f64);
            for chosen in order.chunks(10) {
                let chosen: Vec<&Graph> = chosen.iter().map(|&g| &graphs[g as usize]).collect();
                let batch = Batch::encode(&self.encoder, &chosen, Precision::F32).unwrap();
                let mut step = network.backward(&batch, |scores| loss(&chosen, scores)).unwrap();
                clip(&mut step.gradients, 10.0);
                network.update(|parameters| adam.step(parameters, &step.gradients, rate)).unwrap();
            }
        }
        network
    }

    fn scores(&self, network: &Ppgn, graphs: &[Graph]) -> Vec<f64> {
        let all: Vec<&Graph> = graphs.iter().collect();
        numbers(network.forward(&Batch::encode(&self.encoder, &all, Precision::F32).unwrap()).unwrap())
    }
}

fn learner(level: Level, outputs: usize, epochs: usize, graphs: &[Graph]) -> Learner {
    let encoding = Encoding { identity: true, ..Kind::Paper.into() };
    let encoder = encoding.encoder(&Schema::of(graphs).unwrap()).unwrap();
    let blocks = vec![BlockConfig::new(16); 3];
    let config = PpgnConfig { level, blocks, ..PpgnConfig::new(encoder.channels().len(), outputs) };
    Learner { config, encoder, epochs }
}

/// The cycles of length 3 and of length 4 through every node, counted one by one.
fn cycles(graph: &Graph) -> Vec<f64> {
    let joined = |u: usize, v: usize| graph.arc(u, v).is_some();
    let around = |u: usize| {
        let near = || graph.neighbours(u).iter().map(|&v| v as usize);
        let (mut three, mut four) = (0, 0);
        for v in near() {
            for w in near().filter(|&w| w > v) {
                three += usize::from(joined(v, w));
                four += (0..graph.nodes()).filter(|&x| x != u && joined(v, x) && joined(w, x)).count();
            }
        }
        [three as f64, four as f64]
    };
    (0..graph.nodes()).flat_map(around).collect()
}

#[test]
fn cycles_through_a_node_are_learned() {
    let graphs = generate("gnp:n=9,p=0.35,count=260").unwrap().graphs().to_vec();
    let (train, test) = graphs.split_at(200);
    let learner = learner(Level::Node, 2, 40, &graphs);
    let of = |graphs: &[Graph]| graphs.iter().flat_map(cycles).collect::<Vec<f64>>();
    let known = of(train);
    let column = |c: usize| known.iter().skip(c).step_by(2);
    let scaling = [0, 1].map(|c| {
        let (n, mean) = (column(c).count() as f64, column(c).sum::<f64>() / column(c).count() as f64);
        (mean, (column(c).map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt())
    });
    let standard = |numbers: Vec<f64>| -> Vec<f64> {
        numbers.chunks(2).flat_map(|y| [0, 1].map(|c| (y[c] - scaling[c].0) / scaling[c].1)).collect()
    };
    let network = learner.learn(train, |graphs, scores| {
        let wanted = standard(graphs.iter().flat_map(|graph| cycles(graph)).collect());
        Loss::absolute_error(&wanted).of(scores)
    });
    let (wanted, scores) = (standard(of(test)), learner.scores(&network, test));
    for c in 0..2 {
        let errors = wanted.iter().zip(&scores).skip(c).step_by(2).map(|(y, s)| (y - s).abs());
        let error = errors.sum::<f64>() / (wanted.len() / 2) as f64;
        assert!(error < 0.05, "cycles of length {}: {error} of the standard deviation", c + 3);
    }
}

/// The distance of every pair of nodes, by breadth-first search; 5 for more, or none.
fn distances(graph: &Graph) -> Vec<usize> {
    let from = |u: usize| {
        let mut far = vec![5; graph.nodes()];
        let mut queue = std::collections::VecDeque::from([(u, 0)]);
        while let Some((v, d)) = queue.pop_front() {
            if d < far[v] {
                far[v] = d;
                queue.extend(graph.neighbours(v).iter().map(|&w| (w as usize, d + 1)));
            }
        }
        far
    };
    (0..graph.nodes()).flat_map(from).collect()
}

#[test]
fn the_distance_of_two_nodes_is_learned() {
    let graphs = generate("gnp:n=9,p=0.25,count=260").unwrap().graphs().to_vec();
    let (train, test) = graphs.split_at(200);
    let learner = learner(Level::Pair, 6, 25, &graphs);
    let of = |graphs: &[&Graph]| graphs.iter().flat_map(|graph| distances(graph)).collect::<Vec<usize>>();
    let network = learner.learn(train, |graphs, scores| Loss::cross_entropy(&of(graphs)).of(scores));
    let (wanted, scores) = (of(&test.iter().collect::<Vec<_>>()), learner.scores(&network, test));
    let best = |row: &[f64]| (0..6).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let right = scores.chunks(6).zip(&wanted).filter(|(row, d)| best(row) == **d).count();
    let accuracy = right as f64 / wanted.len() as f64;
    assert!(accuracy >= 0.99, "{accuracy} of {} pairs", wanted.len());
}
