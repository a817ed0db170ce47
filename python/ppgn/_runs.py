"""Run folders: `open_run`, `compile`, and what a run can do."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _ppgn, _settings
from ._convert import Options, as_graphs
from ._ppgn import Dataset


def dataset(graphs: Any, options: dict[str, Any]) -> Dataset:
    """Graphs of any kind, as what a network takes."""
    if isinstance(graphs, Dataset):
        return graphs
    # Without labels: nothing but the graphs counts.
    return Dataset(as_graphs(graphs, Options.of(**options)))


class Run:
    """A network in a run folder: trained, imported or compiled. Made by `open_run` and `compile`.

    Attributes
    ----------
    path : Path
        The folder.
    settings : dict
        The content of `config.toml`.
    classes : list or None
        The labels of the classes, for a classifier: their names where the data had names.
    targets : list of str or None
        The names of the targets, for a regressor; of the labels, for a multi-label classifier.
    history : list of dict
        The metrics, one entry per epoch.
    summary : dict or None
        What a finished run gave.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._predictor = _ppgn.Predictor(_settings.folder(path), None)
        self.settings: dict[str, Any] = json.loads(self._predictor.settings())
        for text in self._predictor.warnings():
            warnings.warn(text, stacklevel=3)

    @property
    def classes(self) -> list[Any] | None:
        names: list[str] = self.settings.get("class_names", [])
        found: list[Any] | None = self.settings["goal"].get("classes")
        return names if found is not None and len(names) == len(found) else found

    @property
    def targets(self) -> list[str] | None:
        found = self.settings["goal"].get("targets", self.settings["goal"].get("labels"))
        return None if found is None else [target["name"] for target in found]

    @property
    def history(self) -> list[dict[str, Any]]:
        file = self.path / "metrics.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text().splitlines()]

    @property
    def summary(self) -> dict[str, Any] | None:
        file = self.path / "summary.json"
        if not file.exists():
            return None
        found: dict[str, Any] = json.loads(file.read_text())
        return found

    @property
    def network(self) -> Any:
        """The network by itself, as a `ppgn.nn.Network`."""
        from .nn import Network

        return Network._of(self._predictor.network())

    def predict(self, graphs: Any, **options: Any) -> npt.NDArray[Any]:
        """Class labels (shape (graphs,)), or values (shape (graphs,) for one target, (graphs, targets) for several).

        A multi-label classifier gives 1 for every label that is more likely there than not, else 0.
        """
        labels, rows = self._predictor.predict(dataset(graphs, options))
        if labels is not None:
            return np.asarray(self.classes)[rows.argmax(axis=1)]
        if "labels" in self.settings["goal"]:
            rows = (rows > 0.5).astype(np.int64)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def predict_proba(self, graphs: Any, **options: Any) -> npt.NDArray[np.float64]:
        """The probability of every class, or of every label by itself: shape (graphs, classes)."""
        labels, rows = self._predictor.predict(dataset(graphs, options))
        if labels is None and "labels" not in self.settings["goal"]:
            raise AttributeError("this run predicts numbers, not classes")
        return rows

    def scores(self, graphs: Any, **options: Any) -> npt.NDArray[np.float64]:
        """The raw outputs of the network: shape (graphs, outputs)."""
        return self._predictor.scores(dataset(graphs, options))

    def embed(self, graphs: Any, **options: Any) -> npt.NDArray[np.float64]:
        """The pooled features: shape (graphs, features)."""
        return self._predictor.embed(dataset(graphs, options))

    def distinguishes(self, a: Any, b: Any, **options: Any) -> bool:
        """Whether a compiled network distinguishes two graphs: a score differs by more than its threshold."""
        compilation = self.settings.get("compilation")
        if compilation is None:
            raise AttributeError("the network of this run was not compiled: it has no threshold")
        first, second = self.scores([a, b], **options)
        return bool(np.abs(first - second).max() > compilation["threshold"])

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, preset={self.settings['preset']!r}, dataset={self.settings['dataset']!r})"


def open_run(path: str | os.PathLike[str]) -> Run:
    """The network of a run folder: trained by `ppgn train` or by an estimator with `run=`, imported, or compiled.

    Examples
    --------
    >>> import ppgn, tempfile
    >>> pair = ppgn.load("figure1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ppgn.compile(pair, run=folder + "/net")
    ...     ppgn.open_run(folder + "/net").distinguishes(*pair)
    True
    """
    return Run(path)


def compile(
    graphs: Any,
    test: str = "2-fwl",
    *,
    rounds: int | None = None,
    multiset: str = "projections",
    labels: bool = True,
    run: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """The theorem compiler: a network with real weights that computes a Weisfeiler-Leman test on these graphs.

    Parameters
    ----------
    graphs : sequence of graphs
        The network's scores for two of them differ exactly if the test distinguishes the two. It is verified on all.
    test : str, default "2-fwl"
        `"2-fwl"` (Theorem 2), `"k-fwl"` or `"k-wl"` (Theorem 1).
    rounds : int, optional
        Rounds of the test. By default as few as distinguish the same graphs as the stable colouring.
    multiset : {"projections", "power-sums", "counts"}
        How multisets of colours are encoded as vectors.
    labels : bool, default True
        Whether node and edge labels count.
    run : path, optional
        The run folder to keep, which must not exist. Without, the network is in memory only.
    **options
        How graphs are converted: see `ppgn.as_graph`.

    Returns
    -------
    Run

    Examples
    --------
    >>> import ppgn
    >>> net = ppgn.compile(ppgn.load("csl"), test="2-fwl")
    >>> len(set(map(tuple, net.scores(ppgn.load("csl")).round(6).tolist())))
    10
    """
    data = dataset(graphs, options)
    if run is not None:
        _ppgn.compile(data, test, rounds, multiset, labels, _settings.folder(run))
        return Run(run)
    with tempfile.TemporaryDirectory(prefix="ppgn-") as temporary:
        path = os.path.join(temporary, "run")
        _ppgn.compile(data, test, rounds, multiset, labels, path)
        return Run(path)
