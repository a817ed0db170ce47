#!/usr/bin/env python3
"""The Python package beside GraKeL, NetworkX and the command line: the same results, and how much faster.

GraKeL needs NumPy 1, so everything lives in an environment outside the project; nothing is installed here:

    .ci/python wheel
    python3.10 -m venv /tmp/peers
    /tmp/peers/bin/pip install grakel "numpy<2" "scikit-learn<1.6" networkx target/wheels/*.whl
    /tmp/peers/bin/python benches/peers/python_package.py --data ../shared/data --ppgn target/release/ppgn

- `kernel`: `WLKernel(n_iter=5).fit_transform` and GraKeL's `WeisfeilerLehman(n_iter=5)`, on the graphs of NCI1 in memory.
- `digest`: `wl.digest(test="1-wl")` of a NetworkX graph with 100,000 nodes and 500,000 edges, conversion included, and
  `networkx.weisfeiler_lehman_graph_hash` with 3 iterations.
- `fit`: `PPGNClassifier.fit` and `ppgn train`, the same settings and metrics, in wall time and in CPU time. The command
  reads its data within its time, the estimator has it in memory.

Two sides take turns, `--runs` times each; the best run of each counts. The exit code is 1 if a result differs.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import ppgn


def turns(runs: int, *sides: Callable[[], Any]) -> tuple[list[float], list[Any]]:
    """The best time of each side, and its last result."""
    best, results = [float("inf")] * len(sides), [None] * len(sides)
    for _ in range(runs):
        for i, side in enumerate(sides):
            start = time.perf_counter()
            results[i] = side()
            best[i] = min(best[i], time.perf_counter() - start)
    return best, results


def kernel(data: Path, runs: int) -> bool:
    import grakel

    graphs = ppgn.load("NCI1", data_dir=data)
    theirs = []
    for graph in graphs:
        edges = {u: {} for u in range(graph.nodes)}
        for u, v in graph.edge_index.T.tolist():
            edges[u][v] = edges[v][u] = 1.0
        theirs.append(grakel.Graph(edges, node_labels=dict(enumerate(graph.node_labels[:, 0].tolist()))))
    ours = list(graphs)
    (a, b), (x, y) = turns(
        runs,
        lambda: ppgn.wl.WLKernel(n_iter=5).fit_transform(ours),
        lambda: grakel.WeisfeilerLehman(n_iter=5).fit_transform(theirs),
    )
    print(f"kernel: WLKernel {a:.3f} s, GraKeL {b:.3f} s: {b / a:.1f} times; equal: {np.array_equal(x, y)}")
    return np.array_equal(x, y)


def digest(runs: int) -> bool:
    import networkx as nx

    graph = nx.gnm_random_graph(100_000, 500_000, seed=1)
    (a, b, c), _ = turns(
        runs,
        lambda: ppgn.wl.digest(graph),
        lambda: nx.weisfeiler_lehman_graph_hash(graph, iterations=3),
        lambda: ppgn.as_graph(graph),
    )
    print(f"digest: ppgn {a:.3f} s, of which conversion {c:.3f} s; NetworkX {b:.3f} s: {b / a:.1f} times")
    return True


def fit(data: Path, binary: str, runs: int) -> bool:
    graphs = ppgn.load("MUTAG", data_dir=data)
    settings = {"epochs": 15, "seed": 0}

    def train(folder: str) -> tuple[float, float]:
        words = ["train", "MUTAG", "--data-dir", str(data), "--out", folder, "--quiet", "--split", "90/10/0", "--json"]
        words += [f"--{name}={value}" for name, value in settings.items()]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([binary, *words], check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            theirs.append(train(f"{folder}/theirs{run}"))
            start, cpu = time.perf_counter(), time.process_time()
            ppgn.PPGNClassifier(**settings, run=f"{folder}/ours{run}").fit(graphs, graphs.y)
            ours.append((time.perf_counter() - start, time.process_time() - cpu))
        same = [(Path(folder) / side / "metrics.jsonl").read_bytes() for side in ("ours0", "theirs0")]
    for i, clock in enumerate(("wall", "CPU")):
        a, b = (min(side[i] for side in sides) for sides in (ours, theirs))
        print(f"fit: PPGNClassifier.fit {a:.2f} s, ppgn train {b:.2f} s of {clock} time: {100 * (a / b - 1):+.1f} %")
    print(f"fit: same metrics: {same[0] == same[1]}")
    return same[0] == same[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--ppgn", default="target/release/ppgn")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("what", nargs="*", default=[], help="kernel, digest, fit [default: all]")
    args = parser.parse_args()
    sides = {
        "kernel": lambda: kernel(args.data, args.runs),
        "digest": lambda: digest(args.runs),
        "fit": lambda: fit(args.data, args.ppgn, args.runs),
    }
    return 0 if all([sides[what]() for what in args.what or sides]) else 1


if __name__ == "__main__":
    sys.exit(main())
