//! The curves of a run: one chart per metric or target, with a curve per set.

use crate::chart::{Axis, Chart, Curve, Look, Panel, Scale};
use crate::data::Goal;
use crate::metrics::{Epoch, Part};
use crate::run::Summary;
use crate::settings::Settings;

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
        Goal::Classes(_) => {
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
    html += &draw("Loss".into(), Axis::new("per graph", Scale::Linear), &|p| Some(p.loss));
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
