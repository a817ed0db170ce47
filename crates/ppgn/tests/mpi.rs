//! Several ranks under `mpirun`, with the real binary: the curves of one process, the figures of one process, and nothing lost
//! when a rank is killed. Built with the feature `mpi` only; `.ci/mpi` installs what it takes.

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// `mpirun -n RANKS ppgn WORDS`; one rank is a plain process.
fn command(ranks: usize, words: &str) -> Command {
    let binary = env!("CARGO_BIN_EXE_ppgn");
    let mut command = match ranks {
        1 => Command::new(binary),
        _ => {
            let mut command = Command::new("mpirun");
            // As root, and on fewer cores than ranks, which CI has.
            command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]);
            command.args([&ranks.to_string(), binary]);
            command
        }
    };
    command.args(words.split_whitespace());
    // Nothing of the user's; a cache would be the same for all ranks.
    command.env("PPGN_CACHE", "").env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command
}

fn run(ranks: usize, words: &str) -> Output {
    command(ranks, words).output().expect("mpirun is installed")
}

/// The last line of a command that succeeds, as JSON.
fn json(ranks: usize, words: &str) -> Value {
    let output = run(ranks, &format!("{words} --json"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{words}: {out}{err}");
    serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap()
}

fn losses(run: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    let line = |line: &str| {
        let epoch: Value = serde_json::from_str(line).unwrap();
        ["train", "test"].map(|part| epoch[part]["loss"].as_f64().unwrap())
    };
    text.lines().flat_map(line).collect()
}

/// Training on data that is there, or on what is generated.
fn data() -> &'static str {
    match Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tu/MUTAG.zip").exists() {
        true => "../../../shared/data/tu/MUTAG.zip",
        false => {
            println!("SKIPPED: MUTAG is not there; csl instead");
            "csl"
        }
    }
}

#[test]
fn two_ranks_follow_the_curve_of_one() {
    let folder = tempfile::tempdir().unwrap();
    for (precision, bound) in [("f64", 1e-9), ("f32", 1e-3)] {
        let train = |ranks: usize| {
            let out = folder.path().join(format!("{precision}-{ranks}"));
            let words = format!(
                "train {} --fold 1 --epochs 20 --batch 32 --blocks 16,16 --precision {precision} --threads 1 --out {}",
                data(),
                out.display()
            );
            assert!(json(ranks, &words)["finished"].as_bool().unwrap_or(true));
            losses(&out)
        };
        let (one, two, three) = (train(1), train(2), train(3));
        assert_eq!((one.len(), two.len(), three.len()), (40, 40, 40));
        for several in [two, three] {
            let off =
                one.iter().zip(several).map(|(a, b)| (a - b).abs() / a.abs().max(1e-3)).fold(0.0, f64::max);
            assert!(off < bound, "{precision}: {off}");
        }
    }
}

#[test]
fn protocols_and_tests_give_what_one_process_gives() {
    let folder = tempfile::tempdir().unwrap();
    let cv = |ranks: usize| {
        let out = folder.path().join(format!("cv-{ranks}"));
        let words = format!("cv csl --folds 1-4 --epochs 3 --blocks 8,8 --threads 1 --out {}", out.display());
        let mut report = json(ranks, &words);
        ["seconds", "seconds_training", "out"].map(|field| report.as_object_mut().unwrap().remove(field));
        report
    };
    assert_eq!(cv(1), cv(3));
    for words in ["wl digest gnp:n=7,count=40", "express cfi:base=k4 --protocol exact", "data info csl"] {
        let of = |ranks: usize| {
            let mut report = json(ranks, words);
            report.as_object_mut().unwrap().remove("seconds");
            report
        };
        assert_eq!(of(1), of(3), "{words}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("train no-such-data --out {}", folder.path().join("run").display());
    let (one, three) = (run(1, &words), run(3, &words));
    assert_eq!(three.status.code(), one.status.code());
    let text = String::from_utf8_lossy(&three.stderr).to_string();
    assert_eq!(text.matches("error:").count(), 1, "{text}");
}

/// A command in the background, until something is there.
fn until(ranks: usize, words: &str, is_there: impl Fn() -> bool) -> Child {
    let mut child = command(ranks, words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(120), "it did not begin");
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Kills one of the ranks of a job, the last one started.
fn kill_a_rank(job: &Child) {
    let listed = Command::new("pgrep").args(["-P", &job.id().to_string()]).output().unwrap();
    let ranks = String::from_utf8_lossy(&listed.stdout).to_string();
    let last = ranks.lines().last().expect("mpirun has children");
    assert!(Command::new("kill").args(["-9", last]).status().unwrap().success());
}

#[test]
fn a_killed_rank_ends_the_job_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let settings = "--fold 1 --epochs 400 --blocks 16,16 --precision f64 --threads 1";
    let run_folder = at("run");
    let words = format!("train csl {settings} --out {}", run_folder.display());
    let child = until(2, &words, || losses(&run_folder).len() > 4);
    kill_a_rank(&child);
    let ended = child.wait_with_output().unwrap();
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr).to_string();
    assert!(said.contains("signal 9"), "{said}");
    let before = losses(&run_folder);
    assert!(before.len() > 4);
    let resume = format!("train --resume {} --threads 1 -q", run_folder.display());
    assert!(run(1, &resume).status.success());
    let after = losses(&run_folder);
    assert_eq!(after.len(), 800);
    let kept = before.len() / 2 * 2 - 2;
    assert_eq!(after[..kept], before[..kept], "finished epochs are kept");

    let cv = at("cv");
    let words = format!("cv csl {} --folds 1-6 --out {}", settings.replace("--fold 1 ", ""), cv.display());
    let child = until(2, &words, || cv.join("fold-1/summary.json").exists());
    kill_a_rank(&child);
    assert!(!child.wait_with_output().unwrap().status.success());
    let finished = std::fs::metadata(cv.join("fold-1/summary.json")).unwrap().modified().unwrap();
    assert_eq!(json(1, &words)["folds"].as_array().unwrap().len(), 6);
    let now = std::fs::metadata(cv.join("fold-1/summary.json")).unwrap().modified().unwrap();
    assert_eq!(now, finished, "a finished fold is not repeated");
}
