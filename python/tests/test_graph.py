"""`Graph` and `Dataset`: arrays in and out, equality, pickles, files."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import ppgn
from ppgn import Dataset, Graph, _labels


def test_arrays_go_in_and_out(featured: Graph) -> None:
    assert (featured.nodes, featured.edges, featured.directed) == (3, 2, False)
    assert featured.edge_index.tolist() == [[0, 1], [1, 2]]
    assert featured.indptr.tolist() == [0, 1, 3, 4] and featured.indices.tolist() == [1, 0, 2, 1]
    assert featured.node_labels.tolist() == [[6], [8], [1]]
    assert featured.node_attributes.tolist() == [[0.5, 1.0], [2.0, 3.0], [-1.0, 0.0]]
    assert featured.edge_labels.tolist() == [[1], [2]]
    assert featured.edge_attributes.tolist() == [[0.25], [0.75]]
    assert featured.positions.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0.5]]
    assert featured.adjacency().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert "node_labels=1" in repr(featured) and featured._repr_svg_().startswith("<svg")


def test_views_share_memory_and_cannot_be_written(featured: Graph) -> None:
    for view in (featured.indptr, featured.indices, featured.node_labels, featured.node_attributes, featured.positions):
        assert not view.flags.owndata and not view.flags.writeable
        with pytest.raises(ValueError):
            view[...] = 0
    kept = Graph(2, [(0, 1)], node_labels=[7, 8]).node_labels
    assert kept.tolist() == [[7], [8]]  # the array holds its graph


def test_edges_may_lie_either_way() -> None:
    pairs = [(0, 1), (1, 2), (2, 0)]
    by_rows = Graph(3, pairs)
    assert by_rows == Graph(3, np.array(pairs).T) == Graph(3, np.array(pairs, dtype=np.uint8))
    assert by_rows == Graph(3, np.array(pairs, order="F")) == Graph(3, pairs + [(1, 0)])
    assert Graph(2).edges == 0 and Graph(2, []).edges == 0 and Graph(0).nodes == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((2, [(0, 2)]), {}, "node 2 is out of range"),
        ((2, [(0, -1)]), {}, "negative"),
        ((2, [(0, 1.5)]), {}, "integers are needed"),
        ((2, [[0, 1, 2]]), {}, "shape"),
        ((2, [(0, 1)]), {"node_labels": [1]}, "one row per node"),
        ((2, [(0, 1)]), {"node_attributes": [[1.0], [float("nan")]]}, "not a finite number"),
        ((2, [(0, 1)]), {"edge_labels": [1, 2]}, "one row per edge"),
        ((2, [(0, 1)]), {"node_labels": [1.5, 2.5]}, "integer or a text"),
        ((2, [(0, 1)]), {"positions": [[0], [1]]}, "positions"),
        ((2, [(0, 1)]), {"node_attributes": ["a", "b"]}, "numbers are needed"),
        ((2, [(0, 2**40)]), {}, "out of range"),
        ((2, np.array([(0, 2**63)], dtype=np.uint64)), {}, "integers are needed"),
    ],
)
def test_wrong_arguments_are_value_errors(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph(*arguments, **options)


def test_text_labels_are_the_same_everywhere() -> None:
    a, b = Graph(2, [(0, 1)], node_labels=["C", "O"]), Graph(2, [(0, 1)], node_labels=np.array(["C", "O"], dtype=object))
    assert a == b and a != Graph(2, [(0, 1)], node_labels=["O", "O"])
    words = ["", "C", "Cl", "seven77", "é", "a long word", "another long word"]
    codes = [_labels.code(word) for word in words]
    assert len(set(codes)) == len(words) and all(2**62 <= c < 2**63 for c in codes)
    assert [_labels.text(c) for c in codes] == ["", "C", "Cl", "seven77", "é", None, None]
    # Pinned: graphs that were pickled by an earlier version must agree with those of a later one.
    assert _labels.code("C") == 4683743612465315907 and _labels.code("a long word") == 5593209765988891504


@pytest.mark.parametrize("directed", [False, True])
def test_pickles_are_equal_and_compact(directed: bool) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        m = 2 * n
        graph = Graph(
            n,
            np.unique(rng.integers(0, n, size=(m, 2)), axis=0) if directed else None,
            directed=directed,
            node_labels=rng.integers(-5, 300, size=(n, 2)),
            node_attributes=rng.normal(size=(n, 3)),
            positions=rng.normal(size=(n, 3)),
        )
        again = pickle.loads(pickle.dumps(graph))
        assert again == graph and hash(again) == hash(graph)
    plain = Graph(18, [(i, i + 1) for i in range(17)])
    assert len(pickle.dumps(plain)) < 140


def test_damaged_pickles_are_refused(featured: Graph) -> None:
    make, (data,) = featured.__reduce__()
    assert make(data) == featured
    for length in range(len(data)):
        with pytest.raises(ValueError, match="pickle"):
            make(data[:length])
    rng = np.random.default_rng(1)
    for _ in range(500):
        bad = bytearray(data)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        with contextlib.suppress(ValueError):
            make(bytes(bad))


def test_equality_is_by_content(square: Graph) -> None:
    turned = Graph(4, [(3, 2), (0, 3), (2, 1), (1, 0)])
    assert turned == square and hash(turned) == hash(square) and len({turned, square}) == 1
    assert square != Graph(4, [(0, 1)]) and square != "square"
    assert square.permute([1, 2, 3, 0]) == square
    with pytest.raises(ValueError, match="permutation"):
        square.permute([0, 0, 1, 2])


def test_graph6_goes_back(square: Graph) -> None:
    assert square.to_graph6() == "Cl" and ppgn.as_graph("Cl", strings="graph6") == square
    loop = Graph(2, [(0, 0), (0, 1)])
    assert ppgn.as_graph(loop.to_graph6()) == loop
    arrow = Graph(2, [(0, 1)], directed=True)
    assert ppgn.as_graph(arrow.to_graph6()) == arrow
    with pytest.raises(ValueError, match="lossy"):
        Graph(1, node_labels=[1]).to_graph6()
    assert Graph(1, node_labels=[1]).to_graph6(lossy=True) == "@"


def test_datasets_are_sequences(csl: Dataset) -> None:
    assert len(csl) == 16 and csl[0] == csl[-16] and csl.task == "classification"
    assert [g.nodes for g in csl] == [11] * 16
    assert csl[2:5] == csl[[2, 3, 4]] == csl[np.array([2, 3, 4])] and len(csl[::-1]) == 16
    assert csl[csl.y == csl.y[0]].y.tolist() == [csl.y[0]] * 8
    assert pickle.loads(pickle.dumps(csl)) == csl and hash(pickle.loads(pickle.dumps(csl))) == hash(csl)
    assert csl.digest() == pickle.loads(pickle.dumps(csl)).digest()
    assert csl._repr_svg_().count("<circle") > 50
    for wrong in (16, -17, [16]):
        with pytest.raises(IndexError):
            csl[wrong]
    with pytest.raises(TypeError):
        csl["a"]
    with pytest.raises(IndexError, match="booleans"):
        csl[[True, False]]


def test_datasets_learn_classes_or_numbers(square: Graph) -> None:
    assert Dataset([square] * 2).y is None
    assert Dataset([square] * 2, [3, 1]).y.tolist() == [3, 1]
    assert Dataset([square] * 2, ["toxic", "harmless"]).y.tolist() == ["toxic", "harmless"]
    numbers = Dataset([square] * 2, [0.5, 1.5])
    assert numbers.y.tolist() == [0.5, 1.5] and numbers.targets == ["y"] and numbers.task == "regression"
    several = Dataset([square] * 2, [[0.5, 1.0], [1.5, float("nan")]], targets=["a", "b"])
    assert several.targets == ["a", "b"] and several.y.shape == (2, 2) and np.isnan(several.y[1, 1])
    assert pickle.loads(pickle.dumps(several)) == several
    for wrong in ([1], [[1.0, 2.0]], [1j, 2j], [float("inf"), 1.0]):
        with pytest.raises(ValueError):
            Dataset([square] * 2, wrong)
    folds = Dataset([square] * 3, [0, 1, 0], folds=[([0, 1], [2])]).folds
    assert [part.tolist() for part in folds[0]] == [[0, 1], [2]]
    with pytest.raises(ValueError, match="graph 1"):
        Dataset([square, Graph(1, node_labels=[1])])


def test_files_are_read_and_written(tmp_path: Path, csl: Dataset, featured: Graph) -> None:
    file = tmp_path / "csl.jsonl"
    csl.save(file)
    again = ppgn.load(file)
    assert again == csl and again.y.tolist() == csl.y.tolist()
    assert ppgn.load(str(file) + ":3")[0] == csl[3]
    with pytest.raises(ValueError, match="lossy=True"):
        csl.save(tmp_path / "csl.g6")
    csl.save(tmp_path / "csl.g6", lossy=True)
    assert list(ppgn.load(tmp_path / "csl.g6")) == list(csl)
    one = Dataset([featured], [1.5], name="one")
    one.save(tmp_path / "one.jsonl")
    assert ppgn.load(tmp_path / "one.jsonl") == one and one.schema["node_labels"][0]["values"] == [1, 6, 8]


def test_missing_data_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="figure1"):
        ppgn.load("figur1")
    with pytest.raises(FileNotFoundError):
        ppgn.load(tmp_path / "nothing.g6")
    with pytest.raises(FileNotFoundError, match="download=True"):
        ppgn.load("MUTAG", data_dir=tmp_path)
    (tmp_path / "bad.g6").write_text("C~\nC!\n")
    with pytest.raises(ValueError, match=r"bad.g6:2: graph 1"):
        ppgn.load(tmp_path / "bad.g6")
    with pytest.raises(ValueError, match="not a format"):
        ppgn.load("csl", format="pdf")


def test_mutag_has_its_folds(mutag: Dataset) -> None:
    assert len(mutag) == 188 and len(mutag.folds) == 10
    train, test = mutag.folds[0]
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(188))
    assert len(pickle.dumps(mutag)) < 60_000
