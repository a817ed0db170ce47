#!/usr/bin/env python3
"""The rows of docs/results.md that are not networks of ours, on the same folds and by the same measures.

    pip install . scikit-learn
    python3 benches/results/baselines.py --sets MUTAG,PTC --rows majority,agnostic,wl-svm --seeds 0-2

- `majority`: the most frequent class of the training fold.
- `agnostic`: a network that sees no edge: the sum of the nodes' features (one-hot labels, or the number of nodes where there
  are none), standardised, then an MLP with one hidden layer of 64 (scikit-learn's, Adam, 200 epochs), as in Errica et al. 2020.
- `wl-svm`: the WL subtree kernel (`ppgn.wl.WLKernel`, 1 to 5 iterations, normalised) and a support vector machine; iterations
  and C are chosen on the inner split of the training fold.

Every file `docs/results/SET/ROW-SEED.json` has the fields of `cv.json` that apply: `accuracy_mean`, `accuracy_std`, `epoch`
and `curves` by the tables' protocol, and `fair`. The inner split is a stratified tenth of the training fold, by the seed.
"""

import argparse
import os
import time

import numpy as np
import ppgn
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from measure import SETS, keep, place, seeds, where

EPOCHS = 200
DEPTHS = [1, 2, 3, 4, 5]
COSTS = [10.0**k for k in range(-3, 4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="separated by commas")
    parser.add_argument("--rows", default=",".join(ROWS), help="separated by commas")
    parser.add_argument("--seeds", default="0-2", help="such as 0 or 0-2")
    args = parser.parse_args()
    for name in args.sets.split(","):
        data = None
        for row in args.rows.split(","):
            for seed in seeds(args.seeds):
                path = place(name, row, seed, False)
                if os.path.exists(path):
                    continue
                data = data or ppgn.load(name)
                start, cpu = time.perf_counter(), time.process_time()
                result = ROWS[row](data, seed)
                seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
                command = f"python3 benches/results/baselines.py --sets {name} --rows {row} --seeds {seed}"
                keep(path, {"command": command, **where(), "dataset": name, "seed": seed, **result,
                            "seconds_training": seconds, "cpu_seconds": cpu})
                print(f"{name} {row}-{seed}: {100 * result['fair']['mean']:.2f} %, {seconds:.0f} s", flush=True)


def folds(data, seed):
    """(training graphs without the inner split, inner split, all training graphs, test graphs) of every fold."""
    y = np.asarray(data.y)
    for train, test in data.folds:
        train, test = np.asarray(train), np.asarray(test)
        inner, validation = train_test_split(train, test_size=0.1, stratify=y[train], random_state=seed)
        yield inner, validation, train, test


def summary(accuracies):
    return {"mean": float(np.mean(accuracies)), "std": float(np.std(accuracies, ddof=1))}


def constant(accuracies):
    """A row without epochs: one figure for both protocols."""
    fair = summary(accuracies)
    return {"accuracy_mean": fair["mean"], "accuracy_std": fair["std"], "fair": {**fair, "folds": list(accuracies)}}


def majority(data, seed):
    y = np.asarray(data.y)

    def accuracy(train, test):
        values, counts = np.unique(y[train], return_counts=True)
        return float(np.mean(y[test] == values[np.argmax(counts)]))

    return constant([accuracy(train, test) for _, _, train, test in folds(data, seed)])


def agnostic(data, seed):
    x, y = sums(data), np.asarray(data.y)
    curves, fair = [], []
    for inner, validation, train, test in folds(data, seed):
        curves.append(learn(x, y, train, [test], seed)[0])
        chosen, held_out = learn(x, y, inner, [validation, test], seed)
        fair.append(float(held_out[int(np.argmax(chosen))]))
    mean = np.mean(curves, axis=0)
    best = int(np.argmax(mean))
    at_best = summary([curve[best] for curve in curves])
    return {"epochs": EPOCHS, "epoch": best + 1, "accuracy_mean": at_best["mean"], "accuracy_std": at_best["std"],
            "curves": [list(map(float, curve)) for curve in curves], "fair": {**summary(fair), "folds": fair}}


def sums(data):
    """Per graph the number of nodes of each label, or the number of nodes."""
    if data[0].node_labels is None:
        return np.array([[float(graph.nodes)] for graph in data])
    labels = [np.asarray(graph.node_labels).reshape(graph.nodes, -1) for graph in data]
    columns = [sorted({int(v) for rows in labels for v in rows[:, c]}) for c in range(labels[0].shape[1])]
    return np.array([[float(np.sum(rows[:, c] == v)) for c, values in enumerate(columns) for v in values] for rows in labels])


def learn(x, y, train, parts, seed):
    """The accuracy on each part after every epoch."""
    scaler = StandardScaler().fit(x[train])
    model = MLPClassifier((64,), batch_size=min(32, len(train)), random_state=seed)
    curves = [[] for _ in parts]
    for _ in range(EPOCHS):
        model.partial_fit(scaler.transform(x[train]), y[train], classes=np.unique(y))
        for curve, part in zip(curves, parts):
            curve.append(float(np.mean(model.predict(scaler.transform(x[part])) == y[part])))
    return curves


def wl_svm(data, seed):
    y = np.asarray(data.y)
    grams = [ppgn.wl.WLKernel(depth, normalize=True).fit_transform(data) for depth in DEPTHS]
    accuracies = []
    for inner, validation, train, test in folds(data, seed):

        def accuracy(gram, cost, fit, part):
            model = SVC(C=cost, kernel="precomputed").fit(gram[np.ix_(fit, fit)], y[fit])
            return float(np.mean(model.predict(gram[np.ix_(part, fit)]) == y[part]))

        trials = [(accuracy(gram, cost, inner, validation), -d, -cost) for d, gram in enumerate(grams) for cost in COSTS]
        _, depth, cost = max(trials)
        accuracies.append(accuracy(grams[-depth], -cost, train, test))
    return constant(accuracies)


ROWS = {"majority": majority, "agnostic": agnostic, "wl-svm": wl_svm}

if __name__ == "__main__":
    main()
