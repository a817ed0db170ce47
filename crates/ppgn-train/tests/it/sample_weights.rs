//! Sample weights: a graph of weight 2 is a graph that is there twice, one of weight 0 is not there, and all of weight 1 is
//! what a training without weights gives, bit for bit.

use crate::recipes::{gaps, recipes, trained};
use crate::resume::{files, resumes_exactly};
use ppgn_graph::Dataset;
use ppgn_nn::{BlockConfig, Precision, SpaceChoice};
use ppgn_train::{ClassWeights, Division, Epoch, Overrides, Request, SampleWeights, Settings, Task};

const TASKS: [Task; 3] = [Task::Classification, Task::Regression, Task::MultiLabel];

/// All graphs in every batch.
fn whole(space: SpaceChoice, task: Task) -> Overrides {
    Overrides {
        epochs: Some(6),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(100),
        rate: Some(0.003),
        precision: Some(Precision::F64),
        space: Some(space),
        class_weights: (task != Task::Regression).then_some(ClassWeights::Balanced),
        ..Overrides::default()
    }
}

fn settings(data: &Dataset, weights: Vec<f64>, overrides: Overrides, task: Task) -> Settings {
    let division = Division::Shares([1.0, 0.0, 0.0]);
    let sample_weights = SampleWeights::new(weights).unwrap();
    let request = Request { overrides, division, sample_weights, task, ..Request::new("gaps", data) };
    Settings::resolve(&request).unwrap()
}

fn losses(data: &Dataset, settings: Settings) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let (_, epochs) = trained(&folder.path().join("run"), data, settings);
    epochs.iter().map(|epoch: &Epoch| epoch.train.loss).collect()
}

#[test]
fn a_weight_of_two_is_the_graph_twice() {
    for task in TASKS {
        let data = gaps(task);
        let weights: Vec<f64> = (0..data.len()).map(|i| [1.0, 2.0, 3.0][i % 3]).collect();
        let copies = (0..data.len() as u32).flat_map(|g| vec![g; weights[g as usize] as usize]);
        let twice = data.subset(&copies.collect::<Vec<u32>>()).unwrap();
        for space in [SpaceChoice::Dense, SpaceChoice::Quotient] {
            let weighted = settings(&data, weights.clone(), whole(space, task), task);
            let repeated = settings(&twice, Vec::new(), whole(space, task), task);
            for (a, b) in weighted.scaling.iter().zip(&repeated.scaling) {
                assert!((a.mean - b.mean).abs() < 1e-12 && (a.deviation - b.deviation).abs() < 1e-12);
            }
            let plain = losses(&data, settings(&data, Vec::new(), whole(space, task), task));
            let (a, b) = (losses(&data, weighted), losses(&twice, repeated));
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-9 * b.abs(), "{task:?}: {a} {b}");
            }
            assert!(a.iter().zip(&plain).all(|(a, b)| (a - b).abs() > 1e-6), "the weights have no effect");
        }
    }
}

#[test]
fn a_weight_of_zero_is_no_graph() {
    for task in TASKS {
        let data = gaps(task);
        let kept: Vec<u32> = (0..data.len() as u32).filter(|g| g % 4 != 2).collect();
        let weights = (0..data.len()).map(|i| if i % 4 == 2 { 0.0 } else { 1.0 }).collect();
        // Several batches per epoch, and every option of a recipe: the rest is drawn as if these graphs were not there.
        let overrides = Overrides {
            patience: None,
            dropout: None,
            space: Some(SpaceChoice::Dense),
            ..recipes()[0].clone()
        };
        let folder = tempfile::tempdir().unwrap();
        let rest = data.subset(&kept).unwrap();
        let (with, without) = (folder.path().join("with"), folder.path().join("without"));
        let (summary, _) = trained(&with, &data, settings(&data, weights, overrides.clone(), task));
        trained(&without, &rest, settings(&rest, Vec::new(), overrides, task));
        let metrics = |run: &std::path::Path| std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        assert_eq!(metrics(&with), metrics(&without), "{task:?}");
        assert_eq!(summary.sets.unwrap().train.unwrap().graphs, kept.len());
    }
}

#[test]
fn all_ones_is_no_weights() {
    let data = gaps(Task::Classification);
    let of = |weights| settings(&data, weights, recipes_without_patience(), Task::Classification);
    assert_eq!(of(vec![1.0; data.len()]).to_toml().unwrap(), of(Vec::new()).to_toml().unwrap());
    let text = of((0..data.len()).map(|i| 0.1 * i as f64).collect()).to_toml().unwrap();
    assert!(text.contains("sample_weights = [0.0, 0.1, 0.2, 0.30000000000000004,"), "{text}");
}

fn recipes_without_patience() -> Overrides {
    Overrides { patience: None, ..recipes()[0].clone() }
}

#[test]
fn a_run_with_weights_resumes_exactly() {
    for task in TASKS {
        let data = gaps(task);
        let weights = (0..data.len()).map(|i| 0.25 + 0.37 * (i % 5) as f64).collect();
        let settings = settings(&data, weights, recipes_without_patience(), task);
        let folder = resumes_exactly(&data, settings);
        assert_eq!(files(&folder.path().join("whole")).len(), 4);
    }
}

#[test]
fn wrong_weights_are_refused() {
    let data = gaps(Task::Regression);
    let resolve = |weights: Vec<f64>| {
        let sample_weights = SampleWeights::new(weights)?;
        Settings::resolve(&Request { sample_weights, ..Request::new("gaps", &data) })
    };
    for (weights, message) in [
        (vec![2.0; 5], "there are 5 sample weights for 24 graphs"),
        (vec![0.0; 24], "all graphs of the training set have the sample weight 0"),
        (vec![f64::NAN; 24], "graph 0 has the sample weight NaN: weights are finite and not negative"),
    ] {
        let error = resolve(weights).unwrap_err();
        assert!(error.is_call() && error.to_string() == message, "{error}");
    }
}
