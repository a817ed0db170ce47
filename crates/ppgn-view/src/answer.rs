//! From a request to JSON: one function per view. The server calls it for a browser, the export for a file.

use crate::View;
use crate::data::Datasets;
use crate::draw::Palette;
use crate::error::{Answer, Failure};
use crate::followed::Followed;
use crate::place::Place;
use crate::presets::{PRESETS, Preset};
use crate::query::Query;
use crate::runs::Runs;
use crate::{dataset, mistakes, network, run, sweep, wl};
use ppgn_wl::Interrupt;
use serde_json::{Value, json};

/// The longest answer, in bytes. What can be long is cut into parts that are much shorter; this is for files that nobody thought
/// of, such as a run with a hundred thousand targets.
const LONGEST: usize = 16 << 20;

/// What requests are answered from.
#[derive(Debug)]
pub(crate) struct Source {
    place: Place,
    runs: Runs,
    followed: Followed,
    datasets: Datasets,
}

impl Source {
    pub(crate) fn new(view: &View) -> Self {
        let place = Place::new(view);
        let (runs, datasets) = (Runs::new(place.clone()), Datasets::new(place.clone(), view.kept));
        Source { runs, followed: Followed::default(), datasets, place }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }

    pub(crate) fn followed(&self) -> &Followed {
        &self.followed
    }

    pub(crate) fn datasets(&self) -> &Datasets {
        &self.datasets
    }

    /// Lets go of datasets and runs that nobody looked at for a while.
    pub(crate) fn forget_unused(&self) {
        self.followed.forget_unused();
        self.datasets.forget_unused();
    }

    /// The answer to a request, as the text of a JSON object.
    pub(crate) fn answer(&self, what: &str, query: &Query, interrupt: &Interrupt) -> Answer<String> {
        let answer = match what {
            "run" => run::answer(self, query)?,
            "dataset" => dataset::answer(self, query)?,
            _ => self.value(what, query, interrupt)?.to_string(),
        };
        match answer.len() <= LONGEST {
            true => Ok(answer),
            false => Err(Failure::too_much(format!(
                "an answer of {} MiB; this page shows up to {}",
                answer.len() >> 20,
                LONGEST >> 20
            ))),
        }
    }

    fn value(&self, what: &str, query: &Query, interrupt: &Interrupt) -> Answer {
        Ok(match what {
            "about" => about(),
            "runs" => self.runs.list(query.get("after"))?,
            "run/mistakes" => mistakes::answer(self, query, interrupt)?,
            "sweep" => sweep::answer(self, query)?,
            "network" => network::answer(self, query, interrupt)?,
            "data" => dataset::list(self),
            "dataset/rows" => dataset::rows(self, query)?,
            "dataset/graph" => dataset::graph(self, query)?,
            "wl" => wl::answer(self, query, interrupt)?,
            _ => return Err(Failure::missing(format!("there is no `{what}` to ask for"))),
        })
    }
}

/// What the page needs once.
fn about() -> Value {
    let palette = Palette::new(std::iter::empty());
    let fills: Vec<String> = (0..Palette::PLAIN as u32).map(|colour| palette.fill(colour)).collect();
    let dark: Vec<bool> = (0..Palette::PLAIN as u32).map(|colour| palette.is_dark(colour)).collect();
    let presets: Vec<Value> = PRESETS.iter().map(Preset::to_json).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "fills": fills, "dark": dark, "presets": presets })
}

/// The name of a folder of the runs in requests: its path below their folder, or `.`.
pub(crate) fn name_of(root: &std::path::Path, path: &std::path::Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    if parts.is_empty() { ".".into() } else { parts.join("/") }
}
