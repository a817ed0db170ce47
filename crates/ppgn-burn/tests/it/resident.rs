//! Networks that live on a device: what they compute, what they keep, and what crosses the border.

use crate::shared::{arrays, biased, distance, largest};
use ppgn_burn::{Gpu, devices};
use ppgn_graph::random::Stream;
use ppgn_nn::device::{Accelerator, Input, Pass, Training};
use ppgn_nn::{Adam, Average, Batch, BlockConfig, Loss, Number, Ppgn, PpgnConfig, Precision, Values};

fn config() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(6); 2], ..PpgnConfig::new(2, 2) }
}

/// Rows of graphs of these sizes.
fn rows(sizes: &[usize]) -> Vec<(usize, Vec<f32>)> {
    let mut random = Stream::new(1, "rows", &[]);
    sizes.iter().map(|&n| (n, (0..2 * n * n).map(|_| random.uniform(-1.0, 1.0) as f32).collect())).collect()
}

fn batch<T: Number>(rows: &[(usize, Vec<f32>)], chosen: &[u32]) -> Batch {
    let numbers: Vec<(usize, Vec<T>)> = chosen
        .iter()
        .map(|&g| {
            (rows[g as usize].0, rows[g as usize].1.iter().map(|&x| T::from_f64(f64::from(x))).collect())
        })
        .collect();
    let pairs: Vec<(usize, &[T])> = numbers.iter().map(|(n, rows)| (*n, &rows[..])).collect();
    Batch::dense(2, &pairs).unwrap()
}

/// Some steps on the CPU engine: the network and its optimiser.
fn steps(mut network: Ppgn, mut adam: Adam, batch: &Batch, classes: &[usize], count: usize) -> (Ppgn, Adam) {
    for _ in 0..count {
        let step = network.backward(batch, |scores| Loss::cross_entropy(classes).of(scores)).unwrap();
        network.update(|weights| adam.step(weights, &step.gradients, 1e-2)).unwrap();
    }
    (network, adam)
}

#[test]
fn weights_and_moments_go_there_and_come_back() {
    let rows = rows(&[3, 4, 3, 2]);
    let (chosen, classes) = ([2, 0, 3, 1], [0, 1, 1, 0]);
    let batch = batch::<f64>(&rows, &chosen);
    let network = biased(&config(), 1, Precision::F64);
    let (network, adam) = steps(network.clone(), Adam::new(&arrays(&network)), &batch, &classes, 3);
    let mut there = Gpu::plain().load(&network).unwrap();
    there.begin(&adam, None).unwrap();
    let state = there.state().unwrap();
    assert_eq!(
        (state.weights, state.adam),
        (arrays(&network), adam.clone()),
        "nothing is rounded on the way"
    );
    let terms = Loss::cross_entropy(&classes).terms(4, 2).unwrap();
    for _ in 0..5 {
        let input = Input { graphs: &chosen, batch: Some(&batch), again: false };
        let step = Training { pass: Pass { input, terms: &terms, dropout: None }, rate: 1e-2, clip: 0.0 };
        assert!(there.step(&step).unwrap().squares > 0.0);
    }
    let state = there.state().unwrap();
    let (network, adam) = steps(network, adam, &batch, &classes, 5);
    assert_eq!(state.adam.steps, adam.steps);
    for (found, wanted) in
        [(state.weights, arrays(&network)), (state.adam.first, adam.first), (state.adam.second, adam.second)]
    {
        for (a, b) in found.iter().zip(&wanted) {
            assert!(distance(&a.to_f64(), &b.to_f64()) < 1e-9 * largest(&b.to_f64()).max(1.0));
        }
    }
}

/// A dataset that is held gives the batches that would have been uploaded.
#[test]
fn held_rows_make_the_same_batches() {
    let all = rows(&[3, 4, 3, 2, 5]);
    let network = biased(&config(), 1, Precision::F32);
    let mut held = Gpu::plain().load(&network).unwrap();
    let nodes: Vec<usize> = all.iter().map(|(n, _)| *n).collect();
    assert!(!held.holds(&[0]));
    assert!(held.hold(&nodes, &mut |g| Ok(batch::<f32>(&all, &[g as u32]))).unwrap());
    for chosen in [&[4, 0, 2][..], &[1], &[0, 1, 2, 3, 4]] {
        assert!(held.holds(chosen));
        let found = held.forward(&Input { graphs: chosen, batch: None, again: false }, false).unwrap();
        let wanted = network.forward(&batch::<f32>(&all, chosen)).unwrap().to_f64();
        assert!(distance(&found.to_f64(), &wanted) < 1e-5 * largest(&wanted).max(1.0));
    }
    let lost = held.forward(&Input { graphs: &[5], batch: None, again: false }, false);
    assert!(lost.unwrap_err().to_string().contains("does not hold"));
}

/// What crosses the border in a step: indices, masks of pooling and the loss's terms go up, one tensor comes back.
#[test]
fn a_step_moves_neither_weights_nor_rows() {
    let all = rows(&[3, 4, 3, 2]);
    let network = biased(&config(), 1, Precision::F32);
    let mut there = Gpu::plain().load(&network).unwrap();
    there.begin(&Adam::new(&arrays(&network)), None).unwrap();
    there.hold(&[3, 4, 3, 2], &mut |g| Ok(batch::<f32>(&all, &[g as u32]))).unwrap();
    let terms = Loss::cross_entropy(&[0, 1, 1, 0]).terms(4, 2).unwrap();
    let trace = |there: &mut dyn ppgn_nn::device::OnDevice| {
        there.transfers();
        let input = Input { graphs: &[2, 0, 3, 1], batch: None, again: true };
        there
            .step(&Training { pass: Pass { input, terms: &terms, dropout: None }, rate: 1e-2, clip: 1.0 })
            .unwrap();
        there.transfers()
    };
    let first = trace(&mut *there);
    assert!(first.contains("indices") && !first.contains("weights of the network"), "{first}");
    // A batch that comes again is there already.
    let again = trace(&mut *there);
    let lines: Vec<Vec<&str>> = again.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines,
        [
            vec!["up", "terms", "of", "the", "loss", "1", "tensors", "32", "bytes"],
            vec!["down", "scores", "1", "tensors", "36", "bytes"],
        ]
    );
}

/// A step in two halves, with the gradient on the host in between, is the same step. It moves the gradient, and nothing else of
/// that size.
#[test]
fn a_step_in_two_halves_is_a_step() {
    let all = rows(&[3, 4, 3, 2]);
    let chosen = [2, 0, 3, 1];
    let batch = batch::<f64>(&all, &chosen);
    let network = biased(&config(), 1, Precision::F64);
    let terms = Loss::cross_entropy(&[0, 1, 1, 0]).terms(4, 2).unwrap();
    let input = Input { graphs: &chosen, batch: Some(&batch), again: true };
    let pass = Pass { input, terms: &terms, dropout: None };
    let begun = || {
        let mut there = Gpu::plain().load(&network).unwrap();
        let average = Average::new(0.9, &arrays(&network));
        there.begin(&Adam::new(&arrays(&network)), Some(&average)).unwrap();
        there
    };
    let (mut whole, mut halves) = (begun(), begun());
    for _ in 0..3 {
        let stepped = whole.step(&Training { pass, rate: 1e-2, clip: 0.0 }).unwrap();
        let passed = halves.gradients(&pass).unwrap();
        halves.apply(&passed.gradients, 1e-2).unwrap();
        assert_eq!(stepped.scores.to_f64(), passed.scores.to_f64());
        let squares: f64 = passed.gradients.iter().flat_map(Values::to_f64).map(|x| x * x).sum();
        assert!((stepped.squares - squares).abs() < 1e-12 * squares);
    }
    let [whole, halved] = [&whole, &halves].map(|there| there.state().unwrap());
    assert_eq!((whole.weights, whole.adam), (halved.weights, halved.adam));
    assert_eq!(whole.average.unwrap().weights, halved.average.unwrap().weights);
    halves.transfers();
    let passed = halves.gradients(&pass).unwrap();
    halves.apply(&passed.gradients, 1e-2).unwrap();
    let bytes = 8 * arrays(&network).iter().map(Values::len).sum::<usize>();
    let moved: Vec<String> = halves.transfers().lines().map(str::to_string).collect();
    let of = |direction: &str, what: &str| {
        let line = moved.iter().find(|line| line.starts_with(direction) && line.contains(what));
        line.and_then(|line| line.split_whitespace().rev().nth(1)).unwrap().parse::<usize>().unwrap()
    };
    assert_eq!((of("down", "gradients"), of("up", "gradients")), (bytes, bytes));
    assert_eq!((moved.len(), of("up", "terms"), of("down", "scores")), (4, 64, 64));
    let wrong = halves.apply(&passed.gradients[1..], 1e-2).unwrap_err().to_string();
    assert!(wrong.contains("gradients do not match"), "{wrong}");
}

/// Bits repeat: sums have a fixed order.
#[test]
fn steps_repeat_to_the_bit() {
    let all = rows(&[3, 4, 3, 2, 6]);
    let chosen = [4, 2, 0, 3, 1];
    for device in devices().into_iter().chain([Gpu::plain()]) {
        let run = || {
            let network = biased(&config(), 1, Precision::F32);
            let mut there = device.load(&network).unwrap();
            there.begin(&Adam::new(&arrays(&network)), None).unwrap();
            let terms = Loss::cross_entropy(&[0, 1, 1, 0, 1]).terms(5, 2).unwrap();
            let batch = batch::<f32>(&all, &chosen);
            for _ in 0..4 {
                let input = Input { graphs: &chosen, batch: Some(&batch), again: true };
                there
                    .step(&Training {
                        pass: Pass { input, terms: &terms, dropout: None },
                        rate: 1e-2,
                        clip: 0.0,
                    })
                    .unwrap();
            }
            there.state().unwrap().weights
        };
        let first: Vec<Values> = run();
        assert!(first == run(), "{device:?}");
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let all = rows(&[6, 6]);
    let network = biased(&config(), 1, Precision::F32);
    let device = Gpu::plain().with_largest(1000);
    let refused = device.check(&config(), Precision::F32, &[6, 6]).unwrap_err().to_string();
    assert!(device.check(&config(), Precision::F32, &[6]).is_ok());
    let mut there = device.load(&network).unwrap();
    let batch = batch::<f32>(&all, &[0, 1]);
    let error = there.forward(&Input { graphs: &[], batch: Some(&batch), again: false }, false).unwrap_err();
    assert!(
        refused.contains("72 rows of up to 6 channels") && refused.contains("smaller batches"),
        "{refused}"
    );
    assert_eq!(error.to_string(), refused);
    assert!(!there.hold(&[600; 9], &mut |_| panic!("it is not asked for")).unwrap());
    for device in devices().into_iter().filter(|device| !device.has_f64()) {
        let error = device.load(&biased(&config(), 1, Precision::F64)).err().unwrap();
        assert!(error.is_call() && error.to_string().contains("does not compute in f64"), "{error}");
    }
}
