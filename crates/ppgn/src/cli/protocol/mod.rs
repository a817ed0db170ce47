//! The paper's protocols as commands: `cv`, `search`, `reproduce`.

mod board;
pub(crate) mod cv;
mod figure;
pub(crate) mod reproduce;
pub(crate) mod search;
pub(crate) mod seeds;

use super::device::DeviceArgs;
use super::interrupt::interrupted;
use super::log::LogArgs;
use super::output;
use super::ranks::cores;
use super::session::MemoryArgs;
use anyhow::Result;
use board::Board;
use ppgn::train::Session;
use ppgn::train::protocol::{Job, Workers};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// How the runs of a protocol are executed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WorkArgs {
    /// Number of runs side by side [default: number of cores / threads]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Number of threads per run; results do not depend on it [default: a tenth of the cores, at least 1]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    log: LogArgs,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl WorkArgs {
    fn workers(&self) -> Workers {
        Workers::on(cores(), self.jobs.map(usize::from), self.threads.map(usize::from))
    }

    /// Shows the progress of these jobs, called by this name (`folds`), and logs them.
    fn board(&self, jobs: &[Job], called: &str) -> Result<Board> {
        Board::new(jobs, called, self.quiet, self.log.logs())
    }

    /// A session that signals interrupt, with the limit of `--max-memory` and the device of `--device`.
    fn session(&self) -> Result<Session> {
        self.device.of(self.memory.session(), self.quiet)
    }

    fn one_by_one(&self) -> Workers {
        Workers::one_by_one_on(cores(), self.jobs.map(usize::from), self.threads.map(usize::from))
    }
}

/// Says how to resume after Ctrl-C.
fn stopped(folder: &Path) -> ExitCode {
    eprintln!(
        "stopped; finished runs are in {}. The same command (with --out {}) resumes",
        folder.display(),
        folder.display()
    );
    ExitCode::from(interrupted())
}

/// Prints the report of a command: one JSON object with its time and the folder of its runs, or text.
fn shown(
    report: &impl Serialize,
    json: bool,
    seconds: f64,
    out: &Path,
    text: impl FnOnce() -> Result<String>,
) -> Result<ExitCode> {
    if json {
        let mut object = serde_json::to_value(report)?;
        object["seconds"] = seconds.into();
        object["out"] = out.display().to_string().into();
        output::json(&object)?;
    } else {
        output::print(&text()?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A duration, rounded.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => output::counted(s.round() as usize, "second", "seconds"),
        s if s < 90.0 * 60.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} hours", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let times = [1.0, 5.0, 600.0, 7200.0, 864_000.0].map(duration);
        assert_eq!(times, ["1 second", "5 seconds", "10 minutes", "2.0 hours", "10.0 days"]);
    }
}
