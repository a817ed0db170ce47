//! Reading what a run folder holds, without changing or locking it.

use super::regular::only_regular_files;
use super::{MODEL, STATE, State};
use crate::error::{Error, Result};
use crate::metrics::Epoch;
use crate::settings::Settings;
use ppgn_graph::Defect;
use ppgn_graph::file::write_whole;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

/// The settings of a run folder.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    only_regular_files(path)?;
    let file = path.join("config.toml");
    let text = std::fs::read_to_string(&file).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Error::NotARun { path: path.to_path_buf() },
        _ => Error::io(&file, e),
    })?;
    let defect = |text: String| Error::from(Defect::new(file.display().to_string(), text));
    let settings: Settings =
        toml::from_str(&text).map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    settings.validate().map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    Ok(settings)
}

/// Whether something is there. Only "not found" is a no: what cannot be looked at is an error.
pub(crate) fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|e| Error::io(path, e))
}

/// The bytes of a file; nothing where there is none.
fn bytes(file: &Path) -> Result<Vec<u8>> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(bytes),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::io(file, e)),
    }
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

/// The metrics of the first epochs. What comes after them is not looked at: a killed process, or a power cut, may have left
/// anything there.
pub(crate) fn read_metrics(path: &Path, epochs: usize) -> Result<Vec<Epoch>> {
    let file = path.join("metrics.jsonl");
    let defect = |text: String| Defect::new(file.display().to_string(), text);
    let bytes = bytes(&file)?;
    let mut read: Vec<Epoch> = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n').take(epochs) {
        let number = read.len() + 1;
        let at = |text: String| Error::from(defect(text).line(number as u64));
        let epoch: Epoch =
            serde_json::from_slice(line).map_err(|e| at(format!("not the metrics of an epoch: {e}")))?;
        if epoch.epoch != number {
            return Err(at(format!("epoch {} in the place of epoch {number}", epoch.epoch)));
        }
        read.push(epoch);
    }
    match read.len() == epochs {
        true => Ok(read),
        false => Err(defect(format!("{} epochs, but the checkpoint has {epochs}", read.len())).into()),
    }
}

/// The seconds of every epoch, as far as they were written. Nothing depends on them, so what cannot be read is left out.
pub(crate) fn read_timing(path: &Path) -> Vec<f64> {
    #[derive(Deserialize)]
    struct Line {
        seconds: f64,
    }
    let text = std::fs::read_to_string(path.join("timing.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()).map(|line| line.seconds).collect()
}

/// The state of the last checkpoint, from the head of its file alone.
pub(crate) fn read_state(path: &Path) -> Result<Option<State>> {
    let file = path.join("checkpoint").join(MODEL);
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io(&file, e)),
    };
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
    serde_json::from_str(state).map(Some).map_err(|e| damaged(&format!("its state is damaged: {e}")))
}

/// The part of a safetensors header that is not a tensor.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "__metadata__", default)]
    metadata: BTreeMap<String, String>,
}
