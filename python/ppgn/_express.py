"""The expressiveness lab: any function from graphs to vectors through the protocols of `ppgn express`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _ppgn
from ._convert import as_graphs
from ._ppgn import Graph


def express(
    model: Any,
    suite: Any = "brec",
    *,
    protocol: str = "random",
    test: str = "2-fwl",
    seeds: int | Sequence[int] = (0,),
    reset: Callable[[int], Any] | None = None,
    step: Callable[[list[Graph], float], Any] | None = None,
    rounds: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """How many pairs of graphs does a model tell apart, beside the test that bounds it?

    Parameters
    ----------
    model : callable, or an object with `transform`
        Maps a list of `ppgn.Graph` to an array with one row per graph (a torch tensor will do). An estimator is asked for
        its features by `transform`.
    suite : str, or a sequence of graphs
        A suite (`"brec"`, `"brec:basic"`, `"csl"`, `"exp"`, `"cexp"`, `"sr"`, `"cfi"`, `"graph8c"`), data by name, or
        graphs of any kind that `ppgn.as_graph` takes; of data and graphs, 2p and 2p+1 are pair p.
    protocol : {"random", "rpc", "exact"}
        `"random"`: the outputs of a pair must differ by more than ten times what relabelled copies of one graph do.
        `"rpc"`: BREC's protocol, which trains the model for every pair; it needs `step` and `reset`, and is made for 16
        outputs. `"exact"`: the test alone; the model is not asked.
    test : str, default "2-fwl"
        The test that bounds the model, such as `"1-wl"` for message passing.
    seeds : int or sequence of int
        A pair counts if it does with every seed.
    reset : callable, optional
        `reset(seed)` draws new weights; without it, the model is taken as it is, and seeds draw relabellings only.
    step : callable, optional
        `step(graphs, rate)` takes a step of training and returns the loss; graphs 2i and 2i+1 are to be distinguished.
        BREC's loss is the cosine embedding loss of batch-normalised outputs, with Adam; examples/torch/express.py has it.
    rounds : int, optional
        The rounds of the test that the model can follow (its layers): a pair that takes more was missed for depth.
    data_dir, out : path, optional
        The data folder; and a folder in which results are kept, pair by pair, from where the same call resumes.
    **options
        `node_label` and the like, see `ppgn.as_graph`.

    Returns
    -------
    dict
        What `ppgn express --json` prints: `pairs`, `distinguished`, `bound`, `missed`, `reliability_failures`, `seconds`,
        `categories` and more.

    Examples
    --------
    >>> import ppgn
    >>> edges = lambda graphs: [[graph.edges] for graph in graphs]
    >>> report = ppgn.express(edges, "figure1", test="1-wl")
    >>> report["pairs"], report["distinguished"], report["bound"]
    (1, 0, 0)
    """
    outputs = model if callable(model) else getattr(model, "transform", None)
    if outputs is None or (hasattr(model, "transform") and hasattr(model, "get_params")):
        outputs = getattr(model, "transform", None)
    if outputs is None and protocol != "exact":
        raise TypeError(f"model: {type(model).__name__} is neither callable nor has it `transform`")
    if protocol == "rpc" and (step is None or reset is None):
        raise ValueError('protocol="rpc" trains a fresh model for every pair: give step and reset')
    named = isinstance(suite, str)
    graphs = None if named else as_graphs(suite, **options)
    numbers = [seeds] if isinstance(seeds, int) else list(seeds)

    def rows(batch: list[Graph]) -> list[float]:
        found = outputs(batch)  # type: ignore[misc]
        found = found.detach().cpu() if hasattr(found, "detach") else found
        array = np.asarray(found, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != len(batch):
            raise ValueError(f"the model returned shape {array.shape} for {len(batch)} graphs, not one row per graph")
        if not np.isfinite(array).all():
            raise FloatingPointError("the model returned numbers that are not finite")
        flat: list[float] = array.reshape(-1).tolist()
        return flat

    def fresh(seed: int) -> None:
        if reset is not None:
            # torch.manual_seed and NumPy take fewer bits than there are.
            reset(seed % 2**32)

    def trained(batch: list[Graph], rate: float) -> float:
        return float(step(batch, rate))  # type: ignore[misc]

    text = _ppgn.express(
        rows,
        fresh,
        trained,
        suite if named else "graphs",
        graphs,
        protocol,
        test,
        numbers,
        rounds,
        None if data_dir is None else os.fspath(data_dir),
        None if out is None else os.fspath(out),
    )
    report: dict[str, Any] = json.loads(text)
    return report
