//! `ppgn train`: what it prints and leaves behind, and every wrong call.

use crate::run::{Ran, command, have, line, ppgn};
use serde_json::Value;
use std::path::Path;

/// A tiny network on few graphs: what a test can afford.
pub(crate) const TINY: &str = "csl:n=11,skips=2+3,copies=8 --blocks 4,4 --batch 4 --split 50/25/25";

/// Trains a tiny network into this folder, for three epochs unless said otherwise.
pub(crate) fn tiny(run: &Path, more: &str) -> Ran {
    let epochs = if more.contains("--epochs") { "" } else { "--epochs 3" };
    let line = format!("train {TINY} {epochs} {more} --quiet");
    command().args(line.split_whitespace()).arg("--out").arg(run).output().unwrap().into()
}

fn read(run: &Path, name: &str) -> String {
    std::fs::read_to_string(run.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The files that must be the same bytes for the same settings.
pub(crate) fn exact(run: &Path) -> Vec<(&'static str, Vec<u8>)> {
    ["metrics.jsonl", "checkpoint/model.safetensors", "best/model.safetensors", "summary.json"]
        .map(|name| (name, std::fs::read(run.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))))
        .to_vec()
}

#[test]
fn every_model_trains_and_predicts() {
    let folder = tempfile::tempdir().unwrap();
    for model in ["mp", "mp+lin", "lin", "mlp", "sums"] {
        let run = folder.path().join(model);
        tiny(&run, &format!("--model {model}")).ok();
        let config = read(&run, "config.toml");
        assert_eq!(config.contains(&format!("model = \"{model}\"")), model != "mp", "{config}");
        let predict = ["predict", run.to_str().unwrap(), "csl:n=11,skips=2+3,copies=1", "--json"];
        assert_eq!(ppgn(predict).ok().json()["graphs"], 2);
    }
    let refused = |model: &str| {
        let run = folder.path().join("refused");
        let ran = tiny(&run, &format!("--model {model} --space quotient"));
        assert!(!run.exists());
        ran
    };
    refused("lin").fails(2, "the model `lin` cannot run on the quotient space");
    refused("mp+lin").fails(2, "whole rows and columns");
    tiny(&folder.path().join("mlp-quotient"), "--model mlp --space quotient").ok();
    tiny(&folder.path().join("x"), "--model lin --m4 none").fails(2, "consist of linear layers only");
    line("train csl --model gin")
        .fails(2, "unknown variant `gin`, expected one of `mp`, `mp+lin`, `lin`, `mlp`");
    // Wherever its lines end.
    let help = line("train --help").ok().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("basis of linear"), "{help}");
}

#[test]
fn a_run_and_what_it_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let v = tiny(&run, "--json --seed 5").ok().json();
    assert_eq!(
        (&v["dataset"], &v["preset"], &v["epochs"], &v["seed"]),
        (&"csl".into(), &"small".into(), &3.into(), &5.into())
    );
    assert!((0.0..=1.0).contains(&v["accuracy"].as_f64().unwrap()), "{v}");
    assert!((1..=3).contains(&v["best_epoch"].as_u64().unwrap()), "{v}");
    assert!(v["train_loss"].as_f64().unwrap() > 0.0 && v["seconds"].as_f64().unwrap() > 0.0, "{v}");
    assert_eq!(v["run"], run.to_str().unwrap());

    let config: toml::Table = read(&run, "config.toml").parse().unwrap();
    assert_eq!(config["training"]["epochs"].as_integer(), Some(3));
    assert_eq!(config["data"].as_str(), Some("csl:n=11,skips=2+3,copies=8"));
    assert_eq!(config["digest"].as_str().unwrap().len(), 64);
    let epochs: Vec<Value> =
        read(&run, "metrics.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(epochs.len(), 3);
    assert!(epochs.iter().all(|e| e["validation"]["accuracy"].is_number() && e["test"]["loss"].is_number()));
    assert_eq!(read(&run, "timing.jsonl").lines().count(), 3);
    let report = read(&run, "report.html");
    assert!(report.starts_with("<!doctype html>") && report.trim_end().ends_with("</html>"));
    assert_eq!(report.matches("<svg").count(), 2);
    for part in [
        "majority class: ",
        "<td>balanced accuracy<",
        "Confusion matrix of the test set",
        ">share of graphs<",
        " %</text>",
    ] {
        assert!(report.contains(part), "no {part} in the report");
    }
    assert!(!report.contains("http") && !report.contains("<script"), "the page needs nothing but itself");

    // The same seed gives the same bits, another one does not.
    let (again, other) = (folder.path().join("again"), folder.path().join("other"));
    tiny(&again, "--seed 5").ok();
    tiny(&other, "--seed 6").ok();
    assert_eq!(exact(&run), exact(&again));
    assert_ne!(read(&run, "metrics.jsonl"), read(&other, "metrics.jsonl"));
}

#[test]
fn orders_beyond_two_train_on_both_spaces() {
    let folder = tempfile::tempdir().unwrap();
    let mut losses = Vec::new();
    for space in ["dense", "quotient"] {
        let run = folder.path().join(space);
        let line = format!("--order 3 --space {space} --precision f64 --limit 8 --epochs 2 --json");
        losses.push(tiny(&run, &line).ok().json()["train_loss"].as_f64().unwrap());
        let config: toml::Table = read(&run, "config.toml").parse().unwrap();
        assert_eq!(config["network"]["order"].as_integer(), Some(3));
        let run = run.to_str().unwrap();
        assert_eq!(ppgn(["predict", run, "csl:n=11,skips=2,copies=2", "--json"]).ok().json()["graphs"], 2);
    }
    // The same function with the same gradient; rounding alone differs.
    assert!((losses[0] - losses[1]).abs() < 1e-6 * losses[0].abs(), "{losses:?}");
    let sums = tiny(&folder.path().join("sums"), "--model sums --limit 8 --epochs 1 --json").ok().json();
    assert!(sums["train_loss"].as_f64().unwrap().is_finite());
    tiny(&folder.path().join("none"), "--order 0").fails(2, "an order from 1");
}

#[test]
fn default_folders_and_plain_lines() {
    let folder = tempfile::tempdir().unwrap();
    let run = || -> Ran {
        let words = "train csl --limit 24 --blocks 4 --epochs 2 --threads 1".split_whitespace();
        command().current_dir(folder.path()).args(words).output().unwrap().into()
    };
    let first = run().ok();
    assert!(first.err.contains("epoch 1/2  loss") && first.err.contains("graphs/s"), "{}", first.err);
    assert!(first.out.contains("csl: test accuracy"), "{}", first.out);
    assert!(first.out.contains("for one, 10 % is chance"), "{}", first.out);
    assert!(first.out.contains("runs/csl-small-0:"), "{}", first.out);
    assert!(run().ok().out.contains("runs/csl-small-0-2:"));
    let (a, b) = (folder.path().join("runs/csl-small-0"), folder.path().join("runs/csl-small-0-2"));
    assert_eq!(exact(&a), exact(&b));
}

#[test]
fn settings_come_from_a_file_and_the_line_goes_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    std::fs::write(
        &file,
        "preset = \"paper-2\"\nepochs = 9\nblocks = [3, { width = 4, product = 2 }]\nbatch = 5\nholdout = 0.25\nlimit = 12\n\
         suffix_hidden = [7]\nencoding = { kind = \"paper\", identity = true }\nprecision = \"f64\"\n",
    )
    .unwrap();
    let run = folder.path().join("run");
    let words = ["train", "csl:n=11,skips=2+3,copies=8", "--epochs", "1", "--json", "--quiet", "--config"];
    let v: Value = ppgn(words.map(String::from).into_iter().chain([
        file.display().to_string(),
        "--out".into(),
        run.display().to_string(),
    ]))
    .ok()
    .json();
    assert_eq!((&v["preset"], &v["epochs"], &v["part"]), (&"paper-2".into(), &1.into(), &"test".into()));
    let config: toml::Table = read(&run, "config.toml").parse().unwrap();
    assert_eq!(config["limit"].as_integer(), Some(12));
    assert_eq!(config["network"]["blocks"][1]["product"].as_integer(), Some(2));
    assert_eq!(config["network"]["suffix"].as_str(), Some("i"));
    assert_eq!(config["training"]["precision"].as_str(), Some("f64"));
    assert_eq!(config["division"]["holdout"].as_float(), Some(0.25));
}

#[test]
fn wrong_calls() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let call = |words: &str, code: i32, text: &str| {
        let ran: Ran = command()
            .args(["train"])
            .args(words.split_whitespace())
            .arg("--out")
            .arg(&out)
            .output()
            .unwrap()
            .into();
        ran.fails(code, text);
        assert!(!out.exists(), "{words}");
    };
    call("--preset paper-9", 2, "`paper-9` is not a preset; there are small, modern, paper-1");
    call("csl --fold 3", 2, "csl has no given folds");
    call("csl --fold 1 --holdout 0.1", 2, "cannot be used with");
    call("csl --split 80/20", 2, "80/20");
    call("csl --split 80/30/10", 2, "sum to 100");
    call("csl --holdout 1.5", 2, "shares");
    call("csl --target mu", 2, "csl has no target `mu`; it has none");
    call("csl --limit 0", 2, "limit of 0");
    call("csl --limit 9 --fold 1", 2, "--limit cannot be used with --fold");
    call("csl --epochs 0", 2, "the number of epochs must be at least 1");
    call("csl --rate -1", 2, "rate");
    call("csl --rate nan", 2, "rate");
    call("csl --batch 0", 2, "the batch size must be at least 1");
    call("csl --blocks 4,0", 2, "channel");
    call("csl --encoding paper+transposed", 2, "transposed");
    call("csl --encoding qm9", 1, "13 node attributes");
    call("csl --scale 3", 2, "sqrt-n");
    call("petersen", 2, "neither classes nor regression targets");
    call("no-such-data", 2, "no-such-data");
    call("csl --config no-such.toml", 2, "no such file");
    let file = folder.path().join("s.toml");
    for (text, told) in [
        ("epoch = 3", "unknown field `epoch`"),
        ("epochs = \"a\"", "epochs"),
        ("x = ", "s.toml"),
        ("split = \"1/2\"", "1/2"),
    ] {
        std::fs::write(&file, text).unwrap();
        call(&format!("csl --config {}", file.display()), 2, told);
    }
    if have("tu/MUTAG.zip") {
        call("MUTAG --fold 11", 2, "MUTAG has no fold 11: its folds are 1 to 10");
        call("MUTAG --target mu --offline", 2, "no target `mu`");
    }
    if have("qm9/sdf/gdb9.sdf") {
        let sdf = crate::run::data_folder().join("qm9/sdf/gdb9.sdf");
        call(&format!("{} --target mass", sdf.display()), 2, "no target `mass`; it has mu, alpha");
    }
    // A file where a folder must be.
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    tiny(&blocked, "").fails(2, "file already exists");
    tiny(&blocked.join("run"), "").fails(1, "file");
}

#[test]
fn wrong_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let resume = |more: &str| -> Ran {
        let more = more.split_whitespace();
        command().args(["train", "--quiet", "--resume"]).arg(&run).args(more).output().unwrap().into()
    };
    resume("").fails(2, "is not a run folder: it has no config.toml");
    tiny(&run, "").ok();
    tiny(&run, "").fails(2, "--resume");
    resume("--rate 7").fails(2, "the run's own settings");
    resume("--fold 7").fails(2, "the run's own settings");
    resume("--out x").fails(2, "cannot be used with");
    let done = resume("--json").ok();
    assert!(done.err.contains("is already finished"), "{}", done.err);
    assert_eq!(done.json()["epochs"], 3);

    // Unfinished from here on.
    let summary = run.join("summary.json");
    std::fs::remove_file(&summary).unwrap();
    resume("csl").fails(2, "content has changed");
    resume("no-such.g6").fails(2, "gives its new location");
    let config = run.join("config.toml");
    let sealed = std::fs::read_to_string(&config).unwrap();
    // By hand, without the checksum.
    let text = sealed.split_once("# sha256 = ").unwrap().0;
    for (from, to, told) in [
        ("epochs = 3", "epochs = 3\nepoch = 3", "unknown field `epoch`"),
        ("epochs = 3", "epochs = 0", "the number of epochs must be at least 1"),
        ("batch = 4", "batch = 0", "the batch size must be at least 1"),
        ("inputs = 2", "inputs = 3", "the network takes 3 channels"),
        ("outputs = 2", "outputs = 5", "the network has 5 outputs"),
        ("[network]", "[network", "config.toml"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        std::fs::write(&config, text.replacen(from, to, 1)).unwrap();
        resume("").fails(1, told);
        ppgn(["predict", run.to_str().unwrap(), "csl"]).fails(1, told);
    }
    std::fs::write(&config, &sealed).unwrap();
    let model = run.join("checkpoint/model.safetensors");
    let bytes = std::fs::read(&model).unwrap();
    let mut flipped = bytes.clone();
    flipped[9] ^= 0x55;
    for damaged in [&bytes[..bytes.len() / 2], &bytes[..5], b"", &flipped] {
        std::fs::write(&model, damaged).unwrap();
        resume("").fails(1, "model.safetensors: not a sound safetensors file");
    }
    std::fs::write(&model, &bytes).unwrap();
    let metrics = run.join("metrics.jsonl");
    let lines = std::fs::read_to_string(&metrics).unwrap();
    std::fs::write(&metrics, "{}\n").unwrap();
    resume("").fails(1, "metrics.jsonl:1");
    std::fs::write(&metrics, lines).unwrap();
    assert!(!summary.exists());
    resume("").ok();
    assert!(summary.exists());
}

#[test]
fn a_loss_that_is_not_finite_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    tiny(&run, "--rate 1e35").fails(1, "not finite in epoch 1, batch 2: graphs [");
    // With one batch an epoch, it shows where the validation part is measured.
    let run = folder.path().join("measured");
    let line = format!("train {} --batch 16 --rate 1e35 --epochs 3 --quiet", TINY.replace("--batch 4", ""));
    let ran: Ran = command().args(line.split_whitespace()).arg("--out").arg(&run).output().unwrap().into();
    ran.fails(1, "validation or test part is not finite after epoch 1, batch 1: graphs [");
    assert!(!run.join("metrics.jsonl").exists() && !run.join("summary.json").exists());
}

#[test]
fn a_run_finds_its_data_from_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |words: &str| -> Ran {
        let mut command = command();
        command.current_dir(folder.path()).args(words.split_whitespace()).output().unwrap().into()
    };
    inside("data convert csl:n=11,skips=2+3,copies=8 ./d.jsonl").ok();
    inside("train ./d.jsonl --limit 12 --blocks 4 --epochs 2 --quiet --out run").ok();
    let run = folder.path().join("run");
    let before = exact(&run);
    // As if it had been killed before its first checkpoint: all is done again, on the same twelve graphs.
    for name in ["summary.json", "metrics.jsonl", "checkpoint/model.safetensors"] {
        std::fs::remove_file(run.join(name)).unwrap();
    }
    ppgn(["train", "--quiet", "--resume", run.to_str().unwrap()]).ok();
    assert_eq!(before, exact(&run));
    std::fs::remove_file(run.join("summary.json")).unwrap();
    std::fs::rename(folder.path().join("d.jsonl"), folder.path().join("moved.jsonl")).unwrap();
    ppgn(["train", "--quiet", "--resume", run.to_str().unwrap()]).fails(2, "gives its new location");
    inside("train moved.jsonl --quiet --resume run").ok();
    assert_eq!(before, exact(&run));
}

#[test]
fn regression_by_name_and_in_its_own_units() {
    if !have("qm9/sdf/gdb9.sdf") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sdf = crate::run::data_folder().join("qm9/sdf/gdb9.sdf");
    let train = |name: &str, more: &str| {
        let run = folder.path().join(name);
        let line =
            format!("train {} --limit 40 --blocks 4 --epochs 2 --batch 8 --quiet {more}", sdf.display());
        let ran: Ran =
            command().args(line.split_whitespace()).arg("--out").arg(&run).output().unwrap().into();
        (run, ran.ok())
    };
    let (run, ran) = train("two", "--target MU,gap --json");
    let v = ran.json();
    assert_eq!(v["mae"].as_object().unwrap().keys().collect::<Vec<_>>(), ["gap", "mu"]);
    assert!(v["mae_of_mean"]["mu"].as_f64().unwrap() > 0.1, "{v}");
    assert!(v["accuracy"].is_null());
    // The page leads with the errors of the targets, not with their summed loss; each has its curve and its predictions.
    let report = read(&run, "report.html");
    for part in [
        "test error of 2 targets",
        "test error of mu<",
        "Predictions against the truth, test set",
        "Root mean squared error at the best epoch",
        ">predicted, D</text>",
        ">mean absolute error, D</text>",
    ] {
        assert!(report.contains(part), "no {part} in the report");
    }
    assert!(!report.contains("test loss"));
    assert_eq!(report.matches("<svg").count(), 5);
    let out = folder.path().join("p.jsonl");
    let line = format!("predict {} {} --out {} --json", run.display(), sdf.display(), out.display());
    let v = crate::run::line(&line).ok().json();
    assert!(v["mae"]["mu"].is_number() && v["graphs"].as_u64().unwrap() > 900, "{v}");
    let first = std::fs::read_to_string(&out).unwrap().lines().next().map(str::to_string).unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((first["index"].as_u64(), first["values"].as_array().unwrap().len()), (Some(0), 2));
    // Values are scores in the targets' units: times the deviation, plus the mean, as the configuration has them.
    let scores =
        crate::run::line(&format!("predict {} {}:0 --scores", run.display(), sdf.display())).ok().out;
    let scores: Vec<f64> = scores.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    let config: toml::Table = read(&run, "config.toml").parse().unwrap();
    for (t, value) in first["values"].as_array().unwrap().iter().enumerate() {
        let [mean, deviation] =
            ["mean", "deviation"].map(|key| config["scaling"][t][key].as_float().unwrap());
        let expected = scores[t + 1] * deviation + mean;
        assert!(
            (value.as_f64().unwrap() - expected).abs() < 1e-4 * (1.0 + expected.abs()),
            "{first} {scores:?}"
        );
    }
    let (_, ran) = train("all", "--target all --preset qm9");
    assert!(ran.out.contains("12 targets") && ran.out.contains("zpve"), "{}", ran.out);
}

#[test]
fn help_names_every_setting() {
    let help = line("train --help").ok().out;
    for option in [
        "--preset",
        "--config",
        "--epochs",
        "--batch",
        "--batching",
        "--rate",
        "--decay",
        "--decay-every",
        "--seed",
        "--precision",
        "--encoding",
        "--blocks",
        "--depth",
        "--suffix",
        "--pooling",
        "--activate-pooled",
        "--activation",
        "--init-gain",
        "--scale",
        "--norm",
        "--residual",
        "--m3",
        "--m4",
        "--target",
        "--limit",
        "--fold",
        "--holdout",
        "--split",
        "--out",
        "--resume",
        "--threads",
        "--quiet",
        "--json",
    ] {
        assert!(
            help.contains(&format!("{option} "))
                || help.contains(&format!("{option}\n"))
                || help.contains(&format!("{option}[")),
            "{option}: {help}"
        );
    }
}
