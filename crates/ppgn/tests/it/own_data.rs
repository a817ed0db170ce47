//! Data of one's own, from files to predictions: what a run remembers of how they were read, where colours are kept, and
//! words that are numbered otherwise in other files.

use crate::run::{Ran, command};
use std::path::Path;
use tempfile::TempDir;

/// Rings and chains as edge lists, with a table of their classes.
fn rings() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("graphs")).unwrap();
    let mut table = String::from("file,class\n");
    for n in 4..24 {
        let mut edges: String = (1..n).map(|v| format!("{} {v}\n", v - 1)).collect();
        let ring = n % 2 == 0;
        if ring {
            edges += &format!("{} 0\n", n - 1);
        }
        std::fs::write(place.path().join(format!("graphs/g{n}.edges")), edges).unwrap();
        table += &format!("g{n}.edges,{}\n", if ring { "ring" } else { "chain" });
    }
    std::fs::write(place.path().join("labels.csv"), table).unwrap();
    place
}

fn run(place: &Path, args: &str) -> Ran {
    let mut ppgn = command();
    ppgn.args(args.split_whitespace()).current_dir(place).env("PPGN_CACHE", place.join("cache"));
    ppgn.output().unwrap().into()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_run_remembers_its_table_and_keeps_colours_out_of_the_data() {
    let place = rings();
    let at = place.path();
    run(at, "train ./graphs --labels labels.csv --epochs 2 --space quotient --out r").ok();
    assert_eq!(files(&at.join("cache/colours")), 1);
    assert_eq!(files(&at.join("graphs")), 20, "something was written among the data");
    let config = std::fs::read_to_string(at.join("r/config.toml")).unwrap();
    assert!(config.contains("[read]") && config.contains("labels.csv"), "{config}");
    // More epochs on the same data, which is read with the same table.
    run(at, "train --resume r --epochs 3").ok();
    run(at, "train ./graphs --labels labels.csv --epochs 1 --cache-dir elsewhere --space quotient --out r2")
        .ok();
    assert_eq!(files(&at.join("elsewhere/colours")), 1);
    run(at, "train ./graphs --epochs 1 --out r3").fails(2, "nothing to learn");
}

#[test]
fn words_are_matched_by_name_not_by_number() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let line = |word: &str, label: i64| {
        format!("{{\"n\":2,\"edges\":[[0,1]],\"node_labels\":[\"{word}\",\"{word}\"],\"label\":{label}}}\n")
    };
    let mut train = String::from("{\"ppgn\":1}\n");
    (0..30).for_each(|i| train += &line(["C", "N", "O"][i % 3], [0, 1, 0][i % 3]));
    std::fs::write(at.join("train.jsonl"), train).unwrap();
    // Here N is the only word: its number is 0, which is that of C there.
    std::fs::write(at.join("n.jsonl"), format!("{{\"ppgn\":1}}\n{}", line("N", 1))).unwrap();
    std::fs::write(at.join("s.jsonl"), format!("{{\"ppgn\":1}}\n{}", line("S", 1))).unwrap();
    run(at, "train train.jsonl --epochs 30 --out r").ok();
    let all = run(at, "predict r train.jsonl:1 --scores").ok().out;
    let one = run(at, "predict r n.jsonl --scores").ok().out;
    assert_eq!(all.lines().last(), one.lines().last());
    assert_ne!(run(at, "predict r train.jsonl:0 --scores").ok().out.lines().last(), one.lines().last());
    run(at, "predict r s.jsonl").fails(1, "the node label `S` is not among those of column `label0`");
}
