//! Output of commands: text for people, or one JSON object for scripts.

use super::say;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use ppgn::graph::fetch::Progress;
use ppgn::train::Warning;
pub(crate) use ppgn::train::text::short;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Prints a JSON object as one line.
pub(crate) fn json(value: &serde_json::Value) -> Result<()> {
    print(&format!("{value}\n"))
}

/// Prints text unchanged. A closed pipe is an error, not a panic.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints warnings about a run to standard error.
pub(crate) fn warn(warnings: &[Warning]) {
    warnings.iter().for_each(|warning| say::warning(&warning.to_string()));
}

/// A path as JSON has it. Names that are not Unicode lose what JSON cannot hold, instead of the whole object.
pub(crate) fn path(path: &Path) -> String {
    path.display().to_string()
}

/// A number of bytes with a unit.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..=1023 => format!("{n} B"),
        1024..=1_048_575 => format!("{:.1} KiB", n as f64 / 1024.0),
        1_048_576..=1_073_741_823 => format!("{:.1} MiB", n as f64 / 1_048_576.0),
        1_073_741_824..=1_099_511_627_775 => format!("{:.1} GiB", n as f64 / 1_073_741_824.0),
        _ => format!("{:.1} TiB", n as f64 / 1_099_511_627_776.0),
    }
}

/// A count with its noun: `1 graph`, `2 graphs`.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// A number rounded to two decimals.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// Values by the names of the targets.
pub(crate) fn by_target(targets: &[String], figures: &[f64]) -> serde_json::Value {
    let pairs = targets.iter().zip(figures).map(|(name, x)| (name.clone(), (*x).into()));
    serde_json::Value::Object(pairs.collect())
}

/// A table: the first column aligned left, the others right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - cell.chars().count());
            line.push_str(if c == 0 { "  " } else { "   " });
            line.push_str(&if c == 0 { format!("{cell}{pad}") } else { format!("{pad}{cell}") });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Names and values in two columns.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    facts.iter().map(|(name, fact)| format!("  {name:width$}   {fact}\n")).collect()
}

/// Colours text for a terminal, and leaves it plain elsewhere (a pipe, a file, `NO_COLOR`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// For standard output.
    pub(crate) fn stdout() -> Self {
        Paint(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    /// In the colour of a class: those of a terminal's 256 colours that are legible on light and dark backgrounds.
    pub(crate) fn class(self, colour: u32, text: &str) -> String {
        const CODES: [u8; 12] = [33, 202, 35, 164, 178, 44, 197, 70, 99, 208, 31, 130];
        match self.0 {
            true => format!("\x1b[38;5;{}m{text}\x1b[0m", CODES[colour as usize % CODES.len()]),
            false => text.to_string(),
        }
    }
}

/// A bar that leaves room for figures on a terminal of 80 columns.
pub(crate) const BAR: &str = "{bar:10}";

/// A bar in this style. A line has its figures of fixed width first and ends with `{wide_msg}`, which is cut off at the edge of
/// the terminal: so it neither jumps nor wraps.
pub(crate) fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A progress bar on standard error, if that is a terminal and there is more than one step.
pub(crate) fn progress(steps: usize, what: &str, quiet: bool) -> ProgressBar {
    if quiet || steps < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps as u64).with_message(what.to_string());
    styled(bar, &format!("{BAR} {{pos}}/{{len}}  {{elapsed:>4}} elapsed, {{eta:>4}} left  {{wide_msg}}"))
}

/// A progress bar for downloads, and the callback that moves it. Hidden if there is no terminal.
pub(crate) fn download_bar(quiet: bool) -> (ProgressBar, Progress) {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::no_length() };
    let size = "{decimal_bytes:>9}/{decimal_total_bytes:>9}  {decimal_bytes_per_sec:>11}, {eta:>4} left";
    let bar = styled(bar, &format!("{BAR} {size}  {{wide_msg}}"));
    let shown = bar.clone();
    let progress = Progress::new(move |transfer| {
        shown.set_message(transfer.file.to_string());
        if let Some(total) = transfer.total {
            shown.set_length(total);
        }
        shown.set_position(transfer.done);
    });
    (bar, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(rounded(17.930851), 17.93);
        assert_eq!(counted(1, "graph", "graphs"), "1 graph");
    }

    #[test]
    fn sizes_reach_beyond_gigabytes() {
        assert_eq!(
            [bytes(3 << 30), bytes(1 << 40), bytes(u64::MAX)],
            ["3.0 GiB", "1.0 TiB", "16777216.0 TiB"]
        );
    }

    #[test]
    fn tables_line_up() {
        let rows = [vec!["a".to_string(), "10".into()], vec!["long".into(), "5".into()]];
        assert_eq!(table(&rows), "  a      10\n  long    5\n");
    }
}
