//! `report.html`: a finished run on one page.

mod curves;
mod page;
mod tables;

pub(crate) use page::{Page, escape};
pub use page::{html_list, html_table};

use crate::data::Goal;
use crate::error::Result;
use crate::headline::{mean_error, percent};
use crate::metrics::{Epoch, Measured, Metric, Part};
use crate::overview::seconds;
use crate::run::{Run, Summary};
use crate::settings::text::short;
use crate::settings::{Division, Settings};
use ppgn_graph::file::write_whole;
use std::fmt::Write as _;

/// The reservation where the test set takes part in the selection of an epoch.
const OPTIMISTIC: &str = "the best epoch is selected on the test set (optimistic)";

/// More targets than this have no card each.
const CARDS: usize = 12;

/// Writes the page of a run that has finished its last epoch. `parity` has truth and prediction of every graph of the set that
/// is reported, target by target.
pub(crate) fn write(
    run: &Run,
    summary: &Summary,
    metrics: &[Epoch],
    parity: &[Vec<(f64, f64)>],
) -> Result<()> {
    let page = page(run.settings(), summary, metrics, parity, seconds(run.path()))?;
    Ok(write_whole(&run.path().join("report.html"), page.as_bytes())?)
}

fn page(
    settings: &Settings,
    summary: &Summary,
    metrics: &[Epoch],
    parity: &[Vec<(f64, f64)>],
    seconds: f64,
) -> Result<String> {
    let title = format!("{}, {}, seed {}", settings.dataset, settings.preset(), settings.training.seed);
    let mut page = Page::new(&title, "ppgn train");
    page.paragraph(&division(settings));
    page.push(&figures(settings, summary, seconds));
    if let Some(sets) = &summary.sets {
        page.push(&tables::metrics(&settings.goal, sets));
        if let Some((name, set)) = sets.named().last() {
            page.push(&tables::confusion(name, set, &settings.class_titles()));
        }
    }
    if let (Goal::Targets(targets), false) = (&settings.goal, parity.is_empty()) {
        page.heading(&format!("Predictions against the truth, {} set", summary.best.reported().0));
        page.push(&curves::parity(targets, parity));
    }
    page.heading("Curves");
    page.push(&curves::charts(settings, summary, metrics));
    page.heading("Settings");
    page.push(&format!("<pre>{}</pre>\n", escape(&settings.to_toml()?)));
    Ok(page.end())
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
        Division::Dealt { fold, of, .. } => format!("Random fold {fold} of {of}; {by}."),
        Division::Holdout(share) => format!("{share} of the graphs held out; {by}."),
        Division::Shares(_) => format!("Split {division} for training, validation and test; {by}."),
        Division::Nested { .. } | Division::Random(_) | Division::Listed(_) => {
            format!("Split: {division}; {by}.")
        }
    };
    let chosen = match settings.training.select.metric {
        Metric::Auto => chosen,
        metric => format!("{} by {}.", chosen.trim_end_matches('.'), metric.title()),
    };
    match trained.limit {
        Some(limit) => format!("{limit} graphs drawn by the seed. {chosen}"),
        None => chosen,
    }
}

/// A figure that stands out: the number, what it is, and what it is to be compared with.
struct Card {
    number: String,
    what: String,
    beside: String,
}

/// The leading figures: the accuracy or the errors of the targets first, what was minimised after them.
fn figures(settings: &Settings, summary: &Summary, seconds: f64) -> String {
    let (part, best) = summary.best.reported();
    let card = |number: String, what: String| Card { number, what, beside: String::new() };
    let mut cards = Vec::new();
    // The same set, measured with the weights of the best epoch, and its baseline.
    let measured = summary.sets.as_ref().and_then(|sets| sets.named().last()).map(|(_, set)| set);
    if let Some(accuracy) = best.accuracy {
        let baseline = measured.and_then(|set| set.baseline.accuracy);
        let beside = baseline.map(|share| format!("majority class: {}", percent(share)));
        let what = format!("{part} accuracy");
        cards.push(Card { number: percent(accuracy), what, beside: beside.unwrap_or_default() });
        let auc =
            |set: fn(&Measured) -> &Part| measured.and_then(|measured| Metric::RocAuc.value(set(measured)));
        if let Some(x) = auc(|set| &set.metrics) {
            let beside = auc(|set| &set.baseline).map(|x| format!("majority class: {x:.2}"));
            let what = format!("{part} ROC AUC");
            cards.push(Card { number: format!("{x:.3}"), what, beside: beside.unwrap_or_default() });
        }
    }
    if let Goal::Targets(targets) = &settings.goal {
        if let (true, Some(mean)) = (targets.len() > 1, mean_error(settings, best)) {
            let what = format!("{part} error of {} targets, in standard deviations", targets.len());
            cards.push(card(short(mean), what));
        }
        for (t, target) in targets.iter().enumerate().take(CARDS) {
            let Some(error) = best.mae.get(t) else { break };
            let number = format!("{} {}", short(*error), target.unit).trim_end().to_string();
            let beside = summary.mae_of_mean.get(t).map(|mean| format!("the mean: {}", short(*mean)));
            let what = format!("{part} error of {}", target.name);
            cards.push(Card { number, what, beside: beside.unwrap_or_default() });
        }
    }
    if best.mae.len() < 2 {
        cards.push(card(short(best.loss), format!("{part} loss")));
    }
    cards.push(card(summary.best_epoch.to_string(), format!("best epoch of {}", summary.epochs)));
    cards.push(card(format!("{seconds:.1} s"), "for all epochs".into()));
    let mut html = "<div class=figures>\n".to_string();
    for Card { number, what, beside } in cards {
        let beside = match beside.is_empty() {
            true => String::new(),
            false => format!("<small>{}</small>", escape(&beside)),
        };
        let _ = writeln!(
            html,
            "<div class=figure><b>{}</b><span>{}</span>{beside}</div>",
            escape(&number),
            escape(&what)
        );
    }
    html + "</div>\n"
}
