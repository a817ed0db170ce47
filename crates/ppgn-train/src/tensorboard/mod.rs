//! Event files that TensorBoard reads: the metrics of a run as they are measured.
//!
//! The file is `events.out.tfevents.ppgn` in the run folder, so `tensorboard --logdir runs` shows every run under its own name.
//! It follows the run: a resumed run keeps the events up to its checkpoint and adds those that a killed process did not come to
//! write. Nothing depends on it. There is one scalar per figure and set, `accuracy/validation` or `mae/mu/test`, its step the
//! epoch, and `rate`.

mod message;
mod record;

use crate::error::{Error, Result};
use crate::headline::figures;
use crate::metrics::Epoch;
use crate::run::{read_metrics, read_settings, read_state};
use crate::settings::Settings;
use message::Event;
use ppgn_graph::file::{read_whole, write_whole};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the file in a run folder. TensorBoard looks for `tfevents` in a name.
const FILE: &str = "events.out.tfevents.ppgn";

/// The event file of a run.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    settings: Settings,
}

impl EventLog {
    /// Opens the event file of a run, which must exist, and brings it to the run's last checkpoint.
    pub fn open(run: impl AsRef<Path>) -> Result<Self> {
        let run = run.as_ref();
        let settings = read_settings(run)?;
        let done = read_state(run)?.map_or(0, |state| state.epoch);
        let path = run.join(FILE);
        let old = match Self::exists(run) {
            true => read_whole(&path)?,
            false => Vec::new(),
        };
        let mut bytes = record::written(&message::first(now()));
        let mut step = 0;
        for event in record::read(&old).filter_map(message::decode) {
            if (step + 1..=done as i64).contains(&event.step) && !event.scalars.is_empty() {
                step = event.step;
                bytes.extend(record::written(&event.encode()));
            }
        }
        for epoch in &read_metrics(run, done)?[step as usize..] {
            bytes.extend(record::written(&event(&settings, epoch).encode()));
        }
        write_whole(&path, &bytes)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(|e| Error::io(&path, e))?;
        Ok(EventLog { path, file, settings })
    }

    /// Whether a run has an event file.
    pub fn exists(run: impl AsRef<Path>) -> bool {
        run.as_ref().join(FILE).is_file()
    }

    /// Adds an epoch.
    pub fn add(&mut self, epoch: &Epoch) -> Result<()> {
        let bytes = record::written(&event(&self.settings, epoch).encode());
        self.file.write_all(&bytes).map_err(|e| Error::io(&self.path, e))
    }
}

/// Seconds since 1970, by which TensorBoard shows times; nothing else depends on them.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// The event of an epoch.
fn event(settings: &Settings, epoch: &Epoch) -> Event {
    Event { time: now(), step: epoch.epoch as i64, scalars: scalars(settings, epoch) }
}

/// The figures of an epoch by tag.
fn scalars(settings: &Settings, epoch: &Epoch) -> Vec<(String, f32)> {
    let mut all = vec![("rate".to_string(), epoch.rate as f32)];
    let sets = [
        ("train", Some(&epoch.train)),
        ("validation", epoch.validation.as_ref()),
        ("test", epoch.test.as_ref()),
    ];
    for (set, part) in sets {
        let Some(part) = part else { continue };
        all.extend(figures(settings, part).into_iter().map(|(name, x)| (format!("{name}/{set}"), x as f32)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What TensorBoard's own writer made of these events (tests/golden/tensorboard.py).
    const GOLDEN: &[u8] = include_bytes!("../../tests/golden/tensorboard.events");

    fn events() -> Vec<Event> {
        let scalar = |tag: &str, x: f32| (tag.to_string(), x);
        vec![
            Event {
                time: 1700000001.25,
                step: 1,
                scalars: vec![scalar("loss/train", 0.7), scalar("accuracy/validation", 0.5)],
            },
            Event {
                time: 1700000002.5,
                step: 2,
                scalars: vec![scalar("loss/train", 1e-30), scalar("mae/\u{b5} \u{2265} 0/test", -3.25e7)],
            },
            Event { time: 1700000300.0, step: 300, scalars: vec![scalar("rate", 0.0)] },
        ]
    }

    #[test]
    fn bytes_are_those_of_tensorboard() {
        let mut ours = record::written(&message::first(1700000000.0));
        events().iter().for_each(|event| ours.extend(record::written(&event.encode())));
        assert_eq!(ours, GOLDEN);
    }

    #[test]
    fn tensorboards_bytes_are_read_back_and_damage_ends_them() {
        let read: Vec<Event> =
            record::read(GOLDEN).filter_map(message::decode).filter(|e| !e.scalars.is_empty()).collect();
        assert_eq!(read, events());
        assert_eq!(message::version(record::read(GOLDEN).next().unwrap()), Some(message::VERSION));
        for cut in 0..GOLDEN.len() {
            assert!(record::read(&GOLDEN[..cut]).count() < 4);
        }
        for at in 0..GOLDEN.len() {
            let mut damaged = GOLDEN.to_vec();
            damaged[at] ^= 0x10;
            assert!(record::read(&damaged).count() < 4, "byte {at}");
        }
    }
}
