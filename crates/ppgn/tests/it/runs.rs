//! `ppgn runs`: the list, and its subcommands.

use crate::run::{Ran, command, ppgn};
use std::path::{Path, PathBuf};

/// A folder with a run per seed and a cross-validation of eleven folds, as `runs`.
struct Here {
    folder: tempfile::TempDir,
}

impl Here {
    fn new() -> Self {
        let here = Here { folder: tempfile::tempdir().unwrap() };
        let train = |more: &str| {
            here.ppgn(&format!(
                "train csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 4 --split 50/25/25 --quiet {more}"
            ))
            .ok()
        };
        train("--epochs 3 --seed 1 --out runs/a");
        train("--epochs 2 --seed 2 --rate 0.01 --out runs/b");
        train("--epochs 2 --seed 10 --out runs/c");
        here.ppgn("cv csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 8 --epochs 2 --quiet --out runs/cv")
            .ok();
        here
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ppgn(&self, words: &str) -> Ran {
        let mut command = command();
        command.current_dir(self.folder.path());
        command.args(words.split_whitespace()).output().unwrap().into()
    }
}

fn names(list: &serde_json::Value) -> Vec<String> {
    list["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_string()).collect()
}

#[test]
fn lists_are_sorted_filtered_and_folded() {
    let here = Here::new();
    // Folds as one line, the others as they are; the figures are those of cv.json.
    let text = here.ppgn("runs").ok().out;
    assert!(text.contains("runs/cv ") && !text.contains("fold-2") && text.contains("10 folds"), "{text}");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(here.path("runs/cv/cv.json")).unwrap()).unwrap();
    let (mean, std) = (report["accuracy_mean"].as_f64().unwrap(), report["accuracy_std"].as_f64().unwrap());
    assert!(text.contains(&format!("test {:.1} ± {:.1} %", mean * 100.0, std * 100.0)), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // Scripts see every run, in natural order.
    let list = here.ppgn("runs --json").ok().json();
    let all = names(&list);
    assert_eq!((all.len(), &all[..3]), (13, &["runs/a", "runs/b", "runs/c"].map(String::from)[..]));
    assert_eq!(
        (all[3].as_str(), all[4].as_str(), all[12].as_str()),
        ("runs/cv/fold-1", "runs/cv/fold-2", "runs/cv/fold-10")
    );
    assert_eq!(list["cross_validations"][0]["accuracy"], report["accuracy_mean"]);
    assert!(here.ppgn("runs --all").ok().out.contains("runs/cv/fold-10"));
    // Conditions and order.
    let found = |words: &str| names(&here.ppgn(&format!("runs {words} --json")).ok().json());
    assert_eq!(found("--filter rate=0.01"), ["runs/b"]);
    assert_eq!(found("--filter training.rate>0.005"), ["runs/b"]);
    assert_eq!(
        found("--filter run~runs/ --filter division=50/25/25 --sort -seed"),
        ["runs/c", "runs/b", "runs/a"]
    );
    assert_eq!(found("--filter epochs>=3 --filter state!=damaged"), ["runs/a"]);
    let by_result = here.ppgn("runs --sort result --json").ok().json();
    let accuracies: Vec<f64> =
        by_result["runs"].as_array().unwrap().iter().map(|run| run["accuracy"].as_f64().unwrap()).collect();
    assert!(accuracies.is_sorted_by(|a, b| a >= b), "{accuracies:?}");
    assert!(here.ppgn("runs --filter seed=77").ok().out.contains("no run meets the conditions"));
    here.ppgn("runs --filter colour=red").fails(2, "no run has `colour`: there are accuracy, ");
    here.ppgn("runs --sort colour").fails(2, "no run has `colour`");
    here.ppgn("runs --filter seed").fails(2, "is not a condition");
    // A table for spreadsheets.
    let csv = here.ppgn("runs --csv --filter seed<5").ok().out;
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[0].starts_with("run,state,dataset,") || rows[0].contains("run"), "{csv}");
    assert!(rows.len() > 3 && rows.iter().any(|row| row.contains("runs/b") && row.contains("0.01")), "{csv}");
    assert!(rows.iter().all(|row| commas(row) == commas(rows[0])), "{csv}");
}

#[test]
fn seeds_are_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here { folder };
    let words = "train csl:n=13,skips=2+3,copies=6 --blocks 4 --split 50/25/25 --epochs 2 --quiet";
    here.ppgn(&format!("{words} --seeds 0-2 --out runs/some")).ok();
    here.ppgn(&format!("{words} --seed 7 --out runs/seed-7")).ok();
    let text = here.ppgn("runs").ok().out;
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(here.path("runs/some/seeds.json")).unwrap()).unwrap();
    let accuracy = &report["sets"]["test"]["metrics"]["accuracy"];
    let (mean, std) = (accuracy["mean"].as_f64().unwrap(), accuracy["std"].as_f64().unwrap());
    assert!(text.contains(&format!("test {:.1} ± {:.1} %", mean * 100.0, std * 100.0)), "{text}");
    assert!(text.contains("runs/some ") && text.contains("0,1,2") && text.contains("3 seeds"), "{text}");
    assert!(text.contains("runs/seed-7 "), "a folder that only is called so is a run\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let list = here.ppgn("runs --json").ok().json();
    assert_eq!(names(&list), ["runs/seed-7", "runs/some/seed-0", "runs/some/seed-1", "runs/some/seed-2"]);
    assert_eq!(list["several_seeds"][0]["accuracy"], accuracy["mean"]);
    assert_eq!(
        (&list["several_seeds"][0]["seeds"], &list["cross_validations"]),
        (&3.into(), &serde_json::json!([]))
    );
    assert!(here.ppgn("runs --all").ok().out.contains("runs/some/seed-2"));
    let text = here.ppgn("runs show some").ok().out;
    assert!(text.contains("3 seeds") && text.contains("±") && text.contains("seed-2"), "{text}");
    assert_eq!(here.ppgn("runs show some --json").ok().json()["runs"].as_array().map(Vec::len), Some(3));
    here.ppgn("runs show runs").fails(2, "is not a run folder");
    // One that is begun again is not what the report is of.
    std::fs::remove_file(here.path("runs/some/seed-1/summary.json")).unwrap();
    assert!(here.ppgn("runs").ok().out.contains("2 seeds finished"));
    assert!(here.ppgn("runs compare runs/some runs/seed-7").ok().out.contains("some"));
}

#[test]
fn classes_are_shown_by_name() {
    let here = Here { folder: tempfile::tempdir().unwrap() };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/drawn.sdf");
    let words =
        format!("train {} --class rings --blocks 4 --epochs 1 --quiet --out runs/rings", data.display());
    here.ppgn(&words).ok();
    let text = here.ppgn("runs show rings").ok().out;
    let at = text.find("confusion matrix of the test set").unwrap_or_else(|| panic!("{text}"));
    let table: Vec<Vec<&str>> = text[at..]
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(table[0][0], "class");
    assert!(table[0].contains(&"one") && table.iter().any(|row| row[0] == "one"), "{text}");
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(here.path("runs/rings/summary.json")).unwrap()).unwrap();
    let counts: u64 =
        table[1..].iter().flat_map(|row| &row[1..]).map(|cell| cell.parse::<u64>().unwrap()).sum();
    assert_eq!(Some(counts), summary["sets"]["test"]["graphs"].as_u64());
    let page = std::fs::read_to_string(here.path("runs/rings/report.html")).unwrap();
    assert!(page.contains("<tr><th>one<td"), "no name in the page's confusion matrix");
}

/// Separators of a line of CSV.
fn commas(line: &str) -> usize {
    let mut quoted = false;
    line.chars()
        .filter(|c| {
            quoted ^= *c == '"';
            *c == ',' && !quoted
        })
        .count()
}

#[test]
fn wide_lists_fit_100_columns() {
    let folder = tempfile::tempdir().unwrap();
    let long =
        folder.path().join("a-folder-with-a-name-that-is-long-enough-to-fill-half-of-a-line/and-another-one");
    for name in ["first-run-with-a-long-name-of-its-own-as-scripts-give-them-to-runs", "second"] {
        let out = long.join(name);
        let words = "train csl --blocks 4,4,4,4 --epochs 1 --limit 20 --quiet --seed 12345678901 --out";
        ppgn(words.split_whitespace().chain([out.to_str().unwrap()])).ok();
    }
    let text = ppgn(["runs", folder.path().to_str().unwrap()]).ok().out;
    let table: Vec<&str> = text.lines().filter(|line| !line.starts_with("in ")).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("result") && text.contains("test "), "{text}");
}

#[test]
fn a_run_is_shown() {
    let here = Here::new();
    // By its path, or by its name in `runs`.
    let text = here.ppgn("runs show a").ok().out;
    for word in ["runs/a", "finished", "3 of 3", "training.rate", "validation", "accuracy", "report.html"] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    let object = here.ppgn("runs show runs/a --json").ok().json();
    assert_eq!((&object["seed"], &object["settings"]["training"]["epochs"]), (&1.into(), &3.into()));
    assert!(
        object["best"]["test"]["accuracy"].is_number()
            && object["files"]["metrics.jsonl"].as_u64() > Some(10)
    );
    here.ppgn("runs show nowhere").fails(2, "nowhere");
}

#[test]
fn runs_are_compared() {
    let here = Here::new();
    let text = here.ppgn("runs compare runs/a runs/b runs/cv").ok().out;
    for word in
        ["A  runs/a", "C  runs/cv", "training.seed", "training.rate", "0.01", "test accuracy", "best epoch"]
    {
        assert!(text.contains(word), "no {word} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains("network.depth"), "what is the same is not listed: {text}");
    // One page with a curve per run.
    let page = std::fs::read_to_string(here.path("compare.html")).unwrap();
    assert!(page.contains(">A a</text>") && page.contains(">C cv</text>") && page.contains("training.rate"));
    assert!(page.contains("Accuracy, validation") && page.contains("Loss, training"), "{page}");
    // Its own page is replaced, another file is not.
    here.ppgn("runs compare a b").ok();
    assert!(!std::fs::read_to_string(here.path("compare.html")).unwrap().contains("C cv"));
    std::fs::write(here.path("mine.html"), "mine").unwrap();
    here.ppgn("runs compare a b --out mine.html").fails(2, "mine.html already exists; --force overwrites it");
    here.ppgn("runs compare a b --out mine.html --force").ok();
    let object = here.ppgn("runs compare a b --json").ok().json();
    assert_eq!(object["differences"]["training.seed"], serde_json::json!([1, 2]));
    let csv = here.ppgn("runs compare a b --csv").ok().out;
    assert!(csv.lines().count() == 3 && csv.starts_with("run,"), "{csv}");
    here.ppgn("runs compare a").fails(2, "2 values required");
    here.ppgn("runs compare a nowhere").fails(2, "nowhere");
}

fn checkpoint(run: &Path) -> PathBuf {
    run.join("checkpoint/model.safetensors")
}

#[test]
fn finished_runs_are_pruned_and_work_as_before() {
    let here = Here::new();
    let run = here.path("runs/a");
    let size = std::fs::metadata(checkpoint(&run)).unwrap().len();
    let before = here.ppgn("runs --json").ok().json();
    let predictions = here.ppgn("predict runs/a csl:n=13,skips=2+3,copies=6 -q").ok().out;
    // Without --yes nothing happens.
    let said = here.ppgn("runs prune").ok().out;
    assert!(
        said.contains("13 finished runs") && said.contains("--yes") && checkpoint(&run).exists(),
        "{said}"
    );
    let object = here.ppgn("runs prune --json").ok().json();
    assert!(object["bytes"].as_u64() > Some(12 * size) && object["pruned"] == false, "{object}");
    assert!(here.ppgn("runs prune --yes").ok().out.contains("freed "));
    assert!(!checkpoint(&run).exists() && run.join("checkpoint/state.json").exists());
    assert!(here.ppgn("runs prune --yes").ok().out.contains("no finished run"));
    // Everything that reads runs says what it said before.
    assert_eq!(here.ppgn("runs --json").ok().json(), before);
    assert_eq!(here.ppgn("predict runs/a csl:n=13,skips=2+3,copies=6 -q").ok().out, predictions);
    here.ppgn("runs compare a b").ok();
    assert!(here.ppgn("train --resume runs/a").ok().err.contains("already finished"));
    here.ppgn("cv csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 8 --epochs 2 --quiet --out runs/cv").ok();
    // More epochs need the checkpoint, and say so; nothing is lost by asking.
    here.ppgn("train --resume runs/a --epochs 9").fails(1, "it was pruned when the run was finished");
    let summary = std::fs::read(run.join("summary.json")).unwrap();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    here.ppgn("train --resume runs/a").fails(1, "it was pruned when the run was finished");
    std::fs::write(run.join("summary.json"), summary).unwrap();
    // Damage is still noticed.
    let metrics = run.join("metrics.jsonl");
    let sound = std::fs::read_to_string(&metrics).unwrap();
    std::fs::write(&metrics, sound.replacen("\"epoch\":1", "\"epoch\":1 ", 1)).unwrap();
    here.ppgn("train --resume runs/a").fails(1, "metrics.jsonl");
    std::fs::write(&metrics, sound).unwrap();
    let state = run.join("checkpoint/state.json");
    let text = std::fs::read_to_string(&state).unwrap();
    std::fs::write(&state, text.replacen("\"epoch\": 3", "\"epoch\": 2", 1)).unwrap();
    here.ppgn("train --resume runs/a").fails(1, "state.json");
}

#[test]
fn unfinished_runs_keep_their_checkpoint() {
    let here = Here::new();
    std::fs::remove_file(here.path("runs/a/summary.json")).unwrap();
    assert!(here.ppgn("runs prune runs/a").ok().out.contains("no finished run"));
    here.ppgn("runs prune runs/a --yes").ok();
    assert!(checkpoint(&here.path("runs/a")).exists());
    // A damaged run is named, and the others are pruned.
    let best = here.path("runs/b/best/model.safetensors");
    let bytes = std::fs::read(&best).unwrap();
    std::fs::write(&best, &bytes[..bytes.len() - 1]).unwrap();
    here.ppgn("runs prune --yes").fails(1, "warning: runs/b is left alone");
    assert!(checkpoint(&here.path("runs/b")).exists() && !checkpoint(&here.path("runs/c")).exists());
}
