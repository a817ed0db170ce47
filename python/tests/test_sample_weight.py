"""Sample weights: 2 is a graph twice, 0 is no graph, and 1 is what there is without weights, bit for bit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppgn

SMALL: dict[str, Any] = {"epochs": 4, "blocks": [6, 6], "random_state": 1, "validation": None}


@pytest.fixture(scope="module")
def graphs() -> list[ppgn.Graph]:
    return list(ppgn.load("gnp:n=7,p=0.5,count=24,seed=3"))


def learned(graphs: list[ppgn.Graph], classes: bool) -> np.ndarray:
    edges = np.array([graph.edges for graph in graphs])
    return (edges > 10).astype(int) if classes else edges.astype(float)


def model(classes: bool, **settings: Any) -> Any:
    kind = ppgn.PPGNClassifier if classes else ppgn.PPGNRegressor
    return kind(**{**SMALL, **settings})


def outputs(fitted: Any, graphs: list[ppgn.Graph]) -> np.ndarray:
    return fitted.predict_proba(graphs) if hasattr(fitted, "predict_proba") else fitted.predict(graphs)


@pytest.mark.parametrize("classes", [True, False])
def test_ones_are_no_weights(graphs: list[ppgn.Graph], classes: bool) -> None:
    y = learned(graphs, classes)
    plain = model(classes).fit(graphs, y)
    for ones in (np.ones(24), [1] * 24, 1.0):
        assert np.array_equal(outputs(model(classes).fit(graphs, y, sample_weight=ones), graphs), outputs(plain, graphs))
    weighted = model(classes).fit(graphs, y, np.linspace(0.1, 3, 24))
    assert not np.array_equal(outputs(weighted, graphs), outputs(plain, graphs))
    again = pickle.loads(pickle.dumps(weighted))
    assert np.array_equal(outputs(again, graphs), outputs(weighted, graphs))


@pytest.mark.parametrize("classes", [True, False])
def test_zero_is_no_graph(graphs: list[ppgn.Graph], classes: bool) -> None:
    y, keep = learned(graphs, classes), np.arange(24) % 4 != 1
    weighted = model(classes, space="dense", batch=4).fit(graphs, y, keep.astype(float))
    rest = [graph for graph, kept in zip(graphs, keep, strict=True) if kept]
    without = model(classes, space="dense", batch=4).fit(rest, y[keep])
    assert np.array_equal(outputs(weighted, graphs), outputs(without, graphs))
    assert weighted.history_ == without.history_


@pytest.mark.parametrize("classes", [True, False])
def test_two_is_the_graph_twice(graphs: list[ppgn.Graph], classes: bool) -> None:
    y, times = learned(graphs, classes), np.arange(24) % 3 + 1
    settings: dict[str, Any] = {"precision": "f64", "batch": 100}
    if classes:
        settings["class_weights"] = "balanced"
    weighted = model(classes, **settings).fit(graphs, y, times)
    copies = [graph for graph, n in zip(graphs, times, strict=True) for _ in range(n)]
    repeated = model(classes, **settings).fit(copies, y.repeat(times))
    assert np.allclose(outputs(weighted, graphs), outputs(repeated, graphs), rtol=1e-8, atol=0)
    assert np.isclose(weighted.history_[-1]["train"]["loss"], repeated.history_[-1]["train"]["loss"], rtol=1e-10)
    assert np.isclose(weighted.score(graphs, y, times), weighted.score(graphs * 1, y, sample_weight=times * 5.0))


def test_runs_keep_the_weights(graphs: list[ppgn.Graph], tmp_path: Path) -> None:
    y, weights = learned(graphs, True), np.linspace(0.5, 2, 24)
    whole = model(True, epochs=5).fit(graphs, y, weights)
    parts = model(True, epochs=2, warm_start=True, run=tmp_path / "run").fit(graphs, y, weights)
    with pytest.raises(ValueError, match="sample weights that it began with"):
        parts.set_params(epochs=3).fit(graphs, y)
    parts.fit(graphs, y, weights)
    assert parts.history_ == whole.history_
    assert ppgn.open_run(tmp_path / "run").settings["sample_weights"] == weights.tolist()


def test_validation_sets_have_weights_too(graphs: list[ppgn.Graph]) -> None:
    y, weights = learned(graphs, False), np.linspace(0.5, 2, 12)
    first, second = graphs[:12], graphs[12:]

    def losses(validation: Any) -> list[float]:
        fitted = model(False, validation=validation).fit(first, y[:12], weights)
        return [epoch["validation"]["loss"] for epoch in fitted.history_]

    assert losses((second, y[12:])) == losses((second, y[12:], np.ones(12)))
    assert losses((second, y[12:])) != losses((second, y[12:], weights))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), "expected"),
        (np.ones((24, 1)), "1D array"),
        (np.full(24, np.nan), "finite and not negative"),
        (np.r_[np.ones(23), -1.0], "graph 23 is -1"),
        (np.zeros(24), "at least one non-zero"),
        (["much"] * 24, "one number per graph"),
    ],
)
def test_wrong_weights_are_value_errors(graphs: list[ppgn.Graph], weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model(True).fit(graphs, learned(graphs, True), weights)


def test_scikit_learn_hands_out_the_weights(graphs: list[ppgn.Graph]) -> None:
    pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed")
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    y, weights = learned(graphs, True), np.linspace(0.5, 2, 24)
    scores = cross_val_score(model(True), graphs, y, cv=3, params={"sample_weight": weights})
    assert scores.shape == (3,)
    pipe = make_pipeline(model(True)).fit(graphs, y, ppgnclassifier__sample_weight=weights)
    assert np.array_equal(pipe.predict_proba(graphs), model(True).fit(graphs, y, weights).predict_proba(graphs))
