//! Extending a run: more epochs than it was planned for, in the same folder.
//!
//! The number of epochs is the one setting that may change: nothing that was trained depends on it but the rates of a
//! cosine schedule. The line of `config.toml` is replaced as text, so everything else in the file stays as it was
//! written, and so does its digest.

use super::integrity::{config_lines, settings_digest};
use super::read::read_config;
use super::{Run, found, read_state};
use crate::error::{Error, Result};
use ppgn_graph::Defect;
use ppgn_graph::file::{sync_folder, write_whole};

impl Run {
    /// Plans this many epochs in all for the run; it must not be fewer than before, nor than are done. The summary and the
    /// report of a finished run are removed: it is not finished any more.
    ///
    /// A process that is killed within this leaves a run that can be resumed, with the old number or with the new one.
    pub fn extend(&mut self, epochs: usize) -> Result<()> {
        let planned = self.settings.training.epochs;
        let done = read_state(&self.path)?.map_or(0, |state| state.epoch);
        if epochs < planned.max(done) {
            return Err(Error::Shortened {
                path: self.path.clone(),
                planned: planned.max(done),
                asked: epochs,
            });
        }
        if epochs == planned {
            return Ok(());
        }
        self.not_pruned()?;
        let mut settings = self.settings.clone();
        settings.training.epochs = epochs;
        settings.validate()?;
        let file = self.path.join("config.toml");
        let bytes = found(&file)?.unwrap_or_default();
        let damaged = |what: String| Error::from(Defect::new(file.display().to_string(), what));
        let text = String::from_utf8(bytes).map_err(|e| damaged(e.to_string()))?;
        let text = with_epochs(&text, epochs);
        if settings_digest(&text) != self.digest {
            return Err(damaged("it was changed while the run was extended".into()));
        }
        // Without its summary a run is resumed, whatever its number of epochs.
        for name in ["summary.json", "report.html"] {
            match std::fs::remove_file(self.path.join(name)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(self.path.join(name), e));
                }
                _ => {}
            }
        }
        sync_folder(&self.path)?;
        write_whole(&file, text.as_bytes())?;
        (self.settings, self.digest) = read_config(&self.path)?;
        Ok(())
    }
}

/// The text of a `config.toml` with another number of epochs.
fn with_epochs(config: &str, epochs: usize) -> String {
    let line = |(line, is_epochs): (&str, bool)| match is_epochs {
        true => format!("epochs = {epochs}\n"),
        false => format!("{line}\n"),
    };
    config_lines(config).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_epochs_of_training_change() {
        let config = "a = 1\n[training]\nepochs = 3 # few\nseed = 1\n[network]\nepochs = 2\n";
        let expected = "a = 1\n[training]\nepochs = 30\nseed = 1\n[network]\nepochs = 2\n";
        assert_eq!(with_epochs(config, 30), expected);
        assert_eq!(settings_digest(expected), settings_digest(config));
    }
}
