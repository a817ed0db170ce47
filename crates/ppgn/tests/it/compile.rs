//! `ppgn compile` and `ppgn predict --pairs`: theorem 2 from the command line.

use crate::run::{data_folder, have, ppgn};
use serde_json::Value;
use std::path::Path;

/// Compiles a network, and says what it makes of the pairs of data.
fn compiled(folder: &Path, data: &str, more: &[&str]) -> (Value, Value) {
    let net = folder.join(format!("net{}", std::fs::read_dir(folder).unwrap().count()));
    let net = net.to_str().unwrap();
    let words = [&["compile", data, "--test", "2-fwl", "--out", net, "--json"], more].concat();
    let compiled = ppgn(words).ok().json();
    let pairs = ppgn(["predict", net, data, "--pairs", "--json"]).ok().json();
    (compiled, pairs)
}

#[test]
fn pairs_of_brec_are_distinguished_as_the_test_does() {
    if !have("brec/basic.g6") || !have("sr/sr16622.g6") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| data_folder().join(name).display().to_string();
    for (name, pairs, parted) in
        [("brec/basic.g6", 60, 60), ("brec/regular.g6", 50, 50), ("sr/sr16622.g6", 1, 0)]
    {
        let (compiled, said) = compiled(folder.path(), &path(name), &[]);
        assert_eq!((&said["pairs"], &said["distinguished"]), (&pairs.into(), &parted.into()), "{name}");
        assert_eq!(said["threshold"], compiled["threshold"]);
        match parted {
            0 => assert_eq!(said["margin_min"], Value::Null),
            _ => assert!(said["margin_min"].as_f64() >= compiled["margin"].as_f64()),
        }
        let test = ppgn(["wl", "pairs", &path(name), "--test", "2-fwl", "--json"]).ok().json();
        assert_eq!(said["distinguished_indices"], test["distinguished_indices"]);
    }
}

#[test]
fn a_compiled_network_is_a_run_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net");
    let net = net.to_str().unwrap();
    let ran = ppgn(["compile", "figure1", "--multiset", "power-sums", "--explain", "--out", net]).ok();
    assert!(
        ran.out.contains("2 graphs in 2 classes") && ran.out.contains("block 2: histogram"),
        "{}",
        ran.out
    );
    let config = std::fs::read_to_string(Path::new(net).join("config.toml")).unwrap();
    for line in
        ["precision = \"f64\"", "pooling = \"sum\"", "test = \"2-fwl\"", "rounds = 1", "identity = true"]
    {
        assert!(config.contains(line), "{line} is not in {config}");
    }
    let said = ppgn(["predict", net, "figure1", "--pairs"]).ok().out;
    assert!(said.starts_with("the network distinguishes 1 of 1 pairs, each by at least "), "{said}");
    let rows = ppgn(["predict", net, "figure1"]).ok().out;
    assert!(rows.starts_with("index,histogram0") && rows.lines().count() == 3, "{rows}");
    let features = folder.path().join("features.npz");
    ppgn(["embed", net, "figure1", "--out", features.to_str().unwrap()]).ok();
    assert!(ppgn(["runs", folder.path().to_str().unwrap()]).ok().out.contains("compile"));
    ppgn(["train", "--resume", net]).fails(2, "was compiled: there is nothing to train");
    // Another number of rounds is another network.
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    ppgn(["compile", "figure1", "--rounds", "0", "--out", none]).ok();
    assert!(ppgn(["predict", none, "figure1", "--pairs"]).ok().out.contains("distinguishes 0 of 1 pairs"));
}

#[test]
fn orders_beyond_two() {
    let folder = tempfile::tempdir().unwrap();
    let net = |name: &str| folder.path().join(name).display().to_string();
    // The order as a number or by itself is the same test, and the same network.
    for (name, test) in [("a", &["--test", "k-fwl", "--order", "3"][..]), ("b", &["--test", "3-fwl"])] {
        let compiled =
            ppgn([&["compile", "cfi:base=k4", "--json", "--out", &net(name)], test].concat()).ok().json();
        assert_eq!((&compiled["test"], &compiled["order"]), (&"3-fwl".into(), &3.into()));
        let said = ppgn(["predict", &net(name), "cfi:base=k4", "--pairs", "--json"]).ok().json();
        let by_test = ppgn([&["wl", "pairs", "cfi:base=k4", "--json"], test].concat()).ok().json();
        assert_eq!(said["distinguished_indices"], by_test["distinguished_indices"]);
        assert_eq!((&said["pairs"], &said["distinguished"]), (&1.into(), &1.into()));
        assert_eq!(said["threshold"], compiled["threshold"]);
    }
    let weights =
        |name: &str| std::fs::read(folder.path().join(name).join("best/model.safetensors")).unwrap();
    assert_eq!(weights("a"), weights("b"));
    // 2-FWL, and so 3-WL, is too weak for this pair.
    for test in ["2-fwl", "3-wl"] {
        ppgn(["compile", "cfi:base=k4", "--test", test, "--explain", "--out", &net(test)]).ok();
        let said = ppgn(["predict", &net(test), "cfi:base=k4", "--pairs", "--json"]).ok().json();
        assert_eq!(said["distinguished"], 0);
    }
    let config = std::fs::read_to_string(folder.path().join("3-wl/config.toml")).unwrap();
    assert!(config.contains("order = 3") && config.contains("model = \"sums\""), "{config}");
    let explained =
        ppgn(["compile", "figure1", "--test", "k-wl", "--order", "3", "--explain", "--out", &net("c")])
            .ok()
            .out;
    assert!(explained.contains("over all 3-tuples") && explained.contains("m1: hidden"), "{explained}");
    ppgn(["embed", &net("c"), "figure1", "--out", &net("features.npz")]).ok();
}

#[test]
fn wrong_calls_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net");
    let net = net.to_str().unwrap();
    ppgn(["compile", "figure1", "--test", "1-wl", "--out", net]).fails(2, "cannot be compiled");
    ppgn(["compile", "figure1", "--test", "k-fwl", "--out", net]).fails(2, "takes --order K");
    ppgn(["compile", "figure1", "--test", "3-fwl", "--order", "2", "--out", net]).fails(2, "whose k is 3");
    ppgn(["wl", "pairs", "figure1", "--order", "3"]).fails(2, "does not go with --test 1-wl");
    ppgn(["wl", "compare", "figure1", "--test", "k-wl", "--order", "0"]).fails(2, "0-wl");
    ppgn(["compile", "figure1", "--multiset", "sums", "--out", net])
        .fails(2, "projections, power-sums or counts");
    ppgn(["compile", "figure1", "--out", folder.path().to_str().unwrap()]).fails(2, "already exists");
    let huge =
        ["compile", "gnp:n=14,p=0.4,count=2", "--multiset", "power-sums", "--rounds", "2", "--out", net];
    ppgn(huge).fails(1, "f64 is exact below 2^53 only");
    assert!(!Path::new(net).exists(), "a refusal leaves nothing behind");
    ppgn(["compile", "figure1", "--out", net]).ok();
    ppgn(["predict", net, "figure1:0", "--pairs"]).fails(2, "odd number");
}
