#!/usr/bin/env python3
"""The WL subtree kernel compared with GraKeL: the same Gram matrix, and how much faster.

GraKeL (PyPI) lives in an environment outside the project; nothing is installed here:

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install grakel
    cargo build --release -p ppgn-wl --example kernel
    /tmp/peers/bin/python benches/peers/wl_kernel.py

For every dataset the two take turns, `--runs` times each, on the graphs in memory: GraKeL's
`WeisfeilerLehman(n_iter=H).fit_transform`, and ppgn's features and Gram matrix (the example `kernel` of ppgn-wl times
itself). With `--ppgn target/release/ppgn` the whole command `ppgn wl kernel` is timed instead, including reading and
writing. The best run of each counts, so that other load on the machine matters little. The exit code is 1 if an entry of
the matrices differs, or if the Gram matrix of the last dataset is not `--factor` times faster.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile

import grakel
import numpy as np
import scipy.sparse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load(data, name):
    """The graphs of tu/NAME.zip as GraKeL takes them: neighbours with weights, and node labels."""
    with zipfile.ZipFile(os.path.join(data, "tu", name + ".zip")) as archive:
        numbers = iter(archive.read(f"{name}/{name}.txt").split())
    graphs = []
    for _ in range(int(next(numbers))):
        n, _ = int(next(numbers)), next(numbers)
        edges, labels = {}, {}
        for u in range(n):
            labels[u] = int(next(numbers))
            edges[u] = {int(next(numbers)): 1.0 for _ in range(int(next(numbers)))}
        graphs.append([edges, labels])
    return graphs


def peer(graphs, iterations):
    """GraKeL's Gram matrix, and its seconds."""
    kernel = grakel.WeisfeilerLehman(
        n_iter=iterations, normalize=False, base_graph_kernel=grakel.VertexHistogram
    )
    start = time.perf_counter()
    gram = kernel.fit_transform(graphs)
    return gram, time.perf_counter() - start


def ours(arguments, name, folder):
    """ppgn's Gram matrix and features, and the seconds for each."""
    features, gram = os.path.join(folder, "features.npz"), os.path.join(folder, "gram.npy")
    iterations = str(arguments.iterations)
    environment = {**os.environ, "PPGN_DATA": arguments.data}
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, env=environment).stdout
    if arguments.ppgn:
        command = [arguments.ppgn, "wl", "kernel", name, "--iterations", iterations]
        start = time.perf_counter()
        run(*command, features)
        middle = time.perf_counter()
        run(*command, "--gram", gram)
        times = middle - start, time.perf_counter() - middle
    else:
        measured = json.loads(run(arguments.example, name, iterations, features, gram))
        times = measured["features_seconds"], measured["gram_seconds"]
    return np.load(gram), scipy.sparse.load_npz(features), *times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["MUTAG", "NCI1"])
    parser.add_argument("--data", default=os.environ.get("PPGN_DATA", os.path.join(ROOT, "../shared/data")))
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--factor", type=float, default=10)
    parser.add_argument("--example", default=os.path.join(ROOT, "target/release/examples/kernel"))
    parser.add_argument("--ppgn", help="time the whole command of this ppgn binary")
    arguments = parser.parse_args()

    print(f"GraKeL {grakel.__version__}, {arguments.iterations} iterations, best of {arguments.runs} runs, seconds")
    print(f"{'':10} {'graphs':>7} {'GraKeL':>9} {'Gram':>9} {'times':>7} {'features':>9} {'times':>7}  entries")
    sound = True
    for name in arguments.datasets:
        graphs = load(arguments.data, name)
        theirs, features, grams = [], [], []
        for _ in range(arguments.runs):
            expected, seconds = peer(graphs, arguments.iterations)
            theirs.append(seconds)
            with tempfile.TemporaryDirectory() as folder:
                gram, rows, first, second = ours(arguments, name, folder)
            features.append(first)
            grams.append(second)
            equal = np.array_equal(gram, expected) and np.array_equal((rows @ rows.T).toarray(), gram)
            sound = sound and equal
        them, gram, rows = min(theirs), min(grams), min(features)
        print(
            f"{name:10} {len(graphs):7} {them:9.3f} {gram:9.4f} {them / gram:6.1f}x {rows:9.4f} {them / rows:6.1f}x"
            f"  {'equal' if equal else 'DIFFERENT'}",
            flush=True,
        )
    if not sound or them / gram < arguments.factor:
        sys.exit(1)


if __name__ == "__main__":
    main()
