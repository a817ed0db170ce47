//! PyTorch checkpoints, made by `tests/golden/make_checkpoints.py`.

use crate::shared::{Rows, batch, distance, numbers};
use ppgn_nn::Error;
use ppgn_nn::{BlockConfig, PpgnConfig, Precision, SuffixKind, import};
use serde_json::Value;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

fn integers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as usize).collect()
}

fn reals(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn checkpoints_become_networks() {
    let cases: Value =
        serde_json::from_str(&std::fs::read_to_string(golden("checkpoints.json")).unwrap()).unwrap();
    for case in cases.as_array().unwrap() {
        let imported = import::read(golden(case["file"].as_str().unwrap()), None).unwrap();
        let hidden = integers(&case["hidden"]);
        let [inputs, outputs, depth, nodes] =
            ["inputs", "outputs", "depth", "nodes"].map(|key| case[key].as_u64().unwrap() as usize);
        let mut expected = PpgnConfig {
            blocks: integers(&case["features"]).into_iter().map(BlockConfig::new).collect(),
            depth,
            ..PpgnConfig::new(inputs, outputs)
        };
        if !hidden.is_empty() {
            expected = PpgnConfig { suffix: SuffixKind::I, suffix_hidden: hidden, ..expected };
        }
        assert_eq!(imported.config, expected);
        assert_eq!(imported.precision.name(), case["precision"].as_str().unwrap());
        let tolerance = if imported.precision == Precision::F64 { 1e-14 } else { 1e-6 };
        let rows = Rows { nodes, numbers: reals(&case["rows"]) };
        let batch = batch(inputs, &[&rows], imported.precision);
        let scores = numbers(imported.network().unwrap().forward(&batch).unwrap());
        assert!(distance(&scores, &reals(&case["scores"])) < tolerance, "{}", case["file"]);
    }
}

#[test]
fn mismatched_names_are_listed() {
    let error = import::read(golden("wrong_names.pt"), None).unwrap_err();
    assert!(matches!(error, Error::File(_)));
    let expected = "missing: reg_blocks.0.mlp2.convs.0.bias; unexpected: bn.weight";
    assert!(error.to_string().contains(expected), "{error}");
    let suffix = import::read(golden("suffix_i.tar"), Some(SuffixKind::Ii)).unwrap_err().to_string();
    assert!(suffix.contains("do not fit suffix ii"), "{suffix}");
}

#[test]
fn damaged_checkpoints_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.pt");
    for name in ["suffix_ii.pt", "suffix_i.tar", "plain_f64.pt"] {
        let sound = std::fs::read(golden(name)).unwrap();
        for length in (0..sound.len()).step_by(97) {
            std::fs::write(&path, &sound[..length]).unwrap();
            let error = import::read(&path, None).unwrap_err();
            assert!(
                matches!(error, Error::File(_) | Error::Graph(ppgn_graph::Error::Io { .. })),
                "{name} {length}: {error}"
            );
        }
        // Changing any single byte gives an error or a network, never a panic.
        for at in (0..sound.len()).step_by(13) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&path, &damaged).unwrap();
            let _ = import::read(&path, None);
        }
    }
    std::fs::write(&path, b"MUTAG is not a checkpoint").unwrap();
    assert!(import::read(&path, None).unwrap_err().to_string().contains("not a PyTorch checkpoint"));
    assert!(matches!(
        import::read(folder.path().join("none.pt"), None).unwrap_err(),
        Error::Graph(ppgn_graph::Error::Io { .. })
    ));
}
