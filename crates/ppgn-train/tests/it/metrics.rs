//! The metrics against scikit-learn's on the same predictions (`tests/golden/metrics.py` wrote the file).

use ppgn_train::metrics::{ClassMetrics, ValueMetrics, classification, multi_label, prior, regression};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden {
    classes: Vec<Classes>,
    labels: Vec<Labels>,
    values: Vec<Values>,
    baselines: Vec<Baseline>,
    baseline_of_values: BaselineOfValues,
}

#[derive(Deserialize)]
struct Classes {
    name: String,
    classes: usize,
    truth: Vec<Option<usize>>,
    probabilities: Vec<f64>,
    expected: Value,
}

#[derive(Deserialize)]
struct Labels {
    name: String,
    labels: usize,
    truth: Vec<Option<f64>>,
    probabilities: Vec<f64>,
    expected: Value,
}

#[derive(Deserialize)]
struct Values {
    name: String,
    targets: usize,
    truth: Vec<Option<f64>>,
    predicted: Vec<f64>,
    expected: Vec<Value>,
}

#[derive(Deserialize)]
struct Baseline {
    train: Vec<Option<usize>>,
    test: Vec<Option<usize>>,
    classes: usize,
    expected: Value,
}

#[derive(Deserialize)]
struct BaselineOfValues {
    train: Vec<f64>,
    test: Vec<f64>,
    expected: Value,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/metrics.json")).unwrap()
}

fn close(found: Option<f64>, expected: &Value, what: &str) {
    match (found, expected.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{what}: {a} is not {b}"),
        (a, b) => assert_eq!(a, b, "{what}"),
    }
}

fn same_classes(found: &ClassMetrics, expected: &Value, name: &str) {
    for (metric, value) in [
        ("accuracy", found.accuracy),
        ("balanced_accuracy", found.balanced_accuracy),
        ("macro_f1", found.macro_f1),
        ("roc_auc", found.roc_auc),
        ("average_precision", found.average_precision),
        ("log_loss", found.log_loss),
        ("brier", found.brier),
    ] {
        close(value, &expected[metric], &format!("{metric} of `{name}`"));
    }
    if let Some(confusion) = expected.get("confusion") {
        assert_eq!(serde_json::to_value(&found.confusion).unwrap(), *confusion, "{name}");
    }
}

fn same_values(found: &ValueMetrics, expected: &Value, name: &str) {
    for (metric, value) in [("mae", found.mae), ("rmse", found.rmse), ("r2", found.r2)] {
        close(value, &expected[metric], &format!("{metric} of `{name}`"));
    }
}

fn with_nan(values: &[Option<f64>]) -> Vec<f64> {
    values.iter().map(|v| v.unwrap_or(f64::NAN)).collect()
}

#[test]
fn classes_as_scikit_learn() {
    let cases = golden().classes;
    assert!(cases.len() >= 15);
    for case in cases {
        same_classes(
            &classification(&case.truth, &case.probabilities, case.classes),
            &case.expected,
            &case.name,
        );
    }
}

#[test]
fn labels_as_scikit_learn() {
    for case in golden().labels {
        let found = multi_label(&with_nan(&case.truth), &case.probabilities, case.labels);
        same_classes(&found.mean, &case.expected["mean"], &case.name);
        for (l, label) in found.labels.iter().enumerate() {
            same_classes(label, &case.expected["labels"][l], &format!("label {l} of {}", case.name));
        }
    }
}

#[test]
fn values_as_scikit_learn() {
    for case in golden().values {
        let found = regression(&with_nan(&case.truth), &case.predicted, case.targets);
        assert_eq!(found.len(), case.expected.len());
        for (found, expected) in found.iter().zip(&case.expected) {
            same_values(found, expected, &case.name);
        }
    }
}

#[test]
fn baselines_as_scikit_learns_dummies() {
    let golden = golden();
    for case in golden.baselines {
        let rows = prior(&case.train, case.classes).repeat(case.test.len());
        same_classes(&classification(&case.test, &rows, case.classes), &case.expected, "baseline");
    }
    let case = golden.baseline_of_values;
    let mean = case.train.iter().sum::<f64>() / case.train.len() as f64;
    let found = regression(&case.test, &vec![mean; case.test.len()], 1);
    same_values(&found[0], &case.expected, "baseline of values");
}
