"""What is learned per node and per pair of nodes."""

import pickle

import numpy as np
import pytest

import ppgn


def graphs(count=40, n=7, seed=1):
    return list(ppgn.load(f"gnp:n={n},p=0.4,count={count},seed={seed}"))


def adjacency(graph):
    return np.asarray(graph.adjacency())


SETTINGS = {"epochs": 30, "blocks": [8, 8], "rate": 0.01, "random_state": 0}


def test_values_per_node():
    data = graphs()
    degrees = [adjacency(graph).sum(axis=1) for graph in data]
    model = ppgn.PPGNRegressor(level="node", **SETTINGS).fit(data, degrees)
    guess = model.predict(data[:3])
    assert [row.shape for row in guess] == [(7,)] * 3
    assert model.score(data, degrees) > 0.95
    assert model.settings_["network"]["level"] == "node"
    # Several targets, some of which are not known.
    both = [np.stack([row, 2 * row], axis=1) for row in degrees]
    for row in both[::2]:
        row[0, 1] = np.nan
    model = ppgn.PPGNRegressor(level="node", **SETTINGS).fit(data, both)
    assert model.predict(data[:1])[0].shape == (7, 2)
    assert model.score(data, both) > 0.9
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(data[:2])[1], model.predict(data[:2])[1])


def test_classes_per_pair():
    data = graphs()
    edges = [adjacency(graph).astype(int) for graph in data]
    words = [np.where(a == 1, "edge", "none").astype(object) for a in edges]
    for a in words:
        np.fill_diagonal(a, None)
    model = ppgn.PPGNClassifier(level="pair", validation=(data[:8], words[:8]), **SETTINGS)
    model.fit(data[8:], words[8:])
    assert list(model.classes_) == ["edge", "none"]
    guess = model.predict(data[:2])
    assert guess[0].shape == (7, 7) and model.predict_proba(data[:2])[0].shape == (7, 7, 2)
    np.testing.assert_allclose(model.predict_proba(data[:2])[0].sum(axis=-1), 1)
    assert model.score(data, words) > 0.99


def test_nodes_may_be_relabelled():
    data = graphs(12)
    degrees = [adjacency(graph).sum(axis=1) for graph in data]
    model = ppgn.PPGNRegressor(level="node", precision="f64", **{**SETTINGS, "epochs": 3}).fit(data, degrees)
    a = adjacency(data[0]).astype(int)
    order = np.random.default_rng(0).permutation(len(a))
    before, after = model.predict([ppgn.as_graph(a), ppgn.as_graph(a[np.ix_(order, order)])])
    np.testing.assert_allclose(after, before[order], atol=1e-9)


def test_what_does_not_fit_is_refused():
    data = graphs(10)
    with pytest.raises(ValueError, match="graph 1 needs values of shape \\(7,\\), one per node"):
        ppgn.PPGNRegressor(level="node").fit(data, [np.zeros(7), np.zeros(6)] + [np.zeros(7)] * 8)
    with pytest.raises(ValueError, match="one array per graph"):
        ppgn.PPGNRegressor(level="node").fit(data, np.zeros(10))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ppgn.PPGNRegressor(level="node").fit(data, [np.zeros(7)] * 9)
    with pytest.raises(ValueError, match="graph, node or pair"):
        ppgn.PPGNRegressor(level="edge").fit(data, [np.zeros(7)] * 10)
    with pytest.raises(ValueError, match="one class only"):
        ppgn.PPGNClassifier(level="node").fit(data, [np.zeros(7, dtype=int)] * 10)


def test_datasets_with_items_survive_a_pickle():
    for spec in ["short-cycles:count=3", "distances:n=4,count=3"]:
        data = ppgn.load(spec)
        assert pickle.loads(pickle.dumps(data)) == data
