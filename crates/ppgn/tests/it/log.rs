//! `--log tensorboard`: event files follow their runs. That TensorBoard itself reads them is checked by
//! `ppgn-train/tests/golden/tensorboard.py`, whose golden the unit tests of `ppgn-train` compare with.

use crate::run::{command, ppgn};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const FILE: &str = "events.out.tfevents.ppgn";
const TINY: &str = "train csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 4 --split 50/25/25 --quiet --out";

/// The steps of an event file, by the lengths of its records alone; a record that is not whole ends them.
fn records(file: &Path) -> usize {
    let bytes = std::fs::read(file).unwrap();
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        at += 16 + length;
        assert!(at <= bytes.len(), "the last record is cut off");
        count += 1;
    }
    count
}

#[test]
fn runs_and_folds_have_event_files() {
    let folder = tempfile::tempdir().unwrap();
    let (run, plain) = (folder.path().join("run"), folder.path().join("plain"));
    let train = |run: &Path, more: &str| {
        let words = format!("{TINY} {} --epochs 3 {more}", run.display());
        ppgn(words.split_whitespace()).ok()
    };
    train(&run, "--log tensorboard");
    train(&plain, "");
    // The version, and one event per epoch.
    assert_eq!(records(&run.join(FILE)), 4);
    assert!(!plain.join(FILE).exists());
    let bytes = std::fs::read(run.join(FILE)).unwrap();
    for tag in ["brain.Event:2", "accuracy/validation", "loss/train", "rate"] {
        assert!(bytes.windows(tag.len()).any(|w| w == tag.as_bytes()), "no {tag}");
    }
    // Nothing else of the run depends on it.
    for name in ["metrics.jsonl", "summary.json", "checkpoint/model.safetensors"] {
        assert_eq!(
            std::fs::read(run.join(name)).unwrap(),
            std::fs::read(plain.join(name)).unwrap(),
            "{name}"
        );
    }
    let cv = folder.path().join("cv");
    let words = format!(
        "cv csl:n=13,skips=2+3,copies=6 --blocks 4 --epochs 2 --folds 1-2 --quiet --log tensorboard --out {}",
        cv.display()
    );
    ppgn(words.split_whitespace()).ok();
    assert_eq!((records(&cv.join("fold-1").join(FILE)), records(&cv.join("fold-2").join(FILE))), (3, 3));
    ppgn(format!("{TINY} x --log wandb").split_whitespace()).fails(2, "possible values: tensorboard");
}

#[test]
fn a_killed_run_has_every_epoch_once_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut child = command()
        .args(TINY.split_whitespace())
        .arg(&run)
        .args(["--epochs", "400", "--log", "tensorboard"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let lines = || std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default().lines().count();
    while lines() < 5 {
        assert!(start.elapsed() < Duration::from_secs(60), "the run does not grow");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What a kill may leave: half a record.
    let mut bytes = std::fs::read(run.join(FILE)).unwrap();
    bytes.extend([7; 11]);
    std::fs::write(run.join(FILE), bytes).unwrap();
    // The run has an event file, so it keeps it without being asked again.
    ppgn(["train", "--quiet", "--resume", run.to_str().unwrap()]).ok();
    assert_eq!((records(&run.join(FILE)), lines()), (401, 400));
}
