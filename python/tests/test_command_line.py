"""Python and the command line: the same seed and settings give the same bits, and each reads the other's runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ppgn


@pytest.fixture(scope="module")
def binary() -> str:
    given = os.environ.get("PPGN_BINARY") or shutil.which("ppgn")
    if given is None:
        for profile in ("release", "debug"):
            built = Path(__file__).resolve().parents[2] / "target" / profile / "ppgn"
            if built.is_file():
                given = str(built)
                break
    if given is None:
        pytest.skip("SKIPPED: no command line (PPGN_BINARY, on the path, or target/release/ppgn)")
    return given


def command(binary: str, *words: str) -> dict:
    out = subprocess.run([binary, *words, "--json"], check=True, capture_output=True, text=True)
    found: dict = json.loads(out.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("spec", "settings", "words"),
    [
        ("csl:n=11,skips=2+3,copies=8", {"blocks": [8, 8]}, ["--blocks", "8,8"]),
        (
            "csl:n=11,skips=2+3,copies=8",
            {"blocks": "6", "precision": "f64", "residual": True, "rate": 0.003, "space": "dense", "suffix": "i"},
            ["--blocks=6", "--precision=f64", "--residual", "--rate=0.003", "--space=dense", "--suffix=i"],
        ),
    ],
)
def test_the_same_bits(binary: str, tmp_path: Path, spec: str, settings: dict, words: list[str]) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    common = ["--epochs", "4", "--seed", "7", "--split", "90/10/0"]
    command(binary, "train", spec, "--out", str(theirs), "--quiet", *common, *words)
    data = ppgn.load(spec)
    model = ppgn.PPGNClassifier(epochs=4, random_state=7, validation=0.1, run=ours, **settings).fit(data, data.y)
    assert (theirs / "metrics.jsonl").read_bytes() == (ours / "metrics.jsonl").read_bytes()
    first, second = ppgn.open_run(theirs), ppgn.open_run(ours)
    for name, value in first.network.parameters.items():
        assert value.tobytes() == second.network.parameters[name].tobytes() == model.network_.parameters[name].tobytes()
    assert np.array_equal(first.predict_proba(data), model.predict_proba(data))


def test_the_command_line_reads_our_runs(binary: str, tmp_path: Path) -> None:
    spec = "csl:n=11,skips=2+3,copies=4"
    data = ppgn.load(spec)
    model = ppgn.PPGNClassifier(epochs=2, blocks=[4], run=tmp_path / "run").fit(data, data.y)
    out = tmp_path / "rows.jsonl"
    command(binary, "predict", str(tmp_path / "run"), spec, "--out", str(out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert np.array_equal([row["probabilities"] for row in rows], model.predict_proba(data))


def test_labels_of_a_multi_label_run(binary: str, tmp_path: Path) -> None:
    graphs = list(ppgn.load("gnp:n=6,p=0.5,count=20,seed=1"))
    y = np.array([[float(g.edges > 7), float(g.edges % 2)] for g in graphs])
    data = ppgn.Dataset(graphs, y, targets=["many", "odd"])
    data.save(tmp_path / "data.jsonl")
    words = ["--task", "multi-label", "--epochs", "2", "--blocks", "4", "--quiet"]
    command(binary, "train", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "run"), *words)
    run = ppgn.open_run(tmp_path / "run")
    proba = run.predict_proba(graphs)
    assert run.targets == ["many", "odd"] and run.classes is None and proba.shape == (20, 2)
    assert np.array_equal(run.predict(graphs), proba > 0.5)


def test_digests_and_kernels_agree(binary: str, tmp_path: Path) -> None:
    words = [binary, "wl", "digest", "figure1", "--test", "2-fwl"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True)
    assert ppgn.wl.digest(ppgn.load("figure1"), "2-fwl") == [line.split()[-1] for line in lines.stdout.splitlines()]
    file = tmp_path / "gram.npy"
    command(binary, "wl", "kernel", "csl:n=11,skips=2+3,copies=4", str(file), "--gram", "--iterations", "2")
    data = ppgn.load("csl:n=11,skips=2+3,copies=4")
    assert np.array_equal(np.load(file), ppgn.wl.WLKernel(n_iter=2).fit_transform(data))
