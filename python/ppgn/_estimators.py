"""`PPGNClassifier` and `PPGNRegressor`: what the two learn, predict and are scored by."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _levels
from ._base import ClassifierMixin, DataConversionWarning, RegressorMixin
from ._data import labels_of
from ._ppgn import Dataset
from ._training import PARAMETERS, Estimator
from ._weights import sample_weights


class PPGNClassifier(ClassifierMixin, Estimator):
    __doc__ = (
        """A provably powerful graph network that predicts classes.
"""
        + PARAMETERS
        + """
    classes_ : array
        The class labels.

    Examples
    --------
    >>> import ppgn
    >>> data = ppgn.load("csl:n=11,skips=2+3,copies=8")
    >>> model = ppgn.PPGNClassifier(epochs=40, blocks=[8, 8], random_state=0, validation=None)
    >>> float(model.fit(data, data.y).score(data, data.y))
    1.0
    """
    )

    classes_: npt.NDArray[Any]

    def _labelled(self, y: npt.NDArray[Any], number: int) -> dict[str, Any]:
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected: change its shape to (graphs,)",
                DataConversionWarning,
                stacklevel=5,
            )
            y = y[:, 0]
        if y.ndim != 1:
            raise ValueError(f"y: one class per {self._level()} is needed, not an array of shape {y.shape}")
        if self._level() != "graph":
            return self._gapped(y)
        if y.dtype.kind == "f":
            if not np.isfinite(y).all():
                raise ValueError("Input y contains NaN or infinity: every training graph needs a class")
            if (y != np.floor(y)).any():
                raise ValueError(
                    "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete "
                    "classes on a regression target with continuous values."
                )
        if y.dtype.kind == "O" and any(value is None for value in y):
            raise ValueError("every training graph needs a class, and one of them is None")
        self.classes_, ranks = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}: there is nothing to distinguish")
        # Whole numbers and text stay as they are, so that the run folder has the labels of the data.
        if all(isinstance(name, str) for name in self.classes_.tolist()):
            return labels_of(np.array([str(name) for name in y], dtype=object), number)
        whole = self.classes_.dtype.kind in "iu"
        return labels_of(y.astype(np.int64) if whole else ranks.astype(np.int64), number)

    def _gapped(self, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Classes of nodes or pairs, some of which are not known."""
        known = _levels.known(y)
        if not known.any():
            raise ValueError(f"y: no class of a {self._level()} is known")
        self.classes_, ranks = np.unique(y[known].astype(y.dtype if y.dtype.kind != "O" else object), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}: there is nothing to distinguish")
        if self.classes_.dtype.kind == "f" and (self.classes_ != np.floor(self.classes_)).any():
            raise ValueError("Unknown label type: continuous. A classifier expects classes, not real numbers.")
        all_ranks = np.zeros(len(y), dtype=np.int64)
        all_ranks[known] = ranks
        return {"classes": all_ranks, "known": known.astype(np.int64), "targets": None, "names": []}

    def predict(self, X: Any) -> Any:
        """The most probable class of every graph: shape (graphs,); with outputs per node or pair, one array per graph."""
        data = self._taken(X)
        return self._by_graph(self.classes_[self._probabilities(data).argmax(axis=1)], data)

    def _probabilities(self, data: Dataset) -> npt.NDArray[np.float64]:
        rows: npt.NDArray[np.float64] = self._predictor.predict(data)[1]
        return rows

    def predict_proba(self, X: Any) -> Any:
        """The probability of every class, in the order of `classes_`: shape (graphs, classes).

        With outputs per node or pair, one array per graph, (n, classes) or (n, n, classes).
        """
        data = self._taken(X)
        return self._by_graph(self._probabilities(data), data)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        data = self._taken(X)
        with np.errstate(divide="ignore"):
            return self._by_graph(np.log(self._probabilities(data)), data)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy on graphs (nodes, pairs) with known classes; `y` is the dataset's own by default."""
        if self._level() != "graph":
            data = self._taken(X)
            graphs, level = list(data), self._level()
            flat = _levels.flattened(y, graphs, level)
            known = _levels.known(flat)
            guess = self.classes_[self._probabilities(data).argmax(axis=1)]
            weight = _levels.weights(sample_weights(sample_weight, len(graphs)), graphs, level)
            right = guess[known] == flat[known]
            return float(np.average(right, weights=None if weight is None else weight[known]))
        truth = np.asarray(X.y if y is None and isinstance(X, Dataset) else y)
        right = self.predict(X) == truth.reshape(-1)
        return float(np.average(right, weights=sample_weights(sample_weight, len(right))))


class PPGNRegressor(RegressorMixin, Estimator):
    __doc__ = (
        """A provably powerful graph network that predicts numbers: one target, or several side by side.
"""
        + PARAMETERS
        + """
    Examples
    --------
    >>> import numpy as np, ppgn
    >>> data = ppgn.load("gnp:n=8,p=0.5,count=40,seed=1")
    >>> edges = np.array([float(graph.edges) for graph in data])
    >>> model = ppgn.PPGNRegressor(epochs=30, blocks=[8, 8], random_state=0, pooling="sum", validation=None)
    >>> bool(model.fit(list(data), edges).score(list(data), edges) > 0.8)
    True
    """
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _labelled(self, y: npt.NDArray[Any], number: int) -> dict[str, Any]:
        if y.dtype.kind == "O":
            try:
                y = y.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError("Unknown label type: y must have numbers") from None
        if y.dtype.kind not in "iubf":
            raise ValueError(f"Unknown label type: y must have numbers, not {y.dtype}")
        if np.isinf(y).any() if y.dtype.kind == "f" else False:
            raise ValueError("Input y contains infinity")
        table = y.astype(np.float64).reshape(number, -1)
        self.n_outputs_ = table.shape[1]
        self._flat = y.ndim == 1
        names = [f"target{i}" for i in range(table.shape[1])] if table.shape[1] > 1 else ["y"]
        return labels_of(table, number, names)

    def predict(self, X: Any) -> Any:
        """The values: shape (graphs,), or (graphs, targets) if `y` had two dimensions.

        With outputs per node or pair, one array per graph, of the shape of its `y`.
        """
        data = self._taken(X)
        rows: npt.NDArray[np.float64] = self._predictor.predict(data)[1]
        return self._by_graph(rows[:, 0] if self._flat else rows, data)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R2, the mean over the targets; `y` is the dataset's own by default."""
        level = self._level()
        if level == "graph":
            truth = np.asarray(X.y if y is None and isinstance(X, Dataset) else y, dtype=np.float64)
            guess = self.predict(X).reshape(len(truth), -1)
            given = sample_weights(sample_weight, len(truth))
        else:
            data = self._taken(X)
            truth = _levels.flattened(y, list(data), level).astype(np.float64)
            guess = _levels.flattened(self.predict(data), list(data), level).reshape(len(truth), -1)
            given = _levels.weights(sample_weights(sample_weight, len(data)), list(data), level)
        truth = truth.reshape(len(truth), -1)
        weight = np.ones(len(truth)) if given is None else given
        scores = []
        for column in range(truth.shape[1]):
            known = ~np.isnan(truth[:, column])
            y_true, y_pred, w = truth[known, column], guess[known, column], weight[known]
            residual = float((w * (y_true - y_pred) ** 2).sum())
            total = float((w * (y_true - np.average(y_true, weights=w)) ** 2).sum())
            scores.append(1.0 - residual / total if total else float(residual == 0))
        return float(np.mean(scores))
