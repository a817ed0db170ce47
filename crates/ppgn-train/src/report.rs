//! `report.html`: a finished run on one page. It needs nothing but a browser: no script, no other file.

use crate::chart::{Chart, Curve, Look, Panel};
use crate::data::Goal;
use crate::error::Result;
use crate::metrics::{Epoch, Part};
use crate::overview::seconds;
use crate::run::{Run, Summary};
use crate::settings::{Division, Settings};
use ppgn_graph::file::write_whole;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{--ink:#1b1f24;--soft:#667085;--line:#d8dde4;--card:#f6f8fa;--page:#fff;--train:#8a94a6;--validation:#e07b00;--test:#1769c0}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#98a2b3;--line:#343b46;--card:#1c2128;--page:#12161c;--train:#7d8796;--validation:#f5a04a;--test:#6cb0f5}}
body{margin:2.5rem auto;max-width:60rem;padding:0 1.2rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
h1{font-size:1.7rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}p{margin:.3rem 0;color:var(--soft)}
.figures{display:flex;flex-wrap:wrap;gap:.8rem;margin:1.4rem 0}
.figure{background:var(--card);border-radius:.6rem;padding:.8rem 1.2rem}.figure b{display:block;font-size:1.5rem}.figure span{color:var(--soft)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif}
pre{background:var(--card);border-radius:.6rem;padding:1rem;overflow-x:auto;font-size:13px}
";

/// The reservation where the test set takes part in the selection of an epoch.
const OPTIMISTIC: &str = "the best epoch is selected on the test set (optimistic)";

/// Writes the page of a run that has finished its last epoch.
pub(crate) fn write(run: &Run, summary: &Summary, metrics: &[Epoch]) -> Result<()> {
    let page = page(run.settings(), summary, metrics, seconds(run.path()))?;
    Ok(write_whole(&run.path().join("report.html"), page.as_bytes())?)
}

fn page(settings: &Settings, summary: &Summary, metrics: &[Epoch], seconds: f64) -> Result<String> {
    let title = format!("{}, {}, seed {}", settings.dataset, settings.preset(), settings.training.seed);
    let title = escape(&title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let _ = writeln!(html, "<p>{}</p>", escape(&division(settings)));
    html.push_str(&figures(settings, summary, seconds));
    html.push_str(&curves(settings, summary, metrics));
    if let Goal::Targets(targets) = &settings.goal {
        html.push_str("<h2>Mean absolute error at the best epoch</h2>\n<table>\n<tr><th>target<th>unit<th class=n>error<th class=n>baseline (predict the mean)</tr>\n");
        let (_, part) = summary.best.reported();
        for ((target, mae), mean) in targets.iter().zip(&part.mae).zip(&summary.mae_of_mean) {
            let (name, unit) = (escape(&target.name), escape(&target.unit));
            let _ = writeln!(html, "<tr><td>{name}<td>{unit}<td class=n>{mae:.4}<td class=n>{mean:.4}</tr>");
        }
        html.push_str("</table>\n");
    }
    let _ =
        writeln!(html, "<h2>Settings</h2>\n<pre>{}</pre>\n</body>\n</html>", escape(&settings.to_toml()?));
    Ok(html)
}

fn division(settings: &Settings) -> String {
    let Some(trained) = settings.trained() else { return String::new() };
    let division = &trained.division;
    let by = match (division.has_validation(), division.has_test()) {
        (true, _) => "the best epoch is selected on the validation set",
        (false, true) => OPTIMISTIC,
        (false, false) => "the best epoch is selected on the training set",
    };
    let chosen = match division {
        Division::Fold(number) => format!("Given fold {number}; {by}."),
        Division::Dealt { fold, of } => format!("Random fold {fold} of {of}; {by}."),
        Division::Holdout(share) => format!("{share} of the graphs held out; {by}."),
        Division::Shares(_) => format!("Split {division} for training, validation and test; {by}."),
        Division::Nested { .. } | Division::Random(_) | Division::Listed(_) => {
            format!("Split: {division}; {by}.")
        }
    };
    match trained.limit {
        Some(limit) => format!("{limit} graphs drawn by the seed. {chosen}"),
        None => chosen,
    }
}

fn figures(settings: &Settings, summary: &Summary, seconds: f64) -> String {
    let (part, best) = summary.best.reported();
    let mut figures = Vec::new();
    if let Some(accuracy) = best.accuracy {
        figures.push((format!("{:.1} %", accuracy * 100.0), format!("{part} accuracy")));
    }
    if let ([mae], Goal::Targets(targets)) = (best.mae.as_slice(), &settings.goal) {
        figures
            .push((format!("{mae:.4}"), format!("{part} error of {}, {}", targets[0].name, targets[0].unit)));
    }
    figures.push((format!("{:.4}", best.loss), format!("{part} loss")));
    figures.push((summary.best_epoch.to_string(), format!("best epoch of {}", summary.epochs)));
    figures.push((format!("{seconds:.1} s"), "for all epochs".into()));
    let mut html = "<div class=figures>\n".to_string();
    for (number, what) in figures {
        let _ = writeln!(html, "<div class=figure><b>{number}</b><span>{}</span></div>", escape(&what));
    }
    html + "</div>\n"
}

fn curves(settings: &Settings, summary: &Summary, metrics: &[Epoch]) -> String {
    let curves = |value: &dyn Fn(&Part) -> Option<f64>| -> Vec<Curve<'_>> {
        let part = |name, of: &dyn Fn(&Epoch) -> Option<&Part>| Curve {
            name,
            points: metrics.iter().filter_map(|e| Some((e.epoch as f64, of(e).and_then(value)?))).collect(),
        };
        let all = [
            part("train", &|e| Some(&e.train)),
            part("validation", &|e| e.validation.as_ref()),
            part("test", &|e| e.test.as_ref()),
        ];
        all.into_iter().filter(|curve| !curve.points.is_empty()).collect()
    };
    let draw = |title: &str, curves: Vec<Curve<'_>>| {
        let panel = Panel { title: String::new(), curves, best: Some(summary.best_epoch as f64) };
        let chart = Chart::by_epoch(Look::Page, &[panel]);
        format!("<h2>{}</h2>\n{}", escape(title), chart.svg())
    };
    let mut html = String::new();
    match &settings.goal {
        Goal::Classes(_) | Goal::Labels(_) => html += &draw("Accuracy by epoch", curves(&|p| p.accuracy)),
        Goal::Targets(targets) if targets.len() == 1 => {
            let title = format!("Mean absolute error of {} by epoch", targets[0].name);
            html += &draw(&title, curves(&|p| p.mae.first().copied()));
        }
        Goal::Targets(_) => {}
    }
    html + &draw("Loss per graph by epoch", curves(&|p| Some(p.loss)))
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
