//! The front door: tips, colours, progress, completion scripts and manual pages.

use crate::run::{Ran, command, line, ppgn};
use std::process::Command;

const TINY: &str = "train csl --blocks 4 --epochs 3 --split 50/25/25 --batch 8 --out";

#[test]
fn wrong_options_get_tips() {
    let wrong = line("train --workers 3").fails(2, "tip: here it is called '--threads'");
    assert!(wrong.err.contains("Usage: ppgn train [OPTIONS] [DATA]"), "{}", wrong.err);
    line("predict a b --epochs 3").fails(2, "'--epochs' is an option of");
    line("wl classes csl --tset 1-wl").fails(2, "a similar option exists: '--test'");
}

#[test]
fn errors_have_the_colours_of_clap_where_they_are_wanted() {
    let coloured = |words: &str| -> Ran {
        let mut command = command();
        command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
        command.args(words.split_whitespace()).output().unwrap().into()
    };
    let ours = coloured("data info no-such-data").fails(2, "no-such-data").err;
    let claps = coloured("data inof csl").fails(2, "inof").err;
    let head = |text: &str| text.split("error:").next().unwrap_or_default().to_string();
    assert!(ours.starts_with('\x1b') && head(&ours) == head(&claps), "{ours:?} {claps:?}");
    // The hint has the colour of clap's tips.
    let before = |text: &str, word: &str| {
        let (before, _) = text.split_once(word).unwrap_or_else(|| panic!("no {word} in {text:?}"));
        before[before.rfind('\x1b').unwrap()..].to_string()
    };
    assert_eq!(before(&ours, "hint:"), before(&claps, "tip:"));
    assert!(line("data info no-such-data").fails(2, "error: ").err.starts_with("error: "));
}

#[test]
fn without_a_terminal_a_line_every_few_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let words = TINY.replace("--epochs 3", "--epochs 60");
    let err = ppgn(words.split_whitespace().chain([run.to_str().unwrap()])).ok().err;
    let lines: Vec<&str> = err.lines().filter(|line| line.starts_with("epoch ")).collect();
    assert!(lines[0].starts_with("epoch 1/60  loss ") && lines[0].contains("  validation "), "{err}");
    assert!(lines.last().unwrap().starts_with("epoch 60/60  loss "), "{err}");
    // One per epoch would be 60; a machine under load may take some seconds more.
    assert!(lines.len() < 30, "{err}");
}

/// A terminal of 80 columns, by `script`. No line may be wider, or the terminal wraps it and the next one is drawn below.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_of_80_columns_nothing_wraps() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let words = TINY.replace("--epochs 3", "--epochs 900 --rate 1e-9");
    let call = format!(
        "stty cols 80; timeout --signal=INT 4 {} {words} {}",
        env!("CARGO_BIN_EXE_ppgn"),
        run.display()
    );
    let ran = Command::new("script").args(["-qec", &call, "/dev/null"]).env("TERM", "xterm").output();
    let Ok(ran) = ran else {
        return crate::run::skipped("`script` (util-linux) is not installed");
    };
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut bars = Vec::new();
    for piece in text.split(['\r', '\n']) {
        let shown = plain(piece);
        // What is printed above the bar is padded to the width of the terminal instead of ended.
        if shown.starts_with("epoch") {
            assert!(shown.chars().count() <= 80, "{} columns: {shown}", shown.chars().count());
            bars.push(shown);
        }
    }
    assert!(bars.len() > 2, "{text}");
    assert!(bars.iter().any(|bar| bar.contains("validation ") && bar.contains("%, loss ")), "{bars:?}");
    // Figures stay in their columns.
    let columns: Vec<Option<usize>> = bars.iter().map(|bar| bar.find("graphs/s")).collect();
    assert!(columns.iter().all(|column| *column == columns[0]), "{bars:?}");
}

/// Text without what moves the cursor or colours it.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\x1b' => {
                let _ = characters.find(|c| c.is_ascii_alphabetic());
            }
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = line(&format!("completions {shell}")).ok().out;
        for word in ["runs", "compare", "decay-every", "refine"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    line("completions tcsh").fails(2, "possible values: bash");
    // What bash itself makes of it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ppgn.bash");
    std::fs::write(&file, line("completions bash").ok().out).unwrap();
    let complete = |words: &str| {
        let count = words.split(' ').count() - 1;
        let last = words.rsplit(' ').next().unwrap_or_default();
        let script = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={count}; _ppgn ppgn '{last}' ''; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        Command::new("bash").args(["-c", &script]).output().map(Ran::from)
    };
    let Ok(first) = complete("ppgn tr") else {
        return crate::run::skipped("bash is not installed");
    };
    assert_eq!(first.ok().out.trim(), "train");
    assert_eq!(complete("ppgn train --epo").unwrap().ok().out.trim(), "--epochs");
    assert!(complete("ppgn wl re").unwrap().ok().out.contains("refine"));
}

#[test]
fn every_command_has_a_manual_page() {
    assert!(line("man").ok().out.contains(".TH ppgn 1"));
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man1");
    let said = ppgn(["man", dir.to_str().unwrap()]).ok().out;
    let page = |name: &str| {
        let file = dir.join(format!("{name}.1"));
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    assert!(page("ppgn-train").contains("decay\\-every"), "{}", page("ppgn-train"));
    assert!(page("ppgn-wl-refine").contains("svg"));
    assert!(page("ppgn-runs-compare").contains("compare"));
    let pages = dir.read_dir().unwrap().count();
    assert!(said.starts_with(&format!("{pages} pages written")) && pages > 25, "{said}");
    assert!(!dir.join("ppgn-help.1").exists());
}

#[test]
fn predictions_take_threads_and_can_be_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let name = run.to_str().unwrap();
    ppgn(TINY.split_whitespace().chain([name, "-q"])).ok();
    let loud = ppgn(["predict", name, "csl", "--threads", "2"]).ok();
    let quiet = ppgn(["predict", name, "csl", "--threads", "1", "-q"]).ok();
    assert!(loud.err.contains("150 graphs") && quiet.err.is_empty(), "{} {}", loud.err, quiet.err);
    assert_eq!(loud.out, quiet.out);
    let out = folder.path().join("e.npz");
    let embedded =
        ppgn(["embed", name, "csl", "--threads", "2", "--quiet", "--out", out.to_str().unwrap()]).ok();
    assert!(embedded.out.is_empty() && embedded.err.is_empty() && out.exists());
}
