//! Dropout: gradients against finite differences with the masks held fixed, the shares that are zeroed, and the same step
//! on both spaces, in any order of a batch and with any number of threads.

use crate::shared::{arrays, biased, largest};
use ppgn_graph::Graph;
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_nn::{Batch, BlockConfig, Colours, Dropout, Loss, PpgnConfig, Precision, Step, SuffixKind, Values};

fn config(suffix: SuffixKind) -> PpgnConfig {
    let suffix_hidden = vec![6, 5];
    PpgnConfig { blocks: vec![BlockConfig::new(5); 2], suffix, suffix_hidden, ..PpgnConfig::new(1, 3) }
}

const GRAPHS: [u32; 4] = [3, 0, 5, 1];

fn dropout(graphs: &[u32]) -> Dropout<'_> {
    Dropout { probability: 0.4, seed: 11, epoch: 2, step: 1, graphs }
}

/// The batch of these graphs on either space.
fn batch(config: &PpgnConfig, graphs: &[u32], quotient: bool) -> Batch {
    let data = generate("gnp:n=6,p=0.5,count=6").unwrap();
    let encoder = Encoding::from(Kind::Paper).encoder(data.schema()).unwrap();
    if quotient {
        let colours =
            Colours::of(config, &encoder, data.graphs(), Precision::F64, &Default::default()).unwrap();
        return Batch::quotient(&colours, &graphs.iter().map(|&g| g as usize).collect::<Vec<_>>()).unwrap();
    }
    let chosen: Vec<&Graph> = graphs.iter().map(|&g| data.graph(g as usize)).collect();
    Batch::encode(&encoder, &chosen, Precision::F64).unwrap()
}

fn step(network: &ppgn_nn::Ppgn, batch: &Batch, graphs: &[u32]) -> Step {
    let classes: Vec<usize> = graphs.iter().map(|&g| g as usize % 3).collect();
    let loss = |scores: &ppgn_nn::Matrix| Loss::cross_entropy(&classes).of(scores);
    network.backward_dropped(Vec::new(), batch, Some(dropout(graphs)), loss).unwrap()
}

#[test]
fn gradients_match_finite_differences() {
    for suffix in [SuffixKind::I, SuffixKind::Ii] {
        let config = config(suffix);
        let batch = batch(&config, &GRAPHS, false);
        let mut network = biased(&config, 5, Precision::F64);
        let parameters = arrays(&network);
        let whole = step(&network, &batch, &GRAPHS);
        assert_ne!(whole.scores, network.forward(&batch).unwrap(), "without dropout");
        let scale = whole.gradients.iter().map(|g| largest(&g.to_f64())).fold(1.0, f64::max);
        let mut random = Stream::new(5, "places", &[]);
        for (a, part) in network.layout().clone().parts() {
            for _ in 0..4 {
                let at = part.offset + random.below(part.len());
                let analytic = whole.gradients[a].to_f64()[at];
                let mut moved = |by: f64| {
                    let mut parameters = parameters.clone();
                    if let Values::F64(v) = &mut parameters[a] {
                        v[at] += by;
                    }
                    network.set_parameters(parameters).unwrap();
                    step(&network, &batch, &GRAPHS).loss
                };
                // A step may cross a kink of a ReLU or of a maximum; the best match has not.
                let off = [1e-5, 1e-6, 1e-7].map(|h| ((moved(h) - moved(-h)) / (2.0 * h) - analytic).abs());
                assert!(off.iter().any(|off| *off < 1e-6 * scale), "{}[{at}]: {analytic} {off:?}", part.name);
            }
        }
    }
}

#[test]
fn spaces_orders_and_threads_do_not_matter() {
    for suffix in [SuffixKind::I, SuffixKind::Ii] {
        let config = config(suffix);
        let network = biased(&config, 5, Precision::F64);
        let dense = step(&network, &batch(&config, &GRAPHS, false), &GRAPHS);
        let quotient = step(&network, &batch(&config, &GRAPHS, true), &GRAPHS);
        let close = |a: &Values, b: &Values| {
            let size = largest(&a.to_f64()).max(1.0);
            a.to_f64().iter().zip(b.to_f64()).all(|(a, b)| (a - b).abs() < 1e-10 * size)
        };
        assert!(close(dense.scores.values(), quotient.scores.values()));
        assert!(dense.gradients.iter().zip(&quotient.gradients).all(|(a, b)| close(a, b)));
        let reversed: Vec<u32> = GRAPHS.iter().rev().copied().collect();
        let other = step(&network, &batch(&config, &reversed, false), &reversed);
        let rows = |step: &Step| step.scores.to_f64().chunks(3).map(<[f64]>::to_vec).collect::<Vec<_>>();
        assert!(rows(&dense).iter().eq(rows(&other).iter().rev()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let again = pool.install(|| step(&network, &batch(&config, &GRAPHS, false), &GRAPHS));
        assert_eq!((again.loss, again.gradients), (dense.loss, dense.gradients));
    }
}

#[test]
fn the_share_of_zeros_is_the_probability_and_masks_differ() {
    let mask = |epoch, step, graph| Dropout { epoch, step, graphs: &[graph], ..dropout(&[]) }.mask(0, 20_000);
    let zeros = mask(2, 1, 3).iter().filter(|&&x| x == 0.0).count() as f64 / 20_000.0;
    assert!((zeros - 0.4).abs() < 0.015, "{zeros}");
    for other in [mask(1, 1, 3), mask(2, 0, 3), mask(2, 1, 4)] {
        assert_ne!(mask(2, 1, 3), other);
    }
    let config = config(SuffixKind::Ii);
    let batch = batch(&config, &GRAPHS, false);
    let network = biased(&config, 5, Precision::F64);
    let loss = |scores: &ppgn_nn::Matrix| Loss::cross_entropy(&[0; 4]).of(scores);
    let refused = network.backward_dropped(Vec::new(), &batch, Some(dropout(&[1, 2])), loss).unwrap_err();
    assert!(refused.is_call() && refused.to_string().contains("4 graphs"), "{refused}");
}
