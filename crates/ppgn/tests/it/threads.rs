//! The number of threads changes nothing: every sum has one order, from the kernels to the loss.

use crate::run::command;
use std::path::Path;

/// Every file of a folder that a result depends on, with its bytes, in order.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>, root: &Path) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        // How long things took is not a result. (cv.json has seconds beside figures of the metrics compared here.)
        if path.is_dir() {
            files(&path, found, root);
        } else if !["timing.jsonl", "lock", "report.html", "cv.json"]
            .iter()
            .any(|skipped| name.ends_with(skipped))
        {
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// What a command writes to a folder on so many threads.
fn on(threads: usize, args: &str) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let words = args.split_whitespace().chain(["--quiet", "--threads"]);
    let ran = command()
        .args(words)
        .arg(threads.to_string())
        .arg("--out")
        .arg(&out)
        // An engine for GPUs has this variable; the CPU's does not know it.
        .env("BURN_DEVICE", "none such")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{args}: {}", String::from_utf8_lossy(&ran.stderr));
    let mut found = Vec::new();
    files(&out, &mut found, &out);
    if out.join("best").exists() {
        let predicted = command()
            .arg("predict")
            .arg(&out)
            .args([args.split_whitespace().nth(1).unwrap(), "--scores"])
            .env("RAYON_NUM_THREADS", threads.to_string())
            .output()
            .unwrap();
        assert!(predicted.status.success(), "{}", String::from_utf8_lossy(&predicted.stderr));
        found.push(("predictions".into(), predicted.stdout));
    }
    assert!(
        found.len() > 3,
        "{args} wrote only {:?}",
        found.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
    found
}

#[test]
fn bits_do_not_depend_on_threads() {
    for args in [
        "train csl --limit 60 --blocks 24,24 --epochs 3",
        "train csl --limit 40 --blocks 17,40 --epochs 2 --space dense --suffix i --suffix-hidden 33,20",
        "train csl --limit 40 --blocks 9 --epochs 2 --space dense --model mp+lin --precision f64",
        "train csl --limit 20 --blocks 5 --epochs 2 --space dense --model sums --pooling sum",
        "cv csl --limit 60 --blocks 16,16 --epochs 2 --folds 1-2",
    ] {
        let [one, two, three] = [1, 2, 3].map(|threads| on(threads, args));
        for (name, _) in &one {
            let of = |all: &[(String, Vec<u8>)]| all.iter().find(|(n, _)| n == name).map(|(_, b)| b.clone());
            assert!(of(&two) == of(&one) && of(&three) == of(&one), "{args}: {name} depends on threads");
        }
        assert!((two.len(), three.len()) == (one.len(), one.len()));
    }
}
