//! Benchmarks of expressiveness that are learned, not only told apart: order 1 guesses where 1-WL is blind, order 2 where
//! 2-FWL is, and the order above learns everything. docs/expressiveness.md has the long runs.

use crate::run::{data_folder, have, line, ppgn};
use ppgn::graph::generate::generate;
use ppgn::graph::random::Stream;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

fn accuracy(data: &Path, options: &str, out: &Path) -> f64 {
    let mut words = vec!["train".to_string(), data.display().to_string()];
    words.extend(options.split(' ').map(String::from));
    words.extend(["--json".into(), "--quiet".into(), "--out".into(), out.display().to_string()]);
    let report = ppgn(words).ok().json();
    assert_eq!(report["part"], "test");
    report["accuracy"].as_f64().unwrap_or_else(|| panic!("no test accuracy in {report}"))
}

/// A file in the layout of GRAPHSAT.txt, graphs 2p and 2p + 1 of classes 0 and 1. A pair is of these kinds in turn: two that
/// 1-WL cannot distinguish, and with `corrupted`, as in CEXP, as many that it can.
fn graphsat(pairs: usize, corrupted: bool) -> String {
    let mut text = format!("{}\n", 2 * pairs);
    for p in 0..pairs {
        let kinds = match (corrupted && p % 2 == 1, p % 4 < 2) {
            (true, _) => ["path:n=8", "star:n=8"],
            (false, true) => ["cycles:n=8", "cycles:n=4,copies=2"],
            (false, false) => ["prism:n=3", "bipartite:a=3,b=3"],
        };
        for (class, kind) in kinds.into_iter().enumerate() {
            let whole = generate(kind).unwrap();
            let graph =
                whole.graph(0).permute_randomly(&mut Stream::new(1, "graphsat", &[p as u64, class as u64]));
            writeln!(text, "{} {class}", graph.nodes()).unwrap();
            for u in 0..graph.nodes() {
                let near: Vec<String> = graph.neighbours(u).iter().map(u32::to_string).collect();
                writeln!(text, "0 {} {}", near.len(), near.join(" ")).unwrap();
            }
        }
    }
    text
}

#[test]
fn exp_and_cexp_are_learned_as_far_as_the_order_allows() {
    let folder = tempfile::tempdir().unwrap();
    for (name, corrupted, blind) in [("exp", false, 0.3..=0.7), ("cexp", true, 0.6..=0.9)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        let file = folder.path().join(name).join("GRAPHSAT.txt");
        std::fs::write(&file, graphsat(100, corrupted)).unwrap();
        let of = |order: usize| {
            // A norm takes the number of neighbours out of a sum over them, all that order 1 has to go by here.
            let norm = if order == 1 { "--norm none" } else { "--norm rms" };
            let options = format!("--order {order} {norm} --epochs 40 --split 40/30/30 --blocks 16,16");
            accuracy(&file, &options, &folder.path().join(format!("{name}-{order}")))
        };
        let (one, two) = (of(1), of(2));
        assert!(blind.contains(&one) && two == 1.0, "{name}: order 1 at {one}, order 2 at {two}");
        let bound = |order: usize| {
            let words = format!("express {name} --order {order} --protocol exact --json --data-dir");
            let words = words.split(' ').map(String::from).chain([folder.path().display().to_string()]);
            ppgn(words).ok().json()["bound"].as_u64().unwrap()
        };
        assert_eq!((bound(1), bound(2)), (if corrupted { 50 } else { 0 }, 100), "{name}");
    }
}

#[test]
fn csl_is_learned_by_order_two_and_guessed_by_order_one() {
    let folder = tempfile::tempdir().unwrap();
    let of = |order: usize, epochs: usize| {
        let words = format!("train csl --seeds 0-1 --order {order} --epochs {epochs} --quiet --json --out");
        let out = folder.path().join(format!("order-{order}")).display().to_string();
        let report = ppgn(words.split(' ').map(String::from).chain([out])).ok().json();
        report["sets"]["test"]["metrics"]["accuracy"]["mean"]
            .as_f64()
            .unwrap_or_else(|| panic!("no mean accuracy in {report}"))
    };
    assert!(of(1, 10) < 0.15);
    assert_eq!(of(2, 60), 1.0);
}

/// Graphs with the same parameters as classes: the rook's graph and Shrikhande's here, the 15 of `sr25` in the document.
#[test]
fn strongly_regular_classes_need_order_three() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut both = String::new();
    for graph in ["rook", "shrikhande"] {
        let file = at(graph).with_extension("g6");
        ppgn(["data", "convert", graph, file.to_str().unwrap()]).ok();
        both += std::fs::read_to_string(&file).unwrap().trim_end();
        both += "\n";
    }
    std::fs::write(at("sr.g6"), both).unwrap();
    let copies = at("copies.jsonl");
    let words = ["data", "convert", at("sr.g6").to_str().unwrap(), copies.to_str().unwrap(), "--copies", "9"]
        .map(String::from);
    assert_eq!(ppgn(words.iter().chain(&["--json".into()])).ok().json()["graphs"], 18);
    ppgn(words).fails(2, "exists already");
    let options = "--split 34/33/33 --blocks 8 --suffix i --epochs 120 --batch 6";
    let two = accuracy(&copies, &format!("--preset expressive {options}"), &at("order-2"));
    let three = accuracy(&copies, &format!("--preset expressive-3 {options}"), &at("order-3"));
    assert_eq!((two, three), (0.5, 1.0));
}

/// Order 1 goes where every order goes, and its figures are those of 1-WL.
#[test]
fn order_one_is_message_passing() {
    let count = |report: &Value, field: &str| report[field].as_u64().unwrap();
    let of = |suite: &str| line(&format!("express {suite} --order 1 --protocol rpc --json")).ok().json();
    let blind = of("figure1");
    assert_eq!((blind["test"].as_str(), count(&blind, "distinguished")), (Some("1-wl"), 0));
    assert_eq!((count(&blind, "bound"), &blind["beyond"]), (0, &Value::Array(vec![])));
    // Random graphs of one size: 1-WL distinguishes almost all.
    let seen = of("gnp:n=9,count=8");
    assert_eq!(count(&seen, "distinguished"), count(&seen, "bound"));
    assert!(count(&seen, "bound") > 0);
    let left = line("express graph8c --protocol exact --order 1 --json").ok().json();
    assert_eq!(left["categories"][0]["collection"]["bound_left"], 312);

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let train = |epochs: &str, out: &str| {
        let words =
            format!("train csl:n=11,skips=2+3 --order 1 --quiet --split 80/0/20 --epochs {epochs} --out");
        ppgn(words.split(' ').map(String::from).chain([at(out)])).ok()
    };
    train("4", "whole");
    train("2", "parts");
    ppgn(["train", "--resume", &at("parts"), "--epochs", "4", "--quiet"]).ok();
    let scores =
        |run: &str| ppgn(["predict", &at(run), "csl:n=11,skips=2+3", "--scores", "--quiet"]).ok().out;
    assert_eq!(scores("whole"), scores("parts"), "a resumed run ends with the same network");
    ppgn(["embed", &at("whole"), "csl:n=11,skips=2+3", "--out", &at("e.npz")]).ok();
    let epoch = line("bench epoch csl:n=11,skips=2+3 --order 1 --json").ok().json();
    assert!(epoch.is_object(), "{epoch}");
    // Memory grows with edges, not with n^2: 3000 nodes fit where pairs do not.
    let small = "--epochs 1 --split 100/0/0 --max-memory 300MiB --quiet --out";
    let sparse = |order: &str| {
        let words =
            format!("train gnp:n=3000,p=0.001,count=2 --labels {} --order {order} {small}", at("l.csv"));
        ppgn(words.split(' ').map(String::from).chain([at(&format!("sparse-{order}"))]))
    };
    std::fs::write(at("l.csv"), "position,class\n0,a\n1,b\n").unwrap();
    sparse("1").ok();
    sparse("2").fails(1, "of memory");
}

/// All 15 classes of sr25: what order 3 learns, order 2 must guess. Order 2 here; order 3 takes a minute (the document).
#[test]
fn order_two_guesses_sr25() {
    if !have("sr/sr251256.g6") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (copies, out) = (folder.path().join("sr25.jsonl"), folder.path().join("run"));
    let family = data_folder().join("sr/sr251256.g6");
    let words = ["data", "convert", family.to_str().unwrap(), copies.to_str().unwrap(), "--copies", "3"];
    assert_eq!(ppgn(words.iter().chain(&["--json"])).ok().json()["graphs"], 45);
    let found = accuracy(&copies, "--preset expressive --split 34/33/33 --epochs 20 --batch 15", &out);
    assert!((found - 1.0 / 15.0).abs() < 1e-9, "{found}");
}
