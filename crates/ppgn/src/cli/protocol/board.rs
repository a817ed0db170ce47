//! The progress of many runs side by side, on standard error: one bar on a terminal; otherwise a line when a run
//! ends, and one every few seconds.

use crate::cli::log::Logs;
use crate::cli::output::{BAR, counted, styled, warn};
use crate::cli::ranks::on_ranks;
use crate::cli::train::LINE_EVERY;
use anyhow::Result;
use indicatif::{HumanDuration, ProgressBar};
use ppgn::train::protocol::{Job, Notice};
use ppgn::train::{Epoch, Event, Settings, headline};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub(super) struct Board {
    quiet: bool,
    bar: Option<ProgressBar>,
    logs: Logs,
    state: Mutex<State>,
}

struct State {
    start: Instant,
    shown: Instant,
    /// Epochs of all jobs, those done, and those done before.
    epochs: usize,
    done: usize,
    before: usize,
    jobs: usize,
    finished: usize,
}

impl Board {
    /// For these jobs, called by this name (`folds`).
    pub(super) fn new(jobs: &[Job], called: &str, quiet: bool, logs: Logs) -> Result<Self> {
        let epochs: usize = jobs.iter().map(|job| job.settings.training.epochs).sum();
        let left = jobs.iter().map(Job::epochs_left).sum::<Result<usize, _>>()?;
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let digits = epochs.to_string().len();
            let figures = format!("{{pos:>{digits}}}/{{len}} epochs, {{eta:>4}} left");
            let bar = styled(ProgressBar::new(epochs as u64), &format!("{BAR} {figures}  {{wide_msg}}"));
            bar.set_position((epochs - left) as u64);
            bar.reset_eta();
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        if let (false, Some(first)) = (quiet, jobs.first()) {
            let s = &first.settings;
            let resumed = if left < epochs {
                format!(", {} already done", counted(epochs - left, "epoch", "epochs"))
            } else {
                String::new()
            };
            eprintln!(
                "{} on {}: {} {called}, {} in all{resumed}{}",
                s.preset(),
                s.dataset,
                jobs.len(),
                counted(epochs, "epoch", "epochs"),
                on_ranks()
            );
        }
        let now = Instant::now();
        let (done, jobs) = (epochs - left, jobs.len());
        let state = State { start: now, shown: now, epochs, done, before: done, jobs, finished: 0 };
        Ok(Board { quiet, bar, logs, state: Mutex::new(state) })
    }

    /// Shows an event. It never stops anything: Ctrl-C interrupts the session.
    pub(super) fn watch(&self, job: &Job, notice: Notice<'_>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match notice {
            Notice::Training(Event::Warning(warning)) => warn(std::slice::from_ref(warning)),
            Notice::Began(_) => self.logs.begin_or_warn(&job.path),
            Notice::Training(Event::Epoch { epoch, .. }) => {
                self.logs.add(&job.path, epoch);
                state.done += 1;
                if let Some(bar) = &self.bar {
                    bar.set_position(state.done.min(state.epochs) as u64);
                    bar.set_message(format!("{}: {}", job.name, figures(&job.settings, epoch)));
                } else if !self.quiet && state.shown.elapsed() > LINE_EVERY {
                    state.shown = Instant::now();
                    let figures = figures(&job.settings, epoch);
                    eprintln!("{}", state.so_far(&format!("{}, epoch {}: {figures}", job.name, epoch.epoch)));
                }
            }
            Notice::Finished(summary) => {
                state.finished += 1;
                self.line(&state.so_far(&format!(
                    "{} finished, best epoch {}: {}",
                    job.name,
                    summary.best_epoch,
                    figures(&job.settings, &summary.best)
                )));
            }
            Notice::Diverged(error) => {
                state.finished += 1;
                self.line(&state.so_far(&format!("{} stopped: {error}", job.name)));
            }
            _ => {}
        }
        true
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if !self.quiet => eprintln!("{text}"),
            None => {}
        }
    }

    /// Clears the bar.
    pub(super) fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl State {
    fn so_far(&self, what: &str) -> String {
        let trained = self.done.saturating_sub(self.before);
        let left = self.epochs.saturating_sub(self.done);
        let time = match (trained, left) {
            (0, _) | (_, 0) => String::new(),
            _ => {
                let seconds = self.start.elapsed().as_secs_f64() / trained as f64 * left as f64;
                format!(", {:#} left", HumanDuration(Duration::from_secs_f64(seconds)))
            }
        };
        format!("[{}/{}] {what}{time}", self.finished, self.jobs)
    }
}

/// The metric of an epoch on the set that it is selected on.
fn figures(settings: &Settings, epoch: &Epoch) -> String {
    let part = epoch.validation.as_ref().or(epoch.test.as_ref()).unwrap_or(&epoch.train);
    headline(settings, part)
}
