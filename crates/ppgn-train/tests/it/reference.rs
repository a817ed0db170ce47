//! Reference energies: what is fitted and stored, that predictions have it added again, that all figures are those of these
//! predictions, and what is refused.

use crate::recipes::{gaps, trained};
use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_graph::locate::Locator;
use ppgn_nn::{BlockConfig, Level, Pooling};
use ppgn_train::protocol::{Cv, Workers};
use ppgn_train::{
    Division, Overrides, Part, Prediction, Predictor, References, Request, Session, Settings, Task, Truth,
    limited,
};
use std::io::Write;
use std::path::Path;

/// 120 molecules with two targets, one of which some lack.
fn molecules() -> Dataset {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/logp.csv");
    Locator::default().load(&file.display().to_string()).unwrap()
}

fn overrides() -> Overrides {
    Overrides {
        reference: Some(References::Atoms),
        blocks: Some(vec![BlockConfig::new(4)]),
        // Sums have large scores from the start: they would show if the reference were counted twice.
        pooling: Some(Pooling::Sum),
        epochs: Some(2),
        ..Overrides::default()
    }
}

fn settings(data: &Dataset, overrides: Overrides) -> ppgn_train::Result<Settings> {
    Settings::resolve(&Request { overrides, ..Request::new("data", data) })
}

/// The sum of the energies of a graph's atoms, atom by atom.
fn sum(settings: &Settings, data: &Dataset, graph: usize, target: usize) -> f64 {
    let (reference, graph) = (&settings.reference, data.graph(graph));
    let column = data.schema().node_labels.iter().position(|c| c.name() == "atom").unwrap();
    let energy = |node: usize| {
        let place = reference.elements.binary_search(&graph.node_labels(node)[column]);
        place.map_or(0.0, |place| reference.energies[target][place])
    };
    (0..graph.nodes()).map(energy).sum()
}

#[test]
fn figures_are_those_of_the_predictions() {
    let data = molecules();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let settings = settings(&data, overrides()).unwrap();
    assert_eq!(settings.reference.energies.len(), 2);
    let (summary, _) = trained(&path, &data, settings.clone());
    let predictor = Predictor::open(&Session::default(), &path).unwrap();
    assert_eq!(predictor.settings(), &settings);
    let (scores, predictions) = (predictor.scores(&data).unwrap(), predictor.predict(&data).unwrap());
    for (graph, (scores, prediction)) in scores.iter().zip(&predictions).enumerate() {
        let Prediction::Values(values) = prediction else { panic!("values are predicted") };
        for (t, ((value, score), scaling)) in values.iter().zip(scores).zip(&settings.scaling).enumerate() {
            let expected = score * scaling.deviation + scaling.mean + sum(&settings, &data, graph, t);
            assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} {expected}");
        }
    }
    let truth = Truth::of(&settings, &data).unwrap();
    let split = settings.trained().unwrap().split(&data, settings.training.seed).unwrap();
    let (part, _) = truth.figures(&split.test, |item| predictions[item].numbers()).unwrap();
    let baseline = truth.baseline_figures(&split.test, &truth.baseline(&split.train)).unwrap();
    let test = summary.sets.unwrap().test.unwrap();
    for (run, again) in [(&test.metrics, &part), (&test.baseline, &baseline)] {
        let all = |part: &Part| -> Vec<f64> {
            let errors = part.mae.iter().map(|&e| Some(e));
            errors
                .chain(part.rmse.iter().copied())
                .chain(part.r2.iter().copied())
                .map(Option::unwrap)
                .collect()
        };
        let (run, again) = (all(run), all(again));
        assert_eq!((run.len(), again.len()), (6, 6));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5 * b.abs().max(1.0);
        assert!(run.iter().zip(&again).all(near), "{run:?} {again:?}");
    }
    let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 * b;
    assert!(summary.mae_of_mean.iter().zip(&test.baseline.mae).all(same), "{:?}", summary.mae_of_mean);
}

/// The energies are fitted to the training set of every fold, and explain most of a sum over atoms.
#[test]
fn every_fold_has_its_own() {
    let data = molecules();
    let folder = tempfile::tempdir().unwrap();
    let once = Overrides { epochs: Some(1), ..overrides() };
    let request = Request { overrides: once, targets: vec!["TPSA".into()], ..Request::new("data", &data) };
    let cv = Cv::new(&request, &[1, 2], folder.path()).unwrap();
    let energies: Vec<_> = cv.jobs().iter().map(|job| job.settings.reference.energies.clone()).collect();
    assert_ne!(energies[0], energies[1]);
    let workers = Workers::new(Some(1), Some(1));
    let report = cv.run(&Session::default(), &data, workers, &|_, _| true).unwrap().unwrap();
    assert_eq!(report.folds, [1, 2]);
    let plain = settings(&data, Overrides { reference: None, ..overrides() }).unwrap();
    let fitted = settings(&data, overrides()).unwrap();
    let deviation = |settings: &Settings| settings.scaling[1].deviation;
    assert!(deviation(&fitted) < 0.7 * deviation(&plain), "{} {}", deviation(&fitted), deviation(&plain));
}

#[test]
fn what_has_no_elements_is_refused() {
    let classes = generate("csl").unwrap();
    let pairs = generate("distances:n=5,count=12").unwrap();
    let on_pairs = Overrides { level: Some(Level::Pair), ..overrides() };
    for (data, overrides, word) in [
        (&classes, overrides(), "regression"),
        (&gaps(Task::Regression), overrides(), "node labels called `atom`"),
        (&pairs, on_pairs, ""),
    ] {
        let error = settings(data, overrides).unwrap_err();
        assert!(error.is_call() && error.to_string().contains(word), "{error}");
    }
}

#[test]
fn elements_without_an_energy_are_named() {
    let data = molecules();
    let mut settings = settings(&data, overrides()).unwrap();
    assert_eq!(settings.reference_warning(&data).map(|w| w.to_string()), None);
    let oxygen = settings.reference.elements.iter().position(|&e| e == 8).unwrap();
    settings.reference.elements.remove(oxygen);
    for row in &mut settings.reference.energies {
        row.remove(oxygen);
    }
    let warning = settings.reference_warning(&data).unwrap().to_string();
    assert!(warning.contains("the elements O;"), "{warning}");
}

/// On QM9 the elements alone explain U0 to about 0.03 of 10 hartree.
#[test]
fn elements_explain_most_of_u0() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/qm9/qm9_130831.npz");
    if !file.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", file.display());
        return;
    }
    let whole = Locator::default().load(&file.display().to_string()).unwrap();
    let data = limited(&whole, Some(4000), 0).unwrap();
    let request =
        Request { overrides: overrides(), targets: vec!["u0".into()], ..Request::new("qm9", &data) };
    let request = Request { division: Division::Shares([0.8, 0.1, 0.1]), ..request };
    let settings = Settings::resolve(&request).unwrap();
    let split = settings.trained().unwrap().split(&data, 0).unwrap();
    let column = data.header().targets.iter().position(|t| t.name == "u0").unwrap();
    let error = |&g: &u32| {
        let left = data.targets(g as usize)[column] - sum(&settings, &data, g as usize, 0);
        (left - settings.scaling[0].mean).abs()
    };
    let mean = split.test.iter().map(error).sum::<f64>() / split.test.len() as f64;
    assert!((0.02..0.045).contains(&mean), "{mean}");
    // Carbon is near -38 hartree.
    let carbon = settings.reference.elements.iter().position(|&e| e == 6).unwrap();
    assert!((settings.reference.energies[0][carbon] + 38.0).abs() < 0.3, "{:?}", settings.reference);
}
