//! Loads whole datasets, for the commands that train and predict.

use super::input::InputArgs;
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::locate::{Locator, What};
use ppgn::graph::{Dataset, Error};
use ppgn::train::Session;
use std::collections::BTreeMap;

/// A dataset, with the name under which a run stores it.
pub(crate) struct Data {
    /// A session for it: the colours of data from a file are kept in the cache folder.
    pub(crate) session: Session,
    /// Its name, valid in any working directory.
    pub(crate) spec: String,
    /// How it was read, for who resumes the run.
    pub(crate) read: BTreeMap<String, String>,
    /// The graphs.
    pub(crate) dataset: Dataset,
}

/// Loads data to train on.
pub(crate) fn load_to_train(session: &Session, spec: &str, input: &InputArgs) -> Result<Data> {
    let locator = input.locator()?;
    let file = matches!(locator.resolve(spec)?.what, What::File(_));
    let session = session.clone().with_cache_dir(input.cache_dir().filter(|_| file));
    let (spec, dataset) = load_all(spec, input)?;
    Ok(Data { session, spec, read: input.recorded(), dataset })
}

/// The whole dataset, and a name for it that is valid in any working directory.
pub(crate) fn load_all(spec: &str, input: &InputArgs) -> Result<(String, Dataset)> {
    let locator = input.locator()?;
    let spec = anywhere(spec, &locator)?;
    let dataset = locator.load(&spec)?;
    if dataset.is_empty() {
        return Err(wrong(format!("{spec} has no graphs")));
    }
    Ok((spec, dataset))
}

/// The absolute path of a file; any other name unchanged.
fn anywhere(spec: &str, locator: &Locator) -> Result<String> {
    let located = locator.resolve(spec)?;
    let What::File(path) = &located.what else { return Ok(spec.to_string()) };
    if path.as_os_str() == "-" {
        return Ok(spec.to_string());
    }
    let path = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    // A name that is not Unicode cannot be stored; what the user typed still works in this directory.
    let Some(path) = path.to_str() else { return Ok(spec.to_string()) };
    Ok(located.index.map_or_else(|| path.to_string(), |index| format!("{path}:{index}")))
}
