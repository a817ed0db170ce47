//! The one figure of a set that stands for all, which progress, lists of runs and pages lead with; and all of them by name.

use crate::data::Goal;
use crate::metrics::Part;
use crate::settings::Settings;
use crate::settings::text::short;
use serde_json::Value;

/// Up to this number of targets, each is named.
const NAMED: usize = 2;

/// The accuracy in percent, the error of a target with its unit, the errors of two targets by name. More targets have units
/// that cannot be added, so theirs is the mean of the errors, each divided by the standard deviation of its target (`sd`):
/// the baseline that predicts the mean is somewhat below 1.
pub fn headline(settings: &Settings, part: &Part) -> String {
    let Goal::Targets(targets) = &settings.goal else {
        return part.accuracy.map_or_else(|| format!("loss {}", short(part.loss)), percent);
    };
    match (targets.as_slice(), part.mae.as_slice()) {
        ([target], [error]) => format!("error {} {}", short(*error), target.unit).trim_end().to_string(),
        (several, errors) if several.len() == errors.len() && several.len() <= NAMED => {
            let each = several.iter().zip(errors).map(|(target, e)| format!("{} {}", target.name, short(*e)));
            each.collect::<Vec<_>>().join(", ")
        }
        _ => match mean_error(settings, part) {
            Some(error) => format!("error {} sd", short(error)),
            None => format!("loss {}", short(part.loss)),
        },
    }
}

/// The mean over the targets of their errors, each divided by the standard deviation of its target over the training set.
pub fn mean_error(settings: &Settings, part: &Part) -> Option<f64> {
    let (errors, scaling) = (&part.mae, &settings.scaling);
    (!errors.is_empty() && errors.len() == scaling.len()).then(|| {
        errors.iter().zip(scaling).map(|(error, s)| error / s.deviation).sum::<f64>() / errors.len() as f64
    })
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The figures of a set by the names that its line in `metrics.jsonl` has for them; those of lists with their target or class:
/// `mae/mu`. The loss, which was minimised, comes last.
pub fn figures(settings: &Settings, part: &Part) -> Vec<(String, f64)> {
    let names: Vec<String> = match &settings.goal {
        Goal::Classes(classes) => classes.iter().map(ToString::to_string).collect(),
        Goal::Targets(targets) | Goal::Labels(targets) => {
            targets.iter().map(|target| target.name.clone()).collect()
        }
    };
    let fields = serde_json::to_value(part).unwrap_or_default();
    let mut all = Vec::new();
    for (key, value) in fields.as_object().into_iter().flatten() {
        match value {
            Value::Array(items) if items.len() == names.len() => {
                let named = items.iter().zip(&names);
                all.extend(named.filter_map(|(x, name)| Some((format!("{key}/{name}"), x.as_f64()?))));
            }
            value => all.extend(value.as_f64().map(|x| (key.clone(), x))),
        }
    }
    all.sort_by_key(|(name, _)| name == "loss");
    all
}
