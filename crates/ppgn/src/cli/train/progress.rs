//! The progress of training, on standard error: a bar on a terminal, otherwise one line per epoch.

use crate::cli::output::{counted, short};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use ppgn::train::{Epoch, Event, Run};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

pub(super) struct Progress {
    epochs: usize,
    shown: Shown,
}

enum Shown {
    Nothing,
    Bar { bar: ProgressBar, begun: bool },
    Lines { start: Instant, first: Option<usize>, graphs: usize },
}

impl Progress {
    pub(super) fn new(run: &Run, graphs: usize, quiet: bool) -> Self {
        let epochs = run.settings().training.epochs;
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Lines { start: Instant::now(), first: None, graphs: 0 },
            (false, true) => {
                let bar = ProgressBar::no_length();
                let style = "{wide_bar} {prefix}{msg}  {speed}, {eta} left";
                let bar = match ProgressStyle::with_template(style) {
                    Ok(style) => bar.with_style(style.with_key("speed", speed)),
                    Err(_) => bar,
                };
                Shown::Bar { bar, begun: false }
            }
        };
        if !quiet {
            let s = run.settings();
            eprintln!(
                "training {} on {} ({}) for {} in {}",
                s.preset(),
                s.dataset,
                counted(graphs, "graph", "graphs"),
                counted(epochs, "epoch", "epochs"),
                run.path().display()
            );
        }
        Progress { epochs, shown }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        let epochs = self.epochs;
        match (&mut self.shown, event) {
            (Shown::Bar { bar, .. }, Event::Ready { space }) => bar.println(&space.why),
            (Shown::Lines { .. }, Event::Ready { space }) => eprintln!("{}", space.why),
            (Shown::Bar { bar, begun }, Event::Step { epoch, graphs, of }) => {
                if !*begun {
                    // Epochs done before a resume must not count for the speed.
                    *begun = true;
                    bar.set_length(epochs.saturating_mul(*of) as u64);
                    bar.set_position(((epoch - 1) * of) as u64);
                    bar.reset_eta();
                }
                bar.set_prefix(format!("epoch {epoch}/{epochs}"));
                bar.set_position(((epoch - 1) * of + graphs) as u64);
            }
            (Shown::Bar { bar, .. }, Event::Epoch { epoch, .. }) => {
                bar.set_message(format!("  {}", figures(epoch)))
            }
            (Shown::Lines { first, graphs, .. }, Event::Step { epoch, of, .. }) => {
                first.get_or_insert(*epoch);
                *graphs = *of;
            }
            (Shown::Lines { start, first, graphs }, Event::Epoch { epoch, seconds, .. }) => {
                let done = epoch.epoch + 1 - first.unwrap_or(epoch.epoch);
                let left = start.elapsed().as_secs_f64() / done as f64 * (epochs - epoch.epoch) as f64;
                let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
                let left = indicatif::HumanDuration(left);
                eprintln!(
                    "epoch {}/{epochs}  {}  {:.0} graphs/s, {left:#} left",
                    epoch.epoch,
                    figures(epoch),
                    *graphs as f64 / seconds.max(1e-9)
                );
            }
            _ => {}
        }
    }

    /// Clears the bar.
    pub(super) fn end(&mut self) {
        if let Shown::Bar { bar, .. } = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn speed(state: &ProgressState, text: &mut dyn Write) {
    let _ = write!(text, "{:.0} graphs/s", state.per_sec());
}

/// An epoch's loss and metric.
fn figures(epoch: &Epoch) -> String {
    // Only the set that the epoch is selected on: nobody should tune on the test set.
    let (part, name) = match (&epoch.validation, &epoch.test) {
        (Some(part), _) => (part, "validation"),
        (None, Some(part)) => (part, "test"),
        (None, None) => (&epoch.train, "training"),
    };
    let quality = match (part.accuracy, part.mae.as_slice()) {
        (Some(accuracy), _) => format!("accuracy {:.1} %", accuracy * 100.0),
        (None, [mae]) => format!("error {}", short(*mae)),
        (None, _) => format!("loss {}", short(part.loss)),
    };
    format!("loss {}  {name} {quality}", short(epoch.train.loss))
}
