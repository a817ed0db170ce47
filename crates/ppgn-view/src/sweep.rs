//! A cross-validation, several seeds or a search: the report in its folder, and its runs.

use crate::answer::{Source, name_of};
use crate::error::{Answer, Failure};
use crate::query::Query;
use ppgn_graph::file::read_whole;
use serde_json::{Value, json};
use std::path::Path;

/// The longest report that is read.
const LONGEST: u64 = 64 << 20;

/// `sweep?folder=NAME`: the report of a cross-validation, of several seeds or of a search, with the names of its runs.
pub(crate) fn answer(source: &Source, query: &Query) -> Answer {
    let name = query.need("folder")?;
    let folder = source.place().folder(name)?;
    let (cv, search) = (report(&folder, "cv.json")?, report(&folder, "search.json")?);
    let seeds = report(&folder, "seeds.json")?;
    if cv.is_none() && search.is_none() && source.runs().members(&folder).is_empty() {
        return Err(Failure::missing(format!("`{name}` is neither a cross-validation nor a search")));
    }
    let search = search.map(|mut search| {
        if let Some(trials) = search.get_mut("trials").and_then(Value::as_array_mut) {
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
        "search": search,
        "seeds": seeds,
        "rows": source.runs().members(&folder),
    }))
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
