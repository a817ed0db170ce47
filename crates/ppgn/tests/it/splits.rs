//! Splits by file and column, sets of predictions, several seeds, and cross-validation beyond the tables' protocol.

use crate::run::{command, line, ppgn};
use crate::train::tiny;
use serde_json::Value;
use std::path::Path;

const DATA: &str = "csl:n=11,skips=2+3,copies=8";

/// A tiny training of 16 graphs in two classes, on the space that predictions take: relabelled copies of a graph tie on the
/// quotient and differ by rounding on the dense space, which a ranking shows.
fn train(out: &Path, more: &str) -> crate::run::Ran {
    let line = format!("train {DATA} --blocks 4,4 --batch 4 --epochs 2 --space dense {more} --quiet --json");
    command().args(line.split_whitespace()).arg("--out").arg(out).output().unwrap().into()
}

fn table(file: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn column<'a>(rows: &'a [Vec<String>], name: &str) -> Vec<&'a str> {
    let place =
        rows[0].iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name} in {:?}", rows[0]));
    rows[1..].iter().map(|row| row[place].as_str()).collect()
}

#[test]
fn a_split_file_goes_in_and_comes_out_and_its_test_set_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("parts.csv");
    let part = |g: usize| ["train", "valid", "train", "test"][g % 4];
    let rows: String = (0..16).rev().map(|g| format!("{g},{}\n", part(g))).collect();
    std::fs::write(&file, format!("position,part\n{rows}")).unwrap();
    let run = folder.path().join("run");
    let option = format!("--split-file {}", file.display());
    let summary = train(&run, &option).ok().json();
    assert_eq!(summary["sets"]["test"]["graphs"], 4);
    let written = table(&run.join("split.csv"));
    assert_eq!(written[0], ["position", "part"]);
    let expected: Vec<&str> =
        (0..16).map(|g| if part(g) == "valid" { "validation" } else { part(g) }).collect();
    assert_eq!(column(&written, "part"), expected);
    // What a run leaves is a file for another, with the same result.
    let again = folder.path().join("again");
    train(&again, &format!("--split-file {}", run.join("split.csv").display())).ok();
    let metrics = |run: &Path| std::fs::read(run.join("metrics.jsonl")).unwrap();
    assert_eq!(metrics(&run), metrics(&again));
    // The file is not needed any more: the run has its split.
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    std::fs::remove_file(run.join("split.csv")).unwrap();
    ppgn(["train", "--resume", run.to_str().unwrap(), "-q"]).ok();
    assert_eq!(table(&run.join("split.csv")), written);

    let out = folder.path().join("p.csv");
    let words =
        ["predict", run.to_str().unwrap(), DATA, "--part", "test", "--json", "--out", out.to_str().unwrap()];
    let said = ppgn(words).ok().json();
    assert_eq!((&said["graphs"], &said["part"]), (&4.into(), &"test".into()));
    // The same figures as in the summary: test graphs only.
    for metric in ["accuracy", "roc_auc", "log_loss", "brier", "average_precision"] {
        let [a, b] = [&said["metrics"][metric], &summary["sets"]["test"]["metrics"][metric]]
            .map(|v| v.as_f64().unwrap());
        assert!((a - b).abs() < 1e-6, "{metric}: {a} is not {b}");
    }
    assert_eq!(said["baseline"]["roc_auc"], 0.5);
    let rows = table(&out);
    assert_eq!(column(&rows, "index"), ["3", "7", "11", "15"]);
    assert_eq!(column(&rows, "truth"), ["0", "0", "1", "1"]);
    assert_eq!(column(&rows, "part"), ["test"; 4]);
    // All graphs come with their parts; other data has none, and has no sets.
    let all = ppgn(["predict", run.to_str().unwrap(), DATA]).ok().out;
    assert!(all.lines().nth(1).unwrap().ends_with(",0,train"), "{all}");
    ppgn(["predict", run.to_str().unwrap(), "csl:n=11,skips=2+3,copies=9", "--part", "test"])
        .fails(2, "was not trained on");
    let wrong = folder.path().join("wrong.csv");
    std::fs::write(&wrong, "position,part\n0,train\n1,tset\n").unwrap();
    let made = folder.path().join("x");
    train(&made, &format!("--split-file {}", wrong.display()))
        .fails(1, "graph 2 of csl has no row (nor have 13 others)");
    assert!(!made.exists());
}

#[test]
fn random_and_grouped_splits() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("random");
    train(&run, "--split-by random --split 50/25/25").ok();
    assert!(std::fs::read_to_string(run.join("config.toml")).unwrap().contains("random = ["));
    let file = folder.path().join("sites.csv");
    let rows: String = (0..16).map(|g| format!("{},{g}\n", ["a", "b", "c", "d"][g / 4])).collect();
    std::fs::write(&file, format!("site,position\n{rows}")).unwrap();
    let run = folder.path().join("sites");
    let option = format!("--split-by column:site --split 50/25/25 --split-file {}", file.display());
    train(&run, &option).ok();
    let split = table(&run.join("split.csv"));
    let parts = column(&split, "part");
    for site in parts.chunks(4) {
        assert!(site.iter().all(|part| part == &site[0]), "{parts:?}");
    }
    assert_eq!(parts.iter().filter(|part| **part == "train").count(), 8);
    train(&folder.path().join("x"), "--split-by column:site")
        .fails(2, "--split-file gives the file of the column");
    train(&folder.path().join("x"), &format!("--fold 1 --split-file {}", file.display()))
        .fails(2, "cannot be used with");
    train(&folder.path().join("x"), "--split-by shuffled").fails(2, "there are stratified, random");
}

#[test]
fn scaffolds_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("molecules.csv");
    // Five benzenes, three pyridines, a chain and a cyclopropane, mixed.
    let smiles =
        "C1CC1C Cc1ccccc1 Cc1ccncc1 CCO Oc1ccccc1 Fc1ccncc1 c1ccccc1 Nc1ccccc1 CCc1ccncc1 CCc1ccccc1";
    let rows: String = smiles.split(' ').enumerate().map(|(i, s)| format!("{s},{i}\n")).collect();
    std::fs::write(&file, format!("smiles,y\n{rows}")).unwrap();
    let run = folder.path().join("run");
    let words = "--blocks 4 --batch 4 --epochs 1 --split-by scaffold --split 80/10/10 --quiet --json";
    let train = |data: &str, out: &Path| -> crate::run::Ran {
        let line = format!("train {data} {words}");
        command().args(line.split_whitespace()).arg("--out").arg(out).output().unwrap().into()
    };
    train(file.to_str().unwrap(), &run).ok();
    let split = table(&run.join("split.csv"));
    // The large groups are for training; of the two small ones, the first in the file is for validation.
    let expected = "validation train train test train train train train train train";
    assert_eq!(column(&split, "part").join(" "), expected);
    train(DATA, &folder.path().join("x")).fails(1, "has no scaffolds: they are of molecules");
}

#[test]
fn the_epoch_is_selected_by_any_metric_that_is_defined() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let v = tiny(&run, "--epochs 6 --select log-loss --json").ok().json();
    assert_eq!(v["select"], "log-loss");
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let losses: Vec<f64> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["validation"]["log_loss"].as_f64().unwrap())
        .collect();
    let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(v["best_epoch"], losses.iter().position(|l| *l == best).unwrap() + 1);
    let refused = |more: &str, text: &str| {
        let run = folder.path().join("refused");
        train(&run, more).fails(2, text);
        assert!(!run.exists());
    };
    refused("--select r2", "R2 is no metric of classes; there are accuracy");
    refused("--select auc", "`auc` is not a metric; there are auto, accuracy");
    refused("--select validation --holdout 0.25", "the split has none");
    let file = folder.path().join("one.csv");
    let rows: String = (0..16).map(|g| format!("{g},{}\n", if g < 4 { "valid" } else { "train" })).collect();
    std::fs::write(&file, format!("position,part\n{rows}")).unwrap();
    refused(
        &format!("--select roc-auc --split-file {}", file.display()),
        "the best epoch cannot be selected by ROC AUC on the validation set: class 1 does not occur in it",
    );
}

#[test]
fn several_seeds_and_their_mean() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("seeds");
    let words = "--seeds 3-4 --split 50/25/25";
    let report = train(&out, words).ok().json();
    assert_eq!(report["seeds"], serde_json::json!([3, 4]));
    let of = |seed: usize, file: &str| {
        std::fs::read_to_string(out.join(format!("seed-{seed}")).join(file)).unwrap()
    };
    assert_eq!(of(3, "split.csv"), of(4, "split.csv"));
    assert_ne!(of(3, "metrics.jsonl"), of(4, "metrics.jsonl"));
    let loss = |seed: usize| {
        let summary: Value = serde_json::from_str(&of(seed, "summary.json")).unwrap();
        summary["sets"]["test"]["metrics"]["log_loss"].as_f64().unwrap()
    };
    let (a, b) = (loss(3), loss(4));
    let found = &report["sets"]["test"]["metrics"]["log_loss"];
    assert!((found["mean"].as_f64().unwrap() - (a + b) / 2.0).abs() < 1e-12, "{found}");
    assert!((found["std"].as_f64().unwrap() - (a - b).abs() / 2f64.sqrt()).abs() < 1e-12, "{found}");
    // The averaged prediction is the mean of the runs' probabilities.
    let column_of = |run: &Path| -> Vec<f64> {
        let text = ppgn(["predict", run.to_str().unwrap(), DATA]).ok().out;
        text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
    };
    let (p, q, mean) = (column_of(&out.join("seed-3")), column_of(&out.join("seed-4")), column_of(&out));
    for g in 0..16 {
        assert!(((p[g] + q[g]) / 2.0 - mean[g]).abs() < 1e-12);
    }
    let rows = table(&out.join("predictions.csv"));
    let kept: Vec<f64> = column(&rows, "probability 0").iter().map(|x| x.parse().unwrap()).collect();
    assert_eq!(kept, mean);
    assert_eq!(column(&rows, "part").iter().filter(|part| **part == "test").count(), 4);
    // The same command reads what is there, and goes on with one more seed.
    let again = train(&out, words).ok().json();
    assert_eq!(again["sets"], report["sets"]);
    let more = train(&out, "--seeds 3-5 --split 50/25/25").ok().json();
    assert_eq!(more["runs"].as_array().unwrap().len(), 3);
    train(&folder.path().join("x"), "--seeds 0-4 --seed 1").fails(2, "cannot be used with");
    train(&folder.path().join("x"), "--seeds 4-1").fails(2, "is not a list of seeds");
    ppgn(["predict", out.to_str().unwrap(), DATA, "--scores"]).fails(2, "--scores is for one run");
}

#[test]
fn cross_validation_that_is_fair_and_of_regression() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("fair");
    let cv = |data: &str, more: &str, out: &Path| {
        let line = format!("cv {data} --blocks 4 --batch 8 --epochs 4 --quiet --json {more}");
        command().args(line.split_whitespace()).arg("--out").arg(out).output().unwrap()
    };
    let ran: crate::run::Ran =
        cv("csl:n=13,skips=2+3+5,copies=10", "--folds 1-3 --select validation", &out).into();
    let report = ran.ok().json();
    let fair = &report["fair"];
    assert_eq!(fair["validation"], 0.1);
    for (i, fold) in (1..=3).enumerate() {
        let text = std::fs::read_to_string(out.join(format!("fold-{fold}/metrics.jsonl"))).unwrap();
        let epochs: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let chosen = fair["epochs"][i].as_u64().unwrap() as usize;
        let of = |e: &Value| {
            (e["validation"]["accuracy"].as_f64().unwrap(), -e["validation"]["loss"].as_f64().unwrap())
        };
        // The epoch is the best of the validation set, and the figure is that of the test set there.
        assert!(epochs.iter().all(|e| of(e) <= of(&epochs[chosen - 1])), "fold {fold}");
        assert_eq!(fair["folds"][i], epochs[chosen - 1]["test"]["accuracy"]);
        assert_eq!(fair["inner"][i], epochs[chosen - 1]["validation"]["accuracy"]);
        let split = table(&out.join(format!("fold-{fold}/split.csv")));
        let parts = column(&split, "part");
        let count = |name: &str| parts.iter().filter(|part| **part == name).count();
        assert_eq!((count("train"), count("validation"), count("test")), (24, 3, 3));
    }
    assert_eq!(report["metric"], "accuracy");
    assert!(report["accuracy_mean"].is_f64() && report["epoch"].is_u64(), "the tables' protocol beside it");
    assert_eq!(fair["figures"]["metrics"].as_object().unwrap().len(), 8);

    let file = folder.path().join("numbers.jsonl");
    let mut text = String::from("{\"ppgn\":1,\"targets\":[{\"name\":\"size\",\"unit\":\"nodes\"}]}\n");
    for i in 0..20usize {
        let n = 3 + i % 5;
        let edges: Vec<String> = (0..n - 1).map(|u| format!("[{u},{}]", u + 1)).collect();
        text += &format!("{{\"n\":{n},\"edges\":[{}],\"targets\":[{n}]}}\n", edges.join(","));
    }
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("regression");
    let ran: crate::run::Ran = cv(file.to_str().unwrap(), "--folds 1-2", &out).into();
    let report = ran.ok().json();
    assert_eq!(report["metric"], "loss");
    assert!(report.get("accuracy_mean").is_none());
    let size = &report["at_epoch"]["targets"][0];
    assert_eq!((&size["name"], &size["unit"]), (&"size".into(), &"nodes".into()));
    assert!(size["mae"]["mean"].as_f64().unwrap() > 0.0 && size["r2"]["mean"].is_f64(), "{size}");
    assert!(report["baseline"]["targets"][0]["mae"]["mean"].is_f64());
    let shown = line(&format!(
        "cv {} --blocks 4 --batch 8 --epochs 4 --folds 1-2 -q --out {}",
        file.display(),
        out.display()
    ));
    assert!(shown.ok().out.contains("size: error (nodes)"));
}

/// The fenced blocks for the shell in a section of a document.
fn scripts(text: &str, section: &str) -> Vec<String> {
    let section = text.split("\n## ").find(|part| part.starts_with(section)).unwrap();
    section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_string()).collect()
}

#[cfg(unix)]
#[test]
fn the_walk_of_the_training_guide() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/training.md");
    let scripts = scripts(&std::fs::read_to_string(guide).unwrap(), "A walk");
    assert_eq!(scripts.len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_ppgn")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut printed = Vec::new();
    for script in &scripts {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-e", "-c", script]).env("PATH", &path).env("NO_COLOR", "1").current_dir(folder.path());
        let ran: crate::run::Ran = shell.output().unwrap().into();
        printed.push(ran.ok().out);
    }
    assert!(printed[0].contains("87.5 %"), "{}", printed[0]);
    assert!(printed[1].contains("3 seeds on the test set (32 graphs)"), "{}", printed[1]);
    let seeds: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("runs/rings/seeds.json")).unwrap()).unwrap();
    assert_eq!(seeds["select"], "roc-auc");
    let test = &seeds["ensemble"]["test"];
    assert_eq!((&test["baseline"]["accuracy"], &test["baseline"]["roc_auc"]), (&0.875.into(), &0.5.into()));
    assert!(test["metrics"]["roc_auc"].as_f64().unwrap() > 0.9, "{test}");
    // The ROC AUC of the file: the share of pairs, one of each class, that are in the right order.
    let rows = table(&folder.path().join("test.csv"));
    assert!(column(&rows, "id").iter().all(|id| id.starts_with("ring-")));
    let p: Vec<f64> = column(&rows, "probability 1").iter().map(|x| x.parse().unwrap()).collect();
    let truth = column(&rows, "truth");
    let of = |class: &str| (0..p.len()).filter(|&i| truth[i] == class).collect::<Vec<_>>();
    let (rare, other) = (of("1"), of("0"));
    assert_eq!((rare.len(), other.len()), (4, 28));
    let order = |a: f64, b: f64| {
        if a > b {
            1.0
        } else if a == b {
            0.5
        } else {
            0.0
        }
    };
    let right: f64 =
        rare.iter().flat_map(|&i| other.iter().map(move |&j| (i, j))).map(|(i, j)| order(p[i], p[j])).sum();
    assert!((right / 112.0 - test["metrics"]["roc_auc"].as_f64().unwrap()).abs() < 1e-12);
}
