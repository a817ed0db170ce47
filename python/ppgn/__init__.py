"""Graph networks with provable Weisfeiler-Leman power, and the tests that bound them.

>>> import ppgn
>>> data = ppgn.load("csl:n=11,skips=2+3,copies=4")
>>> data
Dataset("csl", graphs=8, classes=2)

- `load`, `Dataset`, `Graph`, `as_graph`: graphs and data. Everything that takes graphs takes those of NetworkX, PyG, igraph
  and RDKit, adjacency matrices, graph6 and SMILES strings as well.
- `ppgn.wl`: the tests 1-WL, k-WL and k-FWL, with certificates, digests and the subtree kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import wl
from ._convert import as_graph, to_graph6, to_networkx, to_pyg
from ._data import load
from ._ppgn import Dataset, Graph, __version__, threads

__all__ = [
    "Dataset",
    "Graph",
    "__version__",
    "as_graph",
    "load",
    "threads",
    "to_graph6",
    "to_networkx",
    "to_pyg",
    "wl",
]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> Sequence[str]:
    return __all__
