//! Molecules on the command line; the walks of docs/molecules.md are run with the other documents.

use std::path::Path;

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
    assert!(config.contains("rings"), "{config}");
    crate::run::line(&format!("train --resume {} --epochs 3 --quiet", run.display())).ok();
    let wrong = format!("train {} --class colour --quiet", data.display());
    crate::run::line(&wrong).fails(1, "no column or data tag is called `colour`; there are logP, rings");
}
