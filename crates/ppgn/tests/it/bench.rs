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
