"""Writes the small PyTorch checkpoints next to this file, and `checkpoints.json` with the outputs of their networks.

    python make_checkpoints.py PATH/TO/ppgn_torch.py

The model is the authors' network in PyTorch, with their parameter names; any recent torch works. A checkpoint has the
authors' format (`model_state_dict` among other entries), in the current container (zip) or the one before PyTorch 1.6
(consecutive pickles), or is a plain state dict.
"""

import importlib.util
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).parent


def load_peer(path):
    spec = importlib.util.spec_from_file_location("ppgn_torch", path)
    peer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)
    return peer


def network(peer, inputs, outputs, features, depth, hidden):
    """Suffix ii, or i with these hidden widths (the authors have 512 and 256, which makes large files)."""
    model = peer.Ppgn(inputs, outputs, features, depth, "i" if hidden else "ii")
    if hidden:
        sizes = [2 * features[-1], *hidden, outputs]
        layers = [peer.Dense(a, b, i < len(hidden)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
        model.fc_layers = torch.nn.ModuleList(layers)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.uniform_(parameter, -0.1, 0.1)
    return model


def main():
    peer = load_peer(sys.argv[1])
    torch.manual_seed(1)
    cases = []
    for name, inputs, outputs, features, depth, hidden, form in [
        ("suffix_ii.pt", 3, 2, (4, 2), 2, (), "zip"),
        ("suffix_i.tar", 2, 3, (3,), 1, (5, 4), "legacy"),
        ("plain_f64.pt", 1, 2, (2,), 3, (), "plain"),
    ]:
        model = network(peer, inputs, outputs, features, depth, hidden)
        if form == "plain":
            model = model.double()
            torch.save(model.state_dict(), HERE / name)
        else:
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            state = {"epoch": 3, "model_state_dict": model.state_dict(),
                     "optimizer_state_dict": optimizer.state_dict()}
            torch.save(state, HERE / name, _use_new_zipfile_serialization=form == "zip")
        x = torch.rand(1, inputs, 3, 3, dtype=torch.float32)
        scores = model.double()(x.double())[0]
        cases.append({"file": name, "inputs": inputs, "outputs": outputs, "features": features, "depth": depth,
                      "hidden": hidden, "precision": "f64" if form == "plain" else "f32", "nodes": 3,
                      "rows": x[0].permute(1, 2, 0).double().flatten().tolist(), "scores": scores.tolist()})
    state = network(peer, 1, 2, (2,), 1, ()).state_dict()
    del state["reg_blocks.0.mlp2.convs.0.bias"]
    state["bn.weight"] = torch.zeros(1)
    torch.save({"model_state_dict": state}, HERE / "wrong_names.pt")
    (HERE / "checkpoints.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
