//! The protocols on tiny data: whatever the number of workers, and however often interrupted, the same figures.

use ppgn_graph::generate::generate;
use ppgn_graph::{Dataset, Graph, Target};
use ppgn_nn::BlockConfig;
use ppgn_train::protocol::*;
use ppgn_train::*;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data() -> Dataset {
    generate("csl:n=11,skips=2+3,copies=15").unwrap()
}

fn tiny() -> Overrides {
    Overrides {
        epochs: Some(3),
        blocks: Some(vec![BlockConfig::new(4); 2]),
        batch: Some(5),
        ..Overrides::default()
    }
}

fn request<'a>(dataset: &'a Dataset, overrides: &Overrides) -> Request<'a> {
    Request { overrides: overrides.clone(), ..Request::new("csl", dataset) }
}

const ONE: Workers = Workers { jobs: 1, threads: 1 };

fn metrics(folder: &Path, fold: usize) -> Vec<u8> {
    std::fs::read(folder.join(format!("fold-{fold}/metrics.jsonl"))).unwrap()
}

/// The report of a cross-validation that is stopped after every so many steps and begun again, at least `least` times.
pub(crate) fn in_pieces(cv: &Cv, data: &Dataset, workers: Workers, steps: usize, least: usize) -> CvReport {
    for calls in 1..50 {
        let taken = AtomicUsize::new(0);
        let count = |_: &Job, notice: Notice<'_>| match notice {
            Notice::Training(Event::Step { .. }) => taken.fetch_add(1, Ordering::Relaxed) < steps,
            _ => true,
        };
        if let Some(report) = cv.run(&Session::default(), data, workers, &count).unwrap() {
            assert!(calls > least, "{calls}");
            return report;
        }
    }
    panic!("it does not end");
}

#[test]
fn folds_do_not_depend_on_the_workers_nor_on_interruptions() {
    let folder = tempfile::tempdir().unwrap();
    let (data, overrides) = (data(), tiny());
    let cv = |name: &str, folds: &[usize]| {
        Cv::new(&request(&data, &overrides), folds, folder.path().join(name)).unwrap()
    };
    let whole = cv("whole", &[]).run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    assert_eq!((whole.folds.len(), whole.folds_are, whole.curves[9].len()), (10, "dealt", 3));
    // Folds start from different weights.
    assert_ne!(metrics(&folder.path().join("whole"), 1), metrics(&folder.path().join("whole"), 2));

    let three = Workers { jobs: 3, threads: 1 };
    let report = in_pieces(&cv("parts", &[]), &data, three, 60, 2);
    assert_eq!(
        CvReport { seconds_training: 0.0, ..report },
        CvReport { seconds_training: 0.0, ..whole.clone() }
    );
    for fold in 1..=10 {
        assert_eq!(metrics(&folder.path().join("whole"), fold), metrics(&folder.path().join("parts"), fold));
    }
    // What is finished is read, and some folds are averaged by themselves.
    let some = cv("whole", &[2, 5]);
    let trained = |_: &Job, notice: Notice<'_>| !matches!(notice, Notice::Training(_));
    let report = some.run(&Session::default(), &data, ONE, &trained).unwrap().unwrap();
    assert_eq!(report.curves, [whole.curves[1].clone(), whole.curves[4].clone()]);
    assert!(folder.path().join("whole/cv.json").exists());
}

#[test]
fn more_epochs_extend_what_is_there() {
    let (folder, data) = (tempfile::tempdir().unwrap(), data());
    let cv = |name: &str, epochs: usize, schedule: Schedule| {
        let overrides = Overrides { epochs: Some(epochs), schedule: Some(schedule), ..tiny() };
        Cv::of_seeds(&request(&data, &overrides), &[1, 2], &[0, 3], folder.path().join(name)).unwrap()
    };
    let run = |cv: &Cv| cv.run(&Session::default(), &data, ONE, &|_, _| true);
    let whole = run(&cv("whole", 5, Schedule::Step)).unwrap().unwrap();
    run(&cv("parts", 2, Schedule::Step)).unwrap().unwrap();
    let longer = cv("parts", 5, Schedule::Step);
    assert_eq!(longer.jobs()[3].standing().unwrap(), Standing::Begun(2));
    assert_eq!(longer.jobs()[3].epochs_left().unwrap(), 3);
    // Interrupted on the way, which leaves runs of both numbers of epochs.
    let report = in_pieces(&longer, &data, ONE, 60, 1);
    assert_eq!(CvReport { seconds_training: 0.0, ..report }, CvReport { seconds_training: 0.0, ..whole });
    for file in ["metrics.jsonl", "predictions.jsonl", "config.toml", "summary.json"] {
        let of =
            |name: &str| std::fs::read(folder.path().join(name).join("seed-3/fold-2").join(file)).unwrap();
        assert!(of("whole") == of("parts"), "{file}");
    }
    // Not back, and not along another cosine.
    let shorter = run(&cv("parts", 4, Schedule::Step)).unwrap_err();
    assert!(shorter.is_call() && shorter.to_string().contains("epochs is 5 there and 4 here"), "{shorter}");
    run(&cv("cosine", 2, Schedule::Cosine)).unwrap().unwrap();
    let other = run(&cv("cosine", 3, Schedule::Cosine)).unwrap_err();
    assert!(other.is_call() && other.to_string().contains("epochs is 2 there and 3 here"), "{other}");
}

#[test]
fn other_settings_in_the_same_place_are_refused_before_anything_is_trained() {
    let folder = tempfile::tempdir().unwrap();
    let (data, overrides) = (data(), tiny());
    let cv = Cv::new(&request(&data, &overrides), &[1], folder.path()).unwrap();
    cv.run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    let other = Overrides { rate: Some(0.5), ..tiny() };
    let error = Cv::new(&request(&data, &other), &[2, 1], folder.path())
        .unwrap()
        .run(&Session::default(), &data, ONE, &|_, _| true)
        .unwrap_err();
    assert!(
        error.is_call() && error.to_string().contains("training.rate is 0.001 there and 0.5 here"),
        "{error}"
    );
    assert!(!folder.path().join("fold-2").exists());
    let fold = Cv::new(&request(&data, &overrides), &[11], folder.path()).unwrap_err();
    assert!(fold.is_call() && fold.to_string().contains("its folds are 1 to 10"), "{fold}");
}

#[test]
fn a_search_ranks_its_trials_and_goes_on_after_one_that_diverged() {
    let folder = tempfile::tempdir().unwrap();
    let (data, overrides) = (data(), tiny());
    let grid = Grid::from_toml("rate = [1e38, 1e-3]\ndecay = [1.0, 0.5]", "grid").unwrap();
    let search = || Search::new(&request(&data, &overrides), &grid, folder.path()).unwrap();
    let report = search().run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    let places: Vec<bool> = report.trials.iter().map(|t| t.diverged.is_some()).collect();
    assert_eq!(places, [false, false, true, true], "{report:?}");
    assert_eq!(report.best.as_ref().unwrap()["rate"].as_float(), Some(1e-3));
    assert!(
        report.trials[0].run.ends_with("decay=1.0,rate=0.001")
            | report.trials[0].run.ends_with("decay=0.5,rate=0.001")
    );
    let again = search()
        .run(&Session::default(), &data, Workers { jobs: 2, threads: 1 }, &|_, _| true)
        .unwrap()
        .unwrap();
    assert_eq!(report, again);
    let fixed = Overrides { rate: Some(0.1), ..tiny() };
    assert!(Search::new(&request(&data, &fixed), &grid, folder.path()).unwrap_err().is_call());
}

/// Graphs with their number of edges as regression target, in a unit of its own.
/// Every option of a recipe that a cross-validation and a search can take.
fn recipe() -> Overrides {
    Overrides {
        patience: Some(2),
        weight_decay: Some(0.05),
        clip: Some(0.5),
        dropout: Some(0.2),
        schedule: Some(Schedule::Cosine),
        warmup: Some(1),
        class_weights: Some(ClassWeights::Balanced),
        select: Some("validation,roc-auc".parse().unwrap()),
        epochs: Some(4),
        ..tiny()
    }
}

#[test]
fn recipes_hold_in_every_fold_and_after_interruptions() {
    let folder = tempfile::tempdir().unwrap();
    let data = data();
    let cv = |name: &str| Cv::new(&request(&data, &recipe()), &[1, 2], folder.path().join(name)).unwrap();
    let whole = cv("whole").run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    assert_eq!((whole.metric, whole.fair.as_ref().map(|fair| fair.folds.len())), ("roc_auc", Some(2)));
    let report = in_pieces(&cv("parts"), &data, ONE, 13, 1);
    assert_eq!(CvReport { seconds_training: 0.0, ..report }, CvReport { seconds_training: 0.0, ..whole });
    for fold in [1, 2] {
        let run = Run::open(folder.path().join(format!("parts/fold-{fold}"))).unwrap();
        let t = &run.settings().training;
        assert_eq!((t.patience, t.weight_decay, t.clip, t.dropout), (2, 0.05, 0.5, 0.2));
        assert_eq!((t.schedule, t.warmup, t.class_weights), (Schedule::Cosine, 1, ClassWeights::Balanced));
        let metrics = std::fs::read_to_string(run.path().join("metrics.jsonl")).unwrap();
        let rates: Vec<f64> =
            metrics.lines().map(|line| serde_json::from_str::<Epoch>(line).unwrap().rate).collect();
        assert!((1..rates.len()).all(|e| (rates[e] - t.rate_of(e + 1, &[])).abs() < 1e-15), "{rates:?}");
    }
    // The tables' protocol has no validation set, on which patience would wait.
    let tables = Overrides { select: None, ..recipe() };
    assert!(matches!(
        Cv::new(&request(&data, &tables), &[], folder.path().join("t")),
        Err(Error::NoValidation)
    ));
}

#[test]
fn a_search_with_a_recipe_ranks_by_its_metric() {
    let folder = tempfile::tempdir().unwrap();
    let data = data();
    let grid = Grid::from_toml("rate = [1e-5, 0.01, 0.03]\nweight_decay = [0.0, 0.1]", "grid.toml").unwrap();
    let overrides = Overrides { weight_decay: None, select: Some("log-loss".parse().unwrap()), ..recipe() };
    let search = Search::new(&request(&data, &overrides), &grid, folder.path()).unwrap();
    let report = search.run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    assert_eq!((report.metric, report.trials.len()), ("log_loss", 6));
    let found: Vec<f64> =
        report.trials.iter().map(|t| t.held_out.as_ref().unwrap().log_loss.unwrap()).collect();
    assert!(found.is_sorted() && found[0] < found[5], "{found:?}");
    for job in search.jobs() {
        let settings = &job.settings;
        assert_eq!(settings.trained().unwrap().division, Division::Shares([0.9, 0.1, 0.0]));
        assert_eq!((settings.training.patience, settings.training.dropout), (2, 0.2));
    }
    let varied = Grid::from_toml("select = [\"loss\", \"roc-auc\"]", "grid.toml").unwrap();
    let error = Search::new(&request(&data, &tiny()), &varied, folder.path().join("v")).unwrap_err();
    assert!(error.is_call() && error.to_string().contains("different metrics"), "{error}");
}

fn numbers(unit: &str) -> Dataset {
    let graphs: Vec<Graph> = (0..40)
        .map(|i| Graph::undirected(6, (0..5).filter(|e| i >> e & 1 == 1).map(|e| (e, e + 1))).unwrap())
        .collect();
    let values = graphs.iter().map(|g| 100.0 * g.edges() as f64).collect();
    Dataset::builder("d")
        .graphs(graphs)
        .targets(vec![Target { name: "mu".into(), unit: unit.into() }], values)
        .build()
        .unwrap()
}

#[test]
fn regression_is_searched_by_validation_and_reported_in_its_units() {
    let folder = tempfile::tempdir().unwrap();
    let (data, overrides) = (numbers("D"), Overrides { epochs: Some(20), ..tiny() });
    let grid = Grid::from_toml("rate = [1e-2, 1e-5]", "grid").unwrap();
    let search = Search::new(&request(&data, &overrides), &grid, folder.path().join("s")).unwrap();
    let report = search.run(&Session::default(), &data, ONE, &|_, _| true).unwrap().unwrap();
    let best = &report.trials[0];
    let summary = Run::summary(&best.run).unwrap().unwrap();
    // The best epoch is the validation part's, and by its loss.
    assert_eq!(summary.best.validation, best.held_out);
    assert!(
        report.trials[0].held_out.as_ref().unwrap().loss <= report.trials[1].held_out.as_ref().unwrap().loss
    );
    // Errors are in the target's unit: loss on standardised targets times their deviation.
    let test = summary.best.test.unwrap();
    assert!((test.mae[0] - test.loss * summary.scaling[0].deviation).abs() < 1e-3 * test.mae[0].max(1.0));

    let table = Table2::printed().unwrap();
    let mu = Networks::Alone("mu".into());
    let job = mu.job(&table, &request(&data, &overrides), folder.path()).unwrap();
    let session = Session::default();
    let estimated = estimate(&session, std::slice::from_ref(&job), &data, ONE).unwrap().unwrap();
    assert_eq!(job.standing().unwrap(), Standing::Begun(1));
    assert!(estimated.epoch > 0.0 && estimated.seconds > estimated.epoch, "{estimated:?}");
    let ended = run_jobs(&session, std::slice::from_ref(&job), &data, ONE, &|_, _| true).unwrap().unwrap();
    let Ended::Finished(finished) = &ended[0] else { panic!("{ended:?}") };
    let rows = Row2::of(&table, &mu, finished).unwrap();
    assert_eq!((rows.len(), rows[0].printed, rows[0].rank.of), (1, Some(0.0934), 4));
    assert_eq!(estimate(&session, &[job], &data, ONE).unwrap().unwrap().seconds, 0.0);
    let wrong = mu.job(&table, &request(&numbers("eV"), &overrides), folder.path()).unwrap_err();
    assert!(wrong.to_string().contains("the table's unit is `D`"), "{wrong}");
}
