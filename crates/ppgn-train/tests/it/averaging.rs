//! Cross-validation with several seeds: what is averaged are the predictions of the networks that are there, whatever they
//! predict, however often the runs were interrupted; and nothing that was damaged.

use crate::protocols::in_pieces;
use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_graph::locate::Locator;
use ppgn_nn::{BlockConfig, Level};
use ppgn_train::metrics::{Metric, Part, Selection};
use ppgn_train::protocol::*;
use ppgn_train::*;
use std::path::Path;

const ONE: Workers = Workers { jobs: 1, threads: 1 };

fn overrides(epochs: usize) -> Overrides {
    Overrides {
        epochs: Some(epochs),
        blocks: Some(vec![BlockConfig::new(4); 2]),
        batch: Some(5),
        ..Overrides::default()
    }
}

fn request(data: &Dataset, overrides: Overrides) -> Request<'_> {
    Request { overrides, ..Request::new("data", data) }
}

fn finished(cv: &Cv, data: &Dataset) -> CvReport {
    cv.run(&Session::default(), data, ONE, &|_, _| true).unwrap().unwrap()
}

/// Classes of graphs, targets of molecules with gaps and a reference, values of nodes: after one epoch the figures are those
/// of an [`Ensemble`] of the runs.
#[test]
fn the_average_is_that_of_the_networks_themselves() {
    let molecules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/logp.csv");
    let molecules = Locator::default().load(&molecules.display().to_string()).unwrap();
    let fair = Selection { metric: Metric::Auto, validation: true };
    let once = || Overrides { select: Some(fair), ..overrides(1) };
    for (data, overrides) in [
        (generate("csl:n=11,skips=2+3,copies=15").unwrap(), once()),
        (molecules, Overrides { reference: Some(References::Atoms), ..once() }),
        (generate("short-cycles:n=8,count=24").unwrap(), Overrides { level: Some(Level::Node), ..once() }),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cv = Cv::of_seeds(&request(&data, overrides), &[1, 2], &[3, 5], folder.path()).unwrap();
        let report = finished(&cv, &data);
        assert_eq!((&report.seeds[..], &report.folds[..], report.seed), (&[3, 5][..], &[1, 2][..], 3));
        let mut of_folds = Vec::new();
        for fold in [1, 2] {
            let runs = [3, 5].map(|seed| folder.path().join(format!("seed-{seed}/fold-{fold}")));
            let [first, second] = runs.each_ref().map(|run| std::fs::read(run.join("split.csv")).unwrap());
            assert!(first == second, "the runs of a fold have one split");
            let ensemble = Ensemble::of(&Session::default(), runs.to_vec()).unwrap();
            let (_, split) = ensemble.training_data(&data).unwrap().unwrap();
            let predictions = ensemble.predict(&data).unwrap();
            let truth = Truth::of(ensemble.settings(), &data).unwrap();
            of_folds.push(truth.figures(&split.test, |item| predictions[item].numbers()).unwrap().0);
        }
        let metric = Metric::ALL.into_iter().find(|metric| metric.field() == report.metric).unwrap();
        let curves: Vec<f64> = of_folds.iter().map(|part| metric.value(part).unwrap()).collect();
        for (curve, expected) in report.curves.iter().zip(&curves) {
            assert!((curve[0] - expected).abs() < 1e-6 * (1.0 + expected), "{curve:?} {expected}");
        }
        let figures = report.at_epoch.unwrap();
        let brier = |part: &Part| part.brier;
        if let Some(expected) = of_folds.iter().map(brier).sum::<Option<f64>>() {
            assert!((figures.get(Metric::Brier).unwrap().mean - expected / 2.0).abs() < 1e-6);
        }
        let inner = report.fair.unwrap();
        assert!(inner.inner_curves.len() == 2 && inner.inner_curves.iter().all(|curve| curve.len() == 1));
        assert_eq!(inner.epochs, [1, 1]);
        assert_eq!(report.alone.iter().map(|alone| alone.seed).collect::<Vec<_>>(), [3, 5]);
        assert!(report.alone.iter().all(|alone| alone.mean.is_some() && alone.fair.is_some()));
    }
}

/// The networks of the first seed are those of a cross-validation with that seed alone, and one network is its own average.
#[test]
fn each_network_is_what_it_is_alone() {
    let (folder, data) = (tempfile::tempdir().unwrap(), generate("csl:n=11,skips=2+3,copies=15").unwrap());
    let seeded = Overrides { seed: Some(4), ..overrides(3) };
    let single =
        finished(&Cv::new(&request(&data, seeded), &[1, 2], folder.path().join("one")).unwrap(), &data);
    let of = |seeds: &[u64], name: &str| {
        let cv = Cv::of_seeds(&request(&data, overrides(3)), &[1, 2], seeds, folder.path().join(name));
        finished(&cv.unwrap(), &data)
    };
    let two = of(&[4, 1], "two");
    assert_eq!((two.alone[0].mean, two.alone[0].epoch), (single.accuracy_mean, single.epoch));
    let own = of(&[4], "own");
    assert_eq!((&own.curves, &own.alone[0].mean), (&single.curves, &single.accuracy_mean));
    assert!(own.fair.is_none() && own.alone[0].fair.is_none());
    let limited = Request { limit: Some(10), ..request(&data, overrides(3)) };
    assert!(Cv::of_seeds(&limited, &[], &[0, 1], folder.path().join("no")).unwrap_err().is_call());
}

#[test]
fn interrupted_runs_have_the_predictions_of_whole_ones() {
    let (folder, data) = (tempfile::tempdir().unwrap(), generate("csl:n=11,skips=2+3,copies=15").unwrap());
    let cv = |name: &str| {
        Cv::of_seeds(&request(&data, overrides(3)), &[1, 2], &[0, 1], folder.path().join(name)).unwrap()
    };
    let whole = finished(&cv("whole"), &data);
    let report = in_pieces(&cv("parts"), &data, ONE, 8, 2);
    assert_eq!(CvReport { seconds_training: 0.0, ..report }, CvReport { seconds_training: 0.0, ..whole });
    let predictions =
        |name: &str| std::fs::read(folder.path().join(name).join("seed-1/fold-2/predictions.jsonl")).unwrap();
    assert!(predictions("whole") == predictions("parts"));
}

#[test]
fn damaged_predictions_are_found() {
    let (folder, data) = (tempfile::tempdir().unwrap(), generate("csl:n=11,skips=2+3,copies=15").unwrap());
    let cv = Cv::of_seeds(&request(&data, overrides(2)), &[1], &[0, 1], folder.path()).unwrap();
    finished(&cv, &data);
    let file = folder.path().join("seed-1/fold-1/predictions.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let digit = whole.find("0.").unwrap() + 2;
    let other = if whole.as_bytes()[digit] == b'1' { "2" } else { "1" };
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut changed = whole.clone();
    changed.replace_range(digit..=digit, other);
    for (text, message) in [
        (changed, "not those that its metrics were computed from"),
        (lines[0].into(), "1 epochs"),
        (lines[1].into(), "epoch 2 in the place of epoch 1"),
        (whole.replace("test", "tests"), "not the predictions of an epoch"),
        (String::new(), "0 epochs"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = cv.run(&Session::default(), &data, ONE, &|_, _| true).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("predictions.jsonl"), "{error}");
    }
    std::fs::write(&file, whole).unwrap();
    finished(&cv, &data);
}
