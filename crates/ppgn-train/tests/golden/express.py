"""Makes express.json: the statistic, the loss and the optimiser of BREC's protocol, by PyTorch in float64.

    pip install torch
    python express.py > express.json
"""

import json
import sys

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def statistic(d):
    """T2 as BREC computes it from the differences of outputs, one row each."""
    d = d.T
    mean = d.mean(dim=1).reshape(-1, 1)
    return (mean.T @ torch.linalg.pinv(torch.cov(d), hermitian=True) @ mean).item()


def differences():
    """Full rank, less than full rank (more columns than rows, and equal columns), and of very different sizes."""
    yield 0.3 + torch.randn(32, 16)
    yield 0.3 + torch.randn(12, 16)
    base = 0.1 + torch.randn(32, 5)
    yield torch.cat([base, base[:, :3]], dim=1)
    yield torch.randn(32, 8) * 10.0 ** torch.arange(0, -4, -0.5) + 0.2
    yield 1e-7 * torch.randn(32, 16)


def loss(x):
    """The cosine embedding loss of batch-normalised outputs; rows 2i and 2i+1 are a pair."""
    x = x.clone().requires_grad_()
    y = torch.nn.functional.batch_norm(x, None, None, training=True, eps=1e-300)  # PyTorch takes no 0
    value = torch.nn.CosineEmbeddingLoss(margin=0.0)(y[0::2], y[1::2], torch.tensor([-1.0]))
    value.backward()
    return {"outputs": x.tolist(), "loss": value.item(), "gradient": x.grad.tolist()}


def adam():
    p = torch.tensor([2.0, -0.5, 0.0], requires_grad=True)
    optimiser = torch.optim.Adam([p], lr=0.01, weight_decay=0.1)
    for _ in range(5):
        optimiser.zero_grad()
        (p**4 / 4 - p).sum().backward()
        optimiser.step()
    return p.tolist()


json.dump(
    {
        "statistic": [{"differences": d.tolist(), "t2": statistic(d)} for d in differences()],
        "loss": [loss(torch.randn(16, 16)), loss(5.0 + torch.randn(16, 3)), loss(1e-3 * torch.randn(8, 16))],
        "adam": adam(),
    },
    sys.stdout,
)
