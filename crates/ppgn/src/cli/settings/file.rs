//! Settings from a TOML file: the same names as the options.

use crate::cli::division::Asked;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Error;
use ppgn::train::text::shares;
use ppgn::train::{Overrides, Task};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The content of a settings file.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) preset: Option<String>,
    pub(super) targets: Vec<String>,
    pub(super) task: Option<Task>,
    pub(super) limit: Option<usize>,
    pub(super) division: Option<Asked>,
    pub(super) overrides: Overrides,
}

/// `target = "mu"`, `target = "mu,alpha"` or `target = ["mu", "alpha"]`.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "TargetsText")]
struct Targets(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum TargetsText {
    One(String),
    Many(Vec<String>),
}

impl From<TargetsText> for Targets {
    fn from(text: TargetsText) -> Self {
        Targets(match text {
            TargetsText::One(names) => names.split(',').map(|name| name.trim().to_string()).collect(),
            TargetsText::Many(names) => names,
        })
    }
}

pub(super) fn read_file(path: &Path) -> Result<FileSettings> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => wrong(format!("{}: there is no such file", path.display())),
        _ => Error::io(path, e).into(),
    })?;
    parse_file(&text).map_err(|e| wrong(format!("{}: {e}", path.display())))
}

fn parse_file(text: &str) -> Result<FileSettings, String> {
    let shown = |e: toml::de::Error| e.to_string().trim_end().to_string();
    let mut table: toml::Table = toml::from_str(text).map_err(shown)?;
    let mut file = FileSettings::default();
    // Keys that are not overrides of the preset are taken out first.
    take(&mut table, "preset", &mut file.preset)?;
    take(&mut table, "limit", &mut file.limit)?;
    take(&mut table, "task", &mut file.task)?;
    let (mut target, mut split, mut split_by) = (None::<Targets>, None::<String>, None::<String>);
    let mut asked = Asked::default();
    take(&mut table, "target", &mut target)?;
    take(&mut table, "fold", &mut asked.fold)?;
    take(&mut table, "holdout", &mut asked.holdout)?;
    take(&mut table, "split", &mut split)?;
    take(&mut table, "split_file", &mut asked.split_file)?;
    take(&mut table, "split_by", &mut split_by)?;
    file.targets = target.unwrap_or_default().0;
    asked.split = split.as_deref().map(shares).transpose()?;
    asked.split_by = split_by.map(|how| how.parse()).transpose()?;
    // A limit is checked where it is known: the command line may have one.
    asked.check(false).map_err(|e| e.to_string())?;
    file.division = (asked != Asked::default()).then_some(asked);
    file.overrides = toml::Value::Table(table).try_into().map_err(shown)?;
    Ok(file)
}

fn take<T: DeserializeOwned>(table: &mut toml::Table, key: &str, into: &mut Option<T>) -> Result<(), String> {
    if let Some(value) = table.remove(key) {
        let value = value.try_into().map_err(|e: toml::de::Error| format!("`{key}`: {}", e.message()))?;
        *into = Some(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_say_what_options_say() {
        let text = "preset = \"paper-1\"\nlimit = 7\ntarget = \"mu, alpha\"\nsplit = \"60/20/20\"\nepochs = 3\n\
                    blocks = [4, { width = 5, product = 2 }]\nencoding = { kind = \"paper\", identity = true }\n";
        let file = parse_file(text).unwrap();
        assert_eq!((file.preset.as_deref(), file.limit), (Some("paper-1"), Some(7)));
        assert_eq!(file.targets, ["mu", "alpha"]);
        assert_eq!(file.division, Some(Asked { split: Some([0.6, 0.2, 0.2]), ..Asked::default() }));
        assert_eq!((file.overrides.epochs, file.overrides.blocks.unwrap()[1].product), (Some(3), Some(2)));
        assert!(parse_file("epoch = 3").unwrap_err().contains("epoch"));
        assert!(parse_file("limit = \"a\"").unwrap_err().contains("limit"));
        assert!(parse_file("fold = 1\nholdout = 0.1").unwrap_err().contains("exclude"));
        assert!(parse_file("a = ").is_err());
    }
}
