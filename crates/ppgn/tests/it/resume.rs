//! A run that was killed, stopped or starved, and resumed: the same bytes as one that was not.
#![cfg(unix)]

use crate::run::{Ran, command};
use crate::train::{TINY, exact, tiny};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Enough to have something to kill.
const EPOCHS: u64 = 100;

fn more() -> String {
    format!("--epochs {EPOCHS}")
}

fn resume(run: &Path) -> Command {
    let mut command = command();
    command.args(["train", "--quiet", "--resume"]).arg(run).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(run: &Path) -> Command {
    let mut command = command();
    command
        .arg("train")
        .args(TINY.split_whitespace())
        .args(more().split_whitespace())
        .args(["--quiet", "--out"])
        .arg(run);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn wait_for(mut what: impl FnMut() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happens");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn epochs(run: &Path) -> usize {
    std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default().lines().count()
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

#[test]
fn killed_ten_times_it_ends_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let begun = Instant::now();
    tiny(&whole, &more()).ok();
    let epoch = begun.elapsed() / EPOCHS as u32;
    let mut random = ppgn::graph::random::Stream::new(4, "kills", &[]);
    let mut seen = Vec::new();
    while seen.len() < 10 {
        let mut child = if parts.exists() { resume(&parts) } else { start(&parts) }.spawn().unwrap();
        // One in three may die while it starts; the others get somewhere.
        if seen.len() % 3 > 0 {
            let before = epochs(&parts);
            wait_for(|| epochs(&parts) > before || !matches!(child.try_wait(), Ok(None)));
        }
        std::thread::sleep(epoch * random.below(8000) as u32 / 1000);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was done before it was killed ten times, at {seen:?}");
        seen.push(epochs(&parts));
    }
    if parts.exists() { resume(&parts) } else { start(&parts) }.status().unwrap();
    assert_eq!(exact(&whole), exact(&parts), "killed after {seen:?} epochs");
    let left = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    assert_eq!(
        (left(&parts), left(&parts.join("checkpoint"))),
        (left(&whole), 1),
        "a killed process left something"
    );
}

#[test]
fn ctrl_c_stops_with_130_and_says_how_to_resume() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, run) = (folder.path().join("whole"), folder.path().join("run"));
    tiny(&whole, &more()).ok();
    let child = start(&run).arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| epochs(&run) >= 2);
    signal(&child, "-INT");
    let ran: Ran = child.wait_with_output().unwrap().into();
    let ran = ran.fails(130, &format!("`ppgn train --resume {}` resumes it", run.display()));
    assert_eq!(ran.json()["finished"], false);
    assert!(!run.join("summary.json").exists());
    assert!(resume(&run).status().unwrap().success());
    assert_eq!(exact(&whole), exact(&run));
}

#[test]
fn more_epochs_extend_a_run_and_nothing_else_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let (long, short) = (folder.path().join("long"), folder.path().join("short"));
    let recipe = "--weight-decay 0.01 --clip 1 --warmup 1 --schedule plateau --patience 50";
    tiny(&long, &format!("{recipe} --epochs 6")).ok();
    tiny(&short, &format!("{recipe} --epochs 3")).ok();
    let again = |more: &str| -> Ran {
        let mut command = resume(&short);
        command.args(more.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.output().unwrap().into()
    };
    again("--epochs 2").fails(2, "--epochs is the number of all epochs of the run");
    again("--epochs 6 --rate 0.1").fails(2, "all but --epochs");
    again("--epochs 6").ok();
    assert_eq!(exact(&long), exact(&short));
    // The rates are on the lines of the epochs.
    let metrics = std::fs::read_to_string(short.join("metrics.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    assert_eq!(first["rate"], 0.0005);
    let run = folder.path().join("no-validation");
    let ran =
        command().args(["train", "csl", "--holdout", "0.1", "--patience", "3", "--out"]).arg(&run).output();
    Ran::from(ran.unwrap()).fails(2, "--split 80/10/10` has a validation set");
    assert!(!run.exists());
}

#[test]
fn two_processes_on_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut child = command()
        .arg("train")
        .args(TINY.split_whitespace())
        .args(["--epochs", "100000", "--quiet", "--out"])
        .arg(&run)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| epochs(&run) >= 1);
    let second: Ran = resume(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap().into();
    second.fails(2, "another process is training in");
    let seen: Ran = command().arg("runs").arg(folder.path()).arg("--json").output().unwrap().into();
    assert_eq!(seen.ok().json()["runs"][0]["state"], "running");
    child.kill().unwrap();
    child.wait().unwrap();
    let seen: Ran = command().arg("runs").arg(folder.path()).output().unwrap().into();
    assert!(seen.ok().out.contains("stopped at"));
}

/// Writes that fail, as on a full disk: files may grow to so many blocks only, and no signal ends the process.
#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, run) = (folder.path().join("whole"), folder.path().join("run"));
    tiny(&whole, &more()).ok();
    let mut child = start(&run).spawn().unwrap();
    wait_for(|| epochs(&run) >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let model = run.join("checkpoint/model.safetensors");
    let before = std::fs::read(&model).unwrap();
    let starved: Ran = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" train --quiet --resume \"$1\""])
        .arg(env!("CARGO_BIN_EXE_ppgn"))
        .arg(&run)
        .output()
        .unwrap()
        .into();
    // The system's words stand there once.
    starved.fails(1, "model.safetensors: File too large (os error 27)\n");
    assert_eq!(std::fs::read(&model).unwrap(), before);
    assert!(resume(&run).status().unwrap().success());
    assert_eq!(exact(&whole), exact(&run));
}
