"""Small drawings of graphs for notebooks: stress majorisation (Gansner, Koren and North, 2004), always the same picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ppgn import Dataset, Graph

_LARGEST = 300
_HUES = (210, 30, 120, 0, 270, 60, 180, 330, 90, 240, 150, 300)


def _distances(graph: Graph) -> npt.NDArray[np.float64]:
    """Lengths of shortest paths, direction ignored; between components a little more than the longest."""
    n = graph.nodes
    rows: list[list[int]] = [[] for _ in range(n)]
    for u, v in graph.edge_index.T.tolist():
        rows[u].append(v)
        rows[v].append(u)
    out = np.full((n, n), -1.0)
    for start in range(n):
        out[start, start] = 0
        front, depth = [start], 0
        while front:
            depth += 1
            reached = []
            for u in front:
                for v in rows[u]:
                    if out[start, v] < 0:
                        out[start, v] = depth
                        reached.append(v)
            front = reached
    apart = max(out.max(), 1.0) + 1.0
    out[out < 0] = apart
    return out


def layout(graph: Graph, iterations: int = 60) -> npt.NDArray[np.float64]:
    """A place in the unit square per node: shape (nodes, 2). A circle beyond 300 nodes."""
    n = graph.nodes
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    places = np.stack([np.sin(angle), -np.cos(angle)], axis=1) * max(n, 1) / (2 * np.pi)
    if 2 < n <= _LARGEST:
        distance = _distances(graph)
        weight = np.zeros_like(distance)
        np.divide(1.0, distance**2, out=weight, where=distance > 0)
        total = weight.sum(axis=1)
        for _ in range(iterations):
            step = places[:, None, :] - places[None, :, :]
            length = np.sqrt((step**2).sum(axis=2))
            ratio = np.divide(distance, length, out=np.zeros_like(length), where=length > 1e-9)
            pull = places[None, :, :] + step * ratio[:, :, None]
            places = (weight[:, :, None] * pull).sum(axis=1) / total[:, None]
    low, high = (places.min(axis=0), places.max(axis=0)) if n else (np.zeros(2), np.ones(2))
    size = max(float((high - low).max()), 1e-9)
    return (places - (low + high) / 2) / size + 0.5


def _panel(graph: Graph, size: float) -> str:
    places = layout(graph) * (size - 20) + 10
    radius = max(1.5, min(5.0, 40 / max(graph.nodes, 1) ** 0.5))
    lines = [
        f'<line x1="{places[u, 0]:.1f}" y1="{places[u, 1]:.1f}" x2="{places[v, 0]:.1f}" y2="{places[v, 1]:.1f}"/>'
        for u, v in graph.edge_index.T.tolist()
        if u != v
    ]
    labels = graph.node_labels
    ranks = np.zeros(graph.nodes, dtype=int) if labels is None else np.unique(labels[:, 0], return_inverse=True)[1]
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="hsl({_HUES[rank % 12]} 60% 50%)"/>'
        for (x, y), rank in zip(places.tolist(), ranks.tolist(), strict=True)
    ]
    return '<g stroke="#888">' + "".join(lines) + "</g>" + "".join(dots)


def _picture(width: float, height: float, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="sans-serif" font-size="11">{body}</svg>'
    )


def draw(graph: Graph) -> str:
    """A graph; its nodes coloured by their first label."""
    return _picture(200, 200, _panel(graph, 200))


def draw_all(dataset: Dataset) -> str:
    """The first graphs of a dataset."""
    number, size = min(len(dataset), 6), 110.0
    y: Any = dataset.y
    parts = []
    for i in range(number):
        shown = "" if y is None else f" · {np.round(y[i], 3)}"
        parts.append(
            f'<g transform="translate({i * size:g} 18)"><text x="6" y="-6">{i}{shown}</text>'
            f"{_panel(dataset[i], size)}</g>"
        )
    rest = len(dataset) - number
    more = f'<text x="6" y="{size + 32:g}">and {rest} more</text>' if rest else ""
    return _picture(max(number, 1) * size, size + 40, "".join(parts) + more)
