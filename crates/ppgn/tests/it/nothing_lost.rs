//! Nothing lost, nothing silently wrong: what hostile trials found, one test per point of that list.

use crate::run::{Ran, command, ppgn};
use crate::train::{exact, tiny};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

const DATA: &str = "csl:n=11,skips=2+3,copies=8";

#[test]
fn point_6_a_checkpoint_that_cannot_be_read_is_not_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    let before = exact_but_summary(&run);
    let resume =
        || -> Ran { command().args(["train", "--quiet", "--resume"]).arg(&run).output().unwrap().into() };
    // Not "not found", and so for every user, root included.
    std::fs::rename(run.join("checkpoint"), run.join("kept")).unwrap();
    std::fs::write(run.join("checkpoint"), "").unwrap();
    resume().fails(1, "checkpoint");
    std::fs::remove_file(run.join("checkpoint")).unwrap();
    // No checkpoint, but several epochs.
    std::fs::create_dir(run.join("checkpoint")).unwrap();
    resume().fails(1, "metrics.jsonl: it has several epochs, but there is no checkpoint");
    std::fs::remove_dir(run.join("checkpoint")).unwrap();
    std::fs::rename(run.join("kept"), run.join("checkpoint")).unwrap();
    assert!(before == exact_but_summary(&run), "a refused resume changed the run");
    resume().ok();
}

fn exact_but_summary(run: &Path) -> Vec<Vec<u8>> {
    ["metrics.jsonl", "timing.jsonl", "best/model.safetensors"]
        .map(|name| std::fs::read(run.join(name)).unwrap())
        .to_vec()
}

#[test]
fn point_8_what_is_cut_off_anyway_does_not_block_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    let before = exact(&run);
    for (file, damage) in [
        ("metrics.jsonl", &b"\0\0"[..]),
        ("metrics.jsonl", b"\xff\xfe\n{}\n"),
        ("timing.jsonl", b"\0\0\xff"),
        ("timing.jsonl", b"nonsense\n\n\n"),
    ] {
        std::fs::remove_file(run.join("summary.json")).unwrap();
        let path = run.join(file);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole, damage].concat()).unwrap();
        let seen: Ran = command().arg("runs").arg(folder.path()).output().unwrap().into();
        assert!(seen.ok().out.contains("stopped at 3"), "{file}");
        let resumed: Ran =
            command().args(["train", "--quiet", "--resume"]).arg(&run).output().unwrap().into();
        resumed.ok();
        assert!(exact(&run) == before, "{file}");
    }
    // Damage within the epochs that count is an error.
    std::fs::remove_file(run.join("summary.json")).unwrap();
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    std::fs::write(run.join("metrics.jsonl"), text.replacen("\"epoch\":2", "\"epoch\":3", 1)).unwrap();
    let refused: Ran = command().args(["train", "--quiet", "--resume"]).arg(&run).output().unwrap().into();
    refused.fails(1, "metrics.jsonl:2: epoch 3 in the place of epoch 2");
}

#[test]
fn point_9_predict_and_embed_overwrite_with_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    for (command, name) in [("predict", "p.csv"), ("predict", "p.jsonl"), ("embed", "e.npz")] {
        let out = folder.path().join(name);
        let words = [command, run.to_str().unwrap(), DATA, "--out", out.to_str().unwrap()];
        std::fs::write(&out, "mine").unwrap();
        ppgn(words).fails(2, "already exists; --force overwrites it");
        assert_eq!(std::fs::read(&out).unwrap(), b"mine");
        ppgn(words.into_iter().chain(["--force"])).ok();
        assert_ne!(std::fs::read(&out).unwrap(), b"mine");
    }
    // The name that a command takes by itself is no exception.
    std::fs::write(folder.path().join("csl.embedding.npz"), "mine").unwrap();
    let ran: Ran = command().current_dir(folder.path()).args(["embed", "run", DATA]).output().unwrap().into();
    ran.fails(2, "csl.embedding.npz already exists");
}

#[test]
fn point_13_every_seed_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for seed in ["9223372036854775808", "18446744073709551615"] {
        for (command, more) in [("cv", "--folds 1-2"), ("search", "")] {
            let out = folder.path().join(format!("{command}-{seed}"));
            let line = format!(
                "{command} csl:n=9,skips=2+3,copies=10 {more} --blocks 2 --epochs 1 --quiet --json --seed {seed} --out {}",
                out.display()
            );
            let first = ppgn(line.split_whitespace()).ok().json();
            let again = ppgn(line.split_whitespace()).ok().json();
            assert_eq!((&first["seed"], &first["curves"]), (&again["seed"], &again["curves"]));
            assert_eq!(first["seed"].to_string(), seed);
        }
    }
}

#[test]
fn point_13_simultaneous_runs_take_the_next_free_name() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = command();
        command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.args("train csl --limit 20 --blocks 2 --epochs 1 --quiet".split_whitespace()).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    for child in children {
        let ran: Ran = child.wait_with_output().unwrap().into();
        ran.ok();
    }
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path().join("runs")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    let expected = ["", "-2", "-3", "-4", "-5", "-6"].map(|n| format!("csl-small-0{n}"));
    assert_eq!(names, expected.map(std::ffi::OsString::from));
}

#[test]
fn point_13_a_second_cross_validation_names_the_other_process() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "cv {DATA} --folds 1 --blocks 2 --epochs 300 --quiet --out {}",
        folder.path().join("cv").display()
    );
    let start = || {
        let mut command = command();
        command.args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children = [start(), start(), start()];
    let mut done = 0;
    for child in children {
        let ran: Ran = child.wait_with_output().unwrap().into();
        if ran.code == Some(0) {
            done += 1;
        } else {
            ran.fails(2, "another process is training in");
        }
    }
    assert!(done >= 1);
}

#[cfg(unix)]
#[test]
fn point_13_folders_of_killed_processes_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let cv = folder.path().join("cv");
    let [stale, fresh] = [".ppgn-run-stale", ".ppgn-run-fresh"].map(|name| cv.join(name));
    for path in [&stale, &fresh] {
        std::fs::create_dir_all(path).unwrap();
        std::fs::write(path.join("config.toml"), "").unwrap();
    }
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::open(&stale).unwrap().set_modified(hour_ago).unwrap();
    let line = format!("cv {DATA} --folds 1 --blocks 2 --epochs 1 --quiet --out {}", cv.display());
    ppgn(line.split_whitespace()).ok();
    // A folder that may belong to a process that is just starting stays.
    assert!(!stale.exists() && fresh.exists());
}

#[cfg(unix)]
#[test]
fn point_13_messages_of_the_system_are_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let ran = tiny(&blocked.join("run"), "").fails(1, "file/run: Not a directory (os error 20)\n");
    assert_eq!(ran.err.matches("os error").count(), 1, "{}", ran.err);
}
