//! The walks of docs/molecules.md, run as they are written.

use std::path::Path;
use std::process::Command;

/// The commands of a document: what stands between fences that say `sh`, block by block.
fn blocks(document: &str) -> Vec<String> {
    let parts = document.split("\n```sh\n").skip(1);
    parts.map(|part| part.split("\n```").next().unwrap_or_default().to_string()).collect()
}

#[test]
#[cfg(unix)]
fn the_walks_are_run_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/molecules.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(root.canonicalize().unwrap().join("docs"), here("docs")).unwrap();
    std::fs::create_dir(here("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ppgn"), here("bin/ppgn")).unwrap();
    let path = format!("{}:{}", here("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut outputs = Vec::new();
    for block in blocks(&document) {
        let output = Command::new("sh")
            .args(["-e", "-c", &block])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("PPGN_DATA", here("data"))
            .env("XDG_CACHE_HOME", here("cache"))
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{block}\n{out}{err}");
        outputs.push(out);
    }
    assert_eq!(outputs.len(), 7, "blocks of commands");
    assert!(
        outputs[0].contains("no defects") && outputs[0].contains("regression, 2 targets"),
        "{}",
        outputs[0]
    );
    assert_eq!(outputs[3].lines().count(), 4, "{}", outputs[3]);
    assert!(outputs[4].contains("classification, 3 classes"), "{}", outputs[4]);
    assert!(outputs[4].contains("several"), "{}", outputs[4]);
    assert!(outputs[6].contains("classification, 3 classes"), "{}", outputs[6]);
    for run in ["logp", "logp-only", "rings", "sdf-logp"] {
        assert!(here("runs").join(run).join("summary.json").is_file(), "{run}");
    }
}

#[test]
fn a_run_on_classes_of_a_column_resumes_without_naming_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (data, run) = (root.join("docs/examples/drawn.sdf"), folder.path().join("run"));
    let train = format!(
        "train {} --class rings --epochs 2 --blocks 4 --quiet --out {}",
        data.display(),
        run.display()
    );
    crate::run::line(&train).ok();
    let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
    assert!(config.contains("class = \"rings\""), "{config}");
    crate::run::line(&format!("train --resume {} --epochs 3 --quiet", run.display())).ok();
    let wrong = format!("train {} --class colour --quiet", data.display());
    crate::run::line(&wrong).fails(1, "no column or data tag is called `colour`; there are logP, rings");
}
