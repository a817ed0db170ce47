//! Several ranks under `mpirun`, with the real binary: the curves of one process, the figures of one process, and nothing lost
//! when a rank is killed. Built with the feature `mpi` only; `.ci/mpi` installs what it takes.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
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

/// The losses of every epoch: on the training set, and on the others that there are.
fn losses(run: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    let line = |line: &str| {
        let epoch: Value = serde_json::from_str(line).unwrap();
        ["train", "validation", "test"].iter().filter_map(|part| epoch[part]["loss"].as_f64()).collect()
    };
    text.lines().map(line).collect()
}

/// MUTAG of the data folder, or what is generated instead.
fn data() -> String {
    let folder = std::env::var_os("PPGN_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let file = folder.join("tu/MUTAG.zip");
    if file.exists() {
        return file.display().to_string();
    }
    let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing; csl instead", file.display());
    "csl".into()
}

/// The numbers of a safetensors file, without its header: that has a digest of the metrics, whose sums over the ranks round.
fn tensors(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).unwrap();
    let header = u64::from_le_bytes(*file.first_chunk().unwrap());
    file[8 + header as usize..].to_vec()
}

/// With the default network two ranks have the weights of one, to the bit. Three sum in another order, so in f32 they are compared
/// on a smooth network: a maximum or a ReLU that rounding decides otherwise changes the gradient by a jump, which in f64 does
/// not happen within 20 epochs.
#[test]
fn several_ranks_follow_the_curve_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let smooth = "--activation gelu --pooling mean";
    for (name, precision, network, bound) in
        [("f64", "f64", "", 1e-9), ("f32", "f32", "", 1e-3), ("smooth", "f32", smooth, 1e-3)]
    {
        let train = |ranks: usize| {
            let out = folder.path().join(format!("{name}-{ranks}"));
            let words = format!(
                "train {} --fold 1 --epochs 20 {network} --precision {precision} --threads 1 --out {}",
                data(),
                out.display()
            );
            assert!(json(ranks, &words)["finished"].as_bool().unwrap_or(true));
            (losses(&out), tensors(&out.join("checkpoint/model.safetensors")))
        };
        let off = |several: &[Vec<f64>], one: &[Vec<f64>]| {
            assert_eq!((one.len(), several.len()), (20, 20));
            let pairs = one.iter().flatten().zip(several.iter().flatten());
            pairs.map(|(a, b)| (a - b).abs() / a.abs().max(1e-3)).fold(0.0, f64::max)
        };
        let ((one, weights), (two, of_two)) = (train(1), train(2));
        assert!(of_two == weights, "{name}: two ranks have other weights than one");
        assert!(off(&two, &one) < bound, "{name}: {}", off(&two, &one));
        if name != "f32" {
            let (three, _) = train(3);
            assert!(off(&three, &one) < bound, "{name}: {}", off(&three, &one));
        }
    }
}

#[test]
fn protocols_and_tests_give_what_one_process_gives() {
    let folder = tempfile::tempdir().unwrap();
    let cv = |ranks: usize| {
        let out = folder.path().join(format!("cv-{ranks}"));
        let words = format!("cv csl --folds 1-4 --epochs 3 --blocks 8,8 --threads 1 --out {}", out.display());
        without_times(json(ranks, &words))
    };
    assert_eq!(cv(1), cv(3));
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, "rate = [0.001, 0.0001]\nblocks = [[4], [8]]\n").unwrap();
    let search = |ranks: usize| {
        let out = folder.path().join(format!("search-{ranks}"));
        let words =
            format!("search csl --grid {} --epochs 2 --threads 1 --out {}", grid.display(), out.display());
        without_times(json(ranks, &words))
    };
    assert_eq!(search(1), search(3));
    let lists = ["wl digest gnp:n=7,count=40 --test 2-fwl", "wl pairs gnp:n=5,count=60", "data info csl"];
    let labs = ["express csl --protocol exact", "express csl --protocol random --blocks 8,8"];
    for words in lists.into_iter().chain(labs) {
        let of = |ranks: usize| without_times(json(ranks, words));
        assert_eq!(of(1), of(3), "{words}");
    }
    let gram = |ranks: usize| {
        let out = folder.path().join(format!("{ranks}.npy"));
        json(ranks, &format!("wl kernel gnp:n=6,count=150 {} --gram", out.display()));
        std::fs::read(out).unwrap()
    };
    assert_eq!(gram(1), gram(3));
}

/// A report without its times and places.
fn without_times(mut report: Value) -> Value {
    match &mut report {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !name.starts_with("seconds") && !["out", "path", "run"].contains(&name.as_str())
            });
            fields.values_mut().for_each(|value| *value = without_times(value.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = without_times(value.take())),
        _ => {}
    }
    report
}

#[test]
fn what_is_wrong_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("train no-such-data --out {}", folder.path().join("run").display());
    let (one, three) = (run(1, &words), run(3, &words));
    assert_eq!(three.status.code(), one.status.code());
    let text = String::from_utf8_lossy(&three.stderr).to_string();
    assert_eq!(text.matches("error:").count(), 1, "{text}");
    let [one, three] = [1, 3].map(|ranks| run(ranks, "train csl --no-such-option"));
    assert_eq!(three.status.code(), Some(2));
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).matches("no-such-option").count();
    assert_eq!(said(&three), said(&one));
}

#[test]
#[cfg(not(feature = "gpu"))]
fn a_build_without_gpu_support_says_how_to_get_one() {
    let output = run(2, "train csl --device gpu");
    let text = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.matches("--features wgpu").count(), 1, "{text}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let words = format!("train csl:n=11,skips=2+3,copies=9 --device auto --epochs 1 --out {}", out.display());
    let output = run(2, &words);
    let text = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(output.status.success() && text.contains("computing on the CPU"), "{text}");
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
    let settings = "--epochs 150 --blocks 16,16 --precision f64 --threads 1";
    let run_folder = at("run");
    let words = format!("train csl {settings} --out {}", run_folder.display());
    let child = until(2, &words, || losses(&run_folder).len() > 2);
    kill_a_rank(&child);
    let ended = child.wait_with_output().unwrap();
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr).to_string();
    assert!(said.contains("signal 9"), "{said}");
    let before = losses(&run_folder);
    assert!(before.len() > 2 && before.len() < 150);
    let resume = format!("train --resume {} --threads 1 -q", run_folder.display());
    assert!(run(1, &resume).status.success());
    let after = losses(&run_folder);
    assert_eq!(after.len(), 150);
    // The last line may be of an epoch whose checkpoint was not there yet.
    let kept = before.len() - 1;
    assert_eq!(after[..kept], before[..kept], "finished epochs are kept");

    let cv = at("cv");
    let words = format!("cv csl {} --folds 1-6 --out {}", settings, cv.display());
    let child = until(2, &words, || cv.join("fold-1/summary.json").exists());
    kill_a_rank(&child);
    assert!(!child.wait_with_output().unwrap().status.success());
    let finished = std::fs::metadata(cv.join("fold-1/summary.json")).unwrap().modified().unwrap();
    assert_eq!(json(1, &words)["folds"].as_array().unwrap().len(), 6);
    let now = std::fs::metadata(cv.join("fold-1/summary.json")).unwrap().modified().unwrap();
    assert_eq!(now, finished, "a finished fold is not repeated");
}
