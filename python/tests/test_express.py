"""The expressiveness lab on functions, estimators and torch modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ppgn
from ppgn import Graph


def triangles(graphs: list[Graph]) -> np.ndarray:
    cubes = [np.linalg.matrix_power(np.asarray(graph.adjacency()), 3) for graph in graphs]
    return np.array([[np.trace(cube), graph.edges] for cube, graph in zip(cubes, graphs, strict=True)])


def degrees(graphs: list[Graph]) -> np.ndarray:
    return np.array([[graph.edges, graph.nodes] for graph in graphs], dtype=float)


def test_what_a_function_sees() -> None:
    sees = ppgn.express(triangles, "figure1")
    assert (sees["pairs"], sees["distinguished"], sees["bound"], sees["test"]) == (1, 1, 1, "2-fwl")
    blind = ppgn.express(degrees, "figure1", seeds=[0, 1], rounds=5)
    assert (blind["distinguished"], blind["missed"][0]["why"]) == (0, "numerics")
    assert ppgn.express(degrees, "figure1", rounds=0)["missed"][0]["why"] == "depth"
    assert ppgn.express(None, "csl", protocol="exact", test="1-wl")["bound"] == 0


def test_pairs_of_ones_own(tmp_path: Path) -> None:
    hexagon, both = ppgn.load("figure1")
    report = ppgn.express(triangles, [hexagon, both, hexagon, hexagon], out=tmp_path / "lab")
    assert (report["pairs"], report["distinguished"], report["bound"]) == (2, 1, 1)
    assert (tmp_path / "lab" / "report.svg").exists()
    with pytest.raises(ValueError, match="even number"):
        ppgn.express(triangles, [hexagon])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_estimators_are_asked_for_their_features(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    # They compute while the lab waits, which must not take the threads they need.
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    data = ppgn.load("csl:n=11,skips=2+3,copies=6")
    model = ppgn.PPGNClassifier(epochs=2, blocks=[8, 8], random_state=0).fit(data)
    report = ppgn.express(model, "csl:n=11,skips=2+3,copies=1")
    assert (report["pairs"], report["distinguished"]) == (1, 1)


def test_rpc_trains_by_the_given_step() -> None:
    seen: list[tuple[int, float]] = []

    def step(graphs: list[Graph], rate: float) -> float:
        seen.append((len(graphs), rate))
        return 1.0

    noise = np.random.default_rng(0)

    def outputs(graphs: list[Graph]) -> np.ndarray:
        rows = triangles(graphs)[:, :1] * np.ones((1, 4))
        return rows + 1e-6 * noise.standard_normal(rows.shape)

    report = ppgn.express(outputs, "figure1", protocol="rpc", reset=lambda seed: None, step=step)
    # 64 copies in batches of 16, for 20 epochs since the loss stays high; the plateau lowers the rate.
    assert len(seen) == 80 and seen[0] == (16, 1e-4) and seen[-1][1] == pytest.approx(1e-5)
    assert report["distinguished"] == 1 and report["reliability_failures"] == 0


def test_wrong_models_raise() -> None:
    with pytest.raises(ValueError, match="give step and reset"):
        ppgn.express(triangles, "figure1", protocol="rpc")
    with pytest.raises(TypeError, match="neither callable"):
        ppgn.express(3, "figure1")
    with pytest.raises(ValueError, match="one row per graph"):
        ppgn.express(lambda graphs: [1.0], "figure1")
    with pytest.raises(FloatingPointError):
        ppgn.express(lambda graphs: [[np.nan]] * len(graphs), "figure1")
    with pytest.raises(ZeroDivisionError):
        ppgn.express(lambda graphs: 1 / 0, "figure1")
    with pytest.raises(ValueError, match="protocol"):
        ppgn.express(triangles, "figure1", protocol="guess")


def test_the_example_with_torch() -> None:
    pytest.importorskip("torch", reason="SKIPPED: torch is not installed")
    script = Path(__file__).resolve().parents[2] / "examples" / "torch" / "express.py"
    if not script.exists():
        pytest.skip("SKIPPED: the examples are not beside the tests")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=environment)
    assert "GIN: 0 of 1 pairs" in out.stdout and "GIN with triangles: 1 of 1 pairs" in out.stdout
