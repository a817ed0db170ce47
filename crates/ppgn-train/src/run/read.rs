//! Reading what a run folder holds, without changing or locking it.

use super::integrity::{RESTORE, checkpoint_file, hex, same_settings, settings_digest, unsealed_config};
use super::prune::read_pruned;
use super::{PREDICTIONS, STATE, State};
use crate::error::{Error, Result};
use crate::metrics::{Epoch, Predictions};
use crate::settings::Settings;
use ppgn_graph::Defect;
use ppgn_graph::file::{open_regular, read_whole, write_whole};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

/// The settings of a run folder.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    Ok(read_config(path)?.0)
}

/// The settings of a run folder, and the digest of their file.
pub(crate) fn read_config(path: &Path) -> Result<(Settings, String)> {
    let file = path.join("config.toml");
    let Some(bytes) = found(&file)? else { return Err(Error::NotARun { path: path.to_path_buf() }) };
    let text =
        String::from_utf8(bytes).map_err(|e| Defect::new(file.display().to_string(), e.to_string()))?;
    let text = unsealed_config(&file, &text)?;
    let defect = |text: String| Error::from(Defect::new(file.display().to_string(), text));
    let settings: Settings =
        toml::from_str(&text).map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    settings.validate().map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    Ok((settings, settings_digest(&text)))
}

/// Whether something is there. Only "not found" is a no: what cannot be looked at is an error.
pub(crate) fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|e| Error::io(path, e))
}

/// The bytes of a file, if there is one.
pub(super) fn found(file: &Path) -> Result<Option<Vec<u8>>> {
    absent(read_whole(file))
}

/// The result, or nothing where the file was not found.
fn absent<T>(result: ppgn_graph::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(ppgn_graph::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The bytes of a file; nothing where there is none.
fn bytes(file: &Path) -> Result<Vec<u8>> {
    Ok(found(file)?.unwrap_or_default())
}

/// The number of whole lines of a file.
pub(super) fn lines(file: &Path) -> Result<usize> {
    Ok(bytes(file)?.iter().filter(|&&byte| byte == b'\n').count())
}

/// Cuts a file down to its first lines.
pub(super) fn cut(file: &Path, lines: usize) -> Result<()> {
    let whole = bytes(file)?;
    let kept: usize = whole.split_inclusive(|&byte| byte == b'\n').take(lines).map(<[u8]>::len).sum();
    match kept == whole.len() {
        true => Ok(()),
        false => Ok(write_whole(file, &whole[..kept])?),
    }
}

/// The epochs of a run so far, and the digest of their lines in `metrics.jsonl`.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) epochs: Vec<Epoch>,
    hash: Sha256,
    /// The digest after every epoch, from 0.
    digests: Vec<[u8; 32]>,
}

impl History {
    pub(crate) fn new() -> Self {
        let mut history = History::default();
        history.digests.push(history.hash.clone().finalize().into());
        history
    }

    /// The digest of the lines up to an epoch.
    pub(crate) fn digest(&self, epoch: usize) -> Option<String> {
        self.digests.get(epoch).map(|digest| hex(digest))
    }

    /// Adds an epoch, with its line and the line's end.
    pub(crate) fn push(&mut self, epoch: Epoch, line: &[u8]) {
        self.hash.update(line);
        self.digests.push(self.hash.clone().finalize().into());
        self.epochs.push(epoch);
    }
}

/// The metrics of the first epochs, held against the digest of a checkpoint that has at least as many.
pub(crate) fn read_metrics(path: &Path, epochs: usize) -> Result<Vec<Epoch>> {
    let state = read_state(path)?.filter(|state| state.epoch >= epochs);
    let mut read = match state {
        Some(State { epoch, digests: Some(digests), .. }) => {
            read_history(path, epoch, Some(&digests.metrics))?
        }
        _ => read_history(path, epochs, None)?,
    };
    read.epochs.truncate(epochs);
    Ok(read.epochs)
}

/// The predictions of the first epochs.
pub(crate) fn read_predictions(path: &Path, epochs: usize) -> Result<Vec<Predictions>> {
    let file = path.join(PREDICTIONS);
    let bytes = bytes(&file)?;
    let mut all = Vec::with_capacity(epochs);
    for line in bytes.split_inclusive(|&byte| byte == b'\n').take(epochs) {
        let number = all.len() + 1;
        let at =
            |text: String| Error::from(Defect::new(file.display().to_string(), text).line(number as u64));
        let read: Predictions = serde_json::from_slice(line)
            .map_err(|e| at(format!("not the predictions of an epoch: {e}; {RESTORE}")))?;
        if read.epoch != number {
            return Err(at(format!("epoch {} in the place of epoch {number}", read.epoch)));
        }
        all.push(read);
    }
    match all.len() == epochs {
        true => Ok(all),
        false => Err(too_few(&file, all.len(), epochs)),
    }
}

/// The metrics of all epochs of a checkpoint, held against its digest.
pub(crate) fn read_epochs(path: &Path, state: &State) -> Result<Vec<Epoch>> {
    let digest = state.digests.as_ref().map(|digests| digests.metrics.as_str());
    Ok(read_history(path, state.epoch, digest)?.epochs)
}

/// The metrics of the first epochs, with their digest, which must be the one given. What comes after them is not looked at: a
/// killed process, or a power cut, may have left anything there.
pub(super) fn read_history(path: &Path, epochs: usize, digest: Option<&str>) -> Result<History> {
    let file = path.join("metrics.jsonl");
    let bytes = bytes(&file)?;
    let mut history = History::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n').take(epochs) {
        let epoch = epoch_of(&file, line, history.epochs.len() + 1)?;
        history.push(epoch, line);
    }
    if history.epochs.len() != epochs {
        return Err(too_few(&file, history.epochs.len(), epochs));
    }
    match digest.is_none() || history.digest(epochs).as_deref() == digest {
        true => Ok(history),
        false => Err(other_lines(&file)),
    }
}

/// The epoch of a line of the metrics, which must be the one with this number.
pub(super) fn epoch_of(file: &Path, line: &[u8], number: usize) -> Result<Epoch> {
    let at = |text: String| Error::from(Defect::new(file.display().to_string(), text).line(number as u64));
    let epoch: Epoch = serde_json::from_slice(line)
        .map_err(|e| at(format!("not the metrics of an epoch: {e}; {RESTORE}")))?;
    match epoch.epoch == number {
        true => Ok(epoch),
        false => Err(at(format!("epoch {} in the place of epoch {number}", epoch.epoch))),
    }
}

pub(super) fn too_few(file: &Path, found: usize, epochs: usize) -> Error {
    let text = format!("{found} epochs, but the checkpoint has {epochs}");
    Defect::new(file.display().to_string(), text).into()
}

pub(super) fn other_lines(file: &Path) -> Error {
    let text = format!(
        "the checkpoint was written after other lines (their checksum differs): it was damaged or changed since; {RESTORE}"
    );
    Defect::new(file.display().to_string(), text).into()
}

/// The seconds of every epoch, as far as they were written. Nothing depends on them, so what cannot be read is left out.
pub(crate) fn read_timing(path: &Path) -> Vec<f64> {
    let bytes = read_whole(&path.join("timing.jsonl")).unwrap_or_default();
    bytes.split(|&byte| byte == b'\n').filter_map(seconds_of).collect()
}

/// The seconds of a line of the times.
pub(super) fn seconds_of(line: &[u8]) -> Option<f64> {
    #[derive(Deserialize)]
    struct Line {
        seconds: f64,
    }
    serde_json::from_slice::<Line>(line).ok().map(|line| line.seconds)
}

/// The state of the last checkpoint, from the head of its file alone: only what the settings say against it is noticed.
pub(crate) fn read_state(path: &Path) -> Result<Option<State>> {
    read_state_of(path, || Ok(read_config(path)?.1))
}

/// The same, where the digest of the settings may be known already.
pub(crate) fn read_state_of(path: &Path, digest: impl FnOnce() -> Result<String>) -> Result<Option<State>> {
    let file = checkpoint_file(path);
    let Some(opened) = absent(open_regular(&file))? else { return read_pruned(path) };
    let damaged = |what: &str| Error::from(Defect::new(file.display().to_string(), what));
    let mut reader = BufReader::new(opened);
    let mut length = [0; 8];
    reader.read_exact(&mut length).map_err(|_| damaged("not a sound safetensors file: it is too short"))?;
    let mut header = Vec::new();
    reader.take(u64::from_le_bytes(length)).read_to_end(&mut header).map_err(|e| Error::io(&file, e))?;
    let head: Head = serde_json::from_slice(&header)
        .map_err(|e| damaged(&format!("not a sound safetensors file: {e}")))?;
    let state =
        head.metadata.get(STATE).ok_or_else(|| damaged("no state in it: not a checkpoint of ppgn"))?;
    let not_a_state = |e| damaged(&format!("its state is damaged: {e}"));
    // The digest of the whole file, which is not read here.
    let mut state: serde_json::Value = serde_json::from_str(state).map_err(not_a_state)?;
    state.as_object_mut().map(|fields| fields.remove("sha256"));
    let state: State = serde_json::from_value(state).map_err(not_a_state)?;
    if let Some(digests) = &state.digests {
        same_settings(path, &digest()?, digests, &file)?;
    }
    Ok(Some(state))
}

/// The part of a safetensors header that is not a tensor.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "__metadata__", default)]
    metadata: BTreeMap<String, String>,
}
