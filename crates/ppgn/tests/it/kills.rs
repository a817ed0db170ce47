//! Kills at random moments, over training, cross-validation and search: what is resumed ends with the same bytes as what was
//! never killed. `resume.rs` has the same for a single run that is looked at more closely.
#![cfg(unix)]

use crate::run::command;
use ppgn::graph::random::Stream;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The kills of each of the three commands.
const KILLS: usize = 9;

/// Every file below a folder that must be the same bytes every time, by its path in it.
fn exact(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if name.starts_with(".ppgn-run-") {
                continue; // of a process that was killed: swept once it is a minute old
            }
            assert!(!name.starts_with(".ppgn-"), "a killed process left {}", path.display());
            if path.is_dir() {
                folders.push(path);
            } else if ["config.toml", "metrics.jsonl", "model.safetensors", "summary.json"]
                .contains(&name.as_str())
            {
                files.insert(path.strip_prefix(folder).unwrap().to_path_buf(), std::fs::read(path).unwrap());
            }
        }
    }
    files
}

/// Kills a command that is resumed by `again` at random moments, lets it end, and compares.
fn killed(name: &str, line: &str, again: impl Fn(&Path) -> Option<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let first = |out: &Path| -> Command {
        let mut command = command();
        command
            .args(line.split_whitespace())
            .arg("--out")
            .arg(out)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let next = || match again(&parts).filter(|_| parts.join("config.toml").exists()) {
        Some(words) => {
            let mut command = command();
            command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
            command
        }
        None => first(&parts),
    };
    let begun = Instant::now();
    assert!(first(&whole).status().unwrap().success(), "{name}");
    let all = begun.elapsed();
    let mut random = Stream::new(25, name, &[]);
    let mut kills = 0;
    while kills < KILLS {
        let mut child = next().spawn().unwrap();
        // A quarter of the time that all of it takes, at most: not all of it is done before the last kill.
        std::thread::sleep(all.mul_f64(0.25 * random.unit()).max(Duration::from_millis(1)));
        child.kill().unwrap();
        match child.wait().unwrap().success() {
            // It was faster than before: begin anew.
            true => std::fs::remove_dir_all(&parts).unwrap(),
            false => kills += 1,
        }
    }
    assert!(next().status().unwrap().success(), "{name}");
    let (whole, parts) = (exact(&whole), exact(&parts));
    assert!(
        whole.len() >= 5 && whole.keys().eq(parts.keys()),
        "{name}: {:?} {:?}",
        whole.keys(),
        parts.keys()
    );
    for (path, bytes) in &whole {
        assert!(parts[path] == *bytes, "{name}: {} differs after {kills} kills", path.display());
    }
}

const TINY: &str = "csl:n=9,skips=2+3,copies=10 --blocks 2,2 --batch 4 --quiet";

#[test]
fn training_survives_kills() {
    let line = format!("train {TINY} --split 50/25/25 --epochs 150");
    killed("train", &line, |run| {
        let words = ["train", "--quiet", "--resume"].map(String::from);
        Some(words.into_iter().chain([run.display().to_string()]).collect())
    });
}

#[test]
fn every_recipe_option_survives_kills() {
    let recipe = "--weight-decay 0.01 --clip 1 --warmup 3 --schedule plateau --decay-every 2 --patience 140 --dropout 0.2 --ema 0.99 \
                  --class-weights balanced";
    let line = format!("train {TINY} --split 50/25/25 --epochs 150 {recipe}");
    killed("recipe", &line, |run| {
        let words = ["train", "--quiet", "--resume"].map(String::from);
        Some(words.into_iter().chain([run.display().to_string()]).collect())
    });
}

#[test]
fn cross_validation_survives_kills() {
    killed("cv", &format!("cv {TINY} --folds 1-3 --epochs 50"), |_| None);
}

#[test]
fn search_survives_kills() {
    killed("search", &format!("search {TINY} --epochs 8"), |_| None);
}
