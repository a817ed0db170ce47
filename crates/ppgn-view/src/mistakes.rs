//! What a run gets wrong: the graphs of a set that its best network is farthest from, and every prediction against the truth.

use crate::answer::Source;
use crate::dataset::one;
use crate::drawn::legend;
use crate::error::{Answer, Failure};
use crate::query::Query;
use crate::run::goal;
use ppgn_graph::Dataset;
use ppgn_train::{Goal, Prediction, Predictor, Session, Settings, limited};
use ppgn_wl::Interrupt;
use serde_json::{Value, json};
use std::path::Path;

/// Graphs that are shown.
const SHOWN: usize = 12;
/// Graphs that are predicted; of a larger set, the first.
const MOST: usize = 2000;
/// Points of a chart of predictions against the truth.
const POINTS: usize = 1000;
/// The memory that predictions may take.
const MEMORY: u64 = 1 << 30;

/// The best network of a run, with the dataset that it was trained on.
pub(crate) struct Opened {
    pub(crate) predictor: Predictor,
    pub(crate) dataset: Dataset,
    /// The name by which the page finds a graph of it, where all of it was used.
    pub(crate) data: Option<String>,
}

/// Opens a run with its data.
pub(crate) fn open(source: &Source, path: &Path, interrupt: &Interrupt) -> Answer<Opened> {
    let session = Session::default().with_interrupt(interrupt.clone()).with_max_memory(Some(MEMORY));
    let predictor = Predictor::open(&session, path)?;
    let settings = predictor.settings();
    let trained = settings
        .trained()
        .ok_or_else(|| Failure::wrong("its network was not trained here: there is no data to show"))?;
    let whole = source.datasets().get(&trained.data, &trained.read)?;
    let dataset = limited(&whole, trained.limit, settings.training.seed)?;
    if dataset.digest() != trained.digest {
        return Err(Failure::unfit(format!("{} is not the data that the run was trained on", trained.data)));
    }
    let plain = trained.read.is_empty() && dataset.len() == whole.len();
    let data = plain.then(|| trained.data.clone());
    Ok(Opened { predictor, dataset, data })
}

/// `run/mistakes?run=NAME&set=test`.
pub(crate) fn answer(source: &Source, query: &Query, interrupt: &Interrupt) -> Answer {
    let path = source.place().folder(query.need("run")?)?;
    let Opened { predictor, dataset, data } = open(source, &path, interrupt)?;
    let settings = predictor.settings().clone();
    let trained = settings.trained().ok_or_else(|| Failure::wrong("not a trained run"))?;
    let split = trained.division.of(&dataset, settings.training.seed)?;
    let sets = [("test", &split.test), ("validation", &split.validation), ("train", &split.train)];
    let there: Vec<&str> =
        sets.iter().filter(|(_, graphs)| !graphs.is_empty()).map(|(name, _)| *name).collect();
    let wanted = query.get("set").or(there.first().copied()).unwrap_or("test");
    let graphs = sets
        .iter()
        .find(|(name, graphs)| *name == wanted && !graphs.is_empty())
        .map(|(_, graphs)| &graphs[..])
        .ok_or_else(|| Failure::missing(format!("the run has no {wanted} set")))?;
    let looked = &graphs[..graphs.len().min(MOST)];
    let predictions = predictor.predict(&dataset.subset(looked)?)?;
    let mut judged: Vec<(u32, f64, &Prediction)> = looked
        .iter()
        .zip(&predictions)
        .filter_map(|(&g, prediction)| Some((g, error(&settings, &dataset, g, prediction)?, prediction)))
        .collect();
    // The farthest first; of equals, in the order of the data.
    judged.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let worst = judged.iter().take(SHOWN).map(|&(g, error, prediction)| {
        let mut json = one(&dataset, g as usize)?;
        json["error"] = error.into();
        json["truth"] = truth(&settings, &dataset, g);
        match prediction {
            Prediction::Class { class, probabilities } => {
                json["predicted"] = json!(class);
                json["probabilities"] = json!(probabilities);
            }
            Prediction::Values(values) | Prediction::Labels(values) => json["predicted"] = json!(values),
        }
        Ok(json)
    });
    let wrong =
        judged.iter().filter(|(g, _, prediction)| is_wrong(&settings, &dataset, *g, prediction)).count();
    Ok(json!({
        "set": wanted,
        "sets": there,
        "graphs": graphs.len(),
        "looked_at": looked.len(),
        "wrong": settings.goal.is_classification().then_some(wrong),
        "data": data,
        "goal": goal(&settings),
        "legend": legend(dataset.schema()),
        "worst": worst.collect::<Answer<Vec<Value>>>()?,
        "parity": parity(&settings, &dataset, looked, &predictions),
    }))
}

/// How far a prediction is from the truth: the probability that the true class did not get, or the mean over the targets of the
/// error in standard deviations. Nothing where the truth is not known.
fn error(settings: &Settings, dataset: &Dataset, graph: u32, prediction: &Prediction) -> Option<f64> {
    match prediction {
        Prediction::Class { probabilities, .. } => {
            Some(1.0 - probabilities.get(settings.class_of(dataset, graph as usize)?)?)
        }
        Prediction::Values(values) => {
            let truth = values_of(settings, dataset, graph);
            let errors = values.iter().zip(&truth).zip(&settings.scaling);
            let known: Vec<f64> = errors
                .filter(|((_, y), _)| !y.is_nan())
                .map(|((x, y), s)| (x - y).abs() / s.deviation)
                .collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        }
        Prediction::Labels(values) => {
            let truth = values_of(settings, dataset, graph);
            let known: Vec<f64> =
                values.iter().zip(&truth).filter(|(_, y)| !y.is_nan()).map(|(x, y)| (x - y).abs()).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        }
    }
}

fn is_wrong(settings: &Settings, dataset: &Dataset, graph: u32, prediction: &Prediction) -> bool {
    match (prediction, &settings.goal) {
        (Prediction::Class { class, .. }, Goal::Classes(classes)) => {
            settings.class_of(dataset, graph as usize).is_some_and(|truth| classes[truth] != *class)
        }
        (Prediction::Labels(values), _) => {
            let truth = values_of(settings, dataset, graph);
            values.iter().zip(truth).any(|(x, y)| !y.is_nan() && (*x >= 0.5) != (y >= 0.5))
        }
        _ => false,
    }
}

fn truth(settings: &Settings, dataset: &Dataset, graph: u32) -> Value {
    match &settings.goal {
        Goal::Classes(_) => json!(settings.class_of(dataset, graph as usize)),
        _ => json!(values_of(settings, dataset, graph)),
    }
}

/// The targets of the run for a graph; NaN where one is not known.
fn values_of(settings: &Settings, dataset: &Dataset, graph: u32) -> Vec<f64> {
    let (Goal::Targets(targets) | Goal::Labels(targets)) = &settings.goal else { return Vec::new() };
    let all = &dataset.header().targets;
    let value =
        |name: &str| all.iter().position(|t| t.name == name).map(|c| dataset.targets(graph as usize)[c]);
    targets.iter().map(|target| value(&target.name).unwrap_or(f64::NAN)).collect()
}

/// Truth, prediction and graph, target by target; of many graphs some at equal distances.
fn parity(settings: &Settings, dataset: &Dataset, graphs: &[u32], predictions: &[Prediction]) -> Vec<Value> {
    let Goal::Targets(targets) = &settings.goal else { return Vec::new() };
    let step = graphs.len().div_ceil(POINTS).max(1);
    let all: Vec<(u32, Vec<f64>, &Prediction)> = graphs
        .iter()
        .zip(predictions)
        .step_by(step)
        .map(|(&g, prediction)| (g, values_of(settings, dataset, g), prediction))
        .collect();
    let of = |t: usize| {
        let point = |(g, truth, prediction): &(u32, Vec<f64>, &Prediction)| match prediction {
            Prediction::Values(values) if !truth[t].is_nan() => Some(json!([truth[t], values[t], g])),
            _ => None,
        };
        json!({ "name": targets[t].name, "unit": targets[t].unit, "points": all.iter().filter_map(point).collect::<Vec<_>>() })
    };
    (0..targets.len()).map(of).collect()
}
