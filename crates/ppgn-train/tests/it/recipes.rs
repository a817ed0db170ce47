//! Recipes of training: schedules and optimiser against PyTorch, exact resume with every option on, the same training
//! on both spaces, early stopping, and runs that are extended.

use crate::resume::{files, resumes_exactly};
use ppgn_graph::generate::generate;
use ppgn_graph::{Dataset, Target};
use ppgn_nn::{Adam, BlockConfig, Model, Precision, SpaceChoice, SuffixKind, Values, clip};
use ppgn_train::{
    ClassWeights, Division, Epoch, Error, Outcome, Overrides, Prediction, Predictor, Request, Run, Schedule,
    Session, Settings, Summary, Task, Training, train,
};
use serde_json::Value;
use std::path::Path;

fn golden() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/recipes.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn assert_close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-14, "{what}: {got} {expected}");
    }
}

#[test]
fn schedules_match_pytorch() {
    let golden = golden();
    let losses = numbers(&golden["losses"]);
    let base = Training { rate: 0.1, decay: 0.5, decay_every: 3, epochs: 12, ..Training::default() };
    let check = |name: &str, training: &Training| {
        let rates: Vec<f64> = (1..=12).map(|epoch| training.rate_of(epoch, &losses[..epoch - 1])).collect();
        assert_close(name, &rates, &numbers(&golden[name]));
    };
    check("step", &base);
    check("step_warmup_2", &Training { warmup: 2, ..base.clone() });
    let cosine = Training { schedule: Schedule::Cosine, ..base.clone() };
    check("cosine", &cosine);
    check("cosine_warmup_2", &Training { warmup: 2, ..cosine });
    for patience in [1, 2] {
        let plateau = Training { schedule: Schedule::Plateau, decay_every: patience, ..base.clone() };
        check(&format!("plateau_{patience}"), &plateau);
    }
}

#[test]
fn adamw_and_clipping_match_pytorch() {
    let golden = golden();
    let mut p = [Values::F64(vec![2.0, -0.5, 0.0])];
    let mut adam = Adam { weight_decay: 0.3, ..Adam::new(&p) };
    for _ in 0..5 {
        let gradient = p[0].to_f64().iter().map(|x| x.powi(3) - 1.0).collect();
        adam.step(&mut p, &[Values::F64(gradient)], 0.01).unwrap();
    }
    assert_close("AdamW", &p[0].to_f64(), &numbers(&golden["adamw"]));
    for case in golden["clip"].as_array().unwrap() {
        let mut gradients = [Values::F64(vec![3.0, -1.5]), Values::F64(vec![0.25, 0.0, 4.0])];
        let norm = clip(&mut gradients, case["max_norm"].as_f64().unwrap());
        assert_close("norm", &[norm], &[case["norm"].as_f64().unwrap()]);
        for (gradient, expected) in gradients.iter().zip(case["gradients"].as_array().unwrap()) {
            assert_close("clipped", &gradient.to_f64(), &numbers(expected));
        }
    }
}

fn data() -> Dataset {
    generate("csl:n=11,skips=2+3,copies=6").unwrap()
}

fn small() -> Overrides {
    Overrides {
        epochs: Some(5),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(3),
        rate: Some(0.01),
        ..Overrides::default()
    }
}

fn settings(data: &Dataset, overrides: Overrides) -> Result<Settings, Error> {
    settings_for(data, overrides, Task::Auto)
}

fn settings_for(data: &Dataset, overrides: Overrides, task: Task) -> Result<Settings, Error> {
    let division = Division::Shares([0.5, 0.25, 0.25]);
    Settings::resolve(&Request { overrides, division, task, ..Request::new("data", data) })
}

/// Random graphs with gaps: classes of which one is rare, or two targets, as numbers or as labels.
pub(crate) fn gaps(task: Task) -> Dataset {
    let graphs = generate("gnp:n=7,p=0.4,count=24").unwrap().graphs().to_vec();
    let edges: Vec<f64> = graphs.iter().map(|g| g.edges() as f64).collect();
    let builder = Dataset::builder("gaps").graphs(graphs);
    let missing = |i: usize| i % 5 == 3;
    let targets = ["first", "second"].map(|name| Target { name: name.into(), unit: String::new() }).to_vec();
    let values = |of: &dyn Fn(f64) -> [f64; 2]| -> Vec<f64> {
        let row = |(i, &e): (usize, &f64)| {
            let [first, second] = of(e);
            [if missing(i) { f64::NAN } else { first }, if missing(i + 2) { f64::NAN } else { second }]
        };
        edges.iter().enumerate().flat_map(row).collect()
    };
    match task {
        Task::Regression => builder.targets(targets, values(&|e| [e, 3.0 - 0.5 * e])),
        Task::MultiLabel => {
            let bit = |yes: bool| if yes { 1.0 } else { 0.0 };
            builder.targets(targets, values(&|e| [bit(e > 10.0), bit(e % 4.0 < 1.0)]))
        }
        _ => {
            let class = |(i, &e): (usize, &f64)| (!missing(i)).then_some(i64::from(e > 10.0));
            builder.known_labels(edges.iter().enumerate().map(class).collect())
        }
    }
    .build()
    .unwrap()
}

/// Every option of a recipe at once, with each of the schedules; and what is learned: classes, and of data with gaps
/// classes by balanced weights, targets, and labels by balanced weights.
fn all() -> Vec<(Dataset, Settings)> {
    let mut all: Vec<(Dataset, Overrides, Task)> =
        recipes().into_iter().map(|recipe| (data(), recipe, Task::Auto)).collect();
    for task in [Task::Classification, Task::Regression, Task::MultiLabel] {
        let balanced = (task != Task::Regression).then_some(ClassWeights::Balanced);
        all.push((gaps(task), Overrides { class_weights: balanced, ..recipes()[0].clone() }, task));
    }
    let resolved = |(data, recipe, task): (Dataset, Overrides, Task)| {
        let settings = settings_for(&data, recipe, task).unwrap();
        (data, settings)
    };
    all.into_iter().map(resolved).collect()
}

/// Every option at once, with each of the schedules.
pub(crate) fn recipes() -> Vec<Overrides> {
    let all = Overrides {
        warmup: Some(1),
        decay_every: Some(1),
        patience: Some(4),
        weight_decay: Some(0.05),
        clip: Some(0.5),
        dropout: Some(0.3),
        ema: Some(0.9),
        ..small()
    };
    let with = |schedule| Overrides { schedule: Some(schedule), ..all.clone() };
    let mut recipes = [Schedule::Step, Schedule::Cosine, Schedule::Plateau].map(with).to_vec();
    // Dropout within the suffix too.
    let hidden = Some(vec![7, 5]);
    recipes[1] = Overrides { suffix: Some(SuffixKind::I), suffix_hidden: hidden, ..recipes[1].clone() };
    recipes[2] = Overrides { model: Some(Model::PpgnPlus), ..recipes[2].clone() };
    recipes
}

#[test]
fn every_recipe_resumes_exactly() {
    for (data, settings) in all() {
        resumes_exactly(&data, settings);
    }
}

/// Trains a run to its end.
pub(crate) fn trained(folder: &Path, data: &Dataset, settings: Settings) -> (Summary, Vec<Epoch>) {
    let run = Run::create(folder, settings).unwrap();
    finished(&run, data)
}

fn finished(run: &Run, data: &Dataset) -> (Summary, Vec<Epoch>) {
    let Outcome::Finished(summary) = train(&Session::default(), run, data, &mut |_| true).unwrap() else {
        panic!("it was stopped");
    };
    let text = std::fs::read_to_string(run.path().join("metrics.jsonl")).unwrap();
    (*summary, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn recipes_train_the_same_on_both_spaces() {
    for (data, settings) in all() {
        let folder = tempfile::tempdir().unwrap();
        let on = |space: SpaceChoice| {
            let mut settings = settings.clone();
            (settings.training.space, settings.training.precision) = (space, Precision::F64);
            trained(&folder.path().join(format!("{space:?}")), &data, settings).1
        };
        let (dense, quotient) = (on(SpaceChoice::Dense), on(SpaceChoice::Quotient));
        assert_eq!(dense.len(), quotient.len());
        for (a, b) in dense.iter().zip(&quotient) {
            let losses =
                |e: &Epoch| [Some(&e.train), e.validation.as_ref(), e.test.as_ref()].map(|p| p.unwrap().loss);
            for (a, b) in losses(a).iter().zip(losses(b)) {
                assert!((a - b).abs() < 1e-8 * a.abs().max(1.0), "{:?}: {a} {b}", settings.training);
            }
        }
    }
}

/// Averaging changes what is evaluated and kept, not the training: beside the averaged weights stand the figures of a run
/// without averaging. A decay of nearly 0 is no average.
#[test]
fn averaged_weights_stand_beside_the_last_ones() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, ema: f64| {
        let overrides = Overrides { ema: Some(ema), ..small() };
        trained(&folder.path().join(name), &data, settings(&data, overrides).unwrap())
    };
    let ((_, plain), (summary, averaged), (_, none)) =
        (run("plain", 0.0), run("ema", 0.9), run("none", 1e-12));
    for ((a, b), c) in plain.iter().zip(&averaged).zip(&none) {
        let last = b.last.as_ref().unwrap();
        assert_eq!((&a.train, &a.validation, &a.test), (&b.train, &last.validation, &last.test));
        assert!(a.last.is_none());
        assert_ne!(a.test, b.test, "epoch {}", a.epoch);
        let (loss, almost) = (a.test.as_ref().unwrap().loss, c.test.as_ref().unwrap().loss);
        assert!((loss - almost).abs() < 1e-5 * loss.max(1.0), "epoch {}: {loss} {almost}", a.epoch);
    }
    // The network that is kept is the averaged one of the best epoch.
    let best = &averaged[summary.best_epoch - 1];
    let test = summary.sets.unwrap().test.unwrap();
    assert_eq!(test.metrics.loss, best.test.as_ref().unwrap().loss);
}

#[test]
fn weight_decay_clipping_and_dropout_act() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let last = |name: &str, overrides: Overrides| {
        let (_, epochs) = trained(&folder.path().join(name), &data, settings(&data, overrides).unwrap());
        epochs.last().unwrap().train.loss
    };
    let plain = last("plain", small());
    for (name, overrides) in [
        ("decay", Overrides { weight_decay: Some(0.1), ..small() }),
        ("clip", Overrides { clip: Some(1e-3), ..small() }),
        ("dropout", Overrides { dropout: Some(0.2), ..small() }),
    ] {
        assert_ne!(last(name, overrides), plain, "{name}");
    }
    let same = last("off", Overrides { weight_decay: Some(0.0), clip: Some(1e12), ..small() });
    assert_eq!(same, plain, "a bound that is never reached changes nothing");
}

/// Missing values have no part in the scaling, the loss or the metrics: data without the graphs that lack everything
/// gives the same network.
#[test]
fn missing_values_are_masked() {
    let data = gaps(Task::Regression);
    let settings = settings_for(&data, small(), Task::Regression).unwrap();
    let split = settings.trained().unwrap().division.of(&data, 0).unwrap();
    let known: Vec<f64> =
        split.train.iter().map(|&g| data.targets(g as usize)[0]).filter(|y| !y.is_nan()).collect();
    assert!(known.len() < split.train.len());
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    assert!((settings.scaling[0].mean - mean).abs() < 1e-12);
    let folder = tempfile::tempdir().unwrap();
    let (summary, epochs) = trained(&folder.path().join("run"), &data, settings);
    assert!(summary.mae_of_mean.iter().all(|e| e.is_finite() && *e > 0.0));
    assert!(epochs.iter().all(|e| e.train.mae.iter().all(|e| e.is_finite())));
    // Nothing at all is known of some training graphs: they change neither loss nor gradient.
    let graphs = data.graphs();
    let with = |gap: &dyn Fn(usize) -> bool, kept: &[u32]| {
        let targets = vec![Target { name: "y".into(), unit: String::new() }];
        let value = |&g: &u32| if gap(g as usize) { f64::NAN } else { graphs[g as usize].edges() as f64 };
        let values: Vec<f64> = kept.iter().map(value).collect();
        let graphs = kept.iter().map(|&g| graphs[g as usize].clone()).collect();
        let data = Dataset::builder("d").graphs(graphs).targets(targets, values).build().unwrap();
        let one = Overrides { batch: Some(24), precision: Some(Precision::F64), ..small() };
        let division = Division::Shares([1.0, 0.0, 0.0]);
        let request = Request { overrides: one, division, ..Request::new("d", &data) };
        let settings = Settings::resolve(&request).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (_, epochs) = trained(&folder.path().join("run"), &data, settings);
        epochs.iter().map(|epoch| epoch.train.loss * kept.len() as f64).collect::<Vec<_>>()
    };
    let all: Vec<u32> = (0..24).collect();
    let gap = |g: usize| g % 3 == 1;
    let kept: Vec<u32> = all.iter().copied().filter(|&g| !gap(g as usize)).collect();
    for (a, b) in with(&gap, &all).iter().zip(with(&|_| false, &kept)) {
        assert!((a - b).abs() < 1e-8 * a.abs(), "{a} {b}");
    }
}

#[test]
fn labels_are_learned_and_predicted_as_probabilities() {
    let data = gaps(Task::MultiLabel);
    let more = Overrides { epochs: Some(40), ..small() };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let settings = settings_for(&data, more.clone(), Task::MultiLabel).unwrap();
    assert!(settings.scaling.is_empty());
    let (summary, epochs) = trained(&run, &data, settings);
    assert_eq!(summary.targets, ["first", "second"]);
    assert!(epochs[39].train.loss < 0.5 * epochs[0].train.loss, "{epochs:?}");
    assert!(summary.best.train.roc_auc.is_some() && summary.best.train.accuracy.is_some());
    let predictor = Predictor::open(&Session::default(), &run).unwrap();
    for prediction in predictor.predict(&data).unwrap() {
        assert!(
            matches!(prediction, Prediction::Labels(p) if p.len() == 2 && p.iter().all(|p| (0.0..=1.0).contains(p)))
        );
    }
    let balanced = Overrides { class_weights: Some(ClassWeights::Balanced), ..more };
    let refused = settings_for(&data, balanced, Task::Regression).unwrap_err();
    assert!(refused.to_string().contains("class weights need classes"));
}

#[test]
fn patience_stops_where_no_better_epoch_came() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let impatient = Overrides { patience: Some(2), epochs: Some(60), rate: Some(0.05), ..small() };
    let run = folder.path().join("run");
    let (summary, epochs) = trained(&run, &data, settings(&data, impatient.clone()).unwrap());
    assert!(summary.stopped_early && summary.epochs < 60, "{summary:?}");
    assert_eq!((summary.epochs, epochs.len()), (summary.best_epoch + 2, summary.epochs));
    // Killed before the summary was written: the same end.
    let before = files(&run);
    std::fs::remove_file(run.join("summary.json")).unwrap();
    finished(&Run::open(&run).unwrap(), &data);
    assert_eq!(files(&run), before);
    let division = Division::Holdout(0.25);
    let request = Request { overrides: impatient, division, ..Request::new("data", &data) };
    let error = Settings::resolve(&request).unwrap_err();
    assert!(matches!(error, Error::NoValidation) && error.is_call());
}

#[test]
fn an_extended_run_is_that_of_more_epochs() {
    let data = data();
    for schedule in [Schedule::Step, Schedule::Plateau] {
        let folder = tempfile::tempdir().unwrap();
        let of = |epochs| {
            let recipe = Overrides { schedule: Some(schedule), decay_every: Some(1), ..small() };
            settings(&data, Overrides { epochs: Some(epochs), ..recipe }).unwrap()
        };
        let (long, short) = (folder.path().join("long"), folder.path().join("short"));
        trained(&long, &data, of(7));
        trained(&short, &data, of(3));
        let mut run = Run::open(&short).unwrap();
        assert!(matches!(run.extend(2), Err(Error::Shortened { planned: 3, asked: 2, .. })));
        run.extend(7).unwrap();
        assert!(!short.join("summary.json").exists() && !short.join("report.html").exists());
        finished(&run, &data);
        assert_eq!(files(&long), files(&short));
        let config = |run: &Path| std::fs::read_to_string(run.join("config.toml")).unwrap();
        assert_eq!(config(&long), config(&short));
    }
}

/// An extended cosine goes on with the rates of the longer one; the epochs that are done keep theirs.
#[test]
fn an_extended_cosine_goes_on_with_the_longer_one() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let cosine = Overrides { schedule: Some(Schedule::Cosine), epochs: Some(4), ..small() };
    let settings = settings(&data, cosine).unwrap();
    let (four, mut eight) = (settings.training.clone(), settings.training.clone());
    eight.epochs = 8;
    trained(&folder.path().join("run"), &data, settings);
    let mut run = Run::open(folder.path().join("run")).unwrap();
    run.extend(8).unwrap();
    let (_, epochs) = finished(&run, &data);
    let rates: Vec<f64> = epochs.iter().map(|epoch| epoch.rate).collect();
    let expected = (1..=4).map(|e| four.rate_of(e, &[])).chain((5..=8).map(|e| eight.rate_of(e, &[])));
    assert_eq!(rates, expected.collect::<Vec<_>>());
}

#[test]
fn wrong_recipes_are_refused() {
    let data = data();
    for (wrong, words) in [
        (Overrides { warmup: Some(5), ..small() }, "warm-up"),
        (Overrides { ema: Some(1.0), ..small() }, "averaged"),
        (Overrides { weight_decay: Some(-1.0), ..small() }, "weight decay"),
        (Overrides { weight_decay: Some(f64::NAN), ..small() }, "weight decay"),
        (Overrides { weight_decay: Some(100.0), ..small() }, "below 1"),
        (Overrides { dropout: Some(1.0), ..small() }, "dropout"),
        (Overrides { clip: Some(f64::INFINITY), ..small() }, "norm of the gradients"),
    ] {
        let error = settings(&data, wrong).unwrap_err();
        assert!(error.is_call() && error.to_string().contains(words), "{error}");
    }
}
