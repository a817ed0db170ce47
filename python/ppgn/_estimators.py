"""`PPGNClassifier` and `PPGNRegressor`: training under scikit-learn's conventions, on the command line's training loop."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _levels, _ppgn, _settings
from ._base import (
    BaseEstimator,
    ClassifierMixin,
    DataConversionWarning,
    RegressorMixin,
    TransformerMixin,
    graph_tags,
    not_fitted,
)
from ._convert import Options, as_graphs, kind_of_strings
from ._data import labels_of
from ._ppgn import Dataset
from ._settings import SETTINGS

_OWN = (
    "preset",
    "validation",
    "random_state",
    "warm_start",
    "run",
    "device",
    "threads",
    "max_memory",
    "progress",
    "node_label",
    "edge_label",
    "node_attrs",
    "edge_attrs",
    "strings",
)


class _Watch:
    """Shows progress, and asks a callback whether to stop."""

    def __init__(self, progress: bool | Callable[[dict[str, Any]], Any], epochs: int | None) -> None:
        self.callback = progress if callable(progress) else None
        self.bar: Any = None
        self.history: list[dict[str, Any]] = []
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm, or give a function") from None
            self.bar = tqdm(total=epochs, unit="epoch")

    def __call__(self, kind: str, *what: Any) -> Any:
        if kind == "note":
            warnings.warn(what[0], stacklevel=4)
        if kind != "epoch":
            return None
        epoch = {**json.loads(what[0]), "seconds": what[1]}
        self.history.append(epoch)
        if self.bar is not None:
            self.bar.set_postfix(loss=f"{epoch['train']['loss']:.4g}", refresh=False)
            self.bar.update()
        return self.callback(epoch) if self.callback is not None else None

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


class _Estimator(TransformerMixin, BaseEstimator):
    """What classifier and regressor share."""

    preset: str
    validation: Any
    random_state: Any
    warm_start: bool
    run: Any
    device: str
    threads: int | None
    max_memory: int | None
    progress: Any
    node_label: str | None
    edge_label: str | None
    node_attrs: Any
    edge_attrs: Any
    strings: str

    def __init__(
        self,
        preset: str = "small",
        *,
        validation: Any = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        run: Any = None,
        device: str = "cpu",
        threads: int | None = None,
        max_memory: int | None = None,
        progress: Any = False,
        node_label: str | None = None,
        edge_label: str | None = None,
        node_attrs: Any = None,
        edge_attrs: Any = None,
        strings: str = "auto",
        **settings: Any,
    ) -> None:
        self.preset = preset
        self.validation = validation
        self.random_state = random_state
        self.warm_start = warm_start
        self.run = run
        self.device = device
        self.threads = threads
        self.max_memory = max_memory
        self.progress = progress
        self.node_label = node_label
        self.edge_label = edge_label
        self.node_attrs = node_attrs
        self.edge_attrs = edge_attrs
        self.strings = strings
        unknown = sorted(set(settings) - set(_NAMES))
        if unknown:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {unknown[0]!r}")
        for name in _NAMES:
            setattr(self, name, settings.get(name))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted((*_OWN, *_NAMES))

    def __sklearn_tags__(self) -> Any:
        tags = graph_tags(super().__sklearn_tags__())  # type: ignore[misc]
        tags.non_deterministic = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")

    # Graphs and labels

    def _options(self) -> dict[str, Any]:
        names = ("node_label", "edge_label", "node_attrs", "edge_attrs")
        return {name: getattr(self, name) for name in names}

    def _converted(self, X: Any, strings: str) -> list[_ppgn.Graph]:
        graphs = as_graphs(X, Options.of(**self._options(), strings=strings))
        if not graphs:
            raise ValueError("Found array with 0 sample(s): a minimum of 1 graph is required.")
        return graphs

    def _given(self, X: Any, y: Any) -> tuple[list[_ppgn.Graph], Any]:
        """The training graphs, and what is to be learned of them."""
        if isinstance(X, Dataset):
            graphs, y = self._converted(X, "auto"), X.y if y is None else y
        else:
            items: Any = X if isinstance(X, (str, bytes, np.ndarray)) else _listed(X)
            texts = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
            self.strings_ = kind_of_strings(texts, self.strings) if texts else self.strings
            graphs = self._converted(items, self.strings_)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None, and the graphs have none"
            )
        if self._level() != "graph":
            return graphs, y
        y = np.asarray(y)
        if y.shape[:1] != (len(graphs),):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{len(graphs)}, {len(y) if y.ndim else 1}]"
            )
        return graphs, y

    def _level(self) -> str:
        level = getattr(self, "level", None) or "graph"
        if level not in ("graph", "node", "pair"):
            raise ValueError(f"level={level!r}: graph, node or pair is needed")
        return str(level)

    def _by_graph(self, rows: npt.NDArray[Any], data: Dataset) -> Any:
        """Predictions as they are given: a table, or one array per graph where nodes or pairs have their own."""
        level = self._level()
        return rows if level == "graph" else _levels.split(rows, list(data), level)

    def _taken(self, X: Any) -> Dataset:
        """Graphs to predict."""
        not_fitted(self, "_predictor")
        if isinstance(X, Dataset):
            return X
        return Dataset(self._converted(X, getattr(self, "strings_", self.strings)))

    def _seed(self) -> int:
        seed = getattr(self, "seed", None)
        state = self.random_state
        if state is None:
            return 0 if seed is None else int(seed)
        if seed is not None:
            raise ValueError("random_state and seed are the same: give one of them")
        if isinstance(state, (int, np.integer)):
            if state < 0:
                raise ValueError(f"random_state={state}: the seed cannot be negative")
            return int(state)
        if isinstance(state, np.random.RandomState):
            return int(state.randint(0, 2**31 - 1))
        if isinstance(state, np.random.Generator):
            return int(state.integers(0, 2**31 - 1))
        raise ValueError(f"random_state={state!r}: None, an integer, a RandomState or a Generator is needed")

    # Training

    def _labelled(self, y: npt.NDArray[Any], number: int) -> dict[str, Any]:
        raise NotImplementedError

    def _data(self, X: Any, graphs: list[_ppgn.Graph], y: Any) -> tuple[Dataset, dict[str, Any]]:
        """The dataset of a training, and its division as `config.toml` has it."""
        validation = self.validation
        if validation is None or validation is False:
            return self._made(X, graphs, y, []), {"shares": [1.0, 0.0, 0.0]}
        if isinstance(validation, (float, np.floating)):
            share = float(validation)
            if not 0 < share < 1:
                raise ValueError(f"validation={share}: the share of the graphs must be between 0 and 1")
            return self._made(X, graphs, y, []), {"shares": [1.0 - share, share, 0.0]}
        if isinstance(validation, tuple) and len(validation) == 2:
            more = self._converted(validation[0], getattr(self, "strings_", self.strings))
            both = [*y, *validation[1]] if self._level() != "graph" else np.concatenate([y, np.asarray(validation[1])])
            fold = (np.arange(len(graphs)), np.arange(len(graphs), len(graphs) + len(more)))
            return self._made(X, graphs + more, both, [fold]), {"fold": 1}
        raise ValueError(
            f"validation={validation!r}: None, a share of the graphs such as 0.1, or a pair (graphs, y) is needed"
        )

    def _made(self, X: Any, graphs: list[_ppgn.Graph], y: Any, folds: list[Any]) -> Dataset:
        level = self._level()
        flat = y if level == "graph" else _levels.flattened(y, graphs, level)
        labels = self._labelled(flat, len(flat))
        # A part of a dataset keeps the labels of the whole: what is not among the training graphs can still be predicted.
        like = X if isinstance(X, Dataset) else Dataset(graphs)
        if level == "graph":
            return like._relabelled(graphs, labels, folds)
        nothing: dict[str, Any] = {"classes": None, "words": None, "targets": None, "names": []}
        data = like._relabelled(graphs, nothing, folds)
        known = labels.get("known")
        return data._with_items(level, labels["classes"], known, labels["targets"], labels["names"])

    def fit(self, X: Any, y: Any = None) -> Any:
        """Train a network.

        Parameters
        ----------
        X : sequence of graphs, or a Dataset
            Graphs of any kind that `ppgn.as_graph` takes.
        y : array, optional
            What is to be learned; by default the dataset's own. With `level="node"` or `level="pair"`, one array per graph:
            of shape (n,) or (n, n), with a last axis for several targets; NaN (or None) is a value that is not known.

        Returns
        -------
        self
        """
        _settings.check_device(self.device)
        again = bool(self.warm_start) and hasattr(self, "_predictor")
        graphs, y = self._given(X, y)
        data, division = self._data(X, graphs, y)
        values = {setting: getattr(self, setting) for setting in _NAMES}
        values["seed"] = self._seed()
        asked: dict[str, Any] = {
            "data": data.name,
            "preset": self.preset,
            "settings": _settings.pairs(values),
            "division": json.dumps(division),
            "targets": [],
            "extend": self._extended() if again else None,
            "threads": self.threads,
            "max_memory": self.max_memory,
        }
        watch = _Watch(self.progress, values.get("epochs"))
        try:
            if self.run is not None:
                self._train(data, {**asked, "run": _settings.folder(self.run)}, watch)
            else:
                with tempfile.TemporaryDirectory(prefix="ppgn-") as folder:
                    if again:
                        _written(self._files, Path(folder) / "run")
                    self._train(data, {**asked, "run": os.path.join(folder, "run")}, watch)
        finally:
            watch.close()
        return self

    def _extended(self) -> int:
        """The epochs in all of a fitted run that goes on: nothing else may have changed."""
        changed = [
            name
            for name, value in self.get_params().items()
            if name not in ("epochs", "progress", "threads", "max_memory", "warm_start")
            and repr(value) != repr(self._fitted.get(name))
        ]
        if changed:
            raise ValueError(f"warm_start=True goes on with the fitted network, so {changed[0]!r} cannot change")
        if "checkpoint/model.safetensors" not in self._files and self.run is None:
            raise ValueError("warm_start=True must be set before the first fit, which then keeps what it takes to go on")
        more = getattr(self, "epochs", None)
        return int(self.n_iter_) + int(self.settings_["training"]["epochs"] if more is None else more)

    def _train(self, data: Dataset, asked: dict[str, Any], watch: _Watch) -> None:
        listening = watch if watch.callback is not None or watch.bar is not None else None
        _, epochs = _ppgn.fit(data, asked, listening)
        path = Path(asked["run"])
        if epochs == 0:
            raise ValueError("training was stopped before the first epoch was finished: there is no network")
        self.history_ = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        self.n_iter_ = epochs
        self._open(path)

    def _open(self, path: Path) -> None:
        """Takes the network of a run folder, and its files for pickles."""
        names = ["config.toml", "best/model.safetensors"]
        if self.warm_start and self.run is None:
            names += ["checkpoint/model.safetensors", "metrics.jsonl"]
        self._files = {name: (path / name).read_bytes() for name in names}
        self._fitted = self.get_params()
        self._predictor = _ppgn.Predictor(str(path), self.max_memory)
        self.settings_ = json.loads(self._predictor.settings())

    def __getstate__(self) -> dict[str, Any]:
        parent = getattr(super(), "__getstate__", None)
        state = dict(parent() if parent is not None else self.__dict__)
        state.pop("_predictor", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parent = getattr(super(), "__setstate__", None)
        if parent is not None:
            parent(state)
        else:
            self.__dict__.update(state)
        files = self.__dict__.get("_files")
        if files is not None:
            with tempfile.TemporaryDirectory(prefix="ppgn-") as folder:
                _written(files, Path(folder) / "run")
                self._predictor = _ppgn.Predictor(os.path.join(folder, "run"), self.max_memory)

    @property
    def network_(self) -> Any:
        """The fitted network, as a `ppgn.nn.Network`."""
        not_fitted(self, "_predictor")
        from .nn import Network

        return Network._of(self._predictor.network())

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """The embedding of graphs, the network's pooled features: shape (graphs, features)."""
        data = self._taken(X)
        features: npt.NDArray[np.float64] = self._predictor.embed(data)
        return features


def _written(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _listed(X: Any) -> Any:
    try:
        return list(X)
    except TypeError:
        raise ValueError(f"a sequence of graphs is needed, not {type(X).__name__}") from None


#: The settings of the command line that are keyword arguments; `seed` is `random_state` as well.
_NAMES = tuple(name for name in SETTINGS if name not in _OWN)


def _signature() -> inspect.Signature:
    """The signature of the estimators with the settings written out, as scikit-learn reads it."""
    given = inspect.signature(_Estimator.__init__).parameters.values()
    own = [parameter for parameter in given if parameter.kind != inspect.Parameter.VAR_KEYWORD]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _NAMES]
    return inspect.Signature([*own, *more])


_Estimator.__init__.__signature__ = _signature()  # type: ignore[attr-defined]

_PARAMETERS = f"""
    Parameters
    ----------
    preset : str, default "small"
        Where all settings come from that are not given: {", ".join(_ppgn.presets())}.
    validation : float, (graphs, y) or None, default 0.1
        The share of the graphs that chooses the best epoch, drawn at random, or graphs for it. None trains on all graphs
        and chooses by the training loss.
    random_state : int, RandomState, Generator or None, default None
        The seed of weights, batches and the validation set; None is 0. The same seed gives the same bits, on any number of
        threads, in Python and on the command line.
    warm_start : bool, default False
        A second `fit`, on the same data, trains the fitted network for `epochs` more, as if it had not stopped.
    run : path, optional
        Keep the run folder, which must not exist: `ppgn predict`, `ppgn runs` and `ppgn.open_run` read it.
    device : str, default "cpu"
        Where the network runs.
    threads : int, optional
        Number of threads. Default: the environment variable OMP_NUM_THREADS, else the number of cores.
    max_memory : int, optional
        The memory limit in bytes.
    progress : bool or function, default False
        True shows a bar (tqdm). A function is called with the metrics of every epoch, a dict; training stops if it returns
        a true value.
    node_label, edge_label, node_attrs, edge_attrs, strings
        How graphs of other software are converted: see `ppgn.as_graph`.
    **settings
        The settings of the command line. None keeps the preset's value.

    Settings
    --------
{_settings.described()}

    Attributes
    ----------
    history_ : list of dict
        The metrics of every epoch.
    n_iter_ : int
        Epochs trained.
    settings_ : dict
        All settings of the run, resolved.
    network_ : ppgn.nn.Network
        The network of the best epoch.
"""


class PPGNClassifier(ClassifierMixin, _Estimator):
    __doc__ = (
        """A provably powerful graph network that predicts classes.
"""
        + _PARAMETERS
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
        # Whole numbers stay as they are, so that the run folder has the labels of the data.
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
            flat = _levels.flattened(y, list(data), self._level())
            known = _levels.known(flat)
            guess = self.classes_[self._probabilities(data).argmax(axis=1)]
            return float(np.mean(guess[known] == flat[known]))
        truth = np.asarray(X.y if y is None and isinstance(X, Dataset) else y)
        return float(np.average(self.predict(X) == truth.reshape(-1), weights=sample_weight))


class PPGNRegressor(RegressorMixin, _Estimator):
    __doc__ = (
        """A provably powerful graph network that predicts numbers: one target, or several side by side.
"""
        + _PARAMETERS
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
        else:
            data = self._taken(X)
            truth = _levels.flattened(y, list(data), level).astype(np.float64)
            guess = _levels.flattened(self.predict(data), list(data), level).reshape(len(truth), -1)
        truth = truth.reshape(len(truth), -1)
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        scores = []
        for column in range(truth.shape[1]):
            known = ~np.isnan(truth[:, column])
            y_true, y_pred, w = truth[known, column], guess[known, column], weight[known]
            residual = float((w * (y_true - y_pred) ** 2).sum())
            total = float((w * (y_true - np.average(y_true, weights=w)) ** 2).sum())
            scores.append(1.0 - residual / total if total else float(residual == 0))
        return float(np.mean(scores))
