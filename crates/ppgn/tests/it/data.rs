//! `ppgn data`.

use crate::run::{command, data_folder, have, line, ppgn};
use serde_json::Value;
use std::io::{Read, Write};
use std::process::Stdio;

fn info(data: &str) -> Value {
    ppgn(["data", "info", data, "--json", "--offline"]).ok().json()
}

#[test]
fn info_of_the_papers_sets() {
    // name, graphs, classes, average nodes, node labels
    let expected = [
        ("MUTAG", 188, 2, 17.93, 7),
        ("PTC", 344, 2, 25.56, 19),
        ("PROTEINS", 1113, 2, 39.06, 3),
        ("NCI1", 4110, 2, 29.87, 37),
        ("NCI109", 4127, 2, 29.68, 38),
        ("IMDBBINARY", 1000, 2, 19.77, 0),
        ("IMDBMULTI", 1500, 3, 13.0, 0),
        ("COLLAB", 5000, 3, 74.49, 0),
    ];
    for (name, graphs, classes, nodes, labels) in expected {
        if !have(&format!("tu/{name}.zip")) {
            continue;
        }
        let v = info(name);
        assert_eq!(v["name"], name);
        assert_eq!(
            (&v["graphs"], &v["classes"], &v["node_labels"]),
            (&graphs.into(), &classes.into(), &labels.into()),
            "{v}"
        );
        assert!((v["nodes_avg"].as_f64().unwrap() - nodes).abs() < 0.011, "{v}");
        assert_eq!((&v["folds"], &v["task"]), (&10.into(), &"classification".into()));
        let total: u64 = v["class_counts"].as_array().unwrap().iter().map(|c| c.as_u64().unwrap()).sum();
        assert_eq!(total, graphs);
        if name == "COLLAB" {
            assert_eq!(v["self_loops"], 2837);
            assert!((v["edges_avg"].as_f64().unwrap() - 2457.78).abs() < 0.011, "{v}");
        }
    }
}

#[test]
fn info_of_enzymes_and_qm9() {
    if have("tu/ENZYMES") {
        let v = info("enzymes");
        assert_eq!(
            (&v["graphs"], &v["classes"], &v["node_labels"], &v["node_attributes"]),
            (&600.into(), &6.into(), &3.into(), &18.into())
        );
    }
    if have("qm9/qm9_130831.npz") {
        let v = info("QM9");
        assert_eq!(
            (&v["graphs"], &v["targets"], &v["task"]),
            (&130831.into(), &12.into(), &"regression".into())
        );
    }
    if have("qm9/sdf/gdb9.sdf") {
        let v = ppgn(["data", "info", data_folder().join("qm9/sdf/gdb9.sdf").to_str().unwrap(), "--json"])
            .ok()
            .json();
        assert_eq!((&v["graphs"], &v["targets"]), (&997.into(), &12.into()));
    }
}

#[test]
fn info_numbers_are_numbers() {
    let v = info("csl");
    for key in [
        "graphs",
        "classes",
        "nodes_min",
        "nodes_avg",
        "nodes_max",
        "edges_avg",
        "node_labels",
        "node_attributes",
        "edge_labels",
        "self_loops",
        "folds",
    ] {
        assert!(v[key].is_number(), "{key}: {}", v[key]);
    }
    assert!(v["name"].is_string() && v["task"].is_string() && v["class_counts"].is_array());
    assert_eq!((&v["graphs"], &v["classes"], &v["nodes_avg"]), (&150.into(), &10.into(), &41.0.into()));
}

#[test]
fn info_for_people() {
    let text = line("data info csl").ok().out;
    for part in [
        "csl: 150 graphs, undirected, classification, 10 classes",
        "41 each",
        "graphs by number of nodes",
        "█",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let one = line("data info figure1:1").ok().out;
    assert!(one.contains("1 graph, "), "{one}");
}

#[test]
fn list_names_everything() {
    let text = line("data list").ok().out;
    for part in ["csl", "cfi", "jsonl", "In the data folder"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let v = line("data list --json").ok().json();
    assert!(v["generators"].as_array().unwrap().len() >= 16);
}

#[test]
fn converting_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let jsonl = path("csl.jsonl");
    let v = ppgn(["data", "convert", "csl", &jsonl, "--json"]).ok().json();
    assert_eq!((&v["graphs"], &v["format"]), (&150.into(), &"jsonl".into()));
    let strip = |mut v: Value| {
        for key in ["source", "format", "notes"] {
            v.as_object_mut().unwrap().remove(key);
        }
        v
    };
    assert_eq!(strip(info(&jsonl)), strip(info("csl")));
    // There already.
    ppgn(["data", "convert", "csl", &jsonl]).fails(2, "--force");
    ppgn(["data", "convert", "csl", &jsonl, "--force"]).ok();
    // graph6 has no classes.
    let g6 = path("csl.g6");
    ppgn(["data", "convert", "csl", &g6]).fails(1, "--lossy");
    assert!(!folder.path().join("csl.g6").exists());
    ppgn(["data", "convert", "csl", &g6, "--lossy"]).ok();
    assert_eq!(info(&g6)["graphs"], 150);
    assert_eq!(info(&format!("{g6}:7"))["graphs"], 1);
    let tu = path("csl");
    ppgn(["data", "convert", "csl", &tu]).ok();
    assert_eq!(info(&format!("{tu}/"))["classes"], 10);
    ppgn(["data", "convert", "csl", &path("csl.xyz")]).fails(2, "cannot write `.xyz`");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
}

#[test]
fn check_reports_every_defect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.txt");
    // Three graphs are promised: the first has a neighbour out of range, the second is fine, the third's degree is wrong.
    std::fs::write(&path, "3\n2 0\n0 1 5\n0 1 0\n1 1\n0 0\n2 0\n0 2 1\n0 1 0\n").unwrap();
    let path = path.to_str().unwrap();
    let ran = ppgn(["data", "check", path]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.out.contains(":3: graph 0:") && ran.out.contains(":8: graph 2:"), "{}", ran.out);
    let v = ppgn(["data", "check", path, "--json"]).json();
    assert!(v["defects"].as_u64().unwrap() >= 2, "{v}");
    ppgn(["data", "info", path]).fails(1, ":3: graph 0:");
    line("data check csl").ok();
    if have("tu/MUTAG.zip") {
        assert!(line("data check MUTAG --offline").ok().out.contains("no defects"));
    }
}

#[test]
fn wrong_calls_exit_with_two() {
    line("data info nosuchthing --offline").fails(2, "nosuchthing");
    line("data info figur1 --offline").fails(2, "figure1");
    line("data info csl:999").fails(2, "999");
    line("data info csl:q=3").fails(2, "q");
    line("data info ./not/there.g6").fails(2, "there.g6");
    line("data info csl --format word").fails(2, "`word` is not a format");
    line("data info csl --max-unpacked 4XB").fails(2, "not a size");
    line("data info").fails(2, "");
    line("nosuchcommand").fails(2, "nosuchcommand");
}

#[test]
fn archives_that_unpack_to_too_much() {
    if !have("tu/MUTAG.zip") {
        return;
    }
    line("data info MUTAG --offline --max-unpacked 10KiB").fails(1, "--max-unpacked");
    line("data info MUTAG --offline --max-unpacked 1MiB").ok();
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child =
        command().args(["data", "list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success(), "{err}");
    assert_eq!(err, "");
}

#[test]
fn help_teaches() {
    for args in ["--help", "data --help", "data info --help", "data convert --help"] {
        let text = line(args).ok().out;
        assert!(text.contains("ppgn"), "{args}");
    }
    assert!(line("data info --help").ok().out.contains("DATA:7 is graph 7"));
}

/// A server on this machine that answers every request with these bytes, `times` times.
fn serve(bytes: &'static [u8], times: usize) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(times) {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(bytes));
        }
    });
    format!("http://{address}/")
}

#[test]
fn get_from_a_mirror() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    ppgn(["data", "get", "nosuchset", "--data-dir", dir]).fails(2, "MUTAG");
    // The checksum is known, and this is not the file.
    let mirror = serve(b"PK not really", 8);
    let ran = ppgn(["data", "get", "MUTAG", "--from", &mirror, "--data-dir", dir]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("MUTAG.zip") && ran.err.contains("By hand"), "{}", ran.err);
    if have("tu/MUTAG.zip") {
        let bytes: &'static [u8] = std::fs::read(data_folder().join("tu/MUTAG.zip")).unwrap().leak();
        let mirror = serve(bytes, 2);
        let v = ppgn(["data", "get", "mutag", "--from", &mirror, "--data-dir", dir, "--json"]).ok().json();
        assert_eq!(v["already_there"], false);
        let v = ppgn(["data", "get", "mutag", "--from", &mirror, "--data-dir", dir, "--json"]).ok().json();
        assert_eq!(v["already_there"], true);
        let v = ppgn(["data", "info", "MUTAG", "--data-dir", dir, "--json"]).ok().json();
        assert_eq!(v["graphs"], 188);
    }
}

#[test]
fn labels_and_standard_input() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).display().to_string();
    std::fs::write(path("x.g6"), "A_\nBw\nC~\n").unwrap();
    std::fs::write(path("y.csv"), "index,class,size\n0,small,2\n2,large,\n").unwrap();
    let v = ppgn(["data", "info", &path("x.g6"), "--labels", &path("y.csv"), "--json"]).ok().json();
    assert_eq!(v["class_names"], serde_json::json!(["large", "small"]));
    assert_eq!((&v["unknown_classes"], &v["unknown_targets"]), (&1.into(), &serde_json::json!([2])));
    ppgn(["data", "convert", &path("x.g6"), &path("x.jsonl"), "--labels", &path("y.csv")]).ok();
    // A table by itself is no graph, and the hint names the option that takes it.
    ppgn(["data", "info", &path("y.csv")]).fails(1, "looks like a table").fails(1, "--labels");

    let piped = |args: &[&str], input: &[u8]| {
        let mut ppgn = command();
        ppgn.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ppgn.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        crate::run::Ran::from(child.wait_with_output().unwrap())
    };
    let text = std::fs::read(path("x.jsonl")).unwrap();
    let v = piped(&["data", "info", "-", "--json"], &text).ok().json();
    assert_eq!((&v["graphs"], &v["unknown_classes"]), (&3.into(), &1.into()));
    assert_eq!(piped(&["wl", "digest", "-"], b"A_\nBw\n").ok().out.lines().count(), 2);
    let v = piped(&["data", "info", &path("x.g6"), "--labels", "-", "--json"], b"y\n1\n2\n3\n").ok().json();
    assert_eq!(v["target_names"], serde_json::json!(["y"]));
    piped(&["data", "info", "-"], b"").fails(1, "standard input: nothing in it");
    let checked = piped(&["data", "check", "-"], b"{\"ppgn\":1}\n{\"n\":-1}\n");
    assert!(
        checked.code == Some(1) && checked.out.contains("standard input:2: graph 0: `n`"),
        "{}",
        checked.out
    );
}
