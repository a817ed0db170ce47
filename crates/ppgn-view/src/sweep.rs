//! A cross-validation, several seeds or a search: the report in its folder, and its runs. Long curves are thinned, and of many
//! trials or runs the first are shown: the page says so.

use crate::answer::{Source, name_of};
use crate::error::{Answer, Failure};
use crate::query::Query;
use ppgn_graph::file::read_whole;
use serde_json::{Value, json};
use std::path::Path;

/// The longest report that is read.
const LONGEST: u64 = 16 << 20;
/// Trials and runs of an answer, at most.
const MOST: usize = 2000;
/// Points of a curve, at most.
const POINTS: usize = 500;

/// `sweep?folder=NAME`: the report of a cross-validation, of several seeds or of a search, with the names of its runs.
pub(crate) fn answer(source: &Source, query: &Query) -> Answer {
    let name = query.need("folder")?;
    let folder = source.place().folder(name)?;
    let (mut cv, search) = (report(&folder, "cv.json")?, report(&folder, "search.json")?);
    let seeds = report(&folder, "seeds.json")?;
    let rows = source.runs().members(&folder, MOST);
    if cv.is_none() && search.is_none() && rows.is_empty() {
        return Err(Failure::missing(format!("`{name}` is neither a cross-validation nor a search")));
    }
    let step = cv.as_mut().map_or(1, thin);
    let mut trials_in_all = 0;
    let search = search.map(|mut search| {
        if let Some(trials) = search.get_mut("trials").and_then(Value::as_array_mut) {
            trials_in_all = trials.len();
            trials.truncate(MOST);
            for trial in trials {
                // Where the run was when it was trained says nothing; its folder is below this one.
                let run = trial["run"]
                    .as_str()
                    .and_then(|run| Path::new(run).file_name())
                    .map(|run| folder.join(run));
                let root = source.place().runs().unwrap_or_default();
                trial["run"] = run.map(|run| name_of(&root, &run)).into();
            }
        }
        search
    });
    Ok(json!({
        "folder": name,
        "cv": cv,
        "curve_step": step,
        "search": search,
        "trials_in_all": trials_in_all,
        "seeds": seeds,
        "rows": rows,
    }))
}

/// Leaves epochs 1, 1 + s, 1 + 2 s ... of the curves of a cross-validation, and gives the step s.
fn thin(cv: &mut Value) -> usize {
    let length = cv["curve_mean"].as_array().map_or(0, Vec::len);
    let step = length.div_ceil(POINTS).max(1);
    let cut = |curve: &mut Value| {
        if let Some(points) = curve.as_array_mut() {
            *points = std::mem::take(points).into_iter().step_by(step).collect();
        }
    };
    if step > 1 {
        for name in ["curve_mean", "curve_std"] {
            cv.get_mut(name).map(cut);
        }
        cv.get_mut("curves").and_then(Value::as_array_mut).into_iter().flatten().for_each(cut);
    }
    step
}

fn report(folder: &Path, name: &str) -> Answer<Option<Value>> {
    let file = folder.join(name);
    match std::fs::metadata(&file) {
        Err(_) => Ok(None),
        Ok(found) if found.len() > LONGEST => {
            Err(Failure::too_much(format!("{name} is too long to be read")))
        }
        Ok(_) => {
            let bytes = read_whole(&file)?;
            let value = serde_json::from_slice(&bytes);
            value.map(Some).map_err(|e| Failure::unfit(format!("{name} is not a report: {e}")))
        }
    }
}
