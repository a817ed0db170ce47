"""A network in a loop of plain NumPy: gradient descent on the squared error."""

from __future__ import annotations

import numpy as np

import ppgn


def main() -> None:
    graphs = list(ppgn.load("gnp:n=6,p=0.5,count=12,seed=1"))
    wanted = np.array([[graph.edges / 10] for graph in graphs])
    network = ppgn.nn.Network(graphs, outputs=1, blocks=[8, 8], precision="f64", seed=1)
    losses: list[float] = []
    for _ in range(40):
        error = network.forward(graphs) - wanted
        losses.append(float((error**2).sum()))
        gradient = network.gradient(graphs, 2 * error)
        network.parameters = {name: value - 1e-3 * gradient[name] for name, value in network.parameters.items()}
    print(f"squared error: {losses[0]:.3f} -> {losses[-1]:.3f}")
    assert losses[-1] < losses[0]


if __name__ == "__main__":
    main()
