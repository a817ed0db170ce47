//! `ppgn cv`, `ppgn search`, `ppgn reproduce`.

use crate::run::{command, have, line, ppgn};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A network that is trained in no time.
const TINY: &str = "--blocks 4 --batch 8 --quiet";

fn cv(out: &Path, more: &str) -> Vec<String> {
    words(&format!("cv csl:n=13,skips=2+3+5,copies=8 {TINY} --out {} {more}", out.display()))
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    (folder, path)
}

/// Starts ppgn and waits until a file is there with so many lines.
fn started(args: &[String], file: &Path, lines: usize) -> Child {
    let mut child = command().args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while std::fs::read_to_string(file).unwrap_or_default().lines().count() < lines {
        assert!(start.elapsed() < Duration::from_secs(60), "{} does not grow", file.display());
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

fn files_of_fold(out: &Path, fold: usize) -> Vec<Vec<u8>> {
    let files = ["metrics.jsonl", "summary.json", "checkpoint/model.safetensors", "best/model.safetensors"];
    let read = |name: &&str| std::fs::read(out.join(format!("fold-{fold}")).join(name)).unwrap();
    files.iter().map(read).collect()
}

#[test]
fn a_killed_cross_validation_ends_as_if_nothing_had_been() {
    let (_kept, whole) = folder();
    let mut expected = ppgn(cv(&whole, "--epochs 12 --folds 1-4 --jobs 1 --json")).ok().json();
    assert_eq!((&expected["dataset"], &expected["preset"]), (&"csl".into(), &"small".into()), "{expected}");
    assert_eq!(expected["folds"], serde_json::json!([1, 2, 3, 4]));
    let curves = expected["curves"].as_array().unwrap();
    assert!(curves.len() == 4 && curves.iter().all(|c| c.as_array().unwrap().len() == 12));
    // The figure is the mean at the first best epoch of the mean curve.
    let at = |c: &serde_json::Value, e: usize| c[e].as_f64().unwrap();
    let means: Vec<f64> = (0..12).map(|e| curves.iter().map(|c| at(c, e)).sum::<f64>() / 4.0).collect();
    let best = means.iter().copied().fold(0.0, f64::max);
    let epoch = means.iter().position(|m| *m > best - 1e-12).unwrap();
    assert_eq!(expected["epoch"], epoch + 1);
    let squares: f64 = curves.iter().map(|c| (at(c, epoch) - best).powi(2)).sum();
    assert!((expected["accuracy_mean"].as_f64().unwrap() - best).abs() < 1e-12);
    assert!((expected["accuracy_std"].as_f64().unwrap() - (squares / 3.0).sqrt()).abs() < 1e-12);
    assert!(expected["seconds"].as_f64().unwrap() > 0.0);

    let (_kept, parts) = folder();
    let again = cv(&parts, "--epochs 12 --folds 1-4 --jobs 2 --json");
    for (fold, lines) in [(1, 3), (2, 11), (4, 1)] {
        let mut child = started(&again, &parts.join(format!("fold-{fold}/metrics.jsonl")), lines);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut resumed = ppgn(&again).ok().json();
    for report in [&mut expected, &mut resumed] {
        for clock in ["seconds", "seconds_training", "out"] {
            assert!(report.as_object_mut().unwrap().remove(clock).is_some(), "{clock}");
        }
    }
    assert_eq!(expected, resumed);
    for fold in 1..=4 {
        assert!(files_of_fold(&whole, fold) == files_of_fold(&parts, fold), "fold {fold}");
    }
    // Finished folds are read: nothing is written any more, and the figures stay.
    let text = ppgn(cv(&parts, "--epochs 12 --folds 1,3")).ok().out;
    assert!(text.contains("over 2 random folds"), "{text}");
    ppgn(cv(&parts, "--epochs 11 --folds 2")).fails(2, "training.epochs is 12 there and 11 here");
    // One more epoch extends a fold.
    let longer = ppgn(cv(&parts, "--epochs 13 --folds 2 --json")).ok().json();
    let longer = longer["curves"][0].as_array().unwrap();
    assert_eq!((longer.len(), &longer[..12]), (13, &expected["curves"][1].as_array().unwrap()[..]));
}

#[test]
fn several_seeds_are_averaged_and_each_is_shown() {
    let (_kept, out) = folder();
    let report = ppgn(cv(&out, "--epochs 2 --folds 1,2 --seeds 0-2 --json")).ok().json();
    assert_eq!(report["seeds"], serde_json::json!([0, 1, 2]), "{report}");
    assert_eq!(
        (report["alone"].as_array().unwrap().len(), report["curves"][1].as_array().unwrap().len()),
        (3, 2)
    );
    assert!(out.join("seed-2/fold-1/predictions.jsonl").exists());
    let of_seed = std::fs::read_to_string(out.join("seed-2/cv.json")).unwrap();
    let of_seed: serde_json::Value = serde_json::from_str(&of_seed).unwrap();
    assert_eq!((&of_seed["seed"], &of_seed["accuracy_mean"]), (&2.into(), &report["alone"][2]["mean"]));
    let text = ppgn(cv(&out, "--epochs 2 --folds 1,2 --seeds 0-2")).ok().out;
    assert!(
        text.contains("averaged predictions of the networks of seeds 0, 1, 2; alone they have"),
        "{text}"
    );
    // The list of runs has the average above its seeds, but not while one of them is unfinished.
    let list = || ppgn(["runs", out.to_str().unwrap(), "--json"]).ok().json()["cross_validations"].clone();
    let listed = list();
    let (average, of_seed) = (&listed[0], &listed[3]);
    assert_eq!(listed.as_array().unwrap().len(), 4, "{listed}");
    assert_eq!((&average["seed"], &of_seed["seed"]), (&report["seeds"], &2.into()));
    assert_eq!((&average["accuracy"], &average["best_epoch"]), (&report["accuracy_mean"], &report["epoch"]));
    assert_eq!(of_seed["accuracy"], report["alone"][2]["mean"]);
    std::fs::remove_file(out.join("seed-1/fold-2/summary.json")).unwrap();
    assert_eq!(list().as_array().unwrap().len(), 3);
    for (more, message) in [
        ("--seeds 0-1 --seed 3", "cannot be used with"),
        ("--seeds 0-1 --limit 5", "cannot be used with"),
        ("--seeds 2-1", "is not a list of seeds"),
    ] {
        let (_kept, out) = folder();
        ppgn(cv(&out, more)).fails(2, message);
        assert!(!out.exists());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_resume() {
    let (_kept, out) = folder();
    let args = cv(&out, "--epochs 4000 --jobs 2");
    let child = started(&args, &out.join("fold-2/metrics.jsonl"), 2);
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("The same command") && text.contains(out.to_str().unwrap()), "{text}");
}

#[test]
fn given_folds_are_those_of_the_data() {
    if !have("tu/MUTAG.zip") {
        return;
    }
    let (_kept, out) = folder();
    let args = format!("cv MUTAG {TINY} --epochs 1 --folds 3 --json --out {}", out.display());
    let report = ppgn(words(&args)).ok().json();
    assert_eq!((&report["folds_are"], &report["accuracy_std"]), (&"given".into(), &serde_json::Value::Null));
    assert!(std::fs::read_to_string(out.join("fold-3/config.toml")).unwrap().contains("fold = 3"));
    ppgn(words(&format!("cv MUTAG {TINY} --folds 11 --out {}", out.display())))
        .fails(2, "its folds are 1 to 10");
}

#[test]
fn wrong_cross_validations() {
    line("cv csl --folds 0").fails(2, "not a list of folds");
    line("cv csl --folds 1-11 --out nowhere").fails(2, "csl has no fold 11: its folds are 1 to 10");
    line("cv csl --folds 5-1").fails(2, "not a list of folds");
    line("cv csl --preset huge").fails(2, "`huge` is not a preset");
    line("cv csl --jobs 0").fails(2, "jobs");
    line("cv csl --limit 5 --out nowhere").fails(2, "cannot be divided into 10 folds");
    line("cv no-such-data").fails(2, "no-such-data");
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn a_search_ranks_and_resumes() {
    let (kept, out) = folder();
    let grid = kept.path().join("grid.toml");
    std::fs::write(&grid, "rate = [1e-5, 1e-2]\nblocks = [[4], [4, 4]]\n").unwrap();
    let args = format!(
        "search csl:n=13,skips=2+3,copies=10 --epochs 6 --batch 8 --quiet --grid {} --out {}",
        grid.display(),
        out.display()
    );
    let report = ppgn(words(&format!("{args} --json"))).ok().json();
    let trials = report["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4, "{report}");
    let accuracies: Vec<f64> = trials.iter().map(|t| t["held_out"]["accuracy"].as_f64().unwrap()).collect();
    assert!(accuracies.is_sorted_by(|a, b| a >= b), "{accuracies:?}");
    assert_eq!(report["best"], trials[0]["settings"]);
    assert!(out.join("search.json").exists() && out.join("blocks=_4_,rate=0.01/summary.json").exists());
    // A larger grid reuses what is there.
    std::fs::write(&grid, "rate = [1e-5, 1e-2, 1e-3]\nblocks = [[4], [4, 4]]\n").unwrap();
    let before =
        std::fs::metadata(out.join("blocks=_4_,rate=0.01/summary.json")).unwrap().modified().unwrap();
    let text = ppgn(words(&args)).ok().out;
    assert!(text.contains("as a file for --config") && text.contains("rate"), "{text}");
    let after = std::fs::metadata(out.join("blocks=_4_,rate=0.01/summary.json")).unwrap().modified().unwrap();
    assert_eq!(before, after);
    assert_eq!(std::fs::read_dir(&out).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir()).count(), 6);
}

#[test]
fn wrong_searches() {
    let (kept, _) = folder();
    let grid = kept.path().join("grid.toml");
    let search = |text: &str| {
        std::fs::write(&grid, text).unwrap();
        ppgn(words(&format!("search csl --grid {}", grid.display())))
    };
    search("learning_rate = [1e-3]").fails(2, "unknown field `learning_rate`");
    search("rate = 1e-3").fails(2, "not a list of values");
    search("rate = [").fails(2, "grid.toml");
    line("search csl --grid no-such-grid.toml").fails(2, "there is no such file");
    line("search csl --rate 0.1")
        .fails(2, "`rate` is varied by the grid, so it cannot be set as well\nhint: leave --rate out");
    line("search csl --preset huge").fails(2, "`huge` is not a preset");
}

#[test]
fn table1_measured_beside_printed() {
    if !have("tu/MUTAG.zip") {
        return;
    }
    let (_kept, out) = folder();
    let args = format!(
        "reproduce table1 --dataset mutag --preset small --epochs 2 --limit 30 --quiet --out {}",
        out.display()
    );
    let report = ppgn(words(&format!("{args} --json"))).ok().json();
    let row = &report["rows"][0];
    assert_eq!(
        (&row["dataset"], &row["folds"], &row["rank"]["of"]),
        (&"MUTAG".into(), &10.into(), &15.into())
    );
    assert_eq!((&row["printed"]["mean"], &row["printed_preset"]), (&90.55.into(), &"paper-1".into()));
    assert_eq!(row["printed_rank"]["rank"], 3);
    let text = ppgn(words(&args)).ok().out;
    assert!(text.contains("90.55 ± 8.70") && text.contains("not the paper's protocol"), "{text}");
    assert!(out.join("table1/small/MUTAG/fold-10/summary.json").exists());
}

#[test]
fn more_than_an_hour_wants_a_yes() {
    if !have("tu/MUTAG.zip") {
        return;
    }
    let (_kept, out) = folder();
    // A million epochs take more than an hour on any machine, and the estimate comes after the first.
    let args = format!(
        "reproduce table1 --dataset MUTAG --preset small --epochs 1000000 --limit 20 --out {}",
        out.display()
    );
    let ran = ppgn(words(&args)).fails(2, "--yes starts it");
    assert!(ran.err.contains("s per epoch"), "{}", ran.err);
    // The measured epoch is the first of the run, not a lost one.
    let metrics = std::fs::read_to_string(out.join("table1/small/MUTAG/fold-1/metrics.jsonl")).unwrap();
    assert_eq!(metrics.lines().count(), 1);
}

#[test]
fn table2_measured_beside_printed() {
    if !have("qm9/sdf/gdb9.sdf") {
        return;
    }
    let (_kept, out) = folder();
    let sdf = crate::run::data_folder().join("qm9/sdf/gdb9.sdf");
    let args = format!(
        "reproduce table2 --data {} --preset small --target all,mu --epochs 1 --limit 60 --quiet --json --out {}",
        sdf.display(),
        out.display()
    );
    let report = ppgn(words(&args)).ok().json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 13);
    assert_eq!((&rows[0]["target"], &rows[0]["printed"]), (&"mu".into(), &0.231.into()));
    assert_eq!((&rows[12]["network"], &rows[12]["printed"]), (&"alone".into(), &0.0934.into()));
    assert_eq!((&rows[7]["unit"], &rows[7]["rank"]["of"]), (&"Ha".into(), &2.into()));
    assert!(rows.iter().all(|row| row["mae"].as_f64().unwrap() > 0.0));
}

/// What the figure leaves behind that must not depend on how often it was interrupted.
fn figure_files(out: &Path) -> Vec<Vec<u8>> {
    ["figure.csv", "figure.svg"]
        .map(|name| std::fs::read(out.join("figure/csl").join(name)).unwrap())
        .to_vec()
}

#[test]
fn the_figure_is_drawn_and_resumes() {
    let (_kept, whole) = folder();
    let figure = |out: &Path, more: &str| {
        words(&format!(
            "reproduce figure --data csl:n=9,skips=2+3,copies=10 --rate 1e-3 --epochs 3 --quiet --out {} {more}",
            out.display()
        ))
    };
    let report = ppgn(figure(&whole, "--json")).ok().json();
    let models = report["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|m| m["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["mp", "mp+lin", "lin", "mlp"]);
    assert!(report["mlp_fits_worst"].is_boolean() && report["mp_at_least_lin"].is_boolean(), "{report}");
    let config = std::fs::read_to_string(whole.join("figure/csl/lin/seed-0/rate=0.001/config.toml")).unwrap();
    for setting in
        ["model = \"lin\"", "holdout = 0.1", "batch = 5", "decay_every = 20", "blocks = [\n    32,"]
    {
        assert!(
            config.contains(setting) || config.contains(&setting.replace("\n    ", "")),
            "{setting}: {config}"
        );
    }
    let files = figure_files(&whole);
    let csv = String::from_utf8(files[0].clone()).unwrap();
    assert_eq!(csv.lines().count(), 1 + 4 * 3, "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("mp,0.001,0,1,"), "{csv}");
    let last = &models[3];
    assert_eq!(
        csv.lines().last().unwrap(),
        format!("mlp,0.001,0,3,{},{}", last["training"][2], last["validation"][2])
    );
    assert!(files[1].starts_with(b"<svg"));

    // Killed twice on the way, it ends as if nothing had been.
    let (_kept, parts) = folder();
    for (run, lines) in [("mp/seed-0", 1), ("lin/seed-0", 2)] {
        let file = parts.join("figure/csl").join(run).join("rate=0.001/metrics.jsonl");
        let mut child = started(&figure(&parts, "--jobs 1"), &file, lines);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(!parts.join("figure/csl/figure.csv").exists());
    let text = ppgn(figure(&parts, "")).ok().out;
    assert!(figure_files(&parts) == files);
    assert!(text.contains("The MLP fits worst: ") && text.contains("mp's validation accuracy"), "{text}");
    assert!(text.contains("not the paper's protocol"), "{text}");

    // Another seed is trained beside what is there, and the curves are means.
    let trained = parts.join("figure/csl/mp/seed-0/rate=0.001/summary.json");
    let before = std::fs::metadata(&trained).unwrap().modified().unwrap();
    ppgn(figure(&parts, "--seeds 2")).ok();
    assert_eq!(std::fs::metadata(&trained).unwrap().modified().unwrap(), before);
    let csv = String::from_utf8(figure_files(&parts).remove(0)).unwrap();
    let of = |seed: &str| -> Vec<f64> {
        let start = format!("mp+lin,0.001,{seed},");
        let lines = csv.lines().filter_map(|line| line.strip_prefix(&start));
        lines.map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
    };
    let (a, b, mean) = (of("0"), of("1"), of("mean"));
    assert_eq!((a.len(), b.len(), mean.len()), (3, 3, 3), "{csv}");
    assert!((0..3).all(|e| ((a[e] + b[e]) / 2.0 - mean[e]).abs() < 1e-12), "{csv}");
}

#[test]
fn the_figure_searches_its_rates() {
    let (_kept, out) = folder();
    let args = format!(
        "reproduce figure --data csl:n=9,skips=2+3,copies=5 --epochs 1 --seeds 2 --json --out {}",
        out.display()
    );
    let ran = ppgn(words(&args)).ok();
    let estimated = |line: &str| line.starts_with("mp+lin: ") && line.contains(" s per epoch, about ");
    assert!(ran.err.lines().any(estimated), "{}", ran.err);
    let report = ran.json();
    for model in report["models"].as_array().unwrap() {
        let folder = out.join("figure/csl").join(model["model"].as_str().unwrap());
        let runs = |seed: usize| {
            let entries = std::fs::read_dir(folder.join(format!("seed-{seed}"))).unwrap();
            entries.filter(|e| e.as_ref().unwrap().path().is_dir()).count()
        };
        // All rates with the first seed, the best of them with the second.
        assert_eq!((runs(0), runs(1)), (4, 1));
        let search: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("seed-0/search.json")).unwrap())
                .unwrap();
        assert_eq!(model["runs"][1]["rate"], search["best"]["rate"]);
    }
}

#[test]
fn wrong_reproductions() {
    line("reproduce figure --data gnp:n=6,count=5 --out nowhere")
        .fails(2, "neither classes nor regression targets");
    line("reproduce figure --data csl --rate 0 --out nowhere")
        .fails(2, "the learning rate must be a number above 0");
    line("reproduce figure --data csl --seeds 0").fails(2, "--seeds");
    line("reproduce table3").fails(2, "table3");
    line("reproduce table1 --dataset ENZYMES")
        .fails(2, "`ENZYMES` is not in Table 1; its datasets are MUTAG, PTC");
    line("reproduce table1 --dataset MUTAG --preset huge").fails(2, "`huge` is not a preset");
    line("reproduce table2 --target spin").fails(2, "`spin` is not in Table 2; its targets are mu, alpha");
    line("reproduce table2 --target mu --data csl").fails(2, "has no target `mu`");
}
