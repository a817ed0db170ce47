"""Cross-validates a network and the WL subtree kernel on a dataset: `python examples/cross_validate.py MUTAG`."""

from __future__ import annotations

import sys

import numpy as np

import ppgn


def main(name: str) -> None:
    data = ppgn.load(name)
    print(data)
    folds = data.folds or [[np.arange(0, len(data), 2), np.arange(1, len(data), 2)]]
    scores = []
    for train, test in folds[:3]:
        model = ppgn.PPGNClassifier(epochs=10, blocks=[16, 16], random_state=0)
        model.fit(data[train], data[train].y)
        scores.append(model.score(data[test], data[test].y))
    print(f"accuracy on {len(scores)} folds: {np.mean(scores):.3f}")
    gram = ppgn.wl.WLKernel(n_iter=3, normalize=True).fit_transform(data)
    print("the kernel's Gram matrix:", gram.shape)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "csl:n=11,skips=2+3,copies=8")
