//! The one figure of a set that stands for all: what progress, lists of runs and pages lead with.

use crate::data::Goal;
use crate::metrics::Part;
use crate::settings::Settings;
use crate::settings::text::short;

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
