"""Networks without our training loop: scores, pooled features, parameters and gradients as NumPy arrays."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _ppgn, _settings
from ._convert import Options, as_graphs

__all__ = ["Network"]


class Network:
    """A provably powerful graph network.

    Parameters
    ----------
    graphs : sequence of graphs
        They say which features graphs have; the network takes graphs with the same features.
    outputs : int
        Scores per graph: classes, or targets.
    preset : str, default "small"
        Where the settings come from that are not given.
    **settings
        Settings of the network by the names of the command line: `blocks`, `depth`, `suffix`, `encoding`, `order`,
        `precision`, `seed`...

    Attributes
    ----------
    config : dict
        The configuration.
    outputs : int
        Scores per graph.

    Examples
    --------
    >>> import numpy as np, ppgn
    >>> pair = ppgn.load("figure1")
    >>> network = ppgn.nn.Network(pair, outputs=2, blocks=[8, 8], precision="f64", seed=1)
    >>> scores = network.forward(pair)
    >>> scores.shape, bool(np.abs(scores[0] - scores[1]).max() > 1e-3)
    ((2, 2), True)
    >>> gradient = network.gradient(pair, np.ones((2, 2)))
    >>> gradient["fc_layers.0.fc.weight"].shape == network.parameters["fc_layers.0.fc.weight"].shape
    True
    """

    _inner: _ppgn.Network

    def __init__(self, graphs: Any, outputs: int, *, preset: str = "small", **settings: Any) -> None:
        names = ("node_label", "edge_label", "node_attrs", "edge_attrs", "strings")
        self._options = {name: settings.pop(name) for name in names if name in settings}
        data = _ppgn.Dataset(as_graphs(graphs, Options.of(**self._options)))
        self._inner = _ppgn.Network._new(data, outputs, preset, _settings.pairs(settings))

    @classmethod
    def _of(cls, inner: _ppgn.Network) -> Network:
        made = cls.__new__(cls)
        made._inner, made._options = inner, {}
        return made

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._inner._config())
        return found

    @property
    def outputs(self) -> int:
        return int(self.config["network"]["outputs"])

    def _graphs(self, graphs: Any) -> list[_ppgn.Graph]:
        return as_graphs(graphs, Options.of(**self._options))

    def forward(self, graphs: Any) -> npt.NDArray[Any]:
        """The scores: shape (graphs, outputs), in the network's precision."""
        return self._inner.forward(self._graphs(graphs))

    __call__ = forward

    def embed(self, graphs: Any) -> npt.NDArray[Any]:
        """The pooled features: shape (graphs, features)."""
        return self._inner.embed(self._graphs(graphs))

    def gradient(self, graphs: Any, loss_gradient: Any) -> dict[str, npt.NDArray[Any]]:
        """The gradient of a loss with respect to every parameter.

        Parameters
        ----------
        graphs : sequence of graphs
            The batch.
        loss_gradient : array of shape (graphs, outputs)
            The gradient of the loss with respect to the scores.

        Returns
        -------
        dict of arrays
            By the names of `parameters`, in their shapes.
        """
        return self._inner.gradient(self._graphs(graphs), np.asarray(loss_gradient))[1]

    @property
    def parameters(self) -> dict[str, npt.NDArray[Any]]:
        """The parameters by name, as new arrays. Assign a dict, of all or some of them, to change the network."""
        return self._inner.parameters()

    @parameters.setter
    def parameters(self, values: dict[str, Any]) -> None:
        self._inner.set_parameters(dict(values))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network, configuration included, to a safetensors file."""
        self._inner.save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        return {"state": self._inner._state(), "options": self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._inner = _ppgn.Network._from_state(*state["state"])
        self._options = state["options"]

    def __repr__(self) -> str:
        config = self.config
        blocks = [b if isinstance(b, int) else b["width"] for b in config["network"]["blocks"]]
        numbers = sum(array.size for array in self.parameters.values())
        return f"Network(blocks={blocks}, outputs={self.outputs}, parameters={numbers}, precision={config['precision']!r})"
