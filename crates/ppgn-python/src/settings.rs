//! Settings by name: the table of `ppgn_train::Overrides`, so that every setting of the command line is one of Python's,
//! under the same name and with the same values.

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Command, FromArgMatches};
use ppgn_train::{Overrides, PRESETS};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::error::Error;

/// All settings: (name, help).
#[pyfunction]
pub(crate) fn settings() -> Vec<(&'static str, &'static str)> {
    Overrides::SETTINGS.iter().map(|s| (s.name, s.help)).collect()
}

/// The names of the presets.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    PRESETS.to_vec()
}

/// Settings from pairs of a name and the text of the value, as it would be written on the command line.
pub(crate) fn overrides(given: &[(String, String)]) -> PyResult<Overrides> {
    if let Some((name, _)) = given.iter().find(|(name, _)| Overrides::SETTINGS.iter().all(|s| s.name != name))
    {
        let known: Vec<&str> = Overrides::SETTINGS.iter().map(|s| s.name).collect();
        return Err(PyValueError::new_err(format!(
            "`{name}` is not a setting; there are {}",
            known.join(", ")
        )));
    }
    let command =
        Overrides::augment_args(Command::new("settings").no_binary_name(true).disable_help_flag(true));
    let words = given.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
    let wrong = |error: clap::Error| PyValueError::new_err(in_words(&error));
    let matches = command.try_get_matches_from(words).map_err(wrong)?;
    Overrides::from_arg_matches(&matches).map_err(wrong)
}

/// An error of clap's without its flags.
fn in_words(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let name = text(ContextKind::InvalidArg).unwrap_or_default();
    let name =
        name.trim_start_matches('-').split([' ', '=', '[']).next().unwrap_or_default().replace('-', "_");
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let why = error.source().map_or(String::new(), |source| format!(": {source}"));
    format!("{name}={value:?}{why}")
}
