"""Datasets: `load`, and what `Dataset(...)` does with its arguments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _ppgn
from ._convert import Options, _array, are_molecules, as_graphs, items_of, kind_among
from ._ppgn import Dataset, Graph


def load(
    name: str | os.PathLike[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = False,
    format: str | None = None,
    directed: bool = False,
) -> Dataset:
    """A dataset by name, path or generator, read by the same readers as on the command line.

    Parameters
    ----------
    name : str or path
        A dataset in the data folder (`"MUTAG"`), a file, folder or zip archive (`"./my.g6"`), or a generator with its
        settings (`"csl"`, `"gnp:n=10,p=0.5,count=20"`). `"csl:7"` is one graph of it.
    data_dir : path, optional
        The data folder. Default: the environment variable `PPGN_DATA`, else the user's data folder.
    download : bool, default False
        Whether a dataset that is not in the data folder is downloaded.
    format : str, optional
        The format of the file, where its name and content do not tell.
    directed : bool, default False
        Whether the edges of an edge list have a direction.

    Examples
    --------
    >>> import ppgn
    >>> ppgn.load("csl")
    Dataset("csl", graphs=150, classes=10)
    """
    path = os.fspath(name)
    if not isinstance(name, str):
        path = os.path.join(os.curdir, path) if os.path.dirname(path) == "" else path
    folder = None if data_dir is None else os.fspath(data_dir)
    return _ppgn.load(path, folder, download, format, directed)


def labels_of(y: Any, number: int, targets: Sequence[str] | None = None) -> dict[str, Any]:
    """What is to be learned, sorted out: whole numbers and text are classes, real numbers targets."""
    nothing: dict[str, Any] = {"classes": None, "words": None, "targets": None, "names": []}
    if y is None:
        return nothing
    array = _array(y)
    if array.shape[:1] != (number,):
        raise ValueError(f"y: {array.shape[0] if array.ndim else 'no'} values for {number} graphs")
    if targets is None and array.dtype.kind in "iub" and (array.ndim == 1 or array.shape[1:] == (1,)):
        return {**nothing, "classes": array.reshape(-1)}
    if targets is None and array.ndim == 1 and array.dtype.kind in "UO":
        words = array.tolist()
        if all(word is None or isinstance(word, str) for word in words):
            return {**nothing, "words": words}
    if array.dtype.kind not in "iubf" or array.ndim > 2:
        raise ValueError(
            f"y: class labels must be integers or text, and targets numbers, not {array.dtype} of shape {array.shape}"
        )
    table = array.reshape(number, -1).astype(np.float64)
    width = table.shape[1] if number else 1
    names = list(targets) if targets is not None else [f"target{i}" for i in range(width)] if width > 1 else ["y"]
    if len(names) != width:
        raise ValueError(f"{len(names)} names for {width} targets")
    return {**nothing, "targets": table, "names": names}


def y_of(graphs: Any) -> npt.NDArray[Any] | None:
    """The `y` of every PyG graph, where all have one of the same shape."""
    try:
        parts = [_array(item.y).reshape(-1) for item in graphs if getattr(item, "y", None) is not None]
        if not parts or len(parts) != len(graphs):
            return None
        table = np.stack(parts)
    except (TypeError, ValueError, AttributeError):
        return None
    return table.reshape(-1) if table.shape[1] == 1 else table.astype(np.float64)


def prepare(
    graphs: Any, y: Any, targets: Sequence[str] | None, folds: Any, options: dict[str, Any]
) -> tuple[list[Graph], dict[str, Any], list[tuple[Any, Any]], bool]:
    """The arguments of `Dataset`, converted."""
    items = graphs if isinstance(graphs, Dataset) else items_of(graphs)
    if y is None:
        y = items.y if isinstance(items, Dataset) else y_of(items)
    if isinstance(items, Dataset):
        converted, molecules = as_graphs(items), False
    else:
        wanted = Options.of(**options)
        strings = kind_among(items, wanted.strings)
        converted = as_graphs(items, replace(wanted, strings=strings))
        molecules = are_molecules(items, strings)
    labels = labels_of(y, len(converted), targets)
    return converted, labels, [(train, test) for train, test in folds or ()], molecules
