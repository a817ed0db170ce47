//! The run folder: a reader needs no ppgn, and a process killed at any moment leaves something to resume.
//!
//! | file | what | when |
//! | --- | --- | --- |
//! | `config.toml` | the resolved [`Settings`] | there from the first moment: the folder appears by one rename |
//! | `metrics.jsonl` | one [`Epoch`] per line | after every epoch, cut to the checkpoint on resume |
//! | `timing.jsonl` | seconds per epoch | beside it; nothing depends on it |
//! | `checkpoint/model.safetensors` | parameters, Adam's moments, and the [`State`] as metadata | replaced by one rename after every epoch |
//! | `best/model.safetensors` | the network at the best epoch so far | replaced by one rename when an epoch is better |
//! | `report.html` | settings, curves and best figures for people | when the run is finished |
//! | `summary.json` | the [`Summary`] | when the run is finished |
//! | `lock` | held by the process that trains | the operating system lets go of it when the process ends |

use crate::data::Scaling;
use crate::error::{Error, Result};
use crate::metrics::{Best, Epoch};
use crate::settings::Settings;
use ppgn_graph::Defect;
use ppgn_graph::file::write_whole;
use ppgn_nn::{Adam, Layout, Ppgn, Values, weights};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
}

/// What a finished run gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// Epochs trained.
    pub epochs: usize,
    /// The seed.
    pub seed: u64,
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
}

/// A run folder that this process has to itself.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    settings: Settings,
    _lock: File,
}

pub(crate) const MODEL: &str = "model.safetensors";
pub(crate) const STATE: &str = "ppgn_state";

impl Run {
    /// Makes a new run folder; it must not exist.
    pub fn create(path: impl AsRef<Path>, settings: Settings) -> Result<Self> {
        Run::make(path.as_ref(), settings, |_| Ok(()))
    }

    /// Makes the run folder of a network that was trained elsewhere, for [`Predictor`](crate::Predictor) to use.
    pub fn import(path: impl AsRef<Path>, settings: Settings, network: &Ppgn) -> Result<Self> {
        Run::make(path.as_ref(), settings, |folder| Ok(network.save(Run::best_model(folder))?))
    }

    /// Makes a run folder that has everything in it when it appears.
    fn make(path: &Path, settings: Settings, fill: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let path = path.to_path_buf();
        if path.exists() {
            return Err(Error::Exists { path });
        }
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        let folder = tempfile::Builder::new()
            .prefix(".ppgn-run-")
            .tempdir_in(parent)
            .map_err(|e| Error::io(parent, e))?;
        let config = settings.to_toml()?;
        let file = folder.path().join("config.toml");
        write_whole(&file, config.as_bytes())?;
        for inner in ["checkpoint", "best"] {
            std::fs::create_dir(folder.path().join(inner)).map_err(|e| Error::io(&path, e))?;
        }
        fill(folder.path())?;
        make_public(folder.path())?;
        std::fs::rename(folder.path(), &path).map_err(|e| Error::io(&path, e))?;
        // Under its new name it is no temporary folder any more.
        let _ = folder.keep();
        sync_folder(parent);
        let lock = lock(&path)?;
        Ok(Run { path, settings, _lock: lock })
    }

    /// Opens a run folder to resume it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let settings = read_settings(&path)?;
        let lock = lock(&path)?;
        sweep(&path);
        Ok(Run { path, settings, _lock: lock })
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
        match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|e| Defect::new(file.display().to_string(), format!("not a summary: {e}")).into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(file, e)),
        }
    }

    /// Writes a checkpoint: network, optimiser and state, in one file by one rename.
    pub(crate) fn checkpoint(&self, network: &Ppgn, adam: &Adam, state: &State) -> Result<()> {
        let layout = network.layout();
        let mut tensors = layout.named("", &arrays(network)?)?;
        tensors.extend(layout.named("adam.first.", &adam.first)?);
        tensors.extend(layout.named("adam.second.", &adam.second)?);
        let file = self.path.join("checkpoint").join(MODEL);
        let state = serde_json::to_string(state).map_err(|e| unwritable(&file, &e))?;
        Ok(weights::write(file, &tensors, Some((STATE, &state)))?)
    }

    /// The last checkpoint, if there is one.
    pub(crate) fn restore(&self) -> Result<Option<(Ppgn, Adam, State)>> {
        let file = self.path.join("checkpoint").join(MODEL);
        if !file.exists() {
            return Ok(None);
        }
        let tensors = weights::read(&file)?;
        let damaged = |what: String| Error::from(Defect::new(file.display().to_string(), what));
        let state = tensors
            .metadata
            .get(STATE)
            .ok_or_else(|| damaged("no state in it: not a checkpoint of ppgn".into()))?;
        let state: State =
            serde_json::from_str(state).map_err(|e| damaged(format!("its state is damaged: {e}")))?;
        let layout = Layout::new(&self.settings.network);
        // The names of the moments begin with those of no parameter, so each list is checked by itself.
        let parameters = weights::Tensors {
            tensors: tensors
                .tensors
                .iter()
                .filter(|(n, _)| !n.starts_with("adam."))
                .map(|(n, t)| (n.clone(), t.clone()))
                .collect(),
            ..tensors.clone()
        };
        let parameters = layout.collect("", &parameters)?;
        let mut adam = Adam::new(&parameters);
        adam.first = layout.collect("adam.first.", &tensors)?;
        adam.second = layout.collect("adam.second.", &tensors)?;
        adam.steps = state.steps;
        let network = Ppgn::new(self.settings.network.clone(), parameters)?;
        Ok(Some((network, adam, state)))
    }

    /// Keeps the network of the best epoch so far.
    pub(crate) fn keep_best(&self, network: &Ppgn) -> Result<()> {
        Ok(network.save(self.path.join("best").join(MODEL))?)
    }

    /// The file of the best network of a run.
    pub fn best_model(path: impl AsRef<Path>) -> PathBuf {
        path.as_ref().join("best").join(MODEL)
    }

    /// Adds an epoch to the metrics.
    pub(crate) fn record(&self, epoch: &Epoch, seconds: f64) -> Result<()> {
        let line =
            serde_json::to_string(epoch).map_err(|e| unwritable(&self.path.join("metrics.jsonl"), &e))?;
        self.append("metrics.jsonl", &line)?;
        self.append("timing.jsonl", &format!("{{\"epoch\":{},\"seconds\":{seconds:.3}}}", epoch.epoch))
    }

    fn append(&self, name: &str, line: &str) -> Result<()> {
        let file = self.path.join(name);
        let mut out =
            OpenOptions::new().create(true).append(true).open(&file).map_err(|e| Error::io(&file, e))?;
        out.write_all(format!("{line}\n").as_bytes()).map_err(|e| Error::io(&file, e))?;
        // A checkpoint without its metrics could not be resumed, and the checkpoint is synced too.
        out.sync_data().map_err(|e| Error::io(&file, e))
    }

    /// The metrics of the first `epochs` epochs; whatever the file has beyond them is cut off.
    pub(crate) fn cut_metrics(&self, epochs: usize) -> Result<Vec<Epoch>> {
        let kept = read_metrics(&self.path)?;
        if kept.len() < epochs {
            let file = self.path.join("metrics.jsonl").display().to_string();
            return Err(
                Defect::new(file, format!("{} epochs, but the checkpoint has {epochs}", kept.len())).into()
            );
        }
        for name in ["metrics.jsonl", "timing.jsonl"] {
            let file = self.path.join(name);
            let text = match std::fs::read_to_string(&file) {
                Ok(text) => text,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => return Err(Error::io(&file, e)),
            };
            let cut: String = text.split_inclusive('\n').take(epochs).collect();
            if cut != text {
                write_whole(&file, cut.as_bytes())?;
            }
        }
        Ok(kept.into_iter().take(epochs).collect())
    }

    /// Says that the run is finished, and what it gave.
    pub(crate) fn finish(&self, summary: &Summary) -> Result<()> {
        write_json(&self.path.join("summary.json"), summary)
    }
}

/// A file of JSON for people and programs, whole or not at all.
pub(crate) fn write_json(file: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(content).map_err(|e| unwritable(file, &e))?;
    Ok(write_whole(file, format!("{text}\n").as_bytes())?)
}

fn unwritable(file: &Path, error: &serde_json::Error) -> Error {
    Error::Run { path: file.to_path_buf(), message: format!("it cannot be written: {error}") }
}

/// The parameters of a network without their names.
pub(crate) fn arrays(network: &Ppgn) -> Result<Vec<Values>> {
    Ok(network.parameters()?.into_iter().map(|(_, values)| values).collect())
}

/// The settings of a run folder.
pub(crate) fn read_settings(path: &Path) -> Result<Settings> {
    let file = path.join("config.toml");
    let text = std::fs::read_to_string(&file).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::NotARun { path: path.to_path_buf() },
        _ => Error::io(&file, e),
    })?;
    let defect = |text: String| Error::from(Defect::new(file.display().to_string(), text));
    let settings: Settings =
        toml::from_str(&text).map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    settings.validate().map_err(|e| defect(format!("not the settings of a run: {e}")))?;
    Ok(settings)
}

/// All whole lines of a run's metrics. A line that a killed process left half-written at the end does not count.
pub(crate) fn read_metrics(path: &Path) -> Result<Vec<Epoch>> {
    let file = path.join("metrics.jsonl");
    let reader = match File::open(&file) {
        Ok(reader) => BufReader::new(reader),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io(&file, e)),
    };
    let mut epochs = Vec::new();
    for (i, line) in reader.split(b'\n').enumerate() {
        let line = line.map_err(|e| Error::io(&file, e))?;
        match serde_json::from_slice(&line) {
            Ok(epoch) => epochs.push(epoch),
            Err(_) if line.is_empty() => break,
            Err(e) if e.is_eof() => break,
            Err(e) => {
                let defect =
                    Defect::new(file.display().to_string(), format!("not the metrics of an epoch: {e}"));
                return Err(defect.line(i as u64 + 1).into());
            }
        }
    }
    Ok(epochs)
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

fn lock(path: &Path) -> Result<File> {
    let file = path.join("lock");
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file)
        .map_err(|e| Error::io(&file, e))?;
    for patience in (0..5).rev() {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // Whoever only looks whether the run is locked has it for a moment.
            Err(TryLockError::WouldBlock) if patience > 0 => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(e)) => return Err(Error::io(&file, e)),
        }
    }
    Err(Error::Busy { path: path.to_path_buf() })
}

/// Whether a process is training in a run folder.
pub(crate) fn is_locked(path: &Path) -> bool {
    let lock = OpenOptions::new().write(true).open(path.join("lock"));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Removes what a killed process was writing. Whoever calls has the lock.
fn sweep(path: &Path) {
    for folder in [path.to_path_buf(), path.join("checkpoint"), path.join("best")] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(".ppgn-") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
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

/// Makes a rename in a folder last; where the system cannot, the rename still is one.
fn sync_folder(folder: &Path) {
    if let Ok(file) = File::open(folder) {
        let _ = file.sync_all();
    }
}
