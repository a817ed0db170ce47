"""What is learned per node or per pair of nodes: one array per graph, and all of them in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._ppgn import Graph


def shape(graph: Graph, level: str) -> tuple[int, ...]:
    """The shape of one value per node, (n,), or per ordered pair of nodes, (n, n)."""
    n = int(graph.nodes)
    return (n,) if level == "node" else (n, n)


def flattened(y: Any, graphs: Sequence[Graph], level: str) -> npt.NDArray[Any]:
    """The values of all nodes or pairs, graph after graph: shape (items,), or (items, targets)."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "O" and y.ndim < 2:
        raise ValueError(f"y: with level={level!r}, one array per graph is needed, not one value per graph")
    try:
        parts = list(y)
    except TypeError:
        raise ValueError(f"y: with level={level!r}, one array per graph is needed") from None
    if len(parts) != len(graphs):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{len(graphs)}, {len(parts)}]"
        )
    rows = []
    for number, (part, graph) in enumerate(zip(parts, graphs, strict=True)):
        array, wanted = np.asarray(part), shape(graph, level)
        if array.shape[: len(wanted)] != wanted or array.ndim > len(wanted) + 1:
            raise ValueError(
                f"y: graph {number} needs values of shape {wanted}, one per {level} (or one row per {level}), "
                f"and has shape {array.shape}"
            )
        rows.append(array.reshape(int(np.prod(wanted)), *array.shape[len(wanted) :]))
    if len({row.shape[1:] for row in rows}) > 1:
        raise ValueError("y: all graphs need the same number of targets")
    return np.concatenate(rows)


def split(rows: npt.NDArray[Any], graphs: Sequence[Graph], level: str) -> list[npt.NDArray[Any]]:
    """A table of all nodes or pairs as one array per graph."""
    parts, start = [], 0
    for graph in graphs:
        wanted = shape(graph, level)
        count = int(np.prod(wanted))
        parts.append(rows[start : start + count].reshape(*wanted, *rows.shape[1:]))
        start += count
    return parts


def weights(
    given: npt.NDArray[np.float64] | None, graphs: Sequence[Graph], level: str
) -> npt.NDArray[np.float64] | None:
    """How much every node or pair counts: as much as its graph."""
    if given is None:
        return None
    return np.repeat(given, [int(np.prod(shape(graph, level))) for graph in graphs])


def known(y: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which classes are known: those that are neither NaN nor None."""
    if y.dtype.kind == "f":
        return np.asarray(~np.isnan(y), dtype=bool)
    if y.dtype.kind == "O":
        return np.array([value is not None and value == value for value in y], dtype=bool)
    return np.ones(len(y), dtype=bool)
