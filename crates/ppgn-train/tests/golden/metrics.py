"""Writes metrics.json: predictions, and what scikit-learn says of them.

    python -m venv /tmp/sklearn && /tmp/sklearn/bin/pip install scikit-learn==1.9.1 numpy
    /tmp/sklearn/bin/python crates/ppgn-train/tests/golden/metrics.py

A metric is null where scikit-learn does not define it: where it raises, gives NaN, or warns that there are no positives.
Missing values are NaN in numpy and null in the file; scikit-learn is given the known ones only.
"""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn import metrics as m
from sklearn.dummy import DummyClassifier, DummyRegressor

random = np.random.default_rng(20190527)


def number(compute):
    """The number, or None where it is undefined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
        warnings.filterwarnings("ignore", message="A single label was found")
        warnings.simplefilter("error", m._ranking.UndefinedMetricWarning)
        warnings.filterwarnings("error", message="No positive class found")
        try:
            value = float(compute())
        except (ValueError, UserWarning):
            return None
    return None if math.isnan(value) else value


def classes(truth, p):
    """All metrics of one class per graph; truth -1 is missing."""
    known = truth >= 0
    y, q = truth[known], p[known]
    labels = np.arange(p.shape[1])
    if len(y) == 0:
        nothing = ["accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "average_precision", "log_loss", "brier"]
        return {name: None for name in nothing} | {"confusion": np.zeros((len(labels),) * 2, int).tolist()}
    predicted = q.argmax(axis=1)
    binary = p.shape[1] == 2
    one_hot = (y[:, None] == labels).astype(int)

    def average_precision():
        if binary:
            return m.average_precision_score(y, q[:, 1])
        return m.average_precision_score(one_hot, q, average="macro")

    def roc_auc():
        if binary:
            return m.roc_auc_score(y, q[:, 1])
        return m.roc_auc_score(y, q, multi_class="ovr", average="macro", labels=labels)

    return {
        "accuracy": number(lambda: m.accuracy_score(y, predicted)),
        "balanced_accuracy": number(lambda: m.balanced_accuracy_score(y, predicted)),
        "macro_f1": number(lambda: m.f1_score(y, predicted, average="macro", zero_division=0)),
        "roc_auc": number(roc_auc),
        "average_precision": number(average_precision),
        "log_loss": number(lambda: m.log_loss(y, q, labels=labels)),
        "brier": number(lambda: m.brier_score_loss(y, q if not binary else q[:, 1], labels=labels)),
        "confusion": m.confusion_matrix(y, predicted, labels=labels).tolist(),
    }


def labels(truth, p):
    """All metrics of several labels per graph; each label by itself, and the mean of what is defined."""
    each = []
    for t, q in zip(truth.T, p.T):
        known = ~np.isnan(t)
        y, q = t[known].astype(int), q[known]
        predicted = (q > 0.5).astype(int)
        if len(y) == 0:
            each.append({name: None for name in ["accuracy", "balanced_accuracy", "macro_f1", "roc_auc",
                                                 "average_precision", "log_loss", "brier"]})
            continue
        each.append({
            "accuracy": number(lambda: m.accuracy_score(y, predicted)),
            "balanced_accuracy": number(lambda: m.balanced_accuracy_score(y, predicted)),
            "macro_f1": number(lambda: m.f1_score(y, predicted, zero_division=0)),
            "roc_auc": number(lambda: m.roc_auc_score(y, q)),
            "average_precision": number(lambda: m.average_precision_score(y, q)),
            "log_loss": number(lambda: m.log_loss(y, q, labels=[0, 1])),
            "brier": number(lambda: m.brier_score_loss(y, q, labels=[0, 1])),
        })
    mean = {}
    for name in each[0]:
        defined = [label[name] for label in each if label[name] is not None]
        mean[name] = float(np.mean(defined)) if defined else None
    if not np.isnan(truth).any() and all(label["roc_auc"] is not None for label in each):
        # scikit-learn's own averages of complete labels.
        y, predicted = truth.astype(int), (p > 0.5).astype(int)
        for name, value in {
            "roc_auc": m.roc_auc_score(y, p, average="macro"),
            "average_precision": m.average_precision_score(y, p, average="macro"),
            "macro_f1": m.f1_score(y, predicted, average="macro", zero_division=0),
            "accuracy": 1 - m.hamming_loss(y, predicted),
        }.items():
            assert abs(mean[name] - value) < 1e-12, (name, mean[name], value)
    return {"mean": mean, "labels": each}


def values(truth, p):
    """The metrics of each target."""
    each = []
    for y, q in zip(truth.T, p.T):
        known = ~np.isnan(y)
        y, q = y[known], q[known]
        if len(y) == 0:
            each.append({"mae": None, "rmse": None, "r2": None})
            continue
        each.append({
            "mae": number(lambda: m.mean_absolute_error(y, q)),
            "rmse": number(lambda: m.root_mean_squared_error(y, q)),
            "r2": number(lambda: m.r2_score(y, q)),
        })
    return each


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rounded(p):
    """Probabilities in quarters: many ties, and exact zeros and ones."""
    first = random.integers(0, 5, len(p)) / 4
    return np.stack([first, 1 - first], axis=1)


def listed(array):
    return [None if math.isnan(x) else float(x) for x in np.asarray(array, dtype=float).ravel()]


def class_case(name, truth, p):
    truth = np.asarray(truth)
    return {"name": name, "classes": p.shape[1], "truth": [None if t < 0 else int(t) for t in truth],
            "probabilities": listed(p), "expected": classes(truth, p)}


def draw(n, c, noise=1.0):
    truth = random.integers(0, c, n)
    return truth, softmax(noise * random.normal(size=(n, c)) + 1.5 * np.eye(c)[truth])


cases = {"sklearn": sklearn.__version__, "classes": [], "labels": [], "values": [], "baselines": []}
add = cases["classes"].append
truth, p = draw(60, 2)
add(class_case("two classes", truth, p))
truth = (random.random(80) < 0.12).astype(int)
add(class_case("imbalanced", truth, softmax(random.normal(size=(80, 2)) + np.eye(2)[truth])))
add(class_case("ties", random.integers(0, 2, 50), rounded(np.zeros(50))))
add(class_case("one class only, the first", np.zeros(9, int), softmax(random.normal(size=(9, 2)))))
add(class_case("one class only, the second", np.ones(9, int), softmax(random.normal(size=(9, 2)))))
add(class_case("one graph", np.array([1]), np.array([[0.25, 0.75]])))
add(class_case("no graph", np.array([], int), np.zeros((0, 3))))
truth, p = draw(90, 5)
add(class_case("five classes", truth, p))
truth, p = draw(40, 4)
add(class_case("a class that does not occur", np.where(truth == 2, 1, truth), p))
p = softmax(random.normal(size=(40, 4)) - 50 * np.eye(4)[3])
add(class_case("a class that is neither there nor predicted", truth % 3, p))
truth, p = draw(30, 3)
add(class_case("missing classes of graphs", np.where(random.random(30) < 0.3, -1, truth), p))
add(class_case("all missing", np.full(4, -1), p[:4]))
add(class_case("all right", truth, np.eye(3)[truth]))
add(class_case("all wrong and certain", truth, np.eye(3)[(truth + 1) % 3]))
add(class_case("ties between classes", truth, np.full((30, 3), 1 / 3)))

truth = (random.random((50, 3)) < [0.5, 0.2, 0.7]).astype(float)
p = 1 / (1 + np.exp(-random.normal(size=(50, 3)) - 2 * (truth - 0.5)))
for name, truth in {
    "complete": truth,
    "with missing values": np.where(random.random((50, 3)) < 0.3, np.nan, truth),
    "a label that never occurs": np.where([False, True, False], 0.0, truth),
    "a label that is nowhere known": np.where([True, False, False], np.nan, truth),
}.items():
    cases["labels"].append({"name": name, "labels": 3, "truth": listed(truth), "probabilities": listed(p),
                            "expected": labels(truth, p)})

truth = random.normal(size=(40, 2)) * [1.0, 300.0] + [0.0, -1e4]
p = truth + random.normal(size=(40, 2)) * [0.3, 500.0]
for name, truth, p in [
    ("two targets", truth, p),
    ("with missing values", np.where(random.random((40, 2)) < 0.3, np.nan, truth), p),
    ("one graph", truth[:1], p[:1]),
    ("all equal", np.full((5, 1), 2.5), random.normal(size=(5, 1))),
    ("all equal and right", np.full((5, 1), 2.5), np.full((5, 1), 2.5)),
    ("all right", truth, truth),
    ("nowhere known", np.full((5, 1), np.nan), np.zeros((5, 1))),
]:
    cases["values"].append({"name": name, "targets": truth.shape[1], "truth": listed(truth), "predicted": listed(p),
                            "expected": values(truth, p)})

# The baselines: what is learned from the training part without looking at a graph, measured on the test part.
train, test = np.array([0, 2, 2, 1, 2, 0, 2]), np.array([2, 1, 0, 0, 2])
dummy = DummyClassifier(strategy="prior").fit(np.zeros((7, 1)), train)
p = dummy.predict_proba(np.zeros((5, 1)))
cases["baselines"].append({"train": train.tolist(), "test": test.tolist(), "classes": 3, "expected": classes(test, p)})
assert (dummy.predict(np.zeros((5, 1))) == p.argmax(axis=1)).all()
train, test = random.normal(size=12), random.normal(size=7)
p = DummyRegressor(strategy="mean").fit(np.zeros((12, 1)), train).predict(np.zeros((7, 1)))
cases["baseline_of_values"] = {"train": listed(train), "test": listed(test),
                               "expected": values(test[:, None], p[:, None])[0]}

Path(__file__).with_name("metrics.json").write_text(json.dumps(cases, indent=None, separators=(",", ":")) + "\n")
