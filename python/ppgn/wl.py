"""The Weisfeiler-Leman tests, exact: 1-WL, k-WL and k-FWL for every k.

>>> import ppgn
>>> hexagon, triangles = ppgn.load("figure1")
>>> ppgn.wl.distinguishes(hexagon, triangles, test="1-wl")
False
>>> ppgn.wl.compare(hexagon, triangles)
Comparison(distinguished by 2-fwl after round 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _ppgn
from ._convert import Options, as_graph, as_graphs, is_single
from ._ppgn import Refinement

if TYPE_CHECKING:
    from ._kernels import WLKernel, WLVectorizer

__all__ = [
    "Comparison",
    "Refinement",
    "WLKernel",
    "WLVectorizer",
    "classes",
    "compare",
    "digest",
    "distinguishes",
    "refine",
]

# A round of more steps takes minutes, so it has to be requested by name.
_MOST_STEPS = 2e10


def _asked(
    labels: bool = True, attributes: bool = False, rounds: int | None = None, max_memory: int | None = None
) -> dict[str, Any]:
    if rounds is not None and rounds < 0:
        raise ValueError(f"rounds={rounds}: the number of rounds cannot be negative")
    return {"labels": labels, "attributes": attributes, "rounds": rounds, "max_memory": max_memory}


def refine(
    graphs: Any,
    test: str = "1-wl",
    *,
    rounds: int | None = None,
    labels: bool = True,
    attributes: bool = False,
    max_memory: int | None = None,
    **options: Any,
) -> Refinement:
    """Colour the nodes (1-WL) or k-tuples (k-WL, k-FWL) of graphs together.

    Parameters
    ----------
    graphs : sequence of graphs
        Of any kind that `ppgn.as_graph` takes. A colour means the same in all of them.
    test : str, default "1-wl"
        `"1-wl"`, or `"k-wl"` or `"k-fwl"` for any k, such as `"2-fwl"`.
    rounds : int, optional
        The maximum number of rounds. By default until nothing changes.
    labels, attributes : bool
        Whether node and edge labels (attributes, bit by bit) are initial colours.
    max_memory : int, optional
        The memory limit in bytes. By default four fifths of what is available.
    **options
        `node_label`, `edge_label`, `node_attrs`, `edge_attrs`, `strings`: see `ppgn.as_graph`.

    Returns
    -------
    Refinement
        `colours(graph, round)` is an array of shape (nodes,) for 1-WL, (nodes, nodes) for pairs.

    Examples
    --------
    >>> import ppgn
    >>> path = ppgn.Graph(4, [(0, 1), (1, 2), (2, 3)])
    >>> ppgn.wl.refine([path]).colours()
    array([0, 1, 1, 0], dtype=uint32)
    """
    asked = _asked(labels, attributes, rounds, max_memory)
    return _ppgn.refine(as_graphs(graphs, Options.of(**options)), test, asked)


def classes(graphs: Any, test: str = "1-wl", **options: Any) -> npt.NDArray[np.int64]:
    """One number per graph, equal for graphs that the test does not distinguish: shape (graphs,).

    Takes the options of `refine`.

    >>> import ppgn
    >>> int(ppgn.wl.classes(ppgn.load("csl"), "2-fwl").max()) + 1
    10
    """
    refinement = refine(graphs, test, **options)
    if not refinement.stable:
        raise ValueError("the refinement was stopped before it was stable: there is no verdict; allow more rounds")
    return refinement.classes()


@dataclass(frozen=True)
class Comparison:
    """What a test, or a series of them, found about two graphs.

    Attributes
    ----------
    distinguished : bool or None
        Whether the graphs are distinguished; None where the test was stopped before it was stable.
    test : str
        The test that distinguishes them, or the strongest that was run.
    round : int or None
        The round after which they differ.
    certificate : dict or None
        Why they differ, as data: the colour, on how many tuples of each graph it is, and what it means.
    text : str
        The same for people.
    verdicts : dict
        For every test that was run, whether it distinguishes the graphs.
    note : str
        Why no stronger test was run, where there is one.
    """

    distinguished: bool | None
    test: str
    round: int | None
    certificate: dict[str, Any] | None = field(repr=False)
    text: str = field(repr=False)
    verdicts: dict[str, bool | None] = field(repr=False)
    note: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return bool(self.distinguished)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        if self.distinguished:
            return f"Comparison(distinguished by {self.test} after round {self.round})"
        word = "no verdict" if self.distinguished is None else "not distinguished"
        return f"Comparison({word} by {self.test})"


def compare(
    a: Any,
    b: Any,
    test: str | None = None,
    *,
    rounds: int | None = None,
    labels: bool = True,
    attributes: bool = False,
    max_memory: int | None = None,
    **options: Any,
) -> Comparison:
    """Does a test distinguish two graphs, after which round, and why?

    Without `test`, climbs 1-WL, 2-FWL, 3-FWL ... until the graphs are distinguished, the tuples list whole graphs, or the
    next test is too large. The other parameters are those of `refine`.

    Examples
    --------
    >>> import ppgn
    >>> path = ppgn.Graph(3, [(0, 1), (1, 2)])
    >>> triangle = ppgn.Graph(3, [(0, 1), (1, 2), (2, 0)])
    >>> print(ppgn.wl.compare(path, triangle))
    1-wl distinguishes them after round 1: colour 0@1 is on 1 node of graph 0 and on 3 nodes of graph 1.
    Such as: node 1 of graph 0, node 0 of graph 1.
      0@1: 0@0 with 2 neighbours: 2 x 0@0
      0@0: a node
    (c@r is colour c after round r.)
    """
    pair = as_graphs([a, b], Options.of(**options))
    asked = _asked(labels, attributes, rounds, max_memory)
    largest = max(pair[0].nodes, pair[1].nodes, 2)
    tests = [test] if test is not None else ["1-wl", *(f"{k}-fwl" for k in range(2, largest + 1))]
    verdicts: dict[str, bool | None] = {}
    note, last = "", None
    for k, name in enumerate(tests, 1):
        if test is None and k > 1 and 2.0 * k * float(largest) ** (k + 1) > _MOST_STEPS:
            note = f"a round of {name} takes more than {_MOST_STEPS:.0e} steps: test={name!r} runs it"
            break
        try:
            last = _ppgn.refine(pair, name, asked)
        except MemoryError as error:
            if test is not None or not verdicts:
                raise
            note = str(error)
            break
        found = _ppgn.certificate(pair, last, (0, 1), asked)
        verdicts[name] = True if found is not None else False if last.stable else None
        if found is not None:
            text, data = found
            return Comparison(True, name, data["round"], data, text, verdicts)
    strongest = next(reversed(verdicts))
    text = f"{strongest} does not distinguish them"
    if verdicts[strongest] is None and last is not None:
        text = f"{strongest} has not distinguished them after {last.rounds} rounds, and is not stable"
    return Comparison(verdicts[strongest], strongest, None, None, text + (f" ({note})" if note else ""), verdicts, note)


def distinguishes(a: Any, b: Any, test: str = "1-wl", **options: Any) -> bool:
    """Whether a test distinguishes two graphs. Takes the options of `refine`; a test that was stopped early and has found
    no difference is a ValueError, because there is no verdict.

    >>> import ppgn
    >>> ppgn.wl.distinguishes(*ppgn.load("figure1"), test="2-fwl")
    True
    """
    refinement = refine([a, b], test, **options)
    found = refinement.distinguishing_round(0, 1) is not None
    if not found and not refinement.stable:
        raise ValueError("the test was stopped before it was stable: there is no verdict; allow more rounds")
    return found


def digest(
    graphs: Any,
    test: str = "1-wl",
    *,
    labels: bool = True,
    attributes: bool = False,
    max_memory: int | None = None,
    **options: Any,
) -> Any:
    """A line of text per graph, equal exactly for graphs that the test does not distinguish.

    It depends on the graph alone, and stays the same from version to version (`docs/wl-digest.md`). A single graph gives a
    str, a sequence of graphs a list.

    >>> import ppgn
    >>> a, b = ppgn.wl.digest(ppgn.load("figure1"))
    >>> a == b, a[:9]
    (True, 'wl1:1-wl:')
    """
    asked = _asked(labels, attributes, None, max_memory)
    if is_single(graphs):
        return _ppgn.digests([as_graph(graphs, **options)], test, asked)[0]
    return _ppgn.digests(as_graphs(graphs, Options.of(**options)), test, asked)


def __getattr__(name: str) -> Any:
    # These are scikit-learn's where it is installed, and importing it takes longer than everything else here.
    if name in ("WLKernel", "WLVectorizer"):
        from . import _kernels

        return getattr(_kernels, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> Sequence[str]:
    return __all__
