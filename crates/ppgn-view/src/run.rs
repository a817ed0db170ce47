//! One run: its settings, metrics and summary. Of a long run, some epochs at equal distances, the best and the last.

use crate::answer::{Source, name_of};
use crate::error::Answer;
use crate::followed::Lately;
use crate::query::Query;
use ppgn_graph::Target;
use ppgn_train::metrics::Metric;
use ppgn_train::{Goal, Settings, flat_settings, headline};
use serde_json::{Value, json};
use std::path::Path;

/// `run?run=NAME&from=EPOCH&reading=R`: everything about a run, with the epochs after this one, where the page has those before
/// it from the same reading.
pub(crate) fn answer(source: &Source, query: &Query) -> Answer<String> {
    let path = source.place().folder(query.need("run")?)?;
    let from = query.number("from", 0)?;
    let Lately { overview: run, reading, step, from, lines, extra } =
        source.followed().look(&path, from, query.get("reading"))?;
    let settings = &run.settings;
    let best = run.best.as_ref().map(|best| best.reported());
    let json = json!({
        "run": name_of(&source.place().runs().unwrap_or_default(), &path),
        "state": run.status.name(),
        "epochs_done": run.epochs,
        "from": from,
        "reading": reading,
        "step": step,
        "best_epoch": run.best.as_ref().map(|best| best.epoch),
        "part": best.map(|(part, _)| part),
        "headline": best.map(|(_, part)| headline(settings, part)),
        "select": settings.training.select.metric.resolved(&settings.goal).field(),
        "seconds": run.seconds,
        "summary": run.summary,
        "goal": goal(settings),
        "metrics": metrics(settings),
        "data": settings.trained().map(|trained| trained.data.clone()),
        "dataset": settings.dataset,
        "preset": settings.preset(),
        "settings": flat_settings(settings)?,
        "toml": settings.to_toml()?,
        "files": files(&path),
    });
    // The lines of `metrics.jsonl` are JSON already.
    let text = json.to_string();
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok(format!("{open},\"epochs\":[{}],\"extra\":[{}]}}", lines.join(","), extra.join(",")))
}

/// What the run predicts: the classes, targets or labels by name.
pub(crate) fn goal(settings: &Settings) -> Value {
    let names = |targets: &[Target]| {
        let name = |target: &Target| json!({ "name": target.name, "unit": target.unit });
        targets.iter().map(name).collect::<Vec<_>>()
    };
    match &settings.goal {
        Goal::Classes(classes) => {
            let name = |(place, class): (usize, &i64)| match settings.class_names.get(place) {
                Some(name) => name.clone(),
                None => class.to_string(),
            };
            json!({ "kind": "classes", "names": classes.iter().enumerate().map(name).collect::<Vec<_>>() })
        }
        Goal::Targets(targets) => json!({ "kind": "targets", "names": names(targets) }),
        Goal::Labels(targets) => json!({ "kind": "labels", "names": names(targets) }),
    }
}

/// The metrics that the run has, with their titles: the field of an epoch's set, whether it is a share, and whether it has one
/// number per target.
fn metrics(settings: &Settings) -> Vec<Value> {
    let several = |metric: Metric| matches!(metric, Metric::Mae | Metric::Rmse | Metric::R2);
    let mut all: Vec<Metric> = Metric::of(&settings.goal).to_vec();
    all.push(Metric::Loss);
    let one = |metric: Metric| {
        json!({
            "name": metric.field(),
            "title": metric.title(),
            "share": metric.is_share(),
            "gain": metric.is_gain(),
            "by_target": several(metric),
        })
    };
    all.into_iter().map(one).collect()
}

/// The files of a run with their lengths.
fn files(path: &Path) -> Vec<Value> {
    let all = [
        "config.toml",
        "metrics.jsonl",
        "split.csv",
        "timing.jsonl",
        "predictions.jsonl",
        "checkpoint/model.safetensors",
        "checkpoint/state.json",
        "best/model.safetensors",
        "summary.json",
        "report.html",
    ];
    let one = |name: &&str| {
        let found = std::fs::metadata(path.join(name)).ok()?;
        Some(json!({ "name": name, "bytes": found.len() }))
    };
    all.iter().filter_map(one).collect()
}
