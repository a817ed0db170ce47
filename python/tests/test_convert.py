"""Graphs of other software: what goes in comes out, and a wrong item is named by its position."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ppgn
from ppgn import Graph
from ppgn._convert import Options, as_graphs


def test_matrices(square: Graph) -> None:
    matrix = square.adjacency()
    for kind in (float, int, bool, np.float32):
        assert ppgn.as_graph(matrix.astype(kind)) == square
    arrow = np.array([[0, 1], [0, 0]])
    assert ppgn.as_graph(arrow) == Graph(2, [(0, 1)], directed=True)
    weights = np.array([[0, 2.5], [2.5, 0]])
    with pytest.raises(ValueError, match="edge_attrs='weight'"):
        ppgn.as_graph(weights)
    assert ppgn.as_graph(weights, edge_attrs="weight") == Graph(2, [(0, 1)], edge_attributes=[2.5])
    assert ppgn.as_graph(weights, edge_attrs=()) == Graph(2, [(0, 1)])
    for wrong in (np.zeros((2, 3)), np.zeros(3), np.array([["a", "b"], ["c", "d"]]), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError):
            ppgn.as_graph(wrong)


def test_mixed_lists_and_positions_of_wrong_items(square: Graph) -> None:
    graphs = as_graphs([square, square.adjacency(), "Cl"], Options.of(strings="graph6"))
    assert graphs == [square] * 3
    with pytest.raises(ValueError, match="graph 2: a int is not a graph|graph 2: an? "):
        as_graphs([square, square, 7])
    with pytest.raises(ValueError, match="graph 1: .*out of range|graph 1"):
        as_graphs([square, "C!"], Options.of(strings="graph6"))
    # One directed graph makes all of them directed.
    both = as_graphs([square, Graph(2, [(0, 1)], directed=True)])
    assert all(g.directed for g in both) and both[0].edges == 8
    for single in (square, "Cl", 3, square.adjacency()):
        with pytest.raises(ValueError, match="sequence of graphs"):
            as_graphs(single)
    with pytest.raises(ValueError, match="strings="):
        ppgn.as_graph("Cl", strings="sdf")


class _Several(list):
    """A list with attributes."""

    def __init__(self, items: list[Any], **attributes: Any) -> None:
        super().__init__(items)
        self.__dict__.update(attributes)


def test_pyg_data_needs_no_pyg() -> None:
    data = SimpleNamespace(
        edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]),
        num_nodes=3,
        x=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], dtype=np.float32),
        edge_attr=np.array([1, 1, 2, 2]),
        pos=np.zeros((3, 3)),
        y=np.array([1]),
    )
    graph = ppgn.as_graph(data)
    assert not graph.directed and graph.edges == 2
    assert graph.node_attributes.tolist() == data.x.tolist() and graph.edge_labels.tolist() == [[1], [2]]
    assert ppgn.Dataset([data, data]).y.tolist() == [1, 1]
    # Datasets and batches have the edges of all their graphs as an attribute, and are sequences all the same.
    many: Any = _Several([data, data], edge_index=data.edge_index, indices=None, get=None)
    batch = SimpleNamespace(edge_index=data.edge_index, to_data_list=lambda: [data, data])
    for several in (many, batch):
        assert as_graphs(several) == [graph, graph] and ppgn.Dataset(several).y.tolist() == [1, 1]
        assert ppgn.wl.digest(several) == [ppgn.wl.digest(data)] * 2
        with pytest.raises(ValueError, match="graph 0: .*several graphs"):
            as_graphs([several])
    with pytest.raises(ValueError, match="put it in a list"):
        ppgn.Dataset(data)
    other = SimpleNamespace(**{**vars(data), "y": np.array([0])})
    model = ppgn.PPGNClassifier(epochs=1, blocks=[4], validation=None).fit([data, other])
    assert model.classes_.tolist() == [0, 1]
    data.edge_index = np.array([[0, 1, 2, 0], [1, 2, 0, 2]])
    assert ppgn.as_graph(data).directed


def test_networkx() -> None:
    nx = pytest.importorskip("networkx", reason="SKIPPED: networkx is not installed")
    graph = nx.karate_club_graph()
    ours = ppgn.as_graph(graph)
    assert (ours.nodes, ours.edges) == (34, 78)
    assert nx.utils.graphs_equal(nx.Graph(ours.to_networkx().edges), nx.Graph(graph.edges))
    named = nx.Graph([("a", "b"), ("b", "c")])
    nx.set_node_attributes(named, {"a": "C", "b": "O", "c": "C"}, "element")
    nx.set_node_attributes(named, {"a": 1.0, "b": 2.0, "c": 3.0}, "mass")
    nx.set_edge_attributes(named, {("a", "b"): 1, ("b", "c"): 2}, "order")
    nx.set_edge_attributes(named, {("a", "b"): 0.5, ("b", "c"): 1.5}, "length")
    options = {"node_label": "element", "node_attrs": "mass", "edge_label": "order", "edge_attrs": ["length"]}
    ours = ppgn.as_graph(named, **options)
    assert ours.node_attributes.ravel().tolist() == [1, 2, 3] and ours.edge_labels.ravel().tolist() == [1, 2]
    back = ours.to_networkx()
    assert [data["label"] for _, data in back.nodes(data=True)] == ["C", "O", "C"]
    assert [data["attributes"] for *_, data in back.edges(data=True)] == [[0.5], [1.5]]
    with pytest.raises(ValueError, match="node 'a' has no attribute 'charge'"):
        ppgn.as_graph(named, node_label="charge")
    arrow = ppgn.as_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    assert arrow.directed and arrow.edges == 3
    assert ppgn.as_graph(nx.MultiGraph([(0, 1), (0, 1), (1, 1)])).edges == 2
    assert ppgn.as_graph(nx.empty_graph(3)).edges == 0
    rng = np.random.default_rng(0)
    for seed in range(20):
        graph = nx.gnp_random_graph(12, 0.3, seed=seed, directed=bool(seed % 2))
        graph = nx.relabel_nodes(graph, dict(enumerate(rng.permutation(12).tolist())))
        ours = ppgn.as_graph(graph)
        assert np.array_equal(ours.adjacency(), nx.to_numpy_array(graph))


def test_scipy(square: Graph) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SKIPPED: scipy is not installed")
    for kind in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array, sparse.lil_matrix):
        assert ppgn.as_graph(kind(square.adjacency())) == square
    view = sparse.csr_matrix((np.ones(8), square.indices.astype(int), square.indptr.astype(int)), shape=(4, 4))
    assert ppgn.as_graph(view) == square
    with pytest.raises(ValueError, match="square"):
        ppgn.as_graph(sparse.csr_matrix((2, 3)))
    with pytest.raises(ValueError, match="edge_attrs"):
        ppgn.as_graph(sparse.csr_matrix(3.0 * square.adjacency()))


def test_igraph(square: Graph) -> None:
    igraph = pytest.importorskip("igraph", reason="SKIPPED: igraph is not installed")
    ring = igraph.Graph.Ring(4)
    assert ppgn.as_graph(ring) == square
    ring.vs["element"] = ["C", "C", "O", "C"]
    ring.es["weight"] = [1.0, 2.0, 3.0, 4.0]
    ours = ppgn.as_graph(ring, node_label="element", edge_attrs="weight")
    assert sorted(ours.edge_attributes.ravel().tolist()) == [1, 2, 3, 4] and ours.node_labels.shape == (4, 1)
    with pytest.raises(ValueError, match="no attribute"):
        ppgn.as_graph(ring, node_label="charge")


def test_smiles_need_numpy_alone(tmp_path: Path) -> None:
    phenol = ppgn.as_graph("Oc1ccccc1")
    assert (phenol.nodes, phenol.edges) == (7, 7) and phenol.node_labels[0].tolist() == [8, 0, 0, 1, 3, 0, 1, 1]
    # As the command line reads them from a file: what is trained on one takes the other.
    file = tmp_path / "m.smi"
    smiles = ["CCO", "Oc1ccccc1", "C[N+](C)(C)C", "O=S(=O)(O)c1ccccc1.[Na+]", "C/C=C/C#N"]
    file.write_text("\n".join(smiles))
    read, made = ppgn.load(file), ppgn.Dataset(smiles, strings="smiles")
    assert list(read) == list(made) and read.schema == made.schema
    assert ppgn.Dataset(np.array(smiles), strings="smiles") == made
    with pytest.raises(ValueError, match="strings='graph6' or strings='smiles'"):
        ppgn.as_graph("CC")
    assert ppgn.as_graph("CC", strings="smiles").nodes == 2 and ppgn.as_graph("CC", strings="graph6").nodes == 4
    # Together with a string that can only be SMILES, all of them are.
    assert [g.nodes for g in as_graphs(["CC", "CCO", "c1ccccc1"])] == [2, 3, 6]
    with pytest.raises(ValueError, match="graph 1: 'C\\(C' is not a SMILES string: .*character 2"):
        as_graphs(["CCO", "C(C"], Options.of(strings="smiles"))


def test_rdkit_molecules_are_those_of_smiles() -> None:
    Chem = pytest.importorskip("rdkit.Chem", reason="SKIPPED: rdkit is not installed")
    from rdkit.Chem import AllChem

    lines = (Path(__file__).parents[2] / "docs" / "examples" / "logp.csv").read_text().splitlines()[1:]
    smiles = [line.split(",")[0] for line in lines]
    smiles += ["[O-][N+](=O)c1ccccc1", "C[S+](C)[O-]", "[CH3]", "N#[N+]C", "c1cc[nH]c1"]
    differ = [text for text in smiles if ppgn.as_graph(Chem.MolFromSmiles(text)) != ppgn.as_graph(text, strings="smiles")]
    assert len(smiles) > 100 and not differ
    whole = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    assert ppgn.as_graph(whole).nodes == 9 and ppgn.as_graph(whole).positions is None
    AllChem.EmbedMolecule(whole, randomSeed=1)
    assert ppgn.as_graph(whole).positions.shape == (9, 3)
    with pytest.raises(ValueError, match="graph 0: .*SanitizeMol"):
        as_graphs([Chem.MolFromSmiles("CCO", sanitize=False)])
    assert ppgn.Dataset([Chem.MolFromSmiles("CCO"), "CCN"]).schema == ppgn.Dataset(["CCO", "CCN"]).schema


def test_torch_tensors_and_pyg_go_through() -> None:
    pytest.importorskip("torch", reason="SKIPPED: torch is not installed")
    pyg = pytest.importorskip("torch_geometric.data", reason="SKIPPED: torch_geometric is not installed")
    import torch

    data = pyg.Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=torch.eye(3), y=torch.tensor([1]))
    ours = ppgn.as_graph(data)
    assert ours.edges == 2 and ppgn.as_graph(ours.to_pyg()) == ours
