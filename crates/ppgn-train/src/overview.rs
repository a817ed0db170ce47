//! A run seen from outside: what it is, where it stands, what it gave so far. Nothing is locked or changed, so a run
//! that is being trained can be looked at.

use crate::error::{Error, Result};
use crate::metrics::Epoch;
use crate::run::{MODEL, Run, STATE, State, Summary, is_locked, read_metrics, read_settings, read_timing};
use crate::settings::Settings;
use ppgn_graph::Defect;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All epochs are done.
    Finished,
    /// A process is training it.
    Running,
    /// It can be resumed.
    Stopped,
    /// Its network was trained elsewhere, or compiled.
    Imported,
}

impl Status {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Finished => "finished",
            Status::Running => "running",
            Status::Stopped => "stopped",
            Status::Imported => "imported",
        }
    }
}

/// What can be seen of a run folder.
#[derive(Debug, Clone)]
pub struct Overview {
    /// What the run is.
    pub settings: Settings,
    /// Where it stands.
    pub status: Status,
    /// Epochs that a checkpoint holds.
    pub epochs: usize,
    /// The figures of the best epoch so far.
    pub best: Option<Epoch>,
    /// What it gave, if it is finished.
    pub summary: Option<Summary>,
    /// What the epochs took together.
    pub seconds: f64,
}

impl Overview {
    /// Looks at a run folder.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let settings = read_settings(path)?;
        // The lock first: a run that ends while we look is then called running with its last epoch, which it was.
        let locked = is_locked(path);
        let summary = Run::summary(path)?;
        let status = match &summary {
            _ if settings.trained().is_none() => Status::Imported,
            Some(_) => Status::Finished,
            None if locked => Status::Running,
            None => Status::Stopped,
        };
        let state = state(path)?;
        let best = match state.as_ref().and_then(|s| s.best.as_ref()) {
            Some(best) => read_metrics(path)?.into_iter().find(|e| e.epoch == best.epoch),
            None => None,
        };
        let epochs = state.map_or(0, |s| s.epoch);
        Ok(Overview { settings, status, epochs, best, summary, seconds: seconds(path) })
    }
}

/// The state of the last checkpoint, from the head of its file alone.
fn state(path: &Path) -> Result<Option<State>> {
    let file = path.join("checkpoint").join(MODEL);
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
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

/// The part of a safetensors header that is no tensor.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "__metadata__", default)]
    metadata: BTreeMap<String, String>,
}

/// What the epochs of a run took; lines that are damaged do not count, nothing depends on them.
pub(crate) fn seconds(path: &Path) -> f64 {
    read_timing(path).iter().sum()
}
