//! Ranks that share the steps of one training, each on a device: the curves of one rank and of the CPU engine, and the same bits
//! again. The ranks are threads here; `crates/ppgn/tests/mpi.rs` has those of MPI.

use crate::runs::{close, losses, settings};
use ppgn_burn::{Gpu, devices};
use ppgn_graph::generate::generate;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{Activation, Level, Pooling, Precision, SpaceChoice};
use ppgn_train::ranks::Ranks;
use ppgn_train::{Error, NotFinite, Outcome, Overrides, Run, Session, Settings, check_memory, follow, train};
use std::path::Path;
use std::sync::Arc;

/// Where each rank computes: on a device, or on the CPU engine.
type Places = [Option<Gpu>];

/// Graphs of 4 to 9 nodes, and whether they have many edges.
fn data() -> Dataset {
    let of_size =
        |n: usize| generate(&format!("gnp:n={n},p=0.4,count=6,seed={n}")).unwrap().graphs().to_vec();
    let graphs: Vec<Graph> = (4..10).flat_map(of_size).collect();
    let many = |g: &Graph| i64::from(5 * g.edges() > g.nodes() * (g.nodes() - 1));
    let labels = graphs.iter().map(many).collect();
    Dataset::builder("sizes").graphs(graphs).labels(labels).build().unwrap()
}

/// Trains a run on as many ranks as there are places: how it ended on each of them.
fn trained(places: &Places, run: &Run, data: &Dataset) -> (Result<Outcome, Error>, Vec<Result<(), Error>>) {
    let session = |ranks: &Ranks, place: &Option<Gpu>| {
        let device = place.clone().map(|device| Arc::new(device) as Arc<_>);
        Session::default().with_ranks(Some(ranks.clone())).with_device(device)
    };
    let ranks = Ranks::in_process(places.len());
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for (ranks, place) in ranks.iter().zip(places).skip(1) {
            others.push(scope.spawn(move || {
                let ended = follow(&session(ranks, place), data);
                ranks.leave(ended.as_ref().err().map(ToString::to_string).as_deref());
                ended
            }));
        }
        let outcome = train(&session(&ranks[0], &places[0]), run, data, &mut |_| true);
        ranks[0].leave(None);
        (outcome, others.into_iter().map(|rank| rank.join().unwrap()).collect())
    })
}

/// The losses of a whole run.
fn curve(places: &Places, path: &Path, data: &Dataset, settings: &Settings) -> Vec<f64> {
    let (outcome, others) = trained(places, &Run::create(path, settings.clone()).unwrap(), data);
    assert!(matches!(outcome.unwrap(), Outcome::Finished(_)));
    others.into_iter().for_each(|ended| ended.unwrap());
    losses(path)
}

/// In f64, where rounding decides no maximum: any ranks, with empty shares, and some of them on the CPU engine.
#[test]
fn any_ranks_follow_the_curve_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let device = || Some(Gpu::plain());
    let recipe = Overrides { dropout: Some(0.2), clip: Some(0.5), ema: Some(0.9), ..Overrides::default() };
    let in_space = |space| Overrides { space: Some(space), ..recipe.clone() };
    let cases = [
        ("dense", data(), in_space(SpaceChoice::Dense)),
        ("quotient", data(), in_space(SpaceChoice::Quotient)),
        (
            "node",
            generate("short-cycles:n=6,count=20").unwrap(),
            Overrides { level: Some(Level::Node), ..Overrides::default() },
        ),
    ];
    for (name, data, overrides) in cases {
        let mut settings = settings(&data, 3, overrides);
        settings.training.batch = 5;
        let at = |word: &str| folder.path().join(format!("{name}-{word}"));
        let wanted = curve(&[None], &at("cpu"), &data, &settings);
        // Seven ranks are more than a batch has graphs.
        let teams = [vec![device(), device()], vec![device(), None, device()], vec![None, device()]];
        for (number, places) in teams.into_iter().chain([vec![device(); 7]]).enumerate() {
            close(&curve(&places, &at(&number.to_string()), &data, &settings), &wanted);
        }
        curve(&[device(), device()], &at("again"), &data, &settings);
        let weights = |word| std::fs::read(at(word).join("checkpoint/model.safetensors")).unwrap();
        assert_eq!(weights("0"), weights("again"), "the bits repeat");
    }
}

/// 20 steps on every GPU that there is, in f32 and on a smooth network: one step per epoch.
#[test]
fn two_ranks_on_a_gpu_follow_the_curve_of_one() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let smooth = Overrides {
        activation: Some(Activation::Gelu),
        pooling: Some(Pooling::Mean),
        clip: Some(1.0),
        ..Overrides::default()
    };
    let mut settings = settings(&data, 20, smooth);
    (settings.training.precision, settings.training.batch) = (Precision::F32, data.len());
    for (number, device) in devices().into_iter().enumerate() {
        let at = |word: &str| folder.path().join(format!("{number}-{word}"));
        let train = |places: &Places, word: &str| curve(places, &at(word), &data, &settings);
        let here = Some(device);
        let two = train(&[here.clone(), here.clone()], "two");
        let others = [("one", vec![here]), ("cpu", vec![None, None])];
        for (word, places) in others {
            let wanted = train(&places, word);
            assert_eq!((two.len(), wanted.len()), (60, 60));
            let off = two.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / b.abs().max(1e-3));
            let off = off.fold(0.0, f64::max);
            assert!(off < 1e-4, "{word}: {off}");
        }
    }
}

/// A loss that is not finite ends the training on all ranks, at the same step.
#[test]
fn what_is_not_finite_ends_all_ranks() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let mut settings = settings(&data, 9, Overrides::default());
    settings.training.rate = 1e200;
    let run = Run::create(folder.path().join("run"), settings).unwrap();
    let (outcome, others) = trained(&[Some(Gpu::plain()), Some(Gpu::plain())], &run, &data);
    let place = |error: Error| match error {
        Error::NotFinite(NotFinite { epoch, batch, .. }) => (epoch, batch),
        other => panic!("{other}"),
    };
    let first = place(outcome.unwrap_err());
    let second = place(others.into_iter().next().unwrap().unwrap_err());
    assert_eq!(first, second);
}

/// What is too large for one device may fit two that share it.
#[test]
fn what_does_not_fit_is_refused_and_shares_may_fit() {
    let (data, folder) = (generate("csl:n=11,skips=2+3,copies=12").unwrap(), tempfile::tempdir().unwrap());
    let settings = settings(&data, 1, Overrides::default());
    // 8 graphs of 11 nodes, 6 channels of f64.
    let whole = 8 * 121 * 6 * 8;
    let half = Some(Gpu::plain().with_largest(whole / 2));
    let session = |size: usize| {
        let ranks = Ranks::in_process(size).into_iter().next();
        Session::default().with_ranks(ranks).with_device(half.clone().map(|half| Arc::new(half) as Arc<_>))
    };
    let refused = check_memory(&session(1), &settings, &data).unwrap_err().to_string();
    assert!(refused.contains("smaller batches"), "{refused}");
    check_memory(&session(2), &settings, &data).unwrap();
    curve(&[half.clone(), half.clone()], &folder.path().join("halves"), &data, &settings);
    // A rank with a smaller device says so, and nothing is trained.
    let run = Run::create(folder.path().join("small"), settings).unwrap();
    let (outcome, others) = trained(&[half, Some(Gpu::plain().with_largest(whole / 3))], &run, &data);
    let error = outcome.unwrap_err().to_string();
    assert!(error.starts_with("rank 1: ") && error.contains("smaller batches"), "{error}");
    assert!(others[0].is_err() && !run.path().join("metrics.jsonl").exists());
}
