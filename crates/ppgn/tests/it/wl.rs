//! `ppgn wl`.

use crate::run::{command, data_folder, have, line, ppgn};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn refine_shows_the_partition_round_by_round() {
    let text = line("wl refine path:n=5").ok().out;
    assert!(text.contains("{1 2 3}") && text.contains("{0 4} {1 3} {2}") | text.contains("{2}"), "{text}");
    let v = line("wl refine path:n=5 --json").ok().json();
    assert_eq!((&v["rounds"], &v["colours"], &v["stable"]), (&2.into(), &3.into(), &true.into()));
    let limited = line("wl refine path:n=9 --rounds 1 --json").ok().json();
    assert_eq!((&limited["rounds"], &limited["stable"]), (&1.into(), &false.into()));
}

#[test]
fn refine_writes_colours_and_drawings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    ppgn(["wl", "refine", "path:n=3", "--colours", &path("c.csv"), "--svg", &path("c.svg")]).ok();
    let csv = std::fs::read_to_string(path("c.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("graph,node,colour"));
    assert_eq!(csv.lines().count(), 4);
    let svg = std::fs::read_to_string(path("c.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("round 1"), "{svg}");
    ppgn([
        "wl",
        "refine",
        "figure1",
        "--test",
        "2-fwl",
        "--colours",
        &path("c.jsonl"),
        "--svg",
        &path("p.svg"),
    ])
    .ok();
    assert_eq!(std::fs::read_to_string(path("c.jsonl")).unwrap().lines().count(), 2);
    ppgn(["wl", "refine", "csl", "--colours", &path("c.xyz")]).fails(2, ".csv or .jsonl");
    ppgn(["wl", "refine", "figure1", "--test", "3-fwl", "--svg", &path("t.svg")]).fails(2, "--svg");
}

#[test]
fn compare_climbs_the_hierarchy() {
    let v = line("wl compare figure1:0 figure1:1 --json").ok().json();
    assert_eq!((&v["verdict"], &v["test"]), (&"parted".into(), &"2-fwl".into()), "{v}");
    let v = line("wl compare rook shrikhande --json").ok().json();
    assert_eq!((&v["verdict"], &v["test"]), (&"parted".into(), &"3-fwl".into()), "{v}");
    let v = line("wl compare figure1:0 figure1:1 --test 1-wl --json").ok().json();
    assert_eq!((&v["verdict"], &v["test"]), (&"equal".into(), &"1-wl".into()), "{v}");
    let text = line("wl compare path:n=4 star:n=3").ok().out;
    assert!(text.contains("round 1"), "{text}");
    let both = line("wl compare figure1 --test 2-fwl --json").ok().json();
    assert_eq!(both["verdict"], "parted");
}

/// Issue 14, point 1: a test that `--rounds` stopped before it was stable has not decided.
#[test]
fn point_1_a_test_that_was_stopped_has_not_decided() {
    let ran = line("wl compare figure1 --test 2-fwl --rounds 0").ok();
    assert!(ran.out.contains("2-fwl: not distinguished after 0 rounds (not stable)"), "{}", ran.out);
    assert!(!ran.out.contains("equal"), "{}", ran.out);
    let v = line("wl compare figure1 --test 2-fwl --rounds 0 --json").ok().json();
    assert_eq!((&v["verdict"], &v["stable"]), (&"undecided".into(), &false.into()), "{v}");
    // One round distinguishes them, and 1-wl is stable at once: both have decided.
    let v = line("wl compare figure1 --test 2-fwl --rounds 1 --json").ok().json();
    assert_eq!(v["verdict"], "parted", "{v}");
    let v = line("wl compare figure1 --test 1-wl --rounds 0 --json").ok().json();
    assert_eq!((&v["verdict"], &v["stable"]), (&"equal".into(), &true.into()), "{v}");

    let v = line("wl pairs figure1 --test 2-fwl --rounds 0 --json").ok().json();
    assert_eq!((&v["undecided"], &v["stable"]), (&1.into(), &false.into()), "{v}");
    let text = line("wl pairs figure1 --test 2-fwl --rounds 0").ok().out;
    assert!(text.contains("not distinguished after 0 rounds (not stable): 0"), "{text}");
    let v = line("wl classes figure1 --test 2-fwl --rounds 0 --json").ok().json();
    assert_eq!((&v["classes"], &v["stable"]), (&1.into(), &false.into()), "{v}");
    assert!(line("wl classes figure1 --test 2-fwl --rounds 0").ok().out.contains("not stable"));
    assert_eq!(line("wl classes figure1 --json").ok().json()["stable"], true);
}

/// Issue 14, point 1: graphs are called isomorphic only if nothing of them was ignored.
#[test]
fn point_1_isomorphic_is_said_only_if_nothing_was_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.jsonl");
    let write = |a: &str, b: &str| {
        let graph = |features: &str| format!("{{\"n\":2,\"edges\":[[0,1]]{features}}}\n");
        std::fs::write(&path, format!("{{\"ppgn\":1}}\n{}{}", graph(a), graph(b))).unwrap();
    };
    let compare = |more: &[&str]| {
        let base = ["wl", "compare", path.to_str().unwrap(), "--test", "2-fwl"];
        ppgn(base.iter().chain(more).copied().collect::<Vec<_>>()).ok()
    };
    write("", "");
    assert_eq!(compare(&["--json"]).json()["isomorphic"], true);
    write(",\"node_attributes\":[0.5,1.5]", ",\"node_attributes\":[2.5,3.5]");
    let v = compare(&["--json"]).json();
    assert_eq!((&v["verdict"], &v["isomorphic"]), (&"equal".into(), &false.into()), "{v}");
    assert_eq!(v["ignored"], serde_json::json!(["node attributes"]));
    assert!(compare(&[]).out.contains("isomorphic if node attributes are ignored"));
    write(",\"node_labels\":[1,2]", ",\"node_labels\":[3,4]");
    assert_eq!(compare(&["--ignore-labels", "--json"]).json()["isomorphic"], false);
    assert_eq!(compare(&["--json"]).json()["verdict"], "parted");
}

/// Issue 14, point 10: a tuple of 100,000 nodes has a type of 40 GB.
#[test]
fn point_10_digests_of_endless_tuples_are_refused() {
    line("wl digest path:n=1 --test 100000-fwl").fails(2, "too long to write out");
    line("wl digest path:n=1 --test 100-fwl").ok();
}

/// Issue 14, point 14: names from files reach neither the terminal nor an SVG as control characters.
#[test]
fn point_14_names_with_terminal_escapes_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let header = "{\"ppgn\":1,\"name\":\"\\u001b[31m<red>&\\u0000\"}\n";
    std::fs::write(&path, format!("{header}{{\"n\":2,\"edges\":[[0,1]]}}\n")).unwrap();
    let svg = folder.path().join("x.svg");
    let (path, svg) = (path.to_str().unwrap(), svg.to_str().unwrap());
    for args in [&["wl", "refine", path, "--svg", svg][..], &["wl", "digest", path], &["data", "info", path]]
    {
        let ran = ppgn(args.to_vec()).ok();
        assert!(ran.out.contains("\\u{1b}[31m<red>&\\u{0}"), "{args:?}: {}", ran.out);
        assert!(!ran.out.contains('\x1b') && !ran.out.contains('\0'), "{args:?}: {:?}", ran.out);
    }
    let picture = std::fs::read_to_string(svg).unwrap();
    assert!(picture.contains("\\u{1b}[31m&lt;red&gt;&amp;\\u{0}:0"), "{picture}");
    assert!(!picture.chars().any(|c| c.is_control() && c != '\n'), "control characters are not XML");
}

#[test]
fn pairs_of_brec() {
    for (file, pairs) in [("basic", 60), ("regular", 50), ("extension", 100)] {
        if !have(&format!("brec/{file}.g6")) {
            return;
        }
        let path = data_folder().join(format!("brec/{file}.g6"));
        let run = |test| ppgn(["wl", "pairs", path.to_str().unwrap(), "--test", test, "--json"]).ok().json();
        let v = run("1-wl");
        assert_eq!((&v["pairs"], &v["distinguished"]), (&pairs.into(), &0.into()), "{file}");
        let v = run("2-fwl");
        assert_eq!((&v["pairs"], &v["distinguished"]), (&pairs.into(), &pairs.into()), "{file}");
        assert_eq!(v["distinguished_indices"].as_array().unwrap().len(), pairs);
        assert!(v["rounds_max"].is_number() && v["seconds"].is_number());
    }
}

#[test]
fn classes_group_what_a_test_does_not_distinguish() {
    let v = line("wl classes csl --json").ok().json();
    assert_eq!(v["classes"], 1, "{v}");
    let v = line("wl classes csl --test 2-fwl --json").ok().json();
    assert_eq!(v["classes"], 10, "{v}");
}

#[test]
fn digests_do_not_depend_on_the_other_graphs() {
    let all = line("wl digest figure1 --test 2-fwl").ok().out;
    let one = line("wl digest figure1:1 --test 2-fwl").ok().out;
    let last = |text: &str| text.lines().last().unwrap().split_whitespace().last().unwrap().to_string();
    assert_eq!(last(&all), last(&one));
    let v = line("wl digest figure1 --json").ok().json();
    let digests = v["digests"].as_array().unwrap();
    assert_eq!(digests[0], digests[1], "1-wl does not distinguish them");
}

#[test]
fn kernel_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("k.npz");
    let v = ppgn(["wl", "kernel", "csl", out.to_str().unwrap(), "--iterations", "2", "--json"]).ok().json();
    assert_eq!(v["graphs"], 150, "{v}");
    assert!(out.exists());
    let gram = folder.path().join("gram.npy");
    ppgn(["wl", "kernel", "csl", gram.to_str().unwrap(), "--gram"]).ok();
    assert!(std::fs::read(gram).unwrap().starts_with(b"\x93NUMPY"));
    ppgn(["wl", "kernel", "csl", folder.path().join("k.txt").to_str().unwrap()]).fails(2, ".npz");
}

#[test]
fn wrong_calls_exit_with_two() {
    line("wl refine csl --test 2-gwl").fails(2, "2-gwl");
    line("wl compare csl figure1:0").fails(2, "csl");
    line("wl compare csl").fails(2, "csl");
    line("wl pairs petersen").fails(2, "odd");
    line("wl digest petersen --rounds 1").fails(2, "--rounds");
    line("wl refine path:n=100 --test 40-fwl").fails(2, "more tuples than can be numbered");
    line("wl refine path:n=200 --test 3-fwl --max-memory 1MiB").fails(1, "--max-memory");
    let folder = tempfile::tempdir().unwrap();
    let null = folder.path().join("null.g6");
    std::fs::write(&null, "?\n").unwrap();
    ppgn(["wl", "refine", null.to_str().unwrap()]).fails(2, "no nodes");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_promptly_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("c.csv");
    let mut child = command()
        .args(["wl", "refine", "gnp:n=180,p=0.5", "--test", "3-fwl", "--colours", out.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let start = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "after {:?}", start.elapsed());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
