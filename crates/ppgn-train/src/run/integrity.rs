//! What shows that the files of a run are those that were written, and belong together.
//!
//! `checkpoint/model.safetensors` and `best/model.safetensors` have a digest of their own content (see
//! [`ppgn_nn::weights`]). Inside it they hold the [`Digests`] of what they were trained by: the settings, and the metrics up
//! to their epoch. So a flipped bit or an edited line in any of these files is found when the run is opened, and files of
//! different runs cannot be mixed up. The settings have a digest of their own as well, because the number of epochs is not
//! part of the other: a resume may raise it. Runs of ppgn 0.1 have no digests: they are used with a [`Warning`].

use super::{MODEL, Run};
use crate::error::{Error, Result};
use crate::settings::Settings;
use ppgn_graph::Defect;
use ppgn_nn::Ppgn;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What the files of a checkpoint or of a network were written beside: SHA-256 digests in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// Of `config.toml` without the line `epochs = ...` in `[training]`, which extending a run changes.
    pub settings: String,
    /// Of the lines of `metrics.jsonl` up to the epoch.
    pub metrics: String,
}

/// What `best/model.safetensors` says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// The epoch that the network is of; 0 for one that was imported or compiled.
    pub(crate) epoch: usize,
    pub(crate) digests: Digests,
}

/// Something about a run that is not an error, but that users of its results should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A file was written by ppgn 0.1, without a checksum.
    NoChecksum {
        /// The file.
        path: PathBuf,
    },
    /// Graphs have elements that no training graph has: their reference energy counts as 0.
    NoReference {
        /// The name of the data.
        dataset: String,
        /// The elements.
        elements: Vec<String>,
        /// The number of graphs that have some.
        graphs: usize,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::NoChecksum { path } => write!(
                f,
                "{} has no checksum, as version 0.1 wrote it: damage to it would not be noticed",
                path.display()
            ),
            Warning::NoReference { dataset, elements, graphs } => write!(
                f,
                "no training graph has the elements {}; their reference energy counts as 0, in {graphs} graphs of {dataset}",
                elements.join(", ")
            ),
        }
    }
}

/// What can be done where a file that cannot be computed again is damaged.
pub(super) const RESTORE: &str = "restore the file from a copy, or train a new run with the same settings";

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How the last line of a `config.toml` begins: a comment with the digest of all before it.
const CONFIG_SEAL: &str = "# sha256 = \"";

/// The text of a `config.toml` with its digest in a comment at its end.
pub(super) fn sealed_config(text: &str) -> String {
    format!("{text}{CONFIG_SEAL}{}\"\n", hex(&Sha256::digest(text)))
}

/// That text without the digest. An error where the digest is wrong; files of ppgn 0.1 have none.
pub(super) fn unsealed_config(file: &Path, text: &str) -> Result<String> {
    let parts = text.strip_suffix("\"\n").and_then(|open| open.rsplit_once(CONFIG_SEAL));
    match parts {
        None => Ok(text.into()),
        Some((text, digest)) if hex(&Sha256::digest(text)) == digest => Ok(text.into()),
        Some(_) => {
            let message = "its checksum does not match its content: it was damaged or changed after it was written; undo the \
                           change (a resume can be asked for more epochs), or train a new run with these settings";
            Err(Defect::new(file.display().to_string(), message).into())
        }
    }
}

/// The lines of a `config.toml`, and whether each is that of the number of epochs.
pub(super) fn config_lines(config: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut section = "";
    config.lines().map(move |line| {
        let words = line.trim();
        if words.starts_with('[') {
            section = words;
        }
        let key = words.split('=').next().unwrap_or_default().trim();
        (line, section == "[training]" && key == "epochs")
    })
}

/// The digest of a `config.toml` without its number of epochs.
pub(super) fn settings_digest(config: &str) -> String {
    let mut hash = Sha256::new();
    for (line, _) in config_lines(config).filter(|(_, epochs)| !epochs) {
        hash.update(line);
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// An error where a file was written under other settings than those that are there now.
pub(super) fn same_settings(run: &Path, now: &str, then: &Digests, file: &Path) -> Result<()> {
    match now == then.settings {
        true => Ok(()),
        false => Err(Error::Run {
            path: run.join("config.toml"),
            message: format!(
                "it is not what {} was trained with: it was damaged or changed since; undo the change, or train a \
                 new run with these settings",
                file.display()
            ),
        }),
    }
}

/// The error with what can be done about a damaged file.
pub(super) fn with_advice(error: ppgn_nn::Error) -> Error {
    match error {
        ppgn_nn::Error::File(Defect { file, message, .. }) => {
            Defect::new(file, format!("{message}; {RESTORE}")).into()
        }
        error => error.into(),
    }
}

/// The network of the best epoch of a run, verified as far as its file allows, and what the file says about itself.
pub(crate) struct BestNetwork {
    pub(crate) network: Ppgn,
    pub(crate) note: Option<Note>,
    pub(crate) warning: Option<Warning>,
}

impl BestNetwork {
    /// The network, which must have been trained by the settings with this digest.
    pub(crate) fn of_settings(self, run: &Path, digest: &str) -> Result<Self> {
        match &self.note {
            Some(note) => same_settings(run, digest, &note.digests, &Run::best_model(run)).map(|()| self),
            None => Ok(self),
        }
    }
}

/// Reads the best network of a run, which must be there and fit these settings.
pub(crate) fn read_best(run: &Path, settings: &Settings) -> Result<BestNetwork> {
    let file = Run::best_model(run);
    let wrong = |message: String| Error::Run { path: file.clone(), message };
    let loaded = Ppgn::load_with(&file).map_err(with_advice)?;
    let (network, verified) = (loaded.network, loaded.verified);
    if *network.config() != settings.network || network.precision() != settings.training.precision {
        return Err(wrong("not the network of the run's config.toml".into()));
    }
    let note: Option<Note> = match &loaded.note {
        None => None,
        Some(note) => {
            Some(serde_json::from_str(note).map_err(|e| wrong(format!("its note is damaged: {e}")))?)
        }
    };
    if note.is_none() && verified {
        return Err(wrong(format!("it was not written by this run; {RESTORE}")));
    }
    let warning = (!verified).then_some(Warning::NoChecksum { path: file });
    Ok(BestNetwork { network, note, warning })
}

/// The file of the last checkpoint of a run.
pub(crate) fn checkpoint_file(run: &Path) -> PathBuf {
    run.join("checkpoint").join(MODEL)
}

/// JSON text of an object with one more field at its end: `sha256`, the digest of all before it.
pub(super) fn sealed_json(text: &str) -> String {
    let open = text.strip_suffix("\n}").unwrap_or(text);
    format!("{open},\n  \"sha256\": \"{}\"\n}}\n", hex(&Sha256::digest(open)))
}

/// That text without the field. An error where the digest is wrong; files of ppgn 0.1 have none.
pub(super) fn unsealed_json(file: &Path, text: String) -> Result<String> {
    let parts = text.strip_suffix("\"\n}\n").and_then(|open| open.rsplit_once(",\n  \"sha256\": \""));
    match parts {
        None => Ok(text),
        Some((open, digest)) if hex(&Sha256::digest(open)) == digest => Ok(format!("{open}\n}}\n")),
        Some(_) => {
            let message = "its checksum does not match its content: it was damaged or changed after it was written; \
                           remove it and resume the run, which writes it again";
            Err(Defect::new(file.display().to_string(), message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_settings_leaves_out_the_epochs_of_training_only() {
        let config = "data = \"a\"\n[training]\nepochs = 3\nseed = 1\n[network]\nepochs = 2\n";
        let of = |from: &str, to: &str| settings_digest(&config.replace(from, to));
        assert_eq!(of("epochs = 3", "epochs = 300"), settings_digest(config));
        assert_ne!(of("epochs = 2", "epochs = 1"), settings_digest(config));
        assert_ne!(of("seed = 1", "seed = 2"), settings_digest(config));
    }

    #[test]
    fn settings_are_sealed_by_a_comment() {
        let (file, text) = (Path::new("config.toml"), "[training]\nepochs = 12\n");
        let sealed = sealed_config(text);
        assert_eq!(unsealed_config(file, &sealed).unwrap(), text);
        assert_eq!(unsealed_config(file, text).unwrap(), text, "as version 0.1 wrote it");
        assert!(toml::from_str::<toml::Table>(&sealed).is_ok());
        let changed = unsealed_config(file, &sealed.replace("epochs = 12", "epochs = 10")).unwrap_err();
        assert!(changed.to_string().starts_with("config.toml: its checksum does not match"), "{changed}");
    }

    #[test]
    fn a_sealed_object_stays_json_and_shows_every_change() {
        let text = "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}";
        let sealed = sealed_json(text);
        let value: serde_json::Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!((&value["a"], value["sha256"].as_str().unwrap().len()), (&1.into(), 64));
        let file = Path::new("summary.json");
        assert_eq!(unsealed_json(file, sealed.clone()).unwrap(), format!("{text}\n"));
        assert!(unsealed_json(file, sealed.replace('1', "3")).is_err());
        assert_eq!(unsealed_json(file, text.into()).unwrap(), text);
    }
}
