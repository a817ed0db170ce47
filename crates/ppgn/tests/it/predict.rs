//! `ppgn predict`, `ppgn embed`, `ppgn runs`, `ppgn import`: what a run is good for.

use crate::run::{Ran, command, have, line, ppgn};
use crate::train::tiny;
use serde_json::Value;
use std::path::{Path, PathBuf};

const DATA: &str = "csl:n=11,skips=2+3,copies=8";

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn rows_in_every_form_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    let predict = |more: &[&str]| {
        let words = ["predict", run.to_str().unwrap(), DATA];
        ppgn(words.iter().chain(more).copied().collect::<Vec<_>>()).ok()
    };
    let path = |name: &str| folder.path().join(name).display().to_string();
    let printed = predict(&[]);
    assert!(printed.err.contains("16 graphs") && printed.err.contains("accuracy"), "{}", printed.err);
    predict(&["--out", &path("p.csv")]);
    assert_eq!(std::fs::read_to_string(path("p.csv")).unwrap(), printed.out);
    let rows: Vec<Vec<&str>> = printed.out.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0], ["index", "class", "probability 0", "probability 1", "truth", "part"]);

    let ran = predict(&["--out", &path("p.jsonl"), "--json"]);
    assert_eq!(ran.out.lines().count(), 1, "with --json rows go to --out only");
    let v = ran.json();
    assert_eq!((&v["graphs"], &v["out"]), (&16.into(), &path("p.jsonl").into()));
    assert_eq!(predict(&["--json"]).out.lines().count(), 1);
    predict(&["--out", &path("s.jsonl"), "--scores"]);
    let (said, scores) = (lines(path("p.jsonl").as_ref()), lines(path("s.jsonl").as_ref()));
    assert_eq!((said.len(), scores.len()), (16, 16));
    for (i, (said, scores)) in said.iter().zip(&scores).enumerate() {
        assert_eq!((&said["index"], &scores["index"]), (&i.into(), &i.into()));
        let (p, s) = (numbers(&said["probabilities"]), numbers(&scores["scores"]));
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((p[0] / p[1] - (s[0] - s[1]).exp()).abs() < 1e-9 * (p[0] / p[1]));
        assert_eq!(said["class"].as_u64().unwrap(), u64::from(p[1] > p[0]));
        assert_eq!(rows[i + 1][2].parse::<f64>().unwrap(), p[0]);
        assert_eq!(said.as_object().unwrap().len(), 5);
        assert_eq!(scores.as_object().unwrap().len(), 4);
    }
    let one = ppgn(["predict", run.to_str().unwrap(), &format!("{DATA}:3")]).ok().out;
    let alone: Vec<&str> = one.lines().nth(1).unwrap().split(',').collect();
    assert!((alone[2].parse::<f64>().unwrap() - numbers(&said[3]["probabilities"])[0]).abs() < 1e-5, "{one}");
    ppgn(["predict", run.to_str().unwrap(), DATA, "--out", &path("p.txt")]).fails(2, ".csv or .jsonl");
}

#[test]
fn embeddings_are_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "--precision f64").ok();
    let out = folder.path().join("e.npz");
    let words = ["embed", run.to_str().unwrap(), DATA, "--out", out.to_str().unwrap(), "--json"];
    let v = ppgn(words).ok().json();
    assert_eq!(
        (&v["graphs"], &v["features"]),
        (&16.into(), &16.into()),
        "two blocks of 4, diagonal and off it"
    );
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&out).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().to_string()).collect();
    assert_eq!(names, ["embedding.npy", "label.npy"]);
    let embedding = npyz::NpyFile::new(archive.by_name("embedding.npy").unwrap()).unwrap();
    assert_eq!(embedding.shape(), [16, 16]);
    let embedding: Vec<f64> = embedding.into_vec().unwrap();
    assert!(embedding.iter().all(|x| x.is_finite()) && embedding.iter().any(|x| *x != 0.0));
    let labels: Vec<i64> =
        npyz::NpyFile::new(archive.by_name("label.npy").unwrap()).unwrap().into_vec().unwrap();
    assert_eq!(labels.iter().sum::<i64>(), 8);
    let ran: Ran = command().current_dir(folder.path()).args(["embed", "run", DATA]).output().unwrap().into();
    assert!(ran.ok().out.contains("csl.embedding.npz"));
    assert_eq!(std::fs::read(folder.path().join("csl.embedding.npz")).unwrap(), std::fs::read(&out).unwrap());
    ppgn(["embed", run.to_str().unwrap(), DATA, "--out", "e.npy"]).fails(2, ".npz");
}

#[test]
fn other_shapes_and_damaged_runs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "").ok();
    let name = run.to_str().unwrap();
    if have("tu/MUTAG.zip") {
        let told = "graph 0 of MUTAG does not fit the dataset that the run was trained on (csl): 1 node label columns, but the dataset has 0";
        for command in ["predict", "embed"] {
            ppgn([command, name, "MUTAG", "--offline"]).fails(1, told);
        }
    }
    // A label that the run has not seen is named.
    let data = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let known = data("known.txt", "2\n2 0\n0 1 1\n1 1 0\n2 1\n0 0\n1 0\n");
    let new = data("new.txt", "1\n2 0\n0 1 1\n7 1 0\n");
    let run_of = |out: &Path| -> Ran {
        let words = "--split 100/0/0 --blocks 2 --epochs 1 --quiet --out".split_whitespace();
        command().args(["train", &known]).args(words).arg(out).output().unwrap().into()
    };
    let labelled = folder.path().join("labelled");
    assert!(run_of(&labelled).ok().out.contains("training accuracy"));
    ppgn(["predict", labelled.to_str().unwrap(), &known]).ok();
    ppgn(["predict", labelled.to_str().unwrap(), &new]).fails(1, "node 1 has the label 7, which column");
    ppgn(["predict", "no-such-run", "csl"])
        .fails(2, "no-such-run is not a run folder: it has no config.toml");
    ppgn(["predict", name, "no-such-data"]).fails(2, "no-such-data");
    let best = run.join("best/model.safetensors");
    let bytes = std::fs::read(&best).unwrap();
    std::fs::write(&best, &bytes[..bytes.len() - 3]).unwrap();
    ppgn(["predict", name, DATA]).fails(1, "best/model.safetensors: not a sound safetensors file");
    std::fs::remove_file(&best).unwrap();
    ppgn(["embed", name, DATA]).fails(1, "best/model.safetensors: it is missing");
    std::fs::remove_file(run.join("checkpoint/model.safetensors")).unwrap();
    ppgn(["embed", name, DATA]).fails(2, "has not finished an epoch yet");
}

#[test]
fn runs_are_listed_with_their_state() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    tiny(&runs.join("a/deep"), "--seed 3").ok();
    tiny(&runs.join("b"), "").ok();
    std::fs::write(runs.join("b/config.toml"), "nonsense").unwrap();
    tiny(&runs.join("c"), "--holdout 0.25").fails(2, "cannot be used with");
    let list = |more: &str| -> Ran {
        let mut command = command();
        command.current_dir(folder.path()).arg("runs");
        command.args(more.split_whitespace()).output().unwrap().into()
    };
    let v = list("--json").ok().json();
    let found = v["runs"].as_array().unwrap();
    assert_eq!(found.len(), 2, "{v}");
    assert_eq!((&found[0]["run"], &found[0]["state"]), (&"runs/a/deep".into(), &"finished".into()));
    assert_eq!((&found[0]["seed"], &found[0]["epochs_done"]), (&3.into(), &3.into()));
    assert!(found[0]["accuracy"].is_number() && found[0]["best_epoch"].is_number(), "{v}");
    assert_eq!((&found[1]["state"], &found[1]["run"]), (&"damaged".into(), &"runs/b".into()));
    let text = list("runs").ok().out;
    assert!(text.contains("runs/a/deep") && text.contains("finished") && text.contains("50/25/25"), "{text}");
    assert!(text.contains("damaged: runs/b/config.toml"), "{text}");
    list("nowhere").fails(2, "nowhere is not a folder");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(list("empty").ok().out.contains("no runs in empty"));
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../ppgn-nn/tests/golden")).join(name)
}

#[test]
fn checkpoints_become_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let import = |file: &str, more: &str| -> Ran {
        let mut command = command();
        command.current_dir(folder.path()).arg("import").arg(golden(file));
        command.args(more.split_whitespace()).output().unwrap().into()
    };
    let v = import("suffix_ii.pt", "--encoding authors --out run --json").ok().json();
    assert_eq!((&v["inputs"], &v["outputs"], &v["suffix"]), (&3.into(), &2.into(), &"ii".into()), "{v}");
    // Three channels of `authors` are the adjacency and node labels 0 and 1.
    let data = folder.path().join("path.txt");
    std::fs::write(&data, "1\n3 0\n0 1 1\n1 2 0 2\n0 1 1\n").unwrap();
    let rows = ppgn(["predict", run.to_str().unwrap(), data.to_str().unwrap()]).ok().out;
    assert_eq!(rows.lines().count(), 2, "{rows}");
    ppgn(["predict", run.to_str().unwrap(), "csl"]).fails(1, "0 node label columns, but the dataset has 1");
    ppgn(["train", "--resume", run.to_str().unwrap()]).fails(2, "was imported");
    let list = line(&format!("runs {}", folder.path().display())).ok().out;
    assert!(list.contains("imported"), "{list}");
    import("suffix_ii.pt", "--out run").fails(2, "run already exists\nhint: --out names another folder");
    assert!(import("suffix_ii.pt", "").ok().out.contains("runs/suffix_ii"));
    import("suffix_ii.pt", "--data csl")
        .fails(1, "takes 3 input channels, but csl has 1 in the encoding `authors`");
    import("suffix_ii.pt", "--data petersen").fails(2, "neither classes nor regression targets");
    import("suffix_ii.pt", "--encoding qm9").fails(2, "channels");
    import("wrong_names.pt", "").fails(1, "bn.weight");
    import("checkpoints.json", "").fails(1, "not a PyTorch checkpoint");
    import("no-such.pt", "").fails(1, "no-such.pt");
}

#[test]
fn several_labels_with_gaps_from_file_to_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let (data, run) = (folder.path().join("tox.jsonl"), folder.path().join("run"));
    let mut text = String::from("{\"ppgn\":1,\"targets\":[{\"name\":\"a\"},{\"name\":\"b, c\"}]}\n");
    for i in 0..48 {
        let second = if i % 4 == 1 { "null".to_string() } else { (i % 2).to_string() };
        text += &format!("{{\"n\":{},\"edges\":[[0,1]],\"targets\":[{},{second}]}}\n", 3 + i % 2, i % 3 / 2);
    }
    std::fs::write(&data, text).unwrap();
    let (data, run) = (data.to_str().unwrap(), run.to_str().unwrap());
    let recipe = "--task multi-label --class-weights balanced --epochs 3 --blocks 4,4 --quiet --json";
    let words = ["train", data, "--out", run].into_iter().chain(recipe.split_whitespace());
    let v = ppgn(words.collect::<Vec<_>>()).ok().json();
    assert!(v["accuracy"].is_number() && v["mae"].is_null(), "{v}");
    let ran = ppgn(["predict", run, data]).ok();
    let head = "index,probability a,\"probability b, c\",truth a,\"truth b, c\",part\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    // The second row has no value of the second label.
    assert!(ran.out.lines().nth(2).unwrap().contains(",0,,"), "{}", ran.out);
    assert!(ran.err.contains("accuracy"), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 49);
    let refused = ppgn(["train", data, "--class-weights", "balanced", "--out", "never"]);
    refused.fails(2, "class weights need classes or labels");
    ppgn(["train", "csl", "--task", "multi-label", "--out", "never"]).fails(2, "csl has no targets");
}
