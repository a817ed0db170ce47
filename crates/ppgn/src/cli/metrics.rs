//! Metrics as tables for people: every figure beside that of the baseline.

use super::output::{self, short};
use ppgn::graph::Target;
use ppgn::graph::text::escaped;
use ppgn::train::metrics::{Measured, Metric, Part, Sets};
use std::fmt::Write as _;

/// What the baseline of classes is.
const PRIOR: &str = "baseline (majority class)";

/// A figure for people: shares in percent, others with four digits, a dash where it is undefined.
pub(crate) fn figure(metric: Metric, value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(x) if metric.is_share() => format!("{:.1} %", x * 100.0),
        Some(x) => format!("{x:.4}"),
    }
}

/// The metrics of classes on all sets; the baseline is that of the set that is reported, the last.
pub(crate) fn table(sets: &Sets, classes: &[String]) -> String {
    let named: Vec<(&str, &Measured)> = sets.named().collect();
    let Some((reported, last)) = named.last() else { return String::new() };
    let mut head = vec!["metric".to_string()];
    head.extend(named.iter().map(|(name, _)| name.to_string()));
    head.push(PRIOR.into());
    let mut rows = vec![head];
    for metric in Metric::CLASSES {
        let mut row = vec![metric.title().to_string()];
        row.extend(named.iter().map(|(_, set)| figure(metric, metric.value(&set.metrics))));
        row.push(figure(metric, metric.value(&last.baseline)));
        rows.push(row);
    }
    let mut text = output::table(&rows);
    for (name, set) in &named {
        text += &undefined(name, set, classes);
    }
    if named.len() > 1 {
        let _ = writeln!(text, "The baseline is on the {reported} set.");
    }
    text
}

/// More classes than these make a matrix that does not fit a terminal.
const MOST_CLASSES: usize = 12;

/// The confusion matrix of the set that is reported: the number of graphs by class (row) and predicted class (column).
pub(crate) fn confusion(sets: &Sets, classes: &[String]) -> String {
    let Some((name, set)) = sets.named().last().filter(|(_, set)| !set.confusion.is_empty()) else {
        return String::new();
    };
    if classes.len() > MOST_CLASSES {
        let n = classes.len();
        return format!("\nthe confusion matrix of the {n} classes is in report.html\n");
    }
    let mut rows = vec![std::iter::once("class".to_string()).chain(classes.iter().cloned()).collect()];
    for (class, counts) in classes.iter().zip(&set.confusion) {
        rows.push(std::iter::once(class.clone()).chain(counts.iter().map(u64::to_string)).collect());
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row: Vec<String>| row.iter().map(|cell| escaped(cell).into_owned()).collect())
        .collect();
    format!(
        "\nconfusion matrix of the {name} set: one row per class, one column per predicted class\n{}",
        output::table(&rows)
    )
}

/// Why a metric of a set is undefined, as a sentence of its own; nothing where all are defined.
fn undefined(name: &str, set: &Measured, classes: &[String]) -> String {
    let metrics = [Metric::RocAuc, Metric::AveragePrecision];
    let lost: Vec<&str> =
        metrics.into_iter().filter(|m| m.value(&set.metrics).is_none()).map(Metric::title).collect();
    if lost.is_empty() {
        return String::new();
    }
    let absent: Vec<&str> =
        set.absent().iter().filter_map(|&class| classes.get(class)).map(String::as_str).collect();
    let why = match absent.len() {
        0 => "no label is both present and absent in it".to_string(),
        1 => format!("no {} of class {} is in it", set.item(), absent[0]),
        _ => format!("no {} of classes {} is in it", set.item(), absent.join(", ")),
    };
    let (verb, lost) = (if lost.len() == 1 { "is" } else { "are" }, lost.join(" and "));
    format!("{lost} {verb} undefined on the {name} set: {why}.\n")
}

/// The metrics of classes on one set, each beside that of the baseline.
pub(crate) fn of_classes(metrics: &Part, baseline: &Part) -> String {
    let mut rows = vec![vec!["metric".to_string(), "value".into(), PRIOR.into()]];
    for metric in Metric::CLASSES {
        let [value, base] = [metrics, baseline].map(|part| figure(metric, metric.value(part)));
        rows.push(vec![metric.title().to_string(), value, base]);
    }
    output::table(&rows)
}

/// The errors of targets on a set, each beside that of the baseline, which predicts the mean.
pub(crate) fn of_targets(targets: &[Target], metrics: &Part, baseline: &Part) -> String {
    let names =
        ["target", "error", "baseline (predict the mean)", "RMSE", "baseline", "R2", "baseline", "unit"];
    let mut rows = vec![names.map(String::from).to_vec()];
    let shown = |values: &[Option<f64>], t: usize| values.get(t).copied().flatten().map_or("-".into(), short);
    let error =
        |values: &[f64], t: usize| values.get(t).filter(|x| !x.is_nan()).map_or("-".into(), |x| short(*x));
    for (t, target) in targets.iter().enumerate() {
        rows.push(vec![
            target.name.clone(),
            error(&metrics.mae, t),
            error(&baseline.mae, t),
            shown(&metrics.rmse, t),
            shown(&baseline.rmse, t),
            shown(&metrics.r2, t),
            shown(&baseline.r2, t),
            target.unit.clone(),
        ]);
    }
    output::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn::train::metrics::classification;

    #[test]
    fn what_is_undefined_is_said() {
        let set = |truth: &[Option<usize>]| {
            let rows = [0.75, 0.25].repeat(truth.len());
            let found = classification(truth, &rows, 2);
            let metrics = Part::of_classes(0.5, &found);
            let (nodes, pairs, baseline) = (None, None, metrics.clone());
            Measured { graphs: truth.len(), nodes, pairs, baseline, metrics, confusion: found.confusion }
        };
        let sets = Sets {
            train: Some(set(&[Some(0), Some(1)])),
            validation: None,
            test: Some(set(&[Some(0), Some(0)])),
        };
        let text = table(&sets, &["-1", "7"].map(String::from));
        let said =
            "ROC AUC and average precision are undefined on the test set: no graph of class 7 is in it.\n";
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("on the training set"), "{text}");
        let accuracy: Vec<&str> = text.lines().nth(1).unwrap_or_default().split_whitespace().collect();
        assert_eq!(accuracy, ["accuracy", "50.0", "%", "100.0", "%", "100.0", "%"], "{text}");
    }
}
