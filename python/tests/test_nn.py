"""Networks inside someone else's loop: gradients against finite differences, and torch's gradcheck."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ppgn
from ppgn.nn import Network


@pytest.fixture
def graphs() -> list[ppgn.Graph]:
    return list(ppgn.load("gnp:n=5,p=0.5,count=3,seed=4"))


@pytest.fixture
def network(graphs: list[ppgn.Graph]) -> Network:
    made = Network(graphs, 2, blocks=[4, 4], precision="f64", seed=3)
    # Biases start at zero, where a ReLU has no derivative: away from there.
    rng = np.random.default_rng(5)
    made.parameters = {name: value + 0.1 * rng.normal(size=value.shape) for name, value in made.parameters.items()}
    return made


def test_gradients_are_finite_differences(network: Network, graphs: list[ppgn.Graph]) -> None:
    rng = np.random.default_rng(0)
    slope = rng.normal(size=(3, 2))
    gradient, start = network.gradient(graphs, slope), network.parameters
    assert gradient.keys() == start.keys()
    for name, value in start.items():
        for place in rng.integers(0, value.size, size=3):
            losses = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved.reshape(-1)[place] += step
                network.parameters = {name: moved}
                losses.append((network.forward(graphs) * slope).sum())
            network.parameters = {name: value}
            found = gradient[name].reshape(-1)[place]
            assert abs((losses[0] - losses[1]) / 2e-6 - found) < 1e-5 * max(1, abs(found)), name


def test_a_plain_loop_learns(graphs: list[ppgn.Graph], network: Network) -> None:
    wanted = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 2.0]])
    losses = []
    for _ in range(60):
        error = network(graphs) - wanted
        losses.append(float((error**2).sum()))
        gradient = network.gradient(graphs, 2 * error)
        network.parameters = {name: value - 0.003 * gradient[name] for name, value in network.parameters.items()}
    assert losses[-1] < losses[0] / 2


def test_parameters_shapes_and_pickles(network: Network, graphs: list[ppgn.Graph], tmp_path: object) -> None:
    again = pickle.loads(pickle.dumps(network))
    assert np.array_equal(again.forward(graphs), network.forward(graphs))
    assert network.embed(graphs).shape == (3, 16) and network.outputs == 2 and "parameters=" in repr(network)
    single = Network(graphs, 1, blocks=[4], precision="f32")
    assert single.forward(graphs).dtype == np.float32
    again = pickle.loads(pickle.dumps(single))
    assert np.array_equal(again.forward(graphs), single.forward(graphs))
    for wrong in ({"nothing": np.zeros(1)}, {"fc_layers.0.fc.bias": np.zeros(7)}):
        with pytest.raises((KeyError, ValueError)):
            network.parameters = wrong
    with pytest.raises(ValueError, match="shape"):
        network.gradient(graphs, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="graph 0"):
        network.forward([ppgn.Graph(1, node_labels=[1])])
    with pytest.raises(ValueError, match="not a setting"):
        Network(graphs, 1, width=3)


def test_compiled_networks_distinguish() -> None:
    pair = ppgn.load("figure1")
    net = ppgn.compile(pair)
    assert net.distinguishes(*pair) and net.settings["compilation"]["test"] == "2-fwl"
    with pytest.raises(ValueError, match="cannot be compiled"):
        ppgn.compile(pair, "1-wl")
    assert not ppgn.compile(pair, "2-wl").distinguishes(*pair)


def test_torchs_gradcheck(network: Network, graphs: list[ppgn.Graph]) -> None:
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed")
    names = list(network.parameters)

    class Scores(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            network.parameters = {n: t.detach().numpy() for n, t in zip(names, tensors, strict=True)}
            ctx.save_for_backward(*tensors)
            return torch.from_numpy(network.forward(graphs))

        @staticmethod
        def backward(ctx, slope):
            network.parameters = {n: t.detach().numpy() for n, t in zip(names, ctx.saved_tensors, strict=True)}
            gradient = network.gradient(graphs, slope.numpy())
            return tuple(torch.from_numpy(gradient[name]) for name in names)

    tensors = [torch.tensor(value, requires_grad=True) for value in network.parameters.values()]
    assert torch.autograd.gradcheck(Scores.apply, tensors, eps=1e-6, atol=1e-4)
