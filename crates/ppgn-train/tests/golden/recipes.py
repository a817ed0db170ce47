"""Makes recipes.json: learning rates, AdamW steps and clipped gradients of PyTorch, in float64.

    pip install torch
    python recipes.py > recipes.json
"""

import json

import torch
from torch.optim import lr_scheduler as lr

EPOCHS = 12
LOSSES = [1.0, 0.9, 0.95, 0.89995, 0.93, 0.91, 0.7, 0.7, 0.69999, 0.75, 0.8, 0.71]


def optimiser():
    return torch.optim.Adam([torch.zeros(1, dtype=torch.float64, requires_grad=True)], lr=0.1)


def rates(warmup, after):
    """One rate per epoch: a linear warm-up, then the schedule, by SequentialLR."""
    o = optimiser()
    schedule = after(o)
    if warmup:
        linear = lr.LinearLR(o, start_factor=1 / (warmup + 1), total_iters=warmup)
        schedule = lr.SequentialLR(o, [linear, schedule], milestones=[warmup])
    found = []
    for _ in range(EPOCHS):
        found.append(o.param_groups[0]["lr"])
        o.step()
        schedule.step()
    return found


def plateau(patience):
    o = optimiser()
    schedule = lr.ReduceLROnPlateau(o, factor=0.5, patience=patience)
    found = []
    for loss in LOSSES:
        found.append(o.param_groups[0]["lr"])
        schedule.step(loss)
    return found


def adamw():
    """Five steps on sum(p^4 / 4 - p) with weight decay."""
    p = torch.tensor([2.0, -0.5, 0.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.AdamW([p], lr=0.01, weight_decay=0.3)
    for _ in range(5):
        o.zero_grad()
        (p**4 / 4 - p).sum().backward()
        o.step()
    return p.tolist()


def clipped(max_norm):
    a = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    b = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    a.grad = torch.tensor([3.0, -1.5], dtype=torch.float64)
    b.grad = torch.tensor([0.25, 0.0, 4.0], dtype=torch.float64)
    norm = torch.nn.utils.clip_grad_norm_([a, b], max_norm)
    return {"max_norm": max_norm, "norm": float(norm), "gradients": [a.grad.tolist(), b.grad.tolist()]}


def step(o):
    return lr.StepLR(o, step_size=3, gamma=0.5)


GOLDENS = {
    "torch": torch.__version__,
    "step": rates(0, step),
    "step_warmup_2": rates(2, step),
    "cosine": rates(0, lambda o: lr.CosineAnnealingLR(o, T_max=EPOCHS)),
    "cosine_warmup_2": rates(2, lambda o: lr.CosineAnnealingLR(o, T_max=EPOCHS - 2)),
    "losses": LOSSES,
    "plateau_1": plateau(1),
    "plateau_2": plateau(2),
    "adamw": adamw(),
    "clip": [clipped(1.0), clipped(100.0)],
}
lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in GOLDENS.items())
print("{\n" + lines + "\n}")
