"""What classifier and regressor share: training under scikit-learn's conventions, on the command line's training loop."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _levels, _ppgn, _settings
from ._base import BaseEstimator, TransformerMixin, graph_tags, not_fitted
from ._convert import Options, are_molecules, as_graphs, items_of, kind_among
from ._data import y_of
from ._ppgn import Dataset
from ._progress import Watch
from ._settings import SETTINGS
from ._weights import sample_weights

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


class Estimator(TransformerMixin, BaseEstimator):
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
        self._molecules = False
        if isinstance(X, Dataset):
            graphs, y = self._converted(X, "auto"), X.y if y is None else y
        else:
            items = items_of(X)
            self.strings_ = kind_among(items, self.strings)
            graphs = self._converted(items, self.strings_)
            self._molecules = are_molecules(items, self.strings_)
            y = y_of(items) if y is None else y
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

    def _data(
        self, X: Any, graphs: list[_ppgn.Graph], y: Any, weights: npt.NDArray[np.float64] | None
    ) -> tuple[Dataset, dict[str, Any], npt.NDArray[np.float64] | None]:
        """The dataset of a training, its division as `config.toml` has it, and the weights of all graphs."""
        validation = self.validation
        if validation is None or validation is False:
            return self._made(X, graphs, y), {"shares": [1.0, 0.0, 0.0]}, weights
        if isinstance(validation, (float, np.floating)):
            share = float(validation)
            if not 0 < share < 1:
                raise ValueError(f"validation={share}: the share of the graphs must be between 0 and 1")
            return self._made(X, graphs, y), {"shares": [1.0 - share, share, 0.0]}, weights
        if isinstance(validation, tuple) and len(validation) in (2, 3):
            more = self._converted(validation[0], getattr(self, "strings_", self.strings))
            of_graphs = self._level() == "graph"
            both = np.concatenate([y, np.asarray(validation[1])]) if of_graphs else [*y, *validation[1]]
            theirs = sample_weights(validation[2] if len(validation) == 3 else None, len(more))
            if weights is not None or theirs is not None:
                known = ((weights, graphs), (theirs, more))
                weights = np.concatenate([np.ones(len(of)) if part is None else part for part, of in known])
            first, last = len(graphs), len(graphs) + len(more) - 1
            parts = {"from": "given", "train": f"0-{first - 1}", "validation": f"{first}-{last}"}
            return self._made(X, graphs + more, both), {"listed": parts}, weights
        raise ValueError(
            f"validation={validation!r}: None, a share of the graphs such as 0.1, a pair (graphs, y) or a triple "
            "(graphs, y, sample_weight) is needed"
        )

    def _made(self, X: Any, graphs: list[_ppgn.Graph], y: Any) -> Dataset:
        level = self._level()
        flat = y if level == "graph" else _levels.flattened(y, graphs, level)
        labels = self._labelled(flat, len(flat))
        # A part of a dataset keeps the labels of the whole: what is not among the training graphs can still be predicted.
        new = Dataset._of_molecules if self._molecules else Dataset
        like = X if isinstance(X, Dataset) else new(graphs)
        if level == "graph":
            return like._relabelled(graphs, labels, [])
        nothing: dict[str, Any] = {"classes": None, "words": None, "targets": None, "names": []}
        known, classes, targets = labels.get("known"), labels["classes"], labels["targets"]
        return like._relabelled(graphs, nothing, [])._with_items(level, classes, known, targets, labels["names"])

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train a network.

        Parameters
        ----------
        X : sequence of graphs, or a Dataset
            Graphs of any kind that `ppgn.as_graph` takes.
        y : array, optional
            What is to be learned; by default the dataset's own. With `level="node"` or `level="pair"`, one array per graph:
            of shape (n,) or (n, n), with a last axis for several targets; NaN (or None) is a value that is not known.
        sample_weight : array of shape (graphs,), optional
            How much every graph counts in the loss: 2 as if it were there twice, 0 as if it were not there. Means and
            deviations of targets and balanced class weights count with it, metrics do not. Default: all the same.

        Returns
        -------
        self
        """
        again = bool(self.warm_start) and hasattr(self, "_predictor")
        graphs, y = self._given(X, y)
        data, division, weights = self._data(X, graphs, y, sample_weights(sample_weight, len(graphs)))
        values = {setting: getattr(self, setting) for setting in _NAMES}
        values["seed"] = self._seed()
        asked: dict[str, Any] = {
            "data": data.name,
            "preset": self.preset,
            "settings": _settings.pairs(values),
            "division": json.dumps(division),
            "sample_weights": weights,
            "targets": [],
            "extend": self._extended() if again else None,
            "device": self.device,
            "threads": self.threads,
            "max_memory": self.max_memory,
        }
        watch = Watch(self.progress, values.get("epochs"))
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
            if name not in ("epochs", "progress", "device", "threads", "max_memory", "warm_start")
            and repr(value) != repr(self._fitted.get(name))
        ]
        if changed:
            raise ValueError(f"warm_start=True goes on with the fitted network, so {changed[0]!r} cannot change")
        if "checkpoint/model.safetensors" not in self._files and self.run is None:
            raise ValueError("warm_start=True must be set before the first fit, which then keeps what it takes to go on")
        more = getattr(self, "epochs", None)
        return int(self.n_iter_) + int(self.settings_["training"]["epochs"] if more is None else more)

    def _train(self, data: Dataset, asked: dict[str, Any], watch: Watch) -> None:
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
        self._predictor = _ppgn.Predictor(str(path), self.max_memory, self.device)
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
                self._predictor = _ppgn.Predictor(os.path.join(folder, "run"), self.max_memory, self.device)

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


#: The settings of the command line that are keyword arguments; `seed` is `random_state` as well.
_NAMES = tuple(name for name in SETTINGS if name not in _OWN)


def _signature() -> inspect.Signature:
    """The signature of the estimators with the settings written out, as scikit-learn reads it."""
    given = inspect.signature(Estimator.__init__).parameters.values()
    own = [parameter for parameter in given if parameter.kind != inspect.Parameter.VAR_KEYWORD]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _NAMES]
    return inspect.Signature([*own, *more])


Estimator.__init__.__signature__ = _signature()  # type: ignore[attr-defined]

PARAMETERS = f"""
    Parameters
    ----------
    preset : str, default "small"
        Where all settings come from that are not given: {", ".join(_ppgn.presets())}.
    validation : float, (graphs, y), (graphs, y, sample_weight) or None, default 0.1
        The share of the graphs that chooses the best epoch, drawn at random, or graphs for it. None trains on all graphs,
        and they choose the epoch.
    random_state : int, RandomState, Generator or None, default None
        The seed of weights, batches and the validation set; None is 0. The same seed gives the same bits, on any number of
        threads, in Python and on the command line.
    warm_start : bool, default False
        A second `fit`, on the same data, trains the fitted network for `epochs` more, as if it had not stopped.
    run : path, optional
        Keep the run folder, which must not exist: `ppgn predict`, `ppgn runs` and `ppgn.open_run` read it.
    device : str, default "cpu"
        Where the network is trained and run: "cpu", "gpu", "gpu:1" (the second one) or "auto" (a GPU if there is one).
        A package built without GPU support has the CPU only.
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
