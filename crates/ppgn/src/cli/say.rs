//! Messages on standard error, coloured as clap colours its own: where that is a terminal, and `NO_COLOR` and the like do not
//! say otherwise.

use clap::builder::styling::{AnsiColor, Style, Styles};

const STYLES: Styles = Styles::styled();

/// Why a command failed.
pub(crate) fn error(text: &str) {
    say(STYLES.get_error(), "error", text);
}

/// What may help.
pub(crate) fn hint(text: &str) {
    say(STYLES.get_valid(), "hint", text);
}

/// What users of a result should know.
pub(crate) fn warning(text: &str) {
    say(&AnsiColor::Yellow.on_default().bold(), "warning", text);
}

/// Something worth knowing.
pub(crate) fn note(text: &str) {
    say(&Style::new().bold(), "note", text);
}

fn say(style: &Style, head: &str, text: &str) {
    anstream::eprintln!("{style}{head}:{style:#} {text}");
}
