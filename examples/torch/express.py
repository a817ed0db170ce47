"""A message-passing network of PyTorch in the expressiveness lab, by BREC's protocol: what it cannot tell apart, and
what it can once nodes know the triangles they are in."""

from __future__ import annotations

import sys

import numpy as np

import ppgn

try:
    import torch
except ImportError:
    sys.exit("SKIPPED: torch is not installed")


class GIN(torch.nn.Module):
    """Three rounds of h <- MLP(h + sum over neighbours of h), then the sum over all nodes, 16 outputs."""

    def __init__(self, triangles: bool) -> None:
        super().__init__()
        self.triangles = triangles
        sizes = [2, 16, 16, 16]
        layers = [
            torch.nn.Sequential(torch.nn.Linear(a, b), torch.nn.ReLU(), torch.nn.Linear(b, b))
            for a, b in zip(sizes, sizes[1:], strict=False)
        ]
        self.layers = torch.nn.ModuleList(layers)
        self.last = torch.nn.Linear(16, 16)

    def forward(self, graphs: list[ppgn.Graph]) -> torch.Tensor:
        rows = []
        for graph in graphs:
            adjacency = np.asarray(graph.adjacency())
            seen = np.diag(np.linalg.matrix_power(adjacency, 3)) * self.triangles
            a = torch.tensor(adjacency, dtype=torch.float32)
            h = torch.tensor(np.stack([np.ones(graph.nodes), seen], axis=1), dtype=torch.float32)
            for layer in self.layers:
                h = torch.relu(layer(h + a @ h))
            rows.append(self.last(h.sum(0)))
        return torch.stack(rows)


def measured(triangles: bool, suite: str) -> dict[str, object]:
    network = GIN(triangles)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-4)

    def reset(seed: int) -> None:
        nonlocal network, optimiser
        torch.manual_seed(seed)
        network = GIN(triangles)
        optimiser = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-4)

    def step(graphs: list[ppgn.Graph], rate: float) -> float:
        optimiser.param_groups[0]["lr"] = rate
        optimiser.zero_grad()
        outputs = network(graphs)
        outputs = (outputs - outputs.mean(0)) / (outputs.std(0, correction=0) + 1e-12)
        target = torch.full((len(graphs) // 2,), -1.0)
        loss = torch.nn.functional.cosine_embedding_loss(outputs[0::2], outputs[1::2], target)
        loss.backward()
        optimiser.step()
        return float(loss)

    with_weights = lambda graphs: network(graphs)  # noqa: E731
    return ppgn.express(with_weights, suite, protocol="rpc", test="1-wl", reset=reset, step=step, rounds=3)


def main() -> None:
    for triangles in (False, True):
        report = measured(triangles, "figure1")
        name = "GIN with triangles" if triangles else "GIN"
        print(f"{name}: {report['distinguished']} of {report['pairs']} pairs; 1-WL distinguishes {report['bound']}")


if __name__ == "__main__":
    main()
