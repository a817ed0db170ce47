"""Graph networks with provable Weisfeiler-Leman power, and the tests that bound them.

>>> import ppgn
>>> data = ppgn.load("csl:n=11,skips=2+3,copies=4")
>>> data
Dataset("csl", graphs=8, classes=2)

- `load`, `Dataset`, `Graph`, `as_graph`: graphs and data. Everything that takes graphs takes those of NetworkX, PyG, igraph
  and RDKit, adjacency matrices, graph6 and SMILES strings as well.
- `ppgn.wl`: the tests 1-WL, k-WL and k-FWL, with certificates, digests and the subtree kernel.
- `PPGNClassifier`, `PPGNRegressor`: networks under scikit-learn's conventions.
- `open_run`, `compile`: networks of run folders, and the theorem compiler.
- `express`: how many pairs of graphs a network of anyone's tells apart, beside the test that bounds it.
- `ppgn.nn`: networks for training loops of your own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import nn, wl
from ._convert import as_graph, to_graph6, to_networkx, to_pyg
from ._data import load
from ._express import express
from ._ppgn import Dataset, Graph, __version__, threads
from ._runs import Run, compile, open_run

if TYPE_CHECKING:
    from ._estimators import PPGNClassifier, PPGNRegressor

__all__ = [
    "Dataset",
    "Graph",
    "PPGNClassifier",
    "PPGNRegressor",
    "Run",
    "__version__",
    "as_graph",
    "compile",
    "express",
    "load",
    "nn",
    "open_run",
    "threads",
    "to_graph6",
    "to_networkx",
    "to_pyg",
    "wl",
]


def __getattr__(name: str) -> Any:
    # These are scikit-learn's where it is installed, and importing it takes longer than everything else here.
    if name in ("PPGNClassifier", "PPGNRegressor"):
        from . import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> Sequence[str]:
    return __all__
