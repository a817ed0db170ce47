//! The metrics of a run by set, each beside that of the baseline, and the confusion matrix.

use super::escape;
use crate::data::Goal;
use crate::headline::percent;
use crate::metrics::{Measured, Metric, Part, Sets};
use crate::settings::text::short;
use ppgn_graph::Target;
use std::fmt::Write as _;

/// All metrics on all sets, as HTML.
pub(super) fn metrics(goal: &Goal, sets: &Sets) -> String {
    let named: Vec<(&str, &Measured)> = sets.named().collect();
    let mut html = String::new();
    match goal {
        Goal::Classes(_) | Goal::Labels(_) => {
            let rows = Metric::CLASSES.iter().map(|metric| {
                let shown = |part: &Part| metric.value(part).map(|x| figure(*metric, x));
                (metric.title().to_string(), String::new(), pairs(&named, shown))
            });
            html += "<h2>Metrics at the best epoch</h2>\n";
            html += &table("metric", &named, rows.collect());
            html += "<p>Below each figure: the baseline, which predicts the majority class with the shares of the classes in the training set.</p>\n";
        }
        Goal::Targets(targets) => {
            for metric in Metric::VALUES {
                let rows = targets.iter().enumerate().map(|(t, target)| {
                    let shown = |part: &Part| of_target(metric, part, t).map(|x| error(metric, x));
                    (target.name.clone(), unit(metric, target), pairs(&named, shown))
                });
                let _ = writeln!(html, "<h2>{} at the best epoch</h2>", escape(&capital(metric.title())));
                html += &table("target", &named, rows.collect());
            }
            html += "<p>Below each figure: the baseline, which predicts the mean of the training set.</p>\n";
        }
    }
    html
}

/// A figure for people.
fn figure(metric: Metric, x: f64) -> String {
    if metric.is_share() { percent(x) } else { format!("{x:.4}") }
}

/// A figure of a target: errors by their digits, shares of the variance by their decimals.
fn error(metric: Metric, x: f64) -> String {
    if metric == Metric::R2 { format!("{x:.4}") } else { short(x) }
}

/// A metric of one target.
fn of_target(metric: Metric, part: &Part, t: usize) -> Option<f64> {
    match metric {
        Metric::Mae => part.mae.get(t).copied(),
        Metric::Rmse => part.rmse.get(t).copied().flatten(),
        Metric::R2 => part.r2.get(t).copied().flatten(),
        _ => None,
    }
}

fn unit(metric: Metric, target: &Target) -> String {
    if metric == Metric::R2 { String::new() } else { target.unit.clone() }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The figure of every set and that of its baseline.
fn pairs(sets: &[(&str, &Measured)], shown: impl Fn(&Part) -> Option<String>) -> Vec<[Option<String>; 2]> {
    sets.iter().map(|(_, set)| [shown(&set.metrics), shown(&set.baseline)]).collect()
}

/// A row: its name, its unit, and per set a figure and its baseline.
type Row = (String, String, Vec<[Option<String>; 2]>);

fn table(first: &str, sets: &[(&str, &Measured)], rows: Vec<Row>) -> String {
    let units = rows.iter().any(|row| !row.1.is_empty());
    let mut html = format!("<div class=scroll><table>\n<tr><th>{first}");
    html += if units { "<th>unit" } else { "" };
    for (name, set) in sets {
        let _ = write!(html, "<th class=n>{name}<small>{}</small>", set.size());
    }
    html += "</tr>\n";
    for (name, unit, cells) in rows {
        let _ = write!(html, "<tr><td>{}", escape(&name));
        if units {
            let _ = write!(html, "<td>{}", escape(&unit));
        }
        for [figure, baseline] in cells {
            let dash = |text: Option<String>| text.map_or("-".to_string(), |text| escape(&text));
            let _ = write!(html, "<td class=n>{}<small>{}</small>", dash(figure), dash(baseline));
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

/// The confusion matrix of a set, darker where a larger share of a class is.
pub(super) fn confusion(name: &str, set: &Measured, classes: &[String]) -> String {
    if set.confusion.is_empty() {
        return String::new();
    }
    let mut html = format!(
        "<h2>Confusion matrix of the {name} set</h2>\n<div class=scroll><table class=confusion>\n\
         <tr><th><th colspan={}>predicted class</tr>\n<tr><th>class",
        classes.len()
    );
    let classes: Vec<_> = classes.iter().map(|class| escape(class)).collect();
    classes.iter().for_each(|class| html += &format!("<th>{class}"));
    html += "</tr>\n";
    for (class, row) in classes.iter().zip(&set.confusion) {
        let all = row.iter().sum::<u64>().max(1) as f64;
        let _ = write!(html, "<tr><th>{class}");
        for count in row {
            let share = 0.72 * *count as f64 / all;
            let _ = write!(html, "<td class=n style=\"background:rgba(var(--heat),{share:.3})\">{count}");
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::classification;
    use ppgn_nn::Level;

    #[test]
    fn every_metric_stands_beside_its_baseline() {
        let measured = |rows: &[f64]| {
            let truth = [Some(0), Some(0), Some(1), Some(1)];
            let found = classification(&truth, rows, 2);
            let blind = classification(&truth, &[0.5; 8], 2);
            let (metrics, baseline) = (Part::of_classes(0.1, &found), Part::of_classes(0.2, &blind));
            Measured::new(Level::Graph, (4, 4), metrics, baseline, found.confusion)
        };
        let set = measured(&[0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9]);
        let sets = Sets { train: Some(set.clone()), validation: None, test: Some(set.clone()) };
        let html = metrics(&Goal::Classes(vec![-1, 1]), &sets);
        for title in Metric::CLASSES.map(Metric::title) {
            assert!(html.contains(&format!("<td>{title}<td")), "no {title} in {html}");
        }
        assert!(
            html.contains("<td class=n>75.0 %<small>50.0 %</small>") && html.contains("4 graphs"),
            "{html}"
        );
        assert!(!html.contains("validation"));
        let html = confusion("test", &set, &["-1".into(), "a<b".into()]);
        assert_eq!(html.matches("<td class=n").count(), 4, "{html}");
        assert!(html.contains("<th>-1<th>a&lt;b</tr>"), "{html}");
        assert!(html.contains(">2<td") && html.contains(",0.360)\">1"), "{html}");
    }

    #[test]
    fn targets_have_all_metrics_with_their_units() {
        let part = |x: f64| Part {
            mae: vec![x, 2.0 * x],
            rmse: vec![Some(x), None],
            r2: vec![Some(0.5), None],
            ..Part::default()
        };
        let set = Measured::new(Level::Node, (3, 20), part(0.25), part(1.5), Vec::new());
        let sets = Sets { test: Some(set), ..Sets::default() };
        let target = |name: &str| Target { name: name.into(), unit: "eV".into() };
        let html = metrics(&Goal::Targets(vec![target("a<b"), target("gap")]), &sets);
        assert!(html.contains("<td>a&lt;b<td>eV<td class=n>0.2500<small>1.500</small>"), "{html}");
        assert!(html.contains("<td>gap<td>eV<td class=n>-<small>-</small>"), "{html}");
        assert!(html.contains("<small>3 graphs, 20 nodes</small>"), "{html}");
        assert!(
            html.contains("Root mean squared error at") && html.contains("<td>gap<td class=n>-"),
            "{html}"
        );
    }
}
