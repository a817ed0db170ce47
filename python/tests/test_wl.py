"""The tests, against NetworkX and against counting by hand; the kernel against its definition."""

from __future__ import annotations

import numpy as np
import pytest

import ppgn
from ppgn import Graph, wl


@pytest.fixture(scope="module")
def pair() -> list[Graph]:
    return list(ppgn.load("figure1"))


def test_colours_are_arrays(pair: list[Graph]) -> None:
    path = Graph(4, [(0, 1), (1, 2), (2, 3)])
    refinement = wl.refine([path])
    assert refinement.colours().tolist() == [0, 1, 1, 0] and refinement.colours(0, 0).tolist() == [0] * 4
    assert refinement.stable and refinement.rounds == 1 and refinement.n_colours.tolist() == [1, 2]
    assert refinement.histogram() == {0: 2, 1: 2}
    pairs = wl.refine(pair, "2-fwl")
    assert pairs.colours(1).shape == (6, 6) and pairs.test == "2-fwl"
    assert wl.refine(pair, "3-wl").colours(0).shape == (6, 6, 6)
    with pytest.raises(IndexError):
        refinement.colours(1)
    assert not wl.refine([Graph(9, [(i, i + 1) for i in range(8)])], rounds=1).stable


def test_verdicts_and_certificates(pair: list[Graph]) -> None:
    result = wl.compare(*pair)
    assert result and (result.test, result.round) == ("2-fwl", 1)
    assert result.verdicts == {"1-wl": False, "2-fwl": True}
    certificate = result.certificate
    assert certificate is not None and certificate["counts"] == [6, 18] and certificate["round"] == 1
    assert "distinguishes them after round 1" in str(result) and certificate["legend"]
    equal = wl.compare(*pair, test="1-wl")
    assert not equal and equal.distinguished is False and equal.certificate is None
    assert not wl.distinguishes(*pair) and wl.distinguishes(*pair, test="2-fwl")
    path = [Graph(9, [(i, i + 1) for i in range(8)]), Graph(9, [(i, i + 1) for i in range(7)] + [(3, 8)])]
    assert wl.compare(*path, test="1-wl", rounds=0).distinguished is None
    with pytest.raises(ValueError, match="no verdict"):
        wl.distinguishes(*path, rounds=0)


def test_classes_and_digests(pair: list[Graph]) -> None:
    csl = ppgn.load("csl")
    assert len(set(wl.classes(csl, "2-fwl").tolist())) == 10
    assert set(wl.classes(csl, "1-wl").tolist()) == {0}
    digests = wl.digest(pair, "2-fwl")
    assert digests[0] != digests[1] and digests[0] == wl.digest(pair[0].permute([5, 3, 1, 0, 2, 4]), "2-fwl")
    labelled = Graph(2, [(0, 1)], node_labels=[1, 2])
    assert wl.digest(labelled) != wl.digest(Graph(2, [(0, 1)]))
    assert wl.digest(labelled, labels=False) == wl.digest(Graph(2, [(0, 1)]))


def test_wrong_calls() -> None:
    edge = Graph(2, [(0, 1)])
    with pytest.raises(ValueError, match="is not a test"):
        wl.refine([edge], "2-gwl")
    with pytest.raises(ValueError, match="no graphs"):
        wl.refine([])
    with pytest.raises(ValueError, match="no nodes"):
        wl.refine([Graph(0)])
    with pytest.raises(MemoryError):
        wl.refine([Graph(200)], "3-fwl", max_memory=1000)
    with pytest.raises(ValueError, match="negative"):
        wl.refine([edge], rounds=-1)


def test_against_networkx() -> None:
    nx = pytest.importorskip("networkx", reason="SKIPPED: networkx is not installed")
    graphs = [nx.gnp_random_graph(8, 0.4, seed=seed) for seed in range(60)] + [
        nx.random_regular_graph(3, 8, seed=seed) for seed in range(10)
    ]
    hashes = [nx.weisfeiler_lehman_graph_hash(g, iterations=9) for g in graphs]
    digests = wl.digest(graphs)
    for i in range(len(graphs)):
        for j in range(i):
            assert (hashes[i] == hashes[j]) == (digests[i] == digests[j]), (i, j)


def histograms(graphs: list[Graph], n_iter: int) -> list[dict[object, int]]:
    """The features of the subtree kernel by their definition: unfolded colours as nested tuples."""
    rows: list[dict[object, int]] = []
    for graph in graphs:
        labels = graph.node_labels
        colours: list[object] = [("label", () if labels is None else tuple(labels[u])) for u in range(graph.nodes)]
        row: dict[object, int] = {}
        for round in range(n_iter + 1):
            for colour in colours:
                row[round, colour] = row.get((round, colour), 0) + 1
            colours = [
                (colours[u], tuple(sorted((colours[v] for v in graph.neighbours(u).tolist()), key=repr)))
                for u in range(graph.nodes)
            ]
        rows.append(row)
    return rows


@pytest.mark.parametrize("n_iter", [0, 1, 3])
def test_kernel_and_features_by_definition(n_iter: int) -> None:
    graphs = list(ppgn.load("gnp:n=6,p=0.4,count=14,seed=3"))
    rng = np.random.default_rng(0)
    graphs = [Graph(6, g.edge_index.T, node_labels=rng.integers(0, 2, 6)) for g in graphs]
    train, test = graphs[:9], graphs[9:]
    rows = histograms(graphs, n_iter)
    dot = np.array([[sum(x * b.get(c, 0) for c, x in a.items()) for b in rows] for a in rows], dtype=float)
    kernel = wl.WLKernel(n_iter=n_iter)
    assert np.array_equal(kernel.fit_transform(train), dot[:9, :9])
    assert np.array_equal(kernel.transform(test), dot[9:, :9])
    scale = np.sqrt(np.diag(dot))
    normal = wl.WLKernel(n_iter=n_iter, normalize=True).fit(train)
    assert np.allclose(normal.transform(test), (dot / scale[:, None] / scale)[9:, :9], rtol=1e-14)
    assert np.allclose(np.diag(normal.fit_transform(train)), 1, rtol=1e-14)
    vectorizer = wl.WLVectorizer(n_iter=n_iter, sparse=False)
    features = vectorizer.fit_transform(train)
    assert np.array_equal(features @ features.T, dot[:9, :9])
    assert np.array_equal(vectorizer.transform(train), features)
    seen = vectorizer.transform(test)
    assert seen.shape == (5, vectorizer.n_features_out_) and np.array_equal(seen @ features.T, dot[9:, :9])


def test_transformers_are_scikit_learns(mutag: ppgn.Dataset) -> None:
    pytest.importorskip("sklearn", reason="SKIPPED: scikit-learn is not installed")
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    y = mutag.y
    machine = make_pipeline(wl.WLKernel(n_iter=3, normalize=True), SVC(kernel="precomputed", C=10))
    assert cross_val_score(machine, mutag, y, cv=3).mean() > 0.75
    linear = make_pipeline(wl.WLVectorizer(n_iter=2), LogisticRegression(max_iter=2000))
    assert cross_val_score(clone(linear), list(mutag), y, cv=3).mean() > 0.75
    assert clone(wl.WLKernel(n_iter=7)).n_iter == 7
    with pytest.raises(ValueError, match="n_iter"):
        wl.WLKernel(n_iter=-1).fit(mutag)


def test_a_transformer_that_is_not_fitted() -> None:
    for transformer in (wl.WLKernel(), wl.WLVectorizer()):
        with pytest.raises((ValueError, AttributeError), match="not fitted"):
            transformer.transform([Graph(1)])
        assert transformer.get_params()["n_iter"] == 5 and transformer.set_params(n_iter=2).n_iter == 2
