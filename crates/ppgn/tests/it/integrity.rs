//! Nothing silently wrong: damaged, edited, missing and hostile files of a run are noticed, and numbers that are not finite
//! are never an answer. One test per point of the list that hostile trials gave.

use crate::run::{Ran, command, ppgn};
use crate::train::{exact, tiny};
use ppgn::graph::random::Stream;
use serde_json::Value;
use std::path::Path;

const DATA: &str = "csl:n=11,skips=2+3,copies=8";
const BEST: &str = "best/model.safetensors";
const CHECKPOINT: &str = "checkpoint/model.safetensors";

fn resume(run: &Path) -> Ran {
    command().args(["train", "--quiet", "--resume"]).arg(run).output().unwrap().into()
}

fn predict(run: &Path) -> Ran {
    ppgn(["predict", run.to_str().unwrap(), DATA])
}

/// A run that stands after its last epoch, with all but the summary to do.
fn stopped(folder: &Path) -> std::path::PathBuf {
    let run = folder.join("run");
    tiny(&run, "").ok();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    run
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "`{from}` is not in {text}");
    std::fs::write(file, text.replacen(from, to, 1)).unwrap();
}

/// Rewrites the metadata of a safetensors file, as an editor of such files would.
fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let bytes = std::fs::read(file).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let metadata = header["__metadata__"].as_object_mut().unwrap();
    assert_eq!(metadata.len(), 1);
    let text = metadata.values_mut().next().unwrap();
    let mut value: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    change(&mut value);
    *text = value.to_string().into();
    let mut header = header.to_string();
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    let head = (header.len() as u64).to_le_bytes();
    std::fs::write(file, [&head, header.as_bytes(), &bytes[8 + length..]].concat()).unwrap();
}

/// The run as version 0.1 would have written it: without a digest anywhere.
fn of_version_0_1(run: &Path) {
    for (name, field) in [(BEST, "run"), (CHECKPOINT, "digests")] {
        edit(&run.join(name), |value| {
            let fields = value.as_object_mut().unwrap();
            assert!(fields.remove("sha256").is_some() && fields.remove(field).is_some());
        });
    }
    let config = run.join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(config, text.split_once("# sha256 = ").unwrap().0).unwrap();
}

#[test]
fn point_2_scores_that_are_not_finite_are_no_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    of_version_0_1(&run);
    let best = run.join(BEST);
    let mut bytes = std::fs::read(&best).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let weights = &mut bytes[8 + length..];
    weights.chunks_mut(4).for_each(|weight| weight.copy_from_slice(&f32::NAN.to_le_bytes()));
    std::fs::write(&best, bytes).unwrap();
    predict(&run).fails(1, "the scores of graph 0 of csl are not finite");
    let out = folder.path().join("e.npz");
    ppgn(["embed", run.to_str().unwrap(), DATA, "--out", out.to_str().unwrap()])
        .fails(1, "the features of graph 0 of csl are not finite");
    assert!(!out.exists());
}

#[test]
fn point_2_an_attribute_beyond_the_precision_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = |name: &str, large: &str| {
        let graph = |class: u8, x: &str| format!("2 {class}\n0 1 1 {x}\n0 1 0 0.25\n");
        let graphs: String = (0..8).map(|i| graph(i % 2, if i == 5 { large } else { "0.5" })).collect();
        let file = folder.path().join(name);
        std::fs::write(&file, format!("8\n{graphs}")).unwrap();
        file.display().to_string()
    };
    let (sound, large) = (data("sound.txt", "0.75"), data("large.txt", "1e39"));
    let train = |data: &str, out: &str| -> Ran {
        let words = "--split 50/25/25 --blocks 2 --epochs 1 --quiet --out".split_whitespace();
        command().args(["train", data]).args(words).arg(folder.path().join(out)).output().unwrap().into()
    };
    train(&sound, "run").ok();
    let run = folder.path().join("run").display().to_string();
    let wrong = "graph 5: attribute0 of node 0 is 1e39, which f32 cannot hold";
    ppgn(["predict", &run, &sound]).ok();
    ppgn(["predict", &run, &large]).fails(1, wrong);
    let out = folder.path().join("never.npz").display().to_string();
    ppgn(["embed", &run, &large, "--out", &out]).fails(1, wrong);
    train(&large, "refused").fails(1, wrong);
}

#[test]
fn point_3_a_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    let mut random = Stream::new(14, "flips", &[]);
    for name in [BEST, CHECKPOINT, "metrics.jsonl", "config.toml"] {
        let file = run.join(name);
        let whole = std::fs::read(&file).unwrap();
        for _ in 0..24 {
            let mut damaged = whole.clone();
            let bit = random.below(8 * whole.len());
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&file, &damaged).unwrap();
            resume(&run).fails(1, name);
            if name == BEST {
                predict(&run).fails(1, name);
            }
        }
        std::fs::write(&file, &whole).unwrap();
    }
    resume(&run).ok();
    // The summary of a finished run.
    let file = run.join("summary.json");
    let whole = std::fs::read(&file).unwrap();
    for _ in 0..24 {
        let mut damaged = whole.clone();
        let bit = random.below(8 * whole.len());
        damaged[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file, &damaged).unwrap();
        resume(&run).fails(1, "summary.json");
    }
}

#[test]
fn point_3_edited_settings_and_states_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    let config = run.join("config.toml");
    replace(&config, "seed = 0", "seed = 1");
    let told = "config.toml: its checksum does not match its content";
    resume(&run).fails(1, told);
    predict(&run).fails(1, told);
    // Nor does it pass without the checksum.
    let sealed = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, sealed.split_once("# sha256 = ").unwrap().0).unwrap();
    let told = "config.toml: it is not what";
    resume(&run).fails(1, told);
    predict(&run).fails(1, told);
    std::fs::write(&config, sealed).unwrap();
    let listed: Ran = command().arg("runs").arg(folder.path()).output().unwrap().into();
    assert!(listed.ok().out.contains("damaged"), "an edited seed is shown as damage");
    replace(&config, "seed = 1", "seed = 0");
    let checkpoint = run.join(CHECKPOINT);
    let whole = std::fs::read(&checkpoint).unwrap();
    edit(&checkpoint, |state| state["epoch"] = 0.into());
    resume(&run).fails(1, "checkpoint/model.safetensors: its checksum does not match its content");
    // Nor does it pass without the digest.
    edit(&checkpoint, |state| {
        state.as_object_mut().unwrap().retain(|name, _| !["sha256", "digests"].contains(&name.as_str()))
    });
    resume(&run).fails(1, "checkpoint/model.safetensors: its state is damaged: epoch 0");
    std::fs::write(&checkpoint, whole).unwrap();
    // The network of another run with other settings.
    let other = folder.path().join("other");
    tiny(&other, "--seed 7").ok();
    let best = std::fs::read(run.join(BEST)).unwrap();
    std::fs::copy(other.join(BEST), run.join(BEST)).unwrap();
    resume(&run).fails(1, "best/model.safetensors: it was trained with other settings");
    std::fs::write(run.join(BEST), best).unwrap();
    // A flipped bit in the number of epochs is not an extension, which is asked for.
    replace(&config, "epochs = 3", "epochs = 7");
    resume(&run).fails(1, "config.toml: its checksum does not match its content");
    replace(&config, "epochs = 7", "epochs = 3");
    let run_name = run.to_str().unwrap();
    ppgn(["train", "--quiet", "--resume", run_name, "--epochs", "5"]).ok();
    let five = folder.path().join("five");
    tiny(&five, "--epochs 5").ok();
    assert!(exact(&five) == exact(&run), "three epochs and two more are not five");
}

#[test]
fn point_3_runs_of_version_0_1_load_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    let rows = predict(&run).ok();
    assert!(!rows.err.contains("warning"), "{}", rows.err);
    of_version_0_1(&run);
    let old = predict(&run).ok();
    assert_eq!(old.out, rows.out);
    assert!(
        old.err.contains("best/model.safetensors has no checksum, as version 0.1 wrote it"),
        "{}",
        old.err
    );
    replace(&run.join("config.toml"), "epochs = 3", "epochs = 4");
    let resumed = resume(&run).ok();
    assert_eq!(resumed.err.matches("warning: ").count(), 2, "{}", resumed.err);
    let four = folder.path().join("four");
    tiny(&four, "--epochs 4").ok();
    for name in ["metrics.jsonl", CHECKPOINT, "summary.json"] {
        assert!(std::fs::read(run.join(name)).unwrap() == std::fs::read(four.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn point_3_other_readers_see_one_more_field() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    let field = |name: &str, field: &str| {
        let mut found = Value::Null;
        edit(&run.join(name), |value| found = value[field].clone());
        found
    };
    let digest = |value: &Value| value.as_str().is_some_and(|d| d.len() == 64);
    for name in [BEST, CHECKPOINT] {
        assert!(digest(&field(name, "sha256")), "{name}");
    }
    let note = field(BEST, "run");
    assert!(digest(&note["digests"]["settings"]) && digest(&note["digests"]["metrics"]), "{note}");
    assert!((1..=3).contains(&note["epoch"].as_u64().unwrap()));
    assert_eq!(field(CHECKPOINT, "digests")["settings"], note["digests"]["settings"]);
    let summary: Value = serde_json::from_slice(&std::fs::read(run.join("summary.json")).unwrap()).unwrap();
    assert!(digest(&summary["sha256"]) && summary["epochs"] == 3);
}

#[test]
fn point_4_resume_verifies_the_best_network_first() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    let best = run.join(BEST);
    let whole = std::fs::read(&best).unwrap();
    let metrics = std::fs::read(run.join("metrics.jsonl")).unwrap();
    std::fs::remove_file(&best).unwrap();
    resume(&run).fails(1, "best/model.safetensors: it is missing");
    predict(&run).fails(1, "best/model.safetensors: it is missing");
    for length in [0, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&best, &whole[..length]).unwrap();
        resume(&run).fails(1, "best/model.safetensors: not a sound safetensors file");
    }
    assert!(
        !run.join("summary.json").exists() && std::fs::read(run.join("metrics.jsonl")).unwrap() == metrics
    );
    std::fs::write(&best, &whole).unwrap();
    resume(&run).ok();
    // Of a finished run too.
    std::fs::remove_file(&best).unwrap();
    resume(&run).fails(1, "best/model.safetensors: it is missing");
}

#[test]
fn point_11_steps_that_cannot_be_are_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    of_version_0_1(&run);
    replace(&run.join("config.toml"), "epochs = 3", "epochs = 4");
    for steps in [u64::MAX, u64::MAX - 1, 1 << 63] {
        edit(&run.join(CHECKPOINT), |state| state["steps"] = steps.into());
        resume(&run).fails(1, "checkpoint/model.safetensors: its state is damaged");
    }
}

/// A pipe would be waited for without end.
#[cfg(unix)]
#[test]
fn point_11_a_pipe_in_place_of_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = stopped(folder.path());
    for name in ["config.toml", "metrics.jsonl", BEST, CHECKPOINT, "summary.json", "lock"] {
        let (file, kept) = (run.join(name), folder.path().join("kept"));
        let there = file.exists();
        if there {
            std::fs::rename(&file, &kept).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        resume(&run).fails(1, "not a regular file");
        let _: Ran = command().arg("runs").arg(folder.path()).output().unwrap().into();
        std::fs::remove_file(&file).unwrap();
        if there {
            std::fs::rename(&kept, &file).unwrap();
        }
    }
    // Nothing depends on the times.
    std::fs::remove_file(run.join("timing.jsonl")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(run.join("timing.jsonl")).status().unwrap().success());
    resume(&run).ok();
}
