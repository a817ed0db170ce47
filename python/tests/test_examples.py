"""The examples run: scripts, and the notebook from its first cell to its last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("script", ["cross_validate.py", "own_loop.py"])
def test_scripts_run(script: str, tmp_path: Path) -> None:
    if not (EXAMPLES / script).exists():
        pytest.skip("SKIPPED: the examples are not beside the tests")
    out = subprocess.run([sys.executable, EXAMPLES / script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout


def test_the_tour_runs(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="SKIPPED: nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="SKIPPED: nbclient is not installed")
    pytest.importorskip("ipykernel", reason="SKIPPED: ipykernel is not installed")
    for needed in ("tu", "brec"):
        if not (data_dir / needed).exists():
            pytest.skip(f"SKIPPED: {needed} is not in the data folder")
    monkeypatch.setenv("PPGN_DATA", os.fspath(data_dir))
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    )
    assert "2-fwl distinguishes 60 of 60 pairs" in printed and "distinguishes 10 of 10" in printed
