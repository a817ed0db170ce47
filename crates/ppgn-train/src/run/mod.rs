//! The run folder: a reader needs no ppgn, and a process killed at any moment leaves something to resume.
//!
//! | file | what | when |
//! | --- | --- | --- |
//! | `config.toml` | the resolved [`Settings`] | there from the first moment: the folder appears by one rename |
//! | `metrics.jsonl` | one [`Epoch`] per line | after every epoch, cut to the checkpoint on resume |
//! | `split.csv` | the part of every graph | before the first epoch; nothing depends on it |
//! | `predictions.jsonl` | one [`Predictions`] per line, where they are to be kept | beside it |
//! | `timing.jsonl` | seconds per epoch | beside it; nothing depends on it |
//! | `checkpoint/model.safetensors` | parameters, Adam's moments, and the [`State`] as metadata | replaced by one rename after every epoch |
//! | `best/model.safetensors` | the network at the best epoch so far | replaced by one rename when an epoch is better |
//! | `checkpoint/state.json` | the [`State`] alone, where [`Run::prune`] has removed the checkpoint | when a finished run is pruned |
//! | `report.html` | settings, curves and best figures for people | when the run is finished |
//! | `summary.json` | the [`Summary`] | when the run is finished |
//! | `lock` | held by the process that trains | the operating system lets go of it when the process ends |
//!
//! Every file is synced before it gets its name, and the folder after that, so what a checkpoint depends on (its line of
//! metrics, the best network) has reached the disk before the checkpoint has.

mod extend;
mod follow;
mod integrity;
mod lock;
mod prune;
mod read;
mod restore;

pub use follow::{Follower, Keep};
pub use integrity::{Digests, Warning};
pub(crate) use integrity::{checkpoint_file, read_best};
pub(crate) use lock::is_locked;
pub use prune::prunable;
pub(crate) use read::{
    History, exists, read_config, read_epochs, read_metrics, read_predictions, read_settings, read_state,
    read_state_of, read_timing,
};
pub(crate) use restore::Restored;

use crate::data::Scaling;
use crate::error::{Error, Result};
use crate::metrics::{Best, Epoch, Predictions, Selection, Sets};
use crate::settings::Settings;
use integrity::{Note, sealed_config, sealed_json, settings_digest, unsealed_json};
use lock::{lock, regular_or_absent, sweep, sweep_beside};
use ppgn_graph::Defect;
use ppgn_graph::file::{sync_folder, write_whole};
use ppgn_nn::{Adam, Average, Ppgn, Values, weights};
use read::{cut, found, lines};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where a run stands: what a checkpoint holds besides parameters and moments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Epochs finished.
    pub epoch: usize,
    /// Adam's steps taken.
    pub steps: u64,
    /// The best epoch so far.
    pub best: Option<Best>,
    /// What it was trained by. Checkpoints of ppgn 0.1 do not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digests: Option<Digests>,
}

/// What a finished run gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// Epochs trained.
    pub epochs: usize,
    /// The seed.
    pub seed: u64,
    /// Whether it was stopped before its last epoch, because no better one came ([`Training`](crate::Training)'s patience).
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub stopped_early: bool,
    /// The epoch that was chosen.
    pub best_epoch: usize,
    /// Its figures.
    pub best: Epoch,
    /// The training loss of the last epoch.
    pub train_loss: f64,
    /// For regression, the targets' names.
    pub targets: Vec<String>,
    /// For regression, mean and deviation of every target over the training part.
    pub scaling: Vec<Scaling>,
    /// For regression, the error of the baseline that predicts the training mean, on the reported part.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mae_of_mean: Vec<f64>,
    /// What the best epoch was selected by.
    #[serde(skip_serializing_if = "Selection::is_default", default)]
    pub select: Selection,
    /// For classification, the classes, by their original labels.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<i64>,
    /// The figures of the network of the best epoch on every set, beside those of the baseline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sets: Option<Sets>,
}

/// A run folder that this process has to itself.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    settings: Settings,
    /// The digest of `config.toml`.
    digest: String,
    _lock: File,
}

pub(crate) const MODEL: &str = "model.safetensors";
/// The predictions of every epoch.
pub(crate) const PREDICTIONS: &str = "predictions.jsonl";
pub(crate) const STATE: &str = "ppgn_state";
/// What the names of averaged weights begin with in a checkpoint.
pub(crate) const AVERAGE: &str = "average.";

impl Run {
    /// Makes a new run folder; it must not exist.
    pub fn create(path: impl AsRef<Path>, settings: Settings) -> Result<Self> {
        Run::make(path.as_ref(), settings, |_, _| Ok(()))
    }

    /// The settings of a run, which another process may be training.
    pub fn settings_of(path: impl AsRef<Path>) -> Result<Settings> {
        read_settings(path.as_ref())
    }

    /// Makes the run folder of a network that was trained elsewhere, for [`Predictor`](crate::Predictor) to use.
    pub fn import(path: impl AsRef<Path>, settings: Settings, network: &Ppgn) -> Result<Self> {
        Run::make(path.as_ref(), settings, |folder, digest| {
            let digests =
                Digests { settings: digest.into(), metrics: History::new().digest(0).unwrap_or_default() };
            Ok(network.save_with(Run::best_model(folder), &Note { epoch: 0, digests })?)
        })
    }

    /// Makes a run folder that has everything in it when it appears.
    fn make(path: &Path, settings: Settings, fill: impl FnOnce(&Path, &str) -> Result<()>) -> Result<Self> {
        let path = path.to_path_buf();
        if exists(&path)? {
            return Err(Error::Exists { path });
        }
        let parent = folder_of(&path);
        let new = parent.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let new: Vec<&Path> = new.map(folder_of).collect();
        std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        let folder = tempfile::Builder::new()
            .prefix(".ppgn-run-")
            .tempdir_in(parent)
            .map_err(|e| Error::io(parent, e))?;
        // Whoever sweeps leaves alone what is locked. Elsewhere an open file would keep the folder from its name.
        #[cfg(unix)]
        let lock = lock(folder.path())?;
        sweep_beside(parent);
        let config = settings.to_toml()?;
        let digest = settings_digest(&config);
        let file = folder.path().join("config.toml");
        write_whole(&file, sealed_config(&config).as_bytes())?;
        for inner in ["checkpoint", "best"] {
            std::fs::create_dir(folder.path().join(inner)).map_err(|e| Error::io(&path, e))?;
        }
        fill(folder.path(), &digest)?;
        make_public(folder.path())?;
        sync_folder(folder.path())?;
        std::fs::rename(folder.path(), &path).map_err(|e| match e.kind() {
            // Somebody else was faster.
            ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => Error::Exists { path: path.clone() },
            _ => Error::io(&path, e),
        })?;
        // Under its new name it is no longer a temporary folder.
        let _ = folder.keep();
        [parent].into_iter().chain(new).try_for_each(sync_folder)?;
        #[cfg(not(unix))]
        let lock = lock(&path)?;
        Ok(Run { path, settings, digest, _lock: lock })
    }

    /// Opens a run folder to resume it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let (settings, digest) = read_config(&path)?;
        let lock = lock(&path)?;
        sweep(&path);
        path.parent().into_iter().for_each(sweep_beside);
        Ok(Run { path, settings, digest, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a finished run gave; `None` while it is not finished.
    pub fn summary(path: impl AsRef<Path>) -> Result<Option<Summary>> {
        let file = path.as_ref().join("summary.json");
        let Some(bytes) = found(&file)? else { return Ok(None) };
        let wrong =
            |e: String| Error::from(Defect::new(file.display().to_string(), format!("not a summary: {e}")));
        let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
        serde_json::from_str(&unsealed_json(&file, text)?).map(Some).map_err(|e| wrong(e.to_string()))
    }

    /// Writes which graph is in which set, for people and other software. Nothing depends on it: a split is a function of the
    /// settings and the data.
    pub(crate) fn write_split(&self, text: &str) -> Result<()> {
        let file = self.path.join("split.csv");
        match found(&file)?.is_some_and(|there| there == text.as_bytes()) {
            true => Ok(()),
            false => Ok(write_whole(&file, text.as_bytes())?),
        }
    }

    /// Writes a checkpoint: network, optimiser, averaged weights if there are any, and state, in one file by one rename.
    pub(crate) fn checkpoint(
        &self,
        network: &Ppgn,
        adam: &Adam,
        average: Option<&Average>,
        state: &State,
    ) -> Result<()> {
        let layout = network.layout();
        let mut tensors = layout.named("", &arrays(network)?)?;
        tensors.extend(layout.named("adam.first.", &adam.first)?);
        tensors.extend(layout.named("adam.second.", &adam.second)?);
        if let Some(average) = average {
            tensors.extend(layout.named(AVERAGE, &average.weights)?);
        }
        let file = checkpoint_file(&self.path);
        let state = serde_json::to_string(state).map_err(|e| unwritable(&file, &e))?;
        Ok(weights::write(file, &tensors, Some((STATE, &state)))?)
    }

    /// Keeps the network of the best epoch so far.
    pub(crate) fn keep_best(&self, network: &Ppgn, epoch: usize, digests: &Digests) -> Result<()> {
        Ok(network.save_with(Run::best_model(&self.path), &Note { epoch, digests: digests.clone() })?)
    }

    /// The file of the best network of a run.
    pub fn best_model(path: impl AsRef<Path>) -> PathBuf {
        path.as_ref().join("best").join(MODEL)
    }

    /// An epoch as a line of the metrics, and the digests of a run that has it.
    pub(crate) fn line(&self, history: &mut History, epoch: &Epoch) -> Result<(String, Digests)> {
        let file = self.path.join("metrics.jsonl");
        let line = serde_json::to_string(epoch).map_err(|e| unwritable(&file, &e))? + "\n";
        history.push(epoch.clone(), line.as_bytes());
        let metrics = history.digest(history.epochs.len()).unwrap_or_default();
        Ok((line, Digests { settings: self.digest.clone(), metrics }))
    }

    /// Adds a line to the metrics.
    pub(crate) fn record(&self, line: &str, epoch: usize, seconds: f64) -> Result<()> {
        let file = self.path.join("metrics.jsonl");
        // A checkpoint without its metrics could not be resumed, so they are on the disk before it is written.
        let io = |e| Error::io(&file, e);
        append(&file, line).and_then(|out| out.sync_data()).map_err(io)?;
        if epoch == 1 {
            sync_folder(&self.path)?;
        }
        // Nothing depends on the times. In microseconds: an epoch of a small set takes some milliseconds.
        let line = format!("{{\"epoch\":{epoch},\"seconds\":{seconds:.6}}}\n");
        let _ = append(&self.path.join("timing.jsonl"), &line);
        Ok(())
    }

    /// Adds a line to the predictions, which has to reach the disk before the checkpoint, as that of the metrics.
    pub(crate) fn record_predictions(&self, predictions: &Predictions) -> Result<()> {
        let file = self.path.join(PREDICTIONS);
        let line = serde_json::to_string(predictions).map_err(|e| unwritable(&file, &e))? + "\n";
        append(&file, &line).and_then(|out| out.sync_data()).map_err(|e| Error::io(&file, e))?;
        if predictions.epoch == 1 {
            sync_folder(&self.path)?;
        }
        Ok(())
    }

    /// Cuts the metrics down to this number of epochs, whatever is behind them.
    pub(crate) fn cut_metrics(&self, epochs: usize) -> Result<()> {
        let metrics = self.path.join("metrics.jsonl");
        if epochs == 0 && lines(&metrics)? > 1 {
            // A process that is killed before its first checkpoint has written one line at most.
            let message = "it has several epochs, but there is no checkpoint: nothing is overwritten".into();
            return Err(Error::Run { path: metrics, message });
        }
        cut(&metrics, epochs)?;
        cut(&self.path.join(PREDICTIONS), epochs)?;
        let _ = cut(&self.path.join("timing.jsonl"), epochs);
        Ok(())
    }

    /// Says that the run is finished, and what it gave.
    pub(crate) fn finish(&self, summary: &Summary) -> Result<()> {
        let file = self.path.join("summary.json");
        let text = serde_json::to_string_pretty(summary).map_err(|e| unwritable(&file, &e))?;
        Ok(write_whole(&file, sealed_json(&text).as_bytes())?)
    }
}

/// The folder that something is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file of JSON for people and programs, whole or not at all.
pub(crate) fn write_json(file: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(content).map_err(|e| unwritable(file, &e))?;
    Ok(write_whole(file, format!("{text}\n").as_bytes())?)
}

fn unwritable(file: &Path, error: &serde_json::Error) -> Error {
    Error::Run { path: file.to_path_buf(), message: format!("it cannot be written: {error}") }
}

/// Adds a line to a file.
fn append(file: &Path, line: &str) -> std::io::Result<File> {
    regular_or_absent(file)?;
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    out.write_all(line.as_bytes())?;
    Ok(out)
}

/// The parameters of a network without their names.
pub(crate) fn arrays(network: &Ppgn) -> Result<Vec<Values>> {
    Ok(network.parameters()?.into_iter().map(|(_, values)| values).collect())
}

#[cfg(unix)]
fn make_public(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).map_err(|e| Error::io(folder, e))
}

#[cfg(not(unix))]
fn make_public(_folder: &Path) -> Result<()> {
    Ok(())
}
