//! Too little memory, hostile arguments, and signals (points 10, 11 and 15 of the hostile trials).
#![cfg(unix)]

use crate::run::{Ran, command, line, ppgn};
use crate::train::tiny;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Twenty graphs of 200,000 nodes with one edge each, in two classes.
fn vast(folder: &Path) -> String {
    let file = folder.join("vast.jsonl");
    let graph = |class: usize| format!("{{\"n\":200000,\"edges\":[[0,1]],\"label\":{class}}}\n");
    let graphs: String = (0..20).map(|g| graph(g % 2)).collect();
    std::fs::write(&file, format!("{{\"ppgn\":1}}\n{graphs}")).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn point_10_training_beyond_the_memory_is_refused_before_a_run_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = vast(folder.path());
    let out = folder.path().join("run");
    let refused = |words: &[&str], text: &str| {
        let ran = ppgn(words.iter().copied().chain(["--out", out.to_str().unwrap()]));
        let ran = ran.fails(1, text);
        assert!(ran.err.contains("of memory, but only") && ran.err.contains("--max-memory"), "{}", ran.err);
        assert!(!out.exists(), "a run was made");
    };
    refused(&["train", &data, "--split", "50/25/25"], "one graph of up to");
    refused(&["cv", &data, "--folds", "1"], "one graph of up to");
    refused(&["search", &data], "one graph of up to");
    refused(&["train", "csl:n=41,skips=2+3,copies=3", "--order", "5", "--space", "dense"], "nodes would fit");
    // A limit of one's own says what fits: a smaller batch.
    let small =
        ["train", "csl", "--space", "dense", "--max-memory", "60MiB", "--batch", "100", "--epochs", "1"];
    refused(&small, "batches of");
    line("bench step --nodes 1000 --batch 1 --max-memory 1GiB").fails(1, "of memory, but only 1.0 GiB");
    line("bench cost block-2 --nodes 4000 --max-memory 100MiB").fails(1, "of memory, but only 100.0 MiB");
    line("bench epoch csl --space dense --max-memory 2MiB").fails(1, "of memory, but only 2.0 MiB");
    let many = "cv csl --space dense --max-memory 80MiB --jobs 1000 --epochs 1 --limit 100 --out";
    ppgn(many.split(' ').chain([out.to_str().unwrap()])).fails(1, "side by side would fit");
    assert!(!out.exists());
}

#[test]
fn point_10_prediction_beyond_the_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "--epochs 1").ok();
    let data = vast(folder.path());
    let npz = folder.path().join("e.npz");
    let run = run.to_str().unwrap();
    ppgn(["predict", run, &data]).fails(1, "one graph of up to");
    ppgn(["embed", run, &data, "--out", npz.to_str().unwrap()]).fails(1, "one graph of up to");
    assert!(!npz.exists());
    ppgn(["predict", run, "csl", "--max-memory", "1MiB"]).fails(1, "--max-memory raises the limit");
    ppgn(["compile", "csl", "--max-memory", "1MiB"]).fails(1, "--max-memory raises the limit");
}

#[test]
fn point_11_paths_that_are_not_unicode() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join(OsStr::from_bytes(b"ru\xffns"));
    std::fs::create_dir(&runs).unwrap();
    let run = runs.join(OsStr::from_bytes(b"a\xfe"));
    let tiny =
        "train csl:n=11,skips=2+3,copies=4 --blocks 4 --epochs 1 --json --out".split(' ').map(OsStr::new);
    let trained = ppgn(tiny.chain([run.as_os_str()])).ok().json();
    assert_eq!(trained["finished"], true);
    assert!(trained["run"].as_str().unwrap().ends_with("/ru\u{fffd}ns/a\u{fffd}"), "{trained}");
    let listed = ppgn([OsStr::new("runs"), runs.as_os_str(), OsStr::new("--json")]).ok().json();
    assert_eq!(listed["runs"][0]["state"], "finished");
    let data = OsStr::new("csl:n=11,skips=2+3,copies=4");
    for (name, file) in [("predict", &b"p\xff.csv"[..]), ("embed", b"e\xff.npz")] {
        let out = folder.path().join(OsStr::from_bytes(file));
        let words = [OsStr::new(name), run.as_os_str(), data, OsStr::new("--json"), OsStr::new("--out")];
        let object = ppgn(words.into_iter().chain([out.as_os_str()])).ok().json();
        assert!(object["out"].as_str().unwrap().contains('\u{fffd}') && out.exists(), "{object}");
    }
}

#[test]
fn point_11_numbers_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let most = u64::MAX.to_string();
    ppgn(["train", "csl", "--epochs", &most, "--out", out.to_str().unwrap()])
        .fails(2, "the number of epochs must be at most");
    assert!(!out.exists());
    ppgn(["bench", "step", "--nodes", "3", "--features", "2", "--steps", &most]).fails(2, "too many");
    ppgn(["bench", "cost", "block-2", "--nodes", "3", "--repeats", &most]).fails(2, "too many");
}

#[test]
fn point_11_a_fifo_in_the_place_of_a_file_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "--epochs 2").ok();
    let path = run.to_str().unwrap();
    let files = [
        "config.toml",
        "summary.json",
        "metrics.jsonl",
        "timing.jsonl",
        "best/model.safetensors",
        "checkpoint/model.safetensors",
        "lock",
    ];
    for file in files {
        let (file, aside) = (run.join(file), folder.path().join("aside"));
        std::fs::rename(&file, &aside).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        for words in [&["train", "--resume", path][..], &["predict", path, "csl"], &["runs", path]] {
            let mut child =
                command().args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            ends_within(&mut child, Duration::from_secs(20), &format!("{words:?} with {}", file.display()));
            let ran: Ran = child.wait_with_output().unwrap().into();
            // What each command reads, it refuses (integrity.rs has the messages); none waits for a writer.
            assert!(matches!(ran.code, Some(0 | 1)) && !ran.err.contains("panicked"), "{}", ran.err);
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(&aside, &file).unwrap();
    }
    ppgn(["predict", path, "csl:n=11,skips=2+3,copies=4"]).ok();
}

fn ends_within(child: &mut Child, limit: Duration, what: &str) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            panic!("{what} has not ended after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a command, signals it after a while, and gives its exit code and how long it took to end.
fn signalled(words: &str, after: Duration, signal: &str) -> (Option<i32>, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command()
        .args(words.split_whitespace())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "`{words}` was over before the signal");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    let start = Instant::now();
    ends_within(&mut child, Duration::from_secs(30), words);
    (child.wait().unwrap().code(), start.elapsed())
}

/// Whether these tests, and so what they start, ignore SIGHUP: the first signal, so the lowest bit.
fn hup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn point_15_every_long_command_stops_within_a_second() {
    // The limit is a second; a machine that runs other tests at the same time gets a little more.
    let limit = Duration::from_millis(2500);
    for (words, signal, code) in [
        (
            "train csl:n=401,skips=2+3,copies=4 --space dense --split 50/25/25 --blocks 100,100 --batch 1",
            "-TERM",
            143,
        ),
        (
            "train csl:n=401,skips=2+3,copies=4 --space dense --split 50/25/25 --blocks 100,100 --batch 1",
            "-HUP",
            129,
        ),
        ("compile gnp:n=30,p=0.5,count=200 --test 3-wl", "-TERM", 143),
        ("bench step --nodes 300 --batch 4 --steps 1000", "-INT", 130),
        ("bench cost block-3 --nodes 100 --features 8 --repeats 10000", "-TERM", 143),
        ("wl refine gnp:n=150,p=0.5 --test 3-fwl", "-HUP", 129),
        ("wl kernel gnp:n=300,p=0.5,count=3000 k.npz", "-TERM", 143),
        ("data info gnp:n=3000,p=0.5,count=100", "-TERM", 143),
    ] {
        if signal == "-HUP" && hup_is_ignored() {
            // What `nohup` started outlives its terminal, and so does what it starts.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: `{words}` ended by SIGHUP, which is ignored here (nohup)"
            );
            continue;
        }
        let (found, took) = signalled(words, Duration::from_millis(400), signal);
        assert_eq!(found, Some(code), "`{words}` after {took:?}");
        assert!(took < limit, "`{words}` ran on for {took:?}");
    }
}
