//! Answers about long runs, many runs and large datasets are of bounded size, and pages get everything by asking on.

use crate::http::{Server, train_into};
use ppgn_view::View;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

fn server(folder: &Path) -> Server {
    Server::start(View::new(folder.join("runs"), folder.join("data")))
}

fn epochs(answer: &Value, list: &str) -> Vec<u64> {
    answer[list].as_array().unwrap().iter().map(|epoch| epoch["epoch"].as_u64().unwrap()).collect()
}

/// A run of ppgn 0.1 that has gone on to this epoch, the best one being the third: without digests, so that the lines of a short
/// one can be repeated.
fn go_on(path: &Path, from: usize, to: usize) {
    let metrics = path.join("metrics.jsonl");
    let text = std::fs::read_to_string(&metrics).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&metrics).unwrap();
    for epoch in from + 1..=to {
        line["epoch"] = epoch.into();
        writeln!(file, "{line}").unwrap();
    }
    let state = serde_json::json!({ "epoch": to, "steps": to, "best": { "epoch": 3, "score": 1.0 } });
    std::fs::write(path.join("checkpoint/state.json"), state.to_string()).unwrap();
}

#[test]
fn of_a_long_run_some_epochs_are_sent_and_then_the_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs/long");
    train_into(&path);
    for file in ["checkpoint/model.safetensors", "summary.json"] {
        std::fs::remove_file(path.join(file)).unwrap();
    }
    let server = server(folder.path());
    let (mut have, mut reading, mut lengths) = (Vec::<u64>::new(), String::new(), Vec::new());
    let mut done = 3;
    for next in [3, 4, 700, 701, 9_999, 10_000] {
        go_on(&path, done, next);
        done = next;
        let from = have.last().copied().unwrap_or(0);
        let reply = server.get(&format!("/api/run?run=long&from={from}&reading={reading}"));
        let answer = reply.json();
        lengths.push(reply.body.len());
        let step = answer["step"].as_u64().unwrap();
        // What a page does.
        if answer["from"] == 0 {
            have.clear();
        }
        have.retain(|epoch| (epoch - 1).is_multiple_of(step));
        have.extend(epochs(&answer, "epochs"));
        reading = answer["reading"].as_str().unwrap().to_string();
        assert_eq!(have, (1..=done as u64).step_by(step as usize).collect::<Vec<_>>(), "{done}");
        assert_eq!(
            (epochs(&answer, "extra"), answer["epochs_done"].as_u64()),
            (vec![3, done as u64], Some(done as u64))
        );
    }
    // 10,000 epochs are more than an answer has; the last one has what is new.
    let whole = server.get("/api/run?run=long");
    assert!(whole.json()["step"].as_u64() >= Some(16) && whole.body.len() < 450_000, "{}", whole.body.len());
    assert!(lengths[1] < 20_000 && lengths[3] < 20_000 && lengths[5] < 20_000, "{lengths:?}");
    let spark = &server.get("/api/runs").json()["rows"][0]["spark"]["values"];
    assert!((20..=41).contains(&spark.as_array().unwrap().len()), "{spark}");
    // Replaced by a shorter one of the same name.
    let text = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let short: String = text.split_inclusive('\n').take(5).collect();
    std::fs::write(path.join("metrics.jsonl"), short).unwrap();
    go_on(&path, 5, 5);
    let from = have.last().copied().unwrap_or(0);
    let answer = server.get(&format!("/api/run?run=long&from={from}&reading={reading}")).json();
    assert_eq!((answer["from"].as_u64(), epochs(&answer, "epochs")), (Some(0), vec![1, 2, 3, 4, 5]));
}

#[test]
fn a_list_of_many_runs_comes_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("runs/r0");
    train_into(&first);
    for i in 1..720 {
        // Without networks: a list does not need them.
        let copy = folder.path().join(format!("runs/{}r{i}", if i % 3 == 0 { "inner/" } else { "" }));
        std::fs::create_dir_all(copy.join("checkpoint")).unwrap();
        for name in ["config.toml", "metrics.jsonl", "summary.json", "checkpoint/model.safetensors"] {
            std::fs::copy(first.join(name), copy.join(name)).unwrap();
        }
    }
    let server = server(folder.path());
    let (mut names, mut parts, mut after) = (Vec::new(), Vec::new(), String::new());
    loop {
        let answer = server.get(&format!("/api/runs{after}")).json();
        assert_eq!((answer["runs"].as_u64(), answer["left_out"].as_u64()), (Some(720), Some(0)));
        let rows = answer["rows"].as_array().unwrap();
        parts.push(rows.len());
        names.extend(rows.iter().map(|row| row["run"].as_str().unwrap().to_string()));
        match answer["next"].as_str() {
            Some(next) => after = format!("?after={next}"),
            None => break,
        }
    }
    assert_eq!(parts, [100, 500, 120]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 720);
    // Whoever goes on after a run that is gone begins anew.
    assert_eq!(server.get("/api/runs?after=r9999").status, 410);
}

#[test]
fn what_graphs_are_filtered_by_comes_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("runs")).unwrap();
    std::fs::write(folder.path().join("runs/many.g6"), "Cl\n".repeat(120_000)).unwrap();
    let server = server(folder.path());
    let answer = server.get("/api/dataset?data=many.g6");
    assert!(answer.body.len() < 2_000_000, "{}", answer.body.len());
    let answer = answer.json();
    assert_eq!(
        (answer["summary"]["graphs"].as_u64(), answer["first"].as_array().unwrap().len()),
        (Some(120_000), 12)
    );
    let mut known = answer["rows"]["nodes"].as_array().unwrap().len();
    assert!(known < 120_000);
    while known < 120_000 {
        let rows = server.get(&format!("/api/dataset/rows?data=many.g6&from={known}")).json();
        assert_eq!(rows["from"], known);
        let nodes = rows["nodes"].as_array().unwrap();
        assert!(!nodes.is_empty() && nodes.iter().all(|n| n == 4));
        known += nodes.len();
    }
    assert_eq!(known, 120_000);
    let beyond = server.get("/api/dataset/rows?data=many.g6&from=99999999").json();
    assert_eq!(beyond["nodes"], Value::Array(Vec::new()));
}

#[test]
fn long_curves_and_many_trials_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    train_into(&folder.path().join("runs/cv/fold-1"));
    let curve: Vec<f64> = (0..30_000).map(|i| f64::from(i) / 3e4).collect();
    let cv = serde_json::json!({ "folds": [1], "epoch": 7, "curve_mean": curve, "curves": [curve], "metric": "accuracy" });
    std::fs::write(folder.path().join("runs/cv/cv.json"), cv.to_string()).unwrap();
    let trial = serde_json::json!({ "settings": { "rate": 0.1 }, "rank": 1, "run": "elsewhere/fold-1" });
    let search = serde_json::json!({ "trials": vec![trial; 5000] });
    std::fs::write(folder.path().join("runs/cv/search.json"), search.to_string()).unwrap();
    let server = server(folder.path());
    let reply = server.get("/api/sweep?folder=cv");
    let answer = reply.json();
    assert_eq!((answer["curve_step"].as_u64(), answer["trials_in_all"].as_u64()), (Some(60), Some(5000)));
    assert_eq!(answer["cv"]["curve_mean"].as_array().unwrap().len(), 500);
    assert_eq!(answer["cv"]["curves"][0][1], 60.0 / 3e4);
    assert_eq!(answer["search"]["trials"].as_array().unwrap().len(), 2000);
    assert_eq!(answer["search"]["trials"][0]["run"], "cv/fold-1");
}
