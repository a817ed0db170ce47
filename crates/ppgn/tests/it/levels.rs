//! `--level node` and `--level pair` from the outside: tasks whose answers are counted, data in every form, rows of
//! predictions, and runs that are killed.

use crate::run::{Ran, command, have, line};
use crate::train::exact;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// The commands of docs/training.md: cycles through a node, below 0.05 of the standard deviation.
#[test]
fn cycles_through_a_node_are_learned() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("cycles");
    let ran = line(&format!(
        "train short-cycles --level node --epochs 60 --decay-every 10 --quiet --json --out {}",
        run.display()
    ));
    let ran = ran.ok().json();
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(run.join("summary.json")).unwrap()).unwrap();
    for (t, name) in ["three", "four"].iter().enumerate() {
        let error = ran["mae"][name].as_f64().unwrap();
        let deviation = summary["scaling"][t]["deviation"].as_f64().unwrap();
        let of_mean = ran["mae_of_mean"][name].as_f64().unwrap();
        assert!(error < 0.05 * deviation, "{name}: {error} of {deviation}");
        assert!(of_mean > 0.5 * deviation, "{name}: the mean must not do: {of_mean} of {deviation}");
    }
    let test = &ran["sets"]["test"];
    assert_eq!((test["graphs"].as_u64(), test["nodes"].as_u64()), (Some(26), Some(26 * 9)));
    // Graphs that the run has not seen, and larger ones.
    let other = line(&format!("predict {} short-cycles:seed=1,count=100 --json", run.display())).ok().json();
    assert!(
        other["mae"]["three"].as_f64().unwrap() < 0.05 * summary["scaling"][0]["deviation"].as_f64().unwrap()
    );
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("26 graphs, 234 nodes") && page.contains("Predictions against the truth"));
}

/// The distance of two nodes, at least 99 %.
#[test]
fn distances_are_learned() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("distances");
    let ran = line(&format!(
        "train distances --level pair --epochs 6 --select balanced-accuracy --quiet --json --out {}",
        run.display()
    ));
    let ran = ran.ok().json();
    assert!(ran["accuracy"].as_f64().unwrap() >= 0.99, "{}", ran["accuracy"]);
    assert!(ran["sets"]["test"]["baseline"]["accuracy"].as_f64().unwrap() < 0.5);
    let other = line(&format!("predict {} distances:seed=1,count=100 --json", run.display())).ok().json();
    assert!(other["accuracy"].as_f64().unwrap() >= 0.99, "{}", other["accuracy"]);
    assert_eq!(other["pairs"], 100 * 81);
}

const SMALL: &str = "--epochs 3 --blocks 6,6 --batch 4 --split 50/25/25 --quiet";

/// Twelve paths of four nodes, in JSON Lines and as a folder in the TU format, and a table of their nodes: the ends and
/// the middle.
fn written(folder: &Path) {
    let mut lines = "{\"ppgn\":1}\n".to_string();
    let mut table = "id,node,part of it,weight\n".to_string();
    let mut pairs = "id,u,v,far\n".to_string();
    for i in 0..12 {
        lines += &format!(
            "{{\"n\":4,\"id\":\"g{i}\",\"edges\":[[0,1],[1,2],[2,3]],\"edge_labels\":[1,2,1],\"node_labels\":[\"a\",\"b\",\"b\",\"a\"]}}\n"
        );
        for (node, word) in
            ["end", "middle", "middle", "end"].iter().enumerate().skip(usize::from(i % 3 == 0))
        {
            table += &format!("g{i},{node},{word},{node}.5\n");
        }
        pairs += &format!("g{i},0,3,1\ng{i},0,2,0\ng{i},1,2,0\n");
    }
    std::fs::write(folder.join("paths.jsonl"), lines).unwrap();
    std::fs::write(folder.join("nodes.csv"), table).unwrap();
    std::fs::write(folder.join("pairs.csv"), pairs).unwrap();
}

fn here(folder: &Path, words: &str) -> Ran {
    command().current_dir(folder).args(words.split_whitespace()).output().unwrap().into()
}

#[test]
fn tables_columns_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    written(folder);
    // A table with a row per node: words are classes, numbers are targets.
    let ran =
        here(folder, &format!("train paths.jsonl --labels nodes.csv --level node {SMALL} --json --out a"));
    let v = ran.ok().json();
    assert_eq!((&v["finished"], v["sets"]["train"]["nodes"].as_u64().unwrap() < 24), (&true.into(), true));
    let config = std::fs::read_to_string(folder.join("a/config.toml")).unwrap();
    assert!(
        config.contains("level = \"node\"") && config.contains("class_names = [\"end\", \"middle\"]"),
        "{config}"
    );
    let rows = here(folder, "predict a paths.jsonl --labels nodes.csv --part test").ok().out;
    let mut rows = rows.lines();
    assert_eq!(
        rows.next().unwrap(),
        "index,node,class,probability 0,probability 1,id,class_name,truth,truth_name,part"
    );
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 3 * 4, "one row per node, known or not");
    for (i, row) in rows.iter().enumerate() {
        assert_eq!((row[1].parse::<usize>().unwrap(), row[9]), (i % 4, "test"));
        let (graph, node) = (row[0].parse::<usize>().unwrap(), i % 4);
        let truth = if node == 0 && graph % 3 == 0 { "" } else { ["end", "middle", "middle", "end"][node] };
        assert_eq!((row[5], row[8]), (format!("g{graph}").as_str(), truth));
    }
    // Without the table there is no truth, and a prediction all the same.
    here(folder, "predict a paths.jsonl --out p.jsonl --quiet").ok();
    let text = std::fs::read_to_string(folder.join("p.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().nth(5).unwrap()).unwrap();
    assert_eq!((&first["index"], &first["node"], &first["id"]), (&1.into(), &1.into(), &"g1".into()));
    assert!(first["class_name"].is_string() && first.get("truth").is_none(), "{first}");
    let said = here(folder, "predict a paths.jsonl --labels nodes.csv --json").ok().json();
    assert_eq!((&said["graphs"], &said["nodes"]), (&12.into(), &48.into()));
    assert!(said["metrics"]["accuracy"].is_number() && said["baseline"]["accuracy"].is_number());

    // The targets of the same table, and pairs.
    here(
        folder,
        &format!("train paths.jsonl --labels nodes.csv --level node --target weight {SMALL} --out b"),
    )
    .ok();
    here(
        folder,
        &format!("train paths.jsonl --labels pairs.csv --level pair --task multi-label {SMALL} --out c"),
    )
    .ok();
    let rows = here(folder, "predict c paths.jsonl --labels pairs.csv").ok().out;
    assert_eq!(rows.lines().next().unwrap(), "index,node1,node2,probability far,id,truth far,part");
    // The pairs that were learned are between different nodes.
    assert_eq!(rows.lines().count(), 1 + 12 * 12);
    assert!(rows.lines().nth(3).unwrap().starts_with("0,0,3,") && rows.contains(",g0,1,"), "{rows}");

    // Columns of the nodes and edges: they are no inputs.
    here(folder, &format!("train paths.jsonl --level pair --target label0 {SMALL} --seeds 0-1 --out d")).ok();
    let rows = std::fs::read_to_string(folder.join("d/predictions.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 12 * 6, "one row per direction of an edge");
    assert!(rows.starts_with("index,node1,node2,class,probability 1,probability 2,id,truth,part"), "{rows}");
    let config = std::fs::read_to_string(folder.join("d/seed-0/config.toml")).unwrap();
    assert!(config.contains("columns = [\"label0\"]") && config.contains("pairs = \"edges\""), "{config}");
    here(
        folder,
        "cv paths.jsonl --level node --target label0 --folds 1-2 --epochs 1 --blocks 6 --quiet --out e",
    )
    .ok();
    let info = here(folder, "data info paths.jsonl --labels nodes.csv").ok().out;
    assert!(info.contains("per node     2 classes, end middle, 1 target (weight), of 44 nodes"), "{info}");

    // What is wrong is told.
    here(folder, &format!("train paths.jsonl --level node {SMALL}"))
        .fails(2, "the columns of its nodes are label0")
        .fails(2, "--target names one of them");
    here(folder, &format!("train paths.jsonl --level edge {SMALL}")).fails(2, "edge");
    here(folder, &format!("train paths.jsonl --level node --target label0 --order 3 {SMALL}"))
        .fails(2, "outputs per node need order 1 or 2");
    assert!(!folder.join("runs").exists(), "a run that cannot start leaves no folder");
}

/// Node labels of TU data: the atoms of MUTAG from the rest of the molecule.
#[test]
fn atoms_of_tu_data() {
    if !have("tu/MUTAG.zip") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("atoms");
    let ran = line(&format!(
        "train MUTAG --level node --target label0 --epochs 4 --quiet --json --out {}",
        run.display()
    ));
    let v = ran.ok().json();
    let (accuracy, baseline) = (v["accuracy"].as_f64(), v["sets"]["test"]["baseline"]["accuracy"].as_f64());
    assert!(accuracy.unwrap() > baseline.unwrap() + 0.1, "{accuracy:?} {baseline:?}");
    let refused = line("train MUTAG --level node --epochs 1");
    refused.fails(2, "MUTAG lists nothing to learn per node; the columns of its nodes are label0");
}

#[cfg(unix)]
#[test]
fn killed_and_resumed_at_both_levels() {
    let folder = tempfile::tempdir().unwrap();
    for (name, data) in [
        ("node", "short-cycles:n=7,count=40 --level node --dropout 0.1 --patience 9"),
        ("pair", "distances:n=6,count=40 --level pair --dropout 0.1 --class-weights balanced"),
    ] {
        let (whole, parts) = (folder.path().join(name), folder.path().join(format!("{name}-killed")));
        let words = format!("train {data} --epochs 40 --blocks 8,8 --quiet --out");
        let start = |out: &Path| {
            let mut command = command();
            command.args(words.split_whitespace()).arg(out).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        assert!(start(&whole).status().unwrap().success());
        let mut child = start(&parts).spawn().unwrap();
        let epochs =
            || std::fs::read_to_string(parts.join("metrics.jsonl")).unwrap_or_default().lines().count();
        for wanted in [3, 9] {
            let begun = std::time::Instant::now();
            while epochs() < wanted && matches!(child.try_wait(), Ok(None)) {
                assert!(begun.elapsed().as_secs() < 60, "it never gets there");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let mut again = command();
            again
                .args(["train", "--quiet", "--resume"])
                .arg(&parts)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            child = again.spawn().unwrap();
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(exact(&whole), exact(&parts), "{name}");
    }
}
