//! `ppgn bench`: figures a script can read, on the work that was asked for.

use crate::run::{have, line, ppgn};

#[test]
fn a_step() {
    let work = "bench step --batch 2 --nodes 5 --inputs 3 --features 8 --steps 3 --threads 1";
    let v = line(&format!("{work} --json")).ok().json();
    assert_eq!((&v["rows"], &v["space"], &v["threads"]), (&vec![50; 4].into(), &"dense".into(), &1.into()));
    for figure in ["step_ms", "gflops", "gemm_gflops"] {
        assert!(v[figure].as_f64().unwrap() > 0.0, "{figure} in {v}");
    }
    if cfg!(target_os = "linux") {
        assert!(
            v["peak_rss_mb"].as_f64().unwrap() > 1.0 && v["minor_faults"].as_f64().unwrap() >= 0.0,
            "{v}"
        );
    }
    // By hand, as the PyTorch program counts: 6 * rows * sum over blocks of 2 (a b + b b) + (a + b) b + b n.
    let macs = (2 * (3 * 8 + 64) + 11 * 8 + 40) + 2 * (2 * 128 + 128 + 40);
    let flops = v["gflops"].as_f64().unwrap() * 1e9 * v["step_ms"].as_f64().unwrap() / 1e3;
    assert!((flops / f64::from(6 * 50 * macs) - 1.0).abs() < 1e-9, "{v}");
    // Random inputs: no two pairs are alike.
    let v = line(&format!("{work} --json --space quotient")).ok().json();
    assert_eq!((&v["rows"], &v["space"]), (&vec![50; 4].into(), &"quotient".into()));
    assert!(line(work).ok().out.contains("GFLOPS"));
    let v = line("bench step --order 3 --batch 1 --nodes 4 --features 4 --steps 1 --json").ok().json();
    assert_eq!((&v["rows"], &v["order"]), (&vec![64; 4].into(), &3.into()));
    line("bench step --order 3 --nodes 4 --space auto").fails(2, "dense space only");
    line("bench step --batch 0").fails(2, "at least one graph");
    line("bench step --features 0").fails(2, "");
    line("bench step --nodes 9999999999").fails(2, "fit");
}

#[test]
fn an_epoch() {
    let v = line("bench epoch csl --limit 20 --blocks 4,4 --space quotient --json").ok().json();
    assert_eq!(
        (&v["graphs"], &v["pairs"], &v["space"]),
        (&20.into(), &(20 * 41 * 41).into(), &"quotient".into())
    );
    let rows: Vec<u64> = v["rows"].as_array().unwrap().iter().map(|r| r.as_u64().unwrap()).collect();
    assert!(rows.len() == 3 && rows[0] <= rows[1] && rows[1] <= rows[2] && rows[2] < 20 * 41 * 41, "{v}");
    assert!(v["epoch_s"].as_f64().unwrap() > 0.0 && v["prepare_s"].as_f64().unwrap() > 0.0, "{v}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("batches.json");
    let bench = |batches: &str, more: &[&str]| {
        std::fs::write(&file, batches).unwrap();
        let words = ["bench", "epoch", "csl", "--blocks", "4", "--space", "dense", "--json", "--batches"];
        ppgn(words.iter().copied().chain([file.to_str().unwrap()]).chain(more.iter().copied()))
    };
    let v = bench("[[0, 149], [7]]", &[]).ok().json();
    assert_eq!(
        (&v["graphs"], &v["batches"], &v["rows"]),
        (&3.into(), &2.into(), &vec![3 * 41 * 41; 2].into())
    );
    bench("[[150]]", &[]).fails(2, "graph 150");
    bench("[[]]", &[]).fails(2, "at least one graph");
    bench("[1]", &[]).fails(2, "list of lists");
    bench("[[1]]", &["--limit", "3"]).fails(2, "--limit");
}

#[test]
fn a_known_dataset() {
    if have("tu/MUTAG.zip") {
        let line = line("bench epoch MUTAG --preset paper-1 --blocks 8,8 --limit 30 --json").ok().json();
        assert_eq!((&line["dataset"], &line["graphs"]), (&"MUTAG".into(), &30.into()));
    }
}

#[test]
fn growth_with_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("scaling");
    let words = ["bench", "scaling", "block-2", "layer-2", "--tuples", "2304", "--features", "2"];
    let more = ["--repeats", "1", "--json", "--out", out.to_str().unwrap()];
    let v = ppgn(words.into_iter().chain(more)).ok().json();
    let subjects = v["subjects"].as_array().unwrap();
    assert_eq!(subjects.len(), 2);
    for (subject, (name, claim)) in subjects.iter().zip([("block-2", 3), ("layer-2", 2)]) {
        assert_eq!((&subject["subject"], &subject["time_claim"]), (&name.into(), &claim.into()));
        let points = subject["points"].as_array().unwrap();
        let nodes: Vec<u64> = points.iter().map(|p| p["nodes"].as_u64().unwrap()).collect();
        assert_eq!(nodes, [6, 8, 12, 16, 24, 32, 48]);
        assert!(
            points.iter().all(|p| p["forward_ms"].as_f64().unwrap() > 0.0) && subject["time_fit"].is_f64()
        );
    }
    let csv = std::fs::read_to_string(out.join("scaling.csv")).unwrap();
    assert_eq!(csv.lines().count(), 15, "{csv}");
    assert!(std::fs::read_to_string(out.join("scaling.svg")).unwrap().contains("layer-2"));
    line("bench scaling --tuples 3").fails(2, "--tuples");
    line("bench scaling block-1").fails(2, "block-2 to block-10");
    line("bench cost block-2 --nodes 0").fails(2, "at least one node");
    let text = line("bench cost block-3 --nodes 4 --features 2 --repeats 1").ok().out;
    assert!(text.contains("forward pass"), "{text}");
}

/// Memory is measured at sizes large enough to exceed what a process needs anyway.
#[test]
fn space_grows_as_the_tuples() {
    if !cfg!(target_os = "linux") {
        eprintln!("SKIPPED: memory is reported on Linux only");
        return;
    }
    let space = |nodes: usize| {
        let v = line(&format!("bench cost block-2 --nodes {nodes} --repeats 1 --json")).ok().json();
        v["space_mb"].as_f64().unwrap()
    };
    let ratio = space(800) / space(400);
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
}
