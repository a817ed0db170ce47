//! `ppgn express`: every claim about what is distinguished, on small parts of the suites. The long ones run by the commands
//! of docs/expressiveness.md.

use crate::run::{command, data_folder, have, line, ppgn};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

fn count(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or_else(|| panic!("{field} in {report}"))
}

/// The fields that scripts rely on.
#[test]
fn the_report_has_its_fields() {
    let report = line("express figure1 --protocol rpc --seeds 0-1 --blocks 8,8 --json").ok().json();
    assert_eq!(
        [count(&report, "pairs"), count(&report, "distinguished"), count(&report, "bound")],
        [1, 1, 1]
    );
    assert_eq!((&report["missed"], count(&report, "reliability_failures")), (&Value::Array(vec![]), 0));
    assert!(report["seconds"].as_f64().is_some_and(|s| s > 0.0));
    assert_eq!(report["settings"]["rpc"]["threshold"], 72.34);
    assert_eq!(report["settings"]["network"]["outputs"], 16);
    assert_eq!(report["settings"]["network"]["blocks"].as_array().map(Vec::len), Some(2));
    assert_eq!((&report["scores"][1], &report["one_epoch"]), (&1.into(), &2.into()));
    assert_eq!((&report["random"]["f32"], &report["random"]["f64"]), (&1.into(), &1.into()));
}

#[test]
fn the_exact_bound_is_that_of_the_model() {
    let exact = |words: &str| line(&format!("express {words} --protocol exact --json")).ok().json();
    let csl = exact("csl");
    assert_eq!((&csl["test"], count(&csl, "bound")), (&"2-fwl".into(), 45));
    assert_eq!(csl["categories"][0]["classes"], 10);
    let linear = exact("csl --preset small --model lin");
    assert_eq!((&linear["test"], count(&linear, "bound")), (&"1-wl".into(), 0));
    assert_eq!(linear["categories"][0]["classes"], 1);
    let order3 = exact("cfi:base=k4 --order 3");
    assert_eq!((&order3["test"], count(&order3, "bound")), (&"3-fwl".into(), 1));
    assert_eq!(count(&exact("cfi:base=k4"), "bound"), 0);
    let sums = exact("cfi:base=k4 --preset small --model sums --order 3 --m4 none");
    assert_eq!((&sums["test"], count(&sums, "bound")), (&"3-wl".into(), 0));
}

/// A grid of 2 x 9 takes eight rounds: no network of three blocks can distinguish its pair.
#[test]
fn a_missed_pair_has_a_reason() {
    let words = "express cfi:base=grid2x9 --protocol random --preset small --blocks 8,8,8 --json";
    let report = line(words).ok().json();
    assert_eq!([count(&report, "distinguished"), count(&report, "bound")], [0, 1]);
    let missed = &report["missed"][0];
    assert_eq!((&missed["why"], &missed["rounds"]), (&"depth".into(), &8.into()));
}

/// The models that 1-WL bounds distinguish nothing of it.
#[test]
fn weaker_models_find_no_more_than_their_bound() {
    for model in ["lin", "mlp"] {
        let words = format!(
            "express csl:n=11,skips=2+3,copies=1 --protocol rpc --preset small --model {model} --json"
        );
        let report = line(&words).ok().json();
        let figures = ["pairs", "distinguished", "bound", "reliability_failures"].map(|f| count(&report, f));
        assert_eq!((figures, &report["beyond"]), ([1, 0, 0, 0], &Value::Array(vec![])), "{model}");
    }
}

/// In the quotient space copies agree to the bit, and the figures are marked.
#[test]
fn the_quotient_space_is_marked() {
    let report = line("express figure1 --space quotient --preset small --blocks 8,8 --json").ok().json();
    assert_eq!([count(&report, "distinguished"), count(&report, "regularised")], [1, 1]);
    assert_eq!(report["settings"]["space"], "quotient");
    let text = line("express figure1 --space quotient --preset small --blocks 8,8").ok().out;
    assert!(text.contains("S + 1e-7 I took the place of S"), "{text}");
}

#[test]
fn results_are_kept_pair_by_pair_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("lab");
    let words = |seeds: &str| {
        let line = format!(
            "express csl:n=11,skips=2+3,copies=2 --preset small --blocks 8,8 --seeds {seeds} --json --out"
        );
        line.split(' ').map(String::from).chain([out.display().to_string()]).collect::<Vec<_>>()
    };
    let first = ppgn(words("0")).ok().json();
    assert!(out.join("report.svg").exists() && out.join("report.json").exists());
    let pair = out.join("pairs/csl-0000.json");
    let stamp = std::fs::metadata(&pair).unwrap().modified().unwrap();
    let again = ppgn(words("0")).ok().json();
    assert_eq!(first["categories"], again["categories"], "nothing is computed twice");
    assert_eq!(std::fs::metadata(&pair).unwrap().modified().unwrap(), stamp);
    let more = ppgn(words("0-1")).ok().json();
    assert_eq!(more["scores"].as_array().map(Vec::len), Some(2), "further seeds are added");
    let other = ppgn(words("0").into_iter().chain(["--depth".into(), "1".into()]));
    other.fails(2, "was made with other settings: depth is 2 there and 1 here");
    std::fs::write(&pair, "{").unwrap();
    ppgn(words("0")).fails(1, "remove the file to have it computed again");
}

/// Whatever moment it is killed at, what is resumed gives the figures of what was not.
#[test]
#[cfg(unix)]
fn kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |out: &Path| {
        let mut command = command();
        command.args(
            "express csl --protocol random --preset small --blocks 4,4 --jobs 2 --json --out".split(' '),
        );
        command.arg(out).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    assert!(run(&whole).status().unwrap().success());
    for wait in [50, 400, 900] {
        let mut child = run(&parts).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(run(&parts).status().unwrap().success());
    let report = |out: &Path| -> Vec<Value> {
        let text = std::fs::read_to_string(out.join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        ["pairs", "distinguished", "bound", "missed", "random"].map(|f| report[f].clone()).to_vec()
    };
    assert_eq!(report(&whole), report(&parts));
}

#[test]
fn the_number_of_jobs_does_not_matter() {
    let of = |jobs: &str| {
        let words =
            format!("express csl:n=11,skips=2+3,copies=4 --preset small --blocks 8,8 --jobs {jobs} --json");
        let report = line(&words).ok().json();
        (report["distinguished"].clone(), report["random"].clone(), report["scores"].clone())
    };
    assert_eq!(of("1"), of("3"));
}

#[test]
fn wrong_calls_say_what_is_possible() {
    line("express nothing").fails(2, "is not a suite (brec, csl, exp, cexp, sr, cfi, graph8c)");
    line("express csl:classes").fails(2, "csl has no category `classes` here; there are csl");
    line("express figure1 --protocol guess").fails(2, "expected one of `rpc`, `random`, `exact`");
    line("express figure1 --seed 3").fails(2, "give --seeds");
    line("express figure1 --limit 3").fails(2, "--target and --limit");
    line("express rook").fails(2, "even number");
    line("express graph8c --protocol rpc").fails(2, "61788286 pairs");
    line("express figure1 --max-memory 1MiB").fails(1, "of memory, but only 1.0 MiB may be used");
}

/// EXP and CEXP as their authors' file has them; `exp.txt` stands in for users' files.
#[test]
fn exp_is_read_from_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let of = |suite: &str| {
        let mut words: Vec<String> =
            format!("express {suite} --protocol exact --json").split(' ').map(String::from).collect();
        words.extend(["--data-dir".into(), folder.path().display().to_string()]);
        ppgn(words)
    };
    of("exp").fails(2, "exp/GRAPHSAT.txt");
    // Hexagons and pairs of triangles, labelled as literals and clauses are.
    let cycle = |nodes: &[usize], label: usize| -> Vec<String> {
        let (n, mut lines) = (nodes.len(), vec![String::new(); 6]);
        for (i, &v) in nodes.iter().enumerate() {
            lines[v] = format!("{label} 2 {} {}", nodes[(i + 1) % n], nodes[(i + n - 1) % n]);
        }
        lines
    };
    let graph = |parts: &[&[usize]], class: usize, label: usize| {
        let mut lines = vec![String::new(); 6];
        for part in parts {
            for (line, new) in lines.iter_mut().zip(cycle(part, label)) {
                line.push_str(&new);
            }
        }
        format!("6 {class}\n{}\n", lines.join("\n"))
    };
    let hexagon = |label| graph(&[&[0, 1, 2, 3, 4, 5]], 0, label);
    let triangles = |label| graph(&[&[0, 1, 2], &[3, 4, 5]], 1, label);
    std::fs::create_dir(folder.path().join("exp")).unwrap();
    let text = format!("4\n{}{}{}{}", hexagon(0), triangles(0), hexagon(1), triangles(1));
    std::fs::write(folder.path().join("exp/GRAPHSAT.txt"), text).unwrap();
    let report = of("exp").ok().json();
    assert_eq!([count(&report, "pairs"), count(&report, "bound")], [2, 2]);
    let weak = of("exp --preset small --model lin").ok().json();
    assert_eq!(count(&weak, "bound"), 0);
}

/// BREC's categories of the data folder, by rpc: a few pairs of each here, all by `ppgn express brec --seeds 0-2`.
#[test]
fn brec_is_reached() {
    if !["basic", "regular", "extension"].into_iter().all(|c| have(&format!("brec/{c}.g6"))) {
        return;
    }
    let report = line("express brec --protocol exact --json").ok().json();
    assert_eq!([count(&report, "pairs"), count(&report, "bound")], [210, 210]);
    assert_eq!(report["missing"].as_array().map(Vec::len), Some(4));
    let folder = tempfile::tempdir().unwrap();
    for (category, rows) in [("basic", 6), ("regular", 6), ("extension", 6)] {
        let all = std::fs::read_to_string(data_folder().join(format!("brec/{category}.g6"))).unwrap();
        let some: Vec<&str> = all.lines().take(rows).collect();
        let file = folder.path().join(format!("{category}.g6"));
        std::fs::write(&file, some.join("\n") + "\n").unwrap();
        let report = ppgn(["express", file.to_str().unwrap(), "--json"]).ok().json();
        assert_eq!(count(&report, "distinguished"), rows as u64 / 2, "{category}");
        assert_eq!(count(&report, "reliability_failures"), 0);
    }
}

/// The rook's graph and Shrikhande's differ in 4-cliques alone: order 2 cannot count those, order 3 can.
#[test]
fn four_cliques_need_order_three() {
    use ppgn::graph::generate::generate;
    let [rook, shrikhande] = ["rook", "shrikhande"]
        .map(|name| ppgn::graph::substructures::counts(generate(name).unwrap().graph(0)));
    assert_eq!(rook.graph[..6], shrikhande.graph[..6]);
    assert_eq!((rook.graph[6], shrikhande.graph[6]), (8, 0));
    assert_eq!(rook.nodes[0][..6], shrikhande.nodes[0][..6]);
    let folder = tempfile::tempdir().unwrap();
    let of = |order: &str| {
        let words = format!(
            "express sr --protocol random --preset small --blocks 8,8 --order {order} --json --data-dir"
        );
        let words = words.split(' ').map(String::from).chain([folder.path().display().to_string()]);
        let report = ppgn(words).ok().json();
        ["pairs", "distinguished", "bound"].map(|field| count(&report, field))
    };
    assert_eq!((of("2"), of("3")), ([1, 0, 0], [1, 1, 1]));
}

/// A short training shows that it learns, that it is kept, and what it prints; docs/expressiveness.md has long ones.
#[test]
fn networks_learn_to_count() {
    let folder = tempfile::tempdir().unwrap();
    let run = |target: &str, epochs: usize| {
        let line = format!(
            "express counting:count=100 --target {target} --blocks 8,8 --epochs {epochs} --json --out"
        );
        let out = folder.path().join(format!("counts-{epochs}")).display().to_string();
        ppgn(line.split(' ').map(String::from).chain([out]))
    };
    let report = run("triangle", 25).ok().json();
    let found = &report["substructures"][0];
    assert_eq!((found["name"].as_str(), report["graphs"].as_u64()), (Some("triangle"), Some(100)));
    let error = |report: &Value| report["substructures"][0]["error"].as_f64().unwrap();
    assert!(error(&report) < 0.8 * error(&run("triangle", 1).ok().json()), "{found}");
    assert!(found["baseline"].as_f64().is_some_and(|baseline| (0.5..1.2).contains(&baseline)));
    assert_eq!(report["published_per_node"]["rows"][4]["name"], "PPGN");
    // The same command reads the finished run; another target is a run beside it.
    assert_eq!(run("triangle", 25).ok().json()["substructures"], report["substructures"]);
    run("heptagon", 25).fails(2, "heptagon");
}
