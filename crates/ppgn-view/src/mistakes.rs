//! What a run gets wrong: the graphs of a set that its best network is farthest from, and every prediction against the truth.

use crate::answer::Source;
use crate::dataset::one;
use crate::drawn::legend;
use crate::error::{Answer, Failure};
use crate::query::Query;
use crate::run::goal;
use ppgn_graph::Dataset;
use ppgn_nn::Level;
use ppgn_train::{Goal, Prediction, Predictor, Session, Settings, Truth, limited};
use ppgn_wl::Interrupt;
use serde_json::{Value, json};
use std::path::Path;

/// Graphs that are shown.
const SHOWN: usize = 12;
/// Graphs that are predicted; of a larger set, the first.
const MOST: usize = 2000;
/// Nodes or pairs of a graph that are shown.
const ITEMS: usize = 5;
/// Outputs per node or per pair that are predicted; of a larger set, those of the first graphs.
const OUTPUTS: usize = 200_000;
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

/// `run/mistakes?run=NAME&set=test`: the graphs that are farthest from the truth. For a run with outputs per node or per pair, by
/// the mean over them, each with its farthest ones.
pub(crate) fn answer(source: &Source, query: &Query, interrupt: &Interrupt) -> Answer {
    let path = source.place().folder(query.need("run")?)?;
    let Opened { predictor, dataset, data } = open(source, &path, interrupt)?;
    let settings = predictor.settings();
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
    let looked = &graphs[..as_many(&dataset, settings.network.level, graphs)];
    let chosen = dataset.subset(looked)?;
    let predictions = predictor.predict(&chosen)?;
    let truth = Truth::of(settings, &chosen)?;
    let judged = Judged { settings, truth: &truth, predictions: &predictions };
    let level = settings.network.level;
    // By graph: the mean error, and the items that are known, the farthest first; of equals, in the order of the data.
    let mut by_graph: Vec<_> = (0..looked.len())
        .filter_map(|graph| {
            let known = truth.items().of_graph(graph).filter_map(|item| Some((item, judged.error(item)?)));
            let mut known: Vec<(usize, f64)> = known.collect();
            known.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let mean = known.iter().map(|(_, error)| error).sum::<f64>() / known.len() as f64;
            (!known.is_empty()).then_some((graph, mean, known))
        })
        .collect();
    by_graph.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let worst = by_graph.iter().take(SHOWN).map(|(graph, error, known)| {
        let mut json = one(&dataset, looked[*graph] as usize)?;
        json["error"] = (*error).into();
        let item = |&(item, _): &(usize, f64)| judged.to_json(item);
        match level {
            Level::Graph => {
                let own = item(&known[0]);
                own.as_object().into_iter().flatten().for_each(|(key, value)| json[key] = value.clone());
            }
            _ => {
                json["items_known"] = known.len().into();
                json["items_wrong"] = known.iter().filter(|(item, _)| judged.is_wrong(*item)).count().into();
                json["items"] = known.iter().take(ITEMS).map(item).collect();
            }
        }
        Ok(json)
    });
    let worst = worst.collect::<Answer<Vec<Value>>>()?;
    let known = by_graph.iter().flat_map(|(_, _, known)| known);
    let wrong = known.clone().filter(|(item, _)| judged.is_wrong(*item)).count();
    let classes = !matches!(settings.goal, Goal::Targets(_));
    Ok(json!({
        "set": wanted,
        "sets": there,
        "level": level,
        "graphs": graphs.len(),
        "looked_at": looked.len(),
        "items": known.count(),
        "wrong": classes.then_some(wrong),
        "data": data,
        "goal": goal(settings),
        "legend": legend(dataset.schema()),
        "worst": worst,
        "parity": judged.parity(looked),
    }))
}

/// How many graphs of a set are predicted: those whose outputs are not too many.
fn as_many(dataset: &Dataset, level: Level, graphs: &[u32]) -> usize {
    let outputs = |graph: u32| level.items(dataset.graph(graph as usize).nodes());
    let mut sum = 0;
    let fits = graphs.iter().take(MOST).take_while(|graph| {
        sum += outputs(**graph);
        sum <= OUTPUTS
    });
    fits.count().max(1)
}

/// Predictions beside the truth.
struct Judged<'a> {
    settings: &'a Settings,
    truth: &'a Truth<'a>,
    predictions: &'a [Prediction],
}

impl Judged<'_> {
    /// How far a prediction is from the truth: the probability that the true class did not get, or the mean over the targets of
    /// the error, in standard deviations. Nothing where the truth is not known.
    fn error(&self, item: usize) -> Option<f64> {
        let mean =
            |errors: Vec<f64>| (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        match &self.predictions[item] {
            Prediction::Class { probabilities, .. } => {
                Some(1.0 - probabilities.get(self.truth.class(item)?)?)
            }
            Prediction::Values(values) => {
                let truth = self.truth.values(item)?;
                let all = values.iter().zip(truth).zip(&self.settings.scaling);
                mean(all.filter_map(|((x, y), s)| Some((x - y?).abs() / s.deviation)).collect())
            }
            Prediction::Labels(values) => {
                let truth = self.truth.values(item)?;
                mean(values.iter().zip(truth).filter_map(|(x, y)| Some((x - y?).abs())).collect())
            }
        }
    }

    fn is_wrong(&self, item: usize) -> bool {
        match (&self.predictions[item], &self.settings.goal) {
            (Prediction::Class { class, .. }, Goal::Classes(classes)) => {
                self.truth.class(item).is_some_and(|truth| classes[truth] != *class)
            }
            (Prediction::Labels(values), _) => {
                let truth = self.truth.values(item).unwrap_or_default();
                values.iter().zip(truth).any(|(x, y)| y.is_some_and(|y| (*x >= 0.5) != (y >= 0.5)))
            }
            _ => false,
        }
    }

    /// The nodes of an item, what is true of it and what was predicted.
    fn to_json(&self, item: usize) -> Value {
        match &self.predictions[item] {
            Prediction::Class { class, probabilities } => json!({
                "nodes": self.truth.items().nodes(item),
                "truth": self.truth.class(item),
                "predicted": class,
                "probabilities": probabilities,
            }),
            Prediction::Values(values) | Prediction::Labels(values) => json!({
                "nodes": self.truth.items().nodes(item),
                "truth": self.truth.values(item),
                "predicted": values,
            }),
        }
    }

    /// Truth, prediction and graph, target by target; of many items some at equal distances.
    fn parity(&self, graphs: &[u32]) -> Vec<Value> {
        let Goal::Targets(targets) = &self.settings.goal else { return Vec::new() };
        let step = self.predictions.len().div_ceil(POINTS).max(1);
        let items = self.truth.items();
        let all: Vec<_> = (0..self.predictions.len())
            .step_by(step)
            .filter_map(|item| {
                let graph = graphs[items.graph(item)];
                Some((graph, items.nodes(item), self.truth.values(item)?, &self.predictions[item]))
            })
            .collect();
        let of = |t: usize| {
            let points = all.iter().filter_map(|(graph, nodes, truth, prediction)| match prediction {
                Prediction::Values(values) => Some(json!([truth[t]?, values[t], graph, nodes])),
                _ => None,
            });
            json!({ "name": targets[t].name, "unit": targets[t].unit, "points": points.collect::<Vec<_>>() })
        };
        (0..targets.len()).map(of).collect()
    }
}
