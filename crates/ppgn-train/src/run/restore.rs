//! Taking up a run where it stands. Everything that the rest of the run will depend on is read and verified before anything is
//! changed or computed: the checkpoint, the settings and metrics that it was written beside, and the best network.

use super::integrity::{
    BestNetwork, RESTORE, Warning, checkpoint_file, read_best, same_settings, with_advice,
};
use super::read::read_history;
use super::{AVERAGE, History, Run, STATE, State, exists};
use crate::error::{Error, Result};
use ppgn_graph::Defect;
use ppgn_nn::{Adam, Average, Layout, Ppgn, weights};

/// A run as its last checkpoint has it.
pub(crate) struct Restored {
    pub(crate) network: Ppgn,
    pub(crate) adam: Adam,
    /// The averaged weights, if the run has them.
    pub(crate) average: Option<Average>,
    pub(crate) state: State,
    pub(crate) history: History,
    /// Whether the best network on the disk is of the epoch after the checkpoint: the process was killed between the two.
    pub(crate) best_is_ahead: bool,
    pub(crate) warnings: Vec<Warning>,
}

/// More steps than these are not taken; f64, in which Adam computes with them, counts no further.
const STEPS: u64 = 1 << 53;

impl Run {
    /// Checks that the files of the run are as they were written and belong together, and says what could not be checked.
    /// Nothing is changed. A run without a checkpoint has nothing to check but its settings.
    pub fn verify(&self) -> Result<Vec<Warning>> {
        if !exists(&checkpoint_file(&self.path))? {
            return self.verify_pruned();
        }
        Ok(self.restore()?.map_or_else(Vec::new, |restored| restored.warnings))
    }

    /// The last checkpoint, if there is one, with all that belongs to it, verified.
    pub(crate) fn restore(&self) -> Result<Option<Restored>> {
        let file = checkpoint_file(&self.path);
        if !exists(&file)? {
            return self.not_pruned().map(|()| None);
        }
        let tensors = weights::read(&file).map_err(with_advice)?;
        let damaged = |what: String| Error::from(Defect::new(file.display().to_string(), what));
        let state = tensors
            .metadata
            .get(STATE)
            .ok_or_else(|| damaged("no state in it: not a checkpoint of ppgn".into()))?;
        let state: State =
            serde_json::from_str(state).map_err(|e| damaged(format!("its state is damaged: {e}")))?;
        let best = state.best.as_ref().map_or(0, |best| best.epoch);
        if !(1..=state.epoch).contains(&best) || state.steps > STEPS {
            return Err(damaged(format!(
                "its state is damaged: epoch {}, {} steps, best epoch {best} cannot be; {RESTORE}",
                state.epoch, state.steps
            )));
        }
        match &state.digests {
            Some(digests) => same_settings(&self.path, &self.digest, digests, &file)?,
            None if tensors.verified => {
                return Err(damaged(format!("it was not written by this run; {RESTORE}")));
            }
            None => {}
        }
        let metrics = state.digests.as_ref().map(|digests| digests.metrics.as_str());
        let history = read_history(&self.path, state.epoch, metrics)?;
        let (best, best_is_ahead) = self.restore_best(&state, &history)?;
        let unverified = (!tensors.verified).then(|| Warning::NoChecksum { path: file.clone() });
        let warnings = unverified.into_iter().chain(best.warning).collect();
        let layout = Layout::new(&self.settings.network);
        // The names of moments and averages begin with those of no parameter, so each list is checked by itself.
        let parameters = weights::Tensors {
            tensors: tensors
                .tensors
                .iter()
                .filter(|(n, _)| !n.starts_with("adam.") && !n.starts_with(AVERAGE))
                .map(|(n, t)| (n.clone(), t.clone()))
                .collect(),
            ..tensors.clone()
        };
        let parameters = layout.collect("", &parameters)?;
        let mut adam = Adam::new(&parameters);
        adam.weight_decay = self.settings.training.weight_decay;
        adam.first = layout.collect("adam.first.", &tensors)?;
        adam.second = layout.collect("adam.second.", &tensors)?;
        adam.steps = state.steps;
        let average = match self.settings.training.ema {
            0.0 => None,
            decay => Some(Average { decay, weights: layout.collect(AVERAGE, &tensors)? }),
        };
        let network = Ppgn::new(self.settings.network.clone(), parameters)?;
        Ok(Some(Restored { network, adam, average, state, history, best_is_ahead, warnings }))
    }

    /// The best network, which must be the one that a state names, or that of the epoch after it.
    pub(super) fn restore_best(&self, state: &State, history: &History) -> Result<(BestNetwork, bool)> {
        let file = Run::best_model(&self.path);
        let wrong = |message: String| Error::Run { path: file.clone(), message };
        let epoch = state.best.as_ref().map_or(0, |best| best.epoch);
        if !exists(&file)? {
            let of = state.epoch;
            return Err(wrong(format!(
                "it is missing, and the best of the {of} finished epochs (epoch {epoch}) cannot be computed again; {RESTORE}"
            )));
        }
        let best = read_best(&self.path, &self.settings)?;
        let Some(note) = &best.note else { return Ok((best, false)) };
        if note.digests.settings != self.digest {
            // The checkpoint was trained with config.toml as it is.
            return Err(wrong(format!("it was trained with other settings, in another run; {RESTORE}")));
        }
        let ahead = note.epoch == state.epoch + 1;
        let same_metrics = || history.digest(note.epoch).as_deref() == Some(note.digests.metrics.as_str());
        if !(ahead || note.epoch == epoch && same_metrics()) {
            let found = note.epoch;
            return Err(wrong(format!(
                "it is of epoch {found} of another training, not of epoch {epoch} of this one; {RESTORE}"
            )));
        }
        Ok((best, ahead))
    }
}
