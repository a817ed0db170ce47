//! Pruning: a finished run without the checkpoint that it needs only to be extended.
//!
//! The state of the checkpoint, with the digests of settings and metrics, stays as `checkpoint/state.json`, so that the rest of
//! the run can be verified as before. It is written before the checkpoint is removed.

use super::integrity::{RESTORE, Warning, checkpoint_file, same_settings, sealed_json, unsealed_json};
use super::read::{exists, found, read_history};
use super::{Run, State, unwritable};
use crate::error::{Error, Result};
use ppgn_graph::Defect;
use ppgn_graph::file::{sync_folder, write_whole};
use std::path::{Path, PathBuf};

/// The bytes that [`Run::prune`] frees; nothing where a run is not finished, has no checkpoint, or is pruned.
pub fn prunable(path: impl AsRef<Path>) -> Result<Option<u64>> {
    let path = path.as_ref();
    if Run::summary(path)?.is_none() {
        return Ok(None);
    }
    let file = checkpoint_file(path);
    match std::fs::symlink_metadata(&file) {
        Ok(found) if found.is_file() => Ok(Some(found.len())),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(&file, e)),
    }
}

impl Run {
    /// Removes the checkpoint of a finished run and gives the number of bytes that this frees. The run is verified first; it
    /// can be used as before, but not be extended.
    pub fn prune(&self) -> Result<u64> {
        let Some(bytes) = prunable(&self.path)? else { return Ok(0) };
        let (file, state) = (checkpoint_file(&self.path), state_file(&self.path));
        let Some(restored) = self.restore()? else { return Ok(0) };
        let text = serde_json::to_string_pretty(&restored.state).map_err(|e| unwritable(&state, &e))?;
        write_whole(&state, sealed_json(&text).as_bytes())?;
        std::fs::remove_file(&file).map_err(|e| Error::io(&file, e))?;
        file.parent().map_or(Ok(()), sync_folder)?;
        Ok(bytes)
    }

    /// What [`Run::verify`] can check of a pruned run: settings, metrics and the best network.
    pub(super) fn verify_pruned(&self) -> Result<Vec<Warning>> {
        let Some(state) = read_pruned(&self.path)? else { return Ok(Vec::new()) };
        let metrics = state.digests.as_ref().map(|digests| digests.metrics.as_str());
        let history = read_history(&self.path, state.epoch, metrics)?;
        let (best, _) = self.restore_best(&state, &history)?;
        Ok(best.warning.into_iter().collect())
    }

    /// An error where the run would have to be trained further, but is pruned.
    pub(super) fn not_pruned(&self) -> Result<()> {
        let file = checkpoint_file(&self.path);
        match !exists(&file)? && read_pruned(&self.path)?.is_some() {
            true => Err(Error::Run {
                path: file,
                message: "it was pruned when the run was finished, so the run cannot be trained further; train a new one with \
                          the same settings and more epochs"
                    .into(),
            }),
            false => Ok(()),
        }
    }
}

pub(super) fn state_file(path: &Path) -> PathBuf {
    path.join("checkpoint").join("state.json")
}

/// The state that a pruned run has kept; nothing where it is not pruned.
pub(super) fn read_pruned(path: &Path) -> Result<Option<State>> {
    let file = state_file(path);
    let Some(bytes) = found(&file)? else { return Ok(None) };
    let damaged = |e: String| Error::from(Defect::new(file.display().to_string(), format!("{e}; {RESTORE}")));
    let text = String::from_utf8(bytes).map_err(|e| damaged(e.to_string()))?;
    let text = unsealed_json(&file, text)?;
    let state: State = serde_json::from_str(&text).map_err(|e| damaged(format!("not a state: {e}")))?;
    if let Some(digests) = &state.digests {
        same_settings(path, &super::read_config(path)?.1, digests, &file)?;
    }
    Ok(Some(state))
}
