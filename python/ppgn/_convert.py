"""Graphs of other software as `ppgn.Graph`, and back.

Objects are recognised by what they can do, so nothing is imported that the caller has not imported: a NetworkX graph comes
from NetworkX, which is installed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _labels, _molecules
from ._ppgn import Dataset, Graph, parse_graph6


@dataclass(frozen=True)
class Options:
    """What to take from foreign graphs."""

    node_label: str | None = None
    edge_label: str | None = None
    node_attrs: tuple[str, ...] = ()
    edge_attrs: tuple[str, ...] | None = None
    strings: str = "auto"

    @classmethod
    def of(
        cls,
        node_label: str | None = None,
        edge_label: str | None = None,
        node_attrs: str | Sequence[str] | None = None,
        edge_attrs: str | Sequence[str] | None = None,
        strings: str = "auto",
    ) -> Options:
        def names(given: str | Sequence[str] | None) -> tuple[str, ...]:
            return () if given is None else (given,) if isinstance(given, str) else tuple(given)

        if strings not in ("auto", "graph6", "smiles"):
            raise ValueError(f"strings={strings!r}: strings are 'graph6', 'smiles' or 'auto'")
        edges = None if edge_attrs is None else names(edge_attrs)
        return cls(node_label, edge_label, names(node_attrs), edges, strings)


def _array(values: Any) -> npt.NDArray[Any]:
    """NumPy's view of an array or tensor."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


def _features(values: Any) -> tuple[str, npt.NDArray[Any]]:
    """Whole numbers are labels, real ones attributes."""
    array = _array(values)
    return ("labels" if array.dtype.kind in "iub" else "attributes"), array


def _is_networkx(item: Any) -> bool:
    return all(hasattr(item, name) for name in ("adj", "nodes", "is_directed", "is_multigraph"))


def _column(rows: Iterable[tuple[Any, dict[str, Any]]], name: str, whose: str) -> list[Any]:
    out = []
    for key, data in rows:
        if name not in data:
            raise ValueError(f"{whose} {key!r} has no attribute {name!r}")
        out.append(data[name])
    return out


def from_networkx(graph: Any, options: Options) -> Graph:
    """A NetworkX graph of any class. Nodes are numbered in the order of `graph.nodes`."""
    names = list(graph.nodes)
    n, directed = len(names), bool(graph.is_directed())
    kept: dict[str, Any] = {}
    if options.node_label is not None:
        kept["node_labels"] = _column(graph.nodes(data=True), options.node_label, "node")
    if options.node_attrs:
        columns = [_column(graph.nodes(data=True), name, "node") for name in options.node_attrs]
        kept["node_attributes"] = _table(columns, n)
    in_order = names == list(range(n)) if n == 0 or isinstance(names[0], int) else False
    index = None if in_order else {name: i for i, name in enumerate(names)}
    if options.edge_label is None and not options.edge_attrs:
        rows = list(graph.adj.values()) if not hasattr(graph, "_adj") else list(graph._adj.values())
        degrees = np.fromiter(map(len, rows), dtype=np.int64, count=n)
        ends: Iterable[Any] = chain.from_iterable(rows)
        if index is not None:
            ends = map(index.__getitem__, ends)
        targets = np.fromiter(ends, dtype=np.int64, count=int(degrees.sum()))
        sources = np.repeat(np.arange(n, dtype=np.int64), degrees)
        if not directed:
            once = sources <= targets
            sources, targets = sources[once], targets[once]
        return Graph(n, np.stack([sources, targets], axis=1), directed=directed, **kept)
    edges = [(u, v, data) for u, v, data in graph.edges(data=True)]
    number = (lambda name: name) if index is None else index.__getitem__
    pairs = np.array([(number(u), number(v)) for u, v, _ in edges], dtype=np.int64).reshape(len(edges), 2)
    named = [((u, v), data) for u, v, data in edges]
    if options.edge_label is not None:
        kept["edge_labels"] = _column(named, options.edge_label, "edge")
    if options.edge_attrs:
        kept["edge_attributes"] = _table([_column(named, name, "edge") for name in options.edge_attrs], len(edges))
    return Graph(n, pairs, directed=directed, **kept)


def _table(columns: list[list[Any]], rows: int) -> npt.NDArray[np.float64]:
    """Attributes side by side; an attribute may itself be a vector."""
    parts = [np.asarray(column, dtype=np.float64).reshape(rows, -1) for column in columns]
    return np.concatenate(parts, axis=1)


def from_pyg(data: Any, options: Options) -> Graph:
    """A PyG `Data`: `edge_index`, and `x`, `edge_attr`, `pos` where they are there."""
    index = _array(data.edge_index)
    nodes = getattr(data, "num_nodes", None)
    if nodes is None:
        nodes = int(index.max()) + 1 if index.size else 0
    kept: dict[str, Any] = {}
    for name, whose in (("x", "node"), ("edge_attr", "edge")):
        values = getattr(data, name, None)
        if values is not None:
            kind, array = _features(values)
            if array.size:
                kept[f"{whose}_{kind}"] = array
    if getattr(data, "pos", None) is not None:
        kept["positions"] = _array(data.pos)
    graph = Graph(int(nodes), index.reshape(2, -1).T, directed=True, **kept)
    return graph._simplest()


def _weights(values: npt.NDArray[Any], options: Options) -> dict[str, Any]:
    """The entries of a matrix as edge attributes, if they say more than that there is an edge."""
    if options.edge_attrs:
        return {"edge_attributes": values.astype(np.float64)}
    if options.edge_attrs is None and not np.isin(values, (0, 1)).all():
        raise ValueError(
            "the adjacency matrix has entries other than 0 and 1: edge_attrs='weight' keeps them as an edge attribute, "
            "edge_attrs=() ignores them"
        )
    return {}


def _square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"an adjacency matrix is square, and this array has the shape {shape}")
    return int(shape[0])


def from_matrix(matrix: npt.NDArray[Any], options: Options) -> Graph:
    """A NumPy adjacency matrix: undirected where it is symmetric."""
    n = _square(matrix.shape)
    if matrix.dtype.kind not in "iubf":
        raise ValueError(f"an adjacency matrix has numbers, not {matrix.dtype}")
    if matrix.dtype.kind == "f" and not np.isfinite(matrix).all():
        raise ValueError("the adjacency matrix has an entry that is not finite")
    sources, targets = np.nonzero(matrix)
    kept = _weights(matrix[sources, targets], options)
    return Graph(n, np.stack([sources, targets], axis=1), directed=True, **kept)._simplest()


def from_sparse(matrix: Any, options: Options) -> Graph:
    """A SciPy sparse adjacency matrix: undirected where it is symmetric."""
    n = _square(matrix.shape)
    entries = matrix.tocoo()
    if hasattr(entries, "sum_duplicates"):
        entries = entries.copy()
        entries.sum_duplicates()
    there = entries.data != 0
    sources, targets = np.asarray(entries.row)[there], np.asarray(entries.col)[there]
    kept = _weights(np.asarray(entries.data)[there], options)
    pairs = np.stack([sources, targets], axis=1).astype(np.int64)
    return Graph(n, pairs, directed=True, **kept)._simplest()


def from_igraph(graph: Any, options: Options) -> Graph:
    """An igraph graph."""
    kept: dict[str, Any] = {}
    vertices, edges = graph.vs, graph.es

    def column(sequence: Any, name: str, whose: str) -> list[Any]:
        if name not in sequence.attributes():
            raise ValueError(f"the {whose}s have no attribute {name!r}")
        return list(sequence[name])

    if options.node_label is not None:
        kept["node_labels"] = column(vertices, options.node_label, "node")
    if options.node_attrs:
        kept["node_attributes"] = _table([column(vertices, a, "node") for a in options.node_attrs], graph.vcount())
    if options.edge_label is not None:
        kept["edge_labels"] = column(edges, options.edge_label, "edge")
    if options.edge_attrs:
        kept["edge_attributes"] = _table([column(edges, a, "edge") for a in options.edge_attrs], graph.ecount())
    pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return Graph(graph.vcount(), pairs, directed=graph.is_directed(), **kept)


def _is_text(item: Any) -> bool:
    return isinstance(item, (str, bytes))


def _is_pyg_sequence(item: Any) -> bool:
    """Whether an object is a dataset or a batch of PyG: both have the `edge_index` of all their graphs."""
    dataset = hasattr(item, "indices") and hasattr(item, "get")
    return hasattr(item, "edge_index") and (dataset or hasattr(item, "to_data_list"))


def is_single(item: Any) -> bool:
    """Whether an object is one graph, not a sequence of them."""
    if isinstance(item, np.ndarray):
        return item.ndim == 2 and item.dtype.kind not in "OUS"
    return isinstance(item, Graph) or _is_text(item) or _readers(item) is not None


def _readers(item: Any) -> Callable[[Any, Options], Graph] | None:
    """The function that converts such an object."""
    if _is_networkx(item):
        return from_networkx
    if hasattr(item, "get_edgelist") and hasattr(item, "vcount"):
        return from_igraph
    if _molecules.is_rdkit(item):
        return lambda molecule, _: _molecules.from_rdkit(molecule)
    if hasattr(item, "edge_index") and not _is_pyg_sequence(item):
        return from_pyg
    if hasattr(item, "tocoo") and hasattr(item, "shape"):
        return from_sparse
    if isinstance(item, np.ndarray):
        return from_matrix
    return None


def kind_of_strings(texts: Sequence[str], strings: str = "auto") -> str:
    """Whether strings are graph6 or SMILES: what all of them can be read as."""
    if strings != "auto" or not texts:
        return "graph6" if strings == "auto" else strings

    def reads(read: Callable[[str], object]) -> bool:
        try:
            return all(read(text) is not None for text in texts)
        except ValueError:
            return False

    graph6 = all(text.startswith((">>", ":", "&")) for text in texts) or reads(parse_graph6)
    smiles = reads(_molecules.checked)
    if graph6 and smiles:
        raise ValueError(
            f"{texts[0]!r} can be read as graph6 and as SMILES: say strings='graph6' or strings='smiles'"
        )
    if smiles:
        return "smiles"
    if graph6 or not any(_molecules.plausible(text) for text in texts):
        return "graph6"
    return "smiles"


def kind_among(items: Iterable[Any], strings: str = "auto") -> str:
    """What the strings among items are; `strings` itself where there are none."""
    texts = [item.decode() if isinstance(item, bytes) else item for item in items if _is_text(item)]
    return kind_of_strings(texts, strings) if texts else strings


def are_molecules(items: Sequence[Any], strings: str) -> bool:
    """Whether all items are molecules: RDKit's objects, or strings that are SMILES."""
    smiles = strings == "smiles"
    return len(items) > 0 and all(smiles if _is_text(item) else _molecules.is_rdkit(item) for item in items)


def items_of(graphs: Any) -> list[Any]:
    """The graphs of a sequence, of whatever kinds; a batch of PyG is a sequence."""
    if isinstance(graphs, np.ndarray):
        if graphs.ndim != 3 and graphs.dtype.kind not in "OUS":
            raise ValueError(
                f"a sequence of graphs is needed, not an array of shape {graphs.shape}: a list of adjacency matrices, or an "
                "array of shape (graphs, nodes, nodes)"
            )
    elif is_single(graphs):
        raise ValueError("a sequence of graphs is needed, not a single one: put it in a list")
    try:
        return list(graphs.to_data_list() if hasattr(graphs, "to_data_list") else graphs)
    except TypeError:
        raise ValueError(f"a sequence of graphs is needed, not {type(graphs).__name__}") from None


def as_graphs(graphs: Any, options: Options | None = None) -> list[Graph]:
    """A sequence of graphs of any kinds as a list of `Graph`; a wrong item is a ValueError with its position."""
    if isinstance(graphs, Dataset):
        return graphs._graphs()
    options = options or Options()
    items = items_of(graphs)
    strings = kind_among(items, options.strings)
    out = []
    for position, item in enumerate(items):
        try:
            out.append(_one(item, strings, options))
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"graph {position}: {error}") from error
    if any(graph.directed for graph in out) and not all(graph.directed for graph in out):
        # As in a file of graph6 lines: an undirected edge is an edge in both directions.
        out = [graph if graph.directed else graph._both_ways() for graph in out]
    return out


def _one(item: Any, strings: str, options: Options) -> Graph:
    if isinstance(item, Graph):
        return item
    if _is_text(item):
        text = item.decode() if isinstance(item, bytes) else item
        return _molecules.from_smiles(text) if strings == "smiles" else parse_graph6(_without_header(text))
    reader = _readers(item)
    if _is_pyg_sequence(item):
        raise ValueError(f"a {type(item).__name__} is several graphs: give it by itself, not within a list")
    if reader is None:
        raise ValueError(
            f"a {type(item).__name__} is not a graph: ppgn takes its own graphs, those of NetworkX, PyG, igraph and RDKit, "
            "adjacency matrices, graph6 and SMILES strings"
        )
    return reader(item, options)


def _without_header(text: str) -> str:
    for header in (">>graph6<<", ">>sparse6<<", ">>digraph6<<"):
        text = text.removeprefix(header)
    return text.strip()


def as_graph(
    graph: Any,
    *,
    node_label: str | None = None,
    edge_label: str | None = None,
    node_attrs: str | Sequence[str] | None = None,
    edge_attrs: str | Sequence[str] | None = None,
    strings: str = "auto",
) -> Graph:
    """A graph of any kind that ppgn takes, as a `Graph`.

    Parameters
    ----------
    graph : Graph, NetworkX or igraph graph, PyG Data, SciPy sparse or NumPy adjacency matrix, RDKit molecule, or str
        The graph. A matrix or an `edge_index` that is symmetric gives an undirected graph.
    node_label, edge_label : str, optional
        The attribute of nodes (edges) of a NetworkX or igraph graph that is their category: integers or text.
    node_attrs, edge_attrs : str or sequence of str, optional
        The attributes that are numbers. `edge_attrs="weight"` keeps the entries of a matrix that is not 0 and 1.
    strings : {"auto", "graph6", "smiles"}
        What a string is. By default whatever it can be read as; a ValueError if it can be both.

    Examples
    --------
    >>> import numpy as np
    >>> as_graph(np.array([[0, 1], [1, 0]]))
    Graph(nodes=2, edges=1)
    >>> as_graph("Cl", strings="graph6")
    Graph(nodes=4, edges=4)
    """
    options = Options.of(node_label, edge_label, node_attrs, edge_attrs, strings)
    if _is_text(graph):
        text = graph.decode() if isinstance(graph, bytes) else graph
        return _one(text, kind_of_strings([text], strings), options)
    return _one(graph, "graph6", options)


def to_networkx(graph: Graph, *, node_label: str = "label", edge_label: str = "label") -> Any:
    """A graph as a `networkx.Graph` (or `DiGraph`).

    Labels are the attribute `label` (`label1`, `label2`... for further columns), attributes are `attributes`, a list of
    numbers, and positions `pos`. Text labels of up to seven bytes come back as text.
    """
    import networkx as nx

    out = nx.DiGraph() if graph.directed else nx.Graph()
    nodes: list[dict[str, Any]] = [{} for _ in range(graph.nodes)]
    edges: list[dict[str, Any]] = [{} for _ in range(graph.edges)]

    def labels(rows: list[dict[str, Any]], table: npt.NDArray[np.int64] | None, name: str) -> None:
        for column in range(0 if table is None else table.shape[1]):
            assert table is not None
            for row, value in zip(rows, _labels.plain(table[:, column]), strict=True):
                row[name if column == 0 else f"{name}{column}"] = value

    def numbers(rows: list[dict[str, Any]], table: npt.NDArray[np.float64] | None, name: str) -> None:
        if table is not None:
            for row, values in zip(rows, table.tolist(), strict=True):
                row[name] = values

    labels(nodes, graph.node_labels, node_label)
    labels(edges, graph.edge_labels, edge_label)
    numbers(nodes, graph.node_attributes, "attributes")
    numbers(edges, graph.edge_attributes, "attributes")
    numbers(nodes, graph.positions, "pos")
    out.add_nodes_from(enumerate(nodes))
    out.add_edges_from((u, v, data) for (u, v), data in zip(graph.edge_index.T.tolist(), edges, strict=True))
    return out


def to_pyg(graph: Graph, *, y: Any = None) -> Any:
    """A graph as a `torch_geometric.data.Data`: both directions of every undirected edge are in `edge_index`.

    `x` is the node attributes, or the labels where there are none (with both, attributes are `x` and labels
    `node_labels`); `edge_attr` and `edge_labels` likewise.
    """
    import torch
    from torch_geometric.data import Data

    index = graph.edge_index
    loops = index[0] == index[1]
    both = index if graph.directed else np.concatenate([index, index[::-1][:, ~loops]], axis=1)

    def doubled(table: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        if table is None or graph.directed:
            return table
        return np.concatenate([table, table[~loops]], axis=0)

    def tensor(array: npt.NDArray[Any]) -> Any:
        return torch.from_numpy(np.array(array))

    fields: dict[str, Any] = {}
    pairs = (
        ("x", "node_labels", graph.node_attributes, graph.node_labels),
        ("edge_attr", "edge_labels", doubled(graph.edge_attributes), doubled(graph.edge_labels)),
    )
    for name, second, attributes, labels in pairs:
        if attributes is not None:
            fields[name] = tensor(attributes).float()
        if labels is not None:
            fields[second if attributes is not None else name] = tensor(labels)
    if graph.positions is not None:
        fields["pos"] = tensor(graph.positions).float()
    if y is not None:
        fields["y"] = torch.as_tensor(y)
    return Data(edge_index=tensor(both), num_nodes=graph.nodes, **fields)


def to_graph6(graph: Graph, *, lossy: bool = False) -> str:
    """A graph as a line of graph6: `Graph.to_graph6`."""
    return graph.to_graph6(lossy=lossy)
