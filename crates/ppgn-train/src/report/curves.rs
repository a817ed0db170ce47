//! The curves of a run: one chart per metric or target, with a curve per set.

use crate::chart::{Axis, Chart, Curve, Drawn, Look, Panel, Scale};
use crate::data::Goal;
use crate::metrics::{Epoch, Metric, Part};
use crate::run::Summary;
use crate::settings::Settings;
use ppgn_graph::Target;

/// The figure of a set that a chart shows.
type Figure<'a> = &'a dyn Fn(&Part) -> Option<f64>;

/// The charts of a run, as HTML.
pub(super) fn charts(settings: &Settings, summary: &Summary, metrics: &[Epoch]) -> String {
    let draw = |title: String, up: Axis, value: Figure<'_>| {
        let panel = Panel::by_epoch(title, up, curves(metrics, value));
        match panel.curves.is_empty() {
            true => String::new(),
            false => {
                Chart::new(Look::Page, &[Panel { best: Some(summary.best_epoch as f64), ..panel }]).svg()
            }
        }
    };
    let mut html = "<div class=charts>\n".to_string();
    match &settings.goal {
        Goal::Classes(_) | Goal::Labels(_) => {
            html += &draw("Accuracy".into(), Axis::new("share of graphs", Scale::Percent), &|p| p.accuracy);
        }
        Goal::Targets(targets) => {
            for (t, target) in targets.iter().enumerate() {
                let unit = if target.unit.is_empty() { String::new() } else { format!(", {}", target.unit) };
                let up = Axis::new(format!("mean absolute error{unit}"), Scale::Linear);
                html += &draw(target.name.clone(), up, &|p| p.mae.get(t).copied());
            }
        }
    }
    // What the best epoch was selected by, if that is none of these.
    let metric = settings.training.select.metric;
    if !matches!(metric, Metric::Auto | Metric::Loss | Metric::Accuracy | Metric::Mae) {
        let scale = if metric.is_share() { Scale::Percent } else { Scale::Linear };
        html += &draw(metric.title().into(), Axis::new("", scale), &|p| metric.value(p));
    }
    html += &draw("Loss".into(), Axis::new("per graph", Scale::Linear), &|p| Some(p.loss));
    html + "</div>\n"
}

/// Dots in a chart, at most; of more predictions, some at equal distances.
const DOTS: usize = 1000;

/// Predictions against the truth, one chart per target, as HTML.
pub(super) fn parity(targets: &[Target], points: &[Vec<(f64, f64)>]) -> String {
    let mut html = "<div class=charts>\n".to_string();
    for (target, points) in targets.iter().zip(points) {
        let finite: Vec<(f64, f64)> =
            points.iter().copied().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        let all = || finite.iter().flat_map(|(a, b)| [*a, *b]);
        let range = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        if finite.is_empty() {
            continue;
        }
        let step = finite.len().div_ceil(DOTS);
        let dots = finite.iter().copied().step_by(step).collect();
        let unit = if target.unit.is_empty() { String::new() } else { format!(", {}", target.unit) };
        let axis =
            |name: &str| Axis { range: Some(range), ..Axis::new(format!("{name}{unit}"), Scale::Linear) };
        let panel = Panel {
            title: target.name.clone(),
            across: axis("truth"),
            up: axis("predicted"),
            curves: vec![
                Curve { drawn: Drawn::Dots, named: Some("test"), ..Curve::line("", dots) },
                Curve {
                    drawn: Drawn::Guide,
                    ..Curve::line("", vec![(range.0, range.0), (range.1, range.1)])
                },
            ],
            best: None,
        };
        html += &Chart::new(Look::Page, &[panel]).svg();
    }
    html + "</div>\n"
}

/// A figure by epoch, for each set that has it.
fn curves<'a>(metrics: &[Epoch], value: Figure<'_>) -> Vec<Curve<'a>> {
    let part = |name: &'static str, of: fn(&Epoch) -> Option<&Part>| {
        let points = metrics.iter().filter_map(|e| Some((e.epoch as f64, of(e).and_then(value)?)));
        Curve { named: Some(name), ..Curve::line(name, points.collect()) }
    };
    let all = [
        part("train", |e| Some(&e.train)),
        part("validation", |e| e.validation.as_ref()),
        part("test", |e| e.test.as_ref()),
    ];
    all.into_iter().filter(|curve| !curve.points.is_empty()).collect()
}
