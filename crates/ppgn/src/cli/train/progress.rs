//! The progress of training, on standard error: one line that stays on a terminal, otherwise a line every few seconds.

use crate::cli::output::{BAR, counted, short, styled};
use crate::cli::ranks::on_ranks;
use indicatif::{ProgressBar, ProgressState};
use ppgn::train::{Epoch, Event, Run, Settings, headline};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The time between two lines of progress, where there is no terminal.
pub(crate) const LINE_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Progress {
    settings: Settings,
    shown: Shown,
}

enum Shown {
    Nothing,
    Bar { bar: ProgressBar, begun: bool },
    Lines(Lines),
}

/// What lines are made of.
struct Lines {
    start: Instant,
    /// When the last line was written.
    written: Option<Instant>,
    /// The first epoch of this process.
    first: Option<usize>,
    /// Graphs of an epoch.
    graphs: usize,
}

impl Progress {
    pub(super) fn new(run: &Run, graphs: usize, quiet: bool) -> Self {
        let settings = run.settings().clone();
        let epochs = settings.training.epochs;
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, false) => {
                Shown::Lines(Lines { start: Instant::now(), written: None, first: None, graphs: 0 })
            }
            (false, true) => {
                let template = format!("{{prefix}} {BAR} {{speed:>13}}, {{eta:>4}} left  {{wide_msg}}");
                let bar = bar(&template).with_prefix(counter(0, epochs));
                Shown::Bar { bar, begun: false }
            }
        };
        if !quiet {
            eprintln!(
                "training {} on {} ({}) for {}{} in {}",
                settings.preset(),
                settings.dataset,
                counted(graphs, "graph", "graphs"),
                counted(epochs, "epoch", "epochs"),
                on_ranks(),
                run.path().display()
            );
        }
        Progress { settings, shown }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        let epochs = self.settings.training.epochs;
        match (&mut self.shown, event) {
            (Shown::Bar { bar, .. }, Event::Ready { space }) => bar.println(&space.why),
            (Shown::Lines(_), Event::Ready { space }) => eprintln!("{}", space.why),
            (Shown::Bar { bar, begun }, Event::Step { epoch, graphs, of }) => {
                if !*begun {
                    // Epochs done before a resume must not count for the speed.
                    *begun = true;
                    bar.set_length(epochs.saturating_mul(*of) as u64);
                    bar.set_position(((epoch - 1) * of) as u64);
                    bar.reset_eta();
                }
                bar.set_prefix(counter(*epoch, epochs));
                bar.set_position(((epoch - 1) * of + graphs) as u64);
            }
            (Shown::Bar { bar, .. }, Event::Epoch { epoch, .. }) => {
                bar.set_message(format!(
                    "{}, loss {}",
                    quality(&self.settings, epoch),
                    short(epoch.train.loss)
                ));
            }
            (Shown::Lines(lines), Event::Step { epoch, of, .. }) => {
                lines.first.get_or_insert(*epoch);
                lines.graphs = *of;
            }
            (Shown::Lines(lines), Event::Epoch { epoch, seconds, .. }) => {
                let due = lines.is_due(Instant::now(), epoch.epoch == epochs);
                if due {
                    eprintln!("{}", lines.line(&self.settings, epoch, *seconds));
                }
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

/// A bar with the speed in graphs per second.
fn bar(template: &str) -> ProgressBar {
    let bar = styled(ProgressBar::no_length(), template);
    let style = bar.style().with_key("speed", speed);
    bar.with_style(style)
}

/// `epoch  7/100`, as wide in every epoch.
fn counter(epoch: usize, epochs: usize) -> String {
    let digits = epochs.to_string().len();
    format!("epoch {epoch:>digits$}/{epochs}")
}

impl Lines {
    /// Whether an epoch that has just ended gets a line: the first, the last, and one every few seconds.
    fn is_due(&mut self, now: Instant, last: bool) -> bool {
        let due = last || self.written.is_none_or(|written| now.duration_since(written) >= LINE_EVERY);
        if due {
            self.written = Some(now);
        }
        due
    }

    fn line(&self, settings: &Settings, epoch: &Epoch, seconds: f64) -> String {
        let epochs = settings.training.epochs;
        let done = epoch.epoch + 1 - self.first.unwrap_or(epoch.epoch);
        let left =
            self.start.elapsed().as_secs_f64() / done as f64 * epochs.saturating_sub(epoch.epoch) as f64;
        let left = indicatif::HumanDuration(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
        format!(
            "epoch {}/{epochs}  loss {}  {}  {:.0} graphs/s, {left:#} left",
            epoch.epoch,
            short(epoch.train.loss),
            quality(settings, epoch),
            self.graphs as f64 / seconds.max(1e-9)
        )
    }
}

fn speed(state: &ProgressState, text: &mut dyn Write) {
    let speed = state.per_sec();
    // As wide at any speed.
    let _ = match speed {
        0.0..9999.5 => write!(text, "{speed:.0} graphs/s"),
        0.0..9_999_500.0 => write!(text, "{:.0}k graphs/s", speed / 1e3),
        _ => write!(text, "{:.0}M graphs/s", speed / 1e6),
    };
}

/// The leading figure of an epoch, with the name of its set.
fn quality(settings: &Settings, epoch: &Epoch) -> String {
    // Only the set that the epoch is selected on: nobody should tune on the test set.
    let (part, name) = match (&epoch.validation, &epoch.test) {
        (Some(part), _) => (part, "validation"),
        (None, Some(part)) => (part, "test"),
        (None, None) => (&epoch.train, "training"),
    };
    format!("{name} {}", headline(settings, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_every_few_seconds() {
        let start = Instant::now();
        let mut lines = Lines { start, written: None, first: None, graphs: 0 };
        let at = |ms: u64| start + Duration::from_millis(ms);
        let due: Vec<bool> =
            [0, 100, 4_900, 5_000, 9_000, 10_100].map(|ms| lines.is_due(at(ms), false)).into();
        assert_eq!(due, [true, false, false, true, false, true]);
        assert!(lines.is_due(at(10_200), true), "the last epoch always has its line");
    }

    #[test]
    fn the_counter_keeps_its_width() {
        let widths: Vec<usize> = [1, 10, 100].map(|epoch| counter(epoch, 100).len()).into();
        assert_eq!(widths, [13, 13, 13]);
    }
}
